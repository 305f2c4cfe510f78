"""The cost of the overflow checks for Python's integers: `python tests/bench/integers.py [--quick] [--kernels] [name ...]`.

Three functions of integers, each compiled with and without the checks that raise OverflowError, in interleaved rounds; with
``--kernels`` also the kernels of the suite, functions and gradients, and the geometric mean of the ratios.
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

import numpy as np

import transpile as tp
from bench.checks import PACE, QUICK, compiled
from bench.suites import all_problems
from bench.timing import Pace, interleaved
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.walk import blocks, statements
from transpile.driver import backend


def polynomial_hash(x, base, modulus):
    """A hash of the whole parts of numbers; nothing is known of base and modulus."""
    h = 7
    for i in range(len(x)):
        h = (h * base + int(x[i])) % modulus
    return h


def sum_of_squares(n):
    s = 0
    for i in range(n):
        s += i * i
    return s


def counting(x, limit):
    count = 0
    for i in range(len(x)):
        if x[i] > limit:
            count += 1
    return count


X = np.random.default_rng(0).uniform(0.0, 1000.0, 100_000)
ROWS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "polynomial_hash": (polynomial_hash, (X, 31, 1_000_003)),
    "sum_of_squares": (sum_of_squares, (100_000,)),
    "counting": (counting, (X, 500.0)),
}


def unquestioned(fn: ir.Function) -> ir.Function:
    """The lowered function without overflow checks."""

    def block(body: ir.Block) -> ir.Block:
        stmts = [s for s in body.stmts if not isinstance(s, ir.Check)]
        return replace(body, stmts=[with_blocks(s, block) if blocks(s) else s for s in stmts])

    return replace(fn, body=block(fn.body))


@contextmanager
def without_questions() -> Iterator[None]:
    lower = backend.lower
    backend.lower = lambda *args, **more: unquestioned(lower(*args, **more))  # type: ignore[attr-defined]
    try:
        yield
    finally:
        backend.lower = lower  # type: ignore[attr-defined]


def questions(function: Callable[..., Any], args: tuple[Any, ...]) -> int:
    """The number of integer checks in the compiled function."""
    found: list[int] = []
    optimise = backend.optimise

    def counted(*given: Any, **more: Any) -> ir.Function:
        new = optimise(*given, **more)
        found.append(sum(isinstance(s, ir.Check) for s in statements(new.body)))
        return new

    backend.optimise = counted  # type: ignore[attr-defined]
    try:
        tp.source(tp.jit(function), *args, stage="loops")
    finally:
        backend.optimise = optimise  # type: ignore[attr-defined]
    return sum(found)


def ratio(function: Callable[..., Any], args: tuple[Any, ...], pace: Pace) -> tuple[float, float]:
    """The time with checks divided by that without, and the latter in seconds."""
    asked = compiled(function, args)
    with without_questions():
        free = compiled(function, args)
    times = interleaved({"with": asked, "without": free, "free": free, "asked": asked}, pace)
    best = {name: time.minimum for name, time in times.items()}
    least = min(best["without"], best["free"])
    return min(best["with"], best["asked"]) / least, least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    pace = QUICK if options.quick else PACE
    for name, (function, args) in ROWS.items():
        if not options.names or name in options.names:
            found, seconds = ratio(function, args, pace)
            print(f"{name:24s} {found:5.3f}  ({1e6 * seconds:.2f} us without)", flush=True)
    rows: list[float] = []
    for problem in all_problems() if options.kernels else ():
        if (
            problem.suite == "kernels"
            and problem.size == "medium"
            and (not options.names or problem.name in options.names)
        ):
            for function in (problem.fn, tp.grad(problem.fn, argnums=problem.wrt)):
                args = problem.args()
                if questions(function, args):  # without checks both versions are the same code
                    rows.append(ratio(function, args, pace)[0])
                    print(f"{problem.name:24s} {rows[-1]:5.3f}", flush=True)
                else:
                    rows.append(1.0)
    if rows:
        print(f"{geometric_mean(rows):.4f} of {len(rows)} functions and gradients, geometric mean")


if __name__ == "__main__":
    main()
