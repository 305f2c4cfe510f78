"""What two names stand for changes between two calls, and between the process that compiled and the one that finds it on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transpile as tp

X = np.array([0.7, 1.3, 0.4])
MAKERS = [pytest.param(lambda f: f, id="text"), pytest.param(tp.jit, id="jit", marks=pytest.mark.numba)]
SLOW = [MAKERS[0], pytest.param(tp.jit, id="jit", marks=[pytest.mark.numba, pytest.mark.slow])]


class Holder:
    def __init__(self, w: Any) -> None:
        self.w = w


@pytest.fixture(params=MAKERS)
def make(request, tmp_path, monkeypatch) -> Callable:
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    return request.param


def use(w: np.ndarray, x: np.ndarray) -> Any:
    return len(w) * x[0] + np.sum(w) * x[1]


def of(w: np.ndarray) -> np.ndarray:
    """The gradient of ``use``."""
    return np.array([len(w), np.sum(w), 0.0])


def test_layers_that_share_an_array_at_first(make):
    first, second = Holder(np.ones((3, 3))), Holder(None)
    second.w = first.w

    def net(x):
        return np.sum(np.tanh(x @ first.w) @ second.w)

    f = make(tp.value_and_grad(net))
    f(X)
    for a, b in [((3, 3), (3, 3)), ((3, 3), (3, 5)), ((3, 7), (7, 2)), ((3, 1), (1, 2)), ((3, 7), (7, 2))]:
        first.w, second.w = np.full(a, 0.2), np.full(b, 0.3)
        value, gradient = f(X)
        np.testing.assert_allclose(value, net(X))
        steps = 1e-6 * np.eye(3)
        np.testing.assert_allclose(gradient, [(net(X + d) - net(X - d)) / 2e-6 for d in steps], atol=1e-7)


@pytest.mark.parametrize("make", SLOW, indirect=True)
def test_one_object_twice_and_then_two(make):
    a, b = Holder(np.ones(3)), Holder(np.full(4, 2.0))
    pair = [a, a]

    def f(x):
        return use(pair[0].w, x) + 10.0 * use(pair[1].w, x)

    g = make(tp.grad(f))
    for one, other in [(a, a), (a, b), (b, b), (b, a), (a, a)]:
        pair[:] = one, other
        np.testing.assert_allclose(g(X), of(one.w) + 10.0 * of(other.w))


def test_one_object_reached_by_two_ways(make):
    a, b = Holder(np.ones(3)), Holder(np.full(4, 2.0))
    left, right = Holder(a), Holder(a)

    def f(x):
        return use(left.w.w, x) + 10.0 * use(right.w.w, x)

    g = make(tp.grad(f))
    for one, other in [(a, a), (a, b), (b, b), (b, a), (a, a)]:
        left.w, right.w = one, other
        np.testing.assert_allclose(g(X), of(one.w) + 10.0 * of(other.w))


@pytest.mark.parametrize("make", SLOW, indirect=True)
def test_methods_of_one_object_and_then_of_two(make):
    class Reader(Holder):
        def read(self, x):
            return use(self.w, x)

    a, b = Reader(np.ones(3)), Reader(np.full(4, 2.0))
    names = Holder(None)
    names.left, names.right = a.read, a.read

    def f(x):
        return names.left(x) + 10.0 * names.right(x)

    g = make(tp.grad(f))
    for one, other in [(a, a), (a, b), (b, b), (a, a)]:
        names.left, names.right = one.read, other.read
        np.testing.assert_allclose(g(X), of(one.w) + 10.0 * of(other.w))


def test_closures_that_share_a_variable_at_first(make):
    def pair(w):
        def left(x):
            return use(w, x)

        def right(x):
            return use(w, x) * 10.0

        return left, right

    names = Holder(None)
    (left, right), (_, other) = pair(np.ones(3)), pair(np.full(4, 2.0))
    names.left, names.right = left, right

    def f(x):
        return names.left(x) + names.right(x)

    g = make(tp.grad(f))
    np.testing.assert_allclose(g(X), of(np.ones(3)) * 11.0)
    names.right = other
    np.testing.assert_allclose(g(X), of(np.ones(3)) + 10.0 * of(np.full(4, 2.0)))


@pytest.mark.parametrize("make", SLOW, indirect=True)
def test_an_object_deleted_and_another_made_at_its_address(make):
    outer = Holder(Holder(np.ones(3)))

    def f(x):
        return use(outer.w.w, x)

    g = make(tp.grad(f))
    g(X)
    for size in (4, 5, 1, 3, 2):
        del outer.w
        outer.w = Holder(np.full(size, 2.0))
        np.testing.assert_allclose(g(X), of(outer.w.w))


@pytest.mark.parametrize("make", SLOW, indirect=True)
def test_a_function_replaced_by_another_of_its_factory(make):
    def factory(w):
        return lambda x: use(w, x)

    outer = Holder(factory(np.ones(3)))

    def f(x):
        return outer.w(x)

    g = make(tp.grad(f))
    for size in (3, 4, 1, 2, 3):
        outer.w = factory(np.ones(size))
        np.testing.assert_allclose(g(X), of(np.ones(size)))


@pytest.mark.parametrize("make", SLOW, indirect=True)
def test_what_no_path_reads_any_more_has_no_size_to_agree(make):
    """The loop is tried as a loop, which reads ``big``, and then written out, where no iteration does."""
    big, one, table = Holder(np.ones(3)), Holder(np.ones(1)), {0: np.ones((2, 3)), 1: np.ones(3), 2: np.full(3, 2.0)}

    def f(x):
        total = 0.0
        for k in range(1, 3):
            if k == 0:
                total = total + np.sum(big.w * x)
            total = total + np.sum(table[k] * x)
        return total + np.sum(one.w * x)

    g = make(tp.value_and_grad(f))
    for size in (3, 7):
        big.w = np.ones(size)
        value, gradient = g(X)
        np.testing.assert_allclose(value, f(X))
        np.testing.assert_allclose(gradient, np.full(3, 4.0))


PROGRAM = """
import sys
import numpy as np, transpile as tp
import left, right

