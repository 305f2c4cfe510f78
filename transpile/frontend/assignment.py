"""Assignment: names, elements, attributes, unpacking; ``+=`` rebinds numbers and writes into arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core.nodes import Effect, Operand, Var
from transpile.frontend import attributes, iteration, memory, names, subscripts
from transpile.frontend.convert import describe
from transpile.frontend.expressions import BINARY, SYMBOL, arithmetic, binary
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Array, Buffer, Held, Items, Ref, Scalar, Static, Tuple, View


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
    frame = names.scope(lx, lx.frame, name)
    if frame is None:
        raise lx.error("T107", f"{name!r} is a global: it cannot be written", node, hint="return the value instead")
    christen(lx, name, value)
    lx.state.vars[frame, name] = value


def christen(lx: Lifter, name: str, value: Any) -> None:
    """The variable that holds a value gets the user's name for it, if it has none yet."""
    lx.symbols.christen(lx, name, value)
    for op in _made(lx, value):
        if isinstance(op, Var) and op.name == "t" and op not in lx.params:
            op.name = name


def _made(lx: Lifter, value: Any) -> list[Operand | None]:
    match value:
        case Scalar():
            return [value.op]
        case Array():
            if not value.cell.name:
                value.cell.name = name_of(value.cell.name)
            state = lx.state.cells[value.cell]
            match state:
                case Held():
                    return [state.op]
                case Buffer():
                    return [state.var]
                case View():
                    return [state.memo[1] if state.memo is not None else None]
    return []


def name_of(name: str) -> str:
    return name


def _sequence(lx: Lifter, target: Any, value: Any) -> None:
    items = iteration.unpacked(lx, value, target)
    stars = [k for k, t in enumerate(target.elts) if isinstance(t, gast.Starred)]
    if not stars:
        if len(items) != len(target.elts):
            raise lx.error("T134", f"{len(items)} values cannot be unpacked into {len(target.elts)} names", target)
        for t, v in zip(target.elts, items):
            assign(lx, t, v)
        return
    from transpile.frontend.convert import new_list

    k, after = stars[0], len(target.elts) - stars[0] - 1
    if len(items) < len(target.elts) - 1:
        raise lx.error("T134", f"{len(items)} values are too few for {len(target.elts) - 1} names and a star", target)
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


def annotated(lx: Lifter, node: gast.AnnAssign) -> None:
    if node.value is not None:
        assign(lx, node.target, lx.expr(node.value))


def augmented(lx: Lifter, node: gast.AugAssign) -> None:
    """``target op= value``: Python reads the target, then the value, then writes."""
    prim = BINARY[type(node.op)]
    if isinstance(node.target, gast.Name):
        load = gast.copy_location(gast.Name(id=node.target.id, ctx=gast.Load(), annotation=None, type_comment=None), node.target)
        found = names.load_for(lx, load, node.target)
        value = lx.expr(node.value)
        new = in_place(lx, prim, found, value, node)
        if new is not None:
            bind(lx, node.target.id, new, node.target)
    elif isinstance(node.target, gast.Subscript):
        subscripts.augmented(lx, node.target, prim, node.value, node)
    elif isinstance(node.target, gast.Attribute):
        attributes.augmented(lx, node.target, prim, node.value, node)
    else:
        raise lx.error("T114", f"{SYMBOL[prim]}= to a {type(node.target).__name__}", node)


def in_place(lx: Lifter, prim: str, target: Any, value: Any, node: Any) -> Any:
    """``target op= value``: None where the target was written, the new value where it is to be rebound."""
    if isinstance(target, Array):
        write_operator(lx, target.cell, None, (), prim, value, node)
        return None
    if isinstance(target, Ref):
        state: Items = lx.state.cells[target.cell]
        if state.kind == "list" and prim == "add":
            from transpile.frontend import containers

            containers.replace_items(lx, target.cell, (*state.items, *iteration.unrolled(lx, value, node)))
            return None
    return binary(lx, prim, target, value, node)


def write_operator(
    lx: Lifter, cell: Any, step: Any, args: tuple[Operand, ...], prim: str, value: Any, node: Any
) -> None:
    """``place op= value`` as NumPy does it: read, compute, write."""
    base, path, used = memory.place(lx, cell, step, args)
    old = memory.read(lx, cell) if step is None else memory.read_place(lx, base, path, used)
    if prim == "matmul":
        from transpile.frontend import calls

        new = lx.operand(calls.known_call(lx, "numpy.matmul", [lx.value(old), value], {}, node))
    else:
        new = arithmetic(lx, prim, old, lx.operand(value, node))
    check_cast(lx, new, old, f"{SYMBOL[prim]}=", node)
    memory.write(lx, base, None, (), new) if not path else memory.write_place(lx, base, path, used, new)


_KINDS = "biufc"


def check_cast(lx: Lifter, new: Operand, old: Operand, what: str, node: Any) -> None:
    """NumPy refuses to write a float into an array of integers in place."""
    import numpy as np

    given, place = np.dtype(new.type.dtype), np.dtype(old.type.dtype)
    if not np.can_cast(given, place, "same_kind"):
        raise lx.error("T212", f"{what} gives {given.name}, which NumPy does not cast to {place.name} in place", node)


def _refuse_global(lx: Lifter, node: Any) -> None:
    raise lx.error("T107", "a global cannot be written", node)


_ = (Effect, Static, Tuple, describe)
