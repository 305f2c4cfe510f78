"""Subscripts within their axes: points are checked, slices are clipped as in Python.

No check is emitted for what the forms of the operands prove, such as a loop index below the size.
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.core.types import BOOL, INT, Type
from transpile.lower.lowered_effects import in_range, mismatch, wrong_mask
from transpile.lower.lowering import Lowering


def stretch(k: Expr, start: Expr | None, stride: Expr | None) -> Expr:
    """``start + k * stride``; None stands for a start 0 and a stride 1."""
    at = k if stride is None else k * stride
    return at if start is None else at + start if stride is not None else start + k


def span(
    lw: Lowering, item: ir.Slice, args: list[ir.Operand], size: ir.Operand
) -> tuple[Expr | None, ir.Operand, Expr | None]:
    """Start, number of elements and stride of a slice on an axis of this size; None for a start of 0 and a stride of 1.

    They are emitted as Python computes them, from the end for negative ends, clipped to the axis.
    """
    b = lw.b
    if item.is_full:
        return None, size, None
    given = [None if k is None else lw.place(args[k]) for k in (item.start, item.stop, item.step)]
    start, stop, step = given
    n = b.expr(size)
    stride = None if step is None or (isinstance(step.op, ir.Const) and step.op.value == 1) else step
    if stride is None:  # only existing elements are read: a start beyond the end need not be clipped
        low = None if start is None else start if is_not_negative(lw, start) else clip(lw, start, n)
        if low is None or (isinstance(low.op, ir.Const) and low.op.value == 0):
            return None, (n if stop is None else clip(lw, stop, n)).op, None
        ends_before = stop is not None and isinstance(stop.op, ir.Const) and stop.op.value < 0
        high = n if stop is None else n + stop.op.value if ends_before else clip(lw, stop, n)  # type: ignore[union-attr]
        return low, at_least_zero(lw, high - low).op, None
    if isinstance(stride.op, ir.Const) and stride.op.value == -1 and start is None and stop is None:
        return n - 1, size, stride
    ends = [b.expr(0) if e is None else e for e in (start, stop)]
    flags = [b.expr(ir.Const(e is not None, BOOL)) for e in (start, stop)]
    asked = (n.op, *(e.op for e in ends), *(f.op for f in flags), stride.op)
    call = b.bind("span", Type("int64", (), kind="tuple"), "arrays.span", asked)
    low, count = (Expr(b, b.bind(w, INT, "item", (call,), {"k": k})) for k, w in enumerate(("start", "count")))
    return low, count.op, stride


def clip(lw: Lowering, x: Expr, n: Expr) -> Expr:
    """A bound of a slice, counted from the end if negative, clipped to the range from 0 to ``n``, the size of the axis."""
    b = lw.b
    form, size = lw.b.form_of(x.op), lw.b.form_of(n.op)
    if form is not None and size is not None and within(lw, form, size + 1):
        return x
    if isinstance(x.op, ir.Const):
        k = x.op.value
        if k >= 0:
            return Expr(b, b.bind(ir.SYNTHETIC, INT, "minimum", (n.op, x.op), {"py": True})) if k else x
        return at_least_zero(lw, n - (-k))
    return Expr(b, b.bind(ir.SYNTHETIC, INT, "arrays.bound", (x.op, n.op)))


def is_not_negative(lw: Lowering, x: Expr) -> bool:
    """Whether the integer is known to be at least 0, from its form and the ranges of loop indices."""
    form = lw.b.form_of(x.op)
    return form is not None and is_nonnegative(lw.least(form))


def at_least_zero(lw: Lowering, x: Expr) -> Expr:
    """``max(x, 0)``."""
    if isinstance(x.op, ir.Const):
        return lw.b.expr(max(x.op.value, 0))
    if is_not_negative(lw, x):
        return x
    return Expr(lw.b, lw.b.bind(ir.SYNTHETIC, INT, "maximum", (x.op, ir.Const(0, INT)), {"py": True}))


def within(lw: Lowering, form: Dim, size: Dim) -> bool:
    """Whether ``0 <= form < size`` is known, for all values of the symbols in them."""
    return is_nonnegative(lw.least(form)) and is_nonnegative(lw.least(size - form - 1))


def checked(lw: Lowering, op: ir.Operand, size: ir.Operand) -> Expr:
    """The subscript ``op`` on an axis of this size, counted from the end if negative; a check that raises IndexError is emitted
    unless it is known to hold."""
    x, n = lw.place(op), lw.b.expr(size)
    form, bound = lw.b.form_of(x.op), lw.b.form_of(n.op)
    if form is not None and bound is not None:
        if within(lw, form, bound):
            return x
        if form.is_const and form.const < 0:
            if is_nonnegative(lw.least(bound + form)):
                return n + form.const
            x = n + form.const
            return guarded(lw, x, x - n, n)
        if is_nonnegative(lw.least(form)):
            return guarded(lw, x, x, n, low=False)
    at = lw.b.elementwise("where", x < 0, x + n, x)
    at = named(lw, at, "at")
    return guarded(lw, at, x, n)


def named(lw: Lowering, x: Expr, name: str) -> Expr:
    """The expression; its variable gets the name if it has none."""
    if isinstance(x.op, ir.Var) and x.op.name == ir.SYNTHETIC:
        x.op.name = name
    return x


def guarded(lw: Lowering, at: Expr, given: Expr, n: Expr, low: bool = True) -> Expr:
    """``at``, after a check that it lies in ``range(n)``; the error shows ``given``. ``low`` False: ``at`` is known not to be
    negative."""
    lw.b.emit(in_range(lw.b.loc, at, n, given, low))
    return at


def check_shape(lw: Lowering, given: Sequence[ir.Operand], wanted: Sequence[ir.Operand]) -> None:
    """Emits checks that raise IndexError if a mask has other sizes (``given``) than the axes that it covers (``wanted``)."""
    b = lw.b
    for g, w in zip(given, wanted):
        if g == w:
            continue
        with b.into(ir.Block()) as raises:
            b.emit(wrong_mask(b.loc, b.expr(g), b.expr(w)))
        b.emit(ir.If(b.expr(g).ne(w).op, raises, ir.Block(), (), b.loc))


def check_sizes(lw: Lowering, given: ir.Operand, wanted: ir.Operand) -> None:
    """Emits a check that raises IndexError if an index array has neither the size of the others (``wanted``) nor size 1."""
    b, x = lw.b, lw.b.expr(given)
    with b.into(ir.Block()) as raises:
        b.emit(mismatch(b.loc, x, b.expr(wanted)))
    b.emit(ir.If((x.ne(wanted) & x.ne(1)).op, raises, ir.Block(), (), b.loc))
