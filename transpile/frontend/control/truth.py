"""Truth: tests, ``and`` / ``or`` / ``not``, conditional expressions. What is known now folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.peephole import definition
from transpile.core.types import BOOL, computes_alike
from transpile.frontend.control import branches, dynamic_list_reads
from transpile.frontend.control.truth_values import FALSE, TRUE, by_facts, negated
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import contents, overloads
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Bound, Closure, Ref, Scalar, Static, Text, Tuple


def truth(lx: Lifter, value: Any, node: Any = None) -> ir.Operand:
    """``bool(value)`` as an operand; a Const where it is known now."""
    rule = _TRUTH.get(type(value))
    if rule is None:
        hint = "compare it with something, or test its length"
        raise lx.error("T120", f"the truth value of {describe(lx, value)} is not supported", node, hint)
    op = rule(lx, value, node)
    return by_facts(lx, op)


def test(lx: Lifter, node: gast.expr) -> ir.Operand:
    """The truth of an expression."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return negated(lx, test(lx, node.operand)).op
    if isinstance(node, gast.BoolOp):
        return _test_of_several(lx, isinstance(node.op, gast.And), list(node.values), node)
    return truth(lx, lx.expr(node), node)


MANY = 24  # operands of one ``and`` or ``or``, each inside the one before it


def _halves(nodes: list[gast.expr]) -> tuple[list[gast.expr], list[gast.expr]]:
    """The first operand and the others; of very many the first half: ``(a and b) and (c and d)`` is as ``a and b and c and d``,
    and not as deep."""
    half = len(nodes) // 2 if len(nodes) > MANY else 1
    return nodes[:half], nodes[half:]


def _test_of_several(lx: Lifter, is_and: bool, nodes: list[gast.expr], node: Any) -> ir.Operand:
    """The truth of an ``and`` or ``or``: which operand it gives does not matter."""
    head, tail = _halves(nodes)
    first = test(lx, head[0]) if len(head) == 1 else _test_of_several(lx, is_and, head, node)
    if not tail:
        return first

    def rest() -> Any:
        return Scalar(_test_of_several(lx, is_and, tail, node))

    if isinstance(first, ir.Const):
        return rest().op if bool(first.value) == is_and else first
    return truth(lx, follow(lx, is_and, first, Scalar(first), rest, node), node)


def _scalar(lx: Lifter, value: Scalar, node: Any) -> ir.Operand:
    op = value.op
    if isinstance(op, ir.Const):
        return TRUE if op.value else FALSE
    if isinstance(op, ir.Undef):
        raise lx.error("T116", "a variable may be read here before it is set", node, "set it on every path")
    if op.type.is_bool:
        return _asked(lx, op)
    form = lx.b.form_of(op)
    if form is not None and form.is_const:
        return TRUE if form.const else FALSE
    return lx.b.elementwise("not_equal", op, 0).op


def _array(lx: Lifter, value: Array, node: Any) -> ir.Operand:
    dims = lx.state.cells[value.cell].type.dims
    if not dims:
        return _scalar(lx, Scalar(lx.operand(value)), node)
    if all(lx.stretching.is_one(d) for d in dims):
        return _scalar(lx, Scalar(only(lx, lx.operand(value))), node)
    raise lx.error("T211", "the truth value of an array is ambiguous", node, hint="use np.any or np.all")


def only(lx: Lifter, x: ir.Operand) -> ir.Operand:
    """The element of an array that has one."""
    if all(d.is_one for d in x.type.dims):
        return lx.b.let("reshape", x, dims=()).op
    path = (ir.Index(tuple(ir.Point(k) for k in range(x.type.rank))),)
    return lx.b.let("index", x, *(0 for _ in x.type.dims), path=path, dims=()).op


def _ref(lx: Lifter, value: Ref, node: Any) -> ir.Operand:
    if dynamic_list_reads.is_grown(lx, value):
        return dynamic_list_reads.has_any(lx, value)
    state = contents.items(lx, value, node)
    if state.kind == "instance":
        return _own(lx, value, node) or TRUE
    return TRUE if state.items else FALSE


