"""The verifier: well-formed core passes, and each rule is broken once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from verified import verify

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.taken import Taken
from transpile.core.types import BOOL, FLOAT, FLOAT64, INT, Type
from transpile.errors import InternalError
from transpile.ops.tables import prims

N = Dim.symbol("n")
VECTOR = Type("float64", (N,))
MATRIX = Type("float64", (N, N))
ZERO, ONE = ir.Const(0, INT), ir.Const(1.0, FLOAT)


def function(*stmts, params=(), yields=()):
    return ir.Function("f", tuple(params), ir.Block((), list(stmts), tuple(yields)), {})


def refused(fn, message):
    with pytest.raises(InternalError, match=message) as caught:
        verify(fn)
    assert str(caught.value).startswith("core of 'f': ")


@pytest.fixture
def x():
    return ir.Var("x", VECTOR)


@pytest.fixture
def s():
    return ir.Var("s", FLOAT64)


def loop(body, inits=(), results=(), **more):
    return ir.For(
        ir.Var("i", INT), ZERO, ir.Const(3, INT), ir.Const(1, INT), tuple(inits), body, tuple(results), **more
    )


def test_well_formed(x):
    b = Builder(prims())
    u = b.copy("u", x)
    total = ir.Var("total", FLOAT)
    after = ir.Var("total", FLOAT)
    index = ir.Var("i", INT)
    with b.into(ir.Block((total,))) as body:
        value = b.read(u, (ir.Index((ir.Point(0),)),), [index])
        b.store(u, (ir.Index((ir.Point(0),)),), [index], value * 2.0)
        body.yields = (b.cast(b.expr(total) + value, FLOAT).op,)
        body.stop = (value > 3.0).op
    b.emit(
        ir.For(
            index,
            ZERO,
            ir.Const(3, INT),
            ir.Const(1, INT),
            (ir.Const(0.0, FLOAT),),
            body,
            (after,),
            ir.Var("trips", INT),
        )
    )
    fn = function(*b.block.stmts, params=[x], yields=[after, u])
    assert verify(fn) is fn


def test_used_before(x):
    y, z = ir.Var("y", VECTOR), ir.Var("z", VECTOR)
    refused(function(ir.Let(y, "mul", (x, z)), ir.Let(z, "mul", (x, x)), params=[x]), "used before it is defined")


def test_used_outside_its_block(x):
    y = ir.Var("y", VECTOR)
    branch = ir.If(ir.Const(True, BOOL), ir.Block(stmts=[ir.Let(y, "mul", (x, x))]), ir.Block())
    refused(function(branch, params=[x], yields=[y]), "used outside the block")


def test_defined_twice(x):
    y = ir.Var("y", VECTOR)
    refused(function(ir.Let(y, "mul", (x, x)), ir.Let(y, "mul", (x, x)), params=[x]), "defined twice")


def test_store_into_a_value(x):
    refused(function(ir.Store(x, (), (), x), params=[x]), "is no buffer")


def test_store_of_another_dtype_or_shape(x, s):
    u = ir.Var("u", VECTOR, buffer=True)
    alloc = ir.Alloc(u, "copy", (x,))
    at = (ir.Index((ir.Point(0),)),)
    refused(function(alloc, ir.Store(u, at, (ZERO,), ir.Const(1, INT)), params=[x]), "is stored in")
    refused(function(alloc, ir.Store(u, at, (ZERO,), x), params=[x]), "the place has dims")
    refused(function(alloc, ir.Store(u, (), (), s), params=[x, s]), "the place has dims")
    verify(function(alloc, ir.Store(u, (), (), ONE), params=[x]))


def test_a_buffer_as_a_value(x):
    u, y = ir.Var("u", VECTOR, buffer=True), ir.Var("y", VECTOR)
    alloc = ir.Alloc(u, "copy", (x,))
    refused(function(alloc, ir.Let(y, "mul", (u, u)), params=[x]), "used as a value")
    carried = ir.Var("c", VECTOR)
    body = ir.Block((carried,), [], (carried,))
    refused(function(alloc, loop(body, [u], [ir.Var("r", VECTOR)]), params=[x]), "used as a value")
    refused(function(alloc, params=[x], yields=[u, u]), "returned twice")
    verify(function(alloc, ir.Let(y, "index", (u,), {"path": ()}), params=[x], yields=[y]))


def test_carries_that_do_not_agree(x, s):
    carried, result = ir.Var("c", FLOAT64), ir.Var("r", FLOAT64)
    refused(function(loop(ir.Block((carried,), [], (carried,)), [s], []), params=[s]), "1 parameters for 0 results")
    refused(function(loop(ir.Block((carried,), [], ()), [s], [result]), params=[s]), "0 yields for 1 parameters")
    refused(
        function(loop(ir.Block((carried,), [], (x,)), [s], [result]), params=[s, x]), "yields and parameters differ"
    )
    refused(
        function(loop(ir.Block((carried,), [], (carried,)), [ZERO], [result]), params=[]), "inits and parameters differ"
    )
    verify(function(loop(ir.Block((carried,), [], (s,)), [ir.Undef(FLOAT64)], [result]), params=[s], yields=[result]))


def test_branches(x, s):
    result = ir.Var("r", FLOAT64)
    refused(function(ir.If(s, ir.Block(), ir.Block()), params=[s]), "not a flag")
    refused(
        function(ir.If(ir.Const(True, BOOL), ir.Block(yields=(s,)), ir.Block(), (result,)), params=[s]),
        "0 else yields for 1",
    )
    both = ir.If(ir.Const(True, BOOL), ir.Block(yields=(s,)), ir.Block(yields=(ir.Undef(FLOAT64),)), (result,))
    verify(function(both, params=[s], yields=[result]))


def test_undef_is_not_read(s):
    y = ir.Var("y", FLOAT64)
    refused(function(ir.Let(y, "neg", (ir.Undef(FLOAT64),)), params=[s]), "Undef is read")
    refused(function(params=[s], yields=[ir.Undef(FLOAT64)]), "Undef is read")


def test_elementwise(x, s):
    y, flag = ir.Var("y", VECTOR), ir.Var("flag", Type("bool", (N,)))
    refused(function(ir.Let(y, "mul", (x, s)), params=[x, s]), "does not have the dims")
    refused(function(ir.Let(y, "mul", (x, ir.Const(1, INT))), params=[x]), "different dtypes")
    refused(function(ir.Let(y, "where", (x, x, x)), params=[x]), "should be bool")
    refused(function(ir.Let(ir.Var("y", VECTOR), "less", (x, x)), params=[x]), "should be bool")
    refused(function(ir.Let(ir.Var("y", MATRIX), "neg", (x,)), params=[x]), "does not have the dims")
    verify(function(ir.Let(flag, "less", (x, ONE)), ir.Let(y, "where", (flag, x, ONE)), params=[x], yields=[y]))


def test_sizes_of_two_arguments_are_not_one(x):
    other = ir.Var("other", Type("float64", (Dim.symbol("m"),)))
    refused(function(ir.Let(ir.Var("y", VECTOR), "mul", (x, other)), params=[x, other]), "does not have the dims")


def joined(dim, *before):
    """Two branches, the one with an array of this size, the other with one of size 1."""
    c, a, b = ir.Var("c", BOOL), ir.Var("a", Type("float64", (dim,))), ir.Var("b", Type("float64", (Dim(1),)))
    branch = ir.If(c, ir.Block(yields=(a,)), ir.Block(yields=(b,)), (ir.Var("y", b.type),))
    return replace(function(*before, branch, params=[c, a, b, *SIZES.values()]), symbols=SIZES)


SIZES = {"n": ir.Var("n", INT), "m": ir.Var("m", INT), "i": ir.Var("i", INT)}


def found_one(dim, prim="not_equal", value=1):
    """The check that a size is 1."""
    b = Builder(prims(), dict(SIZES))
    test = ir.Var("t", BOOL)
    size = b.dim(dim).op
    raised = ir.Block(stmts=[ir.Raise((), "ValueError", is_check=True)])
    return *b.block.stmts, ir.Let(test, prim, (size, ir.Const(value, INT)), {}), ir.If(test, raised, ir.Block())


def test_a_size_of_one():
    """A check says it of a form that is not solved for a symbol; of others the number stands in the types."""
    n, m = N, Dim.symbol("m")
    for dim in ((n - m).clip(), n * m, n + m):
        refused(joined(dim), "then yields and results differ")
        refused(joined(dim, *found_one(dim + 1)), "then yields and results differ")
        refused(joined(dim, *found_one(dim, "equal")), "then yields and results differ")
        refused(joined(dim, *found_one(dim, value=2)), "then yields and results differ")
        verify(joined(dim, *found_one(dim)))
        verify(replace(joined(dim), taken=Taken(((dim, Dim(1), True),))))
        refused(replace(joined(dim), taken=Taken(((dim, Dim(1), False),))), "then yields and results differ")
    for dim in (n, n.times(2) - 1, Dim.integer("i") + 1, Dim(2)):
        refused(joined(dim, *found_one(dim)), "then yields and results differ")


def test_unknown_primitive(x):
    refused(function(ir.Let(ir.Var("y", VECTOR), "frobnicate", (x,)), params=[x]), "not a primitive")


def test_types_of_lets(x):
    y = ir.Var("y", VECTOR)
    refused(function(ir.Let(y, "sum", (x,), {"axes": (0,), "keepdims": False}), params=[x]), "should be float64")


def test_paths(x, s):
    def read(var, path, *args, dims=()):
        return function(
            ir.Let(ir.Var("y", Type("float64", dims)), "index", (var, *args), {"path": path, "dims": dims}),
            params=[x, s, m],
        )

    m = ir.Var("m", MATRIX)
    refused(read(x, (ir.Index((ir.Point(0), ir.Point(0))),), ZERO), "an index of 2 axes for 1")
    refused(read(x, (ir.Index((ir.Point(0),)),), ONE), "does not fit Point")
    refused(read(m, (ir.Permute((0, 0)),), dims=(N, N)), "axes")
    refused(read(m, (ir.Index((ir.Point(0), ir.Slice())),), ZERO), "the place has dims")
    verify(read(m, (ir.Permute((1, 0)), ir.Index((ir.Point(0), ir.Slice()))), ZERO, dims=(N,)))


def test_loops(s):
    refused(
        function(ir.For(ir.Var("i", INT), s, ZERO, ir.Const(1, INT), (), ir.Block()), params=[s]), "the start of a loop"
    )
    refused(function(ir.For(ir.Var("i", INT), ZERO, ZERO, ZERO, (), ir.Block())), "the step of a loop is 0")
    refused(function(ir.For(ir.Var("i", FLOAT), ZERO, ZERO, ir.Const(1, INT), (), ir.Block())), "the index of a loop")
    refused(function(loop(ir.Block(stop=s)), params=[s]), "the stop is float64")
    refused(function(ir.While((), ir.Block(yields=(s,)), ir.Block()), params=[s]), "the test is float64")
    refused(function(ir.While((), ir.Block(), ir.Block())), "should yield one flag")
    refused(function(loop(ir.Block(), trips=ir.Var("t", FLOAT))), "the trip count")


def test_stacks(x, s):
    stack = ir.Var("stack", Type("float64", (), kind="stack"))
    made = ir.NewStack(stack)
    verify(function(made, ir.Push(stack, s), ir.Pop(ir.Var("y", FLOAT64), stack), params=[s]))
    refused(function(made, ir.Push(stack, x), params=[x]), "an element of")
    refused(function(made, ir.Pop(ir.Var("y", INT), stack)), "an element of")
    refused(function(ir.Push(s, s), params=[s]), "is no stack")
    refused(function(made, yields=[stack]), "is no array")
    refused(function(made, ir.Let(ir.Var("y", FLOAT64), "neg", (stack,))), "used as a value")


def test_effects_print_values(x):
    u = ir.Var("u", VECTOR, buffer=True)
    refused(function(ir.Alloc(u, "copy", (x,)), ir.Print((u,), ((0,),)), params=[x]), "used as a value")


def test_the_message_names_the_statement(x):
    from transpile.core import nodes as ir

    y = ir.Var("y", VECTOR)
    with pytest.raises(InternalError) as caught:
        verify(function(ir.Let(y, "mul", (x, ir.Const(1, INT)), {}, ir.Loc("a.py", 7, 3)), params=[x]))
    assert str(caught.value).splitlines()[1].strip() == "in: y: float64[n] = mul x 1   (a.py:7)"


def test_the_symbol_of_an_index_stays_in_its_loop(x):
    i, row = Dim.symbol("i"), ir.Const(0.0, FLOAT64)
    inside = ir.Let(ir.Var("t", VECTOR.with_dims((i,))), "full", (row,), {"dims": (i,), "dtype": "float64"})
    verify(function(loop(ir.Block((), [inside]), symbol=i), params=(x,)))
    outside = ir.Let(ir.Var("t", VECTOR.with_dims((i,))), "full", (row,), {"dims": (i,), "dtype": "float64"})
    refused(
        function(loop(ir.Block((), [inside]), symbol=i), outside, params=(x,)), "the index of a loop that is not around"
    )


def test_symbols_of_what_is_lifted_have_values():
    of_k, m = Dim.symbol("k"), ir.Var("m", INT)
    size = ir.Let(ir.Var("k", INT), "add", (m, ir.Const(1, INT)))
    params = {"dims": (of_k,), "dtype": "float64"}
    made = ir.Let(ir.Var("t", VECTOR.with_dims((of_k,))), "full", (ir.Const(0.0, FLOAT64),), params)
    seen = function(size, made, params=(m,))
    hidden = function(ir.If(ir.Const(True, BOOL), ir.Block((), [size]), ir.Block((), [made])), params=(m,))
    for fn in (seen, hidden):
        fn.symbols["k"] = size.var
    verify(seen, after="lift")
    with pytest.raises(InternalError, match="k, which has no value there"):
        verify(hidden, after="lift")


# ----------------------------------------------------------------------------------------------------------- calls


def kept(x):
    """A function of one array that gives the same."""
    routine = ir.Routine("g", (ir.Var("x", VECTOR),), (VECTOR,))
    return ir.Call(routine, (x,), (ir.Var("y", VECTOR),))


def test_a_call_fits_its_function(x, s):
    call = kept(x)
    verify(function(call, params=[x], yields=call.results))
    refused(function(replace(call, args=(x, x)), params=[x]), "2 arguments for 1 parameters")
    refused(function(replace(call, results=()), params=[x]), "0 results for 1 yields")
    refused(function(replace(call, args=(s,)), params=[s]), "stands for float64.* of the function that is called")
    refused(function(replace(call, results=(ir.Var("y", INT),)), params=[x]), "stands for float64")
    refused(function(replace(call, args=(ir.Var("z", VECTOR),)), params=[x]), "used before it is defined")


def test_a_call_of_array_core_computes_values(x):
    call = kept(x)
    u = ir.Var("u", VECTOR, buffer=True)
    refused(function(replace(call, written=(0,)), params=[x]), "writes into an argument")
    refused(function(replace(call, results=(u,)), params=[x]), "a call defines a buffer")
    refused(function(ir.Alloc(u, "copy", (x,)), replace(call, args=(u,)), params=[x]), "is used as a value")
