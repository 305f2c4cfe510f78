"""The verifier: well-formed core passes, and each rule is broken once."""

from __future__ import annotations

import pytest
from verified import verify

from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.nodes import (
    Alloc,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Index,
    Let,
    NewStack,
    Permute,
    Point,
    Pop,
    Push,
    Slice,
    Store,
    Undef,
    Var,
    While,
)
from transpile.core.types import BOOL, FLOAT, FLOAT64, INT, Type
from transpile.errors import InternalError
from transpile.rules.tables import prims

N = Dim.symbol("n")
VECTOR = Type("float64", (N,))
MATRIX = Type("float64", (N, N))
ZERO, ONE = Const(0, INT), Const(1.0, FLOAT)


def function(*stmts, params=(), yields=()):
    return Function("f", tuple(params), Block((), list(stmts), tuple(yields)), {})


def refused(fn, message):
    with pytest.raises(InternalError, match=message) as caught:
        verify(fn)
    assert str(caught.value).startswith("core of 'f': ")


@pytest.fixture
def x():
    return Var("x", VECTOR)


@pytest.fixture
def s():
    return Var("s", FLOAT64)


def loop(body, inits=(), results=(), **more):
    return For(Var("i", INT), ZERO, Const(3, INT), Const(1, INT), tuple(inits), body, tuple(results), **more)


def test_well_formed(x):
    b = Builder(prims())
    u = b.copy("u", x)
    total = Var("total", FLOAT)
    after = Var("total", FLOAT)
    index = Var("i", INT)
    with b.into(Block((total,))) as body:
        value = b.read(u, (Index((Point(0),)),), [index])
        b.store(u, (Index((Point(0),)),), [index], value * 2.0)
        body.yields = (b.cast(b.expr(total) + value, FLOAT).op,)
        body.stop = (value > 3.0).op
    b.emit(For(index, ZERO, Const(3, INT), Const(1, INT), (Const(0.0, FLOAT),), body, (after,), Var("trips", INT)))
    fn = function(*b.block.stmts, params=[x], yields=[after, u])
    assert verify(fn) is fn


def test_used_before(x):
    y, z = Var("y", VECTOR), Var("z", VECTOR)
    refused(function(Let(y, "mul", (x, z)), Let(z, "mul", (x, x)), params=[x]), "used before it is defined")


def test_used_outside_its_block(x):
    y = Var("y", VECTOR)
    branch = If(Const(True, BOOL), Block(stmts=[Let(y, "mul", (x, x))]), Block())
    refused(function(branch, params=[x], yields=[y]), "used outside the block")


def test_defined_twice(x):
    y = Var("y", VECTOR)
    refused(function(Let(y, "mul", (x, x)), Let(y, "mul", (x, x)), params=[x]), "defined twice")


def test_store_into_a_value(x):
    refused(function(Store(x, (), (), x), params=[x]), "is no buffer")


def test_store_of_another_dtype_or_shape(x, s):
    u = Var("u", VECTOR, buffer=True)
    alloc = Alloc(u, "copy", (x,))
    at = (Index((Point(0),)),)
    refused(function(alloc, Store(u, at, (ZERO,), Const(1, INT)), params=[x]), "is stored in")
    refused(function(alloc, Store(u, at, (ZERO,), x), params=[x]), "the place has dims")
    refused(function(alloc, Store(u, (), (), s), params=[x, s]), "the place has dims")
    verify(function(alloc, Store(u, (), (), ONE), params=[x]))


def test_a_buffer_as_a_value(x):
    u, y = Var("u", VECTOR, buffer=True), Var("y", VECTOR)
    alloc = Alloc(u, "copy", (x,))
    refused(function(alloc, Let(y, "mul", (u, u)), params=[x]), "used as a value")
    carried = Var("c", VECTOR)
    body = Block((carried,), [], (carried,))
    refused(function(alloc, loop(body, [u], [Var("r", VECTOR)]), params=[x]), "used as a value")
    refused(function(alloc, params=[x], yields=[u, u]), "returned twice")
    verify(function(alloc, Let(y, "index", (u,), {"path": ()}), params=[x], yields=[y]))


def test_carries_that_do_not_agree(x, s):
    carried, result = Var("c", FLOAT64), Var("r", FLOAT64)
    refused(function(loop(Block((carried,), [], (carried,)), [s], []), params=[s]), "1 parameters for 0 results")
    refused(function(loop(Block((carried,), [], ()), [s], [result]), params=[s]), "0 yields for 1 parameters")
    refused(function(loop(Block((carried,), [], (x,)), [s], [result]), params=[s, x]), "yields and parameters differ")
    refused(
        function(loop(Block((carried,), [], (carried,)), [ZERO], [result]), params=[]), "inits and parameters differ"
    )
    verify(function(loop(Block((carried,), [], (s,)), [Undef(FLOAT64)], [result]), params=[s], yields=[result]))


