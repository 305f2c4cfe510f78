"""Reverse and forward mode on core built by hand: each recording strategy once, checked against differences."""

from __future__ import annotations

import numpy as np
import pytest
from core_eval import evaluate
from verified import verify

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.dump import dump
from transpile.core.types import FLOAT, INT, Type
from transpile.core.walk import defines, statements
from transpile.ops.tables import prims
from transpile.transform.jvp import jvp
from transpile.transform.vjp import vjp

N = Dim.symbol("n")
VECTOR = Type("float64", (N,))
MATRIX = Type("float64", (N, N))


class Script(Builder):
    """A builder with the control flow that the frontend would emit."""

    def __init__(self, *params: ir.Var) -> None:
        super().__init__(prims())
        self.params = params
        self.n = self.bind("n", INT, "dim", (params[0],), {"axis": 0}) if params[0].type.dims else None
        if self.n is not None:
            self.bind_symbol(N, self.n)

    def loop(self, start, bound, inits, body, step=1) -> list[Expr]:
        index = ir.Var("i", INT)
        symbol = Dim.symbol(f"i.{id(index)}")
        self.bind_symbol(symbol, index)
        inits = tuple(self.operand(i) for i in inits)
        params = tuple(ir.Var(f"c{k}", i.type) for k, i in enumerate(inits))
        with self.into(ir.Block(params)) as block:
            found = body(self.expr(index), *(self.expr(p) for p in params))
            block.yields = tuple(self.operand(f) for f in found)
        results = tuple(ir.Var(p.name, p.type) for p in params)
        ends = (self.operand(start), self.operand(bound), ir.Const(step, INT))
        self.emit(ir.For(index, *ends, inits, block, results, symbol=symbol))
        return [self.expr(r) for r in results]

    def while_(self, inits, test, body, stop=None) -> list[Expr]:
        inits = tuple(self.operand(i) for i in inits)
        blocks = []
        for build in (test, body):
            params = tuple(ir.Var(f"c{k}", i.type) for k, i in enumerate(inits))
            with self.into(ir.Block(params)) as block:
                found = build(*(self.expr(p) for p in params))
                block.yields = tuple(self.operand(f) for f in found)
                if stop is not None and build is body:
                    block.stop = self.operand(stop(*(self.expr(y) for y in block.yields)))
            blocks.append(block)
        results = tuple(ir.Var(f"c{k}", i.type) for k, i in enumerate(inits))
        self.emit(ir.While(inits, blocks[0], blocks[1], results))
        return [self.expr(r) for r in results]

    def branch(self, test, then, orelse) -> list[Expr]:
        sides = []
        for build in (then, orelse):
            with self.into(ir.Block()) as block:
                block.yields = tuple(self.operand(f) for f in build())
            sides.append(block)
        results = tuple(ir.Var("r", o.type) for o in sides[0].yields)
        self.emit(ir.If(self.operand(test), sides[0], sides[1], results))
        return [self.expr(r) for r in results]

    def get(self, source, *indices) -> Expr:
        return self.read(source, (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),), indices)

    def put(self, buf, value, *indices) -> None:
        self.store(buf, (ir.Index(tuple(ir.Point(k) for k in range(len(indices)))),), indices, value)

    def function(self, *results) -> ir.Function:
        return ir.Function(
            "f", self.params, ir.Block((), self.block.stmts, tuple(self.operand(r) for r in results)), self.symbols
        )


def while_power():
    x = ir.Var("x", FLOAT)
    s = Script(x)
    (c,) = s.while_([1.0], lambda c: [c < 10.0], lambda c: [c * x])
    return s.function(c), [2.0]


def product_of_trips():
    x = ir.Var("x", VECTOR)
    s = Script(x)
    (p,) = s.loop(0, s.n, [1.0], lambda i, p: [p * s.get(x, i)])
    return s.function(p), [np.array([1.5, 2.0, -0.7])]


def recurrence():
    x = ir.Var("x", VECTOR)
    s = Script(x)
    u = s.zeros("u", VECTOR)
    s.put(u, s.get(x, 0), 0)

    def body(i):
        s.put(u, s.elementwise("sin", s.get(u, i - 1)) * s.get(x, i), i)
        return []

    s.loop(1, s.n, [], body)
    return s.function(s.get(u, -1)), [np.array([0.5, 1.5, 2.0, -0.7])]


def in_place_square():
    x = ir.Var("x", VECTOR)
    s = Script(x)
    y = s.copy("y", x)

    def body(i):
        s.put(y, s.get(y, i) * s.get(y, i), i)
        return []

    s.loop(0, s.n, [], lambda k: s.loop(0, s.n, [], body) and [])
    return s.function(s.let("sum", s.read(y), axes=(0,), keepdims=False)), [np.array([0.5, 1.1, -0.7])]


