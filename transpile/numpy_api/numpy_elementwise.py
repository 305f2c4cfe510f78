"""The elementwise callables of NumPy, ``math`` and the builtins, by dotted name.

NumPy functions return NumPy scalars (strong), those of ``math`` Python scalars (weak), whatever the type of the arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.promotion import OPERAND_TYPES
from transpile.core.types import FLOAT, INT, Type
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import demand_integers, from_nested, must_agree, strong_type
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_sorting import nonzero
from transpile.ops import language as m
from transpile.ops.numpy_names import BINARY, UNARY
from transpile.ops.slicing import raise_if
from transpile.ops.tables import prims

# ------------------------------------------------------------------------------------------------------ NumPy


def operand(b: Builder, x: Any) -> Expr:
    """An argument as an Expr: a (nested) list or tuple as a new array, a Python bool as a NumPy bool; Python's numbers stay
    weak."""
    if isinstance(x, (list, tuple)):
        return from_nested(b, x)
    x = b.expr(x)
    return b.cast(x, "bool") if x.type.is_bool and x.type.weak else x


def ufunc(prim: str, arity: int) -> Entry:
    """The entry of a NumPy function of one or two arrays (``arity``) that equals the primitive; the frontend handles ``out``,
    ``where`` and ``dtype``."""

    def one(b: Builder, x: Any) -> Expr:
        return b.elementwise(prim, operand(b, x), strong=True)

    def two(b: Builder, x1: Any, x2: Any) -> Expr:
        return b.elementwise(prim, operand(b, x1), operand(b, x2), strong=True)

    return Entry((one, two)[arity - 1], elementwise=prim)


def _clip(b: Builder, a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Expr:
    """``np.clip``, by either pair of names for the bounds (T131 for both); a bound that is None does not count."""
    if (a_min is not None or a_max is not None) and (min is not None or max is not None):
        raise RuleError("np.clip takes a_min and a_max, or min and max", "T131")
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    x = strong(b, a)
    if low is None and high is None:
        if x.type.is_bool:
            raise RuleError(
                "np.clip of truth values needs both bounds, as in NumPy", "T131", "convert them with .astype(int)"
            )
        return x
    if low is None:
        return b.elementwise("minimum", x, operand(b, high), strong=True)
    if high is None:
        return b.elementwise("maximum", x, operand(b, low), strong=True)
    return b.elementwise("clip", x, operand(b, low), operand(b, high), strong=True)


def _round(b: Builder, a: Any, decimals: int = 0) -> Expr:
    """``np.round``: truth values become float16."""
    x = operand(b, a)
    if x.type.is_bool:
        if decimals:
            raise RuleError("np.round of truth values does not take decimals", "T131", "leave decimals out")
        x = b.cast(x, "float16")
    if decimals == 0:
        return b.elementwise("round", x, strong=True)
    if x.type.is_int and decimals < 0:  # NumPy computes this in floats
        return b.cast(b.elementwise("round_to", b.cast(x, "float64"), decimals=decimals), x.dtype)
    return b.elementwise("round_to", x, strong=True, decimals=decimals)


def _where(b: Builder, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return nonzero(b, condition)
    if x is None or y is None:
        raise RuleError("np.where takes one argument or three", "T201")
    return b.elementwise("where", operand(b, condition), operand(b, x), operand(b, y), strong=True)


def strong(b: Builder, x: Any) -> Expr:
    """The argument as a NumPy value."""
    x = operand(b, x)
    return b.cast(x, strong_type(x))


def _nan_to_num(b: Builder, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Expr:
    """``np.nan_to_num``: one primitive with the default replacements, else three selections; T131 for ``copy=False``."""
    x = strong(b, x)
    if not copy:
        raise RuleError(
            "np.nan_to_num: the argument copy=False is not supported", "T131", "write x[:] = np.nan_to_num(x)"
        )
    if not x.type.is_float:
        return x
    if posinf is None and neginf is None and _is_const(nan, 0.0):
        return b.elementwise("nan_to_num", x, strong=True)
    top, bottom = _largest(x.type)
    y = b.elementwise("where", b.elementwise("isnan", x), nan, x)
    y = b.elementwise("where", x.eq(math.inf), top if posinf is None else posinf, y)
    y = b.elementwise("where", x.eq(-math.inf), bottom if neginf is None else neginf, y)
    return b.cast(y, x.dtype)


def _is_const(x: Any, value: float) -> bool:
    op = getattr(x, "op", None)
    return x == value if op is None else isinstance(op, ir.Const) and op.value == value


def _largest(type_: Type) -> tuple[float, float]:
    info = np.finfo(np.dtype(type_.dtype))
    return float(info.max), float(info.min)


def isclose(build: Builder, a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Expr:
    """``np.isclose``: one primitive if the tolerances are known, else NumPy's documented formula."""
    x, y = operand(build, a), operand(build, b)
    if not x.type.is_float and not y.type.is_float:
        y = build.cast(y, "float64")
    near, far = build.expr(atol), build.expr(rtol)
    known = _known(far, near)
    if known is not None:
        return build.elementwise("isclose", x, y, strong=True, equal_nan=equal_nan, rtol=known[0], atol=known[1])
    within = _no_more(build, m.absolute(x - y), near + far * m.absolute(y))
    close = _either(build, x.eq(y), m.logical_and(build.elementwise("isfinite", y), within))
    return _either(build, close, m.logical_and(m.isnan(x), m.isnan(y))) if equal_nan else close


