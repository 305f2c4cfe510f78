"""Sizes that only the run knows, each measured once: the same part of axes of one size has one size.

x[a:b] * y[a:b]        one symbol, if ``x`` and ``y`` have equally many entries
x[m] * y[m]            one symbol, for one mask
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.places import consumed
from transpile.frontend.lifting import Lifting


class Measured:
    """The sizes of parts that were read before, where they can be relied on."""

    def __init__(self, lx: Lifting) -> None:
        self.lx = lx
        self.known: dict[Any, tuple[Dim, ir.Block]] = {}

    def find(self, key: Any) -> Dim | None:
        found = self.known.get(key)
        return found[0] if found is not None and any(b is found[1] for b in self.lx.b.open) else None

    def note(self, key: Any, dim: Dim) -> None:
        self.known[key] = dim, self.lx.b.block

    def keys(self, dims: Sequence[Dim], path: ir.Path, args: Sequence[ir.Operand], rank: int) -> list[Any]:
        """What decides the size of each axis of a part."""
        sizes = tuple(self.lx.symbols.resolve(d) for d in dims)
        operands = tuple(self._value(a) for a in args)
        if len(path) == 1 and isinstance(path[0], ir.Index):
            found = self._of_index(sizes, path[0], args, operands)
            if len(found) == rank:
                return found
        return [(sizes, path, operands, k) for k in range(rank)]

    def _of_index(self, sizes: tuple[Dim, ...], step: ir.Index, args: Sequence[ir.Operand], operands: Any) -> list[Any]:
        if any(isinstance(i, ir.Gather) for i in step.items) or sum(isinstance(i, ir.Mask) for i in step.items) > 1:
            return []
        found: list[Any] = []
        axis = 0
        for item in step.items:
            if isinstance(item, ir.Slice):
                bounds = (None if s is None else operands[s] for s in (item.start, item.stop, item.step))
                found.append((sizes[axis], *bounds))
            elif isinstance(item, ir.Mask):
                found.append(("mask", operands[item.arg]))
            elif not consumed(item, args):
                found.append(None)
            axis += consumed(item, args)
        return found

    def _value(self, operand: ir.Operand) -> Any:
        """Equal for operands that are surely equal."""
        if isinstance(operand, ir.Const):
            return operand.value
        if operand.type.is_int and not operand.type.dims:
            form = self.lx.b.form_of(operand)
            return operand if form is None else self.lx.symbols.resolve(form)
        return operand
