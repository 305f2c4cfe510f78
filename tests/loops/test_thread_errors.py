"""Loops that may raise, on threads: the error is that of the first trip that fails, and nobody sees what the others did."""

import numpy as np
import pytest
from thread_calls import compiled, flat, same

import transpile as tp
from transpile import api
from transpile.driver import backend, compiling

pytestmark = pytest.mark.numba

RNG = np.random.default_rng(11)


def gathered(a, w, ix):
    """Rows by number, which may be of no row; adjoints that all trips add to."""
    total = 0.0
    for i in range(len(ix)):
        for j in range(a.shape[1]):
            total += a[ix[i], j] ** 2 * w[j]
    return total


def turned(points, turns, which):
    """Small products, into rows of a result; their sizes are asked for in each trip."""
    out = np.zeros((len(which), 2))
    for i in range(len(which)):
        rows = turns[which[i]]
        out[i] = rows @ points[i]
    return np.sum(out * out)


def roots(x, ks):
    """Errors of two kinds."""
    total = 0.0
    for i in range(len(ks)):
        if ks[i] < 0:
            raise ValueError("negative")
        for j in range(3):
            total += x[ks[i]] * x[j]
    return total


def written(x, ix):
    """Writes where the caller sees it."""
    for i in range(len(ix)):
        for j in range(x.shape[1]):
            x[i, j] = 2.0 * x[ix[i], j]


def scattered(x, ix, out):
    for i in range(len(ix)):
        for j in range(x.shape[1]):
            out[i, j] = 2.0 * x[ix[i], j]


@pytest.fixture(params=[2, 3, 8])
def threads(request, monkeypatch):
    monkeypatch.setattr(compiling, "threads_of", lambda level: request.param if level.parallel else 0)
    return request.param


def numbers(size, most=20):
    return RNG.integers(most, size=size)


@pytest.mark.parametrize("size", [0, 1, 2, 5, 57])
@pytest.mark.sampled(4)
def test_as_interpreted(size, always, forks, threads):
    a, w, ix = RNG.normal(size=(20, 3)), RNG.normal(size=3), numbers(size)
    call = compiled(gathered, (0, 1))
    assert "# on threads" in tp.source(call, a, w, ix, stage="loops")
    found = call(a, w, ix)
    same(found, tp.value_and_grad(gathered, argnums=(0, 1))(a, w, ix))
    for x, y in zip(flat(found), flat(call(a, w, ix)), strict=True):
        assert np.array_equal(x, y)
    assert max(forks, default=1) <= threads


@pytest.mark.parametrize("bad", [(0,), (56,), (30, 40), (10, 50), (27, 28, 29), tuple(range(57))])
@pytest.mark.sampled(4)
def test_the_first_error_is_raised(bad, always, forks, threads):
    """The chunks run from the last one to the first."""
    a, w, ix = RNG.normal(size=(20, 3)), RNG.normal(size=3), numbers(57)
    call = compiled(gathered, (0, 1))
    call(a, w, ix)
    for k in bad:
        ix[k] = 100 + k
    for _ in range(3):
        with pytest.raises(IndexError, match=f"index {100 + bad[0]} is out of range for size 20"):
            call(a, w, ix)
    ix %= 20
    same(call(a, w, ix), tp.value_and_grad(gathered, argnums=(0, 1))(a, w, ix))


@pytest.mark.parametrize(
    ("bad", "error"), [({40: -1, 50: 99}, ValueError), ({40: 99, 50: -1}, IndexError), ({0: -1, 56: 99}, ValueError)]
)
def test_errors_of_two_kinds(bad, error, always, forks):
    x, ks = RNG.normal(size=20), numbers(57)
    call = compiled(roots, (0,))
    same(call(x, ks), tp.value_and_grad(roots, argnums=(0,))(x, ks))
    for k, value in bad.items():
        ks[k] = value
    with pytest.raises(error):
        call(x, ks)


def test_on_threads(always):
    """The same with the threads of the layer, many times: who comes first does not count."""
    a, w, ix = RNG.normal(size=(20, 3)), RNG.normal(size=3), numbers(57)
    ix[3], ix[50] = 103, 150
    call = compiled(gathered, (0, 1))
    for _ in range(200):
        with pytest.raises(IndexError, match="index 103 "):
            call(a, w, ix)


def test_through_the_front_end(always, monkeypatch):
    """Numba's own threads cannot raise: there such chunks run one after the other."""
    monkeypatch.setattr(backend, "IS_DIRECT", False)
    a, w, ix = RNG.normal(size=(20, 3)), RNG.normal(size=3), numbers(57)
    call = compiled(gathered, (0, 1))
    same(call(a, w, ix), tp.value_and_grad(gathered, argnums=(0, 1))(a, w, ix))
    ix[3], ix[50] = 103, 150
    with pytest.raises(IndexError, match="index 103 "):
        call(a, w, ix)


def test_products_in_chunks(always, forks):
    points, turns, which = RNG.normal(size=(31, 5)), RNG.normal(size=(4, 2, 5)), numbers(31, 4)
    call = compiled(turned, (0, 1))
    assert "# on threads" in tp.source(call, points, turns, which, stage="loops")
    same(call(points, turns, which), tp.value_and_grad(turned, argnums=(0, 1))(points, turns, which))
    assert 2 in forks
    which[20], which[30] = 4, 5
    with pytest.raises(IndexError, match="index 4 is out of range for size 4"):
        call(points, turns, which)


@pytest.mark.parametrize("f", [written, scattered], ids=lambda f: f.__name__)
def test_arguments_are_written_as_by_the_serial_loop(f, always, forks):
    """Up to the trip that fails and no further: such loops are not cut."""
    x, ix = RNG.normal(size=(40, 3)), numbers(40)
    ix[7], ix[31] = 40, 41
    rest = (np.zeros((40, 3)),) if f is scattered else ()
    api._kept.cache_clear()
    call = tp.jit(f, cache=False, parallel=True)
    mine, other = [a.copy() for a in (x, *rest)], [a.copy() for a in (x, *rest)]
    with pytest.raises(IndexError, match="index 40 "):
        call(mine[0], ix, *mine[1:])
    with pytest.raises(IndexError):
        f(other[0], ix, *other[1:])
    for a, b in zip(mine, other, strict=True):
        assert np.array_equal(a, b)
