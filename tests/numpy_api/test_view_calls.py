"""View or copy: what a call gives is written, then the argument is read; the argument is written, then the result is read.

All functions of the API tables, methods and operators, in several ranks and layouts, against NumPy: the value agrees, or the
program is refused.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_cases import normal
from shared_cases import ARGUMENTS, LAYOUTS, calls, cases, evaluated

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

HALVES = {
    "both": "s = r{way}\n    s *= 2.0\n    t = a * 1.0\n    a += 1.0\n    return t, s * 1.0",
    "result": "s = r{way}\n    s *= 2.0\n    return a * 1.0, s * 1.0",
    "argument": "s = r{way}\n    a += 1.0\n    return a * 1.0, s * 1.0",
}


def text_of(name: str, layout: str, call: str, half: str) -> str:
    return f"def {name}(x):\n    a = {LAYOUTS[layout]}\n    r = {call}\n    {HALVES[half].format(way='')}\n\n\n"


def module_of(path: Path, text: str) -> Any:
    path.write_text("import numpy as np\nimport scipy.linalg\nimport scipy.special\n\n\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(f: Any, x: Any, run: Any) -> Any:
    """What the program gives; None where NumPy raises, "refused" where we refuse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(f)(x.copy())
    except TranspileError:
        return "refused"
    except (
        ValueError,
        TypeError,
        IndexError,
        ZeroDivisionError,
        np.linalg.LinAlgError,
        np.exceptions.DTypePromotionError,
    ):
        return None


def interpreted(f: Any) -> Any:
    return Transformed(f, Level())


def agree(found: Any, wanted: Any) -> bool:
    return all(
        np.shape(f) == np.shape(w) and np.allclose(f, w, rtol=1e-9, equal_nan=True) for f, w in zip(found, wanted)
    )


def check(path: Path, which: Iterable[tuple[str, str, str]], run: Any = interpreted) -> tuple[list[str], Counter[str]]:
    """The programs whose values are wrong, and what became of all."""
    ready = list(which)
    names = [f"f{k}_{half}" for k in range(len(ready)) for half in HALVES]
    text = "".join(text_of(f"f{k}_{half}", c[1], c[2], half) for k, c in enumerate(ready) for half in HALVES)
    module = module_of(path, text)
    wrong: list[str] = []
    counts: Counter[str] = Counter()
    assert len(names) == 3 * len(ready)
    for k, case in enumerate(ready):
        x = normal(*ARGUMENTS[case[0]], seed=7)
        for half in HALVES:
            f = getattr(module, f"f{k}_{half}")
            wanted = outcome(f, x, lambda f: f)
            if wanted is None:
                counts["NumPy raises"] += 1
                found = outcome(f, x, run) if half != "both" else None
                if found is not None and not isinstance(found, str):
                    wrong.append(f"{case} {half}: {found}, NumPy raises")
                continue
            found = outcome(f, x, run)
            if found is None or isinstance(found, str):
                counts["refused" if found else "raises"] += 1
                continue
            counts["agree"] += 1
            if not agree(found, wanted):
                wrong.append(f"{case} {half}: {found}, NumPy {wanted}")
            if half == "both":
                break
    return wrong, counts


def test_what_is_written_is_seen_where_numpy_sees_it(tmp_path: Path) -> None:
    wrong, counts = check(tmp_path / "calls.py", cases(every=450))
    assert not wrong, "\n".join(wrong)
    assert counts["agree"] > 1.5 * counts["refused"]


GIVEN_BACK = [
    ("vector", "copied", "np.histogram(a, a)[1]"),
    ("vector", "copied", "np.histogram(a * 1.0, np.sort(a))[1]"),
    ("number", "copied", "np.apply_over_axes(np.sum, a, [])"),
    ("matrix", "copied", "np.apply_over_axes(np.sum, a, [])"),
    ("row", "copied", "np.polyadd(a, 1)"),
    ("row", "copied", "np.polysub(a, a)"),
]


def test_what_is_given_back_is_what_was_given(tmp_path: Path) -> None:
    wrong, counts = check(tmp_path / "calls.py", GIVEN_BACK)
    assert not wrong, "\n".join(wrong)
    assert counts["refused"] == 0


NUMBERS = {"array of rank 0": np.array(0.3), "NumPy number": np.float64(0.3), "vector": np.array([0.3, 0.7, 0.1])}


