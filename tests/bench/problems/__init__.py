"""AD problems: the field's standard set, as ADBench and GradBench define them, in three sizes each."""

from __future__ import annotations

from bench.problem import Problem
from bench.problems import ba, det, gmm, hand, kmeans, llsq, lse, lstm, ode, particle, saddle

MODULES = (gmm, ba, hand, lstm, kmeans, lse, llsq, ode, det, particle, saddle)
PROBLEMS: tuple[Problem, ...] = tuple(problem for module in MODULES for problem in module.PROBLEMS)
