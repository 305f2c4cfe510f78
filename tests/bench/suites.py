"""The problems of all suites."""

from __future__ import annotations

import importlib

from bench.problem import SIZES, Problem

PACKAGES = {
    "problems": ("bench.problems",),
    "kernels": ("bench.kernels2", "bench.kernels"),
    "batching": ("bench.batching",),
}


def all_problems() -> list[Problem]:
    """Every problem of every suite, in the order of its package, with the sizes of a problem together."""
    found: list[Problem] = []
    for packages in PACKAGES.values():
        for package in packages:
            problems = importlib.import_module(package).PROBLEMS
            order = list(dict.fromkeys(p.name for p in problems))
            found += sorted(problems, key=lambda p: (order.index(p.name), SIZES.index(p.size)))
    return found


def find(key: str) -> Problem:
    return next(problem for problem in all_problems() if problem.key == key)
