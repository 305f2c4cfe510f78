"""Random numbers that are functions of a key: Threefry-2x32 in NumPy, laid out as in JAX's `jax_threefry_partitionable`.

A key is two 32-bit words, ``uint32[2]``; an array of keys ``uint32[..., 2]`` gives for each key what that key alone would give.
Number ``i`` of a draw, in C order of its shape, is the counter ``i`` (its *place*) encrypted by the key. It depends on no other
number, so that a draw can be repeated, in parts, and in any order. Compiled loops make large draws if Numba is installed.

Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, SC 2011. Marsaglia and Tsang, A simple method for
generating gamma variables, ACM TOMS 26 (2000). Wichura, Algorithm AS 241: the percentage points of the normal distribution,
Applied Statistics 37 (1988).
"""

import importlib.util
import math
import operator
import sys
from functools import wraps

import numpy as np

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_PART = 1 << 15  # number of places encrypted together: they stay in the cache
_SINGLE = 12  # number of places up to which encrypting one by one is faster
_FEW, _MANY = 1 << 14, 1 << 21  # number of numbers from which compiled loops pay, if Numba is imported and if it is not


def single(key):
    """The key itself, unchanged, if it is one key; TypeError for an array of keys or anything else."""
    if _checked(key).ndim > 1:
        raise TypeError(
            f"expected one key, got an array of keys of shape {list(np.shape(key))}: take one, as in keys[0]"
        )
    return key


def demand(test, message, *values):
    """Raises ValueError unless the test holds; the message has ``{}`` for each of the values, if there are any."""
    if not test:
        raise ValueError(message.format(*values) if values else message)


def demand_type(test, message, *values):
    """Raises TypeError unless the test holds, with a message as in `demand`."""
    if not test:
        raise TypeError(message.format(*values) if values else message)


def axis_number(axis):
    """The axis as an int; TypeError unless it is an integer (booleans are not)."""
    demand_type(
        not isinstance(axis, (bool, np.bool_)) and hasattr(axis, "__index__"),
        f"an axis must be an integer, not {axis!r}",
    )
    return operator.index(axis)


def compiled_if_large(function):
    """The draw ``function`` wrapped: if many numbers are asked for, `transpile_runtime.compiled.draws` makes them; normal ones
    then differ in rounding.

    The dtype None is the draw's default.
    """
    name = function.__name__

    @wraps(function)
    def draw(key, shape=(), dtype=None):
        made = _compiled(name, key, shape, dtype)
        return function(key, shape, dtype or _DTYPES[name]) if made is None else made

    return draw


_DTYPES = {"bits": np.uint32, "unit": np.float64, "normal": np.float64}


