"""Arrays whose dtype depends on the path: NumPy's keep the dtype that they were made with, one value of ours has one.

Every way to such an array, every pair of dtypes and every use of it, along both paths: what Python gives, or refused as T205 or
T206. What only reads int64 or float64 is never refused.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

WAYS = {
    "branch": "    if c > 0.0:\n        z = a\n    else:\n        z = b\n",
    "choice": "    z = a if c > 0.0 else b\n",
    "call": "    z = chosen(c, a, b)\n",
    "loop": "    z = a\n    for _ in range(int(c > 0.0)):\n        z = b\n",
    "swap": "    z, other = a, b\n    for _ in range(int(c > 0.0)):\n        z, other = other, z\n",
    "while": "    z = a\n    left = int(c > 0.0)\n    while left > 0:\n        z = b\n        left -= 1\n",
    "dict": "    held = {'z': a}\n    if c > 0.0:\n        held['z'] = b\n    z = held['z']\n",
    "carried": "    z = a\n    for k in range(2):\n        w = z + z\n        z = b if c > 0.0 else a\n    z = w\n",
    "number": "    s = a[1] if c > 0.0 else b[1]\n    z = np.full(3, s)\n",
}
READS = {
    "sum": "float(np.sum(z))",
    "twice": "z + z",
    "negative": "-z",
    "times": "z * 0.5",
    "root": "np.sqrt(np.abs(z))",
    "product": "z @ z",
    "mean": "np.mean(z) + z[1]",
    "index": "x[z]",
}
WRITES = {
    "element": "z = z.copy()\n    z[0] = 2.7",
    "own": "z[0] = 2.7",
    "slice": "z[1:] = x[1:3] / 3.0",
    "in_place": "z += 0.5",
    "like": "z = np.zeros_like(z)\n    z[0] = 2.7",
    "doubled": "z = z * 2\n    z[0] = 2.7",
    "joined": "z = np.concatenate([z, z])\n    z[0] = 2.7",
    "running": "z = np.cumsum(z)\n    z[1] = 0.1",
    "fill": "z.fill(0.3)",
    "through": "w = z[::-1]\n    w[0] = 2.7",
    "of_dtype": "z = np.ones(3, dtype=z.dtype)\n    z[0] = 2.7",
    "rounded": "z = z.astype(float)\n    z[0] = 2.7",
    "given": "z = np.array(z, dtype=float)\n    z[0] = 2.7",
    "halved": "z = z / 2\n    z[0] = 2.7",
}
USES = {
    **{k: f"    return {v}\n" for k, v in READS.items()},
    **{k: f"    {v}\n    return z * 1.0\n" for k, v in WRITES.items()},
}
FREE = ("rounded", "given", "halved")  # of one dtype again before they are written
VALUES = {
    "bool": np.array([True, False, True]),
    "uint8": np.array([200, 100, 3], np.uint8),
    "int32": np.array([2**30, 2, 1], np.int32),
    "int64": np.array([1, 2, 0]),
    "float32": np.array([1.5, 0.1, 2.0], np.float32),
    "float64": np.array([1.5, 0.1, 2.0]),
}
PAIRS = [
    ("bool", "float64"), ("bool", "int64"), ("uint8", "int64"), ("int32", "int64"), ("int64", "float64"), ("float64", "int64"),
    ("float32", "float64"), ("int64", "float32"),
]  # fmt: skip
HEAD = "import numpy as np\n\n\ndef chosen(c, a, b):\n    if c > 0.0:\n        return a\n    return b\n\n\n"


def outcome(f: Any, args: tuple[Any, ...]) -> Any:
    given = [v.copy() if isinstance(v, np.ndarray) else v for v in args]
    with np.errstate(all="ignore"):
        try:
            return np.asarray(f(*given), np.float64)
        except tp.TranspileError as e:
            return e
        except (IndexError, TypeError) as e:
            return "index" if isinstance(e, IndexError) else "type"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.sampled(8)
def test_right_or_refused(way, tmp_path: Path):
    text = HEAD + "\n\n".join(f"def {use}(c, a, b, x):\n{WAYS[way]}{body}" for use, body in USES.items())
    module = load(text, f"dtypes_by_{way}", tmp_path)
    x = np.arange(300.0)
    right = 0
    for use, (p, q) in itertools.product(USES, PAIRS):
        function = getattr(module, use)
        same = Transformed(function, Level())
        single = 1e-6 if "float32" in (p, q) else 1e-12
        for c in (1.0, -1.0):
            args = (c, VALUES[p], VALUES[q], x)
            wanted, found = outcome(function, args), outcome(same, args)
            what = f"{use} of {p} or {q} by {way}, {c}: {found}, and Python's {wanted}"
            if isinstance(found, tp.TranspileError):
                code = str(found).split("error[")[1][:4]
                plain = (
                    {p, q} == {"int64", "float64"}
                    and (use in READS or use in FREE)
                    and use not in ("index", "negative")
                )
                assert not plain, what
                assert (
                    code in ("T205", "T206") or isinstance(wanted, str) or use in ("index", "in_place", "negative")
                ), what
            elif isinstance(wanted, str) or isinstance(found, str):
                assert isinstance(wanted, str) and isinstance(found, str) and wanted == found, what
            else:
                np.testing.assert_allclose(found, wanted, single, single, err_msg=what)
                right += 1
    assert right > 50


LATE = """
import numpy as np


def heat(initial, steps):
    u, v = initial.copy(), np.zeros(len(initial))
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.2 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return u


def settled(initial, steps):
    u = initial
    for _ in range(steps):
        u = u + 0.5
        u[0] = u[0] / 3.0
    return u
"""


def test_swapped_buffers_of_two_dtypes(tmp_path):
    """The buffer that is written is the float one in one trip and the integers' in the next."""
    module = load(LATE, "late_dtypes", tmp_path)
    numbers = np.array([5, 1, 4, 2])
    with pytest.raises(tp.TranspileError, match="T205"):
        tp.grad(lambda x: np.sum(module.heat(numbers, 3)) * x)(1.0)
    found = Transformed(module.heat, Level())(numbers * 1.0, 3)
    np.testing.assert_allclose(found, module.heat(numbers * 1.0, 3))
    np.testing.assert_allclose(Transformed(module.settled, Level())(numbers, 3), module.settled(numbers, 3))
