"""Dead code of lowered loops: what a ``while`` carries and nobody reads goes, with what it begins with."""

from __future__ import annotations

from verified import verify

from transpile.core import nodes as ir
from transpile.core.types import BOOL, FLOAT, INT
from transpile.simplify.dead_code import remove_dead_lowered


def test_a_while_that_carries_what_nobody_reads():
    x, first, last = ir.Var("x", FLOAT), ir.Var("p", FLOAT), ir.Var("p", FLOAT)
    carried, next_ = ir.Var("p", FLOAT), ir.Var("p", FLOAT)
    step = ir.Let(next_, "mul", (carried, x))
    inner = ir.For(
        ir.Var("i", INT),
        ir.Const(0, INT),
        ir.Const(3, INT),
        ir.Const(1, INT),
        (x,),
        ir.Block((carried,), [step], (next_,)),
        (first,),
    )
    counts, bodies, tests = (
        ir.Var("k", INT),
        (ir.Var("p", FLOAT), ir.Var("k", INT)),
        (ir.Var("p", FLOAT), ir.Var("k", INT)),
    )
    more, going, end = ir.Var("p", FLOAT), ir.Var("going", BOOL), ir.Var("k", INT)
    test = ir.Block(tests, [ir.Let(going, "less", (tests[1], ir.Const(3, INT)))], (going,))
    body = ir.Block(
        bodies,
        [ir.Let(more, "mul", (bodies[0], x)), ir.Let(counts, "add", (bodies[1], ir.Const(1, INT)))],
        (more, counts),
    )
    outer = ir.While((first, ir.Const(0, INT)), test, body, (last, end))
    fn = ir.Function("f", (x,), ir.Block(stmts=[inner, outer], yields=(end,)), {})
    small = verify(remove_dead_lowered(verify(fn)))
    (left,) = small.body.stmts
    assert isinstance(left, ir.While) and len(left.inits) == len(left.results) == len(left.test.params) == 1
