"""Assignment: names, elements, attributes, unpacking; ``+=`` rebinds numbers and writes into arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.control import iteration
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup
from transpile.frontend.values import attributes, subscripts
from transpile.frontend.values.convert import new_list
from transpile.frontend.values.operators import BINARY, in_place
from transpile.frontend.values.values import Array, Buffer, Held, Ref, Scalar, View
from transpile.ops.tables import operator_of


def assign(lx: Lifter, target: gast.expr, value: Any) -> None:
    """``target = value``."""
    rule = _TARGETS.get(type(target))
    if rule is None:
        raise lx.error("T114", f"assignment to a {type(target).__name__} cannot be transformed", target)
    rule(lx, target, value)


def _name(lx: Lifter, target: gast.Name, value: Any) -> None:
    bind(lx, target.id, value, target)


def bind(lx: Lifter, name: str, value: Any, node: Any = None) -> None:
    """Gives a name a value, and the value that was just made the name."""
    frame = name_lookup.set_here(lx, name_lookup.scope(lx, lx.frame, name), name, node)
    if lx.frame.code.named:
        christen(lx, name, value)
    lx.state.vars[frame, name] = value


def christen(lx: Lifter, name: str, value: Any) -> None:
    """The variable that holds a value gets the user's name for it, if it has none yet."""
    lx.symbols.christen(lx, name, value)
    if isinstance(value, (Array, Ref)) and value.cell.name in ("", "list", "dict"):
        value.cell.name = name
    for op in _made(lx, value):
        if (
            isinstance(op, ir.Var)
            and (op.name == ir.SYNTHETIC or op in lx.nameless)
            and name not in lx.nameless.values()
        ):
            if op in lx.nameless or op not in lx.params:
                op.name = name
            if lx.nameless.pop(op, None) is not None and isinstance(value, Array):
                value.cell.name = name


def _made(lx: Lifter, value: Any) -> list[ir.Operand | None]:
    match value:
        case Scalar():
            return [value.op]
        case Array():
            state = lx.state.cells[value.cell]
            match state:
                case Held():
                    return [state.op]
                case Buffer():
                    return [state.var]
                case View():
                    return [state.memo[1] if state.memo is not None else None]
    return []


def _sequence(lx: Lifter, target: Any, value: Any) -> None:
    items = iteration.unpacked(lx, value, target)
    stars = [k for k, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if not stars:
        if len(items) != len(target.elts):
            message = f"cannot unpack {len(items)} values into {len(target.elts)} names"
            raise lx.error("T134", message, target, "write one name for each value, or '*rest' for the others")
        for t, v in zip(target.elts, items):
            assign(lx, t, v)
        return
    k, after = stars[0], len(target.elts) - stars[0] - 1
    if len(items) < len(target.elts) - 1:
        message = f"cannot unpack {len(items)} values into {len(target.elts) - 1} names and a starred name"
        raise lx.error("T134", message, target, "write at most one name for each value")
    parts = [*items[:k], new_list(lx, list(items[k : len(items) - after])), *items[len(items) - after :]]
    for t, v in zip(target.elts, parts):
        assign(lx, t.value if isinstance(t, gast.Starred) else t, v)


_TARGETS: dict[type, Callable[[Lifter, Any, Any], None]] = {
    gast.Name: _name,
    gast.Tuple: _sequence,
    gast.List: _sequence,
    gast.Subscript: subscripts.store,
    gast.Attribute: attributes.store,
}


# -------------------------------------------------------------------------------------------------- statements


def statement(lx: Lifter, node: gast.Assign) -> None:
    """``a = b = value``."""
    value = lx.expr(node.value)
    for target in node.targets:
        assign(lx, target, value)


def _still_is(lx: Lifter, name: str, found: Any) -> bool:
    """Whether a name stands for what was changed in place, which Python gives it again: the right side may have set it."""
    frame = name_lookup.scope(lx, lx.frame, name)
    return frame is None or lx.state.vars.get((frame, name)) == found


def annotated(lx: Lifter, node: gast.AnnAssign) -> None:
    if node.value is not None:
        assign(lx, node.target, lx.expr(node.value))


def augmented(lx: Lifter, node: gast.AugAssign) -> None:
    """``target op= value``: Python reads the target, then the value, then writes."""
    prim = BINARY[type(node.op)]
    if isinstance(node.target, gast.Name):
        found = name_lookup.load(lx, node.target)
        value = lx.expr(node.value)
        new = in_place(lx, prim, found, value, node)
        new = found if new is None and not _still_is(lx, node.target.id, found) else new
        if new is not None:
            bind(lx, node.target.id, new, node.target)
    elif isinstance(node.target, gast.Subscript):
        subscripts.augmented(lx, node.target, prim, node.value, node)
    elif isinstance(node.target, gast.Attribute):
        attributes.augmented(lx, node.target, prim, node.value, node)
    else:
        raise lx.error("T114", f"{operator_of(prim).sign}= to a {type(node.target).__name__}", node)
