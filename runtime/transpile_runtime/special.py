"""Derivatives of the incomplete gamma and beta functions with respect to their shape parameters, of any order.

With T gamma-distributed, the derivative of ``gammainc(a, x) = P(T < x)`` in ``a`` is the integral from 0 to x of
``log t - digamma(a)`` times the density; higher derivatives are integrals of its powers, likewise for beta. Each is
a conditional mean times SciPy's (accurate) probability. The mean is taken on the side of x that is away from the
mode, in the variable log t (beta: log(t / (1 - t))): there the integrand is log-concave and falls from its endpoint
on, so that one Gauss-Legendre rule on the part above exp(-46) of its maximum is accurate for all parameters; the
other side follows from the moments of the whole distribution.

Other methods: Moore, Derivatives of the incomplete gamma integral, Applied Statistics 31 (1982), algorithm AS 187;
Boik and Robison-Cox, Derivatives of the incomplete beta function, Journal of Statistical Software 3 (1998).
"""

from math import comb

import numpy as np
from scipy import special

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)
_UNIT = 0.5 * (_NODES + 1.0)  # the nodes on [0, 1]; only ratios of sums are used, so the weights need no factor
_DEPTH = 46.0


def gammainc_moment(a, x, n):
    """The integral from 0 to ``x`` of ``(log t - digamma(a))**n`` times the gamma density of shape ``a``.

    ``a`` and ``x`` broadcast; float32 stays float32. NaN for a <= 0 or x < 0.

    >>> float(gammainc_moment(2.0, 3.0, 1).round(12))  # d gammainc(2, 3) / d 2
    -0.197425419579
    """
    a, x, dtype = _prepared(a, x)
    with np.errstate(all="ignore"):
        left = x <= a
        mean = special.digamma(a)
        inside = (a > 0) & (x > 0) & (x < np.inf)
        a1, x1 = np.where(inside, a, 1.0), np.where(inside, x, 1.0)
        reach = np.where(left, _gamma_left(a1, x1), _gamma_right(a1, x1))
        s, jacobian = _nodes(reach)
        s = np.where(left, -1.0, 1.0)[..., None] * s
        weight = jacobian * np.exp(a1[..., None] * s - x1[..., None] * np.expm1(s))
        centred = (np.log(x1) - mean)[..., None] + s
        condition = np.sum(weight * centred**n, axis=-1) / np.sum(weight, axis=-1)
        total = _moments(n, [special.polygamma(k - 1, a) if k > 1 else 0.0 for k in range(1, n + 1)])
        value = np.where(left, special.gammainc(a, x) * condition, total - special.gammaincc(a, x) * condition)
        value = np.where(inside, value, np.where(x == 0, 0.0, np.where(x == np.inf, total, np.nan)))
        return np.where(a > 0, value, np.nan).astype(dtype)[()]


def _gamma_left(a, x):
    """The distance d below log x to which the integrand of `gammainc_moment` reaches, x <= a: a d - x (1 - exp(-d)) = depth."""
    d = (_DEPTH + np.sqrt(_DEPTH * _DEPTH + 8 * a * _DEPTH)) / (2 * a)
    for _ in range(8):  # Newton from above on a convex function: never overshoots
        d = d - (a * d + x * np.expm1(-d) - _DEPTH) / (a - x * np.exp(-d))
    return d


def _gamma_right(a, x):
    """The distance d above log x to which the integrand of `gammainc_moment` reaches, x >= a: x (exp(d) - 1) - a d = depth."""
    d = np.minimum(np.sqrt(2 * _DEPTH / x), np.log1p(2 * _DEPTH / x) + 1)
    for _ in range(8):
        d = d - (x * np.expm1(d) - a * d - _DEPTH) / (x * np.exp(d) - a)
    return d


