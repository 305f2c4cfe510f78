"""Arrays that are views of a variable's memory: rows, slices, transposes, multiples, repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.types import INT


@dataclass(frozen=True)
class At:
    """A single index of an axis."""

    index: ir.Operand


@dataclass(frozen=True)
class Range:
    """``size`` indices of an axis from ``start``; a start of None means the whole axis."""

    start: ir.Operand | None
    size: ir.Operand


@dataclass(frozen=True)
class View:
    """``parts``: for each axis of the variable, the indices that are taken. ``order``: for each axis of the array, the axis of
    the variable that it is; None if the array is repeated along it. ``source`` is the place in the user's program."""

    var: ir.Var
    parts: tuple[At | Range, ...]
    order: tuple[int | None, ...]
    factor: Expr | None = None
    source: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether the view is the whole variable, with its axes in order, none repeated, and no factor."""
        return self.order == tuple(range(len(self.parts))) and self.is_full and self.factor is None

    @property
    def is_full(self) -> bool:
        """Whether the view takes all indices of each axis of the variable; in any order of axes, with any factor."""
        return all(isinstance(p, Range) and p.start is None for p in self.parts)

    @property
    def close(self) -> int | None:
        """The axis of the view that is contiguous in memory, as the last axis of the variable; None if the view has no such
        axis."""
        last = len(self.parts) - 1
        return self.order.index(last) if last in self.order else None

    def plain(self) -> View:
        """The view without its factor."""
        return replace(self, factor=None)

    def permuted(self, axes: Sequence[int]) -> View:
        """The view whose axis k is axis ``axes[k]`` of this one."""
        return replace(self, order=tuple(self.order[a] for a in axes), source=None)

    def indexed(self, b: Builder, items: Sequence[Item]) -> View:
        """The view of a subscript with one item per axis: an `At`, a `Range`, None for the whole axis, or `NEW` for a new axis.
        ``b`` emits the sums of the starts."""
        parts: list[At | Range] = list(self.parts)
        order: list[int | None] = []
        axes = iter(self.order)
        for item in items:
            if item is NEW:
                order.append(None)
                continue
            axis = next(axes)
            if not isinstance(item, At):
                order.append(axis)
            if axis is not None and item is not None:
                start = parts[axis].start  # type: ignore[union-attr]
                if isinstance(item, At):
                    parts[axis] = At(_plus(b, start, item.index))
                elif isinstance(item, Range):
                    parts[axis] = Range(_plus(b, start, item.start) if item.start is not None else start, item.size)
                    if item.start is None and start is None:
                        parts[axis] = Range(ir.Const(0, INT), item.size)
        return replace(self, parts=tuple(parts), order=tuple(order), source=None)


@dataclass(frozen=True)
class Times:
    """The elementwise product of two views."""

    x: View
    y: View


@dataclass(frozen=True)
class Uniform:
    """An array whose elements are all equal to this number."""

    value: Expr


Made = View | Times | Uniform
NEW = "new"
Item = At | Range | None | str


def _plus(b: Builder, start: ir.Operand | None, index: ir.Operand) -> ir.Operand:
    """The sum of a start, None for 0, and an index, emitted."""
    return index if start is None else (b.expr(start) + b.expr(index)).op