def _static(lx: Lifter, value: Static, node: Any) -> ir.Operand:
    return _own(lx, value, node) or (TRUE if statics.known(lx, value) else FALSE)


def _tuple(lx: Lifter, value: Tuple, node: Any) -> ir.Operand:
    return _own(lx, value, node) or (TRUE if value.items else FALSE)


def _own(lx: Lifter, value: Any, node: Any) -> ir.Operand | None:
    """What ``__bool__`` says, or ``__len__``, of an object of the user's; None if its class has neither."""
    for name in ("__bool__", "__len__"):
        found = overloads.call(lx, value, name, [], node)
        if found is not None:
            return truth(lx, found, node)
    return None


_TRUTH: dict[type, Callable[[Lifter, Any, Any], ir.Operand]] = {
    Scalar: _scalar,
    Array: _array,
    Ref: _ref,
    Static: _static,
    Tuple: _tuple,
    Closure: lambda lx, value, node: TRUE,
    Bound: lambda lx, value, node: TRUE,
    Text: lambda lx, value, node: TRUE,
}


def _asked(lx: Lifter, op: ir.Operand) -> ir.Operand:
    """What an `answer` was made of: enough for a test."""
    made = definition(lx.b, op)
    return made.args[0] if made is not None and made.prim == "cast" and made.args[0].type.is_bool else op


# --------------------------------------------------------------------------------- and, or, conditional expressions


def boolean_operator(lx: Lifter, node: gast.BoolOp) -> Any:
    """``and`` and ``or`` give one of their operands; the second is evaluated only if it decides."""
    return _boolean(lx, isinstance(node.op, gast.And), list(node.values), node)


def _boolean(lx: Lifter, is_and: bool, nodes: list[gast.expr], node: Any) -> Any:
    head, tail = _halves(nodes)
    first = lx.expr(head[0]) if len(head) == 1 else _boolean(lx, is_and, head, node)
    if not tail:
        return first
    decided = truth(lx, first, head[0])

    def rest() -> Any:
        return _boolean(lx, is_and, tail, node)

    if isinstance(decided, ir.Const):
        return rest() if bool(decided.value) == is_and else first
    return follow(lx, is_and, decided, first, rest, node)


def follow(lx: Lifter, is_and: bool, decided: ir.Operand, first: Any, rest: Callable[[], Any], node: Any) -> Any:
    """``first and rest()``, or ``or``. A rest that is known to decide does so whatever the first truth value is."""
    found: list[Any] = []

    def other() -> Any:
        found.append(rest())
        return found[-1]

    def short() -> Any:
        numbers = isinstance(first, Scalar) and found and isinstance(found[-1], Scalar)
        if is_and and numbers and first.op.type.is_bool and not computes_alike(first.op.type, found[-1].op.type):
            return Scalar(ir.Const(False, BOOL))  # NumPy's False, of which a number can only be 0
        return first

    sides = (other, short) if is_and else (short, other)
    value = either(lx, decided, *sides, node)
    if found and isinstance(first, Scalar) and first.op is decided and isinstance(found[-1], Scalar):
        last = found[-1].op
        if isinstance(last, ir.Const) and last.value is not is_and and last.type.is_bool:
            return found[-1]
    return value


def conditional(lx: Lifter, node: gast.IfExp) -> Any:
    """``a if test else b``."""
    decided = test(lx, node.test)
    return either(lx, decided, lambda: lx.expr(node.body), lambda: lx.expr(node.orelse), node)


def either(lx: Lifter, decided: ir.Operand, then: Callable[[], Any], orelse: Callable[[], Any], node: Any) -> Any:
    """The value of one of two expressions; both are lifted only if the test is not known now."""
    if isinstance(decided, ir.Const):
        return then() if decided.value else orelse()
    return branches.choose(lx, decided, then, orelse, node)
