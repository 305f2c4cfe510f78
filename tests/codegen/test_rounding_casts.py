"""Casts that round stay in the printed text: what is printed gives what is compiled gives, and what the core says."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

CALLS = [
    "np.sum(x[1:].astype('float32') * np.cos(w[1:])) + np.sum(x)",
    "np.sum(x.astype('float32') * w) + np.sum(x * w)",
    "np.sum(x.astype('float32') * w + x)",
    "np.sum((x.astype('float32') * w).astype('float32') * w) + x[0] * x[1]",
    "x[0] * np.sum(x.astype('float32') ** 2 * w)",
]


@pytest.mark.numba
@pytest.mark.parametrize("call", CALLS)
def test_printed_and_compiled_round_alike(call):
    f = tp.from_source(f"import numpy as np\n\ndef f(x, w):\n    return {call}\n")
    x, w = np.array([0.3, 1.2, 0.7]), np.array([0.1, 0.7, 1.9])
    np.testing.assert_allclose(tp.grad(f)(x, w), tp.jit(tp.grad(f))(x, w), rtol=1e-14)