def _known(*numbers: Expr) -> list[float] | None:
    """The values of literal finite numbers, in order; None if one of them is infinite, NaN or known at run time only."""
    found = [x.op.value for x in numbers if isinstance(x.op, ir.Const) and np.isfinite(x.op.value)]
    return found if len(found) == len(numbers) else None


def _no_more(b: Builder, x: Expr, y: Expr) -> Expr:
    return b.elementwise("less_equal", x, y)


def _either(b: Builder, x: Expr, y: Expr) -> Expr:
    return b.elementwise("logical_or", x, y)


def _float_power(b: Builder, x1: Any, x2: Any) -> Expr:
    x, p = operand(b, x1), operand(b, x2)
    return b.elementwise("pow", b.cast(x, "float64"), b.cast(p, "float64"), strong=True)


def float_operand(b: Builder, x: Any) -> Expr:
    """The argument as a float NumPy value; integers are converted as by NumPy's ``exp``."""
    x = operand(b, x)
    (wanted,) = OPERAND_TYPES["float"]([x.type])
    return b.cast(x, wanted.strong)


def _ldexp(b: Builder, x1: Any, x2: Any) -> Expr:
    n = operand(b, x2)
    demand_integers("np.ldexp: an exponent", n)
    return b.elementwise("ldexp", float_operand(b, x1), n, strong=True)


def _frexp(b: Builder, x: Any) -> tuple[Expr, Expr]:
    x = float_operand(b, x)
    n = b.elementwise("exponent", x)
    return b.elementwise("ldexp", x, -n), n


def _modf(b: Builder, x: Any) -> tuple[Expr, Expr]:
    x = float_operand(b, x)
    return b.elementwise("fraction", x), b.elementwise("trunc", x)


def _divmod(b: Builder, x1: Any, x2: Any) -> tuple[Expr, Expr]:
    x, y = operand(b, x1), operand(b, x2)
    return b.elementwise("floordiv", x, y, strong=True), b.elementwise("mod", x, y, strong=True)


def _conjugate(b: Builder, x: Any) -> Expr:
    x = operand(b, x)
    return b.cast(x, "int8") if x.type.is_bool else x


def _real(b: Builder, val: Any) -> Expr:
    return operand(b, val)


def _real_if_close(b: Builder, a: Any) -> Expr:
    return operand(b, a)


def _imag(b: Builder, val: Any) -> Expr:
    x = operand(b, val)
    if not x.rank:
        return b.expr(ir.Const(0, x.type))
    return b.let("full", ir.Const(0, Type(x.dtype)), dims=x.dims, dtype=x.dtype)


def _is_infinity(sign: float) -> Callable[..., Expr]:
    def build(b: Builder, x: Any) -> Expr:
        return b.elementwise("equal", operand(b, x), sign * math.inf, strong=True)

    return build


NUMPY: dict[str, Entry] = {
    **{name: ufunc(prim, 1) for name, prim in UNARY.items()},
    "i0": Entry(ufunc(UNARY["i0"], 1).build, memory="array"),  # an ordinary function of NumPy, no ufunc
    **{name: ufunc(prim, 2) for name, prim in BINARY.items()},
    "clip": Entry(_clip),
    "round": Entry(_round, static=("decimals",)),
    "around": Entry(_round, static=("decimals",)),
    "where": Entry(_where, memory="array"),
    "nan_to_num": Entry(_nan_to_num, static=("copy",)),
    "isclose": Entry(isclose, static=("equal_nan",)),
    "float_power": Entry(_float_power),
    "ldexp": Entry(_ldexp),
    "frexp": Entry(_frexp),
    "modf": Entry(_modf),
    "divmod": Entry(_divmod),
    "real": Entry(_real, memory="place"),
    "conj": Entry(_conjugate),
    "conjugate": Entry(_conjugate),
    "real_if_close": Entry(_real_if_close, idle=("tol",), memory="same"),
    "imag": Entry(_imag, memory="part"),
    "isposinf": Entry(_is_infinity(1.0)),
    "isneginf": Entry(_is_infinity(-1.0)),
    "isrealobj": Entry(lambda b, x: True),
    "iscomplexobj": Entry(lambda b, x: False),
}


