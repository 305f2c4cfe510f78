"""Truth: tests, comparisons, ``and`` / ``or`` / ``not``, conditional expressions. What is known now folds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core.nodes import Const, Index, Operand, Point, Undef
from transpile.core.types import BOOL
from transpile.frontend import branches, statics
from transpile.frontend.convert import describe
from transpile.frontend.lifter import Lifter, Opposite
from transpile.frontend.values import Array, Bound, Closure, Items, RangeOf, Ref, Scalar, Static, Tuple

TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def truth(lx: Lifter, value: Any, node: Any = None) -> Operand:
    """``bool(value)`` as an operand; a Const where it is known now."""
    rule = _TRUTH.get(type(value))
    if rule is None:
        raise lx.error("T120", f"{describe(lx, value)} has no truth value here", node)
    op = rule(lx, value, node)
    return by_facts(lx, op)


def by_facts(lx: Lifter, op: Operand) -> Operand:
    """A truth value, folded where the tests passed on the way here decide it."""
    for fact in lx.facts:
        if fact is op:
            return TRUE
        if isinstance(fact, Opposite) and fact.test is op:
            return FALSE
    return op


def test(lx: Lifter, node: gast.expr) -> Operand:
    """The truth of an expression."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return negated(lx, test(lx, node.operand)).op
    return truth(lx, lx.expr(node), node)


def _scalar(lx: Lifter, value: Scalar, node: Any) -> Operand:
    op = value.op
    if isinstance(op, Const):
        return TRUE if op.value else FALSE
    if isinstance(op, Undef):
        raise lx.error("T116", "a variable may have no value here", node)
    if op.type.is_bool:
        return op
    if op.form is not None and op.form.is_const:
        return TRUE if op.form.const else FALSE
    return lx.b.elementwise("not_equal", op, 0).op


def _array(lx: Lifter, value: Array, node: Any) -> Operand:
    dims = lx.state.cells[value.cell].type.dims
    if not dims:
        return _scalar(lx, Scalar(lx.operand(value)), node)
    if all(lx.stretching.is_one(d) for d in dims):
        return _scalar(lx, Scalar(only(lx, lx.operand(value))), node)
    raise lx.error("T211", "the truth value of an array is ambiguous", node, hint="use np.any or np.all")


def only(lx: Lifter, x: Operand) -> Operand:
    """The element of an array that has one."""
    if all(d.is_one for d in x.type.dims):
        return lx.b.let("reshape", x, dims=()).op
    path = (Index(tuple(Point(k) for k in range(x.type.rank))),)
    return lx.b.let("index", x, *(0 for _ in x.type.dims), path=path, dims=()).op


def _ref(lx: Lifter, value: Ref, node: Any) -> Operand:
    state: Items = lx.state.cells[value.cell]
    if state.kind == "grown":
        return TRUE
    return TRUE if state.kind == "instance" or state.items else FALSE


def _static(lx: Lifter, value: Static, node: Any) -> Operand:
    return TRUE if statics.known(lx, value) else FALSE


_TRUTH: dict[type, Callable[[Lifter, Any, Any], Operand]] = {
    Scalar: _scalar,
    Array: _array,
    Ref: _ref,
    Static: _static,
    Tuple: lambda lx, value, node: TRUE if value.items else FALSE,
    Closure: lambda lx, value, node: TRUE,
    Bound: lambda lx, value, node: TRUE,
}


def negated(lx: Lifter, op: Operand) -> Scalar:
    if isinstance(op, Const):
        return Scalar(FALSE if op.value else TRUE)
    return Scalar(lx.b.elementwise("logical_not", op).op)


# ----------------------------------------------------------------------------------------------- comparisons

PRIMS = {
    gast.Lt: "less", gast.LtE: "less_equal", gast.Gt: "greater", gast.GtE: "greater_equal", gast.Eq: "equal",
    gast.NotEq: "not_equal",
}  # fmt: skip
_PYTHON: dict[type, Callable[[Any, Any], bool]] = {
    gast.Lt: lambda a, b: a < b, gast.LtE: lambda a, b: a <= b, gast.Gt: lambda a, b: a > b,
    gast.GtE: lambda a, b: a >= b, gast.Eq: lambda a, b: a == b, gast.NotEq: lambda a, b: a != b,
}  # fmt: skip


