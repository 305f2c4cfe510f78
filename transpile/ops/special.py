"""``scipy.special``: functions of gamma, error, entropy, probability and Bessel type with their partial derivatives.

Derivatives with respect to the shape parameters of the incomplete gamma and beta functions are central moments of log-gamma and
log-beta variables, computed by quadrature in `transpile_runtime.special`. These moments are closed under differentiation; there
are records up to order `ORDERS`. Conventions: ``xlogy``, ``xlog1py``, ``rel_entr`` at (0, 0) have derivative 0 in both
arguments, ``kl_div`` 0 and 1; ``entr`` at 0 has the infinite one-sided limit; the derivative in the order of a Bessel function
is not written (refused).
"""

from __future__ import annotations

import math
from typing import Any

from transpile.core.types import Type
from transpile.ops.arithmetic import same
from transpile.ops.element import applied
from transpile.ops.language import elementwise, exp, log, log1p, sign, where
from transpile.ops.record import UNWRITTEN, ZERO, Op
from transpile.ops.traits import Vector, near

# SciPy's dtype depends on which loop of the ufunc comes first: ``erfinv(int8)`` is a float32, ``erf(int8)`` a float64.
_PREFER_SINGLE = frozenset("erfinv erfcinv ndtri entr rel_entr kl_div iv ive jv betainc betaincc".split())


def special(name: str, *partials: Any, **more: Any) -> Op:
    """The record of an elementwise function that `scipy.special` has under this name, with its derivatives by the operands."""
    slots = ", ".join(f"{{{k}}}" for k in range(len(partials)))
    more.setdefault("render", f"scipy.special.{name}({slots})")
    more.setdefault("type_rule", same)
    more.setdefault("dtype_rule", "special_single" if name in _PREFER_SINGLE else "special")
    more.setdefault("element", applied(f"special.{name}", len(partials)))
    more.setdefault("cost", 2)
    return Op(name, kind="elementwise", partials=partials, **more)


def in_math(name: str, own: str, partial: Any, **more: Any) -> Op:
    """The record of a function that `scipy.special` has under ``name``, and `math` under its ``own`` name; ``partial`` is the
    derivative."""
    return special(name, partial, element=applied(f"math.{own}", 1), math=f"math.{own}({{0}})", **more)


def f(name: str, *args: Any, **params: Any) -> Any:
    """The result of an elementwise primitive, by name."""
    return elementwise(name, *args, **params)


# ----------------------------------------------------------------------------------------------------- gamma


def _polygamma_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    best = max(types, key=lambda t: t.rank)
    return Type("float64", best.dims)


def polygamma(n: int, x: Any) -> Any:
    """The n-th derivative of digamma at ``x``, in the dtype of ``x`` (SciPy always gives float64)."""
    return x.b.cast(f("polygamma", n, x), x.dtype)


def _beta_share(y, a, b):  # type: ignore[no-untyped-def]
    return f("digamma", a) - f("digamma", a + b)


GAMMA = [
    in_math("gammaln", "lgamma", lambda y, x: f("digamma", x), vector=near("gammaln_normal", "outside_normal")),
    special("loggamma", lambda y, x: f("digamma", x)),
    in_math("gamma", "gamma", lambda y, x: y * f("digamma", x)),
    special("digamma", lambda y, x: polygamma(1, x), vector=near("digamma_positive", "outside_positive")),
    special("polygamma", ZERO, lambda y, n, x: f("polygamma", n + 1, x), type_rule=_polygamma_type, dtype_rule="as_is"),
    special("betaln", _beta_share, lambda y, a, b: _beta_share(y, b, a)),
    special("beta", lambda y, a, b: y * _beta_share(y, a, b), lambda y, a, b: y * _beta_share(y, b, a)),
]


# --------------------------------------------------------------------------------- incomplete gamma and beta

ORDERS = 4
"""The number of derivatives with respect to shape parameters that have a record."""


