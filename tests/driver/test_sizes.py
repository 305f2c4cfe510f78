"""Sizes that decide a rank or a broadcast: a call for which the example's decision does not hold is transformed anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import transpile as tp

VARIANTS = {"interpreted": lambda f: f, "compiled": tp.jit}


def shifted(x, y):
    return np.sum(np.sin(x[2:]) * y)


def rows(x):
    return np.sum(np.squeeze(np.reshape(x, (-1, 3))) ** 3)


def alike(x, y):
    return x[0] * np.array_equal(x[1:], y)


def paths(x):
    for k in range(len(x)):
        x = np.minimum(x, x[:, k : k + 1] + x[k : k + 1, :])
    return np.sum(x)


SHAPES = {
    paths: [((3, 3),), ((3, 4),), ((2, 2),)],
    shifted: [(5, 3), (3, 4), (6, 4), (3, 1), (5, 3), (4, 1), (3, 4)],
    rows: [(6,), (3,), (9,), (3,), (6,)],
    alike: [(4, 3), (4, 4), (2, 1), (4, 3), (4, 4)],
}
CALLS = [pytest.param(f, id=f.__name__) for f in SHAPES]


def example(shape: Any, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("how", VARIANTS)
@pytest.mark.parametrize("f", CALLS)
@pytest.mark.sampled(3)
def test_calls_of_other_sizes(f: Any, how: str) -> None:
    """Twice each, and back again: the second call of a kind goes the short way."""
    gradient = VARIANTS[how](tp.value_and_grad(f))
    for sizes in SHAPES[f]:
        for seed in range(2):
            args = [example(n, seed + k) for k, n in enumerate(sizes)]
            value, adjoint = gradient(*args)
            np.testing.assert_allclose(value, f(*args), rtol=1e-12)
            fresh = tp.grad(f)(*args)
            assert adjoint.shape == args[0].shape
            np.testing.assert_allclose(adjoint, fresh, rtol=1e-12)


@pytest.mark.parametrize("how", VARIANTS)
def test_sizes_that_cannot_be(how: str) -> None:
    """What NumPy refuses stays refused, and what fits afterwards runs."""
    gradient = VARIANTS[how](tp.grad(shifted))
    for _ in range(2):
        gradient(example(5, 0), example(3, 1))
        with pytest.raises(ValueError, match="do not agree|has shape"):
            gradient(example(5, 0), example(4, 1))


def captured_shift(x):
    return np.sum(x[1:] * WEIGHTS)


WEIGHTS = np.arange(1.0, 4.0)


def test_sizes_from_outside() -> None:
    global WEIGHTS
    gradient = tp.grad(captured_shift)
    for n, m in ((4, 3), (4, 3), (2, 3), (2, 2), (3, 2), (4, 3)):
        WEIGHTS = np.arange(1.0, m + 1.0)
        wanted = np.zeros(n)
        wanted[1:] = WEIGHTS if n - 1 == m else np.sum(WEIGHTS)
        np.testing.assert_allclose(gradient(example(n, 0)), wanted)


def test_effects_are_not_repeated(capsys: Any) -> None:
    """A ValueError of the function's own is raised once, whatever the sizes."""

    def tell(x, y):
        print("once")
        if x[0] > 0:
            raise ValueError("own")
        return np.sum(x[2:] * y)

    gradient = tp.grad(tell)
    gradient(-np.ones(5), np.ones(3))
    for n, m in ((6, 4), (3, 4)):
        with pytest.raises(ValueError, match="own"):
            gradient(np.ones(n), np.ones(m))
    assert capsys.readouterr().out == "once\n" * 3


def test_the_text_says_what_it_is_for() -> None:
    """What is printed checks what the example decided: it refuses other sizes rather than give another rank."""
    text = tp.source(rows, np.ones(6))
    assert "n // 3 == 1" in text
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["rows"](np.ones(9)) == rows(np.ones(9))
    with pytest.raises(ValueError, match="this text is for sizes other than 1"):
        names["rows"](np.ones(3))
    assert "n // 3" not in tp.source(lambda x: np.sum(x[1:] * x[:-1]), np.ones(6))


