"""Axes of the arguments of a kept function that are as long as each other in every call, so that they are in its body.

    def det(a): ... minor[:, :j] = a[1:, :j]        the rows and the columns of `a` meet

What meets in the body is *wished* to be equal; a call grants it if the sizes that it gives are: by their forms, or in the example,
with a check where the whole function begins. A call from inside the body that does not grant it has the function lifted for all
sizes, as one with another number does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transpile.aggregates import ArgLeaf, map_leaves, number_leaves
from transpile.core import nodes as ir
from transpile.core.dims import ANY, Dim
from transpile.frontend.calls.result_types import Axis, Pair
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.symbols import Symbols


def granted(lx: Lifter, trees: Mapping[str, Any], ops: Sequence[ir.Operand], pairs: Sequence[Pair]) -> dict[str, Any]:
    """The trees of a call with the axes in one that were wished to be, and that are as long in this call."""
    found = dict(trees)
    for pair in pairs:
        if grants(lx, ops, pair):
            found = united(found, pair)
    return found


def grants(lx: Lifter, ops: Sequence[ir.Operand], pair: Pair) -> bool:
    """Whether a call gives equal sizes: nothing is checked before that is of use."""
    return _may_be_equal(lx, *_sizes(lx, ops, pair))


def confirm(lx: Lifter, trees: Mapping[str, Any], ops: Sequence[ir.Operand]) -> None:
    """Sees to it that a call gives equal sizes where the function that is called has one."""
    first: dict[Dim, Axis] = {}
    for axis, dim in _dims(trees).items():
        if dim != ANY and not dim.is_const and first.setdefault(dim, axis) != axis:
            x, y = _sizes(lx, ops, (first[dim], axis))
            met = lx.b.unify(x, y)
            assert met is not None, f"{x} is not {y}"


def _sizes(lx: Lifter, ops: Sequence[ir.Operand], pair: Pair) -> tuple[Dim, Dim]:
    (a, k), (b, j) = pair
    return lx.symbols.resolve(ops[a].type.dims[k]), lx.symbols.resolve(ops[b].type.dims[j])


def _may_be_equal(lx: Lifter, x: Dim, y: Dim) -> bool:
    if x == y:
        return True
    symbols = lx.symbols
    if lx.sizes is not None and lx.outer is not None:
        around = lx.sizes.around(x, y)
        if around is not None:
            return _may_be_equal(lx.outer, *map(lx.outer.symbols.resolve, around))
        lx.sizes.wish(x, y)
        return False
    size = symbols.value(x)
    return size is not None and size == symbols.value(y) and symbols.is_size(x) and symbols.is_size(y)


def _dims(trees: Mapping[str, Any]) -> dict[Axis, Dim]:
    _, leaves = number_leaves(list(trees.values()))
    return {(k, axis): d for k, one in enumerate(leaves) for axis, d in enumerate(one.type.dims)}


def united(trees: Mapping[str, Any], pair: Pair) -> dict[str, Any]:
    """The trees with one symbol for two axes, and for those that are one with them, unless one is a number."""
    numbered, leaves = number_leaves(list(trees.values()))
    dims = _dims(trees)
    if any(dims[axis].is_const for axis in pair):
        return dict(trees)
    known = [dims[axis] for axis in pair if dims[axis] != ANY]
    members = {axis for axis, d in dims.items() if axis in pair or d in known}
    size = Dim.symbol("{}[{}]".format(*min(members)))

    def leaf(one: Any) -> Any:
        old: ArgLeaf = leaves[one.k]
        own = tuple(size if (one.k, axis) in members else d for axis, d in enumerate(old.type.dims))
        return ArgLeaf(old.type.with_dims(own), None, old.zero_dim)

    return {name: map_leaves(tree, leaf) for name, tree in zip(trees, numbered)}


def wished(symbols: Symbols, x: Dim, y: Dim) -> Iterator[Pair]:
    """The axes of arguments that two sizes are made of, one of each: if they are equal, the sizes may be."""
    for p in _axes(symbols, x):
        for q in _axes(symbols, y):
            if p != q:
                yield min(p, q), max(p, q)


def _axes(symbols: Symbols, dim: Dim) -> list[Axis]:
    """The axes whose sizes are in a form, or bound an index in it."""
    found: dict[str, None] = {}
    queue = list(dim.symbols())
    while queue:
        name = queue.pop(0)
        if name not in found:
            found[name] = None
            queue += [s for end in symbols.bounds.get(name, ()) if end is not None for s in end.symbols()]
    origins = [symbols.origins[name] for name in found if name in symbols.origins]
    return [(o.param, o.axis) for o in origins]