def _compiled(name, key, shape, dtype):
    """The numbers of the draw ``name`` from compiled loops; None if they are few, Numba is missing or a size is negative."""
    shape = tuple(shape) if np.ndim(shape) else (shape,)
    key = _checked(key)
    if any(n < 0 for n in shape):
        return None
    count = math.prod(shape) * (key.size // 2)
    if count < (_FEW if "transpile_runtime.compiled.draws" in sys.modules else _MANY):
        return None
    if importlib.util.find_spec("numba") is None:
        return None
    from transpile_runtime.compiled import draws

    return draws.filled(name, key, shape, np.dtype(dtype or _DTYPES[name]))


# ------------------------------------------------------------------------------------------------------- blocks


def _checked(key):
    """The key, or the keys, as an array; TypeError unless it is ``uint32[..., 2]``."""
    key = np.asarray(key)
    if key.dtype != np.uint32 or key.ndim == 0 or key.shape[-1] != 2:
        given = f"{key.dtype}{list(key.shape)}" if key.ndim else f"the number {key}"
        raise TypeError(f"a key must be an array uint32[2], not {given}: make one with key(seed)")
    return key


def _threefry(first, second, x, y):
    """The words ``x`` and ``y`` encrypted by the key of words ``first`` and ``second``: four arrays of uint32, broadcast
    against each other."""
    keys = (first, second, first ^ second ^ np.uint32(_PARITY))
    x, y = x + first, y + second
    for turn in range(5):
        for by in _ROTATIONS[turn % 2]:
            x += y
            high = y << np.uint32(by)
            y >>= np.uint32(32 - by)
            y |= high
            y ^= x
        x += keys[(turn + 1) % 3]
        y += keys[(turn + 2) % 3] + np.uint32(turn + 1)
    return x, y


def _block(first, second, place):
    """The two words of one place under a key, all Python integers: for a few places NumPy's overhead is larger."""
    keys, mask = (first, second, first ^ second ^ _PARITY), 0xFFFFFFFF
    x, y = (place >> 32) + first & mask, place + second & mask
    for turn in range(5):
        for by in _ROTATIONS[turn % 2]:
            x = x + y & mask
            y = (y << by | y >> 32 - by) & mask ^ x
        x = x + keys[(turn + 1) % 3] & mask
        y = y + keys[(turn + 2) % 3] + turn + 1 & mask
    return x, y


def _words(key, shape):
    """An array ``uint32[2, ..., *shape]``: the two words of each place of the shape, for each of the keys ``[..., 2]``."""
    key = _checked(key)
    shape = tuple(shape) if np.ndim(shape) else (shape,)
    if any(n < 0 for n in shape):
        raise ValueError(f"a size must not be negative, but the shape is {shape}")
    count, keys = math.prod(shape), key.reshape(-1, 2)
    if count * len(keys) <= _SINGLE:
        blocks = [_block(*words, place) for words in keys.tolist() for place in range(count)]
        found = np.array(blocks, np.uint32).reshape(-1, 2).T
    else:
        found = np.empty((2, len(keys), count), np.uint32)
        together = max(1, _PART // count)  # number of keys
        for lane in range(0, len(keys), together):
            some = keys[lane : lane + together]
            for start in range(0, count, _PART):
                places = np.arange(start, min(start + _PART, count), dtype=np.uint64)
                high, low = (places >> np.uint64(32)).astype(np.uint32), places.astype(np.uint32)
                found[:, lane : lane + together, start : start + _PART] = _threefry(some[:, :1], some[:, 1:], high, low)
    return found.reshape(2, *key.shape[:-1], *shape)


# -------------------------------------------------------------------------------------------------------- draws


def split(key, shape=(2,)):
    """New keys ``uint32[..., *shape, 2]``, for each of the keys ``[..., 2]``.

    >>> split(np.array([0, 42], np.uint32))
    array([[1832780943,  270669613],
           [  64467757, 2916123636]], dtype=uint32)
    """
    return np.stack(_words(key, shape), axis=-1)


def fold_in(key, data):
    """The key derived from a key and the low 32 bits of an integer: number ``data`` of the keys that `split` would give.

    Keys ``uint32[..., 2]`` and integers ``[...]`` are broadcast against each other; TypeError for numbers that are not
    integers.

    >>> fold_in(np.array([0, 42], np.uint32), 1)
    array([  64467757, 2916123636], dtype=uint32)
    """
    key, data = _checked(key), np.asarray(data)
    if data.dtype.kind not in "iub":
        raise TypeError(f"fold_in takes an integer, not {data.dtype}{list(data.shape)}")
    shape = np.broadcast_shapes(key.shape[:-1], data.shape)
    places = data.astype(np.int64) & 0xFFFFFFFF
    if math.prod(shape) <= _SINGLE:
        keys = np.broadcast_to(key, (*shape, 2)).reshape(-1, 2).tolist()
        low = np.broadcast_to(places, shape).reshape(-1).tolist()
        return np.array([_block(*words, place) for words, place in zip(keys, low)], np.uint32).reshape(*shape, 2)
    low = np.broadcast_to(places.astype(np.uint32), shape)
    return np.stack(_threefry(key[..., 0], key[..., 1], np.zeros_like(low), low), axis=-1)


@compiled_if_large
def bits(key, shape=(), dtype=np.uint32):
    """Random bits, an array ``[..., *shape]`` of uint32 or uint64 for keys ``[..., 2]``.

    >>> bits(np.array([0, 42], np.uint32), (3,))
    array([2098992034, 2919706841, 2646866425], dtype=uint32)
    """
    x, y = _words(key, shape)
    if _one_of(dtype, np.uint64, np.uint32) == np.uint64:
        return (x.astype(np.uint64) << np.uint64(32)) | y
    return x ^ y


@compiled_if_large
def unit(key, shape=(), dtype=np.float64):
    """Uniform numbers in [0, 1), an array ``[..., *shape]`` for keys ``[..., 2]``, with as many random bits as a float's
    fraction has.

    >>> unit(np.array([0, 42], np.uint32), (3,))
    array([0.42672757, 0.01501007, 0.57414442])
    """
    if _one_of(dtype, np.float64, np.float32) == np.float64:
        return (bits(key, shape, np.uint64) >> np.uint64(12)) * 2.0**-52
    return (bits(key, shape, np.uint32) >> np.uint32(9)).astype(np.float32) * np.float32(2.0**-23)


@compiled_if_large
def normal(key, shape=(), dtype=np.float64):
    """Standard normal numbers, an array ``[..., *shape]`` for keys ``[..., 2]``: quantiles of the numbers of `unit`.

    >>> normal(np.array([0, 42], np.uint32), (3,)).round(6)
    array([-0.184712, -2.169825,  0.186936])
    """
    return _quantile(unit(key, shape, dtype))


def _one_of(dtype, *allowed):
    """``dtype`` as a NumPy dtype, if it is one of those ``allowed``; else TypeError."""
    found = np.dtype(dtype)
    if found not in allowed:
        raise TypeError(f"the dtype must be {' or '.join(t.__name__ for t in allowed)}, not {found}")
    return found


# from Wichura: coefficients of the numerator and the denominator in r, the highest power first
_MIDDLE = (
    (
        2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
        133.14166789178438, 3.3871328727963665,
    ),
    (
        5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579,
        42.31333070160091, 1.0,
    ),
)  # fmt: skip
_SIDE = (
    (
        0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
        5.769497221460691, 4.630337846156546, 1.4234371107496835,
    ),
    (
        1.0507500716444169e-09, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
        1.6763848301838038, 2.053191626637759, 1.0,
    ),
)  # fmt: skip
_TAIL = (
    (
        2.0103343992922881e-07, 2.7115555687434876e-05, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487,
        1.7848265399172913, 5.463784911164114, 6.657904643501103,
    ),
    (
        2.0442631033899397e-15, 1.421511758316446e-07, 1.8463183175100548e-05, 0.0007868691311456133, 0.014875361290850615,
        0.1369298809227358, 0.599832206555888, 1.0,
    ),
)  # fmt: skip


def _quantile(u):
    """The normal quantile of the midpoint between ``u`` in [0, 1) and its successor, elementwise, in the dtype of ``u``."""
    real = u.dtype.type
    low = real(2.0 ** -(np.finfo(real).nmant + 1) - 1.0)
    q = np.asarray(u * real(2) + low, np.float64) / 2  # the probability minus 1/2
    flat = np.reshape(q, -1)
    if flat.size <= _SINGLE:
        found = np.array([_middle(x) if abs(x) <= 0.425 else _side(x) for x in flat], real)
    else:
        found = np.empty(flat.size, real)
        for start in range(0, flat.size, _PART):
            some = flat[start : start + _PART]
            part = _middle(some)
            far = np.flatnonzero(np.abs(some) > 0.425)
            part[far] = _side(some[far])
            found[start : start + _PART] = part
    return np.reshape(found, np.shape(q))[()]


def _middle(q):
    """The normal quantile of ``1/2 + q``, for ``|q|`` up to 0.425."""
    return q * _rational(0.180625 - q * q, *_MIDDLE)


def _side(q):
    """The normal quantile of ``1/2 + q``, for ``|q|`` above 0.425."""
    r = np.sqrt(-np.log(0.5 - np.abs(q)))
    found = _rational(r - 1.6, *_SIDE)
    if np.any(r > 5):
        found = np.where(r > 5, _rational(r - 5, *_TAIL), found)
    return np.copysign(found, q)


def _rational(r, above, below):
    return _polynomial(r, above) / _polynomial(r, below)


def _polynomial(r, coefficients):
    """The polynomial with these coefficients, the highest power first, at ``r``."""
    total = coefficients[0] * r
    for c in coefficients[1:-1]:
        total += c
        total *= r
    return total + coefficients[-1]


def log_gamma(key, a):
    """Logarithms of gamma variates, one for each element of ``a``, its shape parameter; with the shape and dtype of ``a``.

    For keys ``uint32[..., 2]``, ``a`` is an array ``[..., *shape]``. Each element gets a key of its own, split from the given
    one. Attempt ``k`` = 0, 1, ... of the rejection method takes a normal number from place ``2 * k + 1`` of that key and a
    uniform one from place ``2 * k + 2``. For a parameter below 1 the variate is one with parameter ``a + 1``, times ``(1 -
    u)**(1 / a)`` with ``u`` from place 0; this is computed as a sum of logarithms, which does not underflow. The result is -inf
    for ``a`` = 0, inf for infinity, NaN for a negative parameter or NaN.
    """
    key, a = _checked(key), np.asarray(a)
    own = split(key, a.shape[key.ndim - 1 :]).reshape(-1, 2)
    shape = a.astype(np.float64).reshape(-1)
    with np.errstate(all="ignore"):
        found = np.log(shape)  # the results for 0, infinity and NaN
    left = np.flatnonzero((shape > 0) & np.isfinite(shape))
    attempt = 0
    with np.errstate(all="ignore"):
        while left.size:
            d = np.where(shape[left] < 1, shape[left] + 1, shape[left]) - 1 / 3
            x, u = _quantile(_at(own[left], 2 * attempt + 1)), _at(own[left], 2 * attempt + 2)
            v = 1 + x / np.sqrt(9 * d)
            log_v = 3 * np.log(v)
            good = np.log1p(-u) < 0.5 * x * x + d * (1 - v * v * v + log_v)
            found[left[good]] = (np.log(d) + log_v)[good]
            left, attempt = left[~good], attempt + 1
        found = np.where((shape > 0) & (shape < 1), found + np.log1p(-_at(own, 0)) / shape, found)
    return found.reshape(a.shape).astype(a.dtype)[()]


def poisson(key, lam):
    """Poisson variates, one for each element of ``lam``, its mean, with its shape: ``[..., *shape]`` for keys ``uint32[...,
    2]``.

    The results are floats, -1 for a negative mean or NaN, the mean itself from 1e300 on. Each element has a key of its own,
    split from the given one. Small means: the quantile of one number in [0, 1). Others: Hormann, The transformed rejection
    method for generating Poisson random variables, Insurance: Mathematics and Economics 12 (1993); probabilities by Loader,
    Fast and accurate computation of binomial probabilities (2000).
    """
    key, lam = _checked(key), np.asarray(lam, np.float64)
    own, mean = split(key, lam.shape[key.ndim - 1 :]).reshape(-1, 2), lam.reshape(-1)
    found = np.where(mean >= 0, mean, -1.0)
    with np.errstate(all="ignore"):
        few = np.flatnonzero((mean > 0) & (mean < 10))
        found[few] = _searched(_at(own[few], 0), np.exp(-mean[few]), mean[few], lambda k, mean: mean / (k + 1), 200.0)
        left, attempt = np.flatnonzero((mean >= 10) & (mean < 1e300)), 0
        while left.size:
            some = mean[left]
            b = 0.931 + 2.53 * np.sqrt(some)
            a = -0.059 + 0.02483 * b
            u, v = _at(own[left], 2 * attempt + 1) - 0.5, _at(own[left], 2 * attempt + 2)
            near = 0.5 - np.abs(u)
            k = np.floor((2.0 * a / near + b) * u + some + 0.43)
            bound = np.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (near * near) + b))
            tested = (k >= 0) & (v > 0) & ~((near < 0.013) & (v > near)) & (bound <= _log_poisson(k, some))
            good = (near > 0) & ((near >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2.0)) | tested)
            found[left[good]] = k[good]
            left, attempt = left[~good], attempt + 1
    return found.reshape(lam.shape)[()]


