"""Packets: hand-written loop core, run statement by statement, and as vectors in machine code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from core_eval import evaluate
from verified import check

from transpile.codegen.llvm import function as llvm
from transpile.codegen.llvm import packet_instructions
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.dump import dump
from transpile.core.packets import ALL, COMBINED, NUMBERS, SPLAT, packet
from transpile.core.packets import ANY as ANY_LANE
from transpile.core.types import BOOL, FLOAT, FLOAT64, INT, Type
from transpile.errors import InternalError
from transpile.ops.tables import record_of

LANES = 8
REAL, MASK, WHOLE = packet("float64", LANES), packet("bool", LANES), packet("int64", LANES)
VECTOR = Type("float64", (ANY,))
ZERO, ONE, TWO = ir.Const(0, INT), ir.Const(1, INT), ir.Const(2.0, FLOAT64)
RNG = np.random.default_rng(7)
counter = itertools.count()


def let(type_: Type, prim: str, *args: ir.Operand, **params: object) -> ir.Let:
    return ir.Let(ir.Var("t", type_), prim, args, params)


def function(*stmts: ir.Stmt, params: tuple[ir.Var, ...], yields: tuple[ir.Operand, ...] = ()) -> ir.Function:
    return ir.Function("f", params, ir.Block((), list(stmts), yields), {})


def vector(name: str = "x", dtype: str = "float64") -> ir.Var:
    return ir.Var(name, Type(dtype, (ANY,)), buffer=True)


def agree(fn: ir.Function, *args: np.ndarray) -> tuple[np.ndarray, ...]:
    """What the statements leave in the arguments, one by one and in machine code."""
    check(fn)
    first, second = ([a.copy() for a in args] for _ in range(2))
    found = evaluate(fn, *first)
    compiled = pytest.importorskip("numba") and llvm.compile_function(fn, f"packets_{next(counter)}", (), None)
    given = compiled.entry_point(*second)
    for a, b in zip(first, second):
        np.testing.assert_allclose(b, a, rtol=1e-15)
    if fn.body.yields:
        np.testing.assert_allclose(given, found if len(found) > 1 else found[0], rtol=1e-15)
    return tuple(second)


# ------------------------------------------------------------------------------------------------ what they compute

AT_ONCE = "add sub mul div maximum minimum where neg sqrt absolute fabs floor ceil trunc rint square positive".split()
ELEMENTWISE = [*AT_ONCE, *"sin arctan2 fmax pow".split()]


def of_one(prim: str) -> ir.Function:
    x, y = vector(), vector("y")
    read, second = ir.PacketRead(ir.Var("a", REAL), x, (ZERO,)), ir.PacketRead(ir.Var("b", REAL), y, (ZERO,))
    count = record_of(prim).operands
    test = let(MASK, "less", read.var, second.var)
    args = (test.var, read.var, second.var) if count == 3 else (read.var, second.var)[:count]
    made = let(REAL, prim, *args)
    return function(read, second, test, made, ir.PacketStore(x, (ZERO,), made.var), params=(x, y))


@pytest.mark.numba
@pytest.mark.parametrize("prim", ELEMENTWISE)
def test_elementwise(prim):
    x, y = RNG.uniform(0.1, 3.0, (2, LANES))
    if prim in ("maximum", "minimum"):
        x[1] = y[2] = np.nan
    agree(of_one(prim), x, y)


@pytest.mark.numba
@pytest.mark.parametrize("prim", ELEMENTWISE)
def test_what_is_an_instruction_is_one_for_all_lanes(prim, monkeypatch):
    lane_by_lane = []
    each = packet_instructions._each
    monkeypatch.setattr(packet_instructions, "_each", lambda *given: lane_by_lane.append(prim) or each(*given))
    llvm.compile_function(of_one(prim), f"packets_{next(counter)}", (), None)
    assert lane_by_lane == ([] if prim in AT_ONCE else [prim])


@pytest.mark.numba
@pytest.mark.parametrize("prim", "less less_equal greater greater_equal equal not_equal".split())
def test_tests_and_masks(prim):
    x, out = vector(), vector("out", "int64")
    read = ir.PacketRead(ir.Var("a", REAL), x, (ZERO,))
    test = let(MASK, prim, read.var, ir.Const(1.0, FLOAT64))
    other = let(MASK, "logical_not", test.var)
    asked = [let(BOOL, question, mask) for question in (ANY_LANE, ALL) for mask in (test.var, other.var)]
    stmts = [read, test, other, *asked]
    for k, a in enumerate(asked):
        number = let(Type("int64"), "cast", a.var, dtype="int64", weak=False)
        stmts += [number, ir.Store(out, (ir.Index((ir.Point(0),)),), (ir.Const(k, INT),), number.var)]
    fn = function(*stmts, params=(x, out))
    for x_ in ([0.0] * LANES, [2.0] * LANES, [1.0, np.nan] * 4, np.linspace(0, 2, LANES)):
        agree(fn, np.array(x_), np.zeros(4, np.int64))


@pytest.mark.numba
@pytest.mark.parametrize("combiner", ["add", "mul", "maximum", "minimum"])
def test_lanes_are_combined(combiner):
    x = vector()
    read = ir.PacketRead(ir.Var("a", REAL), x, (ONE,))
    whole = let(FLOAT64, COMBINED, read.var, combiner=combiner)
    agree(function(read, whole, params=(x,), yields=(whole.var,)), RNG.normal(size=LANES + 1))


# --------------------------------------------------------------------------------------------------------- memory


@pytest.mark.numba
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("gathered", [False, True])
def test_memory(masked, gathered):
    x, k, y = vector(), vector("k", "int64"), vector("y")
    index = ir.PacketRead(ir.Var("i", WHOLE), k, (ZERO,))
    at = index.var if gathered else ONE
    numbers = let(WHOLE, NUMBERS)
    few = let(MASK, "less", numbers.var, ir.Const(5, Type("int64")))
    mask = few.var if masked else None
    read = ir.PacketRead(ir.Var("a", REAL), x, (at,), mask)
    twice = let(REAL, "mul", read.var, TWO)
    stmts = (index, numbers, few, read, twice, ir.PacketStore(y, (at,), twice.var, mask))
    given = np.array([3, 0, 7, 1, 2, 900, -900, 10**12]) if masked else np.array([3, 0, 7, 1, 2, 8, 6, 5])
    x_, y_ = RNG.normal(size=(2, LANES + 1))
    (_, _, found) = agree(function(*stmts, params=(x, k, y)), x_, given, y_)
    assert (found != y_).sum() == (5 if masked else LANES)


# ----------------------------------------------------------------------------------------------- a loop until all are done


def newton() -> ir.Function:
    """Square roots, each lane until it is exact to 1e-12: a lane that is done keeps what it has."""
    x, out = vector(), vector("out")
    a = ir.PacketRead(ir.Var("a", REAL), x, (ZERO,))
    one, on = let(REAL, SPLAT, ir.Const(1.0, FLOAT64)), let(MASK, "greater", a.var, ir.Const(0.0, FLOAT64))
    root, active = ir.Var("root", REAL), ir.Var("active", MASK)
    asked, asking = ir.Var("root", REAL), ir.Var("active", MASK)
    more = let(BOOL, ANY_LANE, asking)
    quotient = let(REAL, "div", a.var, root)
    total = let(REAL, "add", root, quotient.var)
    half = let(REAL, "mul", total.var, ir.Const(0.5, FLOAT64))
    new = let(REAL, "where", active, half.var, root)
    gap = let(REAL, "sub", new.var, root)
    size = let(REAL, "absolute", gap.var)
    far = let(MASK, "greater", size.var, ir.Const(1e-12, FLOAT64))
    left = let(MASK, "logical_and", active, far.var)
    body = ir.Block((root, active), [quotient, total, half, new, gap, size, far, left], (new.var, left.var))
    results = (ir.Var("root", REAL), ir.Var("active", MASK))
    test = ir.Block((asked, asking), [more], (more.var,))
    loop = ir.While((one.var, on.var), test, body, results)
    return function(a, one, on, loop, ir.PacketStore(out, (ZERO,), results[0]), params=(x, out))


@pytest.mark.numba
def test_a_loop_that_lanes_leave():
    x = np.array([1.0, 2.0, 9.0, 1e6, 1e-3, 0.25, 100.0, 3.0])
    (_, found) = agree(newton(), x, np.zeros(LANES))
    np.testing.assert_allclose(found, np.sqrt(x), rtol=1e-10)


@pytest.mark.numba
def test_it_is_vectors():
    compiled = llvm.compile_function(newton(), "packets_newton", (), None)
    assert "fdiv <8 x double>" in compiled.library.get_llvm_str()


# --------------------------------------------------------------------------------------------------- the verifier


def test_printed():
    text = dump(newton())
    assert "a: float64 x 8 = lanes x[0]" in text and "lanes out[0] <- root" in text
    assert "any_lane" in text


def refused(message: str, *stmts: ir.Stmt, yields: tuple[ir.Operand, ...] = ()) -> None:
    x = X
    with pytest.raises(InternalError, match=message):
        check(function(*stmts, params=(x,), yields=yields))


X = vector()
READ = ir.PacketRead(ir.Var("a", REAL), X, (ZERO,))


def test_refused():
    a = READ.var
    check(function(READ, params=(X,)))
    refused("is returned", READ, yields=(a,))
    refused("has not 4 lanes", READ, let(packet("float64", 4), "neg", a))
    refused("a packet of 6 lanes", ir.PacketRead(ir.Var("a", packet("float64", 6)), X, (ZERO,)))
    refused("takes no packets", READ, let(REAL, "dim", a))
    refused("is no packet", READ, let(FLOAT64, "neg", a))
    refused("different dtypes", READ, let(REAL, "add", a, ONE))
    refused("an operand should be bool", READ, let(REAL, "where", a, a, a))
    refused("is no bool", READ, let(REAL, "less", a, a))
    refused("of what is no mask", READ, let(BOOL, ANY_LANE, a))
    refused("combines nothing", READ, let(FLOAT64, COMBINED, a, combiner="sub"))
    refused("in lanes of", let(REAL, SPLAT, ONE))
    refused("lane_numbers are", let(REAL, NUMBERS))
    refused("lanes of float32 x 8 in", ir.PacketRead(ir.Var("a", packet("float32", 8)), X, (ZERO,)))
    refused("a subscript is float", ir.PacketRead(ir.Var("a", REAL), X, (ir.Const(0.0, FLOAT),)))
    refused("subscripts of rank 1", ir.PacketRead(ir.Var("a", REAL), X, (ZERO, ZERO)))
    refused("is no mask of 8 lanes", READ, ir.PacketStore(X, (ZERO,), a, a))
    refused("is stored as one element", READ, ir.Store(X, (ir.Index((ir.Point(0),)),), (ZERO,), a))
    still = ir.Var("y", VECTOR)
    with pytest.raises(InternalError, match="is written"):
        check(function(READ, ir.PacketStore(still, (ZERO,), a), params=(X, still)))
