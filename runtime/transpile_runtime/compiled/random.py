"""Random bits in compiled code, one number at a time: functions of the two words of a key and a place.

`transpile_runtime.random` defines the draws; loops call `transpile_runtime.compiled.vector_random` if the processor has a fused
multiply-add. This module is plain Python, which can be copied into an emitted file.
"""

import math

import numpy as np

from transpile_runtime.compiled.options import njit
from transpile_runtime.compiled.vector_erfinv import ERFINV, ERFINV_FAR, FAR_FROM


@njit
def _round(x, y, by):
    """The words ``x`` and ``y`` after one round of Threefry, in which ``y`` is rotated by ``by`` bits."""
    x = np.uint32(x + y)
    return x, np.uint32((np.uint32(y << np.uint32(by)) | np.uint32(y >> np.uint32(32 - by))) ^ x)


@njit
def _four_rounds(x, y, even):
    """The words ``x`` and ``y`` after four rounds of Threefry, with the rotations of an ``even`` or an odd group of rounds."""
    if even:
        x, y = _round(x, y, 13)
        x, y = _round(x, y, 15)
        x, y = _round(x, y, 26)
        return _round(x, y, 6)
    x, y = _round(x, y, 17)
    x, y = _round(x, y, 29)
    x, y = _round(x, y, 16)
    return _round(x, y, 24)


@njit
def threefry(first, second, place):
    """The two words of number ``place`` of the key with the words ``first`` and ``second``: the place, encrypted by the key."""
    third = np.uint32(np.uint32(first ^ second) ^ np.uint32(0x1BD11BDA))
    x = np.uint32(np.uint32(np.uint64(place) >> np.uint64(32)) + first)
    y = np.uint32(np.uint32(np.uint64(place) & np.uint64(0xFFFFFFFF)) + second)
    for turn in range(5):
        x, y = _four_rounds(x, y, turn % 2 == 0)
        x = np.uint32(x + second)
        y = np.uint32(y + np.uint32(third + np.uint32(turn + 1)))
        first, second, third = second, third, first
    return x, y


@njit
def word(first, second, place, which):
    """The first (``which`` 0) or the second word of a place under the key with the words ``first`` and ``second``."""
    x, y = threefry(first, second, place)
    return x if which == 0 else y


@njit
def bits32(first, second, place):
    """The 32 random bits, a uint32, of a place under the key with the words ``first`` and ``second``."""
    x, y = threefry(first, second, place)
    return np.uint32(x ^ y)


@njit
def bits64(first, second, place):
    """The 64 random bits, a uint64, of a place under the key with the words ``first`` and ``second``."""
    x, y = threefry(first, second, place)
    return np.uint64(np.uint64(x) << np.uint64(32)) | np.uint64(y)


@njit
def unit64(first, second, place):
    """The float64 in [0, 1) of a place under the key with the words ``first`` and ``second``."""
    return np.float64(np.int64(bits64(first, second, place) >> np.uint64(12))) * 2.0**-52


@njit
def unit32(first, second, place):
    """The float32 in [0, 1) of a place under the key with the words ``first`` and ``second``."""
    return np.float32(np.int64(bits32(first, second, place)) >> 9) * np.float32(2.0**-23)


@njit
def _quantile(x):
    """``sqrt(2) erfinv(x)``, the normal quantile of ``(1 + x) / 2``, for ``|x| < 1``, after Giles."""
    w = -math.log((1.0 - x) * (1.0 + x))
    total = 0.0
    if w < FAR_FROM:
        for k in range(len(ERFINV) - 1, -1, -1):
            total = total * w + ERFINV[k]
    else:
        s = math.sqrt(w)
        t = (s - 4.0) / (s + 4.0)
        for k in range(len(ERFINV_FAR) - 1, -1, -1):
            total = total * t + ERFINV_FAR[k]
    return math.sqrt(2.0) * x * total


@njit
def normal64(first, second, place):
    """The standard normal float64 of a place under the key with the words ``first`` and ``second``."""
    return _quantile(unit64(first, second, place) * 2.0 + (2.0**-53 - 1.0))


@njit
def normal32(first, second, place):
    """The standard normal float32 of a place under the key with the words ``first`` and ``second``."""
    return np.float32(_quantile(np.float64(unit32(first, second, place)) * 2.0 + (2.0**-24 - 1.0)))


@njit
def normals(out, first, second):
    """Fills a flat array of float64 with the standard normal numbers of places 0, 1, ... of the key with these two words."""
    for i in range(out.shape[0]):
        out[i] = normal64(first, second, i)


@njit
def normals32(out, first, second):
    for i in range(out.shape[0]):
        out[i] = normal32(first, second, i)


@njit
def between(u, low, high):
    """``u * (high - low) + low``, for one number, not below ``low``; rounded once if the processor has a fused multiply-add."""
    found = u * (high - low) + low
    return low if found < low else found


@njit
def offset_uint64(higher, lower, span):
    """A uint64 below ``span``: the 128-bit number of the halves ``higher`` and ``lower``, modulo ``span``; ``lower`` if
    ``span`` is 0."""
    if span == 0:
        return lower
    more = (np.uint64(1) << np.uint64(32)) % span
    more = more * more % span
    return ((higher % span) * more + lower % span) % span


@njit
def offset_uint32(higher, lower, span):
    """A uint32 below ``span``: as `offset_uint64`, for halves of 32 bits, with products and sums that wrap at 32 bits."""
    if span == 0:
        return lower
    every, n = np.uint64(0xFFFFFFFF), np.uint64(span)
    more = np.uint64(65536) % n
    more = (more * more & every) % n
    product = (np.uint64(higher) % n) * more & every
    return np.uint32((product + np.uint64(lower) % n & every) % n)


