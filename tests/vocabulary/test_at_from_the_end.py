"""An index from the end beside the loops that other updates are: what is known of their indices, which may have its name, is not
known of it. Every order of some updates, compiled beside interpreted."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]

UPDATES = {
    "add": "x = x.at[i].add(v)",
    "multiply": "x = x.at[i].multiply(v)",
    "max": "x = x.at[i].max(0.75 * v)",
    "set": "x = x.at[i].set(v * v)",
    "power": "x = x.at[1:4].power(2.0)",
}
ORDERS = [names for count in (2, 3, 4) for names in permutations(UPDATES, count)][::7]


def text(names: tuple[str, ...]) -> str:
    steps = "\n".join(f"    {UPDATES[n]}" for n in names)
    head = "import numpy as np\n\n\ndef program(x, v, i, k):\n    x = x.at[k].set(2.0)\n"
    return f"{head}{steps}\n    return np.sum(np.sin(x)) + np.sum(x.at[k].get() * v)\n"


@pytest.mark.parametrize("names", ORDERS, ids="-".join)
@pytest.mark.sampled(10)
def test_every_order(names: tuple[str, ...], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, v, i = np.abs(rng.normal(size=6)), np.abs(rng.normal(size=4)), np.array([0, 2, 2, 1])
    gradient = tp.grad(load(text(names), "from_the_end", tmp_path).program, (0, 1))
    compiled = tp.jit(gradient)
    assert "[np.uint64(k)]" not in tp.source(compiled, x, v, i, 3, stage="loops")  # it is asked whether it is negative
    for k in (3, -2, -5):
        for found, wanted in zip(compiled(x, v, i, k), gradient(x, v, i, k)):
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