# ------------------------------------------------------------------------------------------------------- math


def number(b: Builder, x: Any, name: str, to: Type = FLOAT) -> Expr:
    """A scalar argument of the function ``name`` of ``math``, as a Python float, or int if ``to`` is `INT`; T201 for arrays,
    and for floats that should be ints."""
    x = b.expr(x)
    if x.dims:
        raise RuleError(f"math.{name} takes a number, not an array of type {x.type}", "T201", f"use np.{name}")
    if to is INT and x.type.is_float:
        raise RuleError(f"math.{name} takes an integer, not {x.type}", "T201", "convert it with int(...)")
    return b.cast(x, to)


def scalar(prim: str, arity: int, name: str, to: Type = FLOAT) -> Entry:
    """The entry of the function ``name`` of ``math`` on one or two floats (``arity``) that returns a float (or a bool). ``to``:
    the type that arguments are converted to."""

    def one(b: Builder, x: Any) -> Expr:
        return b.elementwise(prim, number(b, x, name, to), via="math")

    def two(b: Builder, x: Any, y: Any) -> Expr:
        return b.elementwise(prim, number(b, x, name, to), number(b, y, name, to), via="math")

    return Entry((one, two)[arity - 1], via="math")


def integers(prim: str, arity: int, name: str, to: Type = INT) -> Entry:
    """The entry of the function ``name`` of ``math`` with one or two arguments (``arity``) that returns an int and is printed
    under its own name. ``to``: the type that arguments are converted to."""

    def one(b: Builder, x: Any) -> Expr:
        return b.elementwise(prim, number(b, x, name, to))

    def two(b: Builder, n: Any, k: Any) -> Expr:
        return b.elementwise(prim, number(b, n, name, to), number(b, k, name, to))

    return Entry((one, two)[arity - 1], via="math")


def _perm(b: Builder, n: Any, k: Any = None) -> Expr:
    if k is None:
        return b.elementwise("factorial", number(b, n, "perm", INT))
    return b.elementwise("perm", number(b, n, "perm", INT), number(b, k, "perm", INT))


def _math_log(b: Builder, x: Any, base: Any = None) -> Expr:
    y = b.elementwise("log", number(b, x, "log"), via="math")
    return y if base is None else y / b.elementwise("log", number(b, base, "log"), via="math")


def _math_hypot(b: Builder, *coordinates: Any) -> Expr:
    """``math.hypot`` of any number of coordinates; 0.0 for none."""
    if not coordinates:
        return b.expr(0.0)
    numbers = [number(b, c, "hypot") for c in coordinates]
    total = numbers[0]
    if len(numbers) == 1:
        return b.elementwise("absolute", total, py=True)
    for x in numbers[1:]:
        total = b.elementwise("hypot", total, x, via="math")
    return total


def elements(b: Builder, values: Any, name: str) -> list[Expr] | Expr:
    """The numbers of a list or tuple, an argument of the function ``name`` of ``math``, as a list, or the vector itself; T201
    for other arrays."""
    if isinstance(values, (list, tuple)):
        return [b.expr(v) for v in values]
    x = b.expr(values)
    if x.rank != 1:
        raise RuleError(f"math.{name} takes a sequence of numbers, not {x.type}", "T201")
    return x


def _math_dist(b: Builder, p: Any, q: Any) -> Expr:
    """``math.dist`` of two sequences of numbers or of two vectors, not mixed (T201)."""
    first, second = elements(b, p, "dist"), elements(b, q, "dist")
    if isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            raise RuleError("both points must have the same number of dimensions", "T202")
        return _math_hypot(b, *(x - y for x, y in zip(first, second)))
    if isinstance(first, Expr) and isinstance(second, Expr):
        must_agree(b, first, second, "both points must have the same number of dimensions")
        d = b.cast(first, "float64") - b.cast(second, "float64")
        return b.cast(b.let("norm", d, axes=(0,), keepdims=False), FLOAT)
    raise RuleError("math.dist takes two tuples of numbers or two vectors", "T201", "use np.linalg.norm(p - q)")


