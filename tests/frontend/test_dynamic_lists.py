"""Lists that grow, in all that is done with lists: what Python gives, an error of its class, or a refusal with a code.

Each program is called with numbers of which all, some or none are appended, and with indices inside and outside; values and
derivatives along a line are compared with plain Python.
"""

from __future__ import annotations

import importlib.util
import random
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from grown_cases import HEAD, Case, cases

import transpile as tp
from transpile.errors import TranspileError

POINTS = (
    (np.array([0.91, 0.52, 0.73, 1.24]), 1),
    (np.array([0.17, 0.55, 0.25, 0.35]), 0),
    (np.array([0.85, 0.95, 0.75, 0.65]), -2),
    (np.array([0.85, 0.35, 0.95]), 3),
)
TANGENT = np.array([0.3, -0.7, 0.9, 0.4])
REFUSED_AT_MOST = 0.2


def module_of(programs: Sequence[Case], folder: Path) -> ModuleType:
    path = folder / "grown_programs.py"
    path.write_text(HEAD + "".join(p.text for p in programs))
    spec = importlib.util.spec_from_file_location("grown_programs", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def outcome(f: Callable[..., Any], *args: Any) -> tuple[str, Any]:
    """What a call gives: a value, an error of Python's, or a refusal."""
    try:
        return "value", f(*args)
    except TranspileError as e:
        assert e.diagnostics[0].code and e.diagnostics[0].loc.line, e
        return "refused", str(e)
    except (IndexError, ValueError, AssertionError) as e:
        return "error", (type(e).__name__, traceback.format_exc())


def slope(f: Callable[..., Any], x: np.ndarray, k: int) -> float:
    """The derivative along a line, by differences."""
    step, t = 1e-6, TANGENT[: len(x)]
    return float((f(x + step * t, k) - f(x - step * t, k)) / (2 * step))


def agree(f: Callable[..., Any], made: Callable[..., Any], derivative: Callable[..., Any] | None, about: str) -> bool:
    """Whether all points give what Python gives; False if the program is refused."""
    for x, k in POINTS:
        wanted, found = outcome(f, x.copy(), k), outcome(made, x.copy(), k)
        if found[0] == "refused":
            return False
        assert found[0] == wanted[0], f"{about} at {x}, {k}: Python {wanted}, here {found}"
        if wanted[0] == "error":
            assert found[1][0] == wanted[1][0], f"{about} at {x}, {k}: Python {wanted}, here {found}"
            continue
        np.testing.assert_allclose(float(found[1]), float(wanted[1]), rtol=1e-12, err_msg=f"{about} at {x}, {k}")
        if derivative is not None:
            np.testing.assert_allclose(
                derivative(x, k), slope(f, x, k), rtol=1e-5, atol=1e-6, err_msg=f"{about}, {x}, {k}"
            )
    return True


def forward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, k: tp.jvp(f, (x, k), (TANGENT[: len(x)], None))[1]


def reverse(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, k: tp.grad(f)(x, k) @ TANGENT[: len(x)]


def check(programs: Sequence[Case], folder: Path, kinds: Sequence[str]) -> None:
    module = module_of(programs, folder)
    refused = []
    for program in programs:
        f = getattr(module, program.name)
        text = f"{program.name}\n{program.text}"
        made = tp.jit(f) if "compiled" in kinds else lambda x, k, f=f: tp.vjp(f, x, k)[0]
        derivative = {"forward": forward, "reverse": reverse}.get(kinds[0])
        if not agree(f, made, None if derivative is None else derivative(f), text):
            refused.append(program.name)
    assert len(refused) <= REFUSED_AT_MOST * len(programs) + 3, (
        f"{len(refused)} of {len(programs)} are refused: {refused}"
    )


ALL = list(cases())


def test_a_sample(tmp_path):
    check(random.Random(11).sample(ALL, 80), tmp_path, ["reverse"])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_all(part, tmp_path):
    check(ALL[part::20], tmp_path, ["reverse" if part % 2 else "forward"])


@pytest.mark.slow
def test_compiled(tmp_path):
    check(random.Random(7).sample(ALL, 60), tmp_path, ["compiled"])


def spread_sorted(v, n):
    a, b, c = sorted(v)
    return a * b + np.sin(c)


def spread_appended(v, n):
    out = []
    for k in range(n):
        out.append(v[k] * k)
    [a, b] = out
    return a + b * b


def spread_pairs(v, n):
    out = []
    for x in v:
        if x > 0.5:
            out.append((x, x * n))
    (a, b), (c, d) = out
    return a * d + c + b


def spread_in_a_loop(v, n):
    for _ in range(n):
        a, b, c = sorted(v)
        v = v * a + c
    return np.sum(v) * b


@pytest.mark.parametrize(
    "fn", [spread_sorted, spread_appended, spread_pairs, spread_in_a_loop], ids=lambda f: f.__name__
)
@pytest.mark.parametrize(
    "wrap",
    [tp.grad, pytest.param(lambda f: tp.jit(tp.value_and_grad(f)), marks=pytest.mark.numba)],
    ids=["grad", "jit"],
)
@pytest.mark.sampled(3)
def test_spread_over_names(cache_directory, fn, wrap):
    """As many as there are, or Python's error, which says how many there were."""
    g = wrap(fn)
    for size in (3, 2, 4, 1):
        for n in (2, 1, 3):
            v = np.array([0.9, 0.2, 0.7, 0.6])[:size]
            try:
                fn(v, n)
            except (ValueError, IndexError) as error:
                with pytest.raises((type(error), TranspileError)) as raised:
                    g(v, n)
                refused = getattr(raised.value, "codes", None) == (
                    "T134",
                )  # a size of one is known when it is transformed
                assert refused or type(error) is IndexError or str(error) in str(raised.value)
                continue
            found = g(v, n)
            slope = [(fn(v + h, n) - fn(v - h, n)) / 2e-6 for h in 1e-6 * np.eye(size)]
            np.testing.assert_allclose(found[1] if isinstance(found, tuple) else found, slope, rtol=1e-6, atol=1e-8)
