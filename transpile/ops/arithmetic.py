"""Arithmetic, comparison and logic: the elementwise primitives that everything else is built from.

Conventions where no derivative exists: |x| at 0 has derivative 0; where ``maximum`` or ``minimum`` tie, each side
takes half; ``x ** 0`` has derivative 0 everywhere; ``x ** p`` has derivative 0 in ``p`` where x <= 0.
"""

from __future__ import annotations

from typing import Any

from transpile.core.types import Type
from transpile.errors import RuleError
from transpile.ops.language import call, elementwise, log, pow, where
from transpile.ops.record import ZERO, Prim


def same(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of the operands, which agree in dtype; dims from the one that has them."""
    best = max(types, key=lambda t: t.rank)
    return Type(best.dtype, best.dims, all(t.weak for t in types) and not best.dims)


def boolean(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type("bool", best.dims, all(t.weak for t in types) and not best.dims)


def no_bool(types, params) -> Type:  # type: ignore[no-untyped-def]
    """As `same`; NumPy refuses booleans here, Python counts them as integers."""
    if types[0].is_bool and not all(t.weak for t in types):
        raise RuleError("NumPy booleans have no such operation", "T201", "use logical_not, ^ or .astype(int)")
    return same(types, params)


def whole(types, params) -> Type:  # type: ignore[no-untyped-def]
    """As `same`, of integers and truth values."""
    if types[0].is_float:
        raise RuleError(
            f"bitwise operators take integers or truth values, not {types[0]}", "T201", "convert with int(...)"
        )
    return same(types, params)


def _where_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type(types[1].dtype, best.dims, all(t.weak for t in types) and not best.dims)


def _cast_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(params["dtype"], types[0].dims, params.get("weak", False) and not types[0].dims)


def _cast_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (y_bar.b.cast(y_bar, args[0].type) if wants[0] and args[0].type.is_float else None,)


def _cast_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    if dots[0] is None or not y.type.is_float:
        return None
    return call("cast", dots[0], **params)


def is_number(x) -> bool:  # type: ignore[no-untyped-def]
    """Whether the operand is a literal."""
    return isinstance(getattr(x.op, "value", None), (int, float))


def _pow_base(y, x, p):  # type: ignore[no-untyped-def]
    if is_number(p):
        value = p.op.value
        if value == 0:
            return 0.0
        return 2 * x if value == 2 else p * pow(x, value - 1)
    # 0 ** -1 times 0 would be NaN at x = 0 = p; elsewhere the plain form, so that its derivative in p is right
    return p * pow(where(x.eq(0) & p.eq(0), 1.0, x), p - 1)


def _pow_exponent(y, x, p):  # type: ignore[no-untyped-def]
    if is_number(x) and x.op.value > 0:
        return y * log(x)
    # 0 where x = 0; also where x < 0, since the function has values at whole numbers only
    return y * log(where(x > 0, x, 1.0))


def _steep_power(x, p):  # type: ignore[no-untyped-def]
    """At a base of 0, unless the exponent is seen to be 1 or more, a whole number, or to make the value infinite."""
    can_be = 0 < p.op.value < 1 if is_number(p) else p.type.is_float
    return x.eq(0) if can_be else None


def _half(y, x, z, wins):  # type: ignore[no-untyped-def]
    return where(wins, 1.0, where(x.eq(z), 0.5, 0.0))


def _rest(y, x, z, loses):  # type: ignore[no-untyped-def]
    return where(loses, 0.0, where(x.eq(z), 0.5, 1.0))


def binary(name: str, operator: str, *partials: Any, **more: Any) -> Prim:
    return Prim(name, more.pop("type_rule", same), f"op:{operator}", elementwise=True, partials=partials, **more)


def unary(name: str, render: str, partial: Any, **more: Any) -> Prim:
    return Prim(name, more.pop("type_rule", same), render, elementwise=True, partials=(partial,), **more)


def compare(name: str, operator: str) -> Prim:
    return binary(name, operator, ZERO, ZERO, type_rule=boolean, dtype_rule="compare")


def logical(name: str) -> Prim:
    partials = (ZERO, ZERO)
    return Prim(name, boolean, f"np.{name}({{0}}, {{1}})", elementwise=True, dtype_rule="logical", partials=partials)


TABLE = [
    binary("add", "+", lambda y, a, b: 1, lambda y, a, b: 1, linear=True),
    binary("sub", "-", lambda y, a, b: 1, lambda y, a, b: -1, linear=True, type_rule=no_bool),
    binary("mul", "*", lambda y, a, b: b, lambda y, a, b: a),
    binary("div", "/", lambda y, a, b: 1 / b, lambda y, a, b: -(y / b), dtype_rule="div"),
    binary("floordiv", "//", ZERO, ZERO, dtype_rule="int8"),
    binary("mod", "%", lambda y, a, b: 1, lambda y, a, b: -(a // b), dtype_rule="int8"),
    binary("pow", "**", _pow_base, _pow_exponent, cost=2, dtype_rule="int8", steep=_steep_power),
    unary("neg", "op:-", lambda y, x: -1, linear=True, type_rule=no_bool),
    unary("absolute", "np.abs({0})", lambda y, x: elementwise("sign", x)),
    unary("sign", "np.sign({0})", ZERO, type_rule=no_bool),
    Prim(
        "maximum", same, "np.maximum({0}, {1})", elementwise=True,
        partials=(lambda y, a, b: _half(y, a, b, a > b), lambda y, a, b: _half(y, a, b, b > a)),
        by_order=(lambda y, a, b: _rest(y, a, b, b > a), lambda y, a, b: _half(y, a, b, b > a)),
    ),
    Prim(
        "minimum", same, "np.minimum({0}, {1})", elementwise=True,
        partials=(lambda y, a, b: _half(y, a, b, a < b), lambda y, a, b: _half(y, a, b, b < a)),
        by_order=(lambda y, a, b: _rest(y, a, b, b < a), lambda y, a, b: _half(y, a, b, b < a)),
    ),
    compare("less", "<"),
    compare("less_equal", "<="),
    compare("greater", ">"),
    compare("greater_equal", ">="),
    compare("equal", "=="),
    compare("not_equal", "!="),
    logical("logical_and"),
    logical("logical_or"),
    logical("logical_xor"),
    unary("logical_not", "np.logical_not({0})", ZERO, type_rule=boolean, dtype_rule="logical"),
    binary("bitwise_and", "&", ZERO, ZERO, type_rule=whole),
    binary("bitwise_or", "|", ZERO, ZERO, type_rule=whole),
    binary("bitwise_xor", "^", ZERO, ZERO, type_rule=whole),
    binary("left_shift", "<<", ZERO, ZERO, dtype_rule="int8", type_rule=whole),
    binary("right_shift", ">>", ZERO, ZERO, dtype_rule="int8", type_rule=whole),
    unary("invert", "op:~", ZERO, type_rule=whole),
    Prim(
        "where", _where_type, "np.where({0}, {1}, {2})", elementwise=True, dtype_rule="where",
        # the reverse rule is special: the mask goes with the adjoint (transform/reverse.py)
        partials=(ZERO, lambda y, c, a, b: where(c, 1.0, 0.0), lambda y, c, a, b: where(c, 0.0, 1.0)),
    ),
    Prim("cast", _cast_type, "cast", jvp=_cast_jvp, vjp=_cast_vjp, linear=True, family="cast"),
]  # fmt: skip
