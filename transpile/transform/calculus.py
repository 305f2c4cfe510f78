"""Arithmetic of tangents and adjoints: a partial times a tangent, the sum of contributions.

Results are arranged as a person would write them, since they are printed as they stand: factors 1 and -1 vanish, ``bar * (1 /
n)`` becomes ``bar / n``, common factors are taken out of sums. A partial that selects (``where(c, 1, 0)``) selects from the
product instead, so that an infinite adjoint is never multiplied by zero.
"""

from __future__ import annotations

from math import frexp
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.peephole import definition, is_const
from transpile.core.types import Type
from transpile.core.walk import uses
from transpile.ops.language import Ratio
from transpile.ops.tables import record_of


def zero(b: Builder, type_: Type) -> Expr:
    """A zero of the type: a constant for scalars, else an array of zeros."""
    if type_.is_scalar:
        return b.expr(ir.Const(0.0, type_))
    return b.let("full", ir.Const(0.0, Type(type_.dtype)), dims=type_.dims, dtype=type_.dtype)


def times(bar: Expr, partial: Any) -> Expr | None:
    """``bar * partial``, simplified, where ``partial`` is a number, an `Expr` or a `Ratio`; None if it is recognised as 0."""
    b = bar.b
    if isinstance(partial, (int, float)) and not isinstance(partial, bool):
        return by_number(bar, partial)
    if isinstance(partial, Ratio):
        if isinstance(through_broadcast(b, bar.op), ir.Const):
            return times(bar, partial.number)
        return -((bar / partial.by) * partial.value)
    partial = b.expr(partial)
    made = definition(b, partial.op)
    if made is not None and made.prim == "where" and _selects(b, made):
        test, then, orelse = made.args
        a, c = times_or_zero(bar, b.expr(then)), times_or_zero(bar, b.expr(orelse))
        return b.elementwise("where", test, a, c)
    if made is not None and _is_chosen(made) and record_of(made).constant(made.params) == 0:
        return partial  # 0, whatever the factor
    if made is not None and record_of(made).divides and is_const(made.args[0], 1):
        return bar / b.expr(made.args[1])
    factor = through_broadcast(b, bar.op)
    if is_const(factor, 1):
        return b.cast(partial, bar.type)
    if isinstance(partial.op, ir.Const):
        return by_number(bar, partial.op.value)
    if isinstance(factor, ir.Const):
        return by_number(partial, factor.value)
    return _scaled(b, bar, partial)


def by_number(x: Expr, number: Any) -> Expr | None:
    """``number * x`` for a Python number; ``x`` for 1, None for 0. Constant factors are merged if this is exact (one of them is
    a power of two)."""
    if number == 0:
        return None
    if number == 1:
        return x
    if number == -1:
        return -x
    if isinstance(x.op, ir.Const):
        return x.b.expr(ir.Const(x.op.value * number, x.op.type)) if _is_exact(x.op.value, number) else x * number
    made = definition(x.b, x.op)
    record = None if made is None else record_of(made)
    if made is not None and record is not None and record.multiplies:
        for k in (0, 1):
            inner = made.args[k]
            if isinstance(inner, ir.Const) and not isinstance(inner.value, bool) and _is_exact(inner.value, number):
                return by_number(x.b.expr(made.args[1 - k]), inner.value * number)
    if made is not None and record is not None and record.is_opposite:
        return by_number(x.b.expr(made.args[0]), -number)
    return number * x


def _is_exact(a: Any, b: Any) -> bool:
    """Whether one of two numbers is a power of two, up to its sign, so that their product is exact."""
    return any(isinstance(v, (int, float)) and v != 0 and abs(frexp(v)[0]) == 0.5 for v in (a, b))


def times_or_zero(bar: Expr, partial: Expr) -> Expr:
    """``bar * partial``; the constant 0.0 where `times` gives None."""
    product = times(bar, partial)
    return bar.b.expr(0.0) if product is None else product


def _selects(b: Builder, made: ir.Let) -> bool:
    """Whether both values of the ``where`` are constants, chosen values, or further such picks."""

    def constant(op: ir.Operand) -> bool:
        if isinstance(op, ir.Const):
            return True
        inner = definition(b, op)
        if inner is not None and inner.prim == "broadcast":
            return constant(inner.args[0])
        return inner is not None and (_is_chosen(inner) or inner.prim == "where" and _selects(b, inner))

    return constant(made.args[1]) and constant(made.args[2])


def _is_chosen(made: ir.Let) -> bool:
    """Whether ``made`` is a value chosen by convention, which becomes a constant after the last derivative
    (`transpile.transform.chosen_values`)."""
    constant = record_of(made).constant
    return constant is not None and constant(made.params) is not None


def through_broadcast(b: Builder, op: ir.Operand) -> ir.Operand:
    """The operand that ``op`` is a broadcast of; ``op`` itself if it is none."""
    made = definition(b, op)
    return made.args[0] if made is not None and made.prim == "broadcast" else op