def binomial(key, n, p):
    """Numbers of successes in ``n`` trials of probability ``p``, arrays of one shape ``[..., *shape]`` for keys ``uint32[...,
    2]``.

    The results are floats of that shape, NaN for a negative ``n`` or ``p`` outside [0, 1]. As `poisson`, with Hormann, The
    generation of binomial random variates, Journal of Statistical Computation and Simulation 46 (1993).
    """
    key = _checked(key)
    n, p = (np.asarray(x, np.float64) for x in (n, p))
    shape = n.shape
    own, n, p = split(key, shape[key.ndim - 1 :]).reshape(-1, 2), np.floor(n.reshape(-1)), p.reshape(-1)
    with np.errstate(all="ignore"):
        q = np.minimum(p, 1.0 - p)
        valid, many = (n >= 0) & (p >= 0) & (p <= 1), n > 1e300
        found = np.where(valid, 0.0, np.nan)
        some = valid & ~many & (q > 0) & (n > 0)
        few = np.flatnonzero(some & (n * q < 10))
        trials, odds = n[few], (q / (1.0 - q))[few]
        least = np.exp(trials * np.log1p(-q[few]))
        found[few] = _searched(
            _at(own[few], 0),
            least,
            (trials, odds),
            lambda k, both: (both[0] - k) / (k + 1) * both[1],
            np.minimum(trials, 200.0),
        )
        left, attempt = np.flatnonzero(some & (n * q >= 10)), 0
        while left.size:
            m, s = n[left], q[left]
            spread = np.sqrt(m * s * (1.0 - s))
            b = 1.15 + 2.53 * spread
            a = -0.0873 + 0.0248 * b + 0.01 * s
            u, v = _at(own[left], 2 * attempt + 1) - 0.5, _at(own[left], 2 * attempt + 2)
            near = 0.5 - np.abs(u)
            k = np.floor((2.0 * a / near + b) * u + m * s + 0.5)
            bound = np.log(v * (2.83 + 5.1 / b) * spread / (a / (near * near) + b))
            inside = (k >= 0) & (k <= m) & (v > 0)
            highest = _log_binomial(np.floor((m + 1.0) * s), m, s)
            tested = inside & (bound <= _log_binomial(np.where(inside, k, 1.0), m, s) - highest)
            good = (near > 0) & ((near >= 0.07) & (v <= 0.92 - 4.2 / b) | tested)
            found[left[good]] = k[good]
            left, attempt = left[~good], attempt + 1
        found = np.where(valid & ~many & (p > 0.5), n - found, found)
        found = np.where(valid & many & (p > 0), np.inf, found)
    return found.reshape(shape)[()]


