"""Special functions in compiled code: the C functions of `scipy.special.cython_special`, called by name.

Their addresses are registered with LLVM when this module is imported, unconditionally: a kernel that comes from the disk
cache calls the names. Without SciPy the module has only what needs none.
"""

import math

import numpy as np
from llvmlite import binding
from numba import njit as _njit
from numba import types
from numba.extending import get_cython_function_address

from runtime.compiled.options import NAN_SAFE, njit

_ONE = "psi erfcx erfi erfinv erfcinv ndtr ndtri log_ndtr expit log_expit logit entr i0 i1 i0e i1e j0 j1 loggamma".split()
_TWO = "betaln beta gammainc gammaincc rel_entr kl_div iv ive jv".split()
_THREE = "betainc betaincc".split()


def _find(name, count):
    """The name, in `cython_special`, of the function of ``count`` doubles."""
    from scipy.special import cython_special

    wanted = "double (" + "double, " * count + "int __pyx_skip_dispatch)"
    table = cython_special.__pyx_capi__
    for candidate in (name, *(f"__pyx_fuse_{k}{name}" for k in range(3))):
        if candidate in table and wanted in repr(table[candidate]):
            return candidate
    return None


def _external(name, count):
    """The function of Numba that calls it; None where SciPy has none."""
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
    raw = _external(name, count)
    if raw is None:
        return None
    options = {"error_model": "numpy", "fastmath": NAN_SAFE}
    if count == 1:
        return _njit(**options)(lambda x: raw(x, 0))
    if count == 2:
        return _njit(**options)(lambda a, x: raw(a, x, 0))
    return _njit(**options)(lambda a, b, x: raw(a, b, x, 0))


psi, erfcx, erfi, erfinv, erfcinv, ndtr, ndtri, log_ndtr, expit, log_expit, logit, entr, i0, i1, i0e, i1e, j0, j1, loggamma = (
    _wrap(name, 1) for name in _ONE
)
betaln, beta, gammainc, gammaincc, rel_entr, kl_div, iv, ive, jv = (_wrap(name, 2) for name in _TWO)
betainc, betaincc = (_wrap(name, 3) for name in _THREE)
digamma = psi


@njit
def xlogy(x, y):
    return 0.0 * y if x == 0 and y == y else x * math.log(y)


@njit
def xlog1py(x, y):
    return 0.0 if x == 0 and y == y else x * math.log1p(y)


# B(2k) / (2k)! of the Euler-Maclaurin sum
_BERNOULLI = np.array([
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000,
])  # fmt: skip


@njit
def hurwitz(s, q):
    """The sum of ``1 / (q + k)**s`` over k = 0, 1, ... for s > 1, by Euler and Maclaurin."""
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
    """The n-th derivative of digamma."""
    if n == 0:
        return psi(x)
    sign = 1.0 if n % 2 else -1.0
    return sign * math.gamma(n + 1.0) * hurwitz(n + 1.0, x)
