"""Expressions: literals, names, operators, displays. What has a subject of its own is in a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from transpile.core.nodes import Const, Operand
from transpile.core.types import FLOAT
from transpile.frontend import attributes, calls, comprehensions, formatting, names, subscripts, truth
from transpile.frontend.convert import describe, new_list
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Array, Cell, Closure, Items, Ref, Scalar, SliceOf, Static, Tuple

# ----------------------------------------------------------------------------------------------- literals, displays


def _constant(lx: Lifter, node: gast.Constant) -> Any:
    if isinstance(node.value, complex):
        raise lx.error("T209", "complex numbers are not supported", node)
    return lx.const(node.value)


def elements(lx: Lifter, nodes: list[gast.expr]) -> list[Any]:
    """The values of a display, stars spread out."""
    from transpile.frontend import iteration

    found: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            found += iteration.unrolled(lx, lx.expr(node.value), node)
        else:
            found.append(lx.expr(node))
    return found


def _tuple(lx: Lifter, node: gast.Tuple) -> Tuple:
    return Tuple(tuple(elements(lx, node.elts)))


def _list(lx: Lifter, node: gast.List) -> Ref:
    return new_list(lx, elements(lx, node.elts))


def _set(lx: Lifter, node: gast.Set) -> Static:
    return Static(frozenset(lx.static(lx.expr(e), "an element of a set", e) for e in node.elts))


def new_dict(lx: Lifter, keys: list[Any], items: list[Any]) -> Ref:
    """A dict; of equal keys the last one's value counts, at the first one's place."""
    merged = dict(zip(keys, items))
    cell = Cell("dict")
    lx.state.cells[cell] = Items("dict", tuple(merged.values()), tuple(merged))
    return Ref(cell)


def _dict(lx: Lifter, node: gast.Dict) -> Ref:
    keys: list[Any] = []
    items: list[Any] = []
    for key, value in zip(node.keys, node.values):
        if key is None:
            merged = lx.expr(value)
            state = lx.state.cells.get(merged.cell) if isinstance(merged, Ref) else None
            if state is None or state.kind != "dict":
                raise lx.error("T117", f"** of {describe(lx, merged)}", value)
            keys += state.keys or ()
            items += state.items
        else:
            keys.append(lx.static(lx.expr(key), "the key of a dict", key))
            items.append(lx.expr(value))
    return new_dict(lx, keys, items)


# -------------------------------------------------------------------------------------------------- operators

BINARY = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "div", gast.FloorDiv: "floordiv", gast.Mod: "mod",
    gast.Pow: "pow", gast.BitAnd: "bitwise_and", gast.BitOr: "bitwise_or", gast.BitXor: "bitwise_xor",
    gast.LShift: "left_shift", gast.RShift: "right_shift", gast.MatMult: "matmul",
}  # fmt: skip
SYMBOL = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "bitwise_and": "&",
    "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>", "matmul": "@",
}  # fmt: skip


def _binary(lx: Lifter, node: gast.BinOp) -> Any:
    left = lx.expr(node.left)
    right = lx.expr(node.right)
    return binary(lx, BINARY[type(node.op)], left, right, node)


def binary(lx: Lifter, prim: str, left: Any, right: Any, node: Any = None) -> Any:
    """``left op right`` of any two values."""
    if not (isinstance(left, (Scalar, Array)) and isinstance(right, (Scalar, Array))):
        found = _containers(lx, prim, left, right)
        if found is not None:
            return found
    x, y = _operand(lx, left, prim, node), _operand(lx, right, prim, node)
    if prim == "matmul":
        return calls.known_call(lx, "numpy.matmul", [left, right], {}, node)
    return lx.value(arithmetic(lx, prim, x, y))


def _operand(lx: Lifter, value: Any, prim: str, node: Any) -> Operand:
    if isinstance(value, Static) and not isinstance(value.value, (bool, int, float)):
        if value.value is None or isinstance(value.value, str):
            raise lx.error("T120", f"{describe(lx, value)} is an operand of {SYMBOL[prim]!r}", node)
    return lx.operand(value, node)


def arithmetic(lx: Lifter, prim: str, x: Operand, y: Operand) -> Operand:
    """An operator of numbers and arrays; literals fold where Python's arithmetic is exact."""
    if prim == "pow" and _is_int(x) and _is_int(y):
        if isinstance(y, Const) and y.value < 0 and x.type.weak:
            x = lx.b.cast(x, FLOAT).op
    if isinstance(x, Const) and isinstance(y, Const) and x.type.weak and y.type.weak:
        folded = _fold(prim, x.value, y.value)
        if folded is not None:
            return lx.b.operand(folded)
    return lx.b.elementwise(prim, x, y).op


def _is_int(op: Operand) -> bool:
    return op.type.is_int or op.type.is_bool


def _fold(prim: str, x: Any, y: Any) -> Any:
    if isinstance(x, float) or isinstance(y, float):
        return None  # written as the user wrote it
    try:
        found = {
            "floordiv": lambda: x // y, "mod": lambda: x % y, "bitwise_and": lambda: x & y, "bitwise_or": lambda: x | y,
            "bitwise_xor": lambda: x ^ y, "left_shift": lambda: x << y if y < 64 else None,
            "right_shift": lambda: x >> y, "add": lambda: x + y, "sub": lambda: x - y, "mul": lambda: x * y,
        }.get(prim, lambda: None)()  # fmt: skip
    except (ZeroDivisionError, ValueError):
        return None
    return found


