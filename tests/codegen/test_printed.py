"""The renderer: small core functions, built by hand and at random, printed, run, and compared with the core evaluator."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

import transpile as tp
from tests import core_eval
from tests.render_fuzz import random_function
from transpile.aggregates import ArgSpec, Leaf, Node
from transpile.codegen.numpy import render
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import BOOL, FLOAT, FLOAT64, INT, Type
from transpile.ops.tables import prims

n, m = Dim.symbol("n"), Dim.symbol("m")
VEC, MAT, IDX = Type("float64", (n,)), Type("float64", (n, m)), Type("int64", (m,))
X = np.arange(1.0, 6.0)
M = np.arange(12.0).reshape(4, 3) + 0.5


class Sketch:
    """A core function that is being written."""

    def __init__(self, **types: Type) -> None:
        self.b = Builder(prims())
        self.b.unify = lambda a, c: a
        self.params = [ir.Var(name, type_) for name, type_ in types.items()]
        for var in self.params:
            for axis, dim in enumerate(var.type.dims):
                symbol = dim.as_symbol
                if symbol and symbol not in self.b.symbols:
                    size = self.b.bind(symbol, INT, "dim", (var,), {"axis": axis})
                    self.b.bind_symbol(dim, size)

    def __getitem__(self, k: int) -> Expr:
        return self.b.expr(self.params[k])

    def at(self, line: int) -> None:
        self.b.loc = ir.Loc("/home/me/f.py", line)

    def done(self, *results: Any, **more: Any) -> ir.Function:
        self.b.block.yields = tuple(self.b.operand(r) for r in results)
        return ir.Function("f", tuple(self.params), self.b.block, self.b.symbols, **more)

    @contextmanager
    def loop(
        self, start: Any, bound: Any, *, index: str = "i", backwards: bool = False, **carried: Any
    ) -> Iterator[Any]:
        b = self.b
        i = ir.Var(index, INT)
        b.form(i)
        inits = tuple(b.operand(v) for v in carried.values())
        body = ir.Block(tuple(ir.Var(name, o.type) for name, o in zip(carried, inits)))
        results = tuple(ir.Var(name, o.type) for name, o in zip(carried, inits))
        with b.into(body):
            yield b.expr(i), [b.expr(p) for p in body.params], results, body
        b.emit(
            ir.For(i, b.operand(start), b.operand(bound), b.operand(1), inits, body, results, None, backwards, b.loc)
        )

    @contextmanager
    def side(self) -> Iterator[ir.Block]:
        with self.b.into(ir.Block()) as block:
            yield block

    def branch(self, test: Any, then: ir.Block, orelse: ir.Block, *names: str) -> tuple[ir.Var, ...]:
        results = tuple(
            ir.Var(name, (a if not isinstance(a, ir.Undef) else o).type)
            for name, a, o in zip(names, then.yields, orelse.yields)
        )
        self.b.emit(ir.If(self.b.operand(test), then, orelse, results, self.b.loc))
        return results


def points(count: int) -> ir.Path:
    return (ir.Index(tuple(ir.Point(k) for k in range(count))),)


ROW: ir.Path = (ir.Index((ir.Point(0), ir.Slice())),)


def part(start: int | None, stop: int | None) -> ir.Path:
    return (ir.Index((ir.Slice(start, stop),)),)


def check(fn: ir.Function, text: str, *args: Any) -> None:
    """The text is what is expected, and does what core does, without changing arguments or sharing memory."""
    rendered = render(fn)
    body = rendered.text.split("\n\n\n", 1)[-1]
    assert body == dedent(text).lstrip("\n")
    run(fn, rendered.text, *args)


def run(fn: ir.Function, text: str, *args: Any) -> None:
    given = copy.deepcopy(args)
    namespace: dict[str, Any] = {}
    exec(compile(text, "generated", "exec"), namespace)
    got = namespace[fn.name](*given)
    wanted = core_eval.evaluate(fn, *copy.deepcopy(args))
    results = got if len(wanted) != 1 else (got,)
    for g, w in zip(results, wanted, strict=True):
        assert np.shape(g) == np.shape(w)
        np.testing.assert_array_equal(g, w)
    for old, new in zip(args, given):
        np.testing.assert_array_equal(old, new)
    arrays = [r for r in (*results, *given) if np.ndim(r)]
    for k, g in enumerate(arrays):
        assert not any(np.shares_memory(g, other) for other in arrays[:k])


# ------------------------------------------------------------------------------------------------------- memory


def test_two_buffers_are_swapped_and_never_copied_in_the_loop():
    s = Sketch(u0=VEC, v0=VEC, steps=INT)
    b = s.b
    with s.loop(0, s[2], u=s[0], v=s[1]) as (_, (u, v), results, body):
        buf = b.copy("v", v)
        mean = (b.read(u, part(None, 0), (b.dim(n - 2),)) + b.read(u, part(0, None), (2,))) * 0.5
        b.store(buf, part(0, 1), (1, b.dim(n - 1)), mean)
        body.yields = (b.read(buf).op, u.op)
    check(s.done(results[0]), """
        def f(u0, v0, steps):
            n = u0.shape[0]
            u = u0.copy()
            v = v0.copy()
            for _ in range(steps):
                v[1 : n - 1] = (u[: n - 2] + u[2:]) * 0.5
                u, v = v, u
            return u
        """, X, 2 * X, 3)  # fmt: skip


def test_an_argument_is_copied_before_it_is_written():
    s = Sketch(x=VEC)
    b = s.b
    y = b.copy("y", s[0])
    with s.loop(1, b.dim(n)) as (i, _, _, _):
        b.add(y, points(1), (i,), b.read(y, points(1), (i - 1,)))
    check(s.done(b.read(y)), """
        def f(x):
            n = x.shape[0]
            y = x.copy()
            for i in range(1, n):
                y[i] += y[i - 1]
            return y
        """, X)  # fmt: skip


def test_a_row_that_is_overwritten_while_it_is_needed_is_copied():
    s = Sketch(A=MAT)
    b = s.b
    buf = b.copy("A", s[0])
    row = b.read(buf, ROW, (0,), name="row")
    b.store(buf, ROW, (0,), b.read(buf, ROW, (1,)))
    b.store(buf, ROW, (1,), row)
    check(s.done(b.read(buf)), """
        def f(A):
            A = A.copy()
            row = A[0].copy()
            A[0] = A[1]
            A[1] = row
            return A
        """, M)  # fmt: skip


def test_each_result_has_memory_of_its_own():
    s = Sketch(x=VEC)
    y = s.b.let("mul", s[0], 2.0, name="y")
    check(s.done(s[0], y, y), """
        def f(x):
            y = x * 2.0
            return x.copy(), y, y.copy()
        """, X)  # fmt: skip


def test_what_is_pushed_is_a_snapshot():
    s = Sketch(x=VEC)
    b = s.b
    u = b.copy("u", s[0])
    tape = ir.Var("u_tape", Type("float64", (n,), kind="stack"))
    b.emit(ir.NewStack(tape))
    with s.loop(0, 3):
        b.emit(ir.Push(tape, b.read(u).op))
        b.store(u, (), (), b.read(u) * 2.0)
    x_bar = b.zeros("x_bar", VEC)
    with s.loop(0, 3, backwards=True):
        popped = ir.Var("u", VEC)
        b.emit(ir.Pop(popped, tape))
        b.add(x_bar, (), (), b.expr(popped) * 3.0)
    check(s.done(b.read(x_bar)), """
        def f(x):
            u = x.copy()
            u_tape = []
            for _ in range(3):
                u_tape.append(u.copy())
                u *= 2.0
            x_bar = np.zeros_like(x)
            for _ in reversed(range(3)):
                u = u_tape.pop()
                x_bar += u * 3.0
            return x_bar
        """, X)  # fmt: skip


def test_rebinding_is_written_in_place_only_where_nobody_sees_it():
    s = Sketch(x=VEC)
    b = s.b
    y = b.let("mul", s[0], 2.0, name="y")
    y = b.let("add", y, s[0], name="y")
    z = b.let("reshape", y, dims=(n, Dim(1)), name="z")
    y = b.let("add", y, 1.0, name="y")
    x = b.let("add", s[0], 1.0, name="x")
    check(s.done(y, b.let("sum", z, axes=(1,), keepdims=False), x), """
        def f(x):
            y = x * 2.0
            y += x
            z = y[:, None]
            y = y + 1.0
            x = x + 1.0
            return y, np.sum(z, axis=1), x
        """, X)  # fmt: skip


# ------------------------------------------------------------------------------------------------------- control


def test_values_that_change_places():
    s = Sketch(a0=FLOAT, b0=FLOAT, k=INT)
    with s.loop(0, s[2], a=s[0], b=s[1]) as (_, (a, c), results, body):
        body.yields = (c.op, (a + c).op)
    check(s.done(*results), """
        def f(a0, b0, k):
            a = a0
            b = b0
            for _ in range(k):
                a, b = b, a + b
            return a, b
        """, 1.0, 1.0, 10)  # fmt: skip


def test_break_stands_where_it_was_decided():
    s = Sketch(x=FLOAT, k=INT)
    b = s.b
    with s.loop(0, s[1], s=s[0], c=0.0) as (_, (v, c), results, body):
        sq = b.let("mul", v, v, name="sq")
        with s.side() as then:
            then.yields = (ir.Const(True, BOOL), v.op, (c + 1.0).op)
        with s.side() as orelse:
            orelse.yields = (ir.Const(False, BOOL), b.let("mul", v, 1.5, name="s").op, (c + sq).op)
        stop, *carried = s.branch(sq > 100.0, then, orelse, "stop", "s", "c")
        body.yields, body.stop = tuple(carried), stop
    check(s.done(*results), """
        def f(x, k):
            s = x
            c = 0.0
            for _ in range(k):
                sq = s * s
                if sq > 100.0:
                    c += 1.0
                    break
                s *= 1.5
                c += sq
            return s, c
        """, 1.5, 30)  # fmt: skip


def test_a_stop_that_is_no_branch():
    s = Sketch(x=FLOAT)
    with s.loop(0, 50, y=s[0]) as (_, (y,), results, body):
        after = s.b.let("div", y, 2.0, name="y")
        body.yields, body.stop = (after.op,), (after < 0.1).op
    check(s.done(results[0]), """
        def f(x):
            y = x
            for _ in range(50):
                y /= 2.0
                if y < 0.1:
                    break
            return y
        """, 3.0)  # fmt: skip


def test_while_and_its_trips():
    s = Sketch(x=FLOAT)
    b = s.b
    before, inside, after, trips = (ir.Var(k, FLOAT) for k in ("y", "y", "y", "t"))
    trips = ir.Var("trips", INT)
    with b.into(ir.Block((before,))) as test:
        test.yields = ((b.expr(before) * b.expr(before) < 1000.0).op,)
    with b.into(ir.Block((inside,))) as body:
        body.yields = ((b.expr(inside) * 2.0).op,)
    b.emit(ir.While((s[0].op,), test, body, (after,), trips))
    check(s.done(after, trips), """
        def f(x):
            y = x
            trips = 0
            while y * y < 1000.0:
                y *= 2.0
                trips += 1
            return y, trips
        """, 1.5)  # fmt: skip


def test_a_test_with_statements():
    s = Sketch(x=FLOAT)
    b = s.b
    before, inside, after = (ir.Var("y", FLOAT) for _ in range(3))
    with b.into(ir.Block((before,))) as test:
        sq = b.let("mul", before, before, name="sq")
        test.yields = ((sq < 100.0).op,)
    with b.into(ir.Block((inside,))) as body:
        body.yields = ((b.expr(inside) * 2.0).op,)
    b.emit(ir.While((s[0].op,), test, body, (after,)))
    check(s.done(after), """
        def f(x):
            y = x
            while True:
                sq = y * y
                if not sq < 100.0:
                    break
                y *= 2.0
            return y
        """, 1.5)  # fmt: skip


def chain(s: Sketch, limits: list[float]) -> ir.Var:
    with s.side() as then:
        then.yields = ((s[0] * limits[0]).op,)
    with s.side() as orelse:
        orelse.yields = (chain(s, limits[1:]) if len(limits) > 1 else s[0].op,)
    return s.branch(s[0] > limits[0], then, orelse, "y")[0]


def test_branches_are_chained():
    s = Sketch(x=FLOAT)
    y = chain(s, [3.0, 2.0, 1.0])
    z = s.b.let("add", y, y, name="z")
    check(s.done(z), """
        def f(x):
            if x > 3.0:
                y = x * 3.0
            elif x > 2.0:
                y = x * 2.0
            elif x > 1.0:
                y = x
            else:
                y = x
            z = y + y
            return z
        """, 2.5)  # fmt: skip


def test_each_side_of_a_last_branch_returns():
    s = Sketch(x=FLOAT)
    b = s.b
    with s.side() as then:
        then.yields = ((s[0] * 2.0).op,)
    with s.side() as orelse:
        y = b.let("mul", s[0], s[0], name="y")
        with s.side() as bad:
            parts = ("y is ", (0, "", ".3f"), " here")
            b.emit(ir.Raise((y.op,), "ValueError", parts))
            bad.yields = (ir.Undef(FLOAT),)
        with s.side() as good:
            good.yields = ((y + 1.0).op,)
        orelse.yields = s.branch(y > 100.0, bad, good, "r")
    (r,) = s.branch(s[0] > 0.0, then, orelse, "r")
    check(s.done(r), """
        def f(x):
            if x > 0.0:
                return x * 2.0
            y = x * x
            if y > 100.0:
                raise ValueError(f"y is {y:.3f} here")
            return y + 1.0
        """, -1.5)  # fmt: skip


def test_conditional_expressions():
    s = Sketch(x=FLOAT, y=FLOAT)
    b = s.b
    with s.side() as then:
        then.yields = ((s[1] > 1.0).op,)
    (both,) = s.branch(s[0] > 0.0, then, ir.Block(yields=(ir.Const(False, BOOL),)), ir.SYNTHETIC)
    with s.side() as then:
        then.yields = ((s[1] * 2.0).op,)
    (value,) = s.branch(both, then, ir.Block(yields=(s[0].op,)), ir.SYNTHETIC)
    check(s.done(b.let("add", value, 1.0, name="z")), """
        def f(x, y):
            z = (y * 2.0 if x > 0.0 and y > 1.0 else x) + 1.0
            return z
        """, 2.5, 3.0)  # fmt: skip


def test_print(capsys):
    s = Sketch(x=FLOAT)
    s.b.emit(ir.Print((s[0].op,), (("x",), (0,), ("<", (0, "r", ""), ">")), "="))
    check(s.done(s[0] * 2.0), """
        def f(x):
            print("x", x, f"<{x!r}>", sep="=")
            return x * 2.0
        """, 2.5)  # fmt: skip
    assert capsys.readouterr().out == "x=2.5=<2.5>\n" * 2


# --------------------------------------------------------------------------------------------- what NumPy does itself


def test_casts_and_broadcasts_are_left_out():
    s = Sketch(x=VEC, w=MAT, s=FLOAT)
    b = s.b
    z = b.elementwise("mul", b.let("reshape", s[0], dims=(n, Dim(1))), s[1], name="z")
    total = b.let("sum", b.elementwise("add", z, s[2]), axes=(0,), keepdims=False)
    ones = b.elementwise("mul", b.let("full", 1.0, dims=(n, m), dtype="float64"), s[2], name="ones")
    check(s.done(total, b.broadcast(s[2] * 2.0, (n, m)) * 3.0, ones), """
        def f(x, w, s):
            z = x[:, None] * w
            ones = np.ones_like(w) * s
            return np.sum(z + s, axis=0), np.full(w.shape, s * 2.0 * 3.0), ones
        """, np.arange(4.0), M, 2.0)  # fmt: skip


def test_single_precision_stays_single():
    s = Sketch(x=Type("float32", (n,)), s=FLOAT)
    b = s.b
    z = b.elementwise("mul", s[0], s[1], name="z")
    with s.loop(0, 3, acc=ir.Const(0.0, Type("float32"))) as (_, (acc,), results, body):
        body.yields = ((acc + b.let("sum", z, axes=(0,), keepdims=False)).op,)
    check(s.done(results[0], b.elementwise("mul", z, b.expr(ir.Const(0.5, FLOAT64)))), """
        def f(x, s):
            z = x * s
            acc = np.float32(0.0)
            for _ in range(3):
                acc += np.sum(z)
            return acc, z.astype(np.float64) * 0.5
        """, X.astype(np.float32), 2.0)  # fmt: skip


def test_indices_masks_and_additions():
    s = Sketch(x=VEC, idx=IDX)
    b = s.b
    x_bar = b.zeros("x_bar", VEC)
    gather: ir.Path = (ir.Index((ir.Gather(0),)),)
    b.add(x_bar, gather, (s[1],), b.read(s[0], gather, (s[1],)) * 2.0)
    mask: ir.Path = (ir.Index((ir.Mask(0),)),)
    b.add(x_bar, mask, (s[0] > 2.0,), -b.read(s[0], mask, (s[0] > 2.0,)))
    check(s.done(b.read(x_bar)), """
        def f(x, idx):
            x_bar = np.zeros_like(x)
            np.add.at(x_bar, idx, x[idx] * 2.0)
            x_bar[x > 2.0] -= x[x > 2.0]
            return x_bar
        """, X, np.array([0, 0, 3]))  # fmt: skip


def test_transposed_and_diagonal_places():
    s = Sketch(A=Type("float64", (n, n)), x=VEC)
    b = s.b
    buf = b.copy("B", s[0])
    b.store(buf, (ir.Permute((1, 0)), *ROW), (1,), s[1])
    b.add(buf, (ir.Diagonal(),), (), s[1])
    b.store(buf, (), (), b.read(buf) * 2.0)
    check(s.done(b.read(buf)), """
        def f(A, x):
            B = A.copy()
            B.T[1] = x
            np.einsum("...ii->...i", B)[:] += x
            B *= 2.0
            return B
        """, np.arange(16.0).reshape(4, 4), np.arange(4.0))  # fmt: skip


# --------------------------------------------------------------------------------------------------- the module


def test_header_comments_and_lines():
    w, c, x = ir.Var("w", MAT), ir.Var("c", Type("float64", (m,))), ir.Var("x", VEC)
    b = Builder(prims())
    b.loc = ir.Loc("/home/me/net.py", 5)
    z = b.bind("z", Type("float64", (m,)), "matmul", (x, w), {})
    b.loc = ir.Loc("/home/me/net.py", 6)
    y = b.elementwise("add", z, c, name="y")
    b.block.yields = (y.op, z)
    tree = Node("dict", (Leaf(0), Node("tuple", (Leaf(1),))), ("w", "c"))
    fn = ir.Function(
        "net", (w, c, x), b.block, {}, doc="What it gives.",
        arg_tree=(ArgSpec("params", tree), ArgSpec("x", Leaf(2))), out_tree=Node("dict", (Leaf(0), Leaf(1)), ("y", "z")),
    )  # fmt: skip
    rendered = render(fn)
    assert rendered.text == dedent('''\
        def net(params, x):
            """What it gives."""
            w = params["w"]
            c, = params["c"]
            z = x @ w  # net.py:5
            y = z + c  # net.py:6
            return {"y": y, "z": z}
        ''')
    assert rendered.line_map[5].line == 5 and rendered.line_map[6].line == 6 and 7 not in rendered.line_map


def test_long_lines_are_wrapped():
    s = Sketch(alpha_parameter=VEC, beta_parameter=VEC)
    s.at(12)
    a, c = s[0], s[1]
    y = s.b.let("sum", (a * c + a * 2.0 + c * 3.0 - a / c) * (a - c) + a, axes=(0,), keepdims=False, name="result")
    fn = s.done(y)
    text = render(fn).text
    assert max(map(len, text.splitlines())) <= 100
    run(fn, text, X, X + 1)


def test_names_do_not_clash():
    s = Sketch(np=FLOAT, max=FLOAT)
    y = s.b.let("exp", s[0], name="lambda")
    z = s.b.let("maximum", y, s[1], name="y.1", py=True)
    check(s.done(z, y), """
        def f(np_2, max_2):
            lambda_2 = np.exp(np_2)
            y_1 = max(lambda_2, max_2)
            return y_1, lambda_2
        """, 1.0, 5.0)  # fmt: skip


def test_many_elifs_take_no_longer_than_few():
    s = Sketch(x=FLOAT)
    y = chain(s, [float(k) for k in range(60, 1, -1)])
    assert render(s.done(s.b.let("add", y, y, name="z"))).text.count("elif") == 58


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_functions(first):
    for seed in range(first, first + 50):
        fn = random_function(seed)
        rng = np.random.default_rng(seed)
        args = (rng.normal(size=4), rng.normal(size=4), np.float64(rng.normal()), rng.normal(size=(4, 4)))
        text = render(fn).text
        assert text == render(fn).text
        with np.errstate(all="ignore"):
            try:
                run(fn, text, *args)
            except Exception as e:
                raise AssertionError(f"seed {seed}\n{text}") from e


# ------------------------------------------------------------------------------------------------- exits of loops


def found_in_nest(a, limit):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j]
            if total > limit:
                return total * a[i, j]
        total *= 0.5
    return total


def searched(x):
    y = 1.0
    for v in x:
        y += v * v
        if y > 9.0:
            y = 2.0 * y
            break
    else:
        y = 0.0
    return y * x[0]


def kept_on(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            continue
        if x[i] > 4.0:
            break
        total += x[i]
    return total


EXITS = {
    found_in_nest: """
        def found_in_nest(a, limit):
            n, d = a.shape
            total = 0.0
            for i in range(n):
                for j in range(d):
                    total += a[i, j]
                    if total > limit:
                        return total * a[i, j]
                total *= 0.5
            return total
        """,
    searched: """
        def searched(x):
            n = x.shape[0]
            y = 1.0
            for i in range(n):
                v = x[i]
                y += v * v
                if y > 9.0:
                    y = 2.0 * y
                    break
            else:
                y = 0.0
            return y * x[0]
        """,
    kept_on: """
        def kept_on(x):
            n = x.shape[0]
            total = 0.0
            for i in range(n):
                if not x[i] < 0.0:
                    if x[i] > 4.0:
                        break
                    total += x[i]
            return total
        """,
}


@pytest.mark.parametrize("fn", EXITS, ids=lambda fn: fn.__name__)
def test_loops_are_left_as_they_were(fn):
    args = [(M, 3.0), (M, 1e9)] if fn is found_in_nest else [(X,), (X / 9,), (-X,)]
    text = tp.source(fn, *args[0])
    bare = "\n".join(line.split("  # ")[0].rstrip() for line in text.splitlines()) + "\n"
    assert bare == dedent(EXITS[fn]).lstrip("\n")
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    for a in args:
        assert namespace[fn.__name__](*a) == fn(*a)


# ------------------------------------------------------------------------------------------ gradients, as a person has it


def neighbours(x, low):
    total = 0.0
    for i in range(1, len(x)):
        if i > 1 and x[i] > low:
            total += 0.5 * 0.5 * (x[i] - x[i - 1]) ** 2
    return total


def ping_pong(x, steps):
    u = x.copy()
    v = np.zeros(len(x))
    for _ in range(steps):
        for i in range(1, len(x)):
            v[i] = u[i] + 0.5 * u[i - 1]
        u, v = v, u
    return u[1] + u[3]


def both_sides(x, y):
    if x > y:
        z = x * x
    else:
        z = x * y
    w = math.exp(z)
    return w * w


def columns(x, y):
    return np.sum(np.cos(x[:, None] * y))


def counted(x):
    y = x
    while y < 10.0:
        y = math.exp(y) - 2.0 * -y
    return y


GRADIENTS: dict[Any, tuple[tuple[Any, ...], str]] = {
    neighbours: ((X, 0.5), """
        def neighbours_grad(x, low):
            n = x.shape[0]
            x_bar = np.zeros_like(x)
            for i in range(1, n):
                if i > 1 and x[i] > low:
                    t = 0.5 * (x[i] - x[i - 1])
                    x_bar[i - 1] -= t
                    x_bar[i] += t
            return x_bar
        """),
    ping_pong: ((X, 3), """
        def ping_pong_grad(x, steps):
            n = x.shape[0]
            u_bar = np.zeros(n)
            u_bar[3] = 1.0
            u_bar[1] = 1.0
            v_bar = np.zeros(n)
            for _ in reversed(range(steps)):
                v_bar, u_bar = u_bar, v_bar
                for i in reversed(range(1, n)):
                    v_bar_i = v_bar[i]
                    v_bar[i] = 0.0
                    u_bar[i - 1] += 0.5 * v_bar_i
                    u_bar[i] += v_bar_i
            return u_bar
        """),
    both_sides: ((1.0, 2.0), """
        def both_sides_grad(x, y):
            is_greater = x > y
            if is_greater:
                z = x * x
            else:
                z = x * y
            w = math.exp(z)
            w_bar = 2.0 * w
            z_bar = w_bar * w
            if is_greater:
                x_bar = 2.0 * z_bar * x
                return x_bar
            x_bar = z_bar * y
            return x_bar
        """),
    columns: ((X, X), """
        def columns_grad(x, y):
            x_bar = np.sum(-(np.sin(x[:, None] * y) * y), axis=1)
            return x_bar
        """),
    counted: ((1.0,), """
        def counted_grad(x):
            exp_y_tape = []
            y = x
            trips = 0
            while y < 10.0:
                exp_y = math.exp(y)
                exp_y_tape.append(exp_y)
                y = exp_y + 2.0 * y
                trips += 1
            y_bar = 1.0
            for _ in reversed(range(trips)):
                exp_y = exp_y_tape.pop()
                y_bar *= 2.0 + exp_y
            return y_bar
        """),
}  # fmt: skip


@pytest.mark.parametrize("fn", GRADIENTS, ids=lambda fn: fn.__name__)
def test_gradients_read_as_written_by_hand(fn):
    """Index arithmetic is repeated, adjoints swap with their buffers, what a tape gives back has its name, ..."""
    args, wanted = GRADIENTS[fn]
    lines = [line.split("  # ")[0].rstrip() for line in tp.source(tp.grad(fn), *args).splitlines() if '"""' not in line]
    text = "\n".join(lines) + "\n"
    assert text[text.index("def ") :] == dedent(wanted).lstrip("\n")


def test_a_name_that_reads_the_one_before_comes_behind_it():
    """Names that are handed on at once are those that read none of each other, inside expressions too."""
    s = Sketch(x=VEC, w=VEC)
    b = s.b
    with s.loop(0, 3, y=s[0]) as (_, (y,), (last,), body):
        body.yields = ((y * s[1]).op,)
    buffer = b.copy("buffer", b.expr(last))
    product = b.expr(b.bind("product", VEC, "identity", ((b.read(buffer) * s[1]).op,), {}))
    check(s.done(b.read(buffer) + product, product), """
        def f(x, w):
            y = x
            for _ in range(3):
                y = y * w
            buffer = y
            product = buffer * w
            return buffer + product, product
        """, X, X + 1.0)  # fmt: skip