def betainc_moment(a, b, x, m, n):
    """The integral from 0 to ``x`` of ``(log t - E log T)**m (log(1 - t) - E log(1 - T))**n`` times the beta density.

    ``a``, ``b`` and ``x`` broadcast; float32 stays float32. NaN for a <= 0, b <= 0 or x outside [0, 1].

    >>> float(betainc_moment(2.0, 3.0, 0.4, 1, 0).round(12))  # d betainc(2, 3, 0.4) / d 2
    -0.240869376088
    """
    a, b, x, dtype = _prepared(a, b, x)
    with np.errstate(all="ignore"):
        both = special.digamma(a + b)
        mean_left, mean_right = special.digamma(a) - both, special.digamma(b) - both
        valid = (a > 0) & (b > 0) & (x >= 0) & (x <= 1)
        inside = valid & (x > 0) & (x < 1)
        a1, b1, x1 = np.where(inside, a, 1.0), np.where(inside, b, 1.0), np.where(inside, x, 0.5)
        left = x1 * (a1 + b1) <= a1
        # on the right side the roles of (a, x) and (b, 1 - x) are exchanged
        p, q = np.where(left, a1, b1), np.where(left, b1, a1)
        u, v = np.where(left, x1, 1 - x1), np.where(left, 1 - x1, x1)
        s, jacobian = _nodes(_beta_reach(p, q, u, v))
        # t = u exp(-s) / (v + u exp(-s)): log(v + u exp(-s)) = log1p(u expm1(-s)), as u + v = 1
        shift = np.log1p(u[..., None] * np.expm1(-s))
        weight = jacobian * np.exp(-p[..., None] * s - (p + q)[..., None] * shift)
        near, far = np.log(u)[..., None] - s - shift, np.log(v)[..., None] - shift
        side = left[..., None]
        first = np.where(side, near, far) - mean_left[..., None]
        second = np.where(side, far, near) - mean_right[..., None]
        condition = np.sum(weight * first**m * second**n, axis=-1) / np.sum(weight, axis=-1)
        total = _joint_moment(m, n, a, b)
        value = np.where(left, special.betainc(a, b, x) * condition, total - special.betaincc(a, b, x) * condition)
        value = np.where(inside, value, np.where(x <= 0, 0.0, total))
        return np.where(valid, value, np.nan).astype(dtype)[()]


def _beta_reach(p, q, u, v):
    """The distance d below logit(u) to which the integrand of `betainc_moment` reaches, u <= p / (p + q) and v = 1 - u.

    It solves p d + (p + q) log(v + u exp(-d)) = depth.
    """
    # the slope rises from p - (p + q) u to p, so that the function lies below p d and, being convex, above its chord
    d = _DEPTH / p
    for _ in range(60):  # double until beyond the root, at most as far as a line of slope p needs
        value = p * d + (p + q) * np.log1p(u * np.expm1(-d))
        short = value < _DEPTH
        if not np.any(short):
            break
        d = np.where(short, 2 * d, d)
    for _ in range(60):
        slope = p - (p + q) * (u * np.exp(-d)) / (v + u * np.exp(-d))
        step = (p * d + (p + q) * np.log1p(u * np.expm1(-d)) - _DEPTH) / slope
        d = d - step
        if not np.any(np.abs(step) > 1e-3 * d):
            break
    return d


def _nodes(reach):
    """The nodes on [0, reach] along a new last axis, and their weights; dense on the scale of 1 near 0: for small shapes the
    integrand reaches far."""
    scale = np.log1p(reach)[..., None]
    return np.expm1(scale * _UNIT), _WEIGHTS * np.exp(scale * _UNIT)


def _prepared(*numbers):
    """The arguments as float64 arrays, broadcast against each other, and then the dtype of the result."""
    arrays = [np.asarray(x) for x in numbers]
    dtype = np.result_type(*(x if np.isscalar(x) else np.asarray(x) for x in numbers))
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    return (*np.broadcast_arrays(*(x.astype(np.float64) for x in arrays)), dtype)


def _moments(n, cumulants):
    """Central moment number ``n`` from the cumulants of orders 1, 2, ..., of which the first is 0."""
    found = [1.0]
    for order in range(1, n + 1):
        found.append(sum(comb(order - 1, k - 1) * cumulants[k - 1] * found[order - k] for k in range(1, order + 1)))
    return found[n]


def _joint_moment(m, n, a, b):
    """The central moment E (log T - E log T)**m (log(1 - T) - E log(1 - T))**n of a beta variable T with parameters ``a`` and
    ``b``."""
    if m == n == 0:
        return 1.0
    if m == 0:
        return _joint_moment(n, 0, b, a)
    total = 0.0
    for i in range(1, m + 1):
        for j in range(n + 1):
            if i + j > 1:
                lower = _joint_moment(m - i, n - j, a, b)
                total = total + comb(m - 1, i - 1) * comb(n, j) * _joint_cumulant(i, j, a, b) * lower
    return total


def _joint_cumulant(i, j, a, b):
    """The cumulant of orders ``i`` and ``j`` (i > 0, i + j > 1) of log T and log(1 - T), for a beta variable T: a derivative of
    log B(a, b)."""
    own = special.polygamma(i - 1, a) if j == 0 else 0.0
    return own - special.polygamma(i + j - 1, a + b)
