"""``import`` inside a function: carried out when the function is lifted, followed by name on the command line."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.cli import main

FUNCTIONS = """
import numpy as np


def whole(x):
    import inner_one
    return inner_one.scaled(x)


def dotted(x):
    import inner_package.deep
    return inner_package.deep.shifted(x) * inner_package.FACTOR


def dotted_as(x):
    import inner_package.deep as d
    return d.shifted(x)


def named(x):
    from inner_one import scaled as s, RATE
    return s(x) * RATE


def submodule(x):
    from inner_package import deep
    return deep.shifted(x)


def library(x):
    import scipy.special
    from math import cos
    import colorsys as c
    return scipy.special.erf(x) + cos(x) + c.rgb_to_hsv(x, 0.2, 0.3)[2]


def nested(x):
    def inside(y):
        from inner_one import scaled
        return scaled(y)
    return inside(x) + [inside(v) for v in (x, 1.0)][0]


def branched(x):
    if x > 100.0:
        import no_such_module
        return no_such_module.f(x)
    elif x > 10.0:
        from inner_one import no_such_name
        return no_such_name(x)
    else:
        from inner_one import scaled
    return scaled(x)


def in_a_loop(x):
    for _ in range(3):
        import inner_one
        x = inner_one.scaled(x)
    return x


def missing(x):
    import no_such_module
    return x


def missing_name(x):
    from inner_one import no_such_name
    return x


def broken(x):
    from inner_broken import f
    return f(x)
"""
MODULES = {
    "inner_functions.py": FUNCTIONS,
    "inner_one.py": "RATE = 3.0\n\n\ndef scaled(x):\n    return x * 2.0\n",
    "inner_package/__init__.py": "FACTOR = 5.0\n",
    "inner_package/deep.py": "from . import FACTOR\n\n\ndef shifted(x):\n    return x + FACTOR\n",
    "inner_package/relative.py": (
        "def near(x):\n    from .deep import shifted\n    from . import FACTOR, deep\n"
        "    return shifted(x) * FACTOR + deep.shifted(x)\n"
    ),
    "inner_broken.py": "raise ValueError('not today')\n",
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module("inner_functions")
    for name in [n for n in sys.modules if n.startswith("inner_")]:
        del sys.modules[name]


NAMES = "whole dotted dotted_as named submodule library nested branched in_a_loop".split()


@pytest.mark.parametrize("name", NAMES)
def test_what_python_gives(module, name):
    f = getattr(module, name)
    value, slope = Transformed(f, Level())(0.75), tp.grad(f)(0.75)  # before Python itself has imported anything
    assert value == pytest.approx(f(0.75))
    assert slope == pytest.approx((f(0.75 + 1e-6) - f(0.75 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_compiled(module, name):
    f = getattr(module, name)
    assert tp.jit(f)(0.75) == pytest.approx(f(0.75))


def test_relative(module):
    near = importlib.import_module("inner_package.relative").near
    assert Transformed(near, Level())(1.0) == near(1.0) == 36.0


@pytest.mark.parametrize("level", [lambda f: Transformed(f, Level()), tp.jit], ids=["interpreted", "compiled"])
def test_an_import_that_fails_in_a_branch_raises_there(module, level):
    f = level(module.branched)
    assert f(1.0) == 2.0
    for x, what, message in ((200.0, ModuleNotFoundError, "no_such_module"), (20.0, ImportError, "no_such_name")):
        for call in (module.branched, f):
            with pytest.raises(what, match=message):
                call(x)
    assert f(1.0) == 2.0


@pytest.mark.parametrize("name, message", [
    ("missing", "ModuleNotFoundError: No module named 'no_such_module'"),
    ("missing_name", "ImportError: cannot import name 'no_such_name'"),
    ("broken", "raises ValueError: not today"),
])  # fmt: skip
def test_an_import_that_fails(module, name, message):
    with pytest.raises(tp.TranspileError, match="T110") as caught:
        tp.grad(getattr(module, name))(1.0)
    (found,) = caught.value.diagnostics
    line = FUNCTIONS.splitlines()[found.loc.line - 1].strip()
    assert message in str(found) and line.startswith(("import", "from"))


def test_the_command_line_runs_nothing(module, tmp_path, capsys):
    """Neither the file nor what it imports, at its top or inside a function."""
    for name in ("inner_one.py", "inner_package/__init__.py", "inner_package/deep.py", "inner_functions.py"):
        with open(tmp_path / name, "a") as file:
            file.write("\nraise RuntimeError('the file was executed')\n")
    for name in [n for n in sys.modules if n.startswith("inner_")]:
        del sys.modules[name]
    for name in ("whole", "dotted", "dotted_as", "named", "submodule", "nested"):
        assert main(["grad", f"inner_functions.py:{name}", "--arg", "x=float"]) == 0, capsys.readouterr().err
        namespace: dict = {}
        exec(capsys.readouterr().out, namespace)
        wanted = {"whole": 2.0, "dotted": 5.0, "dotted_as": 1.0, "named": 6.0, "submodule": 1.0, "nested": 4.0}[name]
        assert np.isclose(namespace[f"{name}_grad"](1.0), wanted)
    assert main(["grad", "inner_functions.py:missing", "--arg", "x=float"]) == 1
    assert "T410" in capsys.readouterr().err
    assert not [n for n in sys.modules if n.startswith("inner_")]
