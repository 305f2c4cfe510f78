"""Special functions in compiled code: the C functions of `scipy.special.cython_special`, called by name.

Importing this module always registers their addresses with LLVM: a kernel from the disk cache calls the names. Without SciPy
the module has only the functions that do not need it.
"""

import math

import numpy as np
from llvmlite import binding
from numba import njit as _njit
from numba import types
from numba.extending import get_cython_function_address

from transpile_runtime.compiled.options import NAN_SAFE, njit

_ONE = "psi erfcx erfi erfinv erfcinv ndtr ndtri log_ndtr expit log_expit logit entr i0 i1 i0e i1e j0 j1 loggamma dawsn".split()
_TWO = "betaln beta gammainc gammaincc rel_entr kl_div iv ive jv".split()
_THREE = "betainc betaincc".split()


def _find(name, count):
    """The name that `cython_special` has for its function ``name`` of ``count`` doubles; None if there is none."""
    from scipy.special import cython_special

    wanted = "double (" + "double, " * count + "int __pyx_skip_dispatch)"
    table = cython_special.__pyx_capi__
    for candidate in (name, *(f"__pyx_fuse_{k}{name}" for k in range(3))):
        if candidate in table and wanted in repr(table[candidate]):
            return candidate
    return None


def _external(name, count):
    """The Numba function that calls SciPy's C function ``name`` of ``count`` doubles, whose address gets registered with LLVM;
    None if SciPy lacks it."""
    try:
        found = _find(name, count)
    except ImportError:
        return None
    if found is None:
        return None
    symbol = f"runtime_special_{name}_{count}"
    binding.add_symbol(symbol, get_cython_function_address("scipy.special.cython_special", found))
    return types.ExternalFunction(symbol, types.float64(*[types.float64] * count, types.int32))


def _wrap(name, count):
    """The njit function that calls SciPy's C function ``name`` of ``count`` doubles; None if SciPy lacks it."""
    raw = _external(name, count)
    if raw is None:
        return None
    options = {"error_model": "numpy", "fastmath": NAN_SAFE}
    if count == 1:
        return _njit(**options)(lambda x: raw(x, 0))
    if count == 2:
        return _njit(**options)(lambda a, x: raw(a, x, 0))
    return _njit(**options)(lambda a, b, x: raw(a, b, x, 0))


for _names, _count in ((_ONE, 1), (_TWO, 2), (_THREE, 3)):
    globals().update({_name: _wrap(_name, _count) for _name in _names})
psi = digamma = globals()["psi"]
gammainc, gammaincc, betainc, betaincc = (globals()[_name] for _name in ("gammainc", "gammaincc", *_THREE))


@njit
def xlogy(x, y):
    return 0.0 if x == 0 and y == y else x * math.log(y)


@njit
def xlog1py(x, y):
    return 0.0 if x == 0 and y == y else x * math.log1p(y)


# B(2k) / (2k)! of the Euler-Maclaurin formula
_BERNOULLI = np.array([
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000,
])  # fmt: skip


@njit
def hurwitz(s, q):
    """The sum of ``1 / (q + k)**s`` over k = 0, 1, ... for s = 2, 3, ... and any real ``q``; infinite if a term is."""
    if not q < -12.0:
        return _hurwitz_above(s, q)
    whole = np.floor(q)
    if q == whole:
        return math.inf
    part = q - whole  # the sum over all integers has period 1; the terms below q are subtracted
    sign = 1.0 if s % 2.0 == 0.0 else -1.0
    return _hurwitz_above(s, part) + sign * _hurwitz_above(s, 1.0 - part) - sign * _hurwitz_above(s, 1.0 - q)


@njit
def _hurwitz_above(s, q):
    """The sum of ``1 / (q + k)**s`` over k = 0, 1, ... by the Euler-Maclaurin formula, which needs a large q; terms of a
    smaller one are added one by one."""
    total = 0.0
    while q < 12.0:
        if q == 0.0:
            return math.inf
        total += q**-s
        q += 1.0
    total += q ** (1.0 - s) / (s - 1.0) + 0.5 * q**-s
    factor, power = s, q ** (-s - 1.0)
    for k in range(_BERNOULLI.shape[0]):
        total += _BERNOULLI[k] * factor * power
        factor *= (s + 2 * k + 1.0) * (s + 2 * k + 2.0)
        power /= q * q
    return total


@njit
def polygamma(n, x):
    """Derivative number ``n`` of digamma at ``x``; digamma itself for 0."""
    if n == 0:
        return psi(x)
    sign = 1.0 if n % 2 else -1.0
    return sign * math.gamma(n + 1.0) * hurwitz(n + 1.0, x)


# --------------------------------------------------- derivatives of the incomplete gamma and beta functions, as in
# `transpile_runtime.special`, which explains the method

_HALF_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(160)
_UNIT = 0.5 * (_HALF_NODES + 1.0)
_DEPTH = 46.0


@njit
def _comb(n, k):
    found = 1.0
    for i in range(k):
        found = found * (n - i) / (i + 1)
    return found


