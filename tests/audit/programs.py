"""The programs of an audit: of each, the function and its derivatives are compiled up to the optimised loops."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transpile as tp

SUITES = ("corpus", "benchmark", "wild", "random")
WILD = ("fluids", "chemicals", "ht")
PATIENCE = 30.0  # seconds for one program
RANDOM = 500
SIZE = "medium"


@dataclass(frozen=True)
class Program:
    """A program. ``compile`` makes the loops of the program and of its derivatives; it may raise what the compiler refuses."""

    suite: str
    name: str
    compile: Callable[[], None]


def programs(suite: str) -> Iterator[Program]:
    """The programs of a suite; those of other people's packages only if these are installed."""
    return _SUITES[suite]()


def loops(target: Any, args: tuple[Any, ...]) -> None:
    tp.source(target, *args, stage="loops")


# --------------------------------------------------------------------------------------------- corpus and benchmark


def _corpus() -> Iterator[Program]:
    from oracle.subjects import subjects

    each: dict[str, list[Any]] = {}
    for subject in subjects(lambda suite, program: suite == "corpus"):
        each.setdefault(subject.program, []).append(subject)
    for name, several in each.items():
        yield Program("corpus", name, lambda several=several: _each(several))


def _each(subjects: list[Any]) -> None:
    refused: Exception | None = None
    for subject in subjects:
        try:
            call = subject.call()
            loops(call.compiled, call.args())
        except Exception as e:  # one transform may be refused; the others still count
            refused = e
    if refused is not None:
        raise refused


def _benchmark() -> Iterator[Program]:
    """The problems of the benchmark, at the size at which `audit.cost` measures them: known small sizes depend on it."""
    from bench.suites import all_problems

    for problem in all_problems():
        if problem.size == SIZE:
            yield Program("benchmark", problem.key, lambda problem=problem: _measured(problem))


def _measured(problem: Any) -> None:
    args = problem.args()
    ours = tp.jit(tp.value_and_grad(problem.fn, argnums=problem.wrt)) if problem.ours is None else problem.ours()
    loops(ours, args)
    if problem.suite != "batching":
        loops(tp.jit(problem.fn, cache=False), args)


# ------------------------------------------------------------------------------------------- other people's packages


def _wild() -> Iterator[Program]:
    from wild import collect

    for package in WILD:
        try:
            functions = collect.functions_of(package)
        except ImportError:
            continue
        for name, function in functions.items():
            yield Program("wild", name, lambda function=function: _examples(function))


def _examples(function: Any) -> None:
    """Compiles the first call that an example makes, and its gradient with respect to the numbers."""
    from wild import collect
    from wild.judge import positional

    calls: list[tuple[Any, ...]] = []

    def beside(*args: Any, **kwargs: Any) -> Any:
        given = positional(function, args, kwargs)
        if given is not None and not calls:
            calls.append(given)
        return function(*args, **kwargs)

    collect.run_examples(function, beside)
    for args in calls:
        loops(tp.jit(function, cache=False), args)
        numbers = tuple(k for k, a in enumerate(args) if isinstance(a, float))
        if numbers:
            loops(tp.jit(tp.grad(function, argnums=numbers), cache=False), args)


# ---------------------------------------------------------------------------------------------------------- random


def _random() -> Iterator[Program]:
    from fuzz.run import Tally, draft

    folder = Path(tempfile.mkdtemp())
    for seed in range(RANDOM):
        yield Program("random", f"seed {seed}", lambda seed=seed: _drawn(draft(seed, folder, Tally())[1]))


def _drawn(subject: Any) -> None:
    args = subject.args()
    loops(tp.jit(subject.f, cache=False), args)
    if subject.wrt and isinstance(subject.value, float):
        loops(tp.jit(tp.grad(subject.f, argnums=subject.wrt), cache=False), args)


_SUITES: dict[str, Callable[[], Iterator[Program]]] = {
    "corpus": _corpus,
    "benchmark": _benchmark,
    "wild": _wild,
    "random": _random,
}
