"""What becomes of a fault in loop core: it is refused, a run differs, or nothing is noticed."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from core_reader import plain, read
from core_runs import Ran, TooLong, Violation, run
from corpus import all_programs
from loop_text import reversed_loops, stages_of
from verified import check

from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.dump import dump
from transpile.core.functions import helpers
from transpile.core.walk import statements
from transpile.errors import InternalError

from .kinds import KINDS, places

STAGES = ("lowered", "optimised", "parallel")
LONGEST = 110  # lines of a program
TOLD = 6  # sets of arguments that a fault may be noticed with: the program's own, and others
SETS = 12  # sets that say whether a fault changes anything
CHANGES = (None, 1, "one", "none", None, -1)  # of the sizes: as they are, larger by 1, 1, 0, smaller by 1

Verdict = str
"""``refused`` by the verifier; ``differs`` from the program on one of the first `TOLD` sets of arguments; ``survives``: it differs
only on one of the others; ``equal`` on all."""


@dataclass(frozen=True)
class Subject:
    """A program of the corpus as loop core at a stage, with its arguments and others."""

    name: str
    stage: str
    text: str
    args: tuple[Any, ...]

    @cached_property
    def runs(self) -> list[tuple[tuple[Any, ...], list[Ran]]]:
        """Sets of arguments, the program's own first, and what it gives with them; without those that no run can take."""
        found = []
        for args in (self.args, *others(read(self.text), self.args)):
            with contextlib.suppress(Violation, TooLong, MemoryError):
                found.append((args, outcomes(read(self.text), args)))
        return found


def subjects(first: int = 0, step: int = 1) -> Iterator[Subject]:
    """Programs of the corpus, one in ``step``: values and gradients, at all stages; no long ones, and none that calls functions
    compiled beside it."""
    for program in all_programs()[first::step]:
        for kind, loops, functions in stages_of(program, threads=2):
            args = tuple(loops.values(loops.request.leaves))
            for stage, fn in zip(STAGES, functions):
                if helpers(fn) or any(isinstance(s, ir.Print) for s in statements(fn.body)):
                    continue
                text = dump(plain(fn))
                if text.count("\n") < LONGEST:
                    yield Subject(f"{program.name} {kind}", stage, text, args)


# --------------------------------------------------------------------------------------------------------------- runs


def outcomes(fn: ir.Function, args: Sequence[Any]) -> list[Ran]:
    """What a function gives as it stands, and with the vector loops that carry nothing run backwards, if there are any. (The
    chunks of parallel loops run in another order than written anyway.)"""
    given = {p.name: copy.deepcopy(v) for p, v in zip(fn.params, args)}
    other = reversed_loops(fn, lambda loop: loop.kind == "vector" and not loop.inits)
    return [run(one, given) for one in ([fn] if other is fn else [fn, other])]


def others(fn: ir.Function, args: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Other arguments of the same types: other numbers, with signs; other sizes, 0 and 1 among them, where a size has a name;
    integers that are no index."""
    for seed in range(SETS - 1):
        rng = np.random.default_rng(seed)
        sizes: dict[str, int] = {}
        change = CHANGES[seed % len(CHANGES)]
        found = []
        for p, value in zip(fn.params, args):
            shape = np.shape(value)
            if change is not None:
                shape = tuple(
                    n if d.as_symbol is None or d == ANY else sizes.setdefault(d.as_symbol, _size(n, change))
                    for n, d in zip(shape, p.type.dims)
                )
            found.append(_drawn(value, p, shape, rng, beyond=seed % 5 == 4))
        yield tuple(found)


def _size(n: int, change: int | str) -> int:
    """Another size."""
    return max(n + change, 0) if isinstance(change, int) else int(change == "one")


def _drawn(value: Any, p: ir.Var, shape: tuple[int, ...], rng: np.random.Generator, beyond: bool) -> Any:
    dtype = np.dtype(p.type.dtype)
    if dtype.kind == "f":
        return rng.normal(0.4, 1.0, shape).astype(dtype)[()]
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)[()]
    largest, least = max(int(np.max(value, initial=0)), 0), 0
    if beyond:
        largest, least = largest + 3, 0 if dtype.kind == "u" else -3
    if not shape:
        return dtype.type(
            max(int(value) + int(rng.integers(-1, 2)), 0) if not beyond else rng.integers(least, largest + 1)
        )
    return rng.integers(least, largest + 1, shape).astype(dtype)


# ------------------------------------------------------------------------------------------------------------- mutants


@dataclass(frozen=True)
class Mutant:
    """A fault of a kind in a program: the number of the place, and of the draw."""

    kind: str
    subject: Subject
    place: int
    seed: int

    def made(self) -> ir.Function | None:
        """The function with the fault; None if the place is none for the kind, or nothing changes."""
        fn = read(self.subject.text)
        place = next((p for k, p in enumerate(places(fn, np.random.default_rng(self.seed))) if k == self.place), None)
        if place is None or not KINDS[self.kind](place):
            return None
        return fn

    def verdict(self) -> tuple[Verdict, str]:
        fn = self.made()
        assert fn is not None
        try:
            check(fn)
        except (InternalError, IndexError) as e:  # IndexError: what is wrong cannot be printed
            return "refused", str(e).splitlines()[0]
        for k, (args, wanted) in enumerate(self.subject.runs):
            if why := self.noticed(fn, args, wanted):
                return "differs" if k < TOLD else "survives", why
        return "equal", ""

    def noticed(self, fn: ir.Function, args: Sequence[Any], wanted: list[Ran]) -> str:
        """What is noticed in a run; "" if it gives what the program gives."""
        try:
            found = outcomes(fn, args)
        except (Violation, TooLong, MemoryError) as e:
            return f"{type(e).__name__}: {e}"
        except Exception as e:  # of the printer
            return f"cannot be printed: {type(e).__name__}: {e}"
        if all(a.agrees(wanted[0]) for a in found):
            return ""
        return f"{found[0].results} {found[0].error}, not {wanted[0].results}"


def mutants(kind: str, pool: Sequence[Subject], count: int, seed: int = 0) -> Iterator[Mutant]:
    """Faults of one kind, spread over the programs."""
    rng = np.random.default_rng(seed)
    order, made = rng.permutation(len(pool)), 0
    has_none: set[int] = set()
    for round_ in range(count):
        for k in order:
            if made == count:
                return
            place = None if k in has_none else _place(kind, pool[k], rng)
            if place is None:
                has_none.add(k)
            elif (mutant := Mutant(kind, pool[k], place, round_)).made() is not None:
                yield mutant
                made += 1
        if len(has_none) == len(pool):
            return


def _place(kind: str, subject: Subject, rng: np.random.Generator) -> int | None:
    """The number of a place for a fault of this kind."""
    found = list(places(read(subject.text), rng))
    return next((int(k) for k in rng.permutation(len(found)) if KINDS[kind](found[int(k)])), None)


__all__ = ["Mutant", "Subject", "mutants", "outcomes", "subjects"]