def _scaled(b: Builder, bar: Expr, partial: Expr) -> Expr:
    """``bar * partial``, written as ``partial / n`` if ``bar`` is ``1 / n``, and as ``-(a * partial)`` if it is ``-a``;
    constant factors of both are merged if this is exact."""
    inner = through_broadcast(b, bar.op)
    made = definition(b, inner)
    if made is not None and record_of(made).is_opposite:
        return -_scaled(b, b.broadcast(made.args[0], bar.dims), partial)
    if made is not None and record_of(made).divides and is_const(made.args[0], 1):
        return partial / b.expr(made.args[1])
    other = definition(b, partial.op)
    if made is not None and other is not None and _are("multiplies", made, other):
        a, c = made.args[0], other.args[0]
        if isinstance(a, ir.Const) and isinstance(c, ir.Const) and _is_exact(a.value, c.value):
            product = by_number(b.expr(made.args[1]) * b.expr(other.args[1]), a.value * c.value)
            assert product is not None
            return product
    return bar * partial


def plus(x: Expr, y: Expr) -> Expr:
    """``x + y``, with common factors and signs taken out; ``2.0 * x`` if both are the same."""
    b = x.b
    dx, dy = definition(b, x.op), definition(b, y.op)
    if dx is not None and dy is not None and _are("is_opposite", dx, dy) and same(b, x.op, y.op):
        return -plus(b.expr(dx.args[0]), b.expr(dy.args[0]))
    if dy is not None and record_of(dy).is_opposite:
        return minus(x, b.expr(dy.args[0]))
    if dx is not None and record_of(dx).is_opposite:
        return minus(y, b.expr(dx.args[0]))
    return _factored(b, 1, x, y, dx, dy)


def increment(start: ir.Var, value: Expr) -> Expr:
    """``value``, which adds terms to ``start``, with all of them in one addition: ``start + (a - b)`` for ``start + a - b``.
    Unchanged if it is no such sum, has a single term, or an intermediate sum is used elsewhere."""
    b, op = value.b, value.op
    terms: list[tuple[int, ir.Operand]] = []
    while op is not start:
        made = definition(b, op)
        if made is None or not record_of(made).is_sum:
            return value
        sign = record_of(made).signs[1]
        x, y = made.args if sign < 0 or made.args[1] is not start else made.args[::-1]
        if op is not value.op and sum(o is op for o in uses(b.block)) > 1:
            return value
        terms.append((sign, y))
        op = x
    if len(terms) < 2:
        return value
    sign, first = terms.pop()
    total = b.expr(first) if sign > 0 else -b.expr(first)
    for sign, term in reversed(terms):
        total = _rest(sign, total, b.expr(term))
    return plus(b.expr(start), total)


def minus(x: Expr, y: Expr) -> Expr:
    """``x - y`` with common factors taken out."""
    b = x.b
    return _factored(b, -1, x, y, definition(b, x.op), definition(b, y.op))


def _factored(b: Builder, sign: int, x: Expr, y: Expr, dx: ir.Let | None, dy: ir.Let | None) -> Expr:
    """``x + y`` (``sign`` 1) or ``x - y`` (-1), with a common factor or divisor taken out; ``dx`` and ``dy`` are the statements
    that define them, if known."""
    if sign > 0 and same(b, x.op, y.op):
        if dx is not None and record_of(dx).multiplies and x.op is not y.op and not isinstance(dx.args[0], ir.Const):
            first = by_number(b.expr(dx.args[0]), 2.0)  # both were emitted just now: ``2 * bar * x``
            assert first is not None
            return b.elementwise("mul", first, dx.args[1])
        doubled = by_number(x, 2.0)
        assert doubled is not None
        return doubled
    if dx is not None and dy is not None and _are("divides", dx, dy) and same(b, dx.args[1], dy.args[1]):
        return _sum(sign, b.expr(dx.args[0]), b.expr(dy.args[0])) / b.expr(dx.args[1])
    if dx is not None and dy is not None and _are("multiplies", dx, dy):
        for k in (0, 1):
            for j in (0, 1):
                if same(b, dx.args[k], dy.args[j]) and not isinstance(dx.args[k], ir.Const):
                    rest = _rest(sign, b.expr(dx.args[1 - k]), b.expr(dy.args[1 - j]))
                    return b.elementwise("mul", dx.args[k], rest)
    return _sum(sign, x, y)


def _are(trait: str, *made: ir.Let) -> bool:
    """Whether the field ``trait`` is true in the records of all these statements."""
    return all(getattr(record_of(one), trait) for one in made)


def _sum(sign: int, x: Expr, y: Expr) -> Expr:
    return x + y if sign > 0 else x - y


def _rest(sign: int, x: Expr, y: Expr) -> Expr:
    return plus(x, y) if sign > 0 else minus(x, y)


def same(b: Builder, x: ir.Operand, y: ir.Operand, depth: int = 3) -> bool:
    """True if two operands are known to be equal: one variable, equal constants, or one elementwise primitive, broadcast or
    cast of such operands. At most ``depth`` definitions are followed."""
    if x is y or (isinstance(x, ir.Const) and x == y):
        return True
    if not isinstance(x, ir.Var) or not isinstance(y, ir.Var):
        return False
    dx, dy = definition(b, x), definition(b, y)
    if dx is None or dy is None or dx.prim != dy.prim or dx.params != dy.params or depth == 0:
        return False
    if not (record_of(dx).elementwise or dx.prim in ("broadcast", "cast")):
        return False
    pairs = [(dx.args, dy.args)]
    if record_of(dx).commutes:
        pairs.append((dx.args, dy.args[::-1]))
    return any(all(same(b, p, q, depth - 1) for p, q in zip(*pair)) for pair in pairs)
