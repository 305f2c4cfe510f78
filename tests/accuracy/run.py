"""Measures the vector functions: error against mpmath, time against NumPy and the scalar C library.

    python tests/accuracy/run.py [--points 1000000] [--no-errors] [name ...]

Prints a Markdown table: the largest error in units in the last place, ours and NumPy's (SciPy's), and nanoseconds an element
of ours, of NumPy, of the C library called in the same compiled loop. One core, minimum of many.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numba import njit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from accuracy import points, reference
from transpile_runtime.compiled import scalars, special, vector

OPTIONS = {"error_model": "numpy", "fastmath": {"contract", "reassoc"}}
KINDS = (np.float64, np.float32)
SIZE = 4096


@njit(**OPTIONS)
def _exp2(x):
    return math.pow(2.0, x)


@njit(**OPTIONS)
def _cbrt(x):
    return np.cbrt(x)


SCALAR = {
    **{n: getattr(math, n) for n in "exp expm1 log log1p log2 log10 sin cos tan tanh sinh cosh erf erfc pow hypot".split()},
    **{f"arc{n}": getattr(math, f"a{n}") for n in "sin cos tan tan2 sinh cosh tanh".split()},
    **{n: getattr(special, n) for n in "digamma expit logit ndtr log_expit xlogy xlog1py entr".split()},
    **{n: getattr(scalars, n) for n in ("logaddexp", "logaddexp2")},
    "gammaln": math.lgamma, "exp2": _exp2, "cbrt": _cbrt,
}  # fmt: skip


def ours(name: str) -> Callable:
    return getattr(vector, points.LOOPS.get(name, name))


def inside(name: str, *arguments: np.ndarray) -> np.ndarray:
    """Where the test ``name`` of `transpile_runtime.compiled.vector` says that a function is right."""
    test = getattr(vector, name)
    out = np.empty(arguments[0].size, np.bool_)
    loop(njit(lambda *args: vector.all_inside(test(*args))), len(arguments))(*arguments, out)
    return out


def loop(function: Callable, count: int) -> Callable:
    """The compiled loop over ``count`` arrays."""
    if count == 1:

        @njit(**OPTIONS)
        def run(x, out):
            for i in range(x.shape[0]):
                out[i] = function(x[i])

    else:

        @njit(**OPTIONS)
        def run(x, y, out):
            for i in range(x.shape[0]):
                out[i] = function(x[i], y[i])

    return run


def in_blocks(name: str, count: int) -> Callable:
    """The loop that `transpile.loops.vector_functions` makes of a function that is faster where a test holds."""
    faster, test = (getattr(vector, n) for n in points.FASTER[name])
    all_inside, join = vector.all_inside, vector.joined
    fast, slow = loop(faster, count), loop(ours(name), count)
    none = njit(lambda x: x.dtype.type(0))

    if count == 1:

        @njit(**OPTIONS)
        def run(x, out):
            for start in range(0, x.shape[0], 512):
                outside = none(x)
                for i in range(start, min(start + 512, x.shape[0])):
                    outside = join(outside, test(x[i]))
                if all_inside(outside):
                    fast(x[start : start + 512], out[start : start + 512])
                else:
                    slow(x[start : start + 512], out[start : start + 512])

    else:

        @njit(**OPTIONS)
        def run(x, y, out):
            for start in range(0, x.shape[0], 512):
                outside = none(x)
                for i in range(start, min(start + 512, x.shape[0])):
                    outside = join(outside, test(x[i], y[i]))
                if all_inside(outside):
                    fast(x[start : start + 512], y[start : start + 512], out[start : start + 512])
                else:
                    slow(x[start : start + 512], y[start : start + 512], out[start : start + 512])

    return run


def fastest(call: Callable[[], object]) -> float:
    """Nanoseconds an element."""
    call()
    best = math.inf
    for _ in range(150):
        start = time.perf_counter()
        for _ in range(5):
            call()
        best = min(best, time.perf_counter() - start)
    return best / 5 / SIZE * 1e9


def speed(name: str, kind: type) -> list[float]:
    rng = np.random.default_rng(0)
    count = 2 if name in points.TWO_ARGUMENTS else 1
    low, high = (0.1, 0.9) if name in points.UP_TO_ONE else (1.1, 5) if name == "arccosh" else (0.1, 5)
    arguments = [rng.uniform(low, high, SIZE).astype(kind) for _ in range(count)]
    out = np.empty(SIZE, kind)
    mine = in_blocks(name, count) if name in points.FASTER else loop(ours(name), count)
    scalar = loop(SCALAR[name], count)
    calls = (mine, lambda *a: points.NUMPY[name](*a[:-1], out=a[-1]), scalar)
    return [fastest(lambda call=call: call(*arguments, out)) for call in calls]


def worst(name: str, size: int, kind: type) -> tuple[list[float], str]:
    """The largest errors, ours and NumPy's, and where ours is."""
    arguments = points.points(name, size, kind)
    high, low = reference.values(name, *arguments)
    found = np.empty(arguments[0].size, kind)
    loop(ours(name), len(arguments))(*arguments, found)
    with np.errstate(all="ignore"):
        theirs = points.NUMPY[name](*arguments)
    off = reference.errors(found, high, low)
    if name in points.FASTER:
        faster, test = points.FASTER[name]
        loop(getattr(vector, faster), len(arguments))(*arguments, found)
        off = np.maximum(off, np.where(inside(test, *arguments), reference.errors(found, high, low), 0.0))
    at = int(np.argmax(off))
    return [off[at], reference.errors(theirs, high, low).max()], ", ".join(repr(float(a[at])) for a in arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--points", type=lambda text: int(float(text)), default=10**6)
    parser.add_argument("--no-errors", action="store_true")
    options = parser.parse_args()
    print(
        "| function | dtype | max ulp | NumPy | ns ours | NumPy | scalar C | ours over NumPy, C over ours | worst at |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.names or sorted(points.RANGES):
        for kind in KINDS:
            (mine, theirs), place = ([math.nan] * 2, "") if options.no_errors else worst(name, options.points, kind)
            fast, numpy, scalar = speed(name, kind)
            print(
                f"| {name} | {kind.__name__} | {mine:.3f} | {theirs:.3g} | {fast:.2f} | {numpy:.2f} | {scalar:.2f} "
                f"| {fast / numpy:.2f}, {scalar / fast:.1f} | {place} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
