"""Programs as users of JAX type them (`idiom_cases`, `idiom_programs`): plain and compiled they give what JAX gives; and what
people try beside."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import idiom_cases
import idiom_programs
import numpy as np
import pytest
from idiom_cases import X, Y, loss_with_params, squared_error_with_aux
from idiom_values import REFERENCE

import transpile as tp

CASES = {**idiom_cases.CASES, **idiom_programs.CASES}
FEW = ("xor_per_example", "first_gradients", "vectorized_dot", "minibatches", "loops_of_the_page")


def assert_as_jax(name: str, found: list[Any]) -> None:
    assert len(found) == len(REFERENCE[name])
    for k, (one, wanted) in enumerate(zip(found, REFERENCE[name])):
        a = np.asarray(one, float).ravel()
        sums = np.sum(a), np.sum(a * np.cos(0.7 * np.arange(a.size)))
        scale = max(1.0, float(np.sum(np.abs(a))))
        np.testing.assert_allclose(sums, wanted, rtol=0, atol=1e-10 * scale, err_msg=f"{name}, result {k}")


@pytest.mark.parametrize("name", CASES)
def test_plain(name: str) -> None:
    assert_as_jax(name, CASES[name](lambda f: f))


@pytest.mark.numba
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in FEW)) for n in CASES])
def test_compiled(name: str, cache_directory: Any) -> None:
    assert_as_jax(name, CASES[name](tp.jit))


IMPORTS = {
    "import numpy as np": "import jax.numpy as np",
    "import transpile as tp": "import jax as tp",
    "from transpile import": "from jax import",
    "from transpile.tree import ravel_pytree, register_dataclass, register_node":
        "from jax.flatten_util import ravel_pytree\nfrom jax.tree_util import register_dataclass\n"
        "from jax.tree_util import register_pytree_node as register_node",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("written", [idiom_cases, idiom_programs])
def test_the_same_text_with_jax(written: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are JAX's: the text with its imports changed is run, where JAX is installed."""
    pytest.importorskip("jax").config.update("jax_enable_x64", True)
    text = Path(str(written.__file__)).read_text(encoding="utf-8")
    for ours, theirs in IMPORTS.items():
        text = text.replace(ours, theirs)
    made = ModuleType("idioms_of_jax")
    monkeypatch.setitem(sys.modules, made.__name__, made)  # where dataclasses look for their fields
    exec(compile(re.sub(r"tp\.at\((\w+)\)", r"\1.at", text), "idioms of JAX", "exec"), vars(made))
    for name, f in made.CASES.items():
        assert_as_jax(name, [np.asarray(a) for a in f(lambda f: f)])


# ------------------------------------------------------------------------------------------------- what is told


def test_auxiliary_results_are_asked_for() -> None:
    with pytest.raises(tp.TranspileError, match="has_aux=True"):
        tp.grad(squared_error_with_aux)(X, Y)


# ------------------------------------------------------------------------------- functions that are made on the way


def scaled(params: Any, x: Any) -> Any:
    return np.sum(params["w"] * x**2) + params["b"]


PARTIALS = {
    "gradient of a partial": lambda p: np.sum(tp.grad(functools.partial(scaled, {"w": p, "b": 2.0}))(X) ** 2),
    "lanes of a partial": lambda p: np.sum(
        tp.vmap(functools.partial(scaled, {"w": p, "b": p[0]}))(np.outer(X, Y)) ** 2
    ),
    "by name": lambda p: np.sum(tp.vmap(functools.partial(loss_with_params, params=p * p))(np.outer(X, Y))),
    "an argument": lambda p: tp.grad(lambda f, x: f(x) ** 2, 1)(functools.partial(scaled, {"w": p, "b": 1.0}), X)[1],
    "direction": lambda p: tp.jvp(functools.partial(scaled, {"w": p * p, "b": 0.0}), (X,), (Y,))[1],
}


@pytest.mark.parametrize("name", PARTIALS)
def test_partials_of_what_is_transformed(name: str) -> None:
    f, p = PARTIALS[name], np.array([0.3, -1.2, 0.7, 2.0])
    step = 1e-6 * np.eye(4)
    wanted = [(f(p + h) - f(p - h)) / 2e-6 for h in step]
    np.testing.assert_allclose(tp.grad(f)(p), wanted, rtol=1e-6, atol=1e-6)


def test_partials_of_transformed_functions() -> None:
    gradient = functools.partial(tp.grad(scaled, 1), {"w": X, "b": 1.0})
    np.testing.assert_allclose(tp.vmap(gradient)(np.stack([X, Y])), [2 * X * X, 2 * X * Y])
    np.testing.assert_allclose(tp.jacfwd(gradient)(Y), np.diag(2 * X))


def test_pullbacks_and_pushforwards_in_lanes() -> None:
    """What `vjp` and `linearize` gave is a function like others: of arrays outside it has what they were."""
    a = np.arange(9.0).reshape(3, 3)
    f = lambda w: np.tanh(a @ w) * w[0]  # noqa: E731
    x = np.array([0.3, -0.4, 0.8])
    wanted = tp.jacfwd(f)(x)
    (_, pullback), (_, f_jvp) = tp.vjp(f, x), tp.linearize(f, x)
    a[:] = 0.0
    np.testing.assert_allclose(tp.vmap(pullback)(np.eye(3))[0], wanted, rtol=1e-12)
    np.testing.assert_allclose(tp.vmap(f_jvp, out_axes=1)(np.eye(3)), wanted, rtol=1e-12)
    np.testing.assert_allclose(tp.vmap(lambda v: pullback(2.0 * v)[0])(np.eye(3)), 2 * wanted, rtol=1e-12)
    np.testing.assert_allclose(tp.jacrev(lambda v: f_jvp(v))(x), wanted, rtol=1e-12)
    with pytest.raises((ValueError, tp.TranspileError), match="cotangent"):
        tp.vmap(pullback)(np.eye(4))
