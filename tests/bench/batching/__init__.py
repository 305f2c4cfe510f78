"""Batched functions beside ``jax.vmap`` and ``torch.func.vmap``: gradients of examples, small systems, Jacobians, series."""

from __future__ import annotations

from bench.batching import jacobians, linear, networks, series
from bench.problem import Problem

MODULES = (networks, linear, jacobians, series)
PROBLEMS: tuple[Problem, ...] = tuple(problem for module in MODULES for problem in module.PROBLEMS)