def elimination():
    a = ir.Var("a", MATRIX)
    s = Script(a)
    m = s.copy("m", a)

    def outer(k):
        def rows(i):
            f = s.get(m, i, k) / s.get(m, k, k)

            def columns(j):
                s.put(m, s.get(m, i, j) - f * s.get(m, k, j), i, j)
                return []

            s.loop(k, s.n, [], columns)
            return []

        s.loop(k + 1, s.n, [], rows)
        return []

    s.loop(0, s.n, [], outer)
    (d,) = s.loop(0, s.n, [1.0], lambda k, d: [d * s.get(m, k, k)])
    return s.function(d), [np.array([[3.0, 1.0, 0.5], [0.2, 2.0, -1.0], [1.0, 0.3, 1.7]])]


def branches():
    x = ir.Var("x", VECTOR)
    s = Script(x)

    def body(i, acc):
        xi = s.get(x, i)
        (r,) = s.branch(xi > 0.0, lambda: [s.elementwise("log", xi) * acc], lambda: [s.elementwise("exp", xi) + acc])
        return [r]

    (acc,) = s.loop(0, s.n, [1.0], body)
    (out,) = s.branch(acc > 0.0, lambda: [s.elementwise("sin", acc) * acc], lambda: [acc * acc])
    return s.function(out), [np.array([0.5, -1.1, 2.7, -0.3])]


def newton_inside_loop():
    x = ir.Var("x", VECTOR)
    s = Script(x)

    def body(i, total):
        xi = s.get(x, i)
        (r,) = s.while_([1.0], lambda r: [s.elementwise("absolute", r * r - xi) > 1e-9], lambda r: [0.5 * (r + xi / r)])
        return [total + r * r * r]

    (total,) = s.loop(0, s.n, [0.0], body)
    return s.function(total), [np.array([0.5, 1.1, 2.7])]


def while_with_stop():
    x = ir.Var("x", FLOAT)
    s = Script(x)
    c, k = s.while_([1.0, 0.0], lambda c, k: [k < 10.0], lambda c, k: [c * x + k, k + 1.0], lambda c, k: c > 20.0)
    return s.function(c), [1.7]


def swapped_vectors():
    x = ir.Var("x", VECTOR)
    s = Script(x)

    def body(i, u, v):
        w = s.copy("w", v)
        s.store(w, (), (), s.read(w) * u + u)
        return [s.read(w), u]

    u, v = s.loop(0, 3, [x, s.expr(x) * 2.0], body)
    return s.function(s.let("sum", u * v, axes=(0,), keepdims=False)), [np.array([0.5, 0.3, -0.4])]


def triangular():
    x = ir.Var("x", VECTOR)
    s = Script(x)

    def outer(i, total):
        (inner,) = s.loop(0, i, [1.0], lambda j, p: [s.elementwise("sin", p * s.get(x, j)) + s.get(x, i)])
        return [total * 0.5 + inner]

    (total,) = s.loop(0, s.n, [0.0], outer)
    return s.function(total), [np.array([0.5, 0.3, -0.4, 1.2])]


PROGRAMS = [
    while_power, product_of_trips, recurrence, in_place_square, elimination, branches, newton_inside_loop, while_with_stop,
    swapped_vectors, triangular,
]  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_against_differences(program):
    fn, args = program()
    rng = np.random.default_rng(0)
    v = [np.asarray(rng.normal(size=np.shape(a)))[()] for a in args]
    h = 1e-6
    up = evaluate(fn, *(a + h * d for a, d in zip(args, v)))[0]
    down = evaluate(fn, *(a - h * d for a, d in zip(args, v)))[0]
    expected = (up - down) / (2 * h)
    verify(jvp(fn, [0]))
    _, dot = evaluate(jvp(fn, [0]), *args, *v)
    np.testing.assert_allclose(dot, expected, rtol=1e-6)
    g = vjp(fn, [0])
    verify(g)
    (bar,) = evaluate(g, *args)
    np.testing.assert_allclose(np.vdot(bar, v[0]), dot, rtol=1e-11, err_msg=dump(g))
    w = [np.asarray(rng.normal(size=np.shape(a)))[()] for a in args]
    _, second = evaluate(jvp(g, [0]), *args, *w)
    (up,), (down,) = (
        evaluate(g, *(a + h * d for a, d in zip(args, w))),
        evaluate(g, *(a - h * d for a, d in zip(args, w))),
    )
    np.testing.assert_allclose(second, (up - down) / (2 * h), rtol=1e-5, atol=1e-7)
    hv = vjp(g, [0], seeds=True)
    verify(hv)
    (bar2,) = evaluate(hv, *args, v[0])
    np.testing.assert_allclose(np.vdot(bar2, w[0]), np.vdot(second, v[0]), rtol=1e-9)


@pytest.mark.quick
def test_elimination_records_the_factors_only():
    fn, _ = elimination()
    g = vjp(fn, [0])
    tapes = [v for s in statements(g.body) for v in defines(s) if getattr(s, "reason", "") and v.name.endswith("tape")]
    assert [str(v.type) for v in tapes] == ["stack of float64", "float64[n]"], dump(
        g
    )  # the factors; the product's steps


@pytest.mark.quick
def test_recurrence_is_its_own_tape():
    fn, _ = recurrence()
    g = vjp(fn, [0])
    tapes = [v for s in statements(g.body) for v in defines(s) if getattr(s, "reason", "") and v.name.endswith("tape")]
    assert not tapes, dump(g)
