"""Compiled functions and gradients with bad inputs: ``python tests/violations.py`` (all) or ``... few``.

Each program is compiled once and called with hundreds of variants of its arguments: integers (also in index arrays) that are
negative, off by one or huge, floats that are no integers, arrays that are empty, shorter or longer, ranges without an
iteration. Where the interpreted call raises, the compiled one must raise an error of the same class with the user's line and
the values; elsewhere it must give the same result. Arrays lie between guards, which must not change. Each call is printed
before it runs, so that a crash names its call.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import numpy as np  # noqa: E402
from loop_compare import is_like, same_numbers  # noqa: E402
from loop_text import Outcome, outcome  # noqa: E402

import transpile as tp  # noqa: E402
from transpile.errors import TranspileError  # noqa: E402

PAD = 64
NUMBERS = (-1, 0, 1, 2**31, -(2**31), 2**32, 2**40, 2**53 + 1, 2**61, 2**62, -(2**62))
EXTREME = (2**63 - 1, -(2**63) + 1, -(2**63), (2**64 - 3_000_000_001) // 3)
# with these, sums that Python has do not fit (three times the last would wrap to a large negative number): OverflowError will do
FLOATS = (math.nan, math.inf, -math.inf, -1.0, -0.5, 1e6, 1e100, -1e100, 2.0**63, -(2.0**63))


@dataclass(frozen=True)
class Program:
    """A function with valid arguments. ``wrt``: the arguments of its gradient. ``few``: it is in the short test."""

    fn: Callable[..., Any]
    args: Callable[[], tuple[Any, ...]]
    wrt: tuple[int, ...]
    few: bool


PROGRAMS: list[Program] = []


def program(args: Callable[[], tuple[Any, ...]], *wrt: int, few: bool = False) -> Callable[[Any], Any]:
    def add(fn: Any) -> Any:
        PROGRAMS.append(Program(fn, args, wrt, few))
        return fn

    return add


def floats(*shape: int) -> np.ndarray:
    return np.linspace(0.5, 1.5, math.prod(shape)).reshape(shape)


# ------------------------------------------------------------------------------------------------- the programs


@program(lambda: (floats(7), floats(5), np.array([0, 3, -1, 2, 2]), 2), 0, 1, few=True)
def gathered(x, y, k, p):
    total = x[p] * x[-2]
    for i in range(k.shape[0]):
        total += x[k[i]] * y[i] * y[i - 1]
        x[k[i]] *= 0.5
    return total


@program(lambda: (floats(9), floats(11), 2, 6), 0, 1, few=True)
def between(x, y, p, q):
    total = 0.0
    for i in range(p, q):
        y[i] = x[i - 1] * x[i + 1]
        total += np.sin(y[i])
    for i in range(q):
        total += x[i] * y[p]
    return total + np.sum(y)


@program(lambda: (floats(6, 5), floats(5), np.array([0, 2, 5, 5]), np.array([3, 0, 4, 1, 2])), 0, 1, few=True)
def sparse(a, x, starts, columns):
    total = 0.0
    for i in range(starts.shape[0] - 1):
        row = 0.0
        for k in range(starts[i], starts[i + 1]):
            row += a[i, columns[k]] * x[columns[k]]
        total += row * row
    return total


@program(lambda: (floats(8), floats(6)), 0, few=True)
def from_floats(x, y):
    total = 0.0
    for i in range(y.shape[0]):
        total += x[int(4.0 * y[i])] * x[i]
    return total


@program(lambda: (floats(8), 3.0 * floats(6)), 0, few=True)
def cast(x, y):
    k = y.astype(np.int64)
    total = 0.0
    for i in range(k.shape[0]):
        total += x[k[i]] * x[-1 - i]
    return total + np.sum(x[np.floor(y).astype(np.int64)])


@program(lambda: (floats(8, 7), floats(8), floats(7), 3), 0, 1, 2, few=True)
def sliced(a, x, y, p):
    b = a.copy()
    b[p] = y * x[p]
    b[:p, 1:] += np.outer(x[:p], y[1:])
    b[1:] -= 0.5 * b[:-1]
    return np.sum(b @ y) + np.max(x[p:]) + np.sum(b[:, p] * x)


@program(lambda: (floats(40), 5), 0)
def scaled(x, p):
    total = x[3 * p]
    for i in range(x.shape[0] - 20):
        total += x[3 * p + i] * x[i]
    return total


@program(lambda: (floats(7, 6), floats(7), 3), 0, 1)
def triangle(a, b, p):
    x = b.copy()
    for i in range(a.shape[0]):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] /= a[i, i - p] + 2.0
    return np.sum(x * x)


@program(lambda: (floats(9), np.array([1, 2, 1, 3, 1, 1, 2, 1, 1]), 1), 0)
def walked(x, step, p):
    total, i = 0.0, 0
    while i < x.shape[0]:
        total += x[i] * x[i - p]
        i += max(step[i], 1)
    return total


@program(lambda: (floats(5, 6), np.array([4, 0, -1]), np.array([1, -6, 2]), floats(3)), 0, 3)
def picked(a, rows, columns, v):
    b = a[rows, columns] * v
    c = a[rows]
    c[0] = a[rows[1]] + v[0]
    return np.sum(b) + np.sum(c * c) + np.sum(np.take(v, rows[:1] * 0))


@program(lambda: (floats(9), 4), 0)
def temporaries(x, p):
    total = 0.0
    for i in range(x.shape[0]):
        t = np.zeros(p if p < 2**20 else p * 2**20)  # no machine has so much
        t[1:] = x[i]
        total += np.sum(t * t) * x[p - 1]
    return total


@program(lambda: (floats(7, 7), 2, 5), 0)
def shifted(a, p, q):
    total = 0.0
    for i in range(a.shape[0] - p):
        for j in range(q, a.shape[1]):
            total += a[i + p, j] * a[i, j - q]
            a[i, (j + p) % a.shape[1]] = 0.5 * total
    return total


@program(lambda: (floats(12), 3, 4), 0, few=True)
def shaped(x, p, q):
    y = (x * 2.0).reshape((p, q))
    y[1, 0] += x[0]
    z = np.pad(x, (q - 3, p - 2))
    return np.sum(y * y) + y[1, 0] * z[q - 3] + np.tile(x, (p, q))[p - 1, 3] * np.zeros((p, q))[1, 1]


# -------------------------------------------------------------------------------------------------- the variants


PAIRS = ((0, -3), (3, 3), (2**62, -(2**62)), (-(2**62), -(2**62) + 3), (2**62, 2**62 + 2), (2**62 + 3, 4))


def variants(args: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The valid arguments, and variants with one thing wrong, each with a name."""
    yield "fair", args
    for k, value in enumerate(args):
        for name, other in _others(value, args):
            yield f"argument {k}: {name}", (*args[:k], other, *args[k + 1 :])
    arrays = [k for k, v in enumerate(args) if isinstance(v, np.ndarray)]
    for n in (0, 2):
        yield f"all of length {n}", tuple(v[:n] if k in arrays else v for k, v in enumerate(args))
    numbers = [k for k, v in enumerate(args) if isinstance(v, int)]
    for k in numbers:  # two wild numbers at once
        for j in numbers:
            for a, b in PAIRS:
                if k < j:
                    yield (
                        f"arguments {k}, {j}: {a}, {b}",
                        tuple(a if i == k else b if i == j else v for i, v in enumerate(args)),
                    )


