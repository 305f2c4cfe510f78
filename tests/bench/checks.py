"""The cost of the checks of subscripts and shapes: `python tests/bench/checks.py [--quick] [name ...]`.

Each kernel of the suite, its function and its gradient, compiled with and without the checks that raise IndexError or
ValueError, in interleaved rounds; at the end the geometric mean of the ratios.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import geometric_mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import environment

if __name__ == "__main__":
    environment.pin()
    os.environ["TRANSPILE_CACHE_DIR"] = tempfile.mkdtemp()

import transpile as tp
from bench.problem import Problem
from bench.suites import all_problems
from bench.timing import Pace, interleaved
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.walk import blocks
from transpile.driver import backend

PACE = Pace(rounds=15, batch=0.01, budget=2.0)
QUICK = Pace(rounds=5, batch=0.003, budget=0.5)
REFUSALS = ("IndexError", "ValueError")


def is_check(stmt: ir.Stmt) -> bool:
    """Whether the statement checks a subscript or a shape, and does nothing else."""
    if isinstance(stmt, (ir.Check, ir.BoundsCheck)):
        return True
    if not isinstance(stmt, ir.If) or stmt.results or stmt.orelse.stmts or len(stmt.then.stmts) != 1:
        return False
    (only,) = stmt.then.stmts
    return isinstance(only, ir.Raise) and only.exception in REFUSALS


def unchecked(fn: ir.Function) -> ir.Function:
    """The lowered function without these checks."""

    def block(body: ir.Block) -> ir.Block:
        stmts = [s for s in body.stmts if not is_check(s)]
        return replace(body, stmts=[with_blocks(s, block) if blocks(s) else s for s in stmts])

    return replace(fn, body=block(fn.body))


@contextmanager
def without_checks() -> Iterator[None]:
    """A context in which functions are compiled without checks."""
    lower = backend.lower
    backend.lower = lambda *args, **more: unchecked(lower(*args, **more))  # type: ignore[attr-defined]
    try:
        yield
    finally:
        backend.lower = lower  # type: ignore[attr-defined]


def compiled(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any]:
    """A call of the compiled function, which has been called once already."""
    fast = tp.jit(function, cache=False)
    fast(*args)
    return lambda: fast(*args)


def ratios(problem: Problem, pace: Pace) -> dict[str, float]:
    """The time with checks divided by that without, for the function and its gradient."""
    found = {}
    for kind, function in (("function", problem.fn), ("gradient", tp.grad(problem.fn, argnums=problem.wrt))):
        args = problem.args()
        checked = compiled(function, args)
        with without_checks():
            free = compiled(function, args)
        times = interleaved({"with": checked, "without": free, "free": free, "checked": checked}, pace)
        best = {name: time.minimum for name, time in times.items()}
        found[kind] = min(best["with"], best["checked"]) / min(best["without"], best["free"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--size", default="medium")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    every = [p for p in all_problems() if p.suite == "kernels" and p.size == options.size]
    rows: list[dict[str, float]] = []
    for problem in every:
        if options.names and problem.name not in options.names:
            continue
        row = ratios(problem, QUICK if options.quick else PACE)
        rows.append(row)
        print(f"{problem.name:24s} " + "  ".join(f"{kind} {r:5.3f}" for kind, r in row.items()), flush=True)
    for kind in ("function", "gradient"):
        print(f"{kind}: {geometric_mean(row[kind] for row in rows):.3f} of {len(rows)} kernels, geometric mean")


if __name__ == "__main__":
    main()
