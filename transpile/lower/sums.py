"""Sums of products, computed only when their destination is known: ``alpha * a @ b + beta * c``.

If an element is read, the products are computed into memory. If the sum is stored, or added to a buffer, the library calls
accumulate in that buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT, Type
from transpile.lower.contractions import Product, emit, product
from transpile.lower.element_functions import Elements, is_one, stored
from transpile.lower.lowering import Lowering
from transpile.lower.mapped_places import Place, put
from transpile.lower.memory_layout import lying, number, operand, scaled, uniform, view_of
from transpile.lower.memory_views import Times, View
from transpile.lower.runtime_calls import library_call
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Pending(Elements):
    """The sum of ``products`` and, if given, ``rest``; its elements cannot be read."""

    products: tuple[Product, ...] = ()
    rest: Elements | None = None
    lw: Lowering = field(kw_only=True, repr=False, compare=False)

    def formed(self, name: str) -> Elements:
        """The same array with the products in memory; adding ``rest`` is still an element function."""
        found = stored(self.lw.b, self.lw.materialise(replace(self, rest=None), name), self.sizes)
        return found if self.rest is None else _plus(self.lw, "add", found, self.rest)

    def put_into(self, var: ir.Var) -> bool:
        """Emits the computation of the whole sum into ``var``, new memory of its sizes; always True."""
        lw, whole = self.lw, view_of(stored(self.lw.b, var, self.sizes))
        assert whole is not None
        if self.rest is not None:
            lw.fill(var, self.rest)
        accumulate(lw, self, whole, number(lw, 0.0 if self.rest is None else 1.0, self.dtype).op)
        return True


def _refuse(idx: Sequence[Expr]) -> Expr:
    raise AssertionError("a product is read before it is computed")


def pending(
    lw: Lowering,
    parts: Sequence[tuple[str, Elements]],
    output: str,
    sizes: Sequence[ir.Operand],
    axes: Sequence[int] | None = None,
) -> Pending | None:
    """The product of two arrays, computed later at its destination; None if loops are better.

    ``parts``: the letters of each array's axes, and the array; ``output``: those of the result; ``sizes``: of the result;
    ``axes``: as in `product`.
    """
    found = product(lw, parts, output, axes)
    if found is None:
        return None
    return Pending(tuple(sizes), parts[0][1].dtype, _refuse, deps=found.deps, cheap=False, products=(found,), lw=lw)


def disguised(lw: Lowering, x: Elements, axes: Sequence[int], keepdims: bool, dtype: str) -> Pending | None:
    """The matrix product that a sum of elementwise products is: ``sum(a[:, :, None] * b, axis=1)``; None if it is none.

    Not for float32: a long sum of those is carried in float64.
    """
    if not isinstance(x.made, Times) or x.dtype != "float64" or dtype != "float64":
        return None
    names = "abcdefghijklmnop"[: x.rank]
    parts = []
    for view in (x.made.x, x.made.y):
        letters = "".join(c for c, a in zip(names, view.order) if a is not None)
        own = replace(view, order=tuple(a for a in view.order if a is not None))
        sizes = tuple(s for s, a in zip(x.sizes, view.order) if a is not None)
        parts.append((letters, Elements(sizes, x.dtype, _refuse, deps=x.deps, made=own)))
    kept = [k for k in range(x.rank) if k not in axes]
    if any(c not in s for k, c in enumerate(names) if k in axes and not is_one(x.sizes[k]) for s, _ in parts):
        return None  # a summed axis that only one operand has
    sizes = tuple(ir.Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes) if keepdims or k in kept)
    output = "".join(names[k] for k in kept)
    return pending(lw, parts, output, sizes, kept if keepdims else None) if kept else None


def peek(lw: Lowering, op: ir.Operand) -> Pending | None:
    """The sum of products that the operand stands for, if it is still pending and the operand is read only once; else None."""
    held = lw.held(op) if isinstance(op, ir.Var) and op.type.dims else None
    return held if isinstance(held, Pending) and lw.total[op] <= 1 else None  # type: ignore[index]


def accumulate(lw: Lowering, x: Pending, target: View, beta: ir.Operand) -> None:
    """Emits ``target = products + beta * target`` for the products of ``x``; its ``rest`` is left out."""
    for p in x.products:
        emit(lw, p, target, beta)
        beta = number(lw, 1.0, x.dtype).op


def summed(lw: Lowering, x: Pending, axes: Sequence[int], keepdims: bool) -> Pending | None:
    """The sum of ``x`` over ``axes``, pending too: the calls for the matrices of a batch add to one result. None if an axis is
    no batch axis of all products, if there is a ``rest``, or if no axis remains."""
    kept = [k for k in range(x.rank) if k not in axes]
    found = []
    for p in x.products:
        first, second, output = p.letters
        dropped = [c for c, a in zip(output, p.axes) if a in axes]
        if x.rest is not None or any(c not in first or c not in second for c in dropped):
            return None
        if any(k in axes and k not in p.axes and not is_one(s) for k, s in enumerate(x.sizes)):
            return None
        left = [(c, a if keepdims else kept.index(a)) for c, a in zip(output, p.axes) if a not in axes]
        letters = (first, second, "".join(c for c, _ in left))
        found.append(replace(p, letters=letters, axes=tuple(a for _, a in left)))
    sizes = tuple(ir.Const(1, INT) if k in axes else s for k, s in enumerate(x.sizes) if keepdims or k in kept)
    return replace(x, sizes=sizes, products=tuple(found)) if kept else None


# ------------------------------------------------------------------------------------------ sums and multiples


def linear(lw: Lowering, stmt: Any) -> Pending | None:
    """The result of a sum, difference, negation or multiple of pending sums of products, itself pending; None if the statement
    is something else, or no operand is pending."""
    record = record_of(stmt)
    if not record.is_polynomial:
        return None
    found = [peek(lw, a) for a in stmt.args]
    if not any(found) or stmt.var.type.dtype not in ("float64", "float32"):
        return None
    dtype = stmt.var.type.dtype
    if len(found) == 1:
        return _times(lw, found[0], number(lw, float(record.signs[0]), dtype))  # type: ignore[arg-type]
    (a, b), (x, y) = found, stmt.args
    if record.multiplies:
        whole, other = (a, y) if a is not None else (b, x)
        if peek(lw, other) is not None or whole.rest is not None:  # type: ignore[union-attr]
            return None
        factor = uniform(lw.elements(other))
        return None if factor is None else _times(lw, whole, factor)  # type: ignore[arg-type]
    if b is not None and record.is_difference:
        b = _times(lw, b, number(lw, -1.0, dtype))
    parts = [p for p in (a, b) if p is not None]
    left = a.rest if a is not None else lw.elements(x)
    right = b.rest if b is not None else lw.elements(y)
    rest = _sum(lw, stmt.prim if b is None else "add", left, right, parts[0].sizes)
    products = tuple(q for p in parts for q in p.products)
    deps = frozenset[ir.Var]().union(*(p.deps for p in parts), rest.deps if rest is not None else ())
    return replace(parts[0], products=products, rest=rest, deps=deps)


def _times(lw: Lowering, x: Pending, factor: Expr) -> Pending:
    """The pending sum with all products and the rest multiplied by a number."""
    products = tuple(replace(p, factor=scaled(lw, factor, p.factor)) for p in x.products)
    rest = None if x.rest is None else _multiple(lw, x.rest, factor)
    return replace(x, products=products, rest=rest)


def _multiple(lw: Lowering, x: Elements, factor: Expr) -> Elements:
    """The elements of ``x`` times a number; a view too, if ``x`` is one."""
    result = Type(x.dtype)

    def at(idx: Sequence[Expr]) -> Expr:
        if isinstance(factor.op, ir.Const) and factor.op.value == -1:
            return lw.compute("neg", [x.at(idx)], result, {})
        return lw.compute("mul", [factor, x.at(idx)], result, {})

    view = view_of(x)
    made = None if view is None else replace(view, factor=scaled(lw, factor, view.factor))
    return replace(x, root=None, made=made, at=at, cheap=False)


def _sum(
    lw: Lowering, prim: str, a: Elements | None, b: Elements | None, sizes: Sequence[ir.Operand]
) -> Elements | None:
    """The elements of ``a + b`` or, if ``prim`` is a difference, ``a - b``, where None stands for 0; None if both are None. A
    scalar that is left alone gets these sizes."""
    if a is None or b is None:
        x = b if a is None else a
        if x is not None and a is None and record_of(prim).is_difference:
            x = _multiple(lw, x, number(lw, -1.0, x.dtype))
        return x if x is None or x.rank else _spread(x, sizes)
    return _plus(lw, prim, a, b)


def _spread(x: Elements, sizes: Sequence[ir.Operand]) -> Elements:
    """A scalar as an array of these sizes."""
    return replace(x, sizes=tuple(sizes), root=None, made=None, at=lambda idx: x.at(()), unit=None)


def _plus(lw: Lowering, prim: str, a: Elements, b: Elements) -> Elements:
    """The elements of the sum or difference (``prim``) of ``a`` and ``b``; one of them may be a scalar."""
    shaped = a if a.rank >= b.rank else b
    result = Type(shaped.dtype)

    def at(idx: Sequence[Expr]) -> Expr:
        return lw.compute(prim, [e.at(idx) if e.rank else e.at(()) for e in (a, b)], result, {})

    units = [e.unit for e in (a, b) if e.unit is not None]
    found = Elements(shaped.sizes, shaped.dtype, at, cheap=False, unit=units[0] if units else None)
    return replace(found.also(a, b), cheap=False)


# ----------------------------------------------------------------------------------------------------- stores


def write(lw: Lowering, stmt: ir.Store | ir.Add, x: Pending, place: Place) -> bool:
    """Whether the statement, a store or an addition of ``x``, was emitted: as calls that accumulate in the place. False, and
    nothing emitted, if the place is no view of the same dtype, or a product reads the buffer."""
    target = place.view(lw, view_of(lw.env[stmt.buf]), (stmt.buf, stmt.path, stmt.args))
    if target is None or place.mask is not None or target.var.type.dtype != x.dtype:
        return False
    if any(stmt.buf in p.deps for p in x.products):
        return False
    beta: ir.Operand = number(lw, 1.0, x.dtype).op
    rest = x.rest
    own = None if rest is None else _own(rest, target)
    if isinstance(stmt, ir.Store) and rest is None:
        beta = number(lw, 0.0, x.dtype).op
    elif isinstance(stmt, ir.Store) and own is not None and (own.factor is None or len(target.order) == 2):
        beta, rest = _beta(lw, own, target), None
    if rest is not None:
        if stmt.buf in rest.deps and own is None:
            rest = lw.in_memory(rest, "")
        put(lw, stmt, place, rest)
    accumulate(lw, x, target, beta)
    return True


def _own(rest: Elements, target: View) -> View | None:
    """``rest`` as a view, if it is the target itself, perhaps with a factor; else None."""
    view = lying(rest)
    if view is None or view.var is not target.var:
        return None
    is_same = view.source == target.source or (view.parts == target.parts and view.order == target.order)
    return view if is_same else None


def _beta(lw: Lowering, own: View, target: View) -> ir.Operand:
    """The factor with which a call keeps the target's old content, where ``own`` is a multiple of the target.

    A factor that may be 0 is tested at run time: then NaN in the target stays.
    """
    if own.factor is None:
        return number(lw, 1.0, target.var.type.dtype).op
    if isinstance(own.factor.op, ir.Const) and own.factor.op.value != 0:
        return own.factor.op
    args = (own.factor.op, operand(lw, target))
    return library_call(lw.b, "beta", Type(target.var.type.dtype), "blas.kept", args, (1,))
