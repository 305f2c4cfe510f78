"""Text is made when somebody asks for it: a compiled call makes none, unless Numba's front end has to compile it."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp
from transpile.codegen.numba.numba_text import Module

X = np.linspace(0.5, 2.0, 6)


def loss(x):
    total = 0.0
    for i in range(len(x)):
        total += np.sin(x[i]) * x[i - 1]
    return total


@pytest.fixture
def texts(monkeypatch):
    made, text = [], Module.text
    monkeypatch.setattr(Module, "text", lambda self, *rest: made.append(self) or text(self, *rest))
    return made


@pytest.mark.parametrize("cache", [False, True])
def test_a_compiled_call_makes_no_text(texts, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSPILE_CACHE_DIR", str(tmp_path))
    gradient = tp.grad(loss)
    assert np.allclose(tp.jit(gradient, cache=cache)(X), gradient(X))
    assert texts == []
    assert not list(tmp_path.rglob("*.py"))


def test_who_asks_gets_it(texts):
    assert "@njit" in tp.source(tp.jit(tp.grad(loss)), X, stage="loops")
    assert len(texts) == 1


def test_numba_is_given_it(texts, monkeypatch):
    monkeypatch.setattr("transpile.driver.backend.IS_DIRECT", False)
    assert np.isclose(tp.jit(loss, cache=False)(X), loss(X))
    assert len(texts) == 1
