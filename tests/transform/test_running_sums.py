"""A running sum that a loop reads, adds to in branches and inner loops, and goes on with, in every order of these: the reverse
sweep may move into the loop only where what it carries is added to and read nowhere else."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from differences import gradient_by_differences
from fuzz.check import load

import transpile as tp

STATEMENTS = {
    "read": "a += s * y[i]",
    "read in a branch": "if c[i] > 0.0:\n    a += np.sin(s * y[i])",
    "read in both sides": "if c[i] > 0.2:\n    a += s * y[i]\nelse:\n    a += np.exp(0.1 * s)",
    "read in a loop": "for j in range(2):\n    a += np.cos(s + y[j])",
    "squared": "a += s * s * y[i]",
    "goes on": "s = s + np.tanh(x[i])",
    "goes on in a branch": "if c[i] < 0.5:\n    s = s + x[i] * y[i]",
    "shrinks in a branch": "if c[i] > -0.5:\n    s = 0.5 * s + x[i]",
    "goes on in a loop": "for k in range(2):\n    s += x[i] * y[k]",
}
ORDERS = [
    names
    for count in (2, 3)
    for names in permutations(STATEMENTS, count)
    if any("read" in n or n == "squared" for n in names)
]
EVERY = 9  # how many orders share a test


def text(names: tuple[str, ...]) -> str:
    body = "\n".join(STATEMENTS[n] for n in names)
    indented = "\n".join(" " * 8 + line for line in body.splitlines())
    head = "import numpy as np\n\n\ndef program(x, y, c):\n    s = x[0]\n    a = 0.0\n    for i in range(len(x)):\n"
    return f"{head}{indented}\n    return a\n"


def arguments() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    return rng.normal(size=4), rng.normal(size=4), np.array([0.8, -0.9, 0.1, 0.4])


def check(k: int, folder: Path, second: bool) -> None:
    x, y, c = arguments()
    f = load(text(ORDERS[k]), f"sums_{k}_{second}", folder).program
    gradient = tp.grad(f)
    np.testing.assert_allclose(
        gradient(x, y, c),
        gradient_by_differences(lambda z: f(z, y, c), x),
        rtol=1e-7,
        atol=1e-7,
        err_msg=str(ORDERS[k]),
    )
    if second:
        found = tp.grad(lambda z: np.sum(gradient(z, y, c) * y))(x)
        wanted = gradient_by_differences(lambda z: np.sum(gradient(z, y, c) * y), x)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6, err_msg=str(ORDERS[k]))


@pytest.mark.parametrize("first", range(0, len(ORDERS), EVERY))
@pytest.mark.sampled(16)
def test_every_order(first: int, tmp_path: Path) -> None:
    for k in range(first, min(first + EVERY, len(ORDERS))):
        check(k, tmp_path, False)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, len(ORDERS), EVERY))
def test_every_order_twice(first: int, tmp_path: Path) -> None:
    for k in range(first, min(first + EVERY, len(ORDERS)), 3):
        check(k, tmp_path, True)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("first", range(0, len(ORDERS), 10 * EVERY))
def test_compiled(first: int, tmp_path: Path) -> None:
    x, y, c = arguments()
    for k in range(first, min(first + 10 * EVERY, len(ORDERS)), 30):
        f = load(text(ORDERS[k]), f"sums_{k}_compiled", tmp_path).program
        np.testing.assert_allclose(tp.jit(tp.grad(f))(x, y, c), tp.grad(f)(x, y, c), rtol=1e-12, err_msg=str(ORDERS[k]))
