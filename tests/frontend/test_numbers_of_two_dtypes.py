"""A number that is an int on one path and a float on another, and becomes an array: NumPy's array has the dtype of the path.

Each program is right on all paths or refused (T205), never another value; one that asks for a dtype, or never lets it be seen, is
transformed. The paths are those of the data: every program is run on each.
"""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

SOURCES = {
    "conditional expression": "v = 1 if x[0] > 0 else 0.5",
    "branch": "if x[0] > 0:\n        v = 1\n    else:\n        v = 0.5",
    "early value": "v = 1\n    if x[0] > 0:\n        v = 0.5 * x[1]",
    "function": "v = pick(x[0])",
    "lambda": "v = (lambda t: 1 if t > 0 else 0.5)(x[0])",
    "and, or": "v = (x[0] > 0 and 1) or 0.5",
    "min": "v = min(1, 0.5 + float(x[0]))",
    "max": "v = max(1, 0.5 * float(x[0]))",
    "sum in a branch": "v = 0\n    for t in x:\n        if t > 0:\n            v += 0.5",
    "while": "v = 0\n    while v < 2 and x[0] < 0:\n        v = v + 0.5",
    "arithmetic": "v = 2 * (1 if x[0] > 0 else 0.5) + 1",
    "truth value": "v = True if x[0] > 0 else 0.5",
    "number of NumPy's": "v = np.int64(1) if x[0] > 0 else np.float64(0.5)",
}
MADE = {
    "array": "np.array([v, v])",
    "array of a list that grew": "np.array([v for _ in x])",
    "asarray": "np.asarray(v)",
    "full": "np.full(2, v)",
    "zeros_like": "np.zeros_like(v)",
    "full_like": "np.full_like(v, 2.5)",
    "repeat": "np.repeat(v, 2)",
    "atleast_1d": "np.atleast_1d(v)",
    "broadcast_to": "np.broadcast_to(v, (2,)).copy()",
    "stack": "np.stack([v, 2])",
    "stack behind": "np.stack([2, v])",
    "nested": "np.array([[1, 0], [0, v]])",
    "nested before": "np.array([[v, 0], [0, 1]])",
    "diag": "np.diag([v, 2])",
    "concatenate": "np.concatenate([np.array([3]), np.array([v])])",
    "append": "np.append(np.array([3]), v)",
    "where": "np.where(np.array([True, False]), v, 2)",
    "arithmetic": "np.arange(2) * v",
    "sum": "np.sum([v, v], keepdims=True)",
    "insert": "np.insert(np.array([v, v]), 1, 0.25)",
    "pad": "np.pad(np.array([v, v]), 1, constant_values=0.25)",
    "cumsum": "np.cumsum([v, v])",
    "maximum": "np.maximum(v, [0, 0])",
    "sort": "np.sort(np.array([v, 0]))",
    "reshape": "np.array([v, 1]).reshape(2, 1).T",
    "copy": "np.array([v, v]).copy()",
}
ASKED = {
    "array": "np.array([v, v], dtype=float)",
    "asarray": "np.asarray(v, dtype=np.float64)",
    "full": "np.full(2, v, dtype=float)",
    "astype": "np.array([v, v]).astype(float)",
    "float": "np.array([float(v), float(v)])",
    "float64": "np.array([np.float64(v), 1])",
    "with a float": "np.array([v, 0.5])",
    "with a float array": "np.array([v, x[0]])",
    "plus a float": "np.array([v + 0.0, v * 1.0])",
    "division": "np.array([v, v]) / 2",
    "linspace": "np.linspace(0, v, 3)",
    "mean": "np.full(2, np.mean([v, v]))",
    "sqrt": "np.sqrt(np.array([v * v, 4]))",
    "solve": "np.linalg.solve(np.array([[v + 3, 0], [0, 1]]), np.array([1, 2]))",
    "ones": "np.ones(2) * v",
}
USES = {"write": "a[...] = 0.7\n    return a", "dtype": "return a.dtype.kind == 'i'", "value": "return a"}
PATHS = [np.array(p) for p in ([1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0])]


def pick(t):
    if t > 0:
        return 1
    return 0.5


def made(source, array, use):
    text = f"def f(x):\n    {SOURCES[source]}\n    a = {array}\n    {USES[use]}\n"
    found: dict = {"np": np, "pick": pick}
    exec(text, found)
    return found["f"], tp.from_source(text, {"np": np, "pick": pick})


def same(want, got):
    return np.array_equal(np.asarray(want, float), np.asarray(got, float))


QUICK = ("conditional expression", "function", "max", "sum in a branch", "number of NumPy's")
EACH = [s if s in QUICK else pytest.param(s, marks=pytest.mark.slow) for s in SOURCES]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("source", EACH)
def test_right_or_refused(source, use):
    """`value` shows no dtype: it is refused only where NumPy rounds what is put in."""
    refused = []
    for name, array in MADE.items():
        plain, given = made(source, array, use)
        try:
            found = [tp.vmap(given)(x[None])[0] for x in PATHS]
        except tp.TranspileError as failed:
            assert failed.diagnostics[0].code == "T205", (name, str(failed))
            refused.append(name)
            continue
        for x, got in zip(PATHS, found):
            assert same(plain(x.copy()), got), (name, x)
    if use == "value":
        assert set(refused) <= {"full_like", "insert", "pad"}  # which round a number to the dtype
    else:
        assert len(refused) >= len(MADE) - 3, sorted(set(MADE) - set(refused))


@pytest.mark.parametrize("source", EACH)
def test_a_dtype_that_was_asked_for(source):
    for name, array in ASKED.items():
        for use in USES:
            plain, given = made(source, array, use)
            for x in PATHS:
                got = tp.vmap(given)(x[None])[0]
                assert np.allclose(np.asarray(plain(x.copy()), float), np.asarray(got, float), rtol=1e-15), (
                    name,
                    use,
                    x,
                )
