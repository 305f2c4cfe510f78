"""What a file that is not run says of derivatives of its own and of its classes: read from its statements."""

from __future__ import annotations

import pytest

from transpile.cli import main

FILE = """
import dataclasses
from dataclasses import dataclass
from functools import partial

import numpy as np
import transpile as tp
from transpile import custom_vjp, tree

raise RuntimeError("the file was executed")


@tp.custom_jvp
def f(x):
    return np.sin(x)


@f.defjvp
def f_rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return f(x), 10.0 * t


@custom_vjp
def g(x):
    return x * x


def forward(x):
    return g(x), x


def backward(x, bar):
    return (100.0 * bar,)


g.defvjp(forward, backward)


def plain(x):
    return x**3


h = tp.custom_vjp(plain)
h.defvjp(lambda x: (plain(x), None), lambda _, bar: (1000.0 * bar,))


@partial(tp.custom_vjp, nondiff_argnums=(0,))
def k(n, x):
    return n * x


k.defvjp(fwd=lambda n, x: (n * x, None), bwd=lambda n, _, bar: (10000.0 * bar,))


@tp.custom_jvp
def bare(x):
    return x


def loss(x: float):
    return f(x) + g(x) + h(x) + k(3, x)


def without(x: float):
    return bare(x)


@tree.register_dataclass
@dataclass
class Params:
    w: "float64[n]"
    b: float
    power: int = dataclasses.field(default=3, metadata={"static": True})


def of_params(p: Params):
    q = tree.map(lambda v: v * v, p)
    return np.sum(q.w) ** p.power + q.b


@dataclass
class Line:
    slope: float
    start: float


tree.register_node(Line, lambda line: ((line.slope,), line.start), lambda start, slopes: Line(*slopes, start))


def of_line(x: float):
    line = tree.map(lambda v: v * v, Line(x, 2.0))
    return line.slope * line.start
"""


@pytest.fixture
def emitted(tmp_path, monkeypatch, capsys):
    (tmp_path / "ruled.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)

    def emit(name, *more):
        status = main(["emit", f"ruled.py:{name}", "grad(f)", *more])
        out = capsys.readouterr()
        return out.out if not status else out.err

    return emit


def run(text, name, *args):
    names: dict = {}
    exec(text, names)
    return names[name](*args)


def test_rules_at_module_level(emitted):
    text = emitted("loss")
    assert "transpile" not in text
    assert run(text, "loss_grad", 0.5) == 11110.0


@pytest.mark.parametrize("name, gradient", [("f", 10.0), ("g", 100.0), ("h", 1000.0), ("plain", 0.75)])
def test_functions_with_rules_are_asked_for_themselves(emitted, name, gradient):
    made = {"h": "plain"}.get(name, name)
    assert run(emitted(name, "--arg", "x=float"), f"{made}_grad", 0.5) == gradient


def test_a_rule_that_is_missing(emitted):
    assert "T307" in emitted("without")


def test_registered_dataclasses(emitted):
    text = emitted("of_params")
    assert "from ruled import Params" in text and "power=3" in text
    assert run(emitted("of_line"), "of_line_grad", 1.5) == 6.0
