"""Every function of the tables is called with numbers and with arrays of rank 0: what comes back has NumPy's values and shape.

Where NumPy gives a value, an error is wrong, unless it is a refusal; where NumPy raises, what ours does is not asked.
"""

from __future__ import annotations

import linecache
import warnings
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.linalg
import scipy.special
import shared_cases

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

GIVEN = (0.7, np.array(0.7), np.float64(0.7), np.array([0.7]), 2, np.array(2), True, np.array(True), np.float32(0.7))
TEXTS = [t for t, _ in shared_cases.calls() if "random" not in t]
UNSET = "np.ndarray("  # memory that nothing is written to
PARTS = 8


def function(text: str) -> Any:
    name, lines = f"<numbers given to {text}>", f"def f(a):\n    return {text}\n"
    linecache.cache[name] = (len(lines), None, lines.splitlines(keepends=True), name)
    space = {"np": np, "scipy": scipy, "tp": tp}
    exec(compile(lines, name, "exec"), space)
    return space["f"]


def fresh(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def leaves(value: Any) -> list[Any]:
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (tuple, list)) else [value]


def difference(text: str, given: Any) -> str | None:
    """What is wrong with the call, if anything."""
    f = function(text)
    try:
        wanted = f(fresh(given))
    except Exception:
        return None
    if callable(wanted) or isinstance(wanted, (str, np.dtype)):
        return None
    try:
        found = Transformed(f, Level())(fresh(given))
    except TranspileError:
        return None
    except Exception as e:
        return f"{text} of {given!r}: {type(e).__name__}: {e}"
    for x, y in zip(leaves(wanted), leaves(found), strict=True):
        same = np.shape(x) == np.shape(y) and (
            text.startswith(UNSET)
            or np.asarray(x).dtype.kind not in "fiub"
            or np.allclose(x, y, rtol=1e-6, atol=1e-9, equal_nan=True)
        )
        if not same:
            return f"{text} of {given!r}: {y!r}, not {x!r}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_numbers(part: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [difference(text, given) for text in TEXTS[part::PARTS] for given in GIVEN]
    assert not any(found), "\n".join(filter(None, found))


def test_some_numbers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [difference(text, GIVEN[k % len(GIVEN)]) for k, text in enumerate(TEXTS[::40])]
    assert not any(found), "\n".join(filter(None, found))


EXPONENTIALS = ("a", "a, a.shape", "a, keepdims=True", "a, b=2.0", "a, b=a, return_sign=True", "a, (), keepdims=True")


@pytest.mark.parametrize("given", EXPONENTIALS)
def test_sums_of_exponentials(given: str) -> None:
    """SciPy takes a number for an array of one, and a flag for a number."""
    assert not [found for a in GIVEN if (found := difference(f"scipy.special.logsumexp({given})", a))]
