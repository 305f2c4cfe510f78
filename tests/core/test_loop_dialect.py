"""The nodes of the loop dialect alone: each is printed, and the verifier refuses it where it means nothing."""

from __future__ import annotations

import pytest
from verified import check, verify

from transpile.core import nodes as ir
from transpile.core.dump import dump
from transpile.core.types import BOOL, FLOAT64, INT
from transpile.errors import InternalError

ZERO, ONE, TRUE = ir.Const(0, INT), ir.Const(1, INT), ir.Const(True, BOOL)


def function(*stmts: ir.Stmt, params: tuple[ir.Var, ...] = ()) -> ir.Function:
    return ir.Function("f", params, ir.Block((), list(stmts)), {})


def refused(fn: ir.Function, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        check(fn)


# ------------------------------------------------------------------------------------------------------------ checks


def bounds(**more: object) -> ir.BoundsCheck:
    given = {"at": ZERO, "size": ONE, "given": ZERO, "low": True, "exception": "IndexError", "parts": ("index ", 0)}
    return ir.BoundsCheck(**{**given, **more})  # type: ignore[arg-type]


def test_checks_are_printed() -> None:
    n = ir.Var("n", INT)
    text = dump(function(bounds(at=n, guard=TRUE), ir.Check(TRUE, "OverflowError", ("no",)), params=(n,)))
    assert "check 0 <= n < 1 if True else IndexError of 0" in text
    assert "check not True else OverflowError" in text


def test_a_check_asks_numbers() -> None:
    check(function(bounds(), bounds(guard=TRUE), ir.Check(TRUE, "OverflowError", ())))
    refused(function(bounds(at=TRUE)), "a part of a check is bool")
    refused(function(bounds(guard=ONE)), "a test is int")
    refused(function(ir.Check(ONE, "OverflowError", ())), "a test is int")
    refused(function(ir.Check(ir.Var("t", BOOL), "OverflowError", ())), "before it is defined")


def test_array_core_has_no_checks() -> None:
    with pytest.raises(InternalError, match="BoundsCheck is not a statement"):
        verify(function(bounds()))


def test_a_message_names_what_is_there() -> None:
    verify(function(ir.Raise((ONE,), "ValueError", ("it is ", 0))))
    with pytest.raises(InternalError, match="names an operand that is not there"):
        verify(function(ir.Raise((ONE,), "ValueError", ("it is ", 1))))
    with pytest.raises(InternalError, match="names an operand that is not there"):
        verify(function(ir.Print((ONE,), ((0,), ((1, "", ""),)))))


# ------------------------------------------------------------------------------------------------- trips at once


def loop(prim: str = "add", turned: bool = False, **more: object) -> ir.For:
    """A loop that carries a sum."""
    total, new = ir.Var("total", FLOAT64), ir.Var("new", FLOAT64)
    args = (total, ir.Const(2.0, FLOAT64))
    body = ir.Block((total,), [ir.Let(new, prim, args[::-1] if turned else args)], (new,))
    given: dict[str, object] = {"kind": "vector", "combiners": ("add",), "start": ZERO, "step": ONE, **more}
    start, step = given.pop("start"), given.pop("step")
    inits, results = (ir.Const(0.0, FLOAT64),), (ir.Var("sum", FLOAT64),)
    return ir.For(ir.Var("i", INT), start, ir.Const(16, INT), step, inits, body, results, **given)  # type: ignore[arg-type]


def test_loops_of_a_kind_are_printed() -> None:
    assert "in vector range(0, 16, 1) with total: float64 := 0.0:float64 combined by add:" in dump(function(loop()))
    assert "range(0, 4, 1) in vectors of 1:" in dump(function(counting(width=1)))


def counting(**more: object) -> ir.For:
    return ir.For(ir.Var("i", INT), ZERO, ir.Const(4, INT), ONE, (), ir.Block(), **more)  # type: ignore[arg-type]


def test_what_a_vector_loop_carries_is_combined() -> None:
    for prim, turned, combiners in (
        ("add", False, "add"),
        ("add", True, "add"),
        ("sub", False, "add"),
        ("mul", True, "mul"),
    ):
        check(function(loop(prim, turned, combiners=(combiners,))))
    refused(function(loop(combiners=())), "0 combiners for 1 values")
    refused(function(loop(combiners=("mul",))), "is not only combined by mul")
    refused(function(loop("sub", True)), "is not only combined by add")
    refused(function(loop(combiners=("pow",))), "combines nothing")
    more = loop()
    more.body.stmts.append(ir.Let(ir.Var("more", FLOAT64), "neg", (more.body.params[0],)))
    refused(function(more), "is not only combined by add")


def test_trips_at_once_are_counted() -> None:
    refused(function(loop(step=ir.Const(2, INT))), "does not count up by 1")
    refused(function(loop(backwards=True)), "does not count up by 1")
    refused(function(loop(trips=ir.Var("trips", INT))), "may stop")
    check(function(counting(kind="parallel")))
    refused(function(loop(kind="parallel")), "a parallel loop that carries something")
    ends = ir.For(ir.Var("i", INT), ONE, ir.Const(4, INT), ONE, (), ir.Block(), kind="parallel")
    refused(function(ends), "begins elsewhere")