def test_a_rank_that_data_decide_is_refused() -> None:
    def of_data(x):
        return np.sum(np.squeeze(x[x > 0.5]))

    with pytest.raises(tp.TranspileError, match="T210.*only known at run time") as refused:
        tp.grad(of_data)(np.ones(3))
    assert "axis" in refused.value.diagnostics[0].hint


def test_what_does_not_fit() -> None:
    """Refused before anything runs, but in a branch that is for other sizes: there it is an error where it runs."""

    def other(x, y, c):
        return np.sum(x * y) if len(x) > c else np.sum(x) * np.sum(y)

    def never(x, y, c):
        return np.sum(x * y) if c > 5 else np.sum(x) * np.sum(y)

    x, y = np.arange(3.0), np.arange(4.0)
    with pytest.raises(tp.TranspileError, match="T202"):
        tp.grad(never)(x, y, 1.0)
    gradient = tp.grad(other)
    np.testing.assert_array_equal(gradient(x, y, 5), np.full(3, 6.0))
    with pytest.raises(ValueError, match="do not agree|has shape"):
        gradient(x, y, 1)
    np.testing.assert_array_equal(gradient(x, x, 1), x)


def test_what_is_read_of_either_size() -> None:
    """Nobody asks for the sizes of a path that is not taken."""

    def joined(x, y, c):
        s = 0.0
        if c > 0:
            z = x if c > 1 else y
            s = np.sum(z * z)
        return s

    x, y = np.arange(3.0), np.arange(4.0)
    for call in (tp.grad(joined, argnums=(0, 1)), tp.jit(tp.grad(joined, argnums=(0, 1)))):
        for c, wanted in ((1.0, (0.0 * x, 2.0 * y)), (2.0, (2.0 * x, 0.0 * y)), (0.0, (0.0 * x, 0.0 * y))):
            for own, expected in zip(call(x, y, c), wanted):
                np.testing.assert_array_equal(own, expected)


def vectors(x):
    return np.linalg.svd(x)


def factors(x):
    return scipy.linalg.qr(x)


@pytest.mark.parametrize(("f", "code"), [(vectors, "T303"), (factors, "T201")])
def test_what_is_refused_for_other_sizes_only(f: Any, code: str) -> None:
    """The diagnostic is that of the sizes that are given, not a word about those that came first."""
    square, wide = np.arange(4.0).reshape(2, 2), np.arange(6.0).reshape(2, 3)
    push = tp.jit(lambda x, t: tp.jvp(f, (x,), (t,)))
    for call in (push, lambda x, t: tp.jvp(f, (x,), (t,))):
        for _ in range(2):
            call(square, square)
            with pytest.raises(tp.TranspileError, match=code):
                call(wide, wide)


def unpacked(x):
    a, b = x
    return a * b


SIZES = [
    (lambda x: 1.0 if x else 2.0, 1, 3),
    (lambda x: x.item() * 2, 1, 3),
    (lambda x: np.array([x, np.ones(2)]), 2, 3),
    (lambda x: np.stack([x, np.ones(2)]), 2, 3),
    (lambda x: x[np.array([True, False])], 2, 3),
    (lambda x: x[np.array([True, False]), np.newaxis], 2, 3),
    (lambda x: x[2], 3, 2),
    (lambda x: np.squeeze(x, 0), 1, 3),
    (lambda x: x + np.ones(2), 2, 3),
    (lambda x: x.reshape(2, -1), 4, 5),
    (lambda x: x @ np.ones(2), 2, 3),
    (lambda x: np.linalg.inv(x.reshape(2, -1)), 4, 6),
    (unpacked, 2, 3),
    (unpacked, 2, 1),
]


@pytest.mark.parametrize("case", range(len(SIZES)))
def test_sizes_that_do_not_fit_come_later(case: int) -> None:
    """An error of Python's own kind, as in Python; a size of one is a kind of its own, and a first call has a diagnostic."""
    f, first, later = SIZES[case]
    call = tp.jit(lambda x: f(x))
    call(np.arange(1.0, first + 1))
    given = np.arange(1.0, later + 1)
    with pytest.raises((ValueError, IndexError, TypeError)):
        f(given)
    with pytest.raises((ValueError, IndexError) if 1 not in (first, later) else tp.TranspileError):
        call(given)
