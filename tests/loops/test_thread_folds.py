"""What loops fold besides sums, on threads: greatest and smallest values, products, tests; and where the parts of arrays lie."""

import numpy as np
import pytest
from thread_calls import flat, same

import transpile as tp
from transpile import api
from transpile.driver import compiling

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(12)


def largest(a):
    return np.max(a) * np.min(a)


def spread(a):
    """Kept by Python's ``max``: NaN does not replace a number."""
    top, low = -np.inf, np.inf
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            top = max(top, a[i, j])
            low = min(low, a[i, j])
    return top - low


def replaced(a):
    """NaN replaces what was found, and is replaced by the next number: a chunk cannot say that."""
    top = -np.inf
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            top = max(a[i, j], top)
    return top


def product(a):
    """Of some of the elements."""
    total = 1.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                total *= a[i, j]
    return total


def mixed(a):
    """A sum and its own last value: not a fold."""
    total, last = 0.0, 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            last = total
            total += a[i, j]
    return total * last


def weights(a, k):
    """Rows of a stack, each a product's."""
    out = np.zeros((a.shape[0], a.shape[1], a.shape[1]))
    for i in range(a.shape[0]):
        out[i] = a[i] @ a[i].T
    return out[k]


@pytest.fixture(params=[2, 5])
def threads(request, monkeypatch):
    monkeypatch.setattr(compiling, "threads_of", lambda level: request.param if level.parallel else 0)
    return request.param


def call_of(f):
    api._kept.cache_clear()
    return tp.jit(f, cache=False, parallel=True)


@pytest.mark.parametrize("f", [largest, spread, product, mixed], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(29, 3), (1, 3), (2, 1)])
@pytest.mark.sampled(4)
def test_as_interpreted(f, shape, always, forks, threads):
    a = RNG.uniform(size=shape)
    call = call_of(tp.value_and_grad(f))
    found = call(a)
    same(found, tp.value_and_grad(f)(a))
    for x, y in zip(flat(found), flat(call(a)), strict=True):
        assert np.array_equal(x, y)


@pytest.mark.parametrize("f", [spread, product], ids=lambda f: f.__name__)
def test_without_trips(f, always, forks):
    a = np.zeros((0, 3))
    assert call_of(f)(a) == f(a)


@pytest.mark.parametrize(
    ("f", "is_cut"), [(largest, True), (spread, True), (replaced, False)], ids=lambda v: getattr(v, "__name__", str(v))
)
@pytest.mark.sampled(3)
def test_nan(f, is_cut, always, forks, threads):
    for places in ((), ((0, 0),), ((28, 2),), ((13, 1), (14, 0)), tuple((i, j) for i in range(29) for j in range(3))):
        a = RNG.normal(size=(29, 3))
        for at in places:
            a[at] = np.nan
        np.testing.assert_equal(call_of(f)(a), f(a))
    assert bool(forks) == is_cut


def test_products_into_rows(always, forks):
    a = RNG.normal(size=(9, 3, 4))
    call = call_of(weights)
    np.testing.assert_allclose(call(a, 4), weights(a, 4), rtol=1e-13)
    assert forks.count(2) >= 2
    assert "# on threads" in tp.source(call, a, 4, stage="loops")


def test_small_calls_of_blas_stay_on_one_thread(always, forks):
    """They would wait for each other; large ones are worth it."""
    found = {}
    for size in (20, 30):
        a = RNG.normal(size=(9, size, size))
        forks.clear()
        np.testing.assert_allclose(call_of(weights)(a, 4), weights(a, 4), rtol=1e-12, atol=1e-12)
        found[size] = forks.count(2)
    assert found[30] == found[20] + 1
