"""`vmap` as people call it: axes, trees, stacks with every derivative, what is refused and how it is said."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import transpile as tp

RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((5, 3)), RNG.standard_normal((4, 3))


def wave(x):
    return np.sum(np.sin(x) * x)


def total(x):
    return np.sum(tp.vmap(wave)(x) ** 2)


def total_by_loop(x):
    found = 0.0
    for k in range(len(x)):
        found += wave(x[k]) ** 2
    return found


def halved(x):
    if x < 0.1:
        return x
    return halved(x * 0.5)


class Layer:
    def __init__(self) -> None:
        self.w = W

    def of(self, x):
        return self.w @ x


@dataclasses.dataclass
class Body:
    place: Any
    mass: Any


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_a_product_of_all_lanes_is_one() -> None:
    a, z = RNG.standard_normal((100, 300)), RNG.standard_normal((10, 300))
    g = tp.vmap(lambda vec: np.dot(a, vec))
    same(g(z), z @ a.T)
    assert "z" not in tp.source(g, z) and "for lane" not in tp.source(g, z)


@pytest.mark.parametrize(
    "f, wanted",
    [
        (tp.vmap(tp.grad(wave)), [tp.grad(wave)(x) for x in X]),
        (tp.vmap(tp.hessian(wave)), [tp.hessian(wave)(x) for x in X]),
        (tp.vmap(lambda x: tp.jvp(wave, (x,), (x,))[1]), [tp.jvp(wave, (x,), (x,))[1] for x in X]),
        (tp.vmap(lambda x: tp.vjp(wave, x)[1](1.0)[0]), [tp.grad(wave)(x) for x in X]),
        (tp.grad(total), tp.grad(total_by_loop)(X)),
        (tp.hessian(total), tp.hessian(total_by_loop)(X)),
        (tp.vmap(tp.vmap(lambda a: a * 2.0)), X * 2.0),
        (tp.vmap(Layer().of), X @ W.T),
        (tp.vmap(functools.partial(lambda w, x: w @ x, W)), X @ W.T),
        (tp.vmap(tp.jit(wave)), [wave(x) for x in X]),
        (tp.vmap(lambda x: tp.vmap(lambda a: a * np.sum(x))(x)), X * X.sum(1)[:, None]),
        (tp.vmap(lambda x: np.sum(x[x > 0])), np.where(X > 0, X, 0).sum(1)),
        (tp.vmap(lambda x: np.sort(x)[::-1]), np.sort(X)[:, ::-1]),
        (tp.vmap(in_axes=1)(lambda x: x * 2.0), X.T * 2.0),
        (tp.vmap(lambda x: x * 1.0, in_axes=-1, out_axes=-1), X),
    ],
)
def test_stacks(f: Any, wanted: Any) -> None:
    same(f(X), wanted)


def filled(x):
    y = x * 1.0
    y[y > 0.3] = 0.5
    y[y < -1] = 0
    return y


U, V = RNG.standard_normal((5, 4, 3)), RNG.standard_normal((5, 2, 3, 4))


@pytest.mark.parametrize(
    "f, axes, args",
    [
        (filled, (0,), (U,)),
        (lambda x: np.tile(x, (2, 3)), (0,), (X,)),
        (lambda x: np.diag(x, -2), (0,), (X,)),
        (lambda x, y: np.cross(x, y), (0, 0), (U, X)),
        (lambda x, y: np.cross(x, y), (None, 0), (U[0], X)),
        (lambda x, y: np.tensordot(x, y, axes=([1, 0], [1, 2])), (0, 0), (U, V)),
        (lambda x, y: np.tensordot(x, y, axes=([1, 0], [1, 2])), (0, None), (U, V[0])),
        (lambda x, y: np.tensordot(x, y, axes=([1], [1])), (None, 0), (U[0], V)),
        (lambda x, y: np.tensordot(x, y, axes=0), (0, 0), (X, X)),
    ],
)
def test_one_statement_for_all_lanes(f: Any, axes: Any, args: Any) -> None:
    batched = tp.vmap(f, in_axes=axes)
    same(batched(*args), [f(*(a if k is None else a[j] for a, k in zip(args, axes))) for j in range(5)])
    assert "for lane" not in tp.source(batched, *args)
    tp.check_grads(batched, args, order=1)


def test_pairs_of_all_with_all() -> None:
    apart = tp.vmap(tp.vmap(lambda a, b: np.sum((a - b) ** 2), (None, 0)), (0, None))
    same(apart(X, X), ((X[:, None] - X[None]) ** 2).sum(-1))


def test_trees() -> None:
    params = {"w": X, "b": 1.5}
    f = tp.vmap(lambda p, x: p["w"] @ x + p["b"], in_axes=({"b": None, "w": 0}, 0))
    same(f(params, X), (X * X).sum(1) + 1.5)
    first, rest = tp.vmap(lambda x: (x, {"s": np.sum(x)}), out_axes=(1, 0))(X)
    same(first, X.T)
    same(rest["s"], X.sum(1))
    moved = tp.vmap(lambda b: Body(b.place * b.mass, b.mass))(Body(X, X[:, 0]))
    same(moved.place, X * X[:, :1])
    x, y = tp.vmap(lambda x, y: (x, y * 2.0), in_axes=(0, None), out_axes=(0, None))(X, 3.0)
    same(x, X)
    assert y == 6.0
    same(tp.vmap(lambda x, y: x * y)(X, y=X), X * X)
    same(tp.vmap(lambda x: x * 2.0, in_axes=None, axis_size=4)(2.0), [4.0] * 4)


def test_recursion_of_other_depths() -> None:
    x = np.abs(X[:, 0])
    same(tp.vmap(halved)(x), [halved(v) for v in x])
    same(tp.grad(lambda x: np.sum(tp.vmap(halved)(x)))(x), [tp.grad(halved)(v) for v in x])


def scanned(x, a):
    """A loop with a branch that differs between lanes."""
    s = h = 0.5
    for v in x:
        h = np.sin(a * h + v)
        if h > 0:
            s += h * h
    return s


def sum_of_lanes(x, a):
    return np.sum(tp.vmap(scanned, in_axes=(0, None))(x, a))


def sum_of_squares(x, a):
    return np.sum(tp.vmap(scanned, in_axes=(0, None))(x, a) ** 2)


def squares_by_loop(x, a):
    total = 0.0
    for k in range(len(x)):
        total += scanned(x[k], a) ** 2
    return total


@pytest.mark.parametrize("f, loops", [(sum_of_lanes, 1), (sum_of_squares, 2)])
def test_the_reverse_sweep_records_no_lanes(f: Any, loops: int) -> None:
    """It runs with the lane where its start is known before it, else the lane runs again: memory is that of one lane."""
    gradient = tp.value_and_grad(f, (0, 1))
    tp.check_grads(f, (X, 0.3))
    if f is sum_of_squares:
        for found, wanted in zip(gradient(X, 0.3)[1], tp.grad(squares_by_loop, (0, 1))(X, 0.3)):
            same(found, wanted)
    text = tp.source(tp.jit(gradient), X, 0.3)
    assert text.count("for lane in") == loops
    assert "tape = np.empty(d)" in text
    assert "np.empty((n, d)" not in text


def test_dtypes_stay() -> None:
    assert tp.vmap(lambda x: x * 2.0 + 1)(np.ones(3, np.float32)).dtype == np.float32
    assert tp.vmap(wave)(X[:0]).shape == (0,)
    assert tp.check_grads(total, (X,), order=2) is None


@pytest.mark.numba
def test_compiled_stacks(cache_directory: Any) -> None:
    same(tp.jit(tp.vmap(tp.grad(wave)))(X), [tp.grad(wave)(x) for x in X])
    same(tp.jit(tp.grad(total))(X), tp.grad(total_by_loop)(X))


def stepped(x, y):
    x[0] = y
    return np.sum(x)


@pytest.mark.parametrize(
    "call, code, message",
    [
        (lambda: tp.vmap(lambda x: x, out_axes=None)(X), "T603", "out_axes is None for a result"),
        (lambda: tp.vmap(lambda x, y: x * y)(X, X[:3]), "T602", "has size 5, .*has size 3"),
        (lambda: tp.vmap(lambda x, y: x * y)(X, 2.0), "T601", "argument 'y' is a number"),
        (lambda: tp.vmap(lambda x: x, in_axes=3)(X), "T601", "in_axes is 3, but argument 'x' has axes 0 to 1"),
        (lambda: tp.vmap(lambda x: x, in_axes=(0, 0))(X), "T601", "2 entries for 1 argument"),
        (lambda: tp.vmap(lambda x: x, in_axes=None)(X), "T601", "in_axes is None for all arguments"),
        (lambda: tp.vmap(lambda x: x, in_axes="x")(X), "T601", "int, None, or a tree"),
        (lambda: tp.vmap(lambda x: x, axis_size=3)(X), "T602", "axis_size is 3"),
        (lambda: tp.vmap(lambda p: p["w"], in_axes=({"v": 0},))({"w": X}), "T601", "does not fit"),
        (lambda: tp.vmap(lambda x: x, out_axes=(0, 0))(X), "T601", "out_axes"),
        (
            lambda: tp.vmap(lambda n: np.zeros(n))(np.array([2, 3])),
            "T603",
            "depends on the data and may differ between lanes",
        ),
        (lambda: tp.vmap(lambda x: x[x > 0])(X), "T603", "depends on the data and may differ between lanes"),
        (lambda: tp.vmap(stepped, in_axes=(None, 0))(X[0].copy(), X[:, 0]), "T603", "writes into 'x'"),
        (lambda: tp.vmap(lambda x: x + np.random.normal())(X), "T130", "random"),
    ],
)
def test_what_is_refused(call: Any, code: str, message: str) -> None:
    with pytest.raises(tp.TranspileError, match=message) as failed:
        call()
    assert failed.value.codes == (code,)


def test_other_numbers_of_lanes_at_run_time() -> None:
    f = tp.vmap(lambda x, y: x * y)
    same(f(X, X), X * X)
    with pytest.raises((ValueError, tp.TranspileError), match="lanes"):
        f(X, X[:2])
    with pytest.raises((ValueError, tp.TranspileError), match="lanes"):
        f(X[:2], X)
