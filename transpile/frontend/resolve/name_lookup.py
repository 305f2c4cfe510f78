"""Names: where they are found, and what they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.control.truth_values import by_facts
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import capture, closure_conversion
from transpile.frontend.resolve.bindings import Captured, Known, Literal, Module, StaticValue, User
from transpile.frontend.restarts import Dead
from transpile.frontend.state import Frame
from transpile.frontend.values.values import Conflict, Maybe, Static

SET = "set it on every path"


def load(lx: Lifter, node: gast.Name) -> Any:
    """What a name holds."""
    frame = scope(lx, lx.frame, node.id)
    if frame is None:
        return from_binding(lx, lx.frame.code.lookup(node.id, lx.loc(node)), node)
    value = lx.state.vars.get((frame, node.id))
    if value is None and lx.outer is not None:
        value = closure_conversion.imported(lx, frame, node.id, node)
    if value is None:
        _from_an_earlier_trip(lx, frame, node)
        raise lx.error(
            "T116", f"{node.id!r} is read before it is set", node, "set it before the loop" if lx.loops else SET
        )
    if isinstance(value, Maybe):
        value = certain(lx, frame, node, value)
    if isinstance(value, Conflict):
        raise lx.error(value.code, value.message, node, value.hint)
    return value


def _from_an_earlier_trip(lx: Lifter, frame: Frame, node: gast.Name) -> None:
    """A name that a loop around assigns later in its body: what it is, lifting the rest of the body will tell."""
    for loop in reversed(lx.loops):
        if loop.frame is frame and node.id in loop.own and (frame, node.id) not in loop.late:
            loop.pending[frame, node.id] = node
            raise Dead


def _or_of_an_earlier_trip(lx: Lifter, frame: Frame, node: gast.Name) -> None:
    """A name that this trip of a loop may not have assigned, but an earlier one: the loop carries it."""
    for loop in lx.loops:
        if loop.frame is frame and node.id in loop.own and not loop.is_known((frame, node.id)):
            loop.pending.setdefault((frame, node.id), node)


def scope(lx: Lifter, frame: Frame | None, name: str) -> Frame | None:
    """The frame that a name belongs to; None for the names outside the function."""
    while frame is not None:
        if name in frame.locals:
            return frame
        frame = frame.parent
    return None


def set_here(lx: Lifter, frame: Frame | None, name: str, node: Any) -> Frame:
    """The frame of a name that is set or deleted; refused where the function that is lifted would keep that to itself."""
    if frame is None:
        message = f"an assignment to the global {name!r} is not supported"
        raise lx.error("T107", message, node, hint="pass the value as an argument, and return the new one")
    if lx.outer is not None and _outermost(frame) is not _outermost(lx.frame):
        message = f"{name!r} belongs to the enclosing function, and a function that is transformed or recursive cannot assign to it"
        raise lx.error("T107", message, node, hint="pass the value as an argument, and return the new one")
    return frame


def _outermost(frame: Frame) -> Frame:
    while frame.up is not None:
        frame = frame.up
    return frame


def certain(lx: Lifter, frame: Frame, node: gast.Name, value: Maybe) -> Any:
    """A value that some path leaves unassigned: checked when the function runs, unless no path to here is one of those."""
    code = frame.code
    known = frame is lx.frame and code.unassigned is not None and id(node) not in code.unassigned
    if not known and node.id not in code.flags:
        check(lx, node.id, value)
        _or_of_an_earlier_trip(lx, frame, node)
    lx.state.vars[frame, node.id] = value.value
    return value.value


def check(lx: Lifter, name: str, value: Maybe) -> None:
    """Raises UnboundLocalError in the generated program where the name has no value."""
    flag = value.flag()
    flag = by_facts(lx, flag)
    if isinstance(flag, ir.Const) and flag.value:
        return
    message = f"{name!r} is read before it is set"
    if isinstance(flag, ir.Const):
        raise lx.error("T116", f"{message}: {value.why} does not set it", hint=SET)
    at, col = lx.symbols.where(lx), lx.b.loc.col
    message = (f"{at.removesuffix(': ')}:{col}: " if at and col else at) + message
    failed = ir.Block(stmts=[ir.Raise((), "UnboundLocalError", (message,), loc=lx.b.loc)])
    test = lx.b.elementwise("logical_not", flag).op
    lx.b.emit(ir.If(test, failed, ir.Block(), (), lx.b.loc))
    lx.facts.append(flag)


def is_outside(value: Any) -> bool:
    """Whether it is what a name outside the function stands for, no value of the lifter's yet."""
    return type(value) in _BINDINGS


def settled(lx: Lifter, value: Any) -> Any:
    """The abstract value of an argument, which may be a default that stands outside the function."""
    return from_binding(lx, value) if is_outside(value) else value


def from_binding(lx: Lifter, found: Any, node: Any = None) -> Any:
    """The abstract value of something outside the function."""
    return _BINDINGS[type(found)](lx, found, node)


def _known(lx: Lifter, found: Known, node: Any) -> Any:
    return lx.const(float(found.value)) if isinstance(found.value, float) else Static(found)


def _static(lx: Lifter, found: StaticValue, node: Any) -> Any:
    return (
        lx.const(found.value)
        if not isinstance(found.value, (dict, list, tuple))
        else capture.static_tree(lx, found.value)
    )


def _literal(lx: Lifter, found: Literal, node: Any) -> Any:
    return capture.static_tree(lx, found.value)


_BINDINGS: dict[type, Callable[[Lifter, Any, Any], Any]] = {
    Known: _known,
    User: lambda lx, found, node: Static(found),
    StaticValue: _static,
    Module: lambda lx, found, node: Static(found),
    Captured: lambda lx, found, node: capture.captured(lx, found, node),
    Literal: _literal,
}
