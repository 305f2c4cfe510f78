"""What pullbacks keep of arrays outside the function: as it was when each was made, once for all that saw the same."""

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import transpile as tp
from transpile.base.held_copies import copy_of

DTYPES = ["float64", "float32", "int8", "bool", "complex128", ">f8", "float16"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_copy_until_the_array_is_written(dtype):
    array = np.ones(1 << 17, dtype)
    first = copy_of(array)
    assert copy_of(array) is first and not np.shares_memory(first, array)
    array[-1] = 0
    second = copy_of(array)
    assert second is not first and first[-1] == 1 and second[-1] == 0
    assert copy_of(array) is second


def test_bits_are_compared():
    array = np.zeros(1 << 14)
    first = copy_of(array)
    array[5] = -0.0
    assert np.signbit(copy_of(array)[5]) and not np.signbit(first[5])
    array[5] = np.nan
    assert copy_of(array) is copy_of(array)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: setattr(a, "shape", (2, -1)),
        lambda a: setattr(a, "dtype", np.int64),
        lambda a: a.__setitem__(slice(None), 0.0),
    ],
)
@pytest.mark.filterwarnings("ignore:Setting the")
def test_an_array_that_becomes_another(change):
    array = np.ones(1 << 14)
    first = copy_of(array)
    change(array)
    found = copy_of(array)
    assert found is not first and (found.shape, found.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(found, array)


def test_nothing_is_kept_that_nobody_holds():
    array = np.ones(1 << 14)
    kept = weakref.ref(copy_of(array))
    gc.collect()
    assert kept() is None


def test_arrays_at_one_address():
    for k in range(20):
        array = np.full(1 << 14, float(k))
        copy = copy_of(array)
        assert copy[0] == k
        del array
        other = np.full(1 << 14, -1.0)
        assert copy_of(other)[0] == -1.0


@pytest.mark.parametrize("order", [slice(None), slice(None, None, 2)])
def test_pullbacks_of_an_array_that_changes(order):
    data = np.ones(1 << 18)[order]

    def loss(x):
        return np.sum(data[:10] * x) + data[5] * x * x

    makers = [lambda x: tp.vjp(loss, x)[1], lambda x: tp.linearize(loss, x)[1]]
    kept = []
    for k in range(1, 4):
        data[:10] = float(k)
        kept += [(k, make(2.0)) for make in makers for _ in range(2)]
    for k, derivative in kept:
        found = derivative(1.0)
        assert (found[0] if isinstance(found, tuple) else found) == 14.0 * k  # d/dx k (10 x + x^2) at 2


def test_memory_of_many_pullbacks():
    data = np.zeros(1 << 20)

    def loss(x):
        return np.sum(data[:10] * x) + data[5]

    tp.vjp(loss, 1.0)
    tracemalloc.start()
    kept = [tp.vjp(loss, 1.0) for _ in range(5)]
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(kept) == 5 and size < 1.5 * data.nbytes
