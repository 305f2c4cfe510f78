"""The arguments of a call of a kept function: trees of types, the operands of their leaves, and what tells routines apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from transpile.aggregates import ArgLeaf, Node, map_leaves, number_leaves
from transpile.aggregates import Static as StaticTree
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.frontend.calls import inner_transforms
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.fingerprints import fingerprint
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.values import Array, Cell, Scalar


@dataclass
class Given(inner_transforms.Passed):
    """As `Passed`. Sizes are numbers or `ANY`; flags are known."""

    def tree(self, value: Any) -> Any:
        if isinstance(value, Scalar) and isinstance(value.op, ir.Const) and isinstance(value.op.value, bool):
            return StaticTree(value.op.value)
        if isinstance(value, (Scalar, Array)):
            op = self.lx.operand(value)
            self.ops.append(op)
            self.cells.append(value.cell if isinstance(value, Array) else None)
            sizes = tuple(d if d.is_const else ANY for d in map(self.lx.symbols.resolve, op.type.dims))
            return ArgLeaf(op.type.with_dims(sizes), None, isinstance(value, Array) and not sizes)
        return super().tree(value)

    def without(self, leaf: int) -> Given:
        """The same without a leaf, whose value is known now."""
        keep = [k for k in range(len(self.ops)) if k != leaf]
        ops, cells = [self.ops[k] for k in keep], [self.cells[k] for k in keep]
        return Given(self.lx, ops, cells=cells, containers=self.containers)

    def refuse_shared(self, written: Iterable[int], read: Iterable[Cell], node: Any) -> None:
        """Refuses an array that the function writes and that another argument is, or may be, or one that it reads outside."""
        roots = [None if c is None else memory.root(self.lx, c) for c in (*self.cells, *read)]
        for k in written:
            for j, other in enumerate(roots):
                mine = roots[k]
                if j != k and mine is not None and other is not None and aliases.is_related(self.lx, mine, other):
                    message = "a recursive function writes into this argument, which may share memory with another one"
                    raise self.lx.error("T123", message, node, hint="pass a .copy() of one of them")


def with_static(
    lx: Lifter, trees: Mapping[str, Any], ops: list[ir.Operand], needed: NeedStatic, node: Any
) -> dict[str, Any]:
    """The trees with the value of a leaf that must be known; asked for outside if it is not known here."""
    op = ops[needed.leaf]
    if not isinstance(op, ir.Const):
        lx.need(op, "an argument of this call", node)
    numbered, leaves = number_leaves(list(trees.values()))

    def leaf(one: Any) -> Any:
        return StaticTree(op.value) if one.k == needed.leaf else leaves[one.k]

    return {name: map_leaves(tree, leaf) for name, tree in zip(trees, numbered)}


# ------------------------------------------------------------------------------------------------- telling apart


def key_of(trees: Mapping[str, Any]) -> Any:
    """The same for calls that one routine serves."""
    return tuple((name, _key(tree, True)) for name, tree in trees.items())


def kind_of(trees: Mapping[str, Any]) -> Any:
    """The same for calls that differ in nothing but the sizes of arrays."""
    return tuple((name, _key(tree, False)) for name, tree in trees.items())


def is_alike(trees: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two calls differ in nothing but the sizes of arrays."""
    return kind_of(trees) == kind_of(others)


def _key(tree: Any, sizes: bool) -> Any:
    match tree:
        case ArgLeaf():
            kind = str(tree.type) if sizes else (tree.type.dtype, tree.type.rank, tree.type.weak)
            return ("leaf", kind, tree.zero_dim)
        case Node():
            return ("node", tree.kind, tree.cls, tree.keys, *(_key(c, sizes) for c in tree.children))
        case StaticTree():
            value = tree.value
            if isinstance(value, inner_transforms.Stand):
                return ("static", fingerprint(value.lifter, value.value))
            return ("static", tree)
    return ("other", StaticTree(tree))


def generalised(trees: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """The trees with `ANY` for each size in which they differ."""

    def meet(a: Any, b: Any) -> Any:
        if isinstance(a, ArgLeaf):
            dims = tuple(d if d == e else ANY for d, e in zip(a.type.dims, b.type.dims))
            return ArgLeaf(a.type.with_dims(dims), None, a.zero_dim)
        if isinstance(a, Node):
            return Node(a.kind, tuple(meet(c, d) for c, d in zip(a.children, b.children)), a.keys, a.cls)
        return a

    return {name: meet(tree, others[name]) for name, tree in trees.items()}
