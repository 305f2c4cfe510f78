"""What tells values apart that a function is lifted for: two with one fingerprint give one program.

Numbers that only the run knows and arrays are told apart by which they are, not by what they hold.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from transpile.core import nodes as ir
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.parts import parts, shell
from transpile.frontend.values.values import Array, Cell, Items, Maybe, Ref, Scalar, Static


def fingerprint(lx: Lifter, value: Any) -> Any:
    """A key for a value of the lifter; what it is made of must live as long as the key."""
    match value:
        case Scalar(ir.Const() as op):
            return (str(op.type), repr(op.value))
        case Scalar():
            return _at_home(lx, value.op)
        case Array():
            return _owned(lx, value.cell)
        case Ref():
            state = lx.state.cells.get(value.cell)
            if not isinstance(state, Items):
                return value
            return (state.kind, state.keys, state.cls, tuple(fingerprint(lx, v) for v in state.items))
        case Maybe():
            return fingerprint(lx, value.value)
    own = shell(value)  # of a function what it is made of, since a lambda is made anew in each trip
    if own is not None:
        return (own, tuple(fingerprint(lx, v) for v in parts(value)))
    return _of_static(value.value) if isinstance(value, Static) else value


def _at_home(lx: Lifter | None, op: ir.Operand) -> ir.Operand:
    """The operand that a hidden parameter is read from, however far out: a function that is handed on is the same one."""
    while lx is not None and isinstance(op, ir.Var):
        source = getattr(lx.captures.get(op), "op", None)
        if source is None:
            break
        op, lx = source, lx.outer
    return op


def _owned(lx: Lifter | None, cell: Cell) -> Cell:
    """The same of the memory of an array."""
    while lx is not None:
        source = next((outer for outer, own in lx.around.items() if own is cell), None)
        if source is None:
            break
        cell, lx = source, lx.outer
    return cell


def _of_static(held: Any) -> Any:
    if isinstance(held, (str, bool, int, float)):
        return (type(held), repr(held))
    return (type(held), *_same(getattr(held, "target", held)))


class _Same:
    """Equal to another that is of the same object. It holds the object: what has been freed gives its ``id`` to others."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self) -> int:
        return id(self.held)


def _same(held: Any) -> tuple[_Same, ...]:
    """What tells an object from others; each look at a method makes a new one of the same function and object."""
    return (_Same(held.__func__), _Same(held.__self__)) if isinstance(held, MethodType) else (_Same(held),)
