"""The true values, by mpmath, as a sum of two float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.special
from mpmath import libmp

PRECISION = 125
NEAREST = libmp.round_nearest
ONE = libmp.fone
_HALF_ROOT_PI = libmp.mpf_shift(libmp.mpf_sqrt(libmp.mpf_pi(PRECISION + 60), PRECISION + 60), -1)
Number = tuple  # mpmath's raw floats


def _over(name: str) -> Callable[..., Number]:
    function = getattr(libmp, name)
    return lambda *x: function(*x, PRECISION, NEAREST)


def _series(x: Number, *coefficients: tuple[int, int]) -> Number:
    """``x + c2 x**2 + c3 x**3`` of small ``x``."""
    total = libmp.fzero
    for top, bottom in reversed(coefficients):
        total = libmp.mpf_mul(
            libmp.mpf_add(total, libmp.from_rational(top, bottom, PRECISION), PRECISION), x, PRECISION
        )
    return libmp.mpf_add(x, libmp.mpf_mul(total, x, PRECISION), PRECISION)


def _magnitude(x: Number) -> int:
    return x[2] + x[3]


def _expm1(x: Number) -> Number:
    if _magnitude(x) < -45:
        return _series(x, (1, 2), (1, 6))
    return libmp.mpf_sub(libmp.mpf_exp(x, PRECISION + 50), ONE, PRECISION)


def _log1p(x: Number) -> Number:
    if _magnitude(x) < -45:
        return _series(x, (-1, 2), (1, 3))
    return libmp.mpf_log(libmp.mpf_add(ONE, x), PRECISION)


def _log_over(base: int) -> Callable[[Number], Number]:
    bottom = libmp.mpf_log(libmp.from_int(base), PRECISION + 20)
    return lambda x: libmp.mpf_div(libmp.mpf_log(x, PRECISION + 20), bottom, PRECISION)


def _erfc(x: Number) -> Number:
    """Beyond 1000 it is smaller than any float64, and mpmath fails where its numbers are Python's."""
    far = libmp.from_int(1000)
    return libmp.mpf_erfc(far if libmp.mpf_gt(x, far) else x, PRECISION, NEAREST)


def _exp2(x: Number) -> Number:
    return libmp.mpf_pow(libmp.from_int(2), x, PRECISION)


def _logistic(x: Number) -> Number:
    wide = PRECISION + 20
    return libmp.mpf_div(ONE, libmp.mpf_add(ONE, libmp.mpf_exp(libmp.mpf_neg(x), wide), wide), PRECISION)


def _cbrt(x: Number) -> Number:
    root = libmp.mpf_nthroot(libmp.mpf_abs(x), 3, PRECISION, NEAREST)
    return libmp.mpf_neg(root) if x[0] else root


def _gammaln(x: Number) -> Number:
    """Of the magnitude."""
    if x[0]:
        return libmp.mpf_log(libmp.mpf_abs(libmp.mpf_gamma(x, PRECISION + 60)), PRECISION)
    return libmp.mpf_loggamma(x, PRECISION, NEAREST)


def _tanh(x: Number) -> Number:
    return libmp.mpf_tanh(x, PRECISION, NEAREST)


def _ratio_log(x: Number) -> Number:
    """``log(x / (1 - x))``."""
    wide = PRECISION + 60
    return libmp.mpf_log(libmp.mpf_div(x, libmp.mpf_sub(ONE, x), wide + 60), wide)


def _normal(x: Number) -> Number:
    root = libmp.mpf_sqrt(libmp.from_int(2), PRECISION + 60)
    return libmp.mpf_shift(_erfc(libmp.mpf_neg(libmp.mpf_div(x, root, PRECISION + 60))), -1)


def _erfinv(x: Number) -> Number:
    """By Newton, from SciPy's; what is left of 1 counts, so that the complement is taken near it."""
    wide = PRECISION + 60
    rest = libmp.mpf_sub(ONE, libmp.mpf_abs(x), wide)
    y = libmp.from_float(float(scipy.special.erfinv(abs(libmp.to_float(x)))))
    if _magnitude(x) < -60:
        return libmp.mpf_mul(x, _HALF_ROOT_PI, PRECISION)
    for _ in range(3):
        off = libmp.mpf_sub(libmp.mpf_erfc(y, wide, NEAREST), rest, wide)
        slope = libmp.mpf_exp(libmp.mpf_mul(y, y, wide), wide)
        step = libmp.mpf_mul(libmp.mpf_mul(off, slope, wide), _HALF_ROOT_PI, wide)
        y = libmp.mpf_add(y, step, wide)
    return libmp.mpf_neg(y) if x[0] else y