def _searched(u, share, parameters, ratio, most):
    """For each element of ``u`` the smallest of 0, 1, ... whose cumulative probability exceeds it, found by summation.

    ``share`` is the probability of 0, ``ratio(k, parameters)`` the quotient of the probabilities of ``k + 1`` and ``k``,
    ``most`` limits the result.
    """
    k, share, total = np.zeros(u.shape), share.copy(), share.copy()
    more = (u >= total) & (k < most)
    while more.any():
        share = np.where(more, share * ratio(k, parameters), share)
        k = np.where(more, k + 1, k)
        total = np.where(more, total + share, total)
        more = (u >= total) & (k < most)
    return k


_HALF_LOG = 0.9189385332046728  # log(2 pi) / 2
_LESS_STIRLING = np.array(
    [0.0, *(math.lgamma(k + 1.0) - (k + 0.5) * math.log(k) + k - _HALF_LOG for k in range(1, 16))]
)


def _less_stirling(k):
    """``log(k!)`` minus Stirling's approximation ``(k + 1/2) log(k) - k + log(2 pi) / 2``."""
    series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / (k * k)) / (k * k)) / k
    return np.where(k < 16, _LESS_STIRLING[np.clip(k, 0, 15).astype(np.int64)], series)


def _deviance(k, mean):
    """``k log(k / mean) + mean - k``, accurate also if both are large and close."""
    e = (k - mean) / mean
    return mean * ((1.0 + e) * np.log1p(e) - e)