def gamma_density(a, x):  # type: ignore[no-untyped-def]
    """The density of the gamma distribution with shape ``a`` at ``x``; ``xlogy`` keeps a = 1, x = 0 right."""
    return exp(f("xlogy", a - 1, x) - x - f("gammaln", a))


def beta_density(a, b, x):  # type: ignore[no-untyped-def]
    """The density of the beta distribution with parameters ``a`` and ``b`` at ``x``."""
    return exp(f("xlogy", a - 1, x) + f("xlog1py", b - 1, -x) - f("betaln", a, b))


def _gamma_moment(n: int, a, x):  # type: ignore[no-untyped-def]
    return f("gammainc", a, x) if n == 0 else f(f"gammainc_moment{n}", a, x)


def _gamma_moment_prim(n: int) -> Op:
    """The record of C_n(a, x), the integral from 0 to x of (log t - digamma(a))**n times the density; d gammainc / d a =
    C_1."""

    def da(y, a, x):  # type: ignore[no-untyped-def]
        step = _gamma_moment(n + 1, a, x)
        return step if n == 0 else step - n * (polygamma(1, a) * _gamma_moment(n - 1, a, x))

    def dx(y, a, x):  # type: ignore[no-untyped-def]
        # t**(a - 1) log(t)**n has no finite limit at t = 0
        centred = log(where(x.eq(0), 1.0, x)) - f("digamma", a)
        return centred**n * gamma_density(a, x)

    render = f"transpile_runtime.special.gammainc_moment({{0}}, {{1}}, {n})"
    element = applied("special.gammainc_moment", 2, n)
    return special(f"gammainc_moment{n}", da if n < ORDERS else UNWRITTEN, dx, render=render, element=element, cost=3)


def _beta_moment(m: int, n: int, a, b, x):  # type: ignore[no-untyped-def]
    return f("betainc", a, b, x) if m == n == 0 else f(f"betainc_moment{m}{n}", a, b, x)


def _beta_moment_prim(m: int, n: int) -> Op:
    """The record of C_mn(a, b, x), the integral from 0 to x of (log t - l_a)**m (log(1-t) - l_b)**n times the density, where
    l_a and l_b are the means of the two logarithms; d betainc / d a = C_10, d betainc / d b = C_01."""

    def shape(first: int, second: int, a, b, x, mine, step):  # type: ignore[no-untyped-def]
        """The derivative of the moment in the parameter ``mine``; ``first`` and ``second`` are the powers of the logarithm with
        mean of ``mine`` and of the other one, ``step`` is the moment with ``first`` raised by one."""
        # the derivatives of the means: trigamma(mine) - trigamma(a + b) for one, -trigamma(a + b) for the other
        total = step
        if first:
            down = _beta_moment(m - 1, n, a, b, x) if mine is a else _beta_moment(m, n - 1, a, b, x)
            total = total - first * ((polygamma(1, mine) - polygamma(1, a + b)) * down)
        if second:
            down = _beta_moment(m, n - 1, a, b, x) if mine is a else _beta_moment(m - 1, n, a, b, x)
            total = total + second * (polygamma(1, a + b) * down)
        return total

    def da(y, a, b, x):  # type: ignore[no-untyped-def]
        return shape(m, n, a, b, x, a, _beta_moment(m + 1, n, a, b, x))

    def db(y, a, b, x):  # type: ignore[no-untyped-def]
        return shape(n, m, a, b, x, b, _beta_moment(m, n + 1, a, b, x))

    def dx(y, a, b, x):  # type: ignore[no-untyped-def]
        inside = where((x > 0) & (x < 1), x, 0.5)
        both = f("digamma", a + b)
        left = (log(inside) - (f("digamma", a) - both)) ** m if m else 1.0
        right = (log1p(-inside) - (f("digamma", b) - both)) ** n if n else 1.0
        return left * right * beta_density(a, b, x)

    last = m + n == ORDERS
    render = f"transpile_runtime.special.betainc_moment({{0}}, {{1}}, {{2}}, {m}, {n})"
    first = (UNWRITTEN, UNWRITTEN) if last else (da, db)
    element = applied("special.betainc_moment", 3, m, n)
    return special(f"betainc_moment{m}{n}", *first, dx, render=render, element=element, cost=3)


