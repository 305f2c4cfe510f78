"""Each call of the tables on arrays of every dtype, with small numbers, and of integers with the largest and the least: the value
and the dtype are NumPy's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from call_cases import faults_of, function_text, is_of_arrays, own_outcome, texts
from loop_compare import Subject, Wrong

import transpile as tp

DTYPES = ("bool", "int8", "uint8", "int32", "uint64", "int64", "float32", "float64")
SMALL = (1, 0, 2, 3, 1, 5, 0, 2, 4)
PARTS = 16
UNORDERED = "unique_values argpartition partition( argsort(".split()
"""Calls that leave an order open."""
APART = "scipy.linalg quantile percentile np.fromiter intersect1d np.polyval np.indices(a".split()
"""LAPACK's dtypes of small integers; integers where the share is one; a dtype that is asked for; uint64 beside int64; sizes."""
QUICK = (
    "np.round(a, 0)", "np.round(a, 1)", "np.round(a, -1)", "np.gradient(a, a)", "np.trapezoid(a, a)", "np.trapezoid(a, None)",
    "np.unravel_index(a, a.shape)", "np.conj(a)", "a.conj()", "np.select([a > 1], [a])", "np.concatenate((a, 1.5), axis=None)",
    "np.isclose(a, -1)", "np.isclose(a, 2, atol=3)", "a == -1", "a < 300", "a.astype(np.uint64) > a.astype(np.int64)",
)  # fmt: skip


def arrays(dtype: str) -> Iterator[np.ndarray]:
    yield from _of(np.array(SMALL, dtype))
    if "int" in dtype:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        yield from _of(np.array([most, 1, least, most - 2, 3, least + 1, most // 2 + 1, 2, most], dtype))


def _of(x: np.ndarray) -> Iterator[np.ndarray]:
    yield x[:4].copy()
    yield x.reshape(3, 3)
    yield x[:4].reshape(2, 2).copy()


def faults(call: str) -> Iterator[str]:
    text = function_text(call)
    for dtype in DTYPES:
        for x in arrays(dtype):
            wanted = own_outcome(text, x, OverflowError)
            if wanted is None or not is_of_arrays(wanted):
                continue
            try:
                Subject(tp.from_source(text)).check((x,), ("lowered",), wanted)
            except Wrong as e:
                if e.kind != "refused" and "Numba has no float16" not in str(e) and "__trunc__" not in str(e):
                    yield f"{call} of {dtype}, {x.shape}: {e}"
            except Exception as e:
                yield f"{call} of {dtype}, {x.shape}: {e!r}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_calls_of_dtypes(part: int) -> None:
    mine = [c for c in texts() if not any(s in c for s in (*UNORDERED, *APART))][part::PARTS]
    found = faults_of(mine, faults)
    assert len(mine) > 100 and not found, "\n".join(found)


@pytest.mark.parametrize("call", QUICK)
def test_a_few_calls_of_dtypes(call: str) -> None:
    assert not (found := faults_of([call], faults)), "\n".join(found)
