"""A call becomes a callable: the first call of each structure and type builds one, later calls find it by its key.

    call -> key (`transpile.signature`) -> Program, or Split by the values that must be known -> Program

A `Program` runs on the leaves of a call. Python ints are leaves; where lifting needs one's value it raises NeedStatic, and
the calls of that key are then told apart by the value. A program that is called again gets a function of its own, which stands
before all of this (`transpile.repeated`) until a call of another kind comes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runtime.compiled.again import OtherSizes
from runtime.memory import keep_freed
from transpile.captured import HOLDERS, Stale
from transpile.errors import TranspileError, error
from transpile.levels import jit_level, peeled
from transpile.repeated import MISS
from transpile.signature import collect
from transpile.tree import ArgLeaf, Leaf, Static, Tree, flatten, leaf_numbers, map_leaves, number_leaves, unflatten

if TYPE_CHECKING:
    from transpile.core.nodes import Function
    from transpile.program import Program

STARTED = time.time()  # a source of ours that is newer is not what runs


class Split:
    """The calls of one key, told apart by the values of the leaves at ``positions``."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.table: dict[Any, Program] = {}


class Specializer:
    """The callables of one transformed function."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.table: dict[tuple[Any, ...], Program | Split] = {}
        self.named: dict[tuple[Any, ...], Callable[..., Any]] = {}  # by the number of arguments and the names of others
        self.earlier: dict[tuple[Any, ...], deque[Program]] = {}  # for when what stands outside is what it was once

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if kwargs:
            front = self.named.get((len(args), *kwargs))
            if front is not None:
                out = front(*args, *kwargs.values())
                if out is not MISS:
                    return out
        leaves: list[Any] = []
        key: list[Any] = []
        collect(args, leaves, key)
        if kwargs:
            key.append(tuple(kwargs))
            collect(kwargs.values(), leaves, key)
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

    def run(
        self, program: Program, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]
    ) -> Any:
        """The call by a program, or, where its sizes are none that the program takes, by one that takes all."""
        try:
            return program(args, kwargs, leaves)
        except OtherSizes:
            return self.generalise(key, args, kwargs, leaves, program)(args, kwargs, leaves)

    def otherwise(self, values: tuple[Any, ...], rest: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The call that was not one of those that the function before this was written for."""
        given = [v for v in values if v is not MISS]
        return self((*given, *rest), kwargs)

    def put_before(self, program: Program, count: int, names: tuple[str, ...]) -> None:
        """Lets the next calls of this kind go the short way."""
        kind = bool(names)
        if kind not in program.fronts:
            if HOLDERS.open:
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
        """Where something outside has changed: the program that was built when it was what it is now, or a new one."""
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
        """Notes the program for calls like this one."""
        held = self.table.get(key)
        if isinstance(held, Split):
            held.table[_values(held, leaves)] = program
        else:
            self.table[key] = program

    def generalise(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], leaves: Sequence[Any], narrow: Any
    ) -> Program:
        """The program that assumes nothing of sizes, in the place of one that did."""
        if narrow.general is None:  # it came from the disk
            return self.specialise(key, args, kwargs, general=narrow.examples)
        program: Program = narrow.general()
        self.keep(key, leaves, program)
        return program

    def specialise(
        self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any], general: Sequence[Any] | None = None
    ) -> Program:
        """Builds the program for a call, or finds it on disk, and keeps it. A ``general`` one is for leaves like these, and
        assumes nothing of their sizes: what does not fit is said by the program."""
        request = Request.of(args, kwargs)
        if general is not None:
            request.is_general, request.leaves = True, list(general)
        request.make_static(self.target)
        held = self.table.get(key)
        request.known.update(held.positions if isinstance(held, Split) else ())
        made = self.build(request)
        positions = tuple(sorted(request.known))
        if positions and not (isinstance(held, Split) and held.positions == positions):
            self.table[key] = Split(positions)
        self.keep(key, request.leaves, made)
        return made

    def build(self, request: Request) -> Program:
        keep_freed()
        level = jit_level(self.target)
        if level is not None and level.cache and not request.is_general:
            from transpile.cache import calls

            found = calls.find(self.target, request)
            if found is not None:
                return found
        from transpile.run import runner

        return runner(self.target, request.lift(self.target), request)


_EARLIER = 8  # programs of one key that are kept for when a flag is what it was


def _missed(values: Any, rest: Any, kwargs: Any) -> Any:
    return MISS


