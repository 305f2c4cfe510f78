"""Arrays as functions of an index: what lowering knows of an array value before (and after) it has memory.

`Elements` says how to compute one element. A value that is read once is never given memory: its consumer's loop computes
its elements (`cheap` ones, which only map indices, may be read any number of times).
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

    ``root`` is the C-contiguous variable that holds exactly this, if it has memory. ``deps`` are buffers that may still be
    written: the elements must be read before that. ``unit`` is the axis along which elements are neighbours in memory.
    """

    sizes: tuple[ir.Operand, ...]
    dtype: str
    at: At
    root: ir.Var | None = None
    deps: frozenset[ir.Var] = frozenset()
    cheap: bool = True
    unit: int | None = None
    made: Made | None = None  # of memory as it lies, or of a product of such: what library calls take
    depth: int = 0  # how many operations lie inside one another to compute an element

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def memory(self) -> ir.Var:
        """The root of what is rooted."""
        assert self.root is not None
        return self.root

    @property
    def scalar_type(self) -> Type:
        return Type(self.dtype)

    def put_into(self, var: ir.Var) -> bool:
        """Fills new memory, where that is not done element by element; whether it did."""
        return False

    def formed(self, name: str) -> Elements:
        """The same with elements that can be asked for."""
        return self

    def each(self, at: At, dtype: str = "") -> Elements:
        """As many elements, each computed by ``at``."""
        return replace(self, root=None, made=None, cheap=False, at=at, dtype=dtype or self.dtype)

    def also(self, *others: Elements) -> Elements:
        """Depends on what the others depend on as well; dear if one of them is."""
        deps = self.deps.union(*(o.deps for o in others))
        return replace(self, deps=deps, cheap=self.cheap and all(o.cheap for o in others))


def is_one(size: ir.Operand) -> bool:
    return isinstance(size, ir.Const) and size.value == 1


def read(b: Builder, var: ir.Var, indices: Sequence[Expr]) -> Expr:
    """``var[i, j]``, indices known to be in range and not negative."""
    path = (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),)
    params = {"path": path, "dims": ()}
    return Expr(b, b.bind(ir.SYNTHETIC, Type(var.type.dtype), "index", (var, *(i.op for i in indices)), params))


def write(b: Builder, var: ir.Var, indices: Sequence[Expr], value: Expr, add: bool = False) -> None:
    """``var[i, j] = value`` or ``+=``."""
    path = (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),)
    (b.add if add else b.store)(var, path, list(indices), value)


def stored(b: Builder, var: ir.Var, sizes: Sequence[ir.Operand], deps: frozenset[ir.Var] = frozenset()) -> Elements:
    """The elements of a C-contiguous variable."""
    return Elements(
        tuple(sizes),
        var.type.dtype,
        lambda idx: read(b, var, idx),
        root=var,
        deps=deps,
        unit=len(sizes) - 1 if sizes else None,
    )


def loop_order(elements: Elements) -> list[int] | None:
    """The axes with the one that is contiguous innermost; None for the order that they have."""
    if elements.unit is None or elements.unit == elements.rank - 1:
        return None
    return [*(k for k in range(elements.rank) if k != elements.unit), elements.unit]