def _log_poisson(k, lam):
    """The logarithm of the probability of ``k`` in the Poisson distribution with mean ``lam``."""
    return np.where(k == 0, -lam, -_less_stirling(k) - _deviance(k, lam) - 0.5 * np.log(k) - _HALF_LOG)


def _log_binomial(k, n, q):
    """The logarithm of the probability of ``k`` successes in ``n`` trials of probability ``q``."""
    rest = n - k
    found = _less_stirling(n) - _less_stirling(k) - _less_stirling(rest) - _deviance(k, n * q)
    found = found - _deviance(rest, n * (1.0 - q)) + 0.5 * np.log(n / (k * rest)) - _HALF_LOG
    return np.where(k == 0, n * np.log1p(-q), np.where(rest == 0, n * np.log(q), found))


def _at(keys, place):
    """The float64 in [0, 1) of number ``place`` under each of the keys ``uint32[n, 2]``."""
    words = fold_in(keys, place).astype(np.uint64)
    return (((words[:, 0] << np.uint64(32)) | words[:, 1]) >> np.uint64(12)) * 2.0**-52


# --------------------------------------------------------------------------------------------------- to a range


def offset(higher, lower, span):
    """Integers below ``span`` (0: no limit) from twice as many random bits.

    ``higher`` and ``lower``, uint32 or uint64, are the halves of one number, which is taken modulo ``span``; for ``span`` 0 the
    result is ``lower``.

    >>> offset(np.uint32(7), np.uint32(1), np.uint32(10))
    np.uint32(3)
    """
    kind = np.result_type(higher, lower, span).type
    half = kind(1 << (4 * np.dtype(kind).itemsize))
    with np.errstate(over="ignore"):
        some = np.where(span == 0, kind(1), span)
        more = half % some
        more = more * more % some
        found = ((higher % some) * more + lower % some) % some
        return np.where(span == 0, lower, found)[()]