def _values(split: Split, leaves: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([leaves[k] for k in split.positions])


class Request:
    """The arguments of a call as numbered trees; ``known`` are the leaves whose values lifting needs.

    ``reads`` is what lifting read outside (`transpile.frontend.reads.Read`).
    """

    def __init__(self, args: list[Tree], kwargs: dict[str, Tree], leaves: list[Any], given: tuple[Any, Any]) -> None:
        self.args, self.kwargs, self.leaves, self.given = args, kwargs, leaves, given
        self.known: set[int] = set()
        self.reads: list[Any] = []
        self.is_general = False

    @staticmethod
    def of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request:
        leaves: list[Any] = []
        trees: list[Tree] = []
        for value in (*args, *kwargs.values()):
            found, tree = flatten(value)
            trees += number_leaves([tree], start=len(leaves))[0]
            leaves += found
        named = dict(zip(kwargs, trees[len(args) :]))
        return Request(trees[: len(args)], named, leaves, (tuple(args), dict(kwargs)))

    def generalised(self) -> Request:
        """The same for a program that assumes nothing of sizes; it does not hold the arrays."""
        from transpile.program import slim

        leaves = [slim(v) for v in self.leaves]
        values = [unflatten(tree, leaves) for tree in (*self.args, *self.kwargs.values())]
        given = tuple(values[: len(self.args)]), dict(zip(self.kwargs, values[len(self.args) :]))
        new = Request(self.args, self.kwargs, leaves, given)
        new.known, new.reads, new.is_general = set(self.known), self.reads, True
        return new

    def typed(self, target: Any = None) -> tuple[list[Tree], dict[str, Tree]]:
        """The trees with types for leaves, values for those that must be known."""
        from transpile.signature import leaf_type

        def typed(tree: Tree, at: int | str) -> Tree:
            def leaf(leaf: Leaf) -> Tree:
                value = self.leaves[leaf.k]
                if leaf.k in self.known:
                    return Static(value)
                return ArgLeaf(leaf_type(value, leaf.k, f"argument {at!r} of {function_name(target)!r}"), value)

            try:
                return map_leaves(tree, leaf)
            except TranspileError as failed:
                from dataclasses import replace

                from transpile.frontend.resolve import parameter_loc

                raise TranspileError(replace(d, loc=parameter_loc(target, at)) for d in failed.diagnostics) from None

        args = [typed(t, k) for k, t in enumerate(self.args)]
        return args, {name: typed(t, name) for name, t in self.kwargs.items()}

    def make_static(self, target: Any) -> None:
        """Makes the values of the arguments known that ``jit`` was told are static."""
        level = jit_level(target)
        if level is None or not (level.static_argnums or level.static_argnames):
            return
        trees = [self.args[k] for k in level.static_argnums if -len(self.args) <= k < len(self.args)]
        trees += [self.kwargs[n] for n in level.static_argnames if n in self.kwargs]
        names, stars = _parameter_names(target)
        for k in level.static_argnums:
            if names and not stars and not -len(names) <= k < len(names):
                raise error("T306", f"static_argnums {k} is out of range: the function has {len(names)} parameters")
        for n in level.static_argnames:
            if names and not stars and n not in names:
                raise error("T407", f"static_argnames: the function has no argument {n!r}")
        trees += [
            self.args[names.index(n)] for n in level.static_argnames if n in names and names.index(n) < len(self.args)
        ]
        for k in (k for tree in trees for k in leaf_numbers(tree)):
            if isinstance(self.leaves[k], np.ndarray):
                raise error("T409", "a static argument cannot be an array", hint="pass it as an ordinary argument")
            self.known.add(k)

    def lift(self, target: Any) -> Function:
        """The core function for these arguments; leaves whose values are needed become known."""
        from transpile.frontend.lifter import NeedStatic
        from transpile.frontend.reads import recorded
        from transpile.pipeline import core_of

        while True:
            dynamic = [k for k in range(len(self.leaves)) if k not in self.known]
            args, kwargs = self.typed(target)
            try:
                with recorded() as self.reads:
                    return core_of(target, args, kwargs)
            except NeedStatic as need:
                leaf = dynamic[need.leaf]
                if not isinstance(self.leaves[leaf], (int, np.integer, np.bool_)):
                    why = need.why or error(
                        "T210", "the value of an argument must be known when the function is transformed"
                    )
                    raise why from None
                self.known.add(leaf)


def function_name(target: Any) -> str:
    return getattr(peeled(target)[1], "__name__", "the function")


def _parameter_names(target: Any) -> tuple[list[str], bool]:
    """The names of the parameters, as far as Python knows them, and whether there are stars among them."""
    import inspect

    try:
        found = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return [], True
    return list(found), any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found.values())