def test_branches(x, s):
    result = Var("r", FLOAT64)
    refused(function(If(s, Block(), Block()), params=[s]), "not a flag")
    refused(function(If(Const(True, BOOL), Block(yields=(s,)), Block(), (result,)), params=[s]), "0 else yields for 1")
    both = If(Const(True, BOOL), Block(yields=(s,)), Block(yields=(Undef(FLOAT64),)), (result,))
    verify(function(both, params=[s], yields=[result]))


def test_undef_is_not_read(s):
    y = Var("y", FLOAT64)
    refused(function(Let(y, "neg", (Undef(FLOAT64),)), params=[s]), "Undef is read")
    refused(function(params=[s], yields=[Undef(FLOAT64)]), "Undef is read")


def test_elementwise(x, s):
    y, flag = Var("y", VECTOR), Var("flag", Type("bool", (N,)))
    refused(function(Let(y, "mul", (x, s)), params=[x, s]), "does not have the dims")
    refused(function(Let(y, "mul", (x, Const(1, INT))), params=[x]), "different dtypes")
    refused(function(Let(y, "where", (x, x, x)), params=[x]), "should be bool")
    refused(function(Let(Var("y", VECTOR), "less", (x, x)), params=[x]), "should be bool")
    refused(function(Let(Var("y", MATRIX), "neg", (x,)), params=[x]), "does not have the dims")
    verify(function(Let(flag, "less", (x, ONE)), Let(y, "where", (flag, x, ONE)), params=[x], yields=[y]))


def test_unknown_primitive(x):
    refused(function(Let(Var("y", VECTOR), "frobnicate", (x,)), params=[x]), "not a primitive")


def test_types_of_lets(x):
    y = Var("y", VECTOR)
    refused(function(Let(y, "sum", (x,), {"axes": (0,), "keepdims": False}), params=[x]), "should be float64")


def test_paths(x, s):
    def read(var, path, *args, dims=()):
        return function(
            Let(Var("y", Type("float64", dims)), "index", (var, *args), {"path": path, "dims": dims}), params=[x, s, m]
        )

    m = Var("m", MATRIX)
    refused(read(x, (Index((Point(0), Point(0))),), ZERO), "an index of 2 axes for 1")
    refused(read(x, (Index((Point(0),)),), ONE), "does not fit Point")
    refused(read(m, (Permute((0, 0)),), dims=(N, N)), "axes")
    refused(read(m, (Index((Point(0), Slice())),), ZERO), "the place has dims")
    verify(read(m, (Permute((1, 0)), Index((Point(0), Slice()))), ZERO, dims=(N,)))


def test_loops(s):
    refused(function(For(Var("i", INT), s, ZERO, Const(1, INT), (), Block()), params=[s]), "the start of a loop")
    refused(function(For(Var("i", INT), ZERO, ZERO, ZERO, (), Block())), "the step of a loop is 0")
    refused(function(For(Var("i", FLOAT), ZERO, ZERO, Const(1, INT), (), Block())), "the index of a loop")
    refused(function(loop(Block(stop=s)), params=[s]), "the stop is float64")
    refused(function(While((), Block(yields=(s,)), Block()), params=[s]), "the test is float64")
    refused(function(While((), Block(), Block())), "should yield one flag")
    refused(function(loop(Block(), trips=Var("t", FLOAT))), "the trip count")


def test_stacks(x, s):
    stack = Var("stack", Type("float64", (), kind="stack"))
    made = NewStack(stack)
    verify(function(made, Push(stack, s), Pop(Var("y", FLOAT64), stack), params=[s]))
    refused(function(made, Push(stack, x), params=[x]), "an element of")
    refused(function(made, Pop(Var("y", INT), stack)), "an element of")
    refused(function(Push(s, s), params=[s]), "is no stack")
    refused(function(made, yields=[stack]), "is no array")
    refused(function(made, Let(Var("y", FLOAT64), "neg", (stack,))), "used as a value")


def test_effects_print_values(x):
    u = Var("u", VECTOR, buffer=True)
    refused(function(Alloc(u, "copy", (x,)), Effect("print", (u,)), params=[x]), "used as a value")


def test_the_message_names_the_statement(x):
    from transpile.core.nodes import Loc

    y = Var("y", VECTOR)
    with pytest.raises(InternalError) as caught:
        verify(function(Let(y, "mul", (x, Const(1, INT)), {}, Loc("a.py", 7, 3)), params=[x]))
    assert str(caught.value).splitlines()[1].strip() == "in: y: float64[n] = mul x 1   (a.py:7)"