@njit
def log_gamma(first, second, place, a):
    """The logarithm of a gamma variate with shape parameter ``a``, number ``place`` of what
    `transpile_runtime.random.log_gamma` draws with this key."""
    if not 0.0 < a < math.inf:
        return math.nan if a < 0.0 else -math.inf if a == 0.0 else a
    first, second = threefry(first, second, place)
    d = (a + 1.0 if a < 1.0 else a) - 1.0 / 3.0
    attempt = 0
    while True:
        x, u = normal64(first, second, 2 * attempt + 1), unit64(first, second, 2 * attempt + 2)
        v = 1.0 + x / math.sqrt(9.0 * d)
        if v > 0.0 and math.log1p(-u) < 0.5 * x * x + d * (1.0 - v * v * v + 3.0 * math.log(v)):
            break
        attempt += 1
    found = math.log(d) + 3.0 * math.log(v)
    return found + math.log1p(-unit64(first, second, 0)) / a if a < 1.0 else found


@njit
def _floor(x):
    return x if abs(x) >= 4503599627370496.0 else float(math.floor(x))


@njit
def _less_stirling(k):
    """``log(k!)`` minus Stirling's approximation ``(k + 1/2) log(k) - k + log(2 pi) / 2``."""
    if k < 16.0:
        return math.lgamma(k + 1.0) - (k + 0.5) * math.log(k) + k - 0.9189385332046728
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / (k * k)) / (k * k)) / k


@njit
def _deviance(k, mean):
    """``k log(k / mean) + mean - k``, accurate also if both are large and close."""
    e = (k - mean) / mean
    return mean * ((1.0 + e) * math.log1p(e) - e)


@njit
def _log_poisson(k, lam):
    """The logarithm of the probability of ``k`` in the Poisson distribution with mean ``lam``."""
    if k == 0.0:
        return -lam
    return -_less_stirling(k) - _deviance(k, lam) - 0.5 * math.log(k) - 0.9189385332046728


@njit
def poisson(first, second, place, lam):
    """A Poisson variate with mean ``lam``, as a float, number ``place`` of what `transpile_runtime.random.poisson` draws with
    this key.

    -1 for a negative mean or NaN; the mean itself from 1e300 on.
    """
    if not 0.0 < lam < 1e300:
        return 0.0 if lam == 0.0 else lam if lam > 0.0 else -1.0
    first, second = threefry(first, second, place)
    if lam < 10.0:
        u, k = unit64(first, second, 0), 0.0
        share = math.exp(-lam)
        total = share
        while u >= total and k < 200.0:
            k += 1.0
            share *= lam / k
            total += share
        return k
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    attempt = 0
    while True:
        u, v = unit64(first, second, 2 * attempt + 1) - 0.5, unit64(first, second, 2 * attempt + 2)
        near = 0.5 - abs(u)
        if near > 0.0:
            k = _floor((2.0 * a / near + b) * u + lam + 0.43)
            if near >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
                return k
            if k >= 0.0 and v > 0.0 and not (near < 0.013 and v > near):
                if math.log(v * scale / (a / (near * near) + b)) <= _log_poisson(k, lam):
                    return k
        attempt += 1


@njit
def _log_binomial(k, n, q):
    """The logarithm of the probability of ``k`` successes in ``n`` trials of probability ``q``."""
    if k == 0.0:
        return n * math.log1p(-q)
    if k == n:
        return n * math.log(q)
    rest = n - k
    found = _less_stirling(n) - _less_stirling(k) - _less_stirling(rest) - _deviance(k, n * q)
    return found - _deviance(rest, n * (1.0 - q)) + 0.5 * math.log(n / (k * rest)) - 0.9189385332046728


@njit
def binomial(first, second, place, n, p):
    """The number of successes, a float, in ``n`` trials of probability ``p``, number ``place`` of what
    `transpile_runtime.random.binomial` draws with this key.

    NaN if ``n`` is negative or ``p`` is not in [0, 1].
    """
    if not (n >= 0.0 and 0.0 <= p <= 1.0):
        return math.nan
    if n > 1e300:
        return math.inf if p > 0.0 else 0.0
    n = _floor(n)
    q = min(p, 1.0 - p)
    if q == 0.0 or n == 0.0:
        return n if p > 0.5 else 0.0
    first, second = threefry(first, second, place)
    k = 0.0
    if n * q < 10.0:
        u = unit64(first, second, 0)
        share = math.exp(n * math.log1p(-q))
        total = share
        while u >= total and k < n and k < 200.0:
            share *= (n - k) / (k + 1.0) * (q / (1.0 - q))
            k += 1.0
            total += share
        return n - k if p > 0.5 else k
    spread = math.sqrt(n * q * (1.0 - q))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    highest = _log_binomial(_floor((n + 1.0) * q), n, q)
    attempt = 0
    while True:
        u, v = unit64(first, second, 2 * attempt + 1) - 0.5, unit64(first, second, 2 * attempt + 2)
        near = 0.5 - abs(u)
        if near > 0.0:
            k = _floor((2.0 * a / near + b) * u + n * q + 0.5)
            if near >= 0.07 and v <= 0.92 - 4.2 / b:
                break
            if 0.0 <= k <= n and v > 0.0:
                bound = math.log(v * (2.83 + 5.1 / b) * spread / (a / (near * near) + b))
                if bound <= _log_binomial(k, n, q) - highest:
                    break
        attempt += 1
    return n - k if p > 0.5 else k