def _reduced(b: Builder, values: Any, name: str, prim: str, empty: Any) -> Expr:
    """The fold of a sequence of numbers, or of a vector, with ``prim`` ("add" or "mul") for the function ``name`` of ``math``;
    ``empty`` if a sequence has no elements."""
    found = elements(b, values, name)
    if isinstance(found, list):
        total = b.expr(empty)
        for k, x in enumerate(found):
            total = x if k == 0 and not x.type.is_bool else b.elementwise(prim, total, x)
        return total
    total = b.let({"add": "sum", "mul": "prod"}[prim], found, axes=(0,), keepdims=False)
    return total if found.type.is_bool else b.cast(total, found.dtype)  # narrow integers wrap at each step


def _fsum(b: Builder, seq: Any) -> Expr:
    found = elements(b, seq, "fsum")
    if isinstance(found, list):
        return b.let("fsum", *(number(b, x, "fsum") for x in found)) if found else b.expr(0.0)
    return b.let("fsum", b.cast(found, "float64"))


def _math_prod(b: Builder, iterable: Any, *, start: Any = 1) -> Expr:
    product = _reduced(b, iterable, "prod", "mul", 1)
    return product if isinstance(start, int) else b.expr(start) * product


def _sumprod(b: Builder, p: Any, q: Any) -> Expr:
    first, second = elements(b, p, "sumprod"), elements(b, q, "sumprod")
    if isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            raise RuleError("inputs are not the same length", "T202")
        return _reduced(b, [x * y for x, y in zip(first, second)], "sumprod", "add", 0)
    raise RuleError("math.sumprod takes two sequences of numbers", "T201", "use np.dot")


def _ulp(b: Builder, x: Any) -> Expr:
    return b.elementwise("spacing", b.elementwise("fabs", number(b, x, "ulp")))  # np.spacing keeps the sign


def _fma(b: Builder, x: Any, y: Any, z: Any) -> Expr:
    return b.elementwise("fma", *(number(b, v, "fma") for v in (x, y, z)))


def _math_frexp(b: Builder, x: Any) -> tuple[Expr, Expr]:
    x = number(b, x, "frexp")
    n = b.elementwise("exponent_int", x)
    return b.elementwise("ldexp", x, -n, via="math"), n


def _math_modf(b: Builder, x: Any) -> tuple[Expr, Expr]:
    x = number(b, x, "modf")
    return b.elementwise("fraction", x, via="math"), b.elementwise("trunc", x, via="math")


def _math_ldexp(b: Builder, x: Any, i: Any) -> Expr:
    return b.elementwise("ldexp", number(b, x, "ldexp"), number(b, i, "ldexp", INT), via="math")


def _math_isclose(build: Builder, a: Any, b: Any, *, rel_tol: Any = 1e-9, abs_tol: Any = 0.0) -> Expr:
    """``math.isclose``: one primitive if the tolerances are literals, else Python's documented formula, with a check that they
    are not negative."""
    x, y = number(build, a, "isclose"), number(build, b, "isclose")
    near, far = build.expr(abs_tol), build.expr(rel_tol)
    known = _known(far, near)
    if known is not None:
        return build.elementwise("math_isclose", x, y, rtol=known[0], atol=known[1])
    near, far = number(build, near, "isclose"), number(build, far, "isclose")
    for tolerance in (near, far):
        if not isinstance(tolerance.op, ir.Const) or tolerance.op.value < 0:
            raise_if(tolerance < 0.0, "ValueError", "tolerances must be non-negative")
    distance = build.elementwise("absolute", x - y)
    largest = build.elementwise("maximum", build.elementwise("absolute", x), build.elementwise("absolute", y))
    within = _either(build, _no_more(build, distance, far * largest), _no_more(build, distance, near))
    finite = build.elementwise("isfinite", largest)
    return _either(build, x.eq(y), build.elementwise("logical_and", finite, within))


def _chained(prim: str) -> Callable[..., Expr]:
    """The builder of ``math.gcd`` or ``math.lcm``, for any number of integers."""

    def build(b: Builder, *numbers: Any) -> Expr:
        total = b.expr(0 if prim == "gcd" else 1)
        for k, x in enumerate(numbers):
            x = number(b, x, prim, INT)
            total = x if k == 0 else b.elementwise(prim, total, x, via="math")
        return b.elementwise("absolute", total, py=True) if len(numbers) == 1 else total

    return build


