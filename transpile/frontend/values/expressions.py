"""Expressions: literals, names, operators, displays. What has a subject of its own is in a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.frontend.calls import calls, formatting, ways_out
from transpile.frontend.control import comprehensions, filling, iterators, truth
from transpile.frontend.control.truth_values import answer, negated
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup
from transpile.frontend.sources.spines import Chain
from transpile.frontend.values import assignment, attributes, comparisons, overloads, subscripts
from transpile.frontend.values.containers import key_of
from transpile.frontend.values.convert import describe, new_dict, new_list
from transpile.frontend.values.operators import BINARY, binary, refuse_either
from transpile.frontend.values.values import Closure, RangeOf, Ref, SliceOf, Static, Tuple

# ----------------------------------------------------------------------------------------------- literals, displays


def _constant(lx: Lifter, node: gast.Constant) -> Any:
    return lx.const(node.value)


def elements(lx: Lifter, nodes: list[gast.expr]) -> list[Any]:
    """The values of a display, stars spread out."""
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            value = lx.expr(node.value)
            iterators.use(lx, value, node)
            found += lx.unrolled(value, node)
        else:
            found.append(lx.expr(node))
    return found


def _tuple(lx: Lifter, node: gast.Tuple) -> Tuple:
    return Tuple(tuple(elements(lx, node.elts)))


def _list(lx: Lifter, node: gast.List) -> Ref:
    return new_list(lx, elements(lx, node.elts))


def _set(lx: Lifter, node: gast.Set) -> Static:
    star = next((e for e in node.elts if isinstance(e, gast.Starred)), None)
    if star is not None:
        raise lx.error("T101", "a set with '*' is not supported", star, "use np.unique, or write the elements")
    return Static({lx.static(lx.expr(e), "an element of a set", e) for e in node.elts})


def _dict(lx: Lifter, node: gast.Dict) -> Ref:
    keys: list[Any] = []
    items: list[Any] = []
    for key, value in zip(node.keys, node.values):
        if key is None:
            merged = lx.expr(value)
            state = lx.state.cells.get(merged.cell) if isinstance(merged, Ref) else None
            if state is None or state.kind != "dict":
                raise lx.error("T117", f"'**' needs a dict, not {describe(lx, merged)}", value, ways_out.STARS)
            keys += state.keys or ()
            items += state.items
        else:
            keys.append(key_of(lx, lx.expr(key), key))
            items.append(lx.expr(value))
    return new_dict(lx, keys, items)


# -------------------------------------------------------------------------------------------------- operators


def _binary(lx: Lifter, node: gast.BinOp) -> Any:
    left = lx.expr(node.left)
    right = lx.expr(node.right)
    return binary(lx, BINARY[type(node.op)], left, right, node)


def _chain(lx: Lifter, node: Chain) -> Any:
    """``a + b + c + ...``: from the left, however long it is."""
    value = lx.expr(node.left)
    for part in node.parts():
        right = lx.expr(part.right)
        with lx.at(part), lx.rules(part):
            value = lx.readable(binary(lx, BINARY[type(part.op)], value, right, part), part)
    return value


_UNARY = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}
_SIGNS = {gast.USub: "-", gast.UAdd: "+", gast.Invert: "~"}


def _unary(lx: Lifter, node: gast.UnaryOp) -> Any:
    if isinstance(node.op, gast.Not):
        return answer(lx, negated(lx, truth.test(lx, node.operand)).op)
    value = lx.expr(node.operand)
    own = overloads.call(lx, value, _UNARY[type(node.op)], [], node)
    if own is not None:
        return own
    if isinstance(value, (Tuple, Ref, RangeOf)):
        message = f"{describe(lx, value)} cannot be the operand of a unary {_SIGNS[type(node.op)]!r}"
        raise lx.error("T120", message, node, hint="make an array of it: np.array(...)")
    x = lx.operand(value, node)
    refuse_either(lx, _SIGNS[type(node.op)], node, x)
    if isinstance(node.op, gast.UAdd):
        if x.type.is_bool and not x.type.weak:
            hint = "convert it with .astype(int), or leave the '+' out"
            raise lx.error("T201", "NumPy has no unary '+' of boolean arrays", node, hint)
        return lx.value(lx.b.cast(x, INT) if x.type.is_bool and x.type.weak else x)  # of an array, a copy
    if isinstance(node.op, gast.USub):
        if x.type.is_bool and x.type.weak:
            return lx.value(lx.b.elementwise("sub", 0, x))
        return lx.value(lx.b.elementwise("neg", x))
    if isinstance(x, ir.Const) and x.type.weak:
        return lx.const(~x.value)
    if x.type.is_bool and x.type.weak:
        x = lx.b.cast(x, lx.b.operand(0).type).op
    return lx.value(lx.b.elementwise("invert", x))


def _compare(lx: Lifter, node: gast.Compare) -> Any:
    left = lx.expr(node.left)
    if len(node.ops) == 1:
        return comparisons.compare(lx, node.ops[0], left, lx.expr(node.comparators[0]), node)
    return comparisons.chain(lx, left, list(node.ops), list(node.comparators), node)


# -------------------------------------------------------------------------------------------------------- others


def _slice(lx: Lifter, node: gast.Slice) -> SliceOf:
    parts = [None if part is None else lx.expr(part) for part in (node.lower, node.upper, node.step)]
    return SliceOf(*(None if isinstance(p, Static) and p.value is None else p for p in parts))


def _lambda(lx: Lifter, node: gast.Lambda) -> Closure:
    return calls.closure(lx, node, "<lambda>")


def _walrus(lx: Lifter, node: gast.NamedExpr) -> Any:
    value = lx.expr(node.value)
    assignment.bind(lx, node.target.id, value)
    return value


def _starred(lx: Lifter, node: gast.Starred) -> Any:
    raise lx.error("T101", "'*' is not supported here", node, "write the elements out")


def _refused(code: str, message: str, hint: str) -> Callable[[Lifter, Any], Any]:
    def refuse(lx: Lifter, node: gast.AST) -> Any:
        raise lx.error(code, message, node, hint)

    return refuse


_COLLECT = "collect the values in an array and return it"
EXPRESSIONS: dict[type, Callable[[Lifter, Any], Any]] = {
    gast.Constant: _constant,
    gast.Name: name_lookup.load,
    gast.Tuple: _tuple,
    gast.List: _list,
    gast.Set: _set,
    gast.Dict: _dict,
    gast.BinOp: _binary,
    Chain: _chain,
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
    gast.ListComp: filling.list_of,
    gast.GeneratorExp: comprehensions.generator,
    gast.DictComp: comprehensions.dict_of,
    gast.SetComp: _refused("T112", "a set comprehension is not supported", "use np.unique, or a list comprehension"),
    gast.Starred: _starred,
    gast.Yield: _refused("T104", "'yield' is not supported", _COLLECT),
    gast.YieldFrom: _refused("T104", "'yield from' is not supported", _COLLECT),
    gast.Await: _refused("T103", "'await' is not supported", "wait outside of the function, and pass the value"),
}
