"""Compiled programs in memory with guard pages: ``python tests/guards/run.py corpus violations fuzz nests races`` (or some).

Each program is called, value and gradient, with all memory (arguments, results, its own arrays) flush against an inaccessible
page after it, with two different fillings of new memory; and flush against one before it. It must not crash, must leave the
memory around its own unchanged, and must give the same bits whatever was in memory before. Then its requests for memory are
refused, one by one (`guards.failing`). ``races`` calls the corpus while another thread writes the arguments (`guards.racing`).
The programs run in a process of their own; if it crashes, the program is named, and another process continues with the next
one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent.parent)]

import numpy as np  # noqa: E402

KINDS = ("corpus", "violations", "fuzz", "nests", "races")
SAMPLE = "whiles.grow_until linalg.solve_matrix recursion.merge_sort".split()
Job = tuple[str, Callable[[], str | None]]  # a name, and the function that returns the problem
Check = Callable[[Callable[..., Any], Callable[[], tuple[Any, ...]]], str | None] | None
PATIENCE = {"violations": 3000}  # seconds for one program, with all its variants
USUAL = 300


# ------------------------------------------------------------------------------------------------------- one call


def outcome(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]], mode: int, filling: int) -> Any:
    """The bits of the results and of the arguments after a call, or the exception."""
    from guards.install import filled, memory
    from transpile.aggregates import flatten, unflatten

    leaves, tree = flatten(make())
    memory.STATE[memory.DAMAGED] = 0
    with filled(mode, filling):
        inside = [_copy(v) for v in leaves]
        try:
            found = flatten(function(*unflatten(tree, inside)))[0]
        except Exception as error:
            found = [f"{type(error).__name__}: {error}"]
        bits = [_bits(v) for v in (*found, *inside)]
        del found, inside
    if memory.STATE[memory.DAMAGED]:
        bits.append("memory around an array was written")
    return bits


def _copy(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or not value.ndim:
        return value
    found = np.empty(value.shape, value.dtype)
    found[...] = value
    return found


def _bits(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value if isinstance(value, str) else repr(value)


def problem(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str | None:
    """The problem with a compiled function; None if there is none."""
    from guards import failing

    found = (check(function, make) for check in (between_guards, failing.problem))
    return next((f for f in found if f is not None), None)


def between_guards(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str | None:
    from guards import memory

    try:
        function(*make())  # compiles, in ordinary memory
    except Exception:  # the program may raise, or be refused
        pass
    found = [outcome(function, make, memory.END, f) for f in (0xFF, 0x41)]
    found.append(outcome(function, make, memory.START, 0xFF))
    if isinstance(found[0][0], str) and found[0][0].startswith("TranspileError"):
        print(f"    refused: {found[0][0]}"[:200])
    for bits in found:
        if bits[-1] == "memory around an array was written":
            return bits[-1]
    if found[0] != found[1]:
        differing = [(a, b) for a, b in zip(*found[:2]) if a != b]
        return f"the result depends on what was in memory: {_shown(differing[0])}"
    return None


def _shown(pair: Any) -> str:
    arrays = [np.frombuffer(p[2], p[0]) if isinstance(p, tuple) else p for p in pair]
    return f"{arrays[0]} and {arrays[1]}"[:600]


# ------------------------------------------------------------------------------------------------------- programs


def corpus(first: int, count: int) -> Iterator[Job]:
    from corpus import all_programs

    yield from programs(all_programs()[first : first + count])


def sample(first: int, count: int) -> Iterator[Job]:
    from corpus import all_programs

    yield from programs([p for p in all_programs() if p.name in SAMPLE])
    yield from both("tape", long_tape, lambda: (np.arange(3.0), 70), (0,))


def long_tape(x: Any, n: int) -> Any:
    """Two tapes too long for the stack frame: one of numbers, and one of arrays."""
    y, k = x[1], 0
    z = x * 0.5
    while k < n and y < 9.0:
        y = np.sin(y) + 0.01 * y
        z = np.cos(z) * y
        k += 1
    return y + np.sum(z)


def races(first: int, count: int) -> Iterator[Job]:
    from corpus import all_programs

    from guards import racing

    racing.copy_always()
    yield from programs(all_programs()[first : first + count], racing.problem)


def raced(first: int, count: int) -> Iterator[Job]:
    from guards import racing

    racing.copy_always()
    for f in (racing.masked, racing.repeated, racing.counted, racing.gathered, racing.pushed):
        yield from both(f.__name__, f, racing.arguments, (0,), None, racing.problem)


def programs(chosen: Sequence[Any], check: Check = None) -> Iterator[Job]:
    from scalarise import scalarised

    with tempfile.TemporaryDirectory() as folder:
        for program in chosen:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = program.fn(*program.args())
            f = scalarised(program.fn, program.args(), value, Path(folder), f"weighted_{program.name}")
            yield from both(program.name, program.fn, program.args, program.wrt, f, check)


def both(
    name: str,
    fn: Any,
    args: Callable[[], tuple[Any, ...]],
    wrt: tuple[int, ...],
    number: Any = None,
    check: Check = None,
) -> Iterator[Job]:
    """The function and its gradient; ``number`` is a scalar function for the gradient, if ``fn`` is not scalar."""
    import transpile as tp

    find = check or problem
    yield f"{name} value", lambda: find(tp.jit(fn), args)
    if wrt:
        yield f"{name} gradient", lambda: find(tp.jit(tp.grad(number or fn, argnums=wrt)), args)


def violations(first: int, count: int) -> Iterator[Job]:
    from violations import PROGRAMS, variants

    import transpile as tp

    def all_of(fast: Any, args: tuple[Any, ...]) -> str | None:
        for name, given in variants(args):
            print(f"    {name}", flush=True)
            check = problem if name == "fair" else between_guards
            found = check(
                fast, lambda given=given: tuple(np.copy(v) if isinstance(v, np.ndarray) else v for v in given)
            )  # type: ignore[misc]
            if found is not None:
                return f"{name}: {found}"
        return None

    for p in PROGRAMS[first : first + count]:
        for kind, fn in (("value", p.fn), ("gradient", tp.grad(p.fn, argnums=p.wrt))):
            yield f"violations.{p.fn.__name__} {kind}", lambda fn=fn, p=p: all_of(tp.jit(fn), p.args())  # type: ignore[misc]


def fuzz(first: int, count: int) -> Iterator[Job]:
    from fuzz.check import load
    from fuzz.generate import generate

    yield from generated("fuzz", first, count, generate, load, lambda module: module.args)


def nests(first: int, count: int) -> Iterator[Job]:
    from fuzz.check import load
    from fuzz.nests import generate

    yield from generated("nest", first, count, generate, load, lambda module: lambda: module.args(0))


def generated(kind: str, first: int, count: int, generate: Any, load: Any, args: Any) -> Iterator[Job]:
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            text = getattr(generate(seed), "text", None) or generate(seed)
            module = load(text, f"guarded_{kind}_{seed}", Path(folder))
            yield from both(f"{kind} {seed}", module.program, args(module), tuple(module.WRT))


def faulty(first: int, count: int) -> Iterator[Job]:
    """Faulty functions that the checks must detect."""
    from numba import njit

    @njit
    def behind(x):
        return x[x.shape[0] + np.int64(x[0])]

    @njit
    def before(x):
        return np.copy(x)[np.uint64(-1 - np.int64(x[0]))]

    @njit
    def unwritten(x):
        return np.sum(np.empty(x.shape[0]))

    @njit
    def beside(x):
        y = np.copy(x[:3])
        y[np.uint64(-1 - np.int64(x[0]))] = 7.0
        return y[0]

    for function in (behind, before, unwritten, beside):
        yield function.__name__, lambda function=function: problem(function, lambda: (np.arange(5.0),))  # type: ignore[misc]


# ---------------------------------------------------------------------------------------------------- processes


def jobs(kind: str, first: int, count: int) -> Iterator[Job]:
    makers: dict[str, Callable[[int, int], Iterator[Job]]] = {
        "corpus": corpus, "violations": violations, "fuzz": fuzz, "nests": nests, "races": races,
        "sample": sample, "raced": raced, "faulty": faulty,
    }  # fmt: skip
    return makers[kind](first, count)


def inside(kind: str, first: int, count: int, skipped: int) -> None:
    """Runs the programs in this process."""
    from guards.install import install, memory

    install(memory.END)
    from fuzz.check import limited

    for number, (name, run) in enumerate(jobs(kind, first, count)):
        if number < skipped:
            continue
        print(f"{number} {name}", flush=True)
        try:
            found = limited(run, PATIENCE.get(kind, USUAL), TooLong, "REAL")
        except TooLong:
            found = f"no end after {PATIENCE.get(kind, USUAL)} s"
        if found is not None:
            print(f"WRONG {name}: {found}", flush=True)
    print("done", flush=True)


class TooLong(BaseException):
    """A call does not terminate; this is no outcome of the program."""


def outside(kind: str, first: int, count: int) -> tuple[int, list[str]]:
    """Runs the programs in other processes; returns their number and the problems."""
    number, wrong = -1, []
    while True:
        command = [sys.executable, "-X", "faulthandler", __file__, kind, "--first", str(first), "--count", str(count)]
        command += ["--inside", str(number + 1)]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NUMBA_NUM_THREADS": "2"})
        lines = done.stdout.splitlines()
        wrong += [line for line in lines if line.startswith("WRONG")]
        names = [line for line in lines if line[:1].isdigit()]
        number = int(names[-1].split()[0]) if names else number
        if lines and lines[-1] == "done":
            return number + 1, wrong
        if not names:
            return number + 1, [*wrong, f"WRONG the process ended with {done.returncode}: {done.stderr[-2000:]}"]
        within = lines[-1].strip() if lines[-1].startswith(" ") else "the call"  # which variant, for a violation
        wrong.append(f"WRONG {names[-1].partition(' ')[2]}: the process ended with {done.returncode} in {within}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    known = (*KINDS, "sample", "raced", "faulty")
    parser.add_argument(
        "kinds", nargs="*", metavar="{" + ",".join(known) + "}", help="all but the last three, if none is named"
    )
    parser.add_argument("--first", type=int, default=0, help="the first program, or seed")
    parser.add_argument("--count", type=int, default=None, help="of programs of a kind (500 of random ones)")
    parser.add_argument("--inside", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    for kind in options.kinds:  # with `choices`, Python 3.11 refuses an empty list
        if kind not in known:
            parser.error(f"{kind!r} is none of {', '.join(known)}")
    total, wrong, start = 0, [], time.perf_counter()
    for kind in options.kinds or KINDS:
        count = options.count or {"fuzz": 400, "nests": 100}.get(kind, 10**6)
        if options.inside is not None:
            inside(kind, options.first, count, options.inside)
            return 0
        number, found = outside(kind, options.first, count)
        print(f"{kind}: {number} functions, {len(found)} wrong", *found, sep="\n", flush=True)
        total, wrong = total + number, wrong + found
    print(f"{total} functions in guarded memory, {len(wrong)} wrong, {time.perf_counter() - start:.0f} s")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
