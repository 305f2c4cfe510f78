"""Places as maps from their index to an index in the source, and writes to places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.lower.element_functions import Elements, loop_order, write
from transpile.lower.indices import Map
from transpile.lower.lowering import Lowering
from transpile.lower.memory_views import View

Move = Callable[[View], View]


@dataclass
class Place:
    """``sizes`` of the place and ``at``, which maps its index to the index in the source.

    A mask has no such map: ``mask`` holds its elements, and ``lead`` is the first axis of the source that it covers, and also
    its axis in the place (`each` walks the mask).
    """

    sizes: tuple[ir.Operand, ...]
    at: Map
    cheap: bool = True
    unit: int | None = None
    deps: frozenset[ir.Var] = frozenset()
    mask: Elements | None = None
    lead: int = 0
    identity: bool = field(default=False)
    moves: tuple[Move, ...] | None = ()  # view operations from the source to the place; None if it is no view

    def then(self, sizes: Sequence[ir.Operand], inner: Map, unit: int | None = None, **more: Any) -> Place:
        """The part of this place that has the given sizes and in which ``inner`` maps an index to an index here; no view any
        more.

        ``unit``: its axis that is contiguous, if any; ``more``: other fields.
        """
        outer = self.at
        return replace(
            self, sizes=tuple(sizes), at=lambda idx: outer(inner(idx)), unit=unit, identity=False, moves=None, **more
        )

    def view(self, lw: Lowering, source: View | None, name: Any = None) -> View | None:
        """The view of the place in memory, if it is part of the source's view; else None. ``name`` becomes its ``source``."""
        if source is None or self.moves is None:
            return None
        for move in self.moves:
            source = move(source)
        return replace(source, source=name)

    def each(self, lw: Lowering, body: Callable[[list[Expr]], None], order: Sequence[int] | None = None) -> None:
        """Emits ``body(index)`` for all indices of the place, in loops; ``order`` is as in `Nests.nest`, and is ignored for a
        mask."""
        if self.mask is None:
            lw.nest(self.sizes, body, order)
        else:
            walk_mask(lw, self, body)


def put(lw: Lowering, stmt: ir.Store | ir.Add, place: Place, value: Elements) -> None:
    """Emits loops that store or add ``value`` in the place, as the statement does; its elements do not depend on those just
    written."""
    var = lw.buffers[stmt.buf]
    adds = isinstance(stmt, ir.Add)

    def one(idx: Sequence[Expr]) -> None:
        write(lw.b, var, place.at(idx), value.at(idx) if value.rank else value.at(()), adds)

    place.each(lw, one, order=loop_order(value) if value.rank else None)


def walk_mask(lw: Lowering, place: Place, body: Callable[[list[Expr]], None]) -> None:
    """Emits ``body`` for each index of a masked place: a walk over the mask that counts its true entries.

    During the walk, the map of the place is that of the current entry: the place's index on the mask's axis stands for it.
    """
    assert place.mask is not None
    b, mask, lead = lw.b, place.mask, place.lead
    source_at = place.at

    def visit(idx: list[Expr], values: list[Expr]) -> list[Expr]:
        (count,) = values
        hit = ir.Block()
        with b.into(hit):

            def inner(rest: list[Expr]) -> None:
                here = [*rest[:lead], count, *rest[lead:]]
                place.at = lambda k: source_at([*k[:lead], *idx, *k[lead + 1 :]])
                body(here)

            lw.nest((*place.sizes[:lead], *place.sizes[lead + 1 :]), inner)
            more = count + 1
            hit.yields = (more.op,)
        result = ir.Var("count", INT)
        b.emit(ir.If(mask.at(idx).op, hit, ir.Block((), [], (count.op,)), (result,), b.loc))
        return [b.expr(result)]

    lw.fold(mask.sizes, [b.expr(0)], visit, ("count",))
    place.at = source_at
