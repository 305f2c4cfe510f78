"""Functions made of exponentials and logarithms, for loops that LLVM vectorises; see `transpile_runtime.compiled.vector`."""

from transpile_runtime.compiled.vector_exp import exp, exp2
from transpile_runtime.compiled.vector_log import INV_LN2, log, log1p, log1p_unit
from transpile_runtime.compiled.vector_parts import INF, magnitude, where


def log_expit(x):
    """``log(1 / (1 + exp(-x)))``, without overflow."""
    low = log1p_unit(exp(-magnitude(x)))
    return where(x < 0.0, x - low, -low)


def logaddexp(a, b):
    """``log(exp(a) + exp(b))``, without overflow; NaN if either is."""
    away = where(a == b, 0.0, magnitude(a - b))  # also for two infinities
    return where(a > b, a, b) + log1p_unit(exp(-away))


def logaddexp2(a, b):
    """``log2(2**a + 2**b)``, without overflow; NaN if either is."""
    away = where(a == b, 0.0, magnitude(a - b))
    return where(a > b, a, b) + where(a == b, 1.0, log1p_unit(exp2(-away)) * INV_LN2)


def xlogy(x, y):
    """``x log(y)``; 0 if ``x`` is 0 and ``y`` is not NaN."""
    return where((x == 0.0) & (y == y), 0.0, x * log(y))


def xlog1py(x, y):
    return where((x == 0.0) & (y == y), 0.0, x * log1p(y))


def entr(x):
    """``-x log(x)``; 0 at 0, minus infinity below."""
    found = -x * log(x)
    found = where(x == 0.0, 0.0, found)
    return where(x < 0.0, -INF, found)