def results_of_rank_0(every: int) -> list[tuple[str, str, bool]]:
    """(call, argument, whether NumPy gives an array of rank 0 and not a number)."""
    found: list[tuple[str, str, bool]] = []
    for k, call in enumerate(dict(calls())):
        for which, a in NUMBERS.items() if k % every == 0 else ():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    given = evaluated(call, a.copy())
            except Exception:  # it is none of NumPy's
                continue
            if isinstance(given, (np.ndarray, np.generic, float, int)) and np.ndim(given) == 0:
                found.append((call, which, isinstance(given, np.ndarray)))
    return found


def test_a_number_or_an_array_of_rank_0(tmp_path: Path) -> None:
    ready = results_of_rank_0(every=40)
    text = "".join(f"def f{k}(a):\n    return {call}\n\n\n" for k, (call, _, _) in enumerate(ready))
    module = module_of(tmp_path / "calls.py", text)
    found = [outcome(getattr(module, f"f{k}"), NUMBERS[which], interpreted) for k, (_, which, _) in enumerate(ready)]
    known = [(*case, f) for case, f in zip(ready, found) if f is not None and not isinstance(f, str)]
    assert len(known) > len(ready) // 2
    assert not [(call, which) for call, which, array, f in known if isinstance(f, np.ndarray) != array]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(20))
def test_all_calls(start: int, tmp_path: Path) -> None:
    wrong, counts = check(tmp_path / "calls.py", list(cases(every=5))[start::20])
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.numba
def test_compiled(tmp_path: Path) -> None:
    """The same in compiled code, which also leaves the caller's array alone."""
    wrong, _ = check(tmp_path / "calls.py", cases(every=400), tp.jit)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_gradients(tmp_path: Path) -> None:
    """The derivative along a direction, in both modes, against differences."""
    which = [c for c in cases(every=120) if c[2].startswith(("np.", "a.")) and "linalg" not in c[2]]
    text = "".join(text_of(f"f{k}", c[1], c[2], "both") for k, c in enumerate(which))
    module = module_of(tmp_path / "calls.py", text)
    checked = sum(_has_derivative(getattr(module, f"f{k}"), c) for k, c in enumerate(which))
    assert checked > len(which) // 3


def _has_derivative(f: Any, case: tuple[str, str, str]) -> bool:
    """Checks one program; False where NumPy raises, we refuse, or differences say nothing."""
    x, v = (np.asarray(normal(*ARGUMENTS[case[0]], seed=s)) for s in (7, 8))
    near, far = ([np.asarray(x + k * h * v) for k in (1, -1)] for h in (1e-5, 2e-5))
    if any(not isinstance(outcome(f, y, g), tuple) for y in (x, *near, *far) for g in (lambda f: f, interpreted)):
        return False
    try:
        value, tangent = tp.jvp(f, (x,), (v,))
    except TranspileError:  # it has no derivative
        return False
    if any(np.asarray(t).dtype.kind != "f" for t in value):
        return False
    slopes, others = ([(a - b) / (h * 1e-5) for a, b in zip(f(p), f(m))] for h, (p, m) in ((2, near), (4, far)))
    if any(not np.allclose(a, b, rtol=1e-4, atol=1e-4) for a, b in zip(slopes, others)):
        return False
    for got, slope in zip(tangent, slopes):
        np.testing.assert_allclose(got, slope, rtol=1e-5, atol=1e-5, err_msg=str(case))
    bars = [np.asarray(normal(*np.shape(t), seed=k)) for k, t in enumerate(value)]
    (x_bar,) = tp.vjp(f, x)[1](tuple(b if isinstance(t, np.ndarray) else float(b) for b, t in zip(bars, value)))
    left = sum(np.sum(b * t) for b, t in zip(bars, tangent))
    np.testing.assert_allclose(np.sum(v * x_bar), left, rtol=1e-9, atol=1e-9, err_msg=str(case))
    return True


@pytest.mark.parametrize("text", ["x.ravel('K')", "x.flatten('A')", "np.reshape(x, -1, order='A')"])
def test_an_order_that_goes_by_the_layout_is_refused(text: str, tmp_path: Path) -> None:
    module = module_of(tmp_path / "calls.py", f"def f(x):\n    return np.sum({text} * np.arange(6.0))\n")
    with pytest.raises(TranspileError) as caught:
        tp.grad(module.f)(np.asfortranarray(np.ones((2, 3))))
    assert caught.value.codes == ("T201",)
