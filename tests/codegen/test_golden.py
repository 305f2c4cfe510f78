"""Generated source, read in review: `make golden` rewrites the files, the diff is what a reviewer reads."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

import transpile as tp

HERE = Path(__file__).parents[1] / "golden"


def _rng():
    return np.random.default_rng(0)


def _data(n=6, d=3, dtype="float64"):
    rng = _rng()
    return rng.normal(size=d).astype(dtype), rng.normal(size=(n, d)).astype(dtype), (rng.random(n) < 0.5).astype(dtype)


def _matrix():
    rng = _rng()
    return rng.normal(size=(3, 4)), rng.normal(size=(6, 3)), np.eye(4)[rng.integers(0, 4, 6)]


def _tree():
    rng = _rng()
    params = {"w1": rng.normal(size=(3, 5)), "b1": rng.normal(size=5), "w2": rng.normal(size=5)}
    return params, rng.normal(size=(6, 3)), rng.normal(size=6)


def _vector(n=5):
    return _rng().random(n) + 0.5


CASES = {
    "logistic": {
        "loss": lambda: _data(),
        "loss_float32": lambda: _data(dtype="float32"),
        "loss_sum": lambda: _data(),
        "loss_weighted": lambda: (*_data(), np.ones(6)),
        "loss_ridge": lambda: (*_data(), 0.1),
        "loss_axis": lambda: _data(),
        "loss_matrix": _matrix,
        "loss_softmax": _matrix,
        "loss_intercept": lambda: (_data()[0], 0.5, *_data()[1:]),
        "loss_loop": lambda: _data(),
        "loss_scalars": lambda: _data(),
        "loss_squares": lambda: _data(),
        "loss_tree": _tree,
    },
    "loops": {
        "power": lambda: (2.0,),
        "heat": lambda: (_vector(), 3),
        "recurrence": lambda: (_vector(),),
        "cumulative_product": lambda: (_vector(),),
        "clipped": lambda: (_vector(),),
        "newton": lambda: (2.0,),
        "leapfrog": lambda: (0.3, 0.1, 4, 0.1),
        "first_above": lambda: (_vector(), 1.0),
        "swap": lambda: (_vector(), _vector(), 3),
        "updated": lambda: (_vector(), np.array([2, 0, 7])),
    },
}


def _load(module):
    spec = importlib.util.spec_from_file_location(f"golden_{module}", HERE / f"{module}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize("module, name", [(m, n) for m, cases in CASES.items() for n in cases])
def test_gradient_source(module, name):
    fn = getattr(_load(module), name.removesuffix("_float32"))
    text = tp.source(tp.grad(fn), *CASES[module][name]())
    path = HERE / f"{name}.txt"
    if os.environ.get("TRANSPILE_GOLDEN") == "rewrite":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
