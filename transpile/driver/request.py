"""`Request`: the flattened arguments of a call, and the facts found by lifting (`transpile.driver.lifted_request`)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from itertools import takewhile
from types import MethodType
from typing import Any

import numpy as np

from transpile.aggregates import (
    ArgLeaf,
    Content,
    Meta,
    Node,
    Static,
    Tree,
    flatten,
    is_leaf,
    kept,
    leaf_numbers,
    number_leaves,
    open_node,
    unflatten,
)
from transpile.base.content import parts
from transpile.base.foreign_arrays import as_arrays
from transpile.base.levels import Jit, Pullback, Pushforward, jit_level, level_of, peeled
from transpile.driver.program import slim
from transpile.errors import error


class Request:
    """The arguments of a call as numbered trees; ``known`` are the leaves whose values lifting needs.

    ``reads`` is what lifting read outside (`transpile.frontend.resolve.reads.Read`).
    """

    def __init__(self, args: list[Tree], kwargs: dict[str, Tree], leaves: list[Any], given: tuple[Any, Any]) -> None:
        self.args, self.kwargs, self.leaves, self.given = list(args), kwargs, leaves, given
        self.known: set[int] = set()
        self.reads: list[Any] = []
        self.own: set[int] = set()  # leaves that are arguments of the function itself, not tangents
        self.written: set[int] = set()  # leaves that it writes into
        self.changes_containers = False
        self.is_general = False
        self.made: dict[int, ArgLeaf] = {}  # the `ArgLeaf` passed to lifting for each leaf

    @staticmethod
    def of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Request:
        """The request of a call: its arguments, with arrays made NumPy's, flattened into trees with leaves numbered from 0
        across all."""
        args, kwargs = as_arrays(tuple(args)), as_arrays(dict(kwargs))
        leaves: list[Any] = []
        trees: list[Tree] = []
        for value in (*args, *kwargs.values()):
            found, tree = flatten(value)
            trees += number_leaves([kept(tree)], start=len(leaves))[0]
            leaves += found
        named = dict(zip(kwargs, trees[len(args) :]))
        return Request(trees[: len(args)], named, leaves, (tuple(args), dict(kwargs)))

    def generalised(self) -> Request:
        """A copy for a program without assumptions about sizes; its arrays have no memory, so that those of the call are not
        kept alive."""
        leaves = [slim(v) for v in self.leaves]
        values = [unflatten(tree, leaves) for tree in (*self.args, *self.kwargs.values())]
        given = tuple(values[: len(self.args)]), dict(zip(self.kwargs, values[len(self.args) :]))
        new = Request(self.args, self.kwargs, leaves, given)
        new.known, new.reads, new.is_general = set(self.known), self.reads, True
        new.own, new.written, new.changes_containers = self.own, self.written, self.changes_containers
        return new

    def make_static(self, target: Any) -> None:
        """Adds the leaves of the static arguments of ``jit`` to ``known``; static objects compared by content replace their
        trees.

        T306 or T407 for a position or a name that the function lacks, T409 for an array.
        """
        level = jit_level(target)
        if level is None or not (level.static_argnums or level.static_argnames):
            return
        names, stars = _parameter_names(target)
        for k in level.static_argnums:
            if names and not stars and not -len(names) <= k < len(names):
                message = f"static_argnums {k} is out of range: the function has {len(names)} parameters"
                raise error("T306", message, hint="static_argnums=0 is the first parameter")
        for n in level.static_argnames:
            if names and not stars and n not in names:
                hint = f"its arguments are {', '.join(map(repr, names))}"
                raise error("T407", f"static_argnames: the function has no argument {n!r}", hint=hint)
        args, kwargs = self._of_function(target)
        trees = [args[k] for k in level.static_argnums if -len(args) <= k < len(args)]
        trees += [kwargs[n] for n in level.static_argnames if n in kwargs]
        trees += [args[names.index(n)] for n in level.static_argnames if n in names and names.index(n) < len(args)]
        for k in declared(target, len(self.args)):
            self.args[k] = _by_content(self.args[k])
        for n in level.static_argnames:
            if n in self.kwargs:
                self.kwargs[n] = _by_content(self.kwargs[n])
        for k in (k for tree in trees for k in leaf_numbers(tree)):
            if isinstance(self.leaves[k], np.ndarray):
                raise error("T409", "a static argument cannot be an array", hint="pass it as an ordinary argument")
            self.known.add(k)

    def _of_function(self, target: Any) -> tuple[Sequence[Tree], Mapping[str, Tree]]:
        """The trees of the compiled function's arguments, positional and by name; if the call takes primals and tangents or a
        cotangent, those of the primals."""
        args, kwargs = self.args, self.kwargs
        for level in takewhile(lambda level: not isinstance(level, Jit), peeled(target)[0]):
            if isinstance(level, (Pushforward, Pullback)) and args and isinstance(args[0], Node):
                args, kwargs = list(args[0].children), {}
        return args, kwargs


def declared(target: Any, count: int) -> list[int]:
    """The positions, in order, among ``count`` positional arguments that `jit` declares static; none if a call takes primals
    and tangents."""
    level = jit_level(target)
    if level is None or any(isinstance(one, (Pushforward, Pullback)) for one in peeled(target)[0]):
        return []
    names = _parameter_names(target)[0] if level.static_argnames else []
    found = {k % count for k in level.static_argnums if -count <= k < count}
    return sorted(found | {names.index(n) for n in level.static_argnames if n in names and names.index(n) < count})


def is_by_content(value: Any) -> bool:
    """True for a static argument that is compared by its content: an object or a set, not a tree of leaves."""
    return type(value) not in _PLAIN and not is_leaf(value) and open_node(value) is None and parts(value) is not None


_PLAIN = frozenset((str, int, float, bool, type(None)))


def by_content(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """``(args, kwargs)`` of a call of a `jit` as used for its key: static ones compared by content are wrapped in `Meta`, as
    parts of the structure."""
    level, places = jit_level(target), declared(target, len(args))
    assert level is not None
    named = {n for n in level.static_argnames if n in kwargs and is_by_content(kwargs[n])}
    args = [Meta(v) if k in places and is_by_content(v) else v for k, v in enumerate(args)]
    return args, {n: Meta(v) if n in named else v for n, v in kwargs.items()}


def _by_content(tree: Tree) -> Tree:
    return kept(Content(tree.value)) if isinstance(tree, Static) and is_by_content(tree.value) else tree


def _parameter_names(target: Any) -> tuple[list[str], bool]:
    """The names of the parameters, empty if unknown, and whether there are star parameters (or it is unknown)."""
    try:
        while level_of(target) is not None and not isinstance(target, MethodType):
            target = target.__wrapped__  # not as a level between is called
        found = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return [], True
    return list(found), any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in found.values())
