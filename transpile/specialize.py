"""A call becomes a callable: the first call of each structure and type builds one, later calls find it by its key.

    call -> key (`transpile.signature`) -> Program, or Split by the values that must be known -> Program

A `Program` runs on the leaves of a call. Python ints are leaves; where lifting needs one's value it raises NeedStatic, and
the calls of that key are then told apart by the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from transpile.core.nodes import Function
from transpile.errors import TranspileError, error
from transpile.fastpath import Fast, never
from transpile.signature import collect, leaf_type
from transpile.tree import ArgLeaf, Leaf, Static, Tree, flatten, leaf_numbers, map_leaves, number_leaves

Runner = Any  # transpile.run.Program: called with args, kwargs and leaves


@dataclass
class Split:
    """The calls of one key, told apart by the values of the leaves at ``positions``."""

    positions: tuple[int, ...]
    table: dict[Any, Runner] = field(default_factory=dict)


class Specializer:
    """The callables of one transformed function. ``build(core)`` makes a runner of a core function."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.table: dict[tuple[Any, ...], Runner | Split] = {}
        self.fast: Fast = never  # of what was built last

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
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
            found = self.specialise(tuple(key), args, kwargs)
        try:
            return found(args, kwargs, leaves)  # type: ignore[operator]
        except Stale:
            return self.specialise(tuple(key), args, kwargs)(args, kwargs, leaves)

    def specialise(self, key: tuple[Any, ...], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Runner:
        """Builds the runner for a call and keeps it."""
        from transpile.run import runner

        request = Request.of(args, kwargs)
        request.make_static(self.target)
        held = self.table.get(key)
        request.known.update(held.positions if isinstance(held, Split) else ())
        core = request.lift(self.target)
        made = runner(self.target, core, request)
        if not request.known:
            self.table[key] = made
            self.fast = made.fast
            return made
        positions = tuple(sorted(request.known))
        if not isinstance(held, Split) or held.positions != positions:
            held = self.table[key] = Split(positions)
        held.table[_values(held, request.leaves)] = made
        return made


def _values(split: Split, leaves: Sequence[Any]) -> tuple[Any, ...]:
    return tuple([leaves[k] for k in split.positions])


class Stale(Exception):
    """What stands outside the function is of another type than when it was lifted, or a flag or function has changed."""


@dataclass
class Request:
    """The arguments of a call as numbered trees; ``known`` are the leaves whose values lifting needs."""

    args: list[Tree]
    kwargs: dict[str, Tree]
    leaves: list[Any]
    values: tuple[Any, ...] = ()
    known: set[int] = field(default_factory=set)
    reads: list[Any] = field(default_factory=list)  # what lifting read outside: transpile.frontend.reads.Read

    @staticmethod
    def of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request:
        leaves: list[Any] = []
        trees: list[Tree] = []
        for value in (*args, *kwargs.values()):
            found, tree = flatten(value)
            trees += number_leaves([tree], start=len(leaves))[0]
            leaves += found
        return Request(
            trees[: len(args)], dict(zip(kwargs, trees[len(args) :])), leaves, tuple(args) if not kwargs else ()
        )

    def typed(self, target: Any = None) -> tuple[list[Tree], dict[str, Tree]]:
        """The trees with types for leaves, values for those that must be known."""

        def typed(tree: Tree, at: int | str) -> Tree:
            def leaf(leaf: Leaf) -> Tree:
                value = self.leaves[leaf.k]
                if leaf.k in self.known:
                    return Static(value)
                return ArgLeaf(leaf_type(value, leaf.k, f"argument {at!r} of {function_name(target)!r}"), value)

            try:
                return map_leaves(tree, leaf)
            except TranspileError as failed:
                from transpile.frontend.resolve import parameter_loc

                raise TranspileError(replace(d, loc=parameter_loc(target, at)) for d in failed.diagnostics) from None

        args = [typed(t, k) for k, t in enumerate(self.args)]
        return args, {name: typed(t, name) for name, t in self.kwargs.items()}

    def make_static(self, target: Any) -> None:
        """Makes the values of the arguments known that ``jit`` was told are static."""
        from transpile.pipeline import jit_level

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
    while getattr(target, "__transpile_level__", None) is not None:
        target = target.__wrapped__
    return getattr(target, "__name__", "the function")


def _parameter_names(target: Any) -> tuple[list[str], bool]:
    """The names of the parameters, as far as Python knows them, and whether there are stars among them."""
    import inspect

    try:
        found = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return [], True
    return list(found), any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found.values())
