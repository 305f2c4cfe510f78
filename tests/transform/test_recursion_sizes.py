"""Functions that call themselves: axes that are as long as each other in every call are so in the body, others may be anything."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal
from corpus.recursion import det

import transpile as tp

numba = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def diagonal(a):
    """A row beside a column of a matrix that stays square."""
    n = len(a)
    if n == 1:
        return np.sum(a)
    y = np.ones(n)
    y *= a[0]
    return np.sum(np.sin(y * a[:, 0])) + diagonal(a[1:, 1:])


def narrow(a):
    """The same, but it is square in the first call only: then a row is one number, which is stretched."""
    n = len(a)
    if n == 1:
        return np.sum(a)
    y = np.ones(n)
    y *= a[0]
    return np.sum(np.sin(y * a[:, 0])) + narrow(a[1:, :1])


def dots(x, y):
    if len(x) <= 2:
        return np.sum(x * y)
    m = len(x) // 2
    return dots(x[:m], y[:m]) * dots(x[m:], y[m:])


def twice(x, y, z):
    """Calls with vectors that are as long, and with one that is stretched."""
    return dots(x, y) + np.sin(dots(x[:2], z))


def crossed(x, y, z):
    return twice(y, x, z) + dots(z, y[:2])


def sums(x, y):
    if len(x) <= 1:
        return np.sum(x * y)
    return np.sum(np.cos(x * y)) + sums(x[1:], y[1:])


def other_sizes(x, y, z):
    """A call with vectors that are as long, then one with vectors that are not."""
    return sums(x, y) * sums(z[:1], y)


def two_squares(a):
    """The second one's size is a number."""
    return det(a) * det(a[:2, :2])


def on_one_path(a):
    """What meets on a path that is not taken."""
    if len(a) > 100:
        return narrow(a)
    return np.sum(a)


SQUARE, WIDE = (normal(4, 4),), (normal(4, 3),)
PAIR = normal(8), normal(8)
PROGRAMS = (
    (det, SQUARE),
    (diagonal, SQUARE),
    (diagonal, (normal(2, 1),)),
    (narrow, SQUARE),
    (narrow, (normal(4, 1),)),
    (dots, PAIR),
    (dots, (normal(8), normal(7))),
    (dots, (normal(2), normal(1))),
    (dots, (normal(1), normal(2))),
    (twice, (*PAIR, normal(1))),
    (twice, (*PAIR, normal(2))),
    (crossed, (*PAIR, normal(1))),
    (crossed, (*PAIR, normal(2))),
    (other_sizes, (*PAIR, normal(3))),
    (two_squares, SQUARE),
    (on_one_path, SQUARE),
    (on_one_path, WIDE),
)


@pytest.mark.parametrize(("fn", "args"), PROGRAMS, ids=names)
@pytest.mark.sampled(3)
def test_interpreted(fn, args):
    wrt = tuple(range(len(args)))
    value, found = tp.value_and_grad(fn, argnums=wrt)(*args)
    np.testing.assert_allclose(value, fn(*args), rtol=1e-12)
    for k, bar in enumerate(found):
        away = normal(*np.shape(args[k]))
        moved = [(*args[:k], args[k] + h * away, *args[k + 1 :]) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose(np.sum(bar * away), (fn(*moved[0]) - fn(*moved[1])) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("fn", (det, diagonal, dots, two_squares), ids=names)
def test_what_is_as_long_in_every_call_is_not_asked_in_any(fn):
    args = PAIR if fn is dots else SQUARE
    for text in (tp.source(tp.grad(fn), *args), tp.source(fn, *args)):
        inner = text[: text.rindex("\ndef ")]
        assert "do not agree" not in inner and "== 1 else" not in inner and "np.where" not in inner, text


def test_what_is_of_no_use_is_not_checked():
    text = tp.source(narrow, *SQUARE)
    assert text.count("def ") == 1 and "expected" not in text, text


@pytest.mark.parametrize(("fn", "wrong"), ((det, WIDE), (diagonal, WIDE), (dots, (normal(8), normal(5)))), ids=names)
def test_sizes_that_do_not_fit_are_refused(fn, wrong):
    for one in (tp.grad(fn), tp.grad(lambda *args: fn(*args))):
        one(*(PAIR if fn is dots else SQUARE))
        with pytest.raises((ValueError, tp.TranspileError)):
            one(*wrong)


class TestCompiled:
    pytestmark = numba

    @pytest.mark.parametrize(("fn", "args"), (PROGRAMS[1], PROGRAMS[3], PROGRAMS[9]), ids=names)
    def test_results(self, fn, args):
        check(fn, args)

    @pytest.mark.parametrize("order", (1, pytest.param(-1, marks=pytest.mark.slow)))
    def test_one_function_for_all_sizes(self, order):
        """What was compiled for a square is not what runs for a column."""
        gradient = tp.jit(tp.value_and_grad(narrow))
        for (a,) in (SQUARE, (normal(4, 1),), (normal(5, 5),), (normal(3, 1),), (normal(1, 3),))[::order]:
            value, bar = gradient(a)
            wanted, wanted_bar = tp.value_and_grad(narrow)(a)
            np.testing.assert_allclose(value, narrow(a))
            np.testing.assert_allclose((value, *bar.ravel()), (wanted, *wanted_bar.ravel()))
        with pytest.raises(ValueError, match="do not agree|has shape"):
            gradient(*WIDE)