INCOMPLETE = [
    special("gammainc", lambda y, a, x: f("gammainc_moment1", a, x), lambda y, a, x: gamma_density(a, x), cost=3),
    special("gammaincc", lambda y, a, x: -f("gammainc_moment1", a, x), lambda y, a, x: -gamma_density(a, x), cost=3),
    special(
        "betainc",
        lambda y, a, b, x: f("betainc_moment10", a, b, x),
        lambda y, a, b, x: f("betainc_moment01", a, b, x),
        lambda y, a, b, x: beta_density(a, b, x),
        cost=3,
    ),
    special(
        "betaincc",
        lambda y, a, b, x: -f("betainc_moment10", a, b, x),
        lambda y, a, b, x: -f("betainc_moment01", a, b, x),
        lambda y, a, b, x: -beta_density(a, b, x),
        cost=3,
    ),
    *[_gamma_moment_prim(n) for n in range(1, ORDERS + 1)],
    *[_beta_moment_prim(m, k - m) for k in range(1, ORDERS + 1) for m in range(k, -1, -1)],
]


# ----------------------------------------------------------------------------------------- error, probability

_TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_HALF = math.sqrt(0.5)


def _normal_density(x):  # type: ignore[no-untyped-def]
    return (1 / math.sqrt(2 * math.pi)) * exp(-0.5 * (x * x))


def _erfcx(y, x):  # type: ignore[no-untyped-def]
    # 2 x y - 2 / sqrt(pi) cancels for large x: its asymptotic series from x = 50 on
    far = x > 50
    u = 1 / (where(far, x, 50.0) * where(far, x, 50.0))
    series = u * (u * (u * (u * (6.5625 - u * 29.53125) - 1.875) + 0.75) - 0.5)
    return where(far, _TWO_BY_ROOT_PI * series, 2 * (x * y) - _TWO_BY_ROOT_PI)


ERROR = [
    in_math(
        "erf", "erf", lambda y, x: _TWO_BY_ROOT_PI * exp(-(x * x)), vector=Vector("erf"), bounded=True, as_calm=True
    ),
    in_math(
        "erfc",
        "erfc",
        lambda y, x: -(_TWO_BY_ROOT_PI * exp(-(x * x))),
        vector=Vector("erfc"),
        bounded=True,
        as_calm=True,
    ),
    special("erfcx", _erfcx),
    special("erfi", lambda y, x: _TWO_BY_ROOT_PI * exp(x * x)),
    special("erfinv", lambda y, x: (math.sqrt(math.pi) / 2) * exp(y * y), vector=Vector("erfinv")),
    special("erfcinv", lambda y, x: -((math.sqrt(math.pi) / 2) * exp(y * y))),
    special("ndtr", lambda y, x: _normal_density(x), vector=Vector("ndtr"), bounded=True),
    special("ndtri", lambda y, p: math.sqrt(2 * math.pi) * exp(0.5 * (y * y))),
    # density(x) / ndtr(x) without the cancellation of exp(-x*x/2 - y) far to the left
    special("log_ndtr", lambda y, x: math.sqrt(2 / math.pi) / f("erfcx", -x * _ROOT_HALF)),
    special(
        "expit", lambda y, x: y * f("expit", -x), vector=Vector("expit"), positive=True, bounded=True
    ),  # 1 - y would cancel for large x
    special("log_expit", lambda y, x: f("expit", -x), vector=Vector("log_expit")),
    special("logit", lambda y, p: 1 / (p * (1 - p)), vector=Vector("logit")),
]


# ---------------------------------------------------------------------------------------------------- entropy


def _one_at(mask, y):  # type: ignore[no-untyped-def]
    return where(mask, 1.0, y)


