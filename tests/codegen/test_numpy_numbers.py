"""NumPy's integers: they wrap round in what is printed too, and an entry of an array takes what NumPy lets it take.

Values, types and exceptions against the function itself, interpreted and compiled.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

EXPRESSIONS = """
np.abs(np.int8(-128)), -np.int8(-128), np.array([-128], np.int8) // np.int8(-1)
np.int64(3) ** np.int64(n), np.int64(3) ** np.int64(20 * n), np.int64(n) ** 3
np.int64(2**62) * np.int64(n), np.int64(n) * np.int64(n) * np.int64(2**62), np.int64(n) * 2**61
np.int32(2**30) * np.int32(4), np.uint8(200) + np.uint8(100), np.int8(100) + np.int8(n)
np.uint32(1) - np.uint32(2), ~np.uint8(1), ~np.int64(n), np.uint8(1) << np.uint8(7) << np.uint8(n)
np.int16(300).astype(np.int8), np.int8(n) ** 3, np.int64(-7) // 2, np.int64(-7) % np.int64(3)
np.sum(np.int8(100)) * np.int8(n), np.prod(np.uint8(200)) * 2, np.sum(np.uint8(200)) + n
np.zeros(np.int64(n)), np.zeros(np.int32(3)), x[: np.int64(2)], x[np.int64(1)], x[np.uint8(n - 4)]
np.reshape(x, (np.int64(2), np.int32(2))), np.sum(x, axis=np.int64(0)), np.full(np.int64(n), 2.0)
[1.0, 2.0][np.int64(1)] * x, (3.0, 4.0)[np.int8(0)], x ** np.int64(2), np.int64(n) / 2, np.int64(n) // 2 * x
np.arange(np.int64(n)), np.eye(np.int64(2)), np.roll(x, np.int64(1)), np.repeat(x, np.int64(2))
int(np.int64(n)), float(np.int64(n)), np.int64(x[3]), np.int64(True), np.int64(n > 3)
(np.int64(2**62) + np.int64(2**62) + n) > 0, np.int64(n) * 2**62 > 0
""".strip().splitlines()


def outcome(f: Any, *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            found = f(*(v.copy() if isinstance(v, np.ndarray) else v for v in args))
        except (OverflowError, ValueError) as e:
            return type(e)
    return [(type(v), getattr(v, "dtype", None), np.asarray(v).tolist()) for v in found]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.numba)])
def test_expressions(compiled, tmp_path):
    text = "import numpy as np\n" + "".join(f"\n\ndef f{k}(x, n):\n    return {e}\n" for k, e in enumerate(EXPRESSIONS))
    module = load(text, "numpy_numbers", tmp_path)
    x = np.array([0.5, -1.5, 2.5, 3.5])
    for k, expression in enumerate(EXPRESSIONS):
        f = getattr(module, f"f{k}")
        found = outcome(tp.jit(f) if compiled else Transformed(f, Level()), x, 5)
        assert found == outcome(f, x, 5), expression


FLOATS = [-129.0, -128.0, -128.9, 127.0, 127.9, 128.0, 255.0, 255.9, 256.0, -0.5, -1.0, -32768.5, 32767.5, 32768.0, 65535.5,
          -2147483648.0, -2147483649.0, 2147483648.0, 4294967296.0, -(2.0**63), 2.0**63, 2.0**63 - 1024, np.nan, np.inf, -np.inf,
          1e300]  # fmt: skip
WHOLE = [
    -129,
    -128,
    127,
    128,
    255,
    256,
    -1,
    -32769,
    32767,
    65536,
    -(2**31),
    -(2**31) - 1,
    2**31,
    2**32,
    -(2**63),
    2**63 - 1,
]
SOURCES = {
    "float64": FLOATS,
    "float32": FLOATS,
    "int64": WHOLE,
    "int32": [v for v in WHOLE if -(2**31) <= v < 2**31],
    "uint8": [0, 127, 128, 255],
    "bool": [0, 1],
}
KINDS = ["int8", "int64", "uint8", "int16", "int32", "uint16", "uint32"]


def undefined(kind: str, value: float) -> bool:
    """Whether C does not say what a float is as an unsigned integer."""
    return kind.startswith("u") and not -(2.0**31) <= value < 2.0**31


@pytest.mark.numba
@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=[pytest.mark.slow] if j > 2 else []) for j, k in enumerate(KINDS)]
)
def test_entries(kind, tmp_path: Path):
    """What does not fit into an entry raises, as NumPy does."""
    text = (
        f"import numpy as np\n\n\ndef put(v):\n    out = np.zeros(2, np.{kind})\n    out[1] = v[0]\n    return (out,)\n"
    )
    text += f"\n\ndef add(v):\n    out = np.ones(2, np.{kind})\n    out[1] += v\n    return (out,)\n"
    module = load(text, f"entries_{kind}", tmp_path)
    for f, all_given in (
        (module.put, [np.array([v]).astype(s) for s, values in SOURCES.items() for v in values]),
        (module.add, [300, -5, 2**40, 126, 300.7, -0.2, 1e20]),
    ):
        compiled, same = tp.jit(f), Transformed(f, Level())
        for given in all_given:
            if undefined(kind, np.ravel(given)[0]):
                continue
            wanted = outcome(f, given)
            assert outcome(same, given) == wanted, (kind, given)
            assert outcome(compiled, given) == wanted, (kind, given)


def test_an_entry_of_integers_cuts_a_float(tmp_path):
    """`counts[k] += 0.7` is no operation of NumPy's in place: the entry takes the sum as any write does."""
    module = load(CUTS, "cuts", tmp_path)
    x = np.array([0.5, -1.5, 2.5, 3.5])
    assert outcome(Transformed(module.cut, Level()), x, 9) == outcome(module.cut, x, 9)
    with pytest.raises(tp.TranspileError, match="T212"):
        Transformed(module.row, Level())(x)


CUTS = """
import numpy as np


def cut(x, n):
    counts = np.zeros(3, dtype=int)
    for k in range(n):
        counts[k % 3] += x[k % 4] * 3.0
    counts[1] /= 2
    return (counts,)


def row(x):
    counts = np.zeros((2, 4), dtype=int)
    counts[0] += x
    return counts
"""


def gcd(x):
    return np.gcd(x, 2.0)


def lcm(x):
    return np.lcm(x, x)


def bincount(x):
    return np.bincount(x)


@pytest.mark.parametrize("f", [gcd, lcm, bincount])
def test_no_integers(f):
    x = np.array([1.0, 2.0])
    with pytest.raises(TypeError):
        f(x)
    with pytest.raises(tp.TranspileError, match="T201"):
        Transformed(f, Level())(x)
