"""Functions that a file transforms at its top level mean, where the file is not run, what they mean where it is."""

from __future__ import annotations

import types

import numpy as np
import pytest

import transpile as tp
from transpile.cli import main

HEAD = """
from functools import partial

import numpy as np
import transpile as tp
import transpile.lax as L
from transpile import custom_vjp, grad, jit, lax, tree, vmap
from transpile.tree import map as over_leaves


def f(w, x):
    return np.sum(np.sin(w) * x) * x[0]


@custom_vjp
def scaled(x):
    return 2.0 * x


scaled.defvjp(lambda x: (scaled(x), None), lambda _, bar: (7.0 * bar,))
AXES = (None, 0)
"""
W = np.array([0.7, -0.3, 1.2])
MADE = """
# assigned: np.sum(g(w, 2.0 * w))
g = grad(f)


# by position: np.sum(g(w, w * w)[1])
g = tp.grad(f, (0, 1))


# with the value: g(w, w)[0] + np.sum(g(w, w)[1] ** 2)
g = tp.value_and_grad(f, argnums=1)


# stack: np.sum(g(w, np.stack([w, 2.0 * w])))
g = jit(vmap(grad(f), in_axes=AXES))


# lambda: np.sum(g(w))
g = vmap(lambda a: np.tanh(a) * a)


# of NumPy's: np.sum(g(w))
g = vmap(grad(np.sin))


# of one with a derivative of its own: np.sum(g(w) * w)
g = vmap(scaled)


# gradient of one with a derivative of its own: np.sum(g(w)) + grad(scaled)(w[0])
g = vmap(grad(scaled))


# hessian: np.sum(g(w, w)) + np.sum(h(w, w) ** 2)
g = tp.hessian(f)
h = tp.jacfwd(g, 1)


# partial: np.sum(g(w) * w)
g = partial(grad(f, 1), np.array([1.0, 2.0, 0.5]))


# partial by name: np.sum(g(w) * w)
g = partial(grad(f), x=np.array([1.0, 2.0, 0.5]))


# partial of a partial: np.sum(h(w) * w)
g = partial(partial(f, np.array([1.0, 2.0, 0.5])))
h = grad(g)


# decorator: np.sum(g(w))
@vmap
def g(a):
    return a * np.exp(a)


# decorator with options: np.sum(g(w, w))
@tp.grad(argnums=1)
def g(w, x):
    return f(w, x * x)


# decorator of a partial: np.sum(g(w, w))
@partial(vmap, in_axes=(None, 0))
def g(w, a):
    return f(w, a * w)


# decorators: np.sum(g(w))
@jit
@vmap
@partial(grad, argnums=0)
def g(a):
    return np.sin(a) * a


# decorators below: g(w[0]) * g(w[1])
@grad
@jit
@grad
def g(a):
    return np.sin(a) * a


# partial of jit: np.sum(g(w, 3))
@partial(jit, static_argnums=1)
def g(a, n):
    return a**n


# partial of NumPy's: np.sum(g(np.outer(w, w)) ** 2)
g = partial(np.sum, axis=0)


# partial of one with a derivative of its own: np.sum(g(w) * w)
g = partial(scaled)


# partial of a class: g(w[0]).a * g(w[1]).b
from typing import NamedTuple
class P(NamedTuple):
    a: float
    b: float
g = partial(P, 3.0)


# module of ours: g(w)[0] + np.sum(g(w)[1])
g = partial(L.scan, lambda c, a: (c * a, c), 1.0)


# function of ours: np.sum(g(lambda a: a * a, {'k': w})['k'])
g = over_leaves


# dataclass: np.sum(vmap(Model(w))(np.ones(4))[:, 1])
from dataclasses import dataclass
@dataclass
class Model:
    w: object

    def __call__(self, a):
        return np.tanh(self.w * a)


# class: np.sum(vmap(Model(w))(np.ones(4))[:, 1]) + np.sum(Deeper(w)(2.0))
class Model:
    def __init__(self, w, k=2.0):
        self.w, self.k = w, k

    def __call__(self, a):
        return np.tanh(self.w * a) * self.k

class Deeper(Model):
    def __init__(self, w):
        Model.__init__(self, w, k=3.0)
        self.k = self.k * w[0]


# dataclass that is written: g(P(w[0])).w ** 2 * g(P(w[1])).n
import dataclasses
@dataclasses.dataclass
class P:
    w: float
    n: int = 0

def g(p):
    p.w = p.w * 2.0
    p.n += 1
    return p


# registered class: np.sum(grad(lambda m: np.sum(np.sin(m.w)))(tree.map(lambda v: v * v, Model(w))).w)
class Model:
    def __init__(self, w):
        self.w = w

tree.register_node(Model, lambda m: ((m.w,), None), lambda aux, c: Model(*c))
"""

