"""Indices, bounds, trips and sizes that are NumPy's integers of fewer than 64 bits, or unsigned, in compiled code.

Labels, neighbours and permutations come from files as int32: what says where something stands is an integer of 64 bits in loops.
Values, dtypes and gradients against the function itself.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp

USES = """
x[i[0]] + x[i[1]]
x[i[0]:i[2]].sum() + x[:i[1]].sum() + x[i[1]:].sum()
x[::i[1]].sum() + x[i[2]:i[0]:i[1]].sum()
sum([x[k] for k in range(i[0])])
sum([x[k] for k in range(i[0], i[2], i[1])])
np.zeros(i[2]) + 1.0
np.full((i[1], i[2]), 2.0)
np.arange(i[2]) * x[0]
np.reshape(x[:6], (i[1], -1))
np.linspace(0.0, 1.0, i[2])
np.repeat(x, i[1])
np.roll(x, i[1])
np.eye(i[2])
np.take(x, i[1])
x[i].sum()
A[i[1], i[0]] + A[i[1]].sum() + A[:, i[0]].sum()
A[i, i[::-1]]
[1.0, 2.0, 3.0, 4.0][i[1]]
x ** i[1]
i[0] < 5, i[0] == 1, min(i[0], 3), max(i[1], 2), abs(i[0])
2 ** i[1]
i[0] + 1, i[0] * 2, i[0] - i[1], i[0] // 2, i[0] % 2, i[0] / 2
i[0] & 1, i[0] | 4, i[0] ^ 1, i[0] << 1, i[0] >> 1, ~i[0]
np.sum(i), np.max(i), np.argmax(i), np.cumsum(i), np.sort(i), np.unique(i), np.bincount(i)
np.insert(x, i[1], 5.0)
np.delete(x, i[1])
np.split(x, [i[1], i[2]])[1]
x[i[0] + i[1]]
x[i[1] * 2]
np.diag(x, i[0])[0]
np.tri(i[2], k=0)
np.linalg.matrix_power(A[:3, :3], 2)[i[1], i[1]]
float(i[0]) + int(i[1])
np.where(i > 1, i, 0)
x[np.argmax(i)] * i[np.argmin(x[:4])]
math.comb(i[2], i[1]), math.factorial(i[2]), math.gcd(i[2], i[1])
np.isin(i, [1, 2]), np.searchsorted(i, 2), np.digitize(x, np.sort(i))
""".strip().splitlines()
BODIES = """    s = 0.0
    for k in i:
        s += x[k] * k
    return s
---
    y = x.copy()
    y[i[1]] = 7.0
    y[i[2]] += x[i[1]]
    y[i[1]:i[2]] *= 2.0
    return y
---
    k = i[0]
    s = 0.0
    while k < i[2]:
        s += x[k]
        k += 1
    return s
---
    h = np.zeros(9, dtype=i.dtype)
    for k in range(len(i)):
        h[i[k]] += 1
    return h
---
    d = 0.0
    for a, b in zip(i, i[1:]):
        d += A[a, b]
    return d
---
    s = 0.0
    for j, k in enumerate(i):
        for l in range(k):
            s += x[l] * j
    return s
---
    out = []
    for k in i:
        out.append(x[k])
    return np.array(out)
---
    if i[0] > 1:
        return x[i[0]]
    return x[i[1]]
---
    best = i[0]
    for k in i:
        if x[k] > x[best]:
            best = k
    return x[best] * best
---
    n = 0
    for k in i:
        if k % 2 == 0:
            n += k
    return n, x[n % 4]
""".strip("\n").split("---\n")
DTYPES = ["int32", "uint8", "int8", "int16", "uint16", "uint32", "uint64"]
X, A = np.linspace(-1.0, 1.0, 9), np.arange(81.0).reshape(9, 9)


def made(folder: Path) -> dict[str, Any]:
    text = "import math\n\nimport numpy as np\n"
    for k, use in enumerate(USES):
        text += f"\n\ndef use{k}(x, A, i):\n    return {use}\n"
    for k, body in enumerate(BODIES):
        text += f"\n\ndef body{k}(x, A, i):\n{body.rstrip()}\n"
    module = load(text, "narrow_indices", folder)
    return {name: f for name, f in vars(module).items() if name.startswith(("use", "body"))}


def plain(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return np.asarray(value).tolist(), getattr(value, "dtype", type(value))


def compare(functions: dict[str, Any], dtypes: list[str]) -> int:
    """How many values agree; what is refused is refused with a code."""
    agreed = 0
    for name, f in functions.items():
        compiled = tp.jit(f)
        for dtype in dtypes:
            args = X.copy(), A.copy(), np.array([1, 2, 4, 3]).astype(dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = plain(f(*args))
                try:
                    found = plain(compiled(*args))
                except tp.TranspileError:
                    continue
            assert found == wanted, (name, dtype)
            agreed += 1
    return agreed


@pytest.mark.numba
def test_one_kind_in_each_use(tmp_path):
    functions = made(tmp_path)
    agreed = sum(compare({name: f}, [DTYPES[k % 2]]) for k, (name, f) in enumerate(functions.items()))
    assert agreed > 0.8 * len(functions)


@pytest.mark.slow
@pytest.mark.numba
def test_every_kind_in_each_use(tmp_path):
    functions = made(tmp_path)
    assert compare(functions, DTYPES) > 0.8 * len(functions) * len(DTYPES)


GATHER = """
import numpy as np


def loss(x, w, i):
    x = x.copy()
    total = 0.0
    for k in range(len(i)):
        total += np.sin(x[i[k]]) * w[i[k], i[k - 1]]
        x[i[k]] *= 0.5
    return total + np.sum(x[i[0] : i[2]] ** 2) + np.sum(w[i] ** 2)
"""


@pytest.mark.numba
@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_gradients(dtype, tmp_path):
    loss = load(GATHER, f"gathers_{dtype}", tmp_path).loss
    i = np.array([1, 4, 6, 4]).astype(dtype)
    gradient = tp.jit(tp.grad(loss, (0, 1)))(X, A / 10, i)
    for k, direction in enumerate((X[::-1] + 0.3, np.cos(A))):
        ends = [
            loss(*(v + s * direction if j == k else v for j, v in enumerate((X, A / 10))), i) for s in (1e-6, -1e-6)
        ]
        np.testing.assert_allclose(np.sum(gradient[k] * direction), (ends[0] - ends[1]) / 2e-6, 1e-6)
