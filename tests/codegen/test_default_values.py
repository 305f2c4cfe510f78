"""Printed functions keep the default values of their arguments: of every kind, by `source` and by the command line."""

import contextlib
import inspect
import io
import itertools

import numpy as np
import pytest

import transpile as tp
from transpile.cli import main

DEFAULTS = {
    "float": ["0.5", "-2.0", "3", 'float("inf")', "HALF", "np.pi"],
    "int": ["3", "-1", "COUNT"],
    "bool": ["True", "False"],
}
HEADS = [("", ", *, "), (", ", ", "), (", *, ", ", ")]  # how the second and third argument are given
BODY = """
import numpy as np
COUNT = 2
HALF = np.float64(0.25)
def f(x: float{0}a: {1} = {2}{3}b: {4} = {5}) -> float:
    return x * x * (1.0 if a else 2.0) + x * (0.5 if b else 0.25)
"""


def programs():
    kinds = [(kind, value) for kind, values in DEFAULTS.items() for value in values]
    for (a, b), (one, other) in itertools.product(itertools.product(kinds, kinds[::3]), HEADS):
        yield BODY.format(one or ", ", a[0], a[1], other, b[0], b[1])


def printed(text, path, command, *options):
    path.write_text(text)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([command, f"{path}:f", *options]) == 0
    return out.getvalue()


def made(text, name):
    space = {}
    exec(text, space)
    return space[name]


def check(text, path):
    """The gradient with nothing but x given, as of the function itself."""
    f, found = made(text, "f"), made(printed(text, path, "grad"), "f_grad")
    wanted = {k: p.default for k, p in inspect.signature(f).parameters.items()}
    assert {k: p.default for k, p in inspect.signature(found).parameters.items()} == wanted
    step = 1e-6
    assert abs(found(1.5) - (f(1.5 + step) - f(1.5 - step)) / (2 * step)) < 1e-6


@pytest.mark.parametrize(
    "text",
    [pytest.param(t, marks=[] if k % 30 == 0 else pytest.mark.slow, id=str(k)) for k, t in enumerate(programs())],
)
def test_the_command_line_keeps_them(text, tmp_path):
    check(text, tmp_path / "m.py")


def test_what_must_be_given_stands_before_them(tmp_path):
    text = BODY.format(", ", "int", "3", ", ", "bool", "True")
    headings = [
        next(line for line in printed(text, tmp_path / "m.py", *command).splitlines() if line.startswith("def f_"))
        for command in (["jvp"], ["vjp"], ["jacfwd"], ["hessian"], ["grad", "--standalone"], ["grad", "--jit"])
    ]
    assert headings == [
        "def f_jvp(x, a, b, x_dot):",
        "def f_vjp(x, a, b, y_bar):",
        *["def f_jac(x, a=3, b=True):", "def f_hessian(x, a=3, b=True):"],
        *["def f_grad(x, a=3, b=True):"] * 2,
    ]


def flagged(x, kind="a", dims=(1, 2), n=3, weight=None):
    return x * n if kind == "a" else x * dims[0]


OUTSIDE = np.ones(2)


def outside(x, n=3):
    return np.sum(x * OUTSIDE) * n


@pytest.mark.quick
@pytest.mark.parametrize(
    ("args", "heading"),
    [
        ((1.0,), "(x)"),
        ((1.0, "a", (1, 2), 3), "(x, kind='a', dims=(1, 2), n=3)"),
        ((1.0, "b", (1, 2), 3), "(x, kind, dims=(1, 2), n=3)"),  # made for another value
        ((1.0, "a", (1, 2), np.ones(2)), "(x, kind, dims, n)"),
        ((1.0, "a", (1, 2), 2.5), "(x, kind='a', dims=(1, 2), n=3)"),
    ],
)
def test_of_other_types_none_fits(args, heading):
    f = tp.grad(flagged) if not isinstance(args[-1], np.ndarray) else tp.jacfwd(flagged)
    text = tp.source(f, *args)
    assert f"{heading}:" in text.replace('"', "'"), text


def test_what_is_read_outside_comes_last():
    assert "(x, n, OUTSIDE):" in tp.source(tp.grad(outside), 1.0, 3)
    assert tp.grad(outside)(1.0) == tp.grad(outside)(1.0, 3) == 6.0
