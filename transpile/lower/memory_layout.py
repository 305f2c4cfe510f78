"""Arrays as views of memory, which library calls take in place.

`operand` gives the variable, or ``x[i, :, a:b]`` or ``x.T`` of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import ANY
from transpile.core.types import INT, Type
from transpile.lower.element_functions import Elements, is_one
from transpile.lower.lowering import Lowering
from transpile.lower.memory_views import At, Made, Range, Times, Uniform, View
from transpile.lower.runtime_calls import in_sizes, viewed
from transpile.ops.tables import record_of


def view_of(x: Elements) -> View | None:
    """The array as a view of the memory that holds its elements, perhaps up to a factor; None if no memory does."""
    if x.root is not None:
        return View(x.root, tuple(Range(None, s) for s in x.sizes), tuple(range(x.rank)))
    return x.made if isinstance(x.made, View) else None


def repeated(x: Elements, lead: int) -> View | None:
    """The array as a view, repeated along ``lead`` new axes in front and along its axes of size 1; None if it is no view."""
    view = view_of(x)
    if view is None:
        return None
    order = tuple(None if is_one(s) else k for s, k in zip(x.sizes, view.order))
    dropped = [k for k, o in zip(view.order, order) if o is None and k is not None]
    parts = tuple(At(_first(p)) if k in dropped else p for k, p in enumerate(view.parts))
    return replace(view, parts=parts, order=(*[None] * lead, *order))


def _first(part: At | Range) -> ir.Operand:
    return part.index if isinstance(part, At) else ir.Const(0, INT) if part.start is None else part.start


def lying(x: Elements) -> View | None:
    """The array as a view of memory, perhaps with a factor, as `view_of` gives it; None if it is none or is repeated along an
    axis."""
    view = view_of(x)
    return None if view is None or None in view.order else view


def made_by(lw: Lowering, prim: str, operands: Sequence[Elements]) -> Made | None:
    """What the result of an elementwise primitive is without being computed: a `View`, the product of two (`Times`), or None.

    Only of floats: a negation, or a product of two views or of a view and a number, which becomes a factor of the view.
    """
    arrays = [x for x in operands if uniform(x) is None]
    if (
        not (record_of(prim).multiplies or record_of(prim).is_opposite)
        or not arrays
        or arrays[0].dtype not in ("float64", "float32")
    ):
        return None
    views = [view_of(x) for x in arrays]
    if any(v is None for v in views):
        return None
    if len(views) == 2:
        return Times(views[0], views[1])  # type: ignore[arg-type]
    view = views[0]
    assert view is not None
    if record_of(prim).is_opposite:
        return replace(view, factor=scaled(lw, view.factor, number(lw, -1.0, arrays[0].dtype)))
    factor = next(f for f in map(uniform, operands) if f is not None)
    return replace(view, factor=scaled(lw, view.factor, factor))


def uniform(x: Elements) -> Expr | None:
    """The number that all elements are equal to, for a scalar its value; None if none is known."""
    if not x.rank:
        return x.at(())
    return x.made.value if isinstance(x.made, Uniform) else None


def number(lw: Lowering, value: float, dtype: str) -> Expr:
    """A floating-point constant of the dtype."""
    return lw.b.expr(ir.Const(value, Type(dtype)))


def scaled(lw: Lowering, a: Expr | None, b: Expr | None) -> Expr | None:
    """The product of two factors, emitted unless both are constants; None stands for 1."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a.op, ir.Const) and isinstance(b.op, ir.Const):
        return number(lw, a.op.value * b.op.value, a.dtype)
    return lw.compute("mul", [a, b], Type(a.dtype), {})


# ------------------------------------------------------------------------------------------- operands of calls


def operand(lw: Lowering, view: View) -> ir.Operand:
    """The view, without its factor, as an operand of a call: the variable itself, or a new one for a part or a transpose of it.

    The axes of the view are in memory order, unless it has two: these may be swapped.
    """
    b, dtype = lw.b, view.var.type.dtype
    found = view.var
    if not view.is_full:
        args: list[ir.Operand] = []
        items: list[ir.Item] = []
        for part in view.parts:
            if isinstance(part, At):
                args.append(part.index)
                items.append(ir.Point(len(args) - 1))
            elif part.start is None:
                items.append(ir.Slice())
            else:
                args += [part.start, (b.expr(part.start) + b.expr(part.size)).op]
                items.append(ir.Slice(len(args) - 2, len(args) - 1))
        while items[-1] == ir.Slice():
            items.pop()
        type_ = Type(dtype, (ANY,) * len(view.order))
        found = viewed(b, ir.SYNTHETIC, type_, view.var, ir.Index(tuple(items)), args)
    if list(view.order) != sorted(view.order):  # type: ignore[type-var]
        assert len(view.order) == 2
        found = viewed(b, ir.SYNTHETIC, Type(dtype, (ANY, ANY)), found, ir.Permute((1, 0)), ())
    return found


def reshaped(lw: Lowering, view: View, sizes: Sequence[ir.Operand]) -> View:
    """The memory of ``view``, which is a whole variable, under other sizes, as a new view without a factor."""
    var = in_sizes(lw.b, ir.SYNTHETIC, Type(view.var.type.dtype, (ANY,) * len(sizes)), view.var, sizes)
    return View(var, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes))))
