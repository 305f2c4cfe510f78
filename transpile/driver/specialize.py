"""Programs by key: the first call of each structure and type builds one, later calls find it.

    call -> key (`transpile.base.signature`) -> Program, or Split by the values that must be known -> Program

A `Program` runs on the leaves of a call. Python ints are leaves; if lifting needs the value of one, it raises NeedStatic, and
calls with that key are then distinguished by the value. A program that is called again gets a fast path
(`transpile.driver.fast_path`), which replaces this lookup until a call of another kind comes.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from transpile.base.captured import HOLDERS, Stale
from transpile.base.foreign_arrays import Foreign, as_arrays
from transpile.base.levels import jit_level
from transpile.base.signature import collect
from transpile.base.zeros import is_minus_zero
from transpile.driver.errstate import is_watched, watched
from transpile.driver.failing_lanes import of_lanes
from transpile.driver.fast_path import MISS
from transpile.driver.program import Program
from transpile.driver.request import Request, by_content
from transpile.errors import TranspileError
from transpile_runtime.compiled.again import OtherSizes
from transpile_runtime.forks import watch
from transpile_runtime.memory import keep_freed


class Split:
    """The programs of one key, by the values of the leaves at ``positions``."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.table: dict[Any, Program] = {}


class Specializer:
    """The programs of one transformed function."""

    def __init__(self, target: Any) -> None:
        watch()
        self.target, self.said = target, of_lanes(target)
        level = jit_level(target)
        self.has_static = level is not None and bool(level.static_argnums or level.static_argnames)
        self.table: dict[tuple[Any, ...], Program | Split] = {}
        self.named: dict[
            tuple[Any, ...], Callable[..., Any]
        ] = {}  # fast paths by number of arguments and keyword names
        self.sizes: dict[tuple[Any, ...], deque[Program]] = {}  # programs with other assumptions about sizes
        self.earlier: dict[tuple[Any, ...], deque[Program]] = {}  # programs for earlier states of what is read outside

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if is_watched():
            return watched(self.target, args, kwargs, self.ordinary)
        return self.ordinary(args, kwargs)

    def ordinary(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call by the program for its key, which is built at the first such call; a later one installs the fast
        path."""
        if kwargs:
            front = self.named.get((len(args), *kwargs))
            if front is not None:
                out = front(*args, *kwargs.values())
                if out is not MISS:
                    return out
        try:
            leaves, key = self.seen(args, kwargs)
        except Foreign:
            return self.ordinary(as_arrays(tuple(args)), as_arrays(dict(kwargs)))
        found = self.table.get(tuple(key))
        if type(found) is Split:
            found = found.table.get(_values(found, leaves))
        if found is None:
            return self.run(self.specialise(tuple(key), args, kwargs), tuple(key), args, kwargs, leaves)
        try:
            out = self.run(found, tuple(key), args, kwargs, leaves)  # type: ignore[arg-type]
        except Stale:
            found = self.changed(tuple(key), args, kwargs, leaves, found)  # type: ignore[arg-type]
            return self.run(found, tuple(key), args, kwargs, leaves)
        self.put_before(found, len(args), tuple(kwargs))  # type: ignore[arg-type]
        return out

    def seen(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
        """The leaves of a call and, as a list, its key: the structure and types of its arguments."""
        leaves: list[Any] = []
        key: list[Any] = []
        if self.has_static:
            args, kwargs = by_content(self.target, args, kwargs)
        collect(args, leaves, key)
        if kwargs:
            key.append(tuple(kwargs))
            collect(kwargs.values(), leaves, key)
        return leaves, key

    def since(self, args: Sequence[Any]) -> Callable[[], bool]:
        """A function that tests whether everything outside is as it was when the program for positional arguments like these
        was built; always True without a program."""
        leaves, key = self.seen(args, {})
        found = self.table.get(tuple(key))
        if type(found) is Split:
            found = found.table.get(_values(found, leaves))
        unchanged = getattr(found, "unchanged", None)
        return unchanged if unchanged is not None else lambda: True

    def run(
        self, program: Program, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]
    ) -> Any:
        """The result of a call by a program; if the sizes of the call contradict the program's assumptions, by a program that
        accepts these sizes."""
        try:
            return program(args, kwargs, leaves)
        except OtherSizes:
            return self.run(self.generalise(key, args, kwargs, leaves, program), key, args, kwargs, leaves)
        except Exception as failed:
            if not isinstance(failed, ValueError) or not program.misfits(leaves):
                found = program.failure(failed, args, kwargs)
                if found is failed:
                    raise
                raise found  # noqa: B904
            fitting = self.fitting(key, args, kwargs, leaves, program)
            if fitting is None:
                raise
        return self.run(fitting, key, args, kwargs, leaves)

    def fitting(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any], other: Program
    ) -> Program | None:
        """The program for sizes that contradict the assumptions of ``other``, an earlier one or a new one; ``other`` is kept
        for later calls. None if NumPy would refuse these sizes too."""
        held = self.table.get(key)
        place = (key, _values(held, leaves) if isinstance(held, Split) else ())
        programs = self.sizes.setdefault(place, deque(maxlen=_SIZES))
        found = next((one for one in programs if one.holds() and not one.misfits(leaves)), None)
        if other not in programs:
            programs.appendleft(other)
        if found is not None:
            self.keep(key, leaves, found)
            return found
        try:
            return self.specialise(key, args, kwargs)
        except TranspileError as refused:
            if _REFUSED_BY_NUMPY.issuperset(refused.codes):  # the sizes are invalid: the original error stands
                return None
            raise refused from None

    def otherwise(self, values: tuple[Any, ...], rest: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a call that the fast path does not accept: ``values`` are its arguments for the path, some of which may
        be `MISS`, ``rest`` further positional ones."""
        given = [v for v in values if v is not MISS]
        return self((*given, *rest), kwargs)

    def put_before(self, program: Program, count: int, names: tuple[str, ...]) -> None:
        """Installs the fast path of a program for further calls with ``count`` positional arguments and the keyword arguments
        ``names``; nothing if it has none."""
        kind = bool(names)
        if kind not in program.fronts:
            if HOLDERS.open or names and program.said is not None:
                return
            program.fronts[kind] = program.front(_missed if names else self.otherwise)
        front = program.fronts[kind]
        if front is None:
            return
        if names:
            place = (count, *names)
            self.named[place] = front
        else:
            self.target.__call__ = front

    def changed(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any], stale: Program
    ) -> Program:
        """The program for the present values of variables outside the function: an earlier program built for these, or a new
        one."""
        held = self.table.get(key)
        place = (key, _values(held, leaves) if isinstance(held, Split) else ())
        earlier = self.earlier.setdefault(place, deque(maxlen=_EARLIER))
        earlier.append(stale)
        found = next((program for program in earlier if program.holds()), None)
        if found is None:
            return self.specialise(key, args, kwargs)
        earlier.remove(found)
        self.keep(key, leaves, found)
        return found

    def keep(self, key: tuple[Any, ...], leaves: Sequence[Any], program: Program) -> None:
        """Stores the program for calls with this key and, if the key has a `Split`, with the same values of its leaves."""
        held = self.table.get(key)
        if isinstance(held, Split):
            held.table[_values(held, leaves)] = program
        else:
            self.table[key] = program

    def generalise(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: Sequence[Any], narrow: Any
    ) -> Program:
        """A program without assumptions about sizes, which replaces ``narrow``, the one that made some."""
        if narrow.general is None:  # it was loaded from disk
            return self.specialise(key, args, kwargs, general=narrow.examples)
        program: Program = narrow.general()
        program.said = self.said
        self.keep(key, leaves, program)
        return program

    def specialise(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], general: Sequence[Any] | None = None
    ) -> Program:
        """A new program for a call, built or loaded from disk, and stored for its key.

        With ``general``, example leaves, the program makes no assumptions about sizes and reports misfits itself.
        """
        request = Request.of(args, kwargs)
        if general is not None:
            request.is_general, request.leaves = True, list(general)
        request.make_static(self.target)
        held = self.table.get(key)
        request.known.update(held.positions if isinstance(held, Split) else ())
        made = self.build(request)
        made.said = self.said
        positions = tuple(sorted(request.known))
        if positions and not (isinstance(held, Split) and held.positions == positions):
            self.table[key] = Split(positions)
        self.keep(key, request.leaves, made)
        return made

    def build(self, request: Request) -> Program:
        """A program for a request, loaded from disk if it is there and `jit` caches, else built."""
        keep_freed()
        with no_collection():
            level = jit_level(self.target)
            if level is not None and level.cache and not request.is_general:
                from transpile.driver.cache import cached_calls

                found = cached_calls.find(self.target, request)
                if found is not None:
                    return found
            from transpile.driver import runners

            return runners.runner(self.target, request)


@contextmanager
def no_collection() -> Iterator[None]:
    """A context without Python's garbage collection, which would repeatedly traverse the objects that importing Numba creates.

    This saves 25 ms when a program is loaded from disk and a seventh of the time when one is compiled.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


_REFUSED_BY_NUMPY = {"T134", "T202", "T203", "T207", "T208", "T211", "T213", "T214"}
"""Codes of errors that NumPy also raises for such sizes, so that the original exception stands."""
_SIZES = 8  # programs of one key kept for other sizes
_EARLIER = 8  # programs of one key kept for earlier states outside


def _missed(values: Any, rest: Any, kwargs: Any) -> Any:
    return MISS


def _values(split: Split, leaves: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([(leaves[k], is_minus_zero(leaves[k])) for k in split.positions])
