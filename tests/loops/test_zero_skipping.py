"""Choices between a value and 0.0: what becomes a branch around loops, what must not, and that results stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from compiled_check import check, normal
from loop_text import Loops

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
names = lambda x: getattr(x, "__name__", "")  # noqa: E731


def loops(fn, args, wrt=(0,)) -> str:
    """The loops of the value and the gradient."""
    return tp.source(tp.jit(tp.value_and_grad(fn, argnums=wrt)), *args, stage="loops")


def branches(text: str) -> int:
    """How many branches of a loop have a loop inside."""
    lines = [line for line in text.splitlines() if line.strip()]
    depth = [len(line) - len(line.lstrip()) for line in lines]
    count = 0
    for k, line in enumerate(lines):
        if line.lstrip().startswith("if ") and depth[k] > 4:
            inside = [n for n in range(k + 1, len(lines)) if all(depth[m] > depth[k] for m in range(k + 1, n + 1))]
            count += any(lines[n].lstrip().startswith("for ") for n in inside)
    return count


def compare(fn, args, wrt=(0, 1), rtol=1e-10) -> None:
    """Compares value and gradients with interpreted ones, where there may be no derivative to compare with differences."""
    gradient = tp.value_and_grad(fn, argnums=wrt)
    (value, found), (wanted_value, wanted) = tp.jit(gradient)(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=rtol)
    for x, y in zip(found, wanted):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


# ------------------------------------------------------------------------------------------------ what becomes a branch


def nearest(c, x):
    offsets = x[:, None, :] - c[None, :, :]
    return np.sum(np.min(np.sum(offsets * offsets, axis=2), axis=1))


def farthest(c, x):
    offsets = x[:, None, :] - c[None, :, :]
    return np.sum(np.max(np.sum(np.abs(offsets), axis=2), axis=1))


def scaled(c, x):
    """What is multiplied needs a function of its own, which is not computed either."""
    total = np.sum(c, axis=1)
    return np.sum(np.max(np.sum(np.exp(0.1 * x[:, None, :] * c[None, :, :]), axis=2) * total, axis=1))


def apart(c, x):
    """The sums of what is not 0.0, each of terms."""
    return np.sum(np.abs(x[:, None, :] - c[None, :, :]), axis=2)


def capped(c, x):
    far = apart(c, x)
    return np.sum(np.where(far > 10.0, 0.0, far * far))


def weighted(c, x):
    """Quotients and differences of zeros."""
    parts = np.sum((np.sin(x)[:, None, :] - c[None, :, :]) ** 2 / (1.0 + np.abs(x[:, None, :])), axis=2)
    return np.sum(np.where(parts < 9.0, np.exp(-parts), 0.0) - np.sum(c))


def both(c, x):
    """Two choices by one test."""
    far, other = apart(c, x), np.sum(x[:, None, :] ** 2 * c[None, :, :], axis=2)
    near = far < 10.0
    return np.sum(np.where(near, far, 0.0) * np.where(near, other, 0.0))


def hinge(c, x):
    """The choice is a branch itself, of two values."""
    total, rest = 0.0, 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            z = 1.0 - np.sum(np.abs(c[j] - x[i])) / x.shape[1]
            if z > 0.0:
                total += z * z
            else:
                rest = 0.5 * rest + c[j, 0]
    return total * 1.5 + rest


def running(c, x):
    """The least so far, which shares with its equals: a choice of a value, a half of it and 0.0."""
    total = 0.0
    for i in range(x.shape[0]):
        least = np.inf
        for j in range(c.shape[0]):
            far = 0.0
            for k in range(x.shape[1]):
                far += (x[i, k] - c[j, k]) ** 2
            least = min(least, far)
        total += least if c.shape[0] else 0.0
    return total


def margins(c, x):
    """A sum between two bounds: three values on each side."""
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(c.shape[0]):
            z = 0.0
            for k in range(x.shape[1]):
                z += x[i, k] * c[j, k]
            total += min(max(z, 0.5), 3.0) ** 2
    return total


BRANCHES = (nearest, farthest, scaled, capped, weighted, both, hinge, running, margins)


@pytest.mark.parametrize("fn", BRANCHES, ids=names)
@pytest.mark.parametrize("shape", ((1, 1, 1), (3, 5, 9), (7, 20, 17), (4, 0, 12), (40, 6, 33)), ids=str)
@pytest.mark.sampled(12)
def test_choices_become_branches(fn, shape):
    k, n, d = shape
    args = normal(k, d), normal(n, d)
    check(fn, args)
    check(fn, args, (0,))
    if d > 8 and k > 1 and n > 1:
        assert branches(loops(fn, args)), loops(fn, args)


@pytest.mark.parametrize("fn", (nearest, farthest), ids=names)
def test_ties_share(fn):
    x = normal(6, 11)
    c = np.concatenate([x[:3], x[1:4], np.zeros((1, 11))])
    compare(fn, (c, x))
    compare(fn, (np.zeros((5, 12)), np.zeros((4, 12))))
    compare(fn, (np.ones((5, 12)), normal(4, 12)))


@pytest.mark.parametrize("fn", BRANCHES, ids=names)
@pytest.mark.sampled(3)
def test_single_precision(fn):
    args = normal(5, 19).astype(np.float32), normal(8, 19).astype(np.float32)
    compare(fn, args, rtol=2e-5)
    assert branches(loops(fn, args))


def test_forward_over_reverse():
    """The gradient and its derivative are in one branch."""

    def both(c, x):
        return tp.jvp(lambda c: tp.value_and_grad(nearest)(c, x), (c,), (np.ones_like(c),))

    args = normal(6, 13), normal(20, 13)
    found, wanted = tp.jit(both)(*args), both(*args)
    for (a, b), (p, q) in zip(found, wanted):
        np.testing.assert_allclose(a, p, rtol=1e-11)
        np.testing.assert_allclose(b, q, rtol=1e-10, atol=1e-10)
    assert branches(tp.source(tp.jit(both), *args, stage="loops")) == 1


def test_the_least_of_what_is_nowhere():
    """The least is NaN, and so is its derivative: the choice is between that and 0.0."""
    c, x = normal(4, 10), normal(9, 10)
    x[3, 2] = np.nan
    for fn in (tp.value_and_grad(nearest), tp.jit(tp.value_and_grad(nearest))):
        value, gradient = fn(c, x)
        assert np.isnan(value) and np.all(np.isnan(gradient))


@pytest.mark.parametrize("fn", [f for f in BRANCHES if f is not both], ids=names)  # that one has a product of matrices
@pytest.mark.parametrize("stage", ("optimised", "parallel"))
@pytest.mark.sampled(3)
def test_memory_and_chunks(fn, stage):
    """Run without Numba, with each access looked at, and with outer loops cut into chunks as before."""
    args = normal(5, 17), normal(11, 17)
    gradient = tp.value_and_grad(fn)
    made = Loops(gradient, args)
    (value, found), (wanted_value, wanted) = made.run(stage, args).value, gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-11)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-10)
    text = made.text(stage)
    assert branches(text)
    if fn is nearest and stage == "parallel":
        assert "prange" in text, text


# ------------------------------------------------------------------------------------------------------- what stays


def not_linear(c, x):
    """What is 0.0 goes into a function that is not 0.0 there."""
    out = np.zeros(c.shape[1])
    for i in range(x.shape[0]):
        s = np.where(x[i, 0] > 0.0, x[i, 1], 0.0)
        out += np.exp(s * c[0])
    return np.sum(out * out)


def shifted(c, x):
    out = np.zeros(c.shape[1])
    for i in range(x.shape[0]):
        s = np.where(x[i, 0] > 0.0, x[i, 1], 0.0)
        out += (s + c[0, 0]) * c[0]
    return np.sum(out * out)


def written(c, x):
    """Zeros are written over what was there."""
    out = np.ones_like(x)
    for i in range(x.shape[0]):
        s = np.where(x[i, 0] > 0.0, x[i, 1], 0.0)
        out[i] = s * x[i]
    return np.sum(out * out) * np.sum(c)


def read_later(c, x):
    out = np.zeros(c.shape[1])
    total = 0.0
    for i in range(x.shape[0]):
        s = np.where(x[i, 0] > 0.0, x[i, 1], 0.0)
        out += s * c[0]
        total += np.cos(s)
    return np.sum(out * out) + total


def divisor(c, x):
    out = np.zeros(c.shape[1])
    for i in range(x.shape[0]):
        s = np.where(x[i, 0] > -9.0, x[i, 1], 0.0)
        out += c[0] / s
    return np.sum(np.tanh(out))


def carried(c, x):
    """The sum that a trip adds to is read by the next one."""
    out = np.zeros(c.shape[1])
    for i in range(x.shape[0]):
        s = np.where(out[0] > 0.0, 0.0, x[i, 1])
        out += s * x[i] + 0.1 * c[0]
    return np.sum(out * out)


def guarded(c, x):
    """The adjoint of a root is 0.0 at 0, and nowhere else."""
    total = 0.0
    for i in range(x.shape[0]):
        total += np.sqrt(np.sum(np.abs(x[i] - c[0])))
    return total


STAY = (not_linear, shifted, written, read_later, divisor, carried, guarded)


def test_a_choice_that_is_read_stays():
    """It is in the branch and before it."""
    args = normal(3, 12), normal(7, 12)
    (line,) = [
        x for x in loops(both, args).splitlines() if "else 0.0" in x and "total" in x and "np." not in x and "+" in x
    ]
    assert "total" in line.split("=")[0]


@pytest.mark.parametrize("fn", STAY, ids=names)
@pytest.mark.sampled(3)
def test_what_stays(fn):
    args = normal(3, 12), normal(7, 12)
    check(fn, args)
    assert not branches(tp.source(tp.jit(fn), *args, stage="loops"))
    if fn is guarded:
        assert not branches(loops(fn, args))


def test_short_loops_stay():
    """Of few trips that are known: a branch costs more."""
    args = normal(30, 4), normal(200, 4)
    assert not branches(loops(nearest, args))
    check(nearest, args)