def _log_expit(x: Number) -> Number:
    far = libmp.mpf_neg(libmp.from_int(2000))
    if libmp.mpf_lt(x, far):
        return x
    if libmp.mpf_gt(x, libmp.mpf_neg(far)):
        return libmp.fzero
    return libmp.mpf_neg(_log1p(libmp.mpf_exp(libmp.mpf_neg(x), PRECISION + 60)))


def _log_of_sum(base: int | None) -> Callable[[Number, Number], Number]:
    """``log(base**x + base**y)``."""
    wide = PRECISION + 60
    scale = ONE if base is None else libmp.mpf_log(libmp.from_int(base), wide)

    def found(x: Number, y: Number) -> Number:
        if libmp.mpf_lt(x, y):
            x, y = y, x
        away = libmp.mpf_mul(libmp.mpf_sub(x, y), scale, wide)
        if libmp.mpf_gt(away, libmp.from_int(2000)):
            return x
        more = _log1p(libmp.mpf_exp(libmp.mpf_neg(away), wide))
        return libmp.mpf_add(x, libmp.mpf_div(more, scale, wide), wide)

    return found


def _times(log: Callable[[Number], Number]) -> Callable[[Number, Number], Number]:
    return lambda x, y: libmp.mpf_mul(x, log(y), PRECISION)


TRUTH: dict[str, Callable[..., Number]] = {
    **{n: _over(f"mpf_{n}") for n in "exp log sin cos tan sinh cosh erf pow".split()},
    "erfc": _erfc,
    "tanh": _tanh,
    "expm1": _expm1,
    "log1p": _log1p,
    "log2": _log_over(2),
    "log10": _log_over(10),
    "exp2": _exp2,
    "arctan": _over("mpf_atan"),
    "arctan2": _over("mpf_atan2"),
    **{f"arc{n}": _over(f"mpf_a{n}") for n in "sin cos sinh cosh tanh".split()},
    "expit": _logistic,
    "logit": _ratio_log,
    "hypot": _over("mpf_hypot"),
    "ndtr": _normal,
    "log_expit": _log_expit,
    "erfinv": _erfinv,
    "logaddexp": _log_of_sum(None),
    "logaddexp2": _log_of_sum(2),
    "xlogy": _times(_over("mpf_log")),
    "xlog1py": _times(_log1p),
    "entr": lambda x: libmp.mpf_neg(libmp.mpf_mul(x, libmp.mpf_log(x, PRECISION), PRECISION)),
    "cbrt": _cbrt,
    "gammaln": _gammaln,
    "digamma": _over("mpf_psi0"),
}

_HUGE = libmp.from_float(2.0**1023 * (2 - 2.0**-53))  # rounds to infinity


def _as_float(x: Number) -> float:
    if libmp.mpf_ge(libmp.mpf_abs(x), _HUGE):
        return -np.inf if x[0] else np.inf
    return libmp.to_float(x, rnd=NEAREST)


def values(name: str, *arguments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest float64 of each point and what is left, in units in the last place; of finite arguments."""
    function, n = TRUTH[name], arguments[0].size
    high, low = np.empty(n), np.zeros(n)
    columns = [a.astype(np.float64).tolist() for a in arguments]
    for i, point in enumerate(zip(*columns)):
        found = function(*(libmp.from_float(p) for p in point))
        nearest = high[i] = _as_float(found)
        if abs(nearest) < np.inf:
            left = libmp.mpf_sub(found, libmp.from_float(nearest), 60, NEAREST)
            # its own place may be too small for a float64
            place = math.frexp(math.ulp(nearest))[1] - 1
            low[i] = libmp.to_float(libmp.mpf_shift(left, -place), rnd=NEAREST)
    return high, low


def errors(found: np.ndarray, high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """The distances of ``found`` from the truth, in units in the last place of the truth."""
    kind = found.dtype.type
    limits = np.finfo(kind)
    with np.errstate(all="ignore"):
        place = np.spacing(np.abs(high))
        unit = np.spacing(np.abs(high).astype(kind)).astype(np.float64)
        rounded_up = np.abs(high.astype(kind).astype(np.float64)) > np.abs(high)
        power = np.frexp(high.astype(kind))[0] == np.copysign(0.5, high)  # below a power of two the place is half
        unit = np.where(rounded_up & power, np.maximum(unit / 2, float(limits.smallest_subnormal)), unit)
        off = np.abs((found.astype(np.float64) - high) / unit - low * (place / unit))
        over = np.abs(high) >= float(limits.max) * (1 + float(limits.eps) / 4)  # rounds to infinity
        right = np.isinf(found) & ((found > 0) == (high > 0))
    off = np.where(over | np.isinf(high), np.where(right, 0.0, np.inf), off)
    return np.where(np.isnan(found), np.inf, off)
