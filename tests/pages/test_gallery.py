"""Each program of docs/gallery gives what something else gives: a closed form, a textbook's formula, differences."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from differences import gradient_by_differences
from scipy.stats import multivariate_normal

import transpile as tp

GALLERY = Path(__file__).parents[2] / "docs/gallery"

numba = pytest.mark.numba


def load(name: str) -> ModuleType:
    """A program as a module, under a name that clashes with nothing."""
    pytest.importorskip("matplotlib").use("Agg")
    spec = importlib.util.spec_from_file_location(f"gallery_{name}", GALLERY / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(name: str, **sizes: Any) -> tuple[ModuleType, dict[str, Any]]:
    """The module and what its ``main`` finds. Its picture is drawn, too."""
    module = load(name)
    result = module.main(**sizes)
    figure = module.draw(result)
    assert figure.axes
    sys.modules["matplotlib.pyplot"].close(figure)
    return module, result


def close(found: Any, wanted: Any, rtol: float = 1e-7, atol: float = 0.0) -> None:
    np.testing.assert_allclose(found, wanted, rtol, atol)


@pytest.mark.quick
@pytest.mark.parametrize("path", sorted(GALLERY.glob("*.py")), ids=lambda p: p.stem)
def test_a_program_is_short_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert 40 <= len(text.splitlines()) <= 80
    assert len(ast.get_docstring(tree) or "") > 200
    assert {"main", "draw"} <= {f.name for f in tree.body if isinstance(f, ast.FunctionDef)}
    assert f"test_{path.stem}" in globals()
    assert "default_rng()" not in text


@numba
def test_adam_trees() -> None:
    module, result = run("adam_trees", sizes=(1, 12, 1), steps=1000)
    some = result["x"][:20], result["y"][:20]
    tp.check_grads(lambda layers: module.loss(layers, *some), (result["initial"],), order=1)
    assert result["error"] < 0.1


def test_free_knot_spline() -> None:
    module, result = run("free_knot_spline")
    slopes = gradient_by_differences(lambda k: module.left_over(k, result["x"], result["y"]), result["start"])
    close(result["gradient"], slopes, 1e-5)
    close(result["knots"], module.TRUTH, atol=0.01)


def test_gaussian_process() -> None:
    module, result = run("gaussian_process")
    x, y, start = result["x"], result["y"], result["start"]
    plain = module.kernel(x, x, *start[:2])
    inverse = np.linalg.inv(plain + np.exp(2 * start[2]) * np.eye(len(x)))
    outer = np.outer(inverse @ y, inverse @ y)
    distance = ((x[:, None] - x) / np.exp(start[0])) ** 2
    changes = plain * distance, 2 * plain, 2 * np.exp(2 * start[2]) * np.eye(len(x))
    close(result["gradient"], [-0.5 * np.trace((outer - inverse) @ change) for change in changes], 1e-8)
    assert np.exp(result["theta"][2]) == pytest.approx(0.15, rel=0.3)


def test_hidden_markov() -> None:
    module, result = run("hidden_markov", steps=150)
    close(result["states"], module.forward_backward(result["seen"], module.CHANGE), 1e-9)
    assert np.sum(result["changes"]) == pytest.approx(149)
    assert result["right"] > 0.75


@numba
def test_hmc() -> None:
    _, result = run("hmc")
    assert result["accepted"] > 0.9
    close(result["moments"], result["exact"], atol=0.3)


def test_implicit_layer() -> None:
    _, result = run("implicit_layer", size=12, most=40)
    w, z = result["w"], result["layer"]
    close(z, np.tanh(w @ z + result["x"]), atol=1e-12)
    slope = 1.0 - z**2
    by_x = np.linalg.solve(np.eye(12) - slope[:, None] * w, np.diag(slope))
    close(result["exact"][1], 2.0 * (z - result["target"]) @ by_x, 1e-9)
    assert result["errors"][-1] < 0.1 * result["errors"][0]


@numba
def test_inverse_heat() -> None:
    module, result = run("inverse_heat", steps=40)
    measured, points, sensor, penalty = result["problem"]
    eye = np.eye(40)
    answers = np.column_stack([module.readings(e, points, sensor) for e in eye])
    bends = np.sqrt(penalty) * np.diff(eye, 2, axis=0)
    wanted = np.linalg.lstsq(np.vstack([answers, bends]), np.append(measured, np.zeros(38)), rcond=None)[0]
    close(result["flux"], wanted, atol=1e-3)


@numba
def test_kalman_filter() -> None:
    module, result = run("kalman_filter", steps=30)
    measured = result["measured"]

    def joint(theta: np.ndarray) -> float:
        """The positions are linear in the first state and in all pushes."""
        past = [np.linalg.matrix_power(module.STEP, k)[0] for k in range(31)]
        pushes = np.array([[past[i - j] @ module.PUSH if j <= i else 0.0 for j in range(30)] for i in range(30)])
        start = np.array(past[1:])
        q, r = np.exp(2 * theta)
        covariance = start @ np.diag([100.0, 10.0]) @ start.T + q * pushes @ pushes.T + r * np.eye(30)
        return -float(multivariate_normal(np.zeros(30), covariance).logpdf(measured))

    assert result["value"] == pytest.approx(joint(module.TRUTH), rel=1e-9)
    close(result["gradient"], gradient_by_differences(joint, module.TRUTH), 1e-5)
    assert result["errors"][1] < result["errors"][0]


@numba
def test_maml() -> None:
    module, result = run("maml", steps=200)
    wanted = np.zeros_like(result["w"])
    for x, y, new_x, new_y in zip(*result["problem"]):
        a, b = module.features(x), module.features(new_x)
        step = np.eye(len(wanted)) - module.RATE * 2.0 / len(x) * a.T @ a
        moved = step @ result["w"] + module.RATE * 2.0 / len(x) * a.T @ y
        wanted += step.T @ (2.0 / len(new_x) * b.T @ (b @ moved - new_y)) / 3
    close(result["gradient"], wanted, 1e-9)
    assert result["losses"][0] > 2 * result["losses"][1] > 2 * result["losses"][2]


def test_per_example_gradients() -> None:
    _, result = run("per_example_gradients", count=300)
    x, y, w = result["x"], result["y"], result["w"]
    probability = 1.0 / (1.0 + np.exp(-x @ w))
    close(result["each"], (probability - y)[:, None] * x, 1e-9, 1e-12)
    information = x.T @ (x * (probability * (1.0 - probability))[:, None])
    close(result["usual"], np.sqrt(np.diag(np.linalg.inv(information))), 1e-8)


@numba
def test_pharmacokinetics() -> None:
    module, result = run("pharmacokinetics")

    def exact(log_p: np.ndarray) -> float:
        return float(np.sum((np.log(module.bateman(np.exp(log_p), module.HOURS)) - np.log(result["measured"])) ** 2))

    slopes = gradient_by_differences(exact, np.log(module.TRUTH))
    close(result["gradient"], slopes, atol=1e-4 * np.max(np.abs(slopes)))
    close(result["fitted"], module.TRUTH, 0.1)


@numba
def test_policy_gradient() -> None:
    _, result = run("policy_gradient", updates=300)
    close(result["policy"], result["best"], 0.02)
    assert 0 <= result["excess"] < 1e-3


def test_potts_model() -> None:
    module, result = run("potts_model", height=2, q=3, length=3, points=4)
    spins = np.array(list(itertools.product(range(3), repeat=6))).reshape(-1, 3, 2)  # all states
    equal = np.sum(spins == np.roll(spins, 1, axis=1), axis=(1, 2)) + np.sum(
        spins == np.roll(spins, 1, axis=2), axis=(1, 2)
    )
    for beta, energy, capacity in zip(result["betas"], result["energy"], result["capacity"]):
        weights = np.exp(beta * equal) / np.sum(np.exp(beta * equal))
        mean = -np.sum(weights * equal)
        close(6 * energy, mean, 1e-9)
        close(6 * capacity, beta**2 * (np.sum(weights * equal**2) - mean**2), 1e-8)
    within, between = module.bonds(1, 3)  # a ring: log Z in closed form
    found = module.log_partition(0.7, 0.0 * within, between, 5)
    close(found, np.log((np.exp(0.7) + 2) ** 5 + 2 * (np.exp(0.7) - 1) ** 5))


@numba
def test_ray_tracer() -> None:
    module, result = run("ray_tracer", size=16)
    close(result["found"], result["truth"], 1e-4)
    p = module.START + 0.01
    gradient = tp.grad(module.misfit)(p, *result["problem"])
    close(gradient, gradient_by_differences(lambda p: module.misfit(p, *result["problem"]), p, 1e-6), 1e-4, 1e-8)


@numba
def test_shooting_method() -> None:
    _, result = run("shooting_method", steps=100)
    for name, error in (("lower", 1e-8), ("upper", 1e-6)):
        close(result[name]["u"], result[name]["exact"], atol=error)
        misses = np.abs(result[name]["misses"])
        assert len(misses) <= 7 and misses[-1] < 1e-12