def compare(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    """One comparison of two values."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        return lx.const(_same_object(lx, left, right, node) == isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        found = contains(lx, right, left, node)
        return Scalar(found) if isinstance(op, gast.In) else negated(lx, found)
    numbers = isinstance(left, (Scalar, Array)) and isinstance(right, (Scalar, Array))
    if not numbers:
        found = _of_containers(lx, op, left, right, node)
        if found is not None:
            return found
    if statics.is_known(lx, left) and statics.is_known(lx, right):
        try:
            return lx.const(bool(_PYTHON[type(op)](statics.known(lx, left), statics.known(lx, right))))
        except TypeError as e:
            raise lx.error("T120", str(e), node) from None
    x, y = lx.operand(left, node), lx.operand(right, node)
    known = _by_form(lx, op, x, y)
    return lx.const(known) if known is not None else lx.value(lx.b.elementwise(PRIMS[type(op)], x, y))


def _by_form(lx: Lifter, op: gast.cmpop, x: Operand, y: Operand) -> bool | None:
    """What the forms of two integers say of them: sizes are not negative, equal forms are equal."""
    if not (x.type.is_int and y.type.is_int) or x.type.dims or y.type.dims:
        return None
    forms = [_form(lx, o) for o in (x, y)]
    if forms[0] is None or forms[1] is None:
        return None
    difference = lx.symbols.resolve(forms[0] - forms[1])
    if difference.is_const:
        return bool(_PYTHON[type(op)](difference.const, 0))
    return None


def _form(lx: Lifter, op: Operand) -> Any:
    if isinstance(op, Const):
        return lx.b.form(op)
    return getattr(op, "form", None)


def _same_object(lx: Lifter, left: Any, right: Any, node: Any) -> bool:
    if isinstance(left, Static) and isinstance(right, Static):
        a, b = statics.known(lx, left), statics.known(lx, right)
        return a is b or (type(a) is type(b) and isinstance(a, (str, int)) and a == b)
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        if all(isinstance(o, Const) for o in (left.op, right.op)):
            return left.op == right.op
        if left.op.type.is_bool and right.op.type.is_bool:
            raise lx.error(
                "T120", "'is' of truth values that only the run knows", node, hint="use == or just the value"
            )
        return False
    if isinstance(left, (Array, Ref)) and type(left) is type(right):
        return left.cell is right.cell
    return left is right


def contains(lx: Lifter, container: Any, item: Any, node: Any) -> Operand:
    """``item in container``."""
    if isinstance(container, Static):
        return TRUE if lx.static(item, "the left side of 'in'", node) in statics.known(lx, container) else FALSE
    if isinstance(container, RangeOf):
        x = lx.array(item)
        start, stop, step = (lx.b.expr(o) for o in (container.start, container.stop, container.step))
        if not (isinstance(step.op, Const) and step.op.value == 1):
            raise lx.error("T120", "'in' of a range with a step", node)
        return lx.b.elementwise("logical_and", start <= x, x < stop).op
    state = lx.state.cells[container.cell] if isinstance(container, Ref) else None
    if state is not None and state.kind == "dict":
        return TRUE if lx.static(item, "the key of a dict", node) in (state.keys or ()) else FALSE
    items = state.items if state is not None else getattr(container, "items", None)
    if items is None:
        hint = "use np.any(x == value)" if isinstance(container, Array) else ""
        raise lx.error("T120", f"'in' of {describe(lx, container)}", node, hint)
    found: Operand = FALSE
    for one in items:
        same = truth(lx, compare(lx, gast.Eq(), one, item, node), node)
        if isinstance(same, Const):
            if same.value:
                return TRUE
            continue
        found = same if isinstance(found, Const) else lx.b.elementwise("logical_or", found, same).op
    return found


def _of_containers(lx: Lifter, op: gast.cmpop, left: Any, right: Any, node: Any) -> Any:
    if not isinstance(op, (gast.Eq, gast.NotEq)):
        return None
    sides = [_items(lx, v) for v in (left, right)]
    if sides[0] is None and sides[1] is None:
        if statics.is_known(lx, left) and statics.is_known(lx, right):
            return None
        static = isinstance(left, Static) or isinstance(right, Static)
        return lx.const(isinstance(op, gast.NotEq)) if static else None
    if sides[0] is None or sides[1] is None:
        if any(isinstance(v, Array) for v in (left, right)):
            return None
        return lx.const(isinstance(op, gast.NotEq))
    if len(sides[0]) != len(sides[1]):
        return lx.const(isinstance(op, gast.NotEq))
    same: Operand = TRUE
    for a, b in zip(*sides):
        one = truth(lx, compare(lx, gast.Eq(), a, b, node), node)
        same = _both(lx, same, one)
    return Scalar(same) if isinstance(op, gast.Eq) else negated(lx, same)


def _items(lx: Lifter, value: Any) -> Any:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Ref):
        state: Items = lx.state.cells[value.cell]
        return state.items if state.kind == "list" else None
    return None


def _both(lx: Lifter, a: Operand, b: Operand) -> Operand:
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const):
            return other if one.value else FALSE
    return lx.b.elementwise("logical_and", a, b).op


def chain(lx: Lifter, left: Any, ops: list[gast.cmpop], nodes: list[gast.expr], node: Any) -> Any:
    """``a < b < c``: the middle is evaluated once, what follows a false part not at all."""
    right = lx.expr(nodes[0])
    first = compare(lx, ops[0], left, right, node)
    if len(ops) == 1:
        return first
    decided = truth(lx, first, node)

    def rest() -> Any:
        return chain(lx, right, ops[1:], nodes[1:], node)

    if isinstance(decided, Const):
        return rest() if decided.value else first
    return _decided(lx, True, decided, first, rest, node)


# --------------------------------------------------------------------------------- and, or, conditional expressions


def boolean_operator(lx: Lifter, node: gast.BoolOp) -> Any:
    """``and`` and ``or`` give one of their operands; the second is evaluated only if it decides."""
    return _boolean(lx, isinstance(node.op, gast.And), list(node.values), node)


def _boolean(lx: Lifter, is_and: bool, nodes: list[gast.expr], node: Any) -> Any:
    first = lx.expr(nodes[0])
    if len(nodes) == 1:
        return first
    decided = truth(lx, first, nodes[0])

    def rest() -> Any:
        return _boolean(lx, is_and, nodes[1:], node)

    if isinstance(decided, Const):
        return rest() if bool(decided.value) == is_and else first
    return _decided(lx, is_and, decided, first, rest, node)


def _decided(lx: Lifter, is_and: bool, decided: Operand, first: Any, rest: Callable[[], Any], node: Any) -> Any:
    """``first and rest()``, or ``or``. A rest that is known to decide does so whatever the first truth value is."""
    found: list[Any] = []

    def other() -> Any:
        found.append(rest())
        return found[-1]

    sides = (other, lambda: first) if is_and else (lambda: first, other)
    value = either(lx, decided, *sides, node)
    if found and isinstance(first, Scalar) and first.op is decided and isinstance(found[-1], Scalar):
        last = found[-1].op
        if isinstance(last, Const) and last.value is not is_and and last.type.is_bool:
            return found[-1]
    return value


def conditional(lx: Lifter, node: gast.IfExp) -> Any:
    """``a if test else b``."""
    decided = test(lx, node.test)
    return either(lx, decided, lambda: lx.expr(node.body), lambda: lx.expr(node.orelse), node)


def either(lx: Lifter, decided: Operand, then: Callable[[], Any], orelse: Callable[[], Any], node: Any) -> Any:
    """The value of one of two expressions; both are lifted only if the test is not known now."""
    if isinstance(decided, Const):
        return then() if decided.value else orelse()
    return branches.choose(lx, decided, then, orelse, node)
