"""The arguments of a call, as what is lifted for them is told by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from transpile.aggregates import (
    ArgLeaf,
    Leaf,
    Static,
    Tree,
    flatten,
    leaf_numbers,
    map_leaves,
    number_leaves,
    unflatten,
)
from transpile.base.foreign_arrays import as_arrays
from transpile.base.levels import jit_level, peeled
from transpile.base.loc import NOWHERE, Loc
from transpile.errors import TranspileError, error

if TYPE_CHECKING:
    from transpile.core import nodes as ir


class Request:
    """The arguments of a call as numbered trees; ``known`` are the leaves whose values lifting needs.

    ``reads`` is what lifting read outside (`transpile.frontend.resolve.reads.Read`).
    """

    def __init__(self, args: list[Tree], kwargs: dict[str, Tree], leaves: list[Any], given: tuple[Any, Any]) -> None:
        self.args, self.kwargs, self.leaves, self.given = args, kwargs, leaves, given
        self.known: set[int] = set()
        self.reads: list[Any] = []
        self.own: set[int] = set()  # the leaves that are arrays of the function's own arguments, not tangents
        self.written: set[int] = set()  # those that it writes into
        self.changes_containers = False
        self.is_general = False
        self.made: dict[int, ArgLeaf] = {}  # what lifting got for the leaves

    @staticmethod
    def of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request:
        args, kwargs = as_arrays(tuple(args)), as_arrays(dict(kwargs))
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
        from transpile.driver.program import slim

        leaves = [slim(v) for v in self.leaves]
        values = [unflatten(tree, leaves) for tree in (*self.args, *self.kwargs.values())]
        given = tuple(values[: len(self.args)]), dict(zip(self.kwargs, values[len(self.args) :]))
        new = Request(self.args, self.kwargs, leaves, given)
        new.known, new.reads, new.is_general = set(self.known), self.reads, True
        new.own, new.written, new.changes_containers = self.own, self.written, self.changes_containers
        return new

    def typed(self, target: Any = None) -> tuple[list[Tree], dict[str, Tree]]:
        """The trees with types for leaves, values for those that must be known."""
        from transpile.core.leaf_types import leaf_type

        made = self.made

        def typed(tree: Tree, at: int | str) -> Tree:
            def text_of(leaf: Leaf) -> str:
                from transpile.driver.arguments import argument_text

                return argument_text(target, at, tree, list(leaf_numbers(tree)).index(leaf.k))

            def leaf(leaf: Leaf) -> Tree:
                value = self.leaves[leaf.k]
                type_ = leaf_type(value, leaf.k, lambda: f"{text_of(leaf)} of {function_name(target)!r}")
                if leaf.k in self.known:
                    return Static(value)
                made[leaf.k] = ArgLeaf(type_, value)
                return made[leaf.k]

            try:
                return map_leaves(tree, leaf)
            except TranspileError as failed:
                from dataclasses import replace

                from transpile.frontend.resolve.resolve import parameter_loc

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

    def lift(self, target: Any) -> ir.Function:
        """The core function for these arguments; leaves whose values are needed become known."""
        from transpile.driver.pipeline import core_of
        from transpile.frontend.resolve.reads import recorded
        from transpile.frontend.restarts import NeedStatic
        from transpile.frontend.values import changes

        while True:
            dynamic = [k for k in range(len(self.leaves)) if k not in self.known]
            args, kwargs = self.typed(target)
            try:
                with recorded() as self.reads, changes.recorded() as found, nesting(target):
                    core = core_of(target, args, kwargs)
                self.own = {k for k, leaf in self.made.items() if id(leaf) in found.own}
                self.written = {k for k, leaf in self.made.items() if id(leaf) in found.written}
                self.changes_containers = found.containers
                return core
            except NeedStatic as need:
                leaf = dynamic[need.leaf]
                if not isinstance(self.leaves[leaf], (int, np.integer, np.bool_)):
                    why = need.why or error(
                        "T210", "the value of an argument must be known when the function is transformed"
                    )
                    raise why from None
                self.known.add(leaf)


@contextmanager
def nesting(target: Any) -> Iterator[None]:
    """Turns a recursion over what is nested in the user's program (hundreds of ``elif``) into a diagnostic."""
    try:
        yield
    except RecursionError:
        code = getattr(peeled(target)[1], "__code__", None)
        at = NOWHERE if code is None else Loc(code.co_filename, code.co_firstlineno, 1)
        message = f"something in {function_name(target)!r}, or in what it calls, is nested too deeply"
        hint = "set parts of it to variables of their own, or use a table (np.interp, np.select) instead of so many branches"
        raise error("T135", message, at, hint) from None


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


def leaf_slots(core: ir.Function, request: Request) -> list[int]:
    """For each parameter that is the user's, the leaf of the call that it is."""
    from transpile.base.matching import leaf_sources

    found = leaf_sources(core.arg_tree, request.args, request.kwargs)
    return [found[k] for k in range(len(core.params) - len(core.captured))]
