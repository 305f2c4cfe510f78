"""Loops one after the other that read, add to and overwrite one array, in every order of these: where the mirrors of several
move into their loops, each runs earlier than all that stood between, and what it writes must not be seen there."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from differences import gradient_by_differences
from fuzz.check import load

import transpile as tp

STEPS = {
    "read": "for i in range(len(w)):\n    total += np.exp(row[i] * z[i])",
    "read in a branch": "for i in range(len(w)):\n    if z[i] > 0.0:\n        total += np.sin(row[i] + w[i])",
    "added": "for i in range(len(w)):\n    row[i] += np.exp(w[i])",
    "added at one place": "for i in range(len(w)):\n    row[0] += np.exp(w[i] * z[i])",
    "added in one step": "row += np.sin(w)",
    "overwritten": "for i in range(len(w)):\n    row[i] = np.exp(w[i] * z[i])",
    "filled": "row[1:] = w[1:] * z[1:]",
    "read in one step": "total += row @ w",
    "other": "for i in range(len(w)):\n    other[i] += row[i] * np.exp(w[i])",
    "from the other": "for i in range(len(w)):\n    row[i] += np.exp(w[i]) * other[i]",
}
ORDERS = [names for count in (2, 3) for names in permutations(STEPS, count)]
EVERY = 18  # how many orders share a test


def text(names: tuple[str, ...]) -> str:
    steps = "\n".join(STEPS[n] for n in names)
    indented = "\n".join(" " * 4 + line for line in steps.splitlines())
    head = "import numpy as np\n\n\ndef program(w, z):\n    row = np.sin(w)\n    row[0] = 0.5\n    other = w * w\n"
    return f"{head}    other[1] = 0.2\n    total = 0.0\n{indented}\n    return total + row @ z + np.sum(other)\n"


@pytest.mark.parametrize("first", range(0, len(ORDERS), EVERY))
@pytest.mark.sampled(6)
def test_every_order(first: int, tmp_path: Path) -> None:
    w, z = np.random.default_rng(3).normal(size=(2, 4)) * 0.7
    for k in range(first, min(first + EVERY, len(ORDERS))):
        f = load(text(ORDERS[k]), f"overtaken_{k}", tmp_path).program
        wanted = gradient_by_differences(lambda at: f(at, z), w)
        np.testing.assert_allclose(tp.grad(f)(w, z), wanted, rtol=1e-7, atol=1e-7, err_msg=str(ORDERS[k]))
