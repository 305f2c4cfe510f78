"""Python's ``range``: how many numbers it has, and which."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.values import RangeOf


def length_of_range(lx: Lifter, value: RangeOf) -> Dim | ir.Operand:
    """How many numbers a range has."""
    start, stop, step = (lx.b.expr(o) for o in (value.start, value.stop, value.step))
    if isinstance(step.op, ir.Const):
        span = lx.b.form(stop) - lx.b.form(start) if step.op.value > 0 else lx.b.form(start) - lx.b.form(stop)
        size = abs(step.op.value)
        span = lx.symbols.resolve(span)
        if size == 1:
            return span.clip()
        return Dim((max(span.const, 0) + size - 1) // size) if span.is_const else (span.clip() + (size - 1)) // size
    dynamic_list_reads.raise_if(
        lx, lx.b.elementwise("equal", step, 0).op, "ValueError", "range() arg 3 must not be zero"
    )
    ahead = lx.b.elementwise("where", step > 0, stop - start + step - 1, start - stop - step - 1)
    size_ = lx.b.elementwise("absolute", step, py=True)
    return lx.b.elementwise("maximum", ahead // size_, 0, py=True).op


def item(lx: Lifter, value: RangeOf, index: Any, node: Any) -> Any:
    """``range(...)[k]`` for a known ``k`` that is not negative."""
    k = lx.operand(index, node)
    if isinstance(k, ir.Const) and k.value < 0:
        raise lx.error("T120", "a range cannot be indexed from its end", node, "make a list of it: list(range(...))")
    length = length_of_range(lx, value)
    if not (isinstance(k, ir.Const) and isinstance(length, Dim) and length.is_const):
        message = "an item of a range whose bounds or index are only known at run time"
        raise lx.error("T210", message, node, "compute it: start + index * step")
    if not k.value < length.const:
        message = f"index {k.value} is out of range for a range of length {length.const}"
        raise lx.error("T207", message, node, "correct the index or the bounds")
    return lx.value(lx.b.expr(value.start) + lx.b.expr(k) * lx.b.expr(value.step))
