"""Dead code of lowered loops: what a ``while`` carries and nobody reads goes, with what it begins with."""

from __future__ import annotations

from verified import verify

from transpile.core.nodes import Block, Const, For, Function, Let, Var, While
from transpile.core.types import BOOL, FLOAT, INT
from transpile.loops.dead import remove_dead


def test_a_while_that_carries_what_nobody_reads():
    x, first, last = Var("x", FLOAT), Var("p", FLOAT), Var("p", FLOAT)
    carried, next_ = Var("p", FLOAT), Var("p", FLOAT)
    step = Let(next_, "mul", (carried, x))
    inner = For(
        Var("i", INT), Const(0, INT), Const(3, INT), Const(1, INT), (x,), Block((carried,), [step], (next_,)), (first,)
    )
    counts, bodies, tests = Var("k", INT), (Var("p", FLOAT), Var("k", INT)), (Var("p", FLOAT), Var("k", INT))
    more, going, end = Var("p", FLOAT), Var("going", BOOL), Var("k", INT)
    test = Block(tests, [Let(going, "less", (tests[1], Const(3, INT)))], (going,))
    body = Block(
        bodies, [Let(more, "mul", (bodies[0], x)), Let(counts, "add", (bodies[1], Const(1, INT)))], (more, counts)
    )
    outer = While((first, Const(0, INT)), test, body, (last, end))
    fn = Function("f", (x,), Block(stmts=[inner, outer], yields=(end,)), {})
    small = verify(remove_dead(verify(fn)))
    (left,) = small.body.stmts
    assert isinstance(left, While) and len(left.inits) == len(left.results) == len(left.test.params) == 1