W = np.ones(int(sys.argv[1]))

class Holder:
    def __init__(self, w):
        self.w = w

shared = Holder(W)
first, second = Holder(shared), Holder(shared if sys.argv[2] == "one" else Holder(np.full(5, 3.0)))

def use(x):
    return len(W) * x[0] + np.sum(W) * x[1]

def f(x):
    return left.use(x) + 10.0 * right.use(x) + 100.0 * use(x)

def of_two(x):
    return len(first.w.w) * x[0] + np.sum(second.w.w) * x[1]

def of_both(x):
    return main.use(x) + 10.0 * use(x)

if __name__ == "__main__":
    import main
    n, x = len(W), np.ones(2)
    main.W = np.ones(n + 1)
    for g, wanted in [
        (f, [3 + 40 + 100 * n, 3 + 80 + 100 * n]),
        (of_two, [n, n if sys.argv[2] == "one" else 15.0]),
        (of_both, [n + 1 + 10 * n] * 2),
        (main.use, [n + 1] * 2),
        (use, [n] * 2),
    ]:
        for found in (tp.grad(g)(x), tp.jit(tp.grad(g))(x)):
            assert np.allclose(found, wanted), (g, found, wanted)
"""
MODULE = """
import numpy as np

W = np.full({size}, {value})

def use(x):
    return len(W) * x[0] + np.sum(W) * x[1]
"""


RUNS = [("3", "one"), ("3", "two"), ("4", "two"), ("1", "one"), ("3", "one")]


@pytest.mark.numba
@pytest.mark.parametrize("runs", [RUNS[:2], pytest.param(RUNS, marks=pytest.mark.slow)], ids=["two", "five"])
def test_modules_of_one_name_of_function_and_other_processes(runs, tmp_path: Path) -> None:
    """Two modules with a ``W`` and a ``use`` each, ``__main__`` and its import: each process may find what another compiled."""
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "left.py").write_text(MODULE.format(size=3, value=1.0))
    (tmp_path / "right.py").write_text(MODULE.format(size=4, value=2.0))
    paths = os.pathsep.join(p for p in sys.path if p)
    env = {**os.environ, "TRANSPILE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": paths}
    for size, objects in runs:
        ran = subprocess.run(
            [sys.executable, "main.py", size, objects], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert ran.returncode == 0, f"size {size}, {objects}: {ran.stderr[-2000:]}"
