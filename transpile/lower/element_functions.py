"""Arrays as functions of an index: what the lowering knows of an array before (and after) it has memory.

`Elements` can compute any one element. A value that is read once never gets memory: the loop of its reader computes its
elements. `cheap` elements, which only map indices, may be read any number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.types import Type
from transpile.lower.memory_views import Made

At = Callable[[Sequence[Expr]], Expr]


@dataclass(frozen=True)
class Elements:
    """An array: its sizes (integer operands), dtype, and ``at(indices)``, which emits the computation of one element.

    ``root`` is the C-contiguous variable that holds exactly this array, if it has memory. ``deps`` are buffers that it reads
    and that may still be written: its elements must be computed before that. ``unit`` is the axis along which elements are
    neighbours in memory.
    """

    sizes: tuple[ir.Operand, ...]
    dtype: str
    at: At
    root: ir.Var | None = None
    deps: frozenset[ir.Var] = frozenset()
    cheap: bool = True
    unit: int | None = None
    made: Made | None = None  # a view of memory, or a product of views: library calls take these
    depth: int = 0  # nesting depth of the operations that compute an element

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def memory(self) -> ir.Var:
        """The variable that holds the array, ``root``; the array must have one."""
        assert self.root is not None
        return self.root

    def put_into(self, var: ir.Var) -> bool:
        """Fills the new memory ``var`` by other means than element by element; returns False, having done nothing, if there are
        none."""
        return False

    def formed(self, name: str) -> Elements:
        """The same array, with elements that can be read: itself, unless it is a pending sum, which gets memory with this
        name."""
        return self

    def each(self, at: At, dtype: str = "") -> Elements:
        """An array of the same sizes, with each element computed by ``at``, no longer in memory or cheap; dtype "" keeps the
        dtype."""
        return replace(self, root=None, made=None, cheap=False, at=at, dtype=dtype or self.dtype)

    def also(self, *others: Elements) -> Elements:
        """The same array, depending on the buffers of the others too; cheap only if they all are."""
        deps = self.deps.union(*(o.deps for o in others))
        return replace(self, deps=deps, cheap=self.cheap and all(o.cheap for o in others))


def is_one(size: ir.Operand) -> bool:
    """Whether the size is the constant 1."""
    return isinstance(size, ir.Const) and size.value == 1


def read(b: Builder, var: ir.Var, indices: Sequence[Expr]) -> Expr:
    """Emits ``var[i, j]``; the indices are known to be nonnegative and in range."""
    path = (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),)
    params = {"path": path, "dims": ()}
    return Expr(b, b.bind(ir.SYNTHETIC, Type(var.type.dtype), "index", (var, *(i.op for i in indices)), params))


def write(b: Builder, var: ir.Var, indices: Sequence[Expr], value: Expr, add: bool = False) -> None:
    """Emits ``var[i, j] = value``; with ``add``, ``var[i, j] += value``."""
    path = (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),)
    (b.add if add else b.store)(var, path, list(indices), value)


def stored(b: Builder, var: ir.Var, sizes: Sequence[ir.Operand], deps: frozenset[ir.Var] = frozenset()) -> Elements:
    """The elements of a C-contiguous variable with these sizes; ``deps``: the buffers whose change changes them."""
    return Elements(
        tuple(sizes),
        var.type.dtype,
        lambda idx: read(b, var, idx),
        root=var,
        deps=deps,
        unit=len(sizes) - 1 if sizes else None,
    )


def loop_order(elements: Elements) -> list[int] | None:
    """The axes from the outermost loop to the innermost, the contiguous one last; None for the usual order."""
    if elements.unit is None or elements.unit == elements.rank - 1:
        return None
    return [*(k for k in range(elements.rank) if k != elements.unit), elements.unit]