@njit
def gammainc_moment(a, x, n):
    """The integral from 0 to ``x`` of ``(log t - digamma(a))**n`` times the gamma density of shape ``a``, for numbers, as in
    `transpile_runtime.special`."""
    if not (a > 0 and x >= 0):
        return math.nan
    if x == 0:
        return 0.0
    moments = np.empty(n + 1)
    moments[0] = 1.0
    for order in range(1, n + 1):
        total = 0.0
        for k in range(2, order + 1):
            total += _comb(order - 1, k - 1) * polygamma(k - 1, a) * moments[order - k]
        moments[order] = total
    if x == math.inf:
        return moments[n]
    left = x <= a
    if left:
        d = (_DEPTH + math.sqrt(_DEPTH * _DEPTH + 8 * a * _DEPTH)) / (2 * a)
        for _ in range(8):
            d -= (a * d + x * math.expm1(-d) - _DEPTH) / (a - x * math.exp(-d))
    else:
        d = min(math.sqrt(2 * _DEPTH / x), math.log1p(2 * _DEPTH / x) + 1)
        for _ in range(8):
            d -= (x * math.expm1(d) - a * d - _DEPTH) / (x * math.exp(d) - a)
    scale = math.log1p(d)
    first = math.log(x) - psi(a)
    above = 0.0
    below = 0.0
    for k in range(_UNIT.shape[0]):
        s = math.expm1(scale * _UNIT[k]) * (-1.0 if left else 1.0)
        w = _NODE_WEIGHTS[k] * math.exp(scale * _UNIT[k]) * math.exp(a * s - x * math.expm1(s))
        above += w * (first + s) ** n
        below += w
    condition = above / below
    return gammainc(a, x) * condition if left else moments[n] - gammaincc(a, x) * condition


@njit
def _beta_reach(p, q, u, v):
    """The distance d below logit(u) to which the integrand of a beta moment reaches, as in `transpile_runtime.special`, for
    numbers."""
    d = _DEPTH / p
    for _ in range(60):
        if p * d + (p + q) * math.log1p(u * math.expm1(-d)) >= _DEPTH:
            break
        d *= 2
    for _ in range(60):
        slope = p - (p + q) * (u * math.exp(-d)) / (v + u * math.exp(-d))
        step = (p * d + (p + q) * math.log1p(u * math.expm1(-d)) - _DEPTH) / slope
        d -= step
        if not abs(step) > 1e-3 * d:
            break
    return d


@njit
def _joint_cumulant(i, j, a, b):
    """The cumulant of orders ``i`` and ``j`` (their sum above 1) of log T and log(1 - T), for a beta variable T with parameters
    ``a`` and ``b``."""
    if i == 0:
        i, j, a, b = j, i, b, a
    own = polygamma(i - 1, a) if j == 0 else 0.0
    return own - polygamma(i + j - 1, a + b)


@njit
def _joint_moments(m, n, a, b):
    """All joint central moments of log T and log(1 - T), for a beta variable T, as a matrix: the orders are from 0 to ``m`` and
    from 0 to ``n``."""
    found = np.zeros((m + 1, n + 1))
    found[0, 0] = 1.0
    for p in range(m + 1):
        for q in range(n + 1):
            if p == 0 and q == 0:
                continue
            total = 0.0
            if p > 0:
                for i in range(1, p + 1):
                    for j in range(q + 1):
                        if i + j > 1:
                            total += (
                                _comb(p - 1, i - 1) * _comb(q, j) * _joint_cumulant(i, j, a, b) * found[p - i, q - j]
                            )
            else:
                for j in range(2, q + 1):
                    total += _comb(q - 1, j - 1) * _joint_cumulant(0, j, a, b) * found[0, q - j]
            found[p, q] = total
    return found


@njit
def betainc_moment(a, b, x, m, n):
    """The integral from 0 to ``x`` of ``(log t - E log T)**m (log(1 - t) - E log(1 - T))**n`` times the beta density, for
    numbers, as in `transpile_runtime.special`."""
    if not (a > 0 and b > 0 and x >= 0 and x <= 1):
        return math.nan
    if x == 0:
        return 0.0
    total = _joint_moments(m, n, a, b)[m, n]
    if x == 1:
        return total
    left = x * (a + b) <= a
    p, q = (a, b) if left else (b, a)
    u, v = (x, 1 - x) if left else (1 - x, x)
    scale = math.log1p(_beta_reach(p, q, u, v))
    both = psi(a + b)
    mean_left, mean_right = psi(a) - both, psi(b) - both
    above = 0.0
    below = 0.0
    for k in range(_UNIT.shape[0]):
        s = math.expm1(scale * _UNIT[k])
        shift = math.log1p(u * math.expm1(-s))
        w = _NODE_WEIGHTS[k] * math.exp(scale * _UNIT[k]) * math.exp(-p * s - (p + q) * shift)
        near, far = math.log(u) - s - shift, math.log(v) - shift
        first = (near if left else far) - mean_left
        second = (far if left else near) - mean_right
        above += w * first**m * second**n
        below += w
    condition = above / below
    return betainc(a, b, x) * condition if left else total - betaincc(a, b, x) * condition
