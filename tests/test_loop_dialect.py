"""The nodes of the loop dialect alone: each is printed, and the verifier refuses it where it means nothing."""

from __future__ import annotations

import pytest
from loop_check import Malformed, check
from verified import verify

from transpile.core import nodes as ir
from transpile.core.dump import dump
from transpile.core.types import BOOL, INT
from transpile.errors import InternalError

ZERO, ONE, TRUE = ir.Const(0, INT), ir.Const(1, INT), ir.Const(True, BOOL)


def function(*stmts: ir.Stmt, params: tuple[ir.Var, ...] = ()) -> ir.Function:
    return ir.Function("f", params, ir.Block((), list(stmts)), {})


def refused(fn: ir.Function, message: str) -> None:
    with pytest.raises(Malformed, match=message):
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
