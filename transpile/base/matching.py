"""Matches the parameters of a core function with the leaves of a call, by their trees of arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from transpile.aggregates import ArgSpec, Leaf, Node, Tree


def call_trees(specs: Sequence[ArgSpec], count: int) -> tuple[list[Tree], dict[str, Tree]]:
    """A list of the trees of the first ``count`` positional arguments of a call, and a dict of those of all arguments that can
    be passed by name."""
    positional: list[Tree] = []
    named: dict[str, Tree] = {}
    for spec in specs:
        if spec.kind == "varpos":
            positional += list(spec.tree.children)
        elif spec.kind == "varkw":
            named.update(zip(spec.tree.keys, spec.tree.children))
        else:
            if spec.kind == "pos" and len(positional) < count:
                positional.append(spec.tree)
            named[spec.name] = spec.tree
    return positional[:count], named


def leaf_sources(specs: Sequence[ArgSpec], args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> dict[int, int]:
    """Maps the number of each parameter, a leaf in ``specs``, to the number of its leaf in the call ``args``, ``kwargs``;
    leaves of the call that are no parameters are left out."""
    positional, named = call_trees(specs, len(args))
    found: dict[int, int] = {}
    for mine, given in zip(positional, args):
        _align(mine, given, found)
    for name, given in kwargs.items():
        _align(named[name], given, found)
    return found


def _align(mine: Tree, given: Tree, found: dict[int, int]) -> None:
    """Adds to ``found`` the number of each leaf of ``mine`` with that of the leaf at the same place of ``given``."""
    if isinstance(mine, Leaf):
        assert isinstance(given, Leaf), given
        found[mine.k] = given.k
    elif isinstance(mine, Node):
        assert isinstance(given, Node), given
        for a, b in zip(mine.children, given.children):
            _align(a, b, found)
