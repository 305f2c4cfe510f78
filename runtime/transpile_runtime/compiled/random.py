"""Random bits in compiled code, one number at a time: a function of the two words of a key and a place.

`transpile_runtime.random` says what is drawn, `transpile_runtime.compiled.vector_random` is what loops call where a processor has a
fused multiply-add. What is here is plain Python, which an emitted file may hold a copy of.
"""

import math

import numpy as np

from transpile_runtime.compiled.options import njit
from transpile_runtime.compiled.vector_erfinv import ERFINV, ERFINV_FAR, FAR_FROM


@njit
def _round(x, y, by):
    x = np.uint32(x + y)
    return x, np.uint32((np.uint32(y << np.uint32(by)) | np.uint32(y >> np.uint32(32 - by))) ^ x)


@njit
def _four_rounds(x, y, even):
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
    """The two words of a place."""
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
    """The first or the second word of a place."""
    x, y = threefry(first, second, place)
    return x if which == 0 else y


@njit
def bits32(first, second, place):
    x, y = threefry(first, second, place)
    return np.uint32(x ^ y)


@njit
def bits64(first, second, place):
    x, y = threefry(first, second, place)
    return np.uint64(np.uint64(x) << np.uint64(32)) | np.uint64(y)


@njit
def unit64(first, second, place):
    return np.float64(np.int64(bits64(first, second, place) >> np.uint64(12))) * 2.0**-52


@njit
def unit32(first, second, place):
    return np.float32(np.int64(bits32(first, second, place)) >> 9) * np.float32(2.0**-23)


@njit
def _quantile(x):
    """``sqrt(2) erfinv(x)``, after Giles."""
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
    return _quantile(unit64(first, second, place) * 2.0 + (2.0**-53 - 1.0))


@njit
def normal32(first, second, place):
    return np.float32(_quantile(np.float64(unit32(first, second, place)) * 2.0 + (2.0**-24 - 1.0)))


@njit
def normals(out, first, second):
    """Standard normal numbers into an array of rank 1."""
    for i in range(out.shape[0]):
        out[i] = normal64(first, second, i)


@njit
def normals32(out, first, second):
    for i in range(out.shape[0]):
        out[i] = normal32(first, second, i)


@njit
def between(u, low, high):
    """``u * (high - low) + low``, not below ``low``; LLVM rounds it once, where the processor can."""
    found = u * (high - low) + low
    return low if found < low else found


@njit
def offset_uint64(higher, lower, span):
    """A number below ``span`` (0: any): what both say together, modulo it."""
    if span == 0:
        return lower
    more = (np.uint64(1) << np.uint64(32)) % span
    more = more * more % span
    return ((higher % span) * more + lower % span) % span


@njit
def offset_uint32(higher, lower, span):
    """As `offset_uint64`, with products and sums of 32 bits."""
    if span == 0:
        return lower
    every, n = np.uint64(0xFFFFFFFF), np.uint64(span)
    more = np.uint64(65536) % n
    more = (more * more & every) % n
    product = (np.uint64(higher) % n) * more & every
    return np.uint32((product + np.uint64(lower) % n & every) % n)


@njit
def log_gamma(first, second, place, a):
    """The logarithm of a gamma variable of the shape ``a``, as `transpile_runtime.random.log_gamma` draws it."""
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
