"""Primitives with an expansion: none is left, whether its value is a name's or what a buffer begins with."""

from __future__ import annotations

import numpy as np
import pytest
from core_eval import evaluate
from differences import gradient_by_differences
from verified import verify

import transpile as tp
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.core.walk import statements
from transpile.ops.tables import prims
from transpile.simplify.expansion import expanded

SQUARE = Type("float64", (Dim.symbol("n"), Dim.symbol("n")))
ARGUMENTS = {"cholesky_adjoint": (SQUARE, SQUARE)}


def function(name: str, in_buffer: bool) -> ir.Function:
    params = [ir.Var(f"x{k}", t) for k, t in enumerate(ARGUMENTS[name])]
    made = ir.Var("made", prims()[name].type_rule([p.type for p in params], {}), buffer=in_buffer)
    stmts: list[ir.Stmt] = [(ir.Alloc if in_buffer else ir.Let)(made, name, tuple(params), {})]
    found = made
    if in_buffer:
        found = ir.Var("found", made.type)
        stmts.append(ir.Let(found, "index", (made,), {"path": ()}))
    size = ir.Var("n", Type("int64", ()))
    stmts.insert(0, ir.Let(size, "dim", (params[0],), {"axis": 0}))
    return ir.Function("f", tuple(params), ir.Block(stmts=stmts, yields=(found,)), {"n": size})


def test_all_that_have_one_are_tried() -> None:
    assert {name for name, record in prims().items() if record.expansion is not None} == set(ARGUMENTS)


@pytest.mark.parametrize("in_buffer", [False, True])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_none_is_left(name: str, in_buffer: bool) -> None:
    done = verify(expanded(function(name, in_buffer)))
    assert not any(getattr(s, "prim", "") == name for s in statements(done.body))
    low = np.linalg.cholesky(np.array([[2.0, 0.3], [0.3, 1.0]]))
    bar = np.array([[0.5, 0.0], [0.2, -0.7]])
    plain = expanded(function(name, False))
    np.testing.assert_array_equal(evaluate(done, low, bar), evaluate(plain, low, bar))


def likelihood(p):
    """The factor of a matrix that loops fill: its adjoint is what the backward loops write into."""
    a = np.empty((3, 3))
    for i in range(3):
        for j in range(i + 1):
            a[i, j] = np.exp(-p[0] * (i - j) ** 2)
            a[j, i] = a[i, j]
        a[i, i] += p[1]
    return np.sum(np.log(np.diag(np.linalg.cholesky(a)))) + np.sum(np.linalg.cholesky(a)[2] ** 3)


def test_what_a_buffer_begins_with_is_differentiated_again() -> None:
    p, v = np.array([0.4, 0.6]), np.array([1.0, -2.0])
    wanted = gradient_by_differences(lambda q: float(tp.grad(likelihood)(q) @ v), p, 1e-6)
    for found in (tp.jvp(tp.grad(likelihood), (p,), (v,))[1], tp.grad(lambda q: tp.grad(likelihood)(q) @ v)(p)):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    lanes = tp.vmap(tp.grad(likelihood))(np.stack([p, p + 0.1]))
    np.testing.assert_allclose(lanes[1], tp.grad(likelihood)(p + 0.1), rtol=1e-12)