def _containers(lx: Lifter, prim: str, left: Any, right: Any) -> Any:
    """``+`` and ``*`` of lists, tuples and strings."""
    kinds = (_items(lx, left), _items(lx, right))
    if prim == "add" and kinds[0] is not None and kinds[1] is not None and type(left) is type(right):
        joined = [*kinds[0], *kinds[1]]
        return Tuple(tuple(joined)) if isinstance(left, Tuple) else new_list(lx, joined)
    if prim == "mul":
        for items, times, whole in ((kinds[0], right, left), (kinds[1], left, right)):
            if items is not None and isinstance(times, (Scalar, Static)):
                count = lx.static(times, "the number of repetitions")
                repeated = list(items) * count
                return Tuple(tuple(repeated)) if isinstance(whole, Tuple) else new_list(lx, repeated)
    held = [v.value for v in (left, right) if isinstance(v, Static)]
    if len(held) == 2 and prim in ("add", "mod", "bitwise_or", "bitwise_and", "sub"):
        try:
            return lx.const(_PYTHON[prim](*held))
        except TypeError:
            return None
    if prim == "mod" and isinstance(left, Static) and isinstance(left.value, str):
        return Static(left.value % lx.static(right, "a formatted value"))
    return None


_PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b, "mod": lambda a, b: a % b, "bitwise_or": lambda a, b: a | b,
    "bitwise_and": lambda a, b: a & b, "sub": lambda a, b: a - b,
}  # fmt: skip


def _items(lx: Lifter, value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Ref):
        state: Items = lx.state.cells[value.cell]
        return state.items if state.kind == "list" else None
    return None


def _unary(lx: Lifter, node: gast.UnaryOp) -> Any:
    if isinstance(node.op, gast.Not):
        return truth.negated(lx, truth.test(lx, node.operand))
    value = lx.expr(node.operand)
    x = lx.operand(value, node)
    if isinstance(node.op, gast.UAdd):
        return value
    if isinstance(node.op, gast.USub):
        if x.type.is_bool and x.type.weak:
            return lx.value(lx.b.elementwise("sub", 0, x))
        return lx.value(lx.b.elementwise("neg", x))
    if isinstance(x, Const):
        return lx.const(~x.value)
    if x.type.is_bool and x.type.weak:
        x = lx.b.cast(x, lx.b.operand(0).type).op
    return lx.value(lx.b.elementwise("invert", x))


COMPARE = {
    gast.Lt: "less", gast.LtE: "less_equal", gast.Gt: "greater", gast.GtE: "greater_equal", gast.Eq: "equal",
    gast.NotEq: "not_equal",
}  # fmt: skip


def _compare(lx: Lifter, node: gast.Compare) -> Any:
    left = lx.expr(node.left)
    if len(node.ops) == 1:
        return truth.compare(lx, node.ops[0], left, lx.expr(node.comparators[0]), node)
    return truth.chain(lx, left, list(node.ops), list(node.comparators), node)


# -------------------------------------------------------------------------------------------------------- others


def _slice(lx: Lifter, node: gast.Slice) -> SliceOf:
    parts = [None if part is None else lx.expr(part) for part in (node.lower, node.upper, node.step)]
    return SliceOf(*(None if isinstance(p, Static) and p.value is None else p for p in parts))


def _lambda(lx: Lifter, node: gast.Lambda) -> Closure:
    return calls.closure(lx, node, "<lambda>")


def _walrus(lx: Lifter, node: gast.NamedExpr) -> Any:
    value = lx.expr(node.value)
    from transpile.frontend import assignment

    assignment.bind(lx, node.target.id, value)
    return value


def _starred(lx: Lifter, node: gast.Starred) -> Any:
    raise lx.error("T101", "a star cannot stand here", node)


def _refused(code: str, message: str) -> Callable[[Lifter, Any], Any]:
    def refuse(lx: Lifter, node: gast.AST) -> Any:
        raise lx.error(code, message, node)

    return refuse


EXPRESSIONS: dict[type, Callable[[Lifter, Any], Any]] = {
    gast.Constant: _constant,
    gast.Name: names.load,
    gast.Tuple: _tuple,
    gast.List: _list,
    gast.Set: _set,
    gast.Dict: _dict,
    gast.BinOp: _binary,
    gast.UnaryOp: _unary,
    gast.BoolOp: truth.boolean_operator,
    gast.Compare: _compare,
    gast.IfExp: truth.conditional,
    gast.Call: calls.call,
    gast.Attribute: attributes.load,
    gast.Subscript: subscripts.load,
    gast.Slice: _slice,
    gast.Lambda: _lambda,
    gast.NamedExpr: _walrus,
    gast.JoinedStr: formatting.joined,
    gast.FormattedValue: formatting.joined,
    gast.ListComp: comprehensions.list_of,
    gast.GeneratorExp: comprehensions.generator,
    gast.DictComp: comprehensions.dict_of,
    gast.SetComp: _refused("T112", "a set comprehension cannot be transformed"),
    gast.Starred: _starred,
    gast.Yield: _refused("T104", "'yield' cannot be transformed"),
    gast.YieldFrom: _refused("T104", "'yield from' cannot be transformed"),
    gast.Await: _refused("T103", "'await' cannot be transformed"),
}
_ = np