def between(u, low, high):
    """``u * (high - low) + low``, rounded once, not below ``low``: float64 or float32 as ``u`` is.

    This is the result of a processor with a fused multiply-add. A float32 is computed in float64 rounded to odd, which makes
    the second rounding harmless; a float64 after Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, IEEE
    Transactions on Computers 57 (2008).

    >>> between(0.1, -1.0, 9.0)
    np.float64(5.551115123125783e-17)
    """
    kind = np.result_type(u, 0.0).type
    if np.ndim(low) == np.ndim(high) == 0 and low == 0 and high == 1:
        return np.asarray(u, kind)[()]
    low, high = kind(low), kind(high)
    span = high - low
    if np.all(np.abs(np.frexp(span)[0]) == 0.5):  # the product with a power of two is exact
        return np.maximum(low, u * span + low)
    x, y, z = (np.asarray(v, np.float64) for v in (u, span, low))
    with np.errstate(all="ignore"):
        if kind == np.float32:
            found = _odd(*_two_sum(x * y, z))
        else:
            product, rest = _two_product(x, y)
            more, rest = _two_sum(z, rest)
            total, lost = _two_sum(product, more)
            found = total + _odd(*_two_sum(rest, lost))
        found = np.where(np.isfinite(span), found, x * y + z)
    return np.maximum(low, kind(found))[()]


def _two_sum(a, b):
    """``a + b``, rounded, and the exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a, b):
    """``a * b``, rounded, and the exact rounding error."""
    product = a * b
    (a1, a2), (b1, b2) = _halves(a), _halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _halves(a):
    """Two float64 with half as many digits each, whose sum is ``a``."""
    far = 134217729.0 * a
    high = far - (far - a)
    return high, a - high


def _odd(total, lost):
    """``total``, a rounded sum whose rounding error is ``lost``, rounded to odd: its last bit is set if the sum was not
    exact."""
    image = total.view(np.int64)
    toward = np.where((lost > 0) == (total > 0), 1, -1)
    return np.where((lost != 0) & (image & 1 == 0), (image + toward).view(np.float64), total)
