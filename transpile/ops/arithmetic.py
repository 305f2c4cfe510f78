"""Arithmetic, comparison and logic: the elementwise primitives from which the others are built.

Conventions where no derivative exists: |x| at 0 has derivative 0; where ``maximum`` or ``minimum`` tie, each side
takes half; ``x ** 0`` has derivative 0 everywhere; ``x ** p`` has derivative 0 in ``p`` where x <= 0.
"""

from __future__ import annotations

import operator
from typing import Any

from transpile.core.types import Type
from transpile.errors import RuleError
from transpile.ops import interval_arithmetic as intervals
from transpile.ops.element import BOTH, EITHER, NOT, SAME, Arg, Choose, Element, applied, as_python, infix, prefix
from transpile.ops.language import Ratio, call, elementwise, log, pow, where
from transpile.ops.lowering_kinds import Cast
from transpile.ops.record import ZERO, Op
from transpile.ops.spelling import Form, Spelling
from transpile.ops.traits import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    NOT_EQUAL,
    Magnitude,
    Operator,
    Relation,
    Vector,
    near,
)


def same(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The common type of the operands, which agree in dtype; its dims are those of the first operand with the most axes. It is
    weak if all operands are weak and it is a scalar."""
    best = max(types, key=lambda t: t.rank)
    return Type(best.dtype, best.dims, all(t.weak for t in types) and not best.dims)


def boolean(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The type of a boolean result, with the dims of the operand of highest rank; weak if all operands are weak and it is a
    scalar."""
    best = max(types, key=lambda t: t.rank)
    return Type("bool", best.dims, all(t.weak for t in types) and not best.dims)


def no_bool(types, params) -> Type:  # type: ignore[no-untyped-def]
    """As `same`, but refuses NumPy's booleans (T201), as NumPy does; Python's booleans count as integers."""
    if types[0].is_bool and not all(t.weak for t in types):
        message = "NumPy does not support this operation on booleans"
        raise RuleError(message, "T201", "use np.logical_not, ^ or .astype(int)")
    return same(types, params)


def whole(types, params) -> Type:  # type: ignore[no-untyped-def]
    """As `same`, for integers and booleans only (else T201)."""
    if types[0].is_float:
        raise RuleError(
            f"bitwise operators take integers or truth values, not {types[0]}", "T201", "convert it with int(...)"
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
    """True if the operand is a literal number."""
    return isinstance(getattr(x.op, "value", None), (int, float))


def _pow_base(y, x, p):  # type: ignore[no-untyped-def]
    """The derivative of ``y = x ** p`` in ``x``; 0 where both are 0."""
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
    # 0 where x = 0, and where x < 0, since there the function is defined for whole p only
    return y * log(where(x > 0, x, 1.0))


def _steep_power(x, p):  # type: ignore[no-untyped-def]
    """The mask where the base ``x`` is 0 and the slope may be infinite; None if a literal exponent is not between 0 and 1, or
    another exponent is an integer."""
    can_be = 0 < p.op.value < 1 if is_number(p) else p.type.is_float
    return x.eq(0) if can_be else None


def _half(y, x, z, wins):  # type: ignore[no-untyped-def]
    return where(wins, 1.0, where(x.eq(z), 0.5, 0.0))


def _rest(y, x, z, loses):  # type: ignore[no-untyped-def]
    return where(loses, 0.0, where(x.eq(z), 0.5, 1.0))


def _divides(types, values, result) -> bool:  # type: ignore[no-untyped-def]
    """Whether a division may raise: of Python's numbers, by a divisor that may be 0."""
    return result.weak and not values[1]


def _shifts(types, values, result) -> bool:  # type: ignore[no-untyped-def]
    return bool(result.weak)


def _to_negative(types, values, result) -> bool:  # type: ignore[no-untyped-def]
    """Whether a power may raise: of integers, with an exponent that may be negative."""
    return result.is_int and (values[1] is None or values[1] < 0)


def _power(types, result, params) -> Element:  # type: ignore[no-untyped-def]
    # For an integer power of integers, Numba gives a float where the exponent is a negative constant, and wraps.
    return applied("scalars.int_pow", 2) if result.is_int else infix("**")


def always(types, values) -> bool:  # type: ignore[no-untyped-def]
    """True: the ``total`` of a primitive that neither raises nor warns on any of Python's numbers."""
    return True


def _by_another(types, values) -> bool:  # type: ignore[no-untyped-def]
    """True if the divisor, the second operand, is a known number other than 0."""
    return bool(values[1])


def _float_by_another(types, values) -> bool:  # type: ignore[no-untyped-def]
    """As `_by_another`, for a float dividend only: the quotient of large integers may exceed the floats."""
    return bool(types[0].is_float and values[1])


LONG = 64  # powers with this exponent or a larger one, and such shifts, are not folded at compile time


def _integer_power(x: int, p: int) -> int | None:
    return x**p if x >= 0 and 0 <= p < LONG else None


def _chosen(name: str) -> Any:
    """A function of types that gives the element of ``maximum`` or ``minimum``: NumPy's, or with ``py=True`` Python's, which
    keeps the first operand where no comparison holds."""

    def element(types, result, params) -> Element:  # type: ignore[no-untyped-def]
        if params.get("py"):
            return applied(name[:3] if result.dtype == "int64" else f"scalars.{name}_python", 2)
        return applied(f"scalars.{name}", 2)

    return element


def binary(name: str, sign: str, token: str, method: str, *partials: Any, **more: Any) -> Op:
    """The record of a binary operator of Python; ``sign``, ``token`` and ``method`` are as in `Operator`. ``partials``: the
    derivatives by the first and the second operand; ``more``: other fields of the record."""
    more.setdefault("element", infix(sign))
    more.setdefault("names", (name,))
    more.setdefault("type_rule", same)
    mine = Operator(sign, token, method)
    more.setdefault("integers", mine.function)
    return Op(name, render=f"op:{sign}", kind="elementwise", operator=mine, partials=partials, **more)


def unary(name: str, render: str | Spelling, partial: Any, **more: Any) -> Op:
    """The record of an elementwise primitive with one operand: its spelling (``render``) and its derivative (``partial``).
    ``more``: other fields of the record."""
    more.setdefault("element", applied(f"scalars.{name}", 1))
    more.setdefault("type_rule", same)
    return Op(name, render=render, kind="elementwise", partials=(partial,), **more)


def compare(relation: Relation, sign: str, token: str, method: str, called: str) -> Op:
    """The record of a comparison; ``called`` is a name for a variable that holds the result. ``sign``, ``token`` and ``method``
    are as in `Operator`."""
    more = {"type_rule": boolean, "dtype_rule": "compare", "relation": relation, "called": called, "fits": "compared"}
    return binary(relation.name, sign, token, method, ZERO, ZERO, integers=None, quiet=True, total=always, **more)


def logical(name: str, element: Element, **more: Any) -> Op:
    """The record of the binary logical function ``name`` of NumPy, which ``element`` computes."""
    partials = (ZERO, ZERO)
    return Op(
        name, boolean, f"np.{name}({{0}}, {{1}})", "elementwise", "logical", partials, element=element, names=(name,), quiet=True,
        total=always, **more,
    )  # fmt: skip


def bits(name: str, sign: str, token: str, method: str, of_truths: Element, interval: Any, unit: int) -> Op:
    """The record of the binary bitwise operator ``name``; ``sign``, ``token`` and ``method`` are as in `Operator`.
    ``of_truths`` is its element for booleans, ``interval`` gives the interval of the result, ``unit`` is the right operand that
    changes nothing."""
    more = {"type_rule": whole, "dtype_rule": "truths", "quiet": True, "interval": interval, "unit": unit}
    return binary(name, sign, token, method, ZERO, ZERO, of_truths=of_truths, total=always, **more)


def shift(name: str, sign: str, token: str, method: str, interval: Any) -> Op:
    """The record of the bit shift ``name``; ``sign``, ``token`` and ``method`` are as in `Operator`, ``interval`` gives the
    interval of the result."""
    names = (name, f"bitwise_{name}")
    more = {"type_rule": whole, "dtype_rule": "int8", "raises": _shifts, "fits": "shift", "unlike_python": True}
    element = as_python(2, f"scalars.{name}")
    return binary(
        name, sign, token, method, ZERO, ZERO, names=names, element=element, interval=interval, unit=0,
        integers=lambda x, y: Operator(sign, token, method).function(x, y) if y < LONG else None, **more,
    )  # fmt: skip


TABLE = [
    binary("add", "+", "Add", "add", lambda y, a, b: 1, lambda y, a, b: 1, linear=True, of_truths=EITHER, signs=(1, 1), folds="add",
           unit=0, neutral=lambda dtype: 0, magnitude=Magnitude(joined="add"), wraps="scalars.plus", interval=intervals.plus,
           fits="asked", quiet=True, unlike_python=True, total=always),
    binary("sub", "-", "Sub", "sub", lambda y, a, b: 1, lambda y, a, b: -1, linear=True, type_rule=no_bool, names=("subtract",),
           signs=(1, -1), folds="add", unit=0, magnitude=Magnitude(joined="add"), wraps="scalars.minus", interval=intervals.minus,
           fits="asked", quiet=True, unlike_python=True, total=always),
    binary("mul", "*", "Mult", "mul", lambda y, a, b: b, lambda y, a, b: a, of_truths=BOTH, names=("multiply",), folds="mul",
           neutral=lambda dtype: 1, unit=1, multiplies=True, magnitude=Magnitude(joined="mul"), wraps="scalars.times", vanishes=(0,
           1), interval=intervals.product, fits="asked", unlike_python=True, total=always),
    binary("div", "/", "Div", "truediv", lambda y, a, b: 1 / b, lambda y, a, b: Ratio(y, b), dtype_rule="div", work=10,
           names=("divide", "true_divide"), fits="divided", divides=True, unit=1, integers=None, vanishes=(0,), unlike_python=True,
           total=_float_by_another),
    binary("floordiv", "//", "FloorDiv", "floordiv", ZERO, ZERO, dtype_rule="int8", names=("floor_divide",), raises=_divides,
           element=as_python(2, "scalars.floordiv", floats="_float"), division="//", interval=intervals.quotient, fits="quotient",
           magnitude=Magnitude(), vector=near("floordiv_near", "outside_near"), unlike_python=True, total=_by_another),
    binary("mod", "%", "Mod", "mod", lambda y, a, b: 1, lambda y, a, b: -(a // b), dtype_rule="int8", names=("remainder", "mod"),
           element=as_python(2, "scalars.mod", integers="_int"), division="%", below=LESS, interval=intervals.rest, raises=_divides,
           magnitude=Magnitude(1), vector=near("mod_near", "outside_near"), unlike_python=True, total=_by_another),
    binary("pow", "**", "Pow", "pow", _pow_base, _pow_exponent, cost=2, dtype_rule="int8", steep=_steep_power, element=_power,
           names=("power", "pow"), math="math.pow({0}, {1})", python="pow({0}, {1})", interval=intervals.power, raises=_to_negative,
           fits="power", called="power", unlike_python=True, unit=1, is_power=True, integers=_integer_power,
           vector=Vector("pow", near=("pow_moderate", "outside_moderate_pow"))),
    unary("neg", "op:-", lambda y, x: -1, linear=True, type_rule=no_bool, element=prefix("-"), operator=Operator("-", "USub",
          "neg"), names=("negative",), signs=(-1,), undoes_itself=True, exact=True, vanishes=(0,), magnitude=Magnitude(),
          interval=intervals.opposite, fits="opposite", integers=operator.neg, quiet=True, unlike_python=True, total=always),
    unary("absolute", "np.abs({0})", lambda y, x: elementwise("sign", x), names=("absolute", "abs"),
          square=lambda params, x: x * x, operator=Operator("", "",
          "abs"), python="abs({0})", exact=True, of_truths=SAME, interval=intervals.absolute, fits="opposite",
          magnitude=Magnitude(), positive=True, integers=abs, quiet=True, said="abs", total=always),
    unary("sign", "np.sign({0})", ZERO, type_rule=no_bool, names=("sign",), interval=intervals.sign, quiet=True, bounded=True,
          vector=Vector("sign", alone=True), said="sign"),
    Op("maximum", same, "np.maximum({0}, {1})", "elementwise", "truths", partials=(lambda y, a, b: _half(y, a, b, a > b),
         lambda y, a, b: _half(y, a, b, b > a)), by_order=(lambda y, a, b: _rest(y, a, b, b > a), lambda y, a, b: _half(y, a, b,
         b > a)), element=_chosen("maximum"), of_truths=EITHER, names=("maximum",), python="max({0}, {1})", folds="maximum",
         neutral=intervals.least, integers=max, picks=True, extreme=1, magnitude=Magnitude(joined="maximum"),
         interval=intervals.greatest, quiet=True, vector=Vector("maximum", alone=True), total=always),
    Op("minimum", same, "np.minimum({0}, {1})", "elementwise", "truths", partials=(lambda y, a, b: _half(y, a, b, a < b),
         lambda y, a, b: _half(y, a, b, b < a)), by_order=(lambda y, a, b: _rest(y, a, b, b < a), lambda y, a, b: _half(y, a, b,
         b < a)), element=_chosen("minimum"), of_truths=BOTH, names=("minimum",), python="min({0}, {1})", folds="minimum",
         neutral=intervals.most, integers=min, picks=True, extreme=-1, magnitude=Magnitude(joined="maximum"),
         interval=intervals.smallest, quiet=True, vector=Vector("minimum", alone=True), total=always),
    compare(LESS, "<", "Lt", "lt", "is_less"),
    compare(LESS_EQUAL, "<=", "LtE", "le", "is_at_most"),
    compare(GREATER, ">", "Gt", "gt", "is_greater"),
    compare(GREATER_EQUAL, ">=", "GtE", "ge", "is_at_least"),
    compare(EQUAL, "==", "Eq", "eq", "is_equal"),
    compare(NOT_EQUAL, "!=", "NotEq", "ne", "differs"),
    logical("logical_and", BOTH, implies=lambda holds: ((0, True), (1, True)) if holds else (),
             folds="logical_and", neutral=lambda dtype: True, called="both"),
    logical("logical_or", EITHER, implies=lambda holds: () if holds else ((0, False), (1, False)),
             folds="logical_or", neutral=lambda dtype: False, called="either"),
    logical("logical_xor", applied("scalars.logical_xor", 2)),
    unary("logical_not", "np.logical_not({0})", ZERO, type_rule=boolean, dtype_rule="logical", element=NOT, names=("logical_not",),
          implies=lambda holds: ((0, not holds),), undoes_itself=True, quiet=True, total=always),
    bits("bitwise_and", "&", "BitAnd", "and", BOTH, intervals.both_bits, unit=-1),
    bits("bitwise_or", "|", "BitOr", "or", EITHER, intervals.any_bits, unit=0),
    bits("bitwise_xor", "^", "BitXor", "xor", applied("scalars.logical_xor", 2), intervals.any_bits, unit=0),
    shift("left_shift", "<<", "LShift", "lshift", intervals.left),
    shift("right_shift", ">>", "RShift", "rshift", intervals.right),
    unary("invert", "op:~", ZERO, type_rule=whole, element=prefix("~"), of_truths=NOT, operator=Operator("~", "Invert", "invert"),
          names=("invert", "bitwise_not", "bitwise_invert"), interval=intervals.inverted, undoes_itself=True,
          integers=operator.invert, quiet=True, unlike_python=True, total=always),
    Op(
        "where", _where_type, "np.where({0}, {1}, {2})", "elementwise", "where",
        # `transpile.transform.sweep` has a reverse rule of its own: it keeps the mask with the adjoint
        partials=(ZERO, lambda y, c, a, b: where(c, 1.0, 0.0), lambda y, c, a, b: where(c, 0.0, 1.0)),
        element=Choose(Arg(0), Arg(1), Arg(2)), picks=True, interval=intervals.either,
        magnitude=Magnitude(1, "maximum"), called="chosen", total=always,
    ),
    Op("cast", _cast_type, "cast", "structural", lowering=Cast(), form=Form.CONVERSION, jvp=_cast_jvp, vjp=_cast_vjp, linear=True,
         family="cast", exact=True, same=True, vanishes=(0,), magnitude=Magnitude(), interval=intervals.as_it_is, fits="cast"),
]  # fmt: skip