WRONG = """
# T406 'N': g(w, w)
g = grad(f, argnums=N)


# T601 'rows': g(w, w)
g = vmap(f, in_axes='rows')


# T132 axes: g(w, w)
g = vmap(f, axes=0)


# T406 not a literal: g(w)
g = vmap(unknown)


# T130 '@logged': g(w)
@logged
@vmap
def g(a):
    return a


# T123 'n': g(w)
class M:
    def __init__(self, w):
        self.w = w

    @property
    def n(self):
        return self.w

def g(w):
    m = M(w)
    m.n = 2.0
    return m.n


# T123 frozen: g(w)
@dataclasses.dataclass(frozen=True)
class M:
    w: float

def g(w):
    m = M(w)
    m.w = 2.0
    return m.w


# T130 is not supported: M(w).w
class M(logging.Logger):
    def __init__(self, w):
        self.w = w


# T416 1 / np.sqrt(x): L.rsqrt(w)
g = grad


# T416 tree.map: tree.tree_map(np.sin, w)
g = grad
"""


def blocks(texts):
    """What a file defines, by what stands behind the ``#`` above it: a name, and an expression of what it defines."""
    found = {}
    for block in texts.strip().split("\n\n\n"):
        head, _, made = block.partition("\n")
        name, _, use = head.removeprefix("# ").partition(": ")
        found[name] = made, use
    return found


CASES, MISTAKES = blocks(MADE), blocks(WRONG)


def written(name, tmp_path):
    made, use = CASES[name]
    text = f"{HEAD}\n\n{made}\n\n\ndef loss(w: 'float64[n]'):\n    return {use}\n"
    file = tmp_path / "model.py"
    file.write_text(text + "\n\nraise RuntimeError('the file was executed')\n")
    return file, tp.from_source(text)


@pytest.mark.parametrize("name", CASES)
def test_what_a_file_transforms(name, tmp_path):
    file, loss = written(name, tmp_path)
    out = tmp_path / "out.py"
    for stack, wanted in (
        ("grad(f)", tp.grad(loss)(W)),
        ("vmap(grad(f))", np.stack([tp.grad(loss)(W), tp.grad(loss)(0.5 * W)])),
    ):
        assert main(["emit", f"{file}:loss", stack, "-o", str(out), "--standalone", "--force"]) == 0
        scope = {"__name__": "out"}
        exec(out.read_text(), scope)
        assert not any(
            "transpile" in getattr(v, "__name__", "") for v in scope.values() if isinstance(v, types.ModuleType)
        )
        made = next(v for k, v in scope.items() if k.startswith("loss_grad"))
        given = W if stack == "grad(f)" else np.stack([W, 0.5 * W])
        np.testing.assert_allclose(made(given), wanted, rtol=1e-11)


@pytest.mark.parametrize("name", MISTAKES)
def test_what_a_file_does_not_say(name, tmp_path, capsys):
    (made, use), (code, _, words) = MISTAKES[name], name.partition(" ")
    file = tmp_path / "model.py"
    head = f"{HEAD}\nimport dataclasses, logging\nfrom os import environ\nN = int(environ['N'])\nlogged = logging.log\n"
    file.write_text(f"{head}\n{made}\n\n\ndef loss(w: 'float64[n]'):\n    return np.sum({use})\n")
    assert main(["emit", f"{file}:loss", "grad(f)"]) == 1
    told = capsys.readouterr().err
    assert f"[{code}]" in told and words in told and "model.py:" in told, told


def test_a_function_that_is_transformed_where_it_is_defined(tmp_path, capsys):
    file = written("decorator", tmp_path)[0]
    assert main(["emit", f"{file}:g", "grad(f)", "--arg", "a=float"]) == 1
    assert "[T130]" in capsys.readouterr().err
