"""Python integers in 64 bits: operations whose result may not fit are checked before they are computed.

    s += i * i        ->      check not overflows_mul(i, i): OverflowError with the user's line
                              check not overflows_add(s, i * i)

Only weak integers are checked: NumPy's wrap in compiled code too. `transpile.loops.check_elimination` removes checks that
ranges prove, and `transpile.loops.check_hoisting` moves checks in front of loops: the test is pure, and the check is of the
same kind as that of subscripts. Integers that only feed floats are computed as floats, rounded as Python rounds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.lower.lowered_effects import unless
from transpile.lower.lowering import Lowering
from transpile.lower.weak_integers import LEAST, MOST, is_weak
from transpile.ops.record import Op
from transpile.ops.tables import record_of, records

Rule = Callable[["Lowering", ir.Let, Sequence[Expr]], "Expr | None"]


def compute(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> Expr:
    """The result of a scalar operation of the user's, emitted after the checks that it needs; ``args`` are the lowered
    operands."""
    rule = _RULES.get(record_of(stmt).fits)
    found = None if rule is None else rule(lw, stmt, args)
    return lw.compute(stmt.prim, args, stmt.var, stmt.params) if found is None else found


# ------------------------------------------------------------------------------------------------- checks


def _ask(lw: Lowering, test: Expr, prim: str) -> None:
    text = f"the result of {_symbol(record_of(prim))} does not fit in the int64 of compiled code"
    lw.b.emit(unless(lw.b.loc, test, "OverflowError", text))


def _symbol(record: Op) -> str:
    """The operator or the function name that Python uses."""
    if record.render.startswith("op:"):
        return str(record.render).removeprefix("op:")
    return (record.python or record.math or str(record.render)).partition("(")[0]


def _refuse(lw: Lowering, test: Expr, exception: str, text: str) -> None:
    lw.b.emit(unless(lw.b.loc, test, exception, text))


def check_range(lw: Lowering, start: ir.Operand, bound: ir.Operand, step: ir.Operand) -> None:
    """Emits a check that ``bound - start`` fits in 64 bits if the step is known only at run time: Numba computes it."""
    if not isinstance(step, ir.Const):
        test = _test(lw, "overflows_sub", bound, start)
        _refuse(lw, test, "OverflowError", "the length of the range does not fit in the int64 of compiled code")


def _test(lw: Lowering, prim: str, *args: Any) -> Expr:
    return lw.compute(prim, [lw.b.expr(a) for a in args], BOOL, {})


def _is(lw: Lowering, x: Expr, value: int) -> Expr:
    return _test(lw, "equal", x, ir.Const(value, INT))


def _both(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    """Emits the check, by ``overflows_*`` of `transpile_runtime.compiled.intmath`, that a result that is a Python integer
    fits."""
    if is_weak(stmt.var.type):
        _ask(lw, _test(lw, f"overflows_{stmt.prim}", *args), stmt.prim)


def _opposite(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    if is_weak(stmt.var.type):
        _ask(lw, _is(lw, args[0], LEAST), stmt.prim)


def _quotient(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    if is_weak(stmt.var.type) and not (isinstance(args[1].op, ir.Const) and args[1].op.value != -1):
        _ask(lw, _test(lw, "logical_and", _is(lw, args[0], LEAST), _is(lw, args[1], -1)), stmt.prim)


def _power(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    """Emits the checks of a power of Python integers: the exponent is not negative, and the result fits."""
    if is_weak(stmt.var.type):
        text = (
            "an integer to a negative power is a float in Python, but an integer in compiled code: write float(x) ** n"
        )
        _refuse(lw, _test(lw, "less", args[1], ir.Const(0, INT)), "ValueError", text)
        _both(lw, stmt, args)


def _shift(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    if is_weak(stmt.var.type):
        _refuse(lw, _test(lw, "less", args[1], ir.Const(0, INT)), "ValueError", "negative shift count")
        if f"overflows_{stmt.prim}" in records():
            _both(lw, stmt, args)


# ------------------------------------------------------------------------------------------------ from floats


def _cast(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> Expr | None:
    """The result of a cast of a factorial or the like to a float, computed in floats; None for other casts, after their
    checks."""
    (x,) = args
    if is_weak(stmt.var.type) and x.type.is_float:
        _whole(lw, stmt, args)
    if is_weak(stmt.var.type) and x.dtype == "uint64":
        text = "the number does not fit in the int64 of compiled code"
        _refuse(lw, _test(lw, "greater", x, ir.Const(MOST, Type(x.dtype))), "OverflowError", text)
    if stmt.params.get("place"):
        _check_place(lw, x, stmt.var.type.dtype)
    check_narrow(lw, stmt.args[0], stmt.var.type.dtype)
    made = lw.counted.get(stmt.args[0]) if isinstance(stmt.args[0], ir.Var) else None
    if made is None or not stmt.var.type.is_float:
        return None
    operands = [lw.scalar(a) for a in made.args]
    found = lw.compute(f"{made.prim}_float", operands, FLOAT, {})
    _refuse(lw, _test(lw, "isinf", found), "OverflowError", "int too large to convert to float")
    return lw.compute("cast", [found], stmt.var, stmt.params) if stmt.var.type.dtype != "float64" else found


def check_narrow(lw: Lowering, op: ir.Operand, dtype: str) -> None:
    """Emits checks that a Python integer fits in the integer dtype ``dtype``, as NumPy does; nothing for constants and other
    types."""
    if isinstance(op, ir.Const) or not is_weak(op.type) or "int" not in dtype or dtype == "int64":
        return
    x, ends = lw.scalar(op), np.iinfo(dtype)
    for prim, end in (("less", int(ends.min)), ("greater", int(ends.max))):
        if LEAST < end < MOST:
            test = _test(lw, prim, x, ir.Const(end, INT))
            _refuse(lw, test, "OverflowError", f"Python integer out of bounds for {dtype}")


def _check_place(lw: Lowering, x: Expr, dtype: str) -> None:
    """Emits checks that a NumPy number, a float or an integer, fits in an entry of an array of the signed integers
    ``dtype``."""
    ends = np.iinfo(dtype)
    if x.type.is_float:
        _refuse(lw, _test(lw, "isnan", x), "ValueError", "cannot convert float NaN to integer")
        wide = Type("float64")
        x = x if x.dtype == "float64" else lw.compute("cast", [x], wide, {"dtype": "float64", "weak": False})
        whole = dtype == "int64"  # its least number has no float just below it
        below, above = float(ends.min) - (not whole), float(ends.max) + (ends.bits < 64)
        over = _test(lw, "greater_equal" if whole else "greater", x, ir.Const(below, wide))
        inside = _test(lw, "logical_and", over, _test(lw, "less", x, ir.Const(above, wide)))
        _refuse(lw, _test(lw, "logical_not", inside), "OverflowError", f"Python integer out of bounds for {dtype}")
        return
    for prim, end in (("less", int(ends.min)), ("greater", int(ends.max))):
        if LEAST <= end <= MOST and int(np.iinfo(x.dtype).min) <= end <= int(np.iinfo(x.dtype).max):
            test = _test(lw, prim, x, ir.Const(end, Type(x.dtype)))
            _refuse(lw, test, "OverflowError", f"Python integer out of bounds for {dtype}")


def _whole(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> None:
    """Emits checks that a float that becomes a Python integer is finite and fits in 64 bits; nothing for other results."""
    (x,) = args
    if not is_weak(stmt.var.type) or not x.type.is_float:
        return
    _refuse(lw, _test(lw, "isnan", x), "ValueError", "cannot convert float NaN to integer")
    _refuse(lw, _test(lw, "isinf", x), "OverflowError", "cannot convert float infinity to integer")
    least, end = (ir.Const(value, Type(x.dtype)) for value in (-(2.0**63), 2.0**63))
    inside = _test(lw, "logical_and", _test(lw, "greater_equal", x, least), _test(lw, "less", x, end))
    text = "the float is too large for the int64 of compiled code"
    _refuse(lw, _test(lw, "logical_not", inside), "OverflowError", text)


# ------------------------------------------------------------------------------------------------- into floats


def _count(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> Expr | None:
    """Emits the check that a factorial or the like fits in 64 bits, and gives None; no check, and an undefined value, if only
    floats read it."""
    if stmt.var in lw.counted:
        return lw.b.expr(ir.Undef(INT))  # computed where it is converted to a float
    if len(args) == 1:
        _ask(lw, _test(lw, "greater", args[0], ir.Const(20, INT)), stmt.prim)
    else:
        _both(lw, stmt, args)
    return None


def _divide(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> Expr | None:
    """The quotient of two Python integers, rounded once as in Python; None if an operand is none."""
    if not stmt.params.get("whole") or stmt.var.type.dims:
        return None
    found = [_integer(lw, a) for a in stmt.args]
    if any(x is None for x in found):
        return None
    return lw.compute("true_divide", [x for x in found if x is not None], stmt.var, {})


def _compare(lw: Lowering, stmt: ir.Let, args: Sequence[Expr]) -> Expr | None:
    """The exact comparison of a Python integer, converted to a float before, with a float. None if no operand is such an
    integer, if both are, or if the float is a constant below 2**53, for which the usual comparison is exact."""
    if not all(a.type.weak and a.type.dtype == "float64" for a in stmt.args):
        return None
    made = [lw.integers.get(a) if isinstance(a, ir.Var) else None for a in stmt.args]
    if (made[0] is None) == (made[1] is None):
        return None
    first = made[1] is None  # whether the integer is the first operand
    let = made[0] if first else made[1]
    number = args[1 if first else 0]
    assert let is not None
    if isinstance(number.op, ir.Const) and abs(number.op.value) < 2**53:
        return None
    relation = record_of(stmt).relation
    assert relation is not None
    return lw.compute(
        f"exact_{(relation if first else relation.turned).name}", [lw.scalar(let.args[0]), number], stmt.var, {}
    )


def _integer(lw: Lowering, op: ir.Operand) -> Expr | None:
    """The integer that a float was converted from, or that a constant float is equal to; None if there is none."""
    if isinstance(op, ir.Const):
        return lw.b.expr(int(op.value)) if abs(op.value) <= MOST and op.value == int(op.value) else None
    let = lw.integers.get(op) if isinstance(op, ir.Var) else None
    return None if let is None else lw.scalar(let.args[0])


_RULES: dict[str, Rule] = {
    "asked": _both,
    "opposite": _opposite,
    "shift": _shift,
    "counted": _count,
    "whole": _whole,
    "compared": _compare,
    "quotient": _quotient,
    "power": _power,
    "cast": _cast,
    "divided": _divide,
}
"""The rule for each value of a record's ``fits``."""