def _outside(x, y, end):  # type: ignore[no-untyped-def]
    """The mask where ``x`` is 0, which makes the function 0, and ``y`` is at most ``end``, so that the logarithm does not
    exist."""
    return x.eq(0) & (y <= end)


def _ratio(x, y):  # type: ignore[no-untyped-def]
    none = x.eq(0) & y.eq(0)
    return _one_at(none, x) / _one_at(none, y)


def _quotient(x, y):  # type: ignore[no-untyped-def]
    return x / _one_at(x.eq(0) & y.eq(0), y)


def _gain(y, p, q):  # type: ignore[no-untyped-def]
    both = p.eq(0) & q.eq(0)
    return where(both, 0.0, log(_ratio(p, q)) + 1)


ENTROPY = [
    special(
        "xlogy",
        lambda z, x, y: log(_one_at(_outside(x, y, 0), y)),
        lambda z, x, y: x / _one_at(_outside(x, y, 0), y),
        vector=Vector("xlogy"),
    ),
    special(
        "xlog1py",
        lambda z, x, y: log1p(where(_outside(x, y, -1), 0.0, y)),
        lambda z, x, y: x / (1 + where(_outside(x, y, -1), 0.0, y)),
        vector=Vector("xlog1py"),
    ),
    special("entr", lambda y, x: -(log(x) + 1), vector=Vector("entr")),
    special("rel_entr", _gain, lambda z, p, q: -_quotient(p, q)),
    special("kl_div", lambda z, p, q: log(_ratio(p, q)), lambda z, p, q: 1 - _quotient(p, q)),
]


# ----------------------------------------------------------------------------------------------------- Bessel


def _half_sum(a, b):  # type: ignore[no-untyped-def]
    return 0.5 * (a + b)


BESSEL = [
    special("i0", lambda y, x: f("i1", x)),
    # i1(x) / x is 0/0 at 0, so the recurrence with i0 and i2 is used
    special("i1", lambda y, x: _half_sum(f("i0", x), f("iv", 2.0, x))),
    special("iv", UNWRITTEN, lambda y, v, x: _half_sum(f("iv", v - 1, x), f("iv", v + 1, x))),
    special("i0e", lambda y, x: f("i1e", x) - sign(x) * y),
    special("i1e", lambda y, x: _half_sum(f("i0e", x), f("ive", 2.0, x)) - sign(x) * y),
    special("ive", UNWRITTEN, lambda y, v, x: _half_sum(f("ive", v - 1, x), f("ive", v + 1, x)) - sign(x) * y),
    special("j0", lambda y, x: -f("j1", x)),
    special("j1", lambda y, x: 0.5 * (f("j0", x) - f("jv", 2.0, x))),
    special("jv", UNWRITTEN, lambda y, v, x: 0.5 * (f("jv", v - 1, x) - f("jv", v + 1, x))),
]

# ----------------------------------------------------------------------------------------------------- others

FAR = 30.0  # from here on, 1 - 2 x dawsn(x) loses four digits, and six terms of the asymptotic series give all digits


def _dawson_slope(y, x):  # type: ignore[no-untyped-def]
    """The derivative 1 - 2 x y of Dawson's integral ``y``; for large |x| its series, (2k - 1)!! / (2 x**2)**k (Abramowitz and
    Stegun, 7.1.23 at imaginary arguments)."""
    is_far = (x > FAR) | (x < -FAR)
    near_x, far_x = where(is_far, 0.0, x), where(is_far, x, FAR)
    t = 0.5 / (far_x * far_x)
    series = -t * (1 + t * (3 + t * (15 + t * (105 + t * (945 + t * 10395)))))
    return where(is_far, series, 1 - 2 * (near_x * y))


OTHERS: list[Op] = [
    special("dawsn", _dawson_slope),
]

TABLE = [*GAMMA, *INCOMPLETE, *ERROR, *ENTROPY, *BESSEL, *OTHERS]
