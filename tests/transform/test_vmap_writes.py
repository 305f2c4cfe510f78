"""Writes into arguments in lanes: into what differs they are each lane's own, also where `vmap` is called in transformed code; into
what lanes share they are refused. And draws of `np.random`, which are refused everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.cli import main

X, Y = np.arange(1.0, 13.0).reshape(4, 3) / 7.0, np.array([1.0, 2.0, 0.5])
AROUND = np.zeros(3)


def in_a_view(x, y):
    v = y[1:]
    v[0] = x[0]
    return np.sum(y * x)


def in_the_transpose(x, y):
    y.T[0] = x[0]
    return np.sum(y)


def in_a_reshape(x, y):
    y.reshape(-1)[0] = x[0]
    return np.sum(y)


def of_all(x, y):
    y[...] = 2.0
    return np.sum(x * y)


def added(x, y):
    y += x
    return np.sum(y)


def in_a_function(x, y):
    def write(a):
        a[0] = x[0]

    write(y)
    return np.sum(y)


def in_a_kept_function(x, y, k=2):
    if k == 0:
        y[0] = x[0]
        return np.sum(y)
    return in_a_kept_function(x, y, k - 1)


def by_a_ufunc(x, y):
    np.add(x, 1.0, out=y)
    return np.sum(y)


def by_a_method(x, y):
    y.sort()
    return np.sum(y * x)


def swapped(x, y):
    a, b = y, x
    a[0], b[0] = b[0], a[0]
    return np.sum(a)


def in_a_list(x, ys):
    ys[0][1] = x[0]
    return np.sum(ys[0])


def in_a_dict(x, d):
    d["y"][1] = x[0]
    return np.sum(d["y"])


WRITES = {
    in_a_view: Y, in_the_transpose: Y, in_a_reshape: Y, of_all: Y, added: Y, in_a_function: Y, in_a_kept_function: Y,
    by_a_ufunc: Y, by_a_method: Y, swapped: Y, in_a_list: [Y, Y + 1.0], in_a_dict: {"y": Y},
}  # fmt: skip


def refused(code: str, call: Any) -> str:
    with pytest.raises(tp.TranspileError) as failed:
        call()
    assert failed.value.codes == (code,)
    (found,) = failed.value.diagnostics
    assert found.loc.line and found.hint
    return str(failed.value)


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_what_lanes_share_is_not_written(f: Any) -> None:
    y = WRITES[f]
    batched = tp.vmap(f, in_axes=(0, None))
    uses = [
        lambda: batched(X, y),
        lambda: tp.jit(batched)(X, y),
        lambda: tp.jacfwd(batched)(X, y),
        lambda: tp.grad(lambda x, y: np.sum(batched(x, y)))(X, y),
        lambda: tp.vmap(batched)(np.stack([X, X]), tp.tree.map(lambda a: np.stack([a, a]), y)),
    ]
    before = [leaf.copy() for leaf in tp.tree.leaves(y)]
    for use in uses:
        text = refused("T603", use)
        assert "which all lanes of the batch share" in text and "test_vmap_writes.py" in text
    for leaf, was in zip(tp.tree.leaves(y), before):
        np.testing.assert_array_equal(leaf, was)


def test_the_write_is_shown() -> None:
    assert "v[0] = x[0]\n    |     ^^^^^^^^^^^" in refused("T603", lambda: tp.vmap(in_a_view, (0, None))(X, Y))
    assert "y[0] = x[0]\n    |         ^^^^^^^^^^^" in refused(
        "T603", lambda: tp.vmap(in_a_kept_function, (0, None))(X, Y)
    )


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_a_derivative_gives_each_lane_a_copy(f: Any) -> None:
    """As it gives the function of one lane one."""
    y = WRITES[f]
    found = tp.vmap(tp.grad(f), in_axes=(0, None))(X, y)
    np.testing.assert_allclose(found, [tp.grad(f)(x, y) for x in X], rtol=1e-12)


def test_arrays_from_outside() -> None:
    def write(x):
        AROUND[0] = x[0]
        return np.sum(AROUND)

    def around(x, y):
        def one(row):
            y[1:][0] = row[0]
            return np.sum(y)

        return np.sum(tp.vmap(one)(x))

    refused("T123", lambda: tp.vmap(write)(X))
    for use in (around, tp.jit(around), tp.grad(around), tp.grad(around, 1)):
        refused("T123", lambda use=use: use(X, Y.copy()))
    assert not AROUND.any()


# ------------------------------------------------------------------------------ what differs, in transformed code


def step(x, k):
    """It leaves something in its argument."""
    x[0] = x[1] * k
    x[1:] *= 2.0
    return np.sum(x) ** 2


def lanes_of_a_local(x):
    y = x * 1.0
    t = tp.vmap(step, in_axes=(0, None))(y, 3.0)
    return np.sum(t) + np.sum(y**3)


def loop_of_a_local(x):
    y, t = x * 1.0, 0.0
    for k in range(len(y)):
        t += step(y[k], 3.0)
    return t + np.sum(y**3)


def lanes_of_columns(x):
    y = x * 1.0
    t = 0.0
    for k in (1.0, 2.0):
        t += np.sum(tp.vmap(step, in_axes=(1, None))(y[:, 1:], k))
    return t + np.sum(y**3)


def loop_of_columns(x):
    y, t = x * 1.0, 0.0
    for k in (1.0, 2.0):
        for j in range(1, y.shape[1]):
            t += step(y[:, j], k)
    return t + np.sum(y**3)


def lanes_of_an_argument(x):
    return np.sum(tp.vmap(tp.vmap(step, in_axes=(0, None)), in_axes=(0, None))(x[None], 2.0)) + np.sum(x**3)


def loop_of_an_argument(x):
    return sum([step(x[k], 2.0) for k in range(len(x))]) + np.sum(x**3)


def compiled_in_it(x):
    y = x * 1.0
    return tp.jit(lambda a, k: step(a, k))(y[1], 2.0) + np.sum(y**3)


def called_in_it(x):
    y = x * 1.0
    return step(y[1], 2.0) + np.sum(y**3)


@pytest.mark.parametrize(
    "f, by_loop",
    [
        (lanes_of_a_local, loop_of_a_local),
        (lanes_of_columns, loop_of_columns),
        (lanes_of_an_argument, loop_of_an_argument),
        (compiled_in_it, called_in_it),
    ],
)
def test_what_lanes_leave_in_their_arguments(f: Any, by_loop: Any) -> None:
    wanted, slopes = by_loop(X.copy()), tp.grad(by_loop)(X)
    np.testing.assert_allclose(f(X.copy()), wanted, rtol=1e-13)
    np.testing.assert_allclose(tp.grad(f)(X), slopes, rtol=1e-12)
    np.testing.assert_allclose(tp.jacfwd(f)(X), slopes, rtol=1e-12)
    tp.check_grads(f, (X,), order=1)


@pytest.mark.numba
def test_what_lanes_leave_in_their_arguments_compiled(cache_directory: Any) -> None:
    np.testing.assert_allclose(tp.jit(lanes_of_a_local)(X), loop_of_a_local(X), rtol=1e-13)
    x, y = X.copy(), X.copy()
    np.testing.assert_allclose(tp.jit(lanes_of_an_argument)(x), loop_of_an_argument(y), rtol=1e-13)
    np.testing.assert_allclose(x, y, rtol=1e-13)


def moved(a, b):
    a[0] = b[1]
    return np.sum(a * b)


def test_one_array_as_two_arguments() -> None:
    def f(x):
        y = x * 1.0
        return np.sum(tp.vmap(moved)(y, y))

    def rows(x):
        y = x * 1.0
        return np.sum(tp.vmap(moved)(y[:2], y[1:3]))

    def around(x):
        y = x * 1.0
        return np.sum(tp.vmap(lambda row: moved(row, y[0]))(y))

    for batched in (tp.vmap(moved), tp.jit(tp.vmap(moved))):
        y = X.copy()
        refused("T123", lambda batched=batched, y=y: batched(y, y))
        refused("T123", lambda batched=batched, y=y: batched(y[:2], y[1:3]))
        np.testing.assert_array_equal(y, X)
        batched(y, X)
        assert (y[:, 0] == X[:, 1]).all()
    for g in (f, rows, around):
        for use in (tp.jit(g), tp.grad(g)):
            refused("T123", lambda use=use: use(X))


# ------------------------------------------------------------------------------------------------------ np.random


def drawn(x):
    return x + np.random.normal()


def drawn_inside(x):
    def noise(y):
        return y * np.random.uniform(size=3)

    return np.sum(noise(x))


def drawn_deep(x, k=2):
    return x if k == 0 else drawn_deep(x * np.random.rand(), k - 1)


GENERATOR = np.random.default_rng(0)


def drawn_from_outside(x):
    return x * GENERATOR.normal()


@pytest.mark.parametrize("f", [drawn, drawn_inside, drawn_deep, drawn_from_outside])
def test_draws_of_numpy_are_refused(f: Any) -> None:
    lanes = tp.vmap(f)
    uses = [lanes, tp.jit(lanes), tp.vmap(tp.grad(lambda x: np.sum(f(x)))), tp.grad(lambda x: np.sum(lanes(x)))]
    for use in uses:
        text = refused("T130", lambda use=use: use(X))
        assert "tp.random" in text and "test_vmap_writes.py" in text and "np.random" in text


def test_draws_of_numpy_on_the_command_line(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    (tmp_path / "model.py").write_text("import numpy as np\n\n\ndef f(x):\n    return x + np.random.normal()\n")
    monkeypatch.chdir(tmp_path)
    assert main(["vmap", "model.py:f", "--arg", "x=float64[d]"]) != 0
    shown = capsys.readouterr()
    assert "model.py:5:16: error[T130]: np.random.normal" in shown.err and "tp.random" in shown.err and not shown.out
