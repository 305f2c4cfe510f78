"""Every expression that makes a size of one, in every operation that treats one differently: value, gradient and second order,
interpreted and compiled, against NumPy and its differences, for calls of several sizes of one transformed function."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from size_cases import CALLS, LIMITS, MAKERS, OPERATIONS, Case, covering

import transpile as tp

SECOND = """
def scalar(a, v, w, i, j):
    return np.sum(f(a, v, w, i, j) * 1.5)


def second(a, v, w, i, j):
    return np.sum(tp.grad(scalar)(a, v, w, i, j) ** 2)
"""
ENTRIES = np.array([1.25, 0.75, 1.6, 0.55, -0.3, 0.9])
STEP = 1e-6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    return tmp_path_factory.mktemp("sizes")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def functions(case: Case, folder: Path) -> dict[str, Any]:
    path = folder / f"{case.name.replace('-', '__')}.py"
    text = f"import numpy as np\n\nimport transpile as tp\n\n\n{case.text}\n{SECOND}"
    path.write_text(text)
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), names)
    return names


def arguments(n: int, m: int, i: int, j: int, seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    a = ENTRIES[:n] + rng.uniform(-0.04, 0.04, n)
    v = np.array([0.6, 1.3, 0.8, 1.7])[:m] + rng.uniform(-0.04, 0.04, m)
    return a, v, rng.uniform(0.5, 1.5, (3, m)), i, j


def differences(f: Callable[..., Any], args: tuple[Any, ...]) -> np.ndarray:
    a, rest = args[0], args[1:]
    steps = np.eye(len(a)) * STEP
    return np.array([(f(a + e, *rest) - f(a - e, *rest)) / (2 * STEP) for e in steps]).reshape(a.shape)


def outcome(run: Callable[[], Any]) -> Any:
    """What a call gives; the code of a refusal, the name of an exception."""
    try:
        return run()
    except tp.TranspileError as refused:
        return refused.diagnostics[0].code
    except Exception as failed:
        return type(failed).__name__


def printed(f: Any, args: tuple[Any, ...]) -> Any:
    """What the printed text gives."""
    names: dict[str, Any] = {}
    exec(tp.source(f, *args), names)
    return names["f"](*args)


def problem(got: Any, wanted: Any, tol: float, limits: set[str]) -> str | None:
    """What is wrong with an outcome; None if nothing is, or nothing is known."""
    if isinstance(wanted, str):
        return None if isinstance(got, str) or "nothing raised" in limits else f"nothing raised, NumPy: {wanted}"
    if isinstance(got, str):
        return None if got in limits or not np.all(np.isfinite(wanted)) else f"{got}, NumPy: {wanted}"
    if np.shape(got) != np.shape(wanted):
        return f"shape {np.shape(got)}, NumPy: {np.shape(wanted)}"
    if not np.all(np.isfinite(wanted)) or np.allclose(got, wanted, rtol=tol, atol=tol):
        return None
    return f"{got}, NumPy: {wanted}"


def problems(case: Case, folder: Path, how: Callable[[Any], Any], orders: int) -> list[str]:
    names = functions(case, folder)
    f, scalar, second = names["f"], names["scalar"], names["second"]
    value, gradient, twice = how(f) if how is tp.jit else None, how(tp.value_and_grad(scalar)), how(tp.grad(second))
    limits = LIMITS.get(case.operation, set())
    found: list[str] = []

    def judge(what: str, call: Any, got: Any, wanted: Any, tol: float) -> None:
        wrong = problem(got, wanted, tol, limits)
        if wrong is not None:
            found.append(f"{case.name} {what} {call}: {wrong}")

    for seed, call in enumerate(CALLS):
        args = arguments(*call, seed)
        wanted = outcome(lambda: np.array(f(*args)))
        if value is not None or not seed:
            run = value if value is not None else lambda *given: printed(f, given)
            judge("value", call, outcome(lambda: np.array(run(*args))), wanted, 1e-9)
        both = outcome(lambda: gradient(*args))
        total = wanted if isinstance(wanted, str) else np.sum(wanted * 1.5)
        judge("total", call, both if isinstance(both, str) else both[0], total, 1e-9)
        if isinstance(both, str) or isinstance(wanted, str) or not np.all(np.isfinite(wanted)):
            continue
        judge("gradient", call, both[1], differences(scalar, args), 2e-6)
        if orders > 1:
            again = outcome(lambda: differences(second, args))
            if not isinstance(again, str):
                judge("second", call, outcome(lambda: twice(*args)), again, 1e-4)
    return found


QUICK = covering(1)


@pytest.mark.parametrize("case", QUICK[:10], ids=lambda c: c.name)
def test_interpreted(case: Case, folder: Path) -> None:
    assert not problems(case, folder, lambda f: f, 1)


def of_parts(a, v):
    return np.concatenate([a[len(v) :], v[len(a) :]])


def of_both(a, v):
    return np.correlate(a, v, "valid")


def of_two_ends(a, v):
    return np.convolve(a[2:], v[1:])


def of_a_diagonal(a, v):
    return np.diagonal(np.outer(a, v[:2]))


FORMS = [(of_parts, 3, 2), (of_parts, 2, 3), (of_both, 3, 3), (of_two_ends, 3, 2), (of_a_diagonal, 1, 2)]


@pytest.mark.parametrize("maker, n, m", FORMS)
def test_forms_of_two_sizes_that_are_one(maker: Callable[..., Any], n: int, m: int) -> None:
    """No symbol can be solved for it: that the form is 1 is checked, and the type rule goes on to give the form."""

    def scalar(a: Any, v: Any, w: Any) -> Any:
        return np.sum(np.atleast_2d(maker(a, v)) * w)

    a, v, w, *_ = arguments(n, m, 0, 0, 0)
    args = a, v, w[:, :2]
    value, gradient = tp.value_and_grad(scalar)(*args)
    assert np.isclose(value, scalar(*args)) and np.allclose(gradient, differences(scalar, args), atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
def test_all_interpreted(maker: str, folder: Path) -> None:
    """Each with each; second order for every fifth."""
    cases = [Case(maker, operation) for operation in OPERATIONS]
    found = [problems(c, folder, lambda f: f, 2 if hash_of(c) % 5 == 0 else 1) for c in cases]
    assert not (text := "\n".join(line for lines in found for line in lines)), text


def hash_of(case: Case) -> int:
    """The same in every run."""
    return sum(map(ord, case.name))


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("case", covering(2), ids=lambda c: c.name)
def test_compiled(case: Case, folder: Path, cache_directory: Any) -> None:
    assert not problems(case, folder, tp.jit, 2 if hash_of(case) % 5 == 0 else 1)


def weighted_mask(x: Any, n: int) -> Any:
    return np.average(x[x > 1.0], weights=x[x > 1.0] ** 2)


def weighted_parts(x: Any, n: int) -> Any:
    return np.average(x[1 : n + 1], weights=x[:n])


def weighted_range(x: Any, n: int) -> Any:
    return np.average(np.arange(n) * x[0], weights=x[:n])


def weighted_rows(x: Any, n: int) -> Any:
    a = np.outer(x, x)[:n]
    return np.sum(np.average(a, axis=0, weights=x[1 : n + 1]) + np.average(a, axis=(0, 1), weights=a + 1.0))


def weighted_quantile(x: Any, n: int) -> Any:
    return np.quantile(x[:n], 0.4, weights=x[1 : n + 1], method="inverted_cdf")


WEIGHTED = [weighted_mask, weighted_parts, weighted_range, weighted_rows, weighted_quantile]


@pytest.mark.parametrize("function", WEIGHTED)
def test_weights_whose_size_only_the_run_knows(function: Callable[..., Any]) -> None:
    x = np.array([1.5, 0.5, 2.0, 3.0])
    for n in (2, 3):
        value, gradient = tp.value_and_grad(function)(x, n)
        assert np.isclose(value, function(x, n)) and np.allclose(gradient, differences(function, (x, n)), atol=1e-6)


def test_weights_of_another_size_are_refused_at_run_time() -> None:
    x = np.array([1.5, 0.5, 2.0, 3.0])
    with pytest.raises(ValueError):
        tp.grad(lambda x, n, m: np.average(x[:n], weights=x[:m]))(x, 2, 3)
