"""Many random numbers at once, by loops that LLVM vectorises: into the memory of a kernel, and for `transpile_runtime.random`.

A normal number takes integers, then a logarithm, then a polynomial, and a single loop over all of them mostly waits for the
previous step. So a block of numbers takes one step after the other, each a loop. The few numbers in the tails follow after
their block.
"""

import math

import numpy as np

from transpile_runtime.compiled import vector_erfinv
from transpile_runtime.compiled.apart import apart
from transpile_runtime.compiled.options import FAST, fast, njit
from transpile_runtime.compiled.vector import (
    maximum,
    random_bits32,
    random_bits64,
    random_normal32,
    random_normal64,
    random_unit32,
    random_unit64,
)
from transpile_runtime.compiled.vector_build import compiled
from transpile_runtime.compiled.vector_erfinv import FAR_FROM
from transpile_runtime.compiled.vector_random import random_first, random_second, unit_of_words

BLOCK = 256
_LOW = 2.0**-53 - 1.0
_depth, _near, _anywhere = (compiled(f) for f in (vector_erfinv.depth, vector_erfinv.near, vector_erfinv.normal_of))


@fast
def _fill(out, first, second):
    """Fills a flat array of float64 with the standard normal numbers of places 0, 1, ... of the key with these two words."""
    x, y = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32)
    u, w, far = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK, np.int64)
    for start in range(0, out.shape[0], BLOCK):
        part = out[start : start + BLOCK]
        n = part.shape[0]
        for i in range(n):
            x[i] = random_first(first, second, start + i)
            y[i] = random_second(first, second, start + i)
        deepest = 0.0
        for i in range(n):
            u[i] = unit_of_words(x[i], y[i]) * 2.0 + _LOW
            w[i] = _depth(u[i])
            deepest = maximum(deepest, w[i])
        for i in range(n):
            part[i] = _near(u[i], w[i])
        if deepest >= FAR_FROM:
            count = 0
            for i in range(n):
                far[count] = i
                count += w[i] >= FAR_FROM
            for k in range(count):
                part[far[k]] = _anywhere(u[far[k]])


@apart("void(float64[::1], uint32, uint32)", FAST)
def normals(out, first, second):
    _fill(out, first, second)


@apart("void(float32[::1], uint32, uint32)", FAST)
def normals32(out, first, second):
    for i in range(out.shape[0]):
        out[i] = random_normal32(first, second, i)


# ----------------------------------------------------------------------------------------------- called from Python


def _filling(draw):
    """An njit function ``fill(out, keys)`` that sets ``out[k, place] = draw(*keys[k], place)``.

    Rows shorter than a block are filled for a block of keys together.
    """

    @njit
    def short(out, keys):
        first, second, column = np.empty(BLOCK, np.uint32), np.empty(BLOCK, np.uint32), np.empty(BLOCK, out.dtype)
        for start in range(0, out.shape[0], BLOCK):
            n = min(BLOCK, out.shape[0] - start)
            for i in range(n):
                first[i] = keys[start + i, 0]
                second[i] = keys[start + i, 1]
            for place in range(out.shape[1]):
                for i in range(n):
                    column[i] = draw(first[i], second[i], place)
                for i in range(n):
                    out[start + i, place] = column[i]

    @njit
    def fill(out, keys):
        if out.shape[1] < BLOCK:
            short(out, keys)
            return
        for lane in range(out.shape[0]):
            for place in range(out.shape[1]):
                out[lane, place] = draw(keys[lane, 0], keys[lane, 1], place)

    return fill


_short_normals = _filling(random_normal64)


@njit
def _normals(out, keys):
    if out.shape[1] < BLOCK:
        _short_normals(out, keys)
    else:
        for lane in range(out.shape[0]):
            _fill(out[lane], keys[lane, 0], keys[lane, 1])


_FILLING = {
    "bits": {"uint32": _filling(random_bits32), "uint64": _filling(random_bits64)},
    "unit": {"float64": _filling(random_unit64), "float32": _filling(random_unit32)},
    "normal": {"float64": _normals, "float32": _filling(random_normal32)},
}


def filled(name, key, shape, dtype):
    """The array ``[..., *shape]`` that the function ``name`` ("bits", "unit" or "normal") of `transpile_runtime.random` returns
    for keys ``[..., 2]``."""
    keys = np.ascontiguousarray(key).reshape(-1, 2)
    out = np.empty((len(keys), math.prod(shape)), dtype)
    _FILLING[name][out.dtype.name](out, keys)
    return out.reshape(*key.shape[:-1], *shape)