def _others(value: Any, args: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    sizes = sorted({n for v in args if isinstance(v, np.ndarray) for n in v.shape})
    near = sorted({m for n in sizes for m in (n - 1, n, n + 1, -n, -n - 1)})
    if isinstance(value, int):
        for number in (*NUMBERS, *near):
            yield str(number), number
        for number in EXTREME:
            yield f"extreme {number}", number
        return
    if not isinstance(value, np.ndarray):
        return
    for axis in range(value.ndim):
        n = value.shape[axis]
        fewer = {
            "empty": range(0),
            "single": range(1),
            "of two": range(2),
            "shorter": range(n - 1),
            "longer": [*range(n), 0],
        }
        for name, places in fewer.items():
            yield f"{name} along {axis}", np.take(value, list(places), axis)
    entries = (*NUMBERS, *near) if value.dtype.kind == "i" else FLOATS
    for entry in entries:
        for at in (0, value.size - 1):
            other = value.copy()
            other.flat[at] = entry
            yield f"{entry} at {at}", other


# ----------------------------------------------------------------------------------------------------- the check


class Guarded:
    """Copies of arguments whose arrays lie inside memory of known content."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self.around: list[tuple[np.ndarray, int]] = []
        self.args = tuple(self.inside(v) if isinstance(v, np.ndarray) else v for v in args)

    def inside(self, value: np.ndarray) -> np.ndarray:
        memory = np.full(value.size + 2 * PAD, 77, value.dtype)
        self.around.append((memory, value.size))
        found = memory[PAD : PAD + value.size].reshape(value.shape)
        found[...] = value
        return found

    def are_whole(self) -> bool:
        return all((m[:PAD] == 77).all() and (m[PAD + n :] == 77).all() for m, n in self.around)


def called(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Outcome, bool]:
    """The outcome, and whether the guards are unchanged."""
    held: list[Guarded] = []

    def run(*copies: Any) -> Any:
        held.append(Guarded(copies))
        return function(*held[0].args)

    found = outcome(run, args)
    return Outcome(found.value, found.error, held[0].args, found.printed), held[0].are_whole()


REFUSED = (IndexError, ValueError, OverflowError)


def problem(got: Outcome, wanted: Outcome, first: int, last: int, without_tape: Callable[[], Outcome]) -> str | None:
    """The problem with an outcome, or None. Of several errors, the call may raise another one. A recording too large for an
    interpreted derivative may not be needed in a compiled one."""
    if not is_like(got.error, wanted.error, False):
        if isinstance(got.error, TranspileError) and isinstance(wanted.error, REFUSED):
            return None  # code for a size of 1 is compiled separately, and does not fit
        if got.error is None and isinstance(wanted.error, ValueError) and has_own_message(wanted.error):
            return None if without_tape().error is None else f"{got}, interpreted {wanted}"
        # NumPy raises ValueError for even larger arrays
        too_large = isinstance(wanted.error, MemoryError) and "array" in str(got.error)
        if not isinstance(got.error, REFUSED) or not isinstance(wanted.error, REFUSED) and not too_large:
            return f"{got}, interpreted {wanted}"
    if got.error is None:
        try:
            same_numbers((got.value, got.args), (wanted.value, wanted.args), "result and arguments")
        except AssertionError as e:
            return str(e)
        return None
    named = re.search(r"violations\.py:(\d+)", str(got.error))
    if isinstance(got.error, IndexError | ValueError) and not isinstance(got.error, np.linalg.LinAlgError):
        if named is None and not has_own_message(got.error):
            return f"no line is named: {got}"
        if named is not None and not first <= int(named[1]) <= last:
            return f"line {named[1]} is not in the function: {got}"
    values = re.search(r"index (-?\d+) is out of range for size (\d+)", str(got.error))
    if values is not None and -int(values[2]) <= int(values[1]) < int(values[2]):
        return f"that index is in range: {got}"
    return None


def does_not_fit(error: Exception | None) -> bool:
    """Whether the error says that a number is too large: a result, or the number of iterations to record."""
    return isinstance(error, OverflowError) or "array is too big" in str(error)


def has_own_message(error: Exception) -> bool:
    """Whether the error comes from the conversion of a number, or from an allocation; these name no line."""
    return bool(re.search(r"cannot convert float|negative dimensions|too (big|large)|dimension", str(error)))


def main(few: bool) -> int:
    count = wrong = 0
    for p in PROGRAMS:
        if few and not p.few:
            continue
        code = p.fn.__code__
        first, last = code.co_firstlineno, max(line for *_, line in code.co_lines() if line)
        for kind, plain in (("value", p.fn), ("gradient", tp.grad(p.fn, argnums=p.wrt))):
            fast = tp.jit(plain)
            for name, args in variants(p.args()):
                if few and "single" in name:
                    continue
                print(f"{p.fn.__name__} {kind} {name}", flush=True)
                wanted, _ = called(plain, args)
                got, whole = called(fast, args)
                count += 1
                found = None if whole else "memory around an argument was written"
                if whole and not ("extreme" in name and does_not_fit(got.error)):
                    found = problem(got, wanted, first, last, lambda args=args: called(p.fn, args)[0])  # type: ignore
                if found is not None:
                    wrong += 1
                    print(f"WRONG {p.fn.__name__} {kind}, {name}: {found}", flush=True)
    print(f"{count} calls, {wrong} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main("few" in sys.argv[1:]))
