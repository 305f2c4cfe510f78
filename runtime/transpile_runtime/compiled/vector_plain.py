"""Short functions with NumPy's results: extrema, signs, rounding, remainders. See `transpile_runtime.compiled.vector`."""

from transpile_runtime.compiled.vector_bits import not_below
from transpile_runtime.compiled.vector_parts import (
    INF,
    Constant,
    ceil,
    copysign,
    floor,
    fma,
    fmax,
    fmin,
    magnitude,
    maximum,
    minimum,
    rint,
    sqrt,
    trunc,
    where,
)

__all__ = ["ceil", "copysign", "floor", "fmax", "fmin", "maximum", "minimum", "rint", "sqrt", "trunc"]

MAX = Constant(1.7976931348623157e308, 3.4028234663852886e38)
FAR = Constant(2.0**51, 2.0**22)


def clip(x, low, high):
    """``x`` limited to ``low`` and ``high``; ``high`` if they are exchanged; NaN if any is."""
    return minimum(maximum(x, low), high)


def sign(x):
    """-1, 0 or 1; NaN for NaN."""
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, where(x == x, 0.0, x)))


def heaviside(x, h):
    """0 for a negative ``x``, 1 for a positive one, ``h`` for 0; NaN for NaN."""
    return where(x > 0.0, 1.0, where(x < 0.0, 0.0, where(x == x, h, x)))


def isnan(x):
    return x != x


def isinf(x):
    return magnitude(x) == INF


def isfinite(x):
    return magnitude(x) < INF


def signbit(x):
    return copysign(1.0, x) < 0.0


def nan_to_num(x):
    x = where(x == x, x, 0.0)
    return where(magnitude(x) == INF, copysign(MAX, x), x)


def outside_near(a, b):
    """Test bits: ``a / b`` may be too large for `fmod_near`, `mod_near` and `floordiv_near`."""
    return not_below(a, b * FAR)


def fmod_near(a, b):
    """The remainder of ``a / b`` with the sign of ``a``, right unless the quotient is huge, see `outside_near`."""
    x, y = magnitude(a), magnitude(b)
    r = fma(-trunc(x / y), y, x)
    r = where(r < 0.0, r + y, r)  # the quotient was rounded up
    return copysign(where(y == INF, x, r), a)


def mod_near(a, b):
    """The remainder of ``a / b`` with the sign of ``b``, right unless the quotient is huge, see `outside_near`."""
    r = fmod_near(a, b)
    other = (r < 0.0) ^ (b < 0.0)
    return where(r == 0.0, copysign(r, b), where(other, r + b, r))


def floordiv_near(a, b):
    """``floor(a / b)`` as NumPy rounds it, ``a / b`` if ``b`` is 0; right unless the quotient is huge, see `outside_near`."""
    r = fmod_near(a, b)
    other = (r != 0.0) & ((r < 0.0) ^ (b < 0.0))
    d = (a - r) / b
    d = where(other, d - 1.0, d)
    whole = floor(d)
    whole = where(d - whole > 0.5, whole + 1.0, whole)
    whole = where(d == 0.0, copysign(0.0, a / b), whole)
    return where(b == 0.0, a / b, whole)
