"""Keys, and random bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile_runtime import random as runtime


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """The key for an integer seed: ``uint32[2]``, the high and the low 32 bits of the seed.

    ``seed`` fits in an int64; if its dtype has 32 bits or fewer, the high bits are 0. TypeError for any other seed. ``impl``
    and ``dtype`` are JAX's options: ``impl`` can only be "threefry2x32" and ``dtype`` None, because keys are plain arrays
    (ValueError).

    >>> key(42), key(-1)
    (array([ 0, 42], dtype=uint32), array([4294967295, 4294967295], dtype=uint32))
    """
    runtime.demand(impl is None or impl == "threefry2x32", f"the generator must be 'threefry2x32', not {impl!r}")
    runtime.demand(dtype is None, "key() does not take a dtype: keys are plain arrays")
    number = np.asarray(seed)
    runtime.demand_type(number.ndim == 0 and number.dtype.kind in "iub", "a seed must be an integer")
    wide = number.astype(np.int64)
    high = (wide >> 32) & 0xFFFFFFFF if number.dtype.itemsize == 8 else wide - wide
    return np.stack([high, wide & 0xFFFFFFFF]).astype(np.uint32)


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """The key for an integer seed; the same as `key`.

    >>> PRNGKey(0)
    array([0, 0], dtype=uint32)
    """
    return key(seed, impl=impl)


def split(key: Any, num: Any = 2) -> Any:
    """New keys derived from a key: ``uint32[num, 2]``, or ``uint32[*num, 2]`` for a tuple ``num``.

    Draws with different keys are independent. TypeError if ``key`` is not one key.

    >>> split(np.array([0, 42], np.uint32))
    array([[1832780943,  270669613],
           [  64467757, 2916123636]], dtype=uint32)
    """
    return runtime.split(runtime.single(key), num)


def fold_in(key: Any, data: Any) -> Any:
    """A new key ``uint32[2]`` derived from a key and the low 32 bits of an integer: in a loop, ``fold_in(key, i)``. TypeError
    for an array ``data``.

    >>> fold_in(np.array([0, 42], np.uint32), 5)
    array([2765691542,  824333390], dtype=uint32)
    """
    runtime.demand_type(np.ndim(data) == 0, "fold_in takes one integer, not an array")
    return runtime.fold_in(runtime.single(key), data)


def bits(key: Any, shape: Any = (), dtype: Any = None) -> Any:
    """An array of uniform random integers that use all bits of their dtype: uint64 by default, or uint8, uint16 or uint32.

    >>> bits(np.array([0, 42], np.uint32), (2,), np.uint32)
    array([2098992034, 2919706841], dtype=uint32)
    """
    dtype = np.dtype(np.uint64 if dtype is None else dtype)
    runtime.demand_type(dtype.kind == "u", f"the dtype of bits must be an unsigned integer dtype, not {dtype}")
    if dtype.itemsize == 8:
        return runtime.bits(runtime.single(key), shape, np.uint64)
    return runtime.bits(runtime.single(key), shape, np.uint32).astype(dtype)
