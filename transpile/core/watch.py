"""Watchers of passes: they dump, time, verify or count each pass, and passes can be left out. Without watchers, nothing
happens.

A watcher is told of every pass of both dialects: by `transpile.core.pass_list`, and by functions marked as a `station`
(lifting, the transforms). Callers test `ON` first, so that a pass costs one test if nobody watches.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, Protocol

from transpile.core import nodes as ir
from transpile.core.dump import dump

P = ParamSpec("P")

ON = False
"""Whether there is a watcher, or a pass is left out."""

_WATCHERS: list[Watcher] = []
_LEFT_OUT: set[str] = set()


@dataclass(frozen=True)
class Done:
    """A pass that has run. ``old``: its input, None if that was not core; ``seconds``: its time, without that of nested
    passes."""

    name: str
    dialect: str
    old: ir.Function | None
    new: ir.Function
    seconds: float
    step: Any = None  # the `Pass`, if it is one of a list

    @functools.cached_property
    def has_changed(self) -> bool:
        """Whether the text of the code changed (some passes rebuild it without a change); True if the input is None."""
        return self.old is not self.new and (self.old is None or dump(self.old) != dump(self.new))


class Watcher(Protocol):
    """Called with each pass that has run."""

    def __call__(self, done: Done) -> None: ...


def watch(watcher: Watcher) -> None:
    """Registers a watcher for good, and sets `ON`."""
    global ON
    _WATCHERS.append(watcher)
    ON = True


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """A context in which the watcher is registered."""
    watch(watcher)
    try:
        yield
    finally:
        _WATCHERS.remove(watcher)
        _settle()


@contextmanager
def left_out(*names: str) -> Iterator[None]:
    """A context in which the passes of these names, of lists, return their input."""
    global ON
    before = set(_LEFT_OUT)
    _LEFT_OUT.update(names)
    ON = True
    try:
        yield
    finally:
        _LEFT_OUT.clear()
        _LEFT_OUT.update(before)
        _settle()


def _settle() -> None:
    global ON
    ON = bool(_WATCHERS or _LEFT_OUT)


# ------------------------------------------------------------------------------------------------------ what runs


def run(step: Any, fn: ir.Function, given: Sequence[Any], dialect: str) -> ir.Function:
    """The result of ``step.run(fn, *given)``, a pass of a list; the watchers are told. A pass that is left out returns
    ``fn``."""
    if step.name in _LEFT_OUT:
        return fn
    new, seconds = _timed(lambda: step.run(fn, *given))
    _tell(Done(step.name, dialect, fn, new, seconds, step))
    return new


def station(name: str, dialect: str = "array") -> Callable[[Callable[P, ir.Function]], Callable[P, ir.Function]]:
    """A decorator for functions that return core and are not passes of a list: if `ON`, watchers are told of each call, as
    ``name``, in this dialect.

    The first argument, if it is a core function, is reported as the input.
    """

    def mark(make: Callable[P, ir.Function]) -> Callable[P, ir.Function]:
        @functools.wraps(make)
        def made(*args: P.args, **kwargs: P.kwargs) -> ir.Function:
            if not ON:
                return make(*args, **kwargs)
            new, seconds = _timed(lambda: make(*args, **kwargs))
            old = args[0] if args and isinstance(args[0], ir.Function) else None
            _tell(Done(name, dialect, old, new, seconds))
            return new

        return made

    return mark


_INSIDE: list[float] = []  # for each running call: the seconds spent in nested timed calls


def _timed(make: Callable[[], ir.Function]) -> tuple[ir.Function, float]:
    """The result of ``make()`` and its time in seconds, without the time of timed calls inside it."""
    _INSIDE.append(0.0)
    start = time.perf_counter()
    try:
        new = make()
    finally:
        took = time.perf_counter() - start
        own = took - _INSIDE.pop()
        if _INSIDE:
            _INSIDE[-1] += took
    return new, own


def _tell(done: Done) -> None:
    for watcher in _WATCHERS:
        watcher(done)


# -------------------------------------------------------------------------------------------------------- watchers


@dataclass(frozen=True)
class Dumping:
    """Writes the code to stderr after each pass that changed it. ``wanted`` holds names of passes or dialects, or "all"."""

    wanted: frozenset[str]

    def __call__(self, done: Done) -> None:
        if self.wanted.isdisjoint(("all", done.dialect, done.name)) or not done.has_changed:
            return
        print(f"# {done.dialect}: {done.new.name} after {done.name}\n{dump(done.new)}\n", file=sys.stderr)


class Timing:
    """Counts the runs of each pass and adds up their times."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], tuple[int, float]] = {}

    def __call__(self, done: Done) -> None:
        count, seconds = self.found.get((done.dialect, done.name), (0, 0.0))
        self.found[done.dialect, done.name] = count + 1, seconds + done.seconds

    def table(self) -> str:
        """The text of a table: milliseconds and number of runs of each pass, in the order in which they first ran."""
        lines = [f"{'ms':>10} {'runs':>6}  pass"]
        lines += [f"{1000 * s:10.2f} {k:6}  {dialect}: {name}" for (dialect, name), (k, s) in self.found.items()]
        return "\n".join(lines)
