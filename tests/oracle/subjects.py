"""The subjects: each program under each transform that applies to it.

For a corpus program: the function itself, its gradient (its pullback if it is not scalar), its pushforward and the function of
three lanes; for a benchmark the measured functions: the function, and the derivative or the batched function.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level, Pullback, Pushforward, level_of

Args = Callable[[], tuple[Any, ...]]
LANES = 3


@dataclass(frozen=True)
class Call:
    """A call: ``target`` as text, ``compiled`` as machine code, ``interpreted`` for its values (None: they take too long), each
    with fresh arguments. ``writes``: the arguments afterwards are part of the output."""

    target: Any
    args: Args
    compiled: Any
    interpreted: Any = None
    writes: bool = False


@dataclass(frozen=True)
class Subject:
    """A program of a suite under a transform; ``call`` builds the call, and may raise what the program raises."""

    suite: str
    program: str
    transform: str
    call: Callable[[], Call]


def subjects(is_chosen: Callable[[str, str], bool]) -> list[Subject]:
    """All subjects of the programs chosen by suite and name, in the order of the suites."""
    with redirect_stdout(io.StringIO()):  # some programs print
        return [*_corpus(is_chosen), *_bench(is_chosen)]


# ------------------------------------------------------------------------------------------------------- the corpus


def _corpus(is_chosen: Callable[[str, str], bool]) -> Iterator[Subject]:
    from corpus import all_programs

    for program in all_programs():
        if not is_chosen("corpus", program.name):
            continue
        made = [("function", _function)]
        if program.wrt:
            made += [("grad" if _gives_number(program) else "vjp", _reverse), ("jvp", _pushforward)]
        if any(axis == 0 for axis in _lanes(program)[0]):
            made.append(("vmap", _vmap))
        for transform, call in made:
            yield Subject("corpus", program.name, transform, lambda call=call, program=program: call(program))


def _point(program: Any) -> Any:
    from differences import Subject as Point

    return Point(program.fn, program.args, program.wrt, program.tol)


def _gives_number(program: Any) -> bool:
    try:
        return isinstance(_point(program).value, float)
    except Exception:  # the program uses transforms itself, and one refuses
        return True


def _lanes(program: Any) -> tuple[Any, Any]:
    from test_batch import stacked

    axes, whole, _ = stacked(program, LANES)
    return axes, whole


def _of(fn: Any, args: Args, interpreted: Any = None, writes: bool = False) -> Call:
    return Call(fn, args, tp.jit(fn, cache=False), fn if interpreted is None else interpreted, writes)


def _function(program: Any) -> Call:
    return _of(program.fn, program.args, Transformed(program.fn, Level()), writes=True)


def _reverse(program: Any) -> Call:
    if _gives_number(program):
        return _of(tp.grad(program.fn, argnums=program.wrt), program.args)
    cotangent = _point(program).cotangent
    return _of(Transformed(program.fn, Pullback()), lambda: (program.args(), cotangent))


def _pushforward(program: Any) -> Call:
    tangents = _point(program).tangents
    return _of(Transformed(program.fn, Pushforward()), lambda: (program.args(), tangents))


def _vmap(program: Any) -> Call:
    axes, _ = _lanes(program)
    return _of(tp.vmap(program.fn, in_axes=axes), lambda: tuple(_lanes(program)[1]), writes=True)


# --------------------------------------------------------------------------------------------------- the benchmarks


def _bench(is_chosen: Callable[[str, str], bool]) -> Iterator[Subject]:
    from bench.kernels2 import KERNELS
    from bench.suites import all_problems

    tiny = {kernel.name: kernel.tiny_args for kernel in KERNELS}
    smallest: dict[tuple[str, str], Any] = {}
    for problem in all_problems():
        smallest.setdefault((problem.suite, problem.name), problem)
    for problem in smallest.values():
        if not is_chosen(f"bench_{problem.suite}", problem.name):
            continue
        args = tiny.get(problem.name, problem.args) if problem.suite == "kernels" else problem.args
        runs = args is not problem.args or problem.size == "small" or problem.interpreted is not None
        made = {"derivative" if problem.suite != "batching" else "batched": _measured}
        if problem.suite != "batching":
            made["function"] = _value
        for transform, call in made.items():
            yield Subject(
                f"bench_{problem.suite}",
                problem.name,
                transform,
                lambda call=call, problem=problem, args=args, runs=runs: call(problem, args, runs),
            )


def _measured(problem: Any, args: Args, runs: bool) -> Call:
    """The function that the benchmark measures as ours."""
    if problem.ours is None:
        target = tp.value_and_grad(problem.fn, argnums=problem.wrt)
        return Call(target, args, tp.jit(target, cache=False), target if runs else None)
    compiled = problem.ours()
    target = compiled.__wrapped__
    interpreted = target if level_of(target) is not None else Transformed(target, Level())
    return Call(target, args, compiled, interpreted if runs else None)


def _value(problem: Any, args: Args, runs: bool) -> Call:
    return Call(problem.fn, args, tp.jit(problem.fn, cache=False), Transformed(problem.fn, Level()) if runs else None)
