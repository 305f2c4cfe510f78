"""The conversions of the leaves of a result, from the types of a core function's results."""

from __future__ import annotations

from collections.abc import Sequence

from transpile.aggregates import Leaf, Tree, walk_leaves
from transpile.core import nodes as ir
from transpile.driver.results import Convert, Wanted, converter


def wanted(yields: Sequence[ir.Operand], tree: Tree | None) -> tuple[Wanted, ...]:
    """For each leaf the kind and dtype that it is converted to; None for one that needs no conversion: arrays, except of
    float16, and undefined values.

    ``tree`` is the structure, whose leaves say which are 0-d arrays; None: no leaf is one.
    """
    leaves = walk_leaves(tree) if tree is not None else ()
    arrays = {leaf.k for leaf in leaves if isinstance(leaf, Leaf) and leaf.zero_dim}

    def one(k: int, y: ir.Operand) -> Wanted:
        if y.type.dims and y.type.dtype == "float16" and not isinstance(y, ir.Undef):
            return ("entries", y.type.dtype)  # compiled code has float32
        if y.type.dims or isinstance(y, ir.Undef):
            return None
        return ("array" if k in arrays else "python" if y.type.weak else "numpy", y.type.dtype)

    return tuple([one(k, y) for k, y in enumerate(yields)])


def converters(yields: Sequence[ir.Operand], tree: Tree | None) -> list[Convert | None]:
    """For each leaf the function that converts it; None if it needs no conversion. ``tree`` is as for `wanted`."""
    return [converter(w) for w in wanted(yields, tree)]
