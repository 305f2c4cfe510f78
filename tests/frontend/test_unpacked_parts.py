"""Parts of arrays in several names: each way to make an array whose size only the call knows, each form of the targets; then calls
of sizes that do not fit, which Python refuses too."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transpile as tp

WAYS = {
    "x": 3, "x[:3]": 6, "x[0:3]": 5, "x[-3:]": 6, "x[1:4]": 6, "x[:-1]": 4, "x[1:-1]": 5, "x[2:]": 5, "x[::2]": 5, "x[::-1]": 3,
    "x[:3][::-1]": 6, "np.exp(x[:3])": 6, "x[:3] * 2.0 + x[3:]": 6, "x[i:i + 3]": 6, "x[i:j]": 6, "np.diff(x)": 4, "x[x > 0.0]": 3,
    "np.concatenate([x[:1], x[1:3]])": 6, "w[:3, 0]": 6, "w.T[0, :3]": 6, "np.moveaxis(w, 0, 1)[0][:3]": 6, "np.split(x, 2)[0]": 6,
    "w.reshape(-1)[:3]": 6, "np.roll(x, 1)[:3]": 6, "x[0] * np.arange(j - i)": 6, "x.reshape(3, -1).sum(axis=1)": 6,
    "tuple(x[:3])": 6, "list(x[:3])": 6, "x[:3].copy()": 6, "x[[0, 1, 2]]": 6, "np.cumsum(x[:3])": 6, "(w @ np.ones(2))[:3]": 6,
    "x[:n]": 6, "np.pad(x, 1)": 1, "np.repeat(x, 3)": 1, "np.sort(x)[:3]": 6, "np.where(x > 9.0, 0.0, x)[:3]": 6,
}  # fmt: skip
"""What gives three entries, for so many of ``x``."""
TARGETS = [
    "a, b, c = {}\n    return a * b + np.sin(c)",
    "[a, b, c] = {}\n    return a * b + np.sin(c)",
    "a, (b, c) = x[0], ({})[1:]\n    return a * b + np.sin(c)",
    "return (lambda a, b, c: a * b + np.sin(c))(*{})",
    "s = 0.0\n    for a, b, c in [{}]:\n        s += a * b + np.sin(c)\n    return s",
    "s = 0.0\n    if x[0] > 0.0:\n        a, b, c = {}\n        s = a * b + np.sin(c)\n    return s",
    "s = 0.0\n    for k in range(i):\n        a, b, c = {}\n        s += a * b + np.sin(c)\n    return s",
    "z = {}\n    a, b, c = z\n    return np.sum(z) + a * b + np.sin(c)",
]
CASES = [(way, k) for way in WAYS for k in range(len(TARGETS))]


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except Exception as failed:
        return failed


def arguments(size: int) -> tuple[Any, ...]:
    x = np.array([0.5, 1.25, 0.75, 1.5, 0.25, 2.0, 0.1])[:size]
    return x, np.column_stack([x, x + 1.0]), 1, 4, 3


def slopes(f: Callable[..., float], x: np.ndarray, w: np.ndarray, *rest: Any) -> np.ndarray:
    return np.array([(f(x + e, w, *rest) - f(x - e, w, *rest)) / 2e-6 for e in np.eye(len(x)) * 1e-6])


def faults(way: str, target: str) -> list[str]:
    text = f"import numpy as np\n\n\ndef f(x, w, i, j, n):\n    {target.format(way)}\n"
    names: dict[str, Any] = {}
    exec(text, names)
    plain, f, found = names["f"], tp.value_and_grad(tp.from_source(text)), []
    for size in (WAYS[way], WAYS[way] + 1, 2, WAYS[way]):
        args = arguments(size)
        wanted, got = outcome(lambda: plain(*args)), outcome(lambda: f(*args))
        if isinstance(wanted, Exception):
            right = isinstance(got, (ValueError, tp.TranspileError, IndexError))
        elif isinstance(got, tp.TranspileError) and "(*{})" in target and got.diagnostics[0].code == "T210":
            right = True  # as arguments: how many there are must be known
        else:
            right = not isinstance(got, Exception) and np.allclose(got[0], wanted)
            right = right and np.allclose(got[1], slopes(plain, *args), atol=1e-6)
        if not right:
            found.append(f"{size} entries: {got!r}, {wanted!r} in Python\n{text}")
    return found


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("way", "k"), CASES, ids=[f"{k}-{way}" for way, k in CASES])
def test_parts_in_names(way: str, k: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = faults(way, TARGETS[k])
    assert not found, "\n".join(found)


def test_the_guard_says_so() -> None:
    """Compiled too, and in the text."""

    def f(x):
        a, b, c = x[:3]
        return a * b * c

    for call in (tp.jit(f), tp.grad(f), tp.jit(tp.grad(f))):
        call(np.arange(5.0))
        with pytest.raises((ValueError, tp.TranspileError), match="cannot unpack 2 values|sizes 2 and 3 do not agree"):
            call(np.arange(2.0))
        call(np.arange(3.0))
    text = tp.source(f, np.arange(5.0))
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["f"](np.arange(1.0, 9.0)) == 6.0
    with pytest.raises(ValueError, match="sizes 2 and 3 do not agree"):
        names["f"](np.arange(2.0))
