"""Programs of tests that are written as bodies of functions of ``x``: loaded, and compared with their own differences."""

from __future__ import annotations

import importlib.util
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from differences import gradient_by_differences

import transpile as tp


def text_of(body: str, head: str = "", name: str = "f") -> str:
    """The text of a module with this function."""
    return f"{head}\ndef {name}(x):\n{textwrap.indent(body, '    ')}\n"


def module_of(head: str, bodies: Sequence[str], folder: Path) -> ModuleType:
    """A module with the functions ``f0``, ``f1`` and so on, loaded from a file as users have them."""
    path = folder / "programs.py"
    path.write_text(head + "".join(text_of(body, name=f"f{k}") for k, body in enumerate(bodies)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def check_gradient(f: Callable, x: np.ndarray, original: Callable | None = None) -> None:
    """Asserts that value and gradient of ``f`` equal the value and the differences of ``original`` (``f`` itself by default),
    run by Python."""
    original = f if original is None else original
    slopes = gradient_by_differences(original, x, 1e-6)
    value, gradient = tp.value_and_grad(f)(x.copy())
    assert value == pytest.approx(float(original(x.copy())))
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)