def _whole(prim: str) -> Callable[..., Expr]:
    """The builder of ``math.floor`` or ``math.ceil``; an int stays itself."""

    def build(b: Builder, x: Any) -> Expr:
        e = b.expr(x)
        return number(b, e, prim, INT) if e.type.is_int else b.elementwise(prim, number(b, e, prim))

    return build


_IN_MATH = {r.math.partition("(")[0].removeprefix("math."): r for r in prims().values() if r.math}
_FLOATS = {name: r for name, r in _IN_MATH.items() if r.math.endswith(")")}  # the others are one item of a result

MATH: dict[str, Entry] = {
    **{name: scalar(r.name, r.operands, name) for name, r in _FLOATS.items()},
    **{name: integers(name, 1, name) for name in ("isqrt", "factorial")},
    "comb": integers("comb", 2, "comb"),
    "perm": Entry(_perm, via="math"),
    "ulp": Entry(_ulp, via="math"),
    "remainder": scalar("ieee_remainder", 2, "remainder"),
    "log": Entry(_math_log, via="math"),
    "hypot": Entry(_math_hypot, via="math"),
    "dist": Entry(_math_dist, via="math"),
    "fsum": Entry(_fsum, via="math"),
    "prod": Entry(_math_prod, via="math"),
    "sumprod": Entry(_sumprod, via="math"),
    "fma": Entry(_fma, via="math"),
    "frexp": Entry(_math_frexp, via="math"),
    "modf": Entry(_math_modf, via="math"),
    "ldexp": Entry(_math_ldexp, via="math"),
    "isclose": Entry(_math_isclose, via="math"),
    "gcd": Entry(_chained("gcd"), via="math"),
    "lcm": Entry(_chained("lcm"), via="math"),
    "floor": Entry(_whole("floor_int"), via="math"),
    "ceil": Entry(_whole("ceil_int"), via="math"),
    "trunc": Entry(lambda b, x: b.cast(number(b, x, "trunc"), INT), via="math"),
}


# --------------------------------------------------------------------------------------------------- builtins


def _abs(b: Builder, x: Any) -> Expr:
    return b.elementwise("absolute", x, py=True)


def _pow(b: Builder, base: Any, exp: Any) -> Expr:
    return b.elementwise("pow", base, exp)


def _py_round(b: Builder, number: Any, ndigits: int | None = None) -> Expr:
    x = b.expr(number)
    if x.dims:
        return _round(b, x, ndigits or 0)
    if ndigits is None:
        return b.cast(x, INT) if x.type.is_int else b.elementwise("round_int", x)
    return b.elementwise("round_to", x, decimals=ndigits, py=True)


def _py_divmod(b: Builder, x: Any, y: Any) -> tuple[Expr, Expr]:
    return b.elementwise("floordiv", x, y), b.elementwise("mod", x, y)


BUILTINS: dict[str, Entry] = {
    "abs": Entry(_abs, elementwise="absolute"),
    "pow": Entry(_pow, elementwise="pow"),
    "round": Entry(_py_round, static=("ndigits",)),
    "divmod": Entry(_py_divmod),
}


def _operator(prim: str, arity: int) -> Entry:
    """The entry of the function of `operator` with one or two operands (``arity``) that equals the primitive."""

    def one(b: Builder, a: Any) -> Expr:
        return b.elementwise(prim, a)

    def two(b: Builder, x: Any, y: Any) -> Expr:
        return b.elementwise(prim, x, y)

    return Entry((one, two)[arity - 1])


def _itemsize(b: Builder, x: Any) -> int:
    return np.dtype(b.expr(x).dtype).itemsize


def _nbytes(b: Builder, x: Any) -> Expr:
    return b.size(b.expr(x).dims) * _itemsize(b, x)


def _prefixed(prefix: str, table: dict[str, Entry]) -> Sequence[tuple[str, Entry]]:
    return [(f"{prefix}.{name}", entry) for name, entry in table.items()]


_STOP = Entry(lambda b, x: b.elementwise("stop_gradient", operand(b, x)))

TABLE: dict[str, Entry] = dict(
    [
        ("transpile.stop_gradient", _STOP),
        ("ndarray.conj", Entry(operand, memory="place")),
        ("ndarray.conjugate", Entry(operand, memory="place")),
        ("ndarray.itemsize", Entry(_itemsize)),
        ("ndarray.nbytes", Entry(_nbytes)),
        *_prefixed("numpy", NUMPY),
        *_prefixed("math", MATH),
        *_prefixed("builtins", BUILTINS),
        *_prefixed(
            "operator",
            {r.operator.name: _operator(r.name, r.operands) for r in prims().values() if r.elementwise and r.operator},
        ),
    ]
)
