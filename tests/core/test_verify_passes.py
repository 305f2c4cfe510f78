"""What the verifier asks beyond the form of statements: each rule is broken once, and found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from verified import check, verify

import transpile as tp
from transpile.core import nodes as ir
from transpile.core import watch
from transpile.core.dims import Dim
from transpile.core.pass_list import Chain, Pass, Property
from transpile.core.types import BOOL, FLOAT64, INT, Type
from transpile.core.verify import Verifying
from transpile.core.verify_memory import new_reasons
from transpile.core.walk import statements
from transpile.errors import InternalError
from transpile.ops.tables import of_dialect

pytestmark = pytest.mark.quick

ZERO, ONE, THREE = ir.Const(0, INT), ir.Const(1, INT), ir.Const(3, INT)
VALUE = ir.Const(1.0, FLOAT64)
VECTOR = Type("float64", (Dim.symbol("n"),))


def function(*stmts, params=(), yields=()):
    return ir.Function("f", tuple(params), ir.Block((), list(stmts), tuple(yields)), {})


def stack():
    return ir.Var("y_tape", Type("float64", (), kind="stack"))


def new(s):
    return ir.NewStack(s, reason="of each trip")


def loop(*stmts, bound=THREE, **more):
    return ir.For(ir.Var("i", INT), ZERO, bound, ONE, (), ir.Block((), list(stmts)), **more)


def pop(s):
    return ir.Pop(ir.Var("y", FLOAT64), s)


# -------------------------------------------------------------------------------------------- pushes pair with pops


def test_each_push_pairs_with_one_pop():
    s, n = stack(), ir.Var("n", INT)
    made = new(s)
    verify(function(made, loop(ir.Push(s, VALUE), bound=n), loop(pop(s), bound=n), params=[n]))
    verify(function(made, loop(ir.Push(s, VALUE)), pop(s), pop(s), pop(s)))  # a loop that was written out
    for wrong in (
        [ir.Push(s, VALUE)],
        [loop(ir.Push(s, VALUE), bound=n), pop(s)],
        [loop(ir.Push(s, VALUE)), loop(pop(s), pop(s))],
        [loop(ir.Push(s, VALUE)), loop(pop(s), bound=ONE)],
        [loop(ir.Push(s, VALUE)), loop(pop(s), pop(s), bound=n)],
        [loop(loop(ir.Push(s, VALUE), bound=n), bound=n), loop(pop(s), bound=n)],
    ):
        for see in (verify, check):
            with pytest.raises(InternalError, match="is pushed .* and popped"):
                see(function(made, *wrong, params=[n]))


def test_the_sides_of_a_branch_pair_each_for_itself():
    s, c = stack(), ir.Var("c", BOOL)

    def branch(then, orelse):
        return ir.If(c, ir.Block((), then), ir.Block((), orelse))

    made, push = new(s), ir.Push(s, VALUE)
    verify(function(made, branch([push], []), branch([pop(s)], []), params=[c]))
    verify(function(made, branch([push], [push]), pop(s), params=[c]))
    with pytest.raises(InternalError, match="pushed 1 times in then and popped 1 times in else"):
        verify(function(made, branch([push], []), branch([], [pop(s)]), params=[c]))
    with pytest.raises(InternalError, match="is pushed 1 times in then and popped 1 times in it"):
        verify(function(made, branch([push], []), pop(s), params=[c]))


def test_a_bound_that_a_branch_hands_on():
    """The forward loop knows it, the reverse one has it from the branch."""
    s, c, n = stack(), ir.Var("c", BOOL), ir.Var("n", INT)

    def branch(test, stmt, *more, **results):
        return ir.If(test, ir.Block((), [stmt], **results), ir.Block((), [], **results), *more)

    made = new(s)
    forward = branch(c, loop(ir.Push(s, VALUE)), (n,), yields=(THREE,))
    verify(function(made, forward, branch(c, loop(pop(s), bound=n)), params=[c]))
    with pytest.raises(InternalError, match="pushed 3 times in then and popped 1 times in loop"):
        verify(function(made, forward, loop(pop(s), bound=n), params=[c]))


# ------------------------------------------------------------------------------------------------------- reasons


def test_what_is_recorded_has_a_reason():
    with pytest.raises(InternalError, match="recorded without a reason"):
        verify(function(ir.NewStack(stack())))

    verify(function(ir.NewStack(stack(), reason="of each trip")))
    named = ir.Var("row_tape", VECTOR, buffer=True)  # by a user
    verify(function(ir.Alloc(named, "copy", (X,)), params=[X], yields=[named]))


def test_memory_for_a_value_that_a_user_has_called_like_a_tape_needs_no_reason():
    one, other = ir.Var("row_tape", VECTOR), ir.Var("row_tape", VECTOR, buffer=True)
    old = function(ir.Let(one, "neg", (X,)), params=[X], yields=[one])
    new = function(ir.Alloc(other, "empty", (X,)), params=[X], yields=[other])
    new_reasons(old, new)
    with pytest.raises(InternalError, match="recorded without a reason"):
        new_reasons(function(params=[X], yields=[X]), new)
    told = function(ir.Alloc(other, "empty", (X,), reason="of each trip"), params=[X], yields=[other])
    with pytest.raises(InternalError, match="recorded without a reason"):
        new_reasons(told, new)


X = ir.Var("x", VECTOR)

# --------------------------------------------------------------------------------------------------- own places


def lanes(index_of, **more):
    u, n, other = ir.Var("u", VECTOR, buffer=True), ir.Var("n", INT), ir.Var("k", INT)
    region = loop(bound=n, **more)
    at = {"own": region.index, "other": other}[index_of]
    region.body.stmts.append(ir.Store(u, (ir.Index((ir.Point(0),)),), (at,), VALUE))
    return function(ir.Alloc(u, "copy", (X,)), region, params=[X, n, other], yields=[u])


def test_lanes_write_their_own():
    verify(lanes("own", lanes=True))
    verify(lanes("other"))  # one trip after the other
    summed = lanes("other", lanes=True)
    store = summed.body.stmts[1].body.stmts.pop()
    summed.body.stmts[1].body.stmts.append(ir.Add(store.buf, store.path, store.args, VALUE))
    verify(summed)
    with pytest.raises(InternalError, match="written by trips that run at once"):
        verify(lanes("other", lanes=True))


def test_chunks_write_their_own():
    fn = lanes("own")
    region = fn.body.stmts[1]
    region.kind = "parallel"
    fn = replace(fn, body=replace(fn.body, stmts=[ir.Alloc(fn.body.stmts[0].var, "empty", (fn.params[1],)), region]))
    check(fn)
    region.body.stmts[0] = replace(region.body.stmts[0], args=(fn.params[2],))
    with pytest.raises(InternalError, match="written by trips that run at once"):
        check(fn)
    other = ir.Var("e", FLOAT64)
    read = ir.Let(other, "index", (fn.body.stmts[0].var, fn.params[2]), {"path": region.body.stmts[0].path})
    region.body.stmts[:] = [read, replace(region.body.stmts[0], args=(region.index,))]
    check(fn)  # what is read there may lie beside what all write
    fn = lanes("own", lanes=True)
    region = fn.body.stmts[1]
    region.body.stmts.clear()
    region.kind = "parallel"
    region.inits, region.body.params, region.body.yields = (VALUE,), (ir.Var("s", FLOAT64),), (VALUE,)
    region.results = (ir.Var("r", FLOAT64),)
    with pytest.raises(InternalError, match="hand something on"):
        verify(fn)


# --------------------------------------------------------------------------------------- what a pass must not do


LINE = ir.Loc("a.py", 7, 4)
SHOWN = ir.Print((VALUE,), (((0, "", ""),),), loc=LINE)


def passing(run, *stmts, **more):
    """Runs a pass over a function that does this, or prints; verified."""
    with watch.watching(Verifying(of_dialect)):
        return Chain("array", (Pass("doing", run, "", **more),), (SILENT,)).run(function(*(stmts or (SHOWN,))))


SILENT = Property(
    "silent", "nothing is printed", lambda fn: not any(isinstance(s, ir.Effect) for s in statements(fn.body))
)


def twice(fn):
    return replace(fn, body=replace(fn.body, stmts=fn.body.stmts * 2))


def test_no_effect_is_repeated():
    def on_either_side(fn):
        both = ir.If(ir.Const(True, BOOL), ir.Block((), fn.body.stmts), ir.Block((), list(fn.body.stmts)))
        return replace(fn, body=replace(fn.body, stmts=[both]))

    passing(on_either_side)
    with pytest.raises(InternalError, match="after doing: the print of line 7 is done more often than before"):
        passing(twice)


def test_a_raise_may_be_repeated():
    """The first one ends the run."""
    passing(twice, ir.Raise((), "ValueError", ("no",), loc=LINE))


def test_no_call_that_prints_is_repeated():
    routine = ir.Routine("g")
    routine.fn = function(SHOWN, ir.Raise((), "ValueError", ("no",), loc=LINE), ir.Call(routine, (), ()))
    call = ir.Call(routine, (), ())
    passing(lambda fn: replace(fn), call)
    with pytest.raises(InternalError, match="the print of line 7 is done more often than before"):
        passing(twice, call)
    routine.fn.body.stmts.pop(0)
    passing(twice, call)  # what it raises, the first raises


def test_no_effect_of_a_rule_is_repeated():
    silent = function()
    fn, derivative = (function(replace(SHOWN, loc=replace(LINE, line=n))) for n in (3, 5))

    def expanded(*of):
        return lambda fn: replace(fn, body=ir.Block((), [s for one in of for s in one.body.stmts]))

    call = ir.Call(ir.Custom(fn, "jvp", derivative, 0), (), ())
    for done in ((fn,), (derivative,), (fn, derivative)):
        passing(expanded(*done), call)
    with pytest.raises(InternalError, match="the print of line 5 is done more often than before"):
        passing(expanded(fn, derivative, derivative), call)
    with pytest.raises(InternalError, match="the print of line 3 is done more often than before"):
        passing(expanded(fn), ir.Call(ir.Custom(silent, "jvp", derivative, 0), (), ()))


def test_a_pass_says_why_it_records():
    tape = ir.Alloc(ir.Var("y_tape", VECTOR, buffer=True), "copy", (X,), {}, LINE, "carried by the loop")

    def adding(stmt):
        return lambda fn: replace(fn, body=replace(fn.body, stmts=[*fn.body.stmts, stmt]))

    def run(*stmts, then):
        with watch.watching(Verifying(of_dialect)):
            Chain("array", (Pass("doing", then, ""),), ()).run(function(*stmts, params=[X]))

    forgotten = replace(tape, reason="")
    run(then=adding(tape))
    run(forgotten, then=lambda fn: replace(fn))  # a user's array that is called so
    with pytest.raises(InternalError, match="after doing: .*y_tape.* is recorded without a reason"):
        run(then=adding(forgotten))
    with pytest.raises(InternalError, match="recorded without a reason"):
        run(tape, then=lambda fn: replace(fn, body=ir.Block((), [forgotten])))


def test_what_a_pass_ensures_is_looked_at():
    silenced = lambda fn: replace(fn, body=ir.Block())  # noqa: E731
    passing(silenced, ensures=(SILENT,))
    with pytest.raises(InternalError, match="after doing: it should have ensured silent: nothing is printed"):
        passing(lambda fn: replace(fn), ensures=(SILENT,))


def test_what_a_pass_requires_is_looked_at():
    step = Pass("quiet", lambda fn: replace(fn), "", requires=(SILENT,))
    shown = ir.Print((VALUE,), (((0, "", ""),),))
    chain = Chain("array", (step,), (SILENT,), begins=(SILENT,))
    with watch.watching(Verifying(of_dialect)), pytest.raises(InternalError, match="quiet requires silent"):
        chain.run(function(shown))


def test_every_pass_is_verified_in_tests():
    """What the tests' own fixture installs finds a pass of either dialect that breaks something."""
    from transpile.driver import pipeline
    from transpile.loops import passes

    def broken(fn):
        return replace(fn, body=replace(fn.body, yields=(ir.Var("nowhere", FLOAT64),)))

    def f(x):
        return np.sum(x * x)

    for module, name, step in ((pipeline, "CLEAN", "dead code"), (passes, "PASSES", "buffer reuse")):
        whole = getattr(module, name)
        setattr(module, name, whole.instead(step, broken))
        try:
            with pytest.raises(InternalError, match=f"after {step}: .*nowhere"):
                tp.source(tp.jit(f, cache=False), np.ones(3), stage="loops")
        finally:
            setattr(module, name, whole)
