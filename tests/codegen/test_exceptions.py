"""Every exception of Python's and NumPy's that a program raises is raised by its derivative: the same class, the same message."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import transpile as tp


def names(module, prefix: str) -> list[str]:
    found = [n for n, v in vars(module).items() if isinstance(v, type) and issubclass(v, Exception)]
    return [f"{prefix}{n}" for n in found if not issubclass(getattr(module, n), Warning)]


NAMES = ["np.linalg.LinAlgError", *names(np.exceptions, "np.exceptions."), *names(builtins, "")]
COMPILED = ["np.linalg.LinAlgError", "np.exceptions.AxisError", "ZeroDivisionError", "KeyError", "BrokenPipeError"]


def raising(name: str):
    text = f"def f(x):\n    if x < 0.0:\n        raise {name}('bad')\n    return x * x\n"
    return tp.from_source(text, {"np": np})


def outcome(call) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:
        call(-1.0)
    return type(caught.value), str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_raised(name):
    f = raising(name)
    g = tp.grad(f)
    assert g(3.0) == 6.0
    assert outcome(g) == outcome(f)


@pytest.mark.numba
@pytest.mark.parametrize("name", COMPILED)
def test_it_is_raised_by_compiled_code_or_refused(name):
    f = raising(name)
    kind, text = outcome(tp.jit(tp.grad(f), cache=False))
    if kind is tp.TranspileError:
        assert "T501" in text and "compiled code cannot raise" in text
    else:
        assert (kind, text) == outcome(f)
