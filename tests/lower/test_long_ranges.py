"""Ranges whose ends are near the ends of 64 bits, with loops that leave them early: as Python has it, compiled in both ways."""

import itertools

import numpy as np
import pytest

import transpile as tp
from transpile.driver import backend

pytestmark = pytest.mark.numba

M = 2**63
ENDS = [-M, -M + 1, -M + 2, -M + 5, -(2**62), -3, -1, 0, 1, 2, 5, 2**62, M - 5, M - 2, M - 1]
TEXT = """def f(x, p, q):
    total, trips = 0.0, 0
    for i in range({}):
        total += x[i % 3] * 2.0
        trips += 1
        if trips > 4:
            break
    return total
"""
RANGES = [
    f"{first}, {end}, {step}"
    for first in ("p", "0", "1", "4", "-2")
    for end in ("q", "3", "-1", "0")
    for step in (1, 2, -1, -3, 3 * 10**18)
    if first == "p" or end == "q"
]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("ends", RANGES)
def test_ranges_at_the_ends_of_integers(ends, direct, monkeypatch):
    """Numba has no range whose length 64 bits do not hold; a longer one of more than two at a time is refused there."""
    monkeypatch.setattr(backend, "IS_DIRECT", direct)
    f, x = tp.from_source(TEXT.format(ends)), np.array([1.0, 2.5, -0.3])
    slope = tp.grad(f)
    fast, fast_slope = tp.jit(f, cache=False), tp.jit(slope, cache=False)
    step = int(ends.split(",")[-1])
    for p, q in itertools.product(ENDS if "p" in ends else [0], ENDS if "q" in ends else [0]):
        first, end = (eval(t, {"p": p, "q": q}) for t in ends.split(",")[:2])
        if not direct and abs(step) > 2 and not -M < end - first < M and range(first, end, step):
            for call in (fast, fast_slope):
                with pytest.raises(OverflowError, match="length of a range"):
                    call(x, p, q)
            continue
        np.testing.assert_allclose(fast(x, p, q), f(x, p, q), rtol=1e-15, err_msg=str((p, q)))
        np.testing.assert_allclose(fast_slope(x, p, q), slope(x, p, q), rtol=1e-15, err_msg=str((p, q)))
