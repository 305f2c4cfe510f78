"""What a loop carries: the leaves of names and containers, in and out of its parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.types import BOOL, Type
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.parts import is_iterator, parts, shell, with_parts
from transpile.frontend.values.values import Array, Cell, Conflict, Items, Maybe, Ref, Scalar, Static


@dataclass(frozen=True)
class ArrayOf:
    """An array of this rank, in a structure that outlives the state that it was seen in."""

    rank: int
    contiguous: bool
    mixed: bool = False


@dataclass(frozen=True)
class RefOf:
    """A list, dict or instance, in such a structure."""

    items: Items


def template(lx: Lifter, value: Any) -> Any:
    """The structure of a value as something that `rebuilt` and `skeleton` take in any state."""
    match value:
        case Array():
            return ArrayOf(len(memory.type_of(lx, value.cell).dims), value.cell.contiguous, value.cell.mixed)
        case Ref():
            state: Items = lx.state.cells[value.cell]
            return RefOf(replace(state, items=tuple(template(lx, v) for v in state.items)))
        case Maybe():
            return replace(value, value=template(lx, value.value))
    return with_parts(value, tuple(template(lx, v) for v in parts(value)))


def skeleton(lx: Lifter, value: Any) -> Any:
    """The structure of a value without its numbers; equal for values that one variable can carry."""
    match value:
        case Scalar():
            return "scalar"
        case Array():
            rank = len(memory.type_of(lx, value.cell).dims)
            return ("array", rank) if rank else "scalar"
        case ArrayOf():
            return ("array", value.rank) if value.rank else "scalar"
        case RefOf():
            return items_skeleton(lx, value.items)
        case Ref():
            return items_skeleton(lx, lx.state.cells[value.cell])
        case Maybe():
            return skeleton(lx, value.value)
        case Conflict():
            return "conflict"
    own = shell(value)
    if own is not None:
        return (own, tuple(skeleton(lx, v) for v in parts(value)))
    return ("static", value) if isinstance(value, Static) else ("other", id(value))


def items_skeleton(lx: Lifter, state: Any) -> Any:
    if not isinstance(state, Items):
        return None
    return (state.kind, state.keys, state.cls, tuple(skeleton(lx, v) for v in state.items))


def leaves(lx: Lifter, value: Any, flags: bool = False) -> list[ir.Operand]:
    """The numbers of a value, read now. ``flags``: with whether it is assigned, where that is not sure."""
    match value:
        case Scalar() | Array():
            undefined = isinstance(value, Scalar) and isinstance(value.op, ir.Undef)
            return [value.op if undefined else lx.operand(value)]  # type: ignore[union-attr]
        case Ref():
            return [o for v in lx.state.cells[value.cell].items for o in leaves(lx, v)]
        case Maybe():
            return [*leaves(lx, value.value), value.flag()]
    return [o for v in parts(value) for o in leaves(lx, v)]


def rebuilt(lx: Lifter, value: Any, ops: Iterator[ir.Operand], name: str) -> Any:
    """The same structure with other numbers, in arrays and containers of its own."""
    match value:
        case Scalar():
            return Scalar(next(ops))
        case Array():
            return _array(lx, next(ops), name, value.cell.contiguous, value.cell.mixed)
        case ArrayOf():
            return _array(lx, next(ops), name, value.contiguous, value.mixed)
        case RefOf():
            cell = Cell(name)
            lx.state.cells[cell] = rebuilt_items(lx, value.items, ops, name)
            return Ref(cell)
        case Ref():
            cell = Cell(name)
            lx.state.cells[cell] = rebuilt_items(lx, lx.state.cells[value.cell], ops, name)
            return Ref(cell)
        case Maybe():
            inner = rebuilt(lx, value.value, ops, name)
            flag = next(ops)
            return Maybe(inner, lambda: flag, value.why)
    return with_parts(value, tuple(rebuilt(lx, v, ops, name) for v in parts(value)))


def _array(lx: Lifter, op: ir.Operand, name: str, contiguous: bool, mixed: bool) -> Array:
    cell = Cell(name, contiguous)
    cell.mixed = mixed
    lx.state.cells[cell] = memory.held(lx, op)
    return Array(cell)


def kinds(lx: Lifter, value: Any) -> list[str]:
    """For each leaf of a value whether it is a number, an array of rank 0, or one or the other; "" for arrays."""
    match value:
        case Scalar():
            return ["number"]
        case Array():
            rank = len(memory.type_of(lx, value.cell).dims)
            return ["" if rank else "mixed" if value.cell.mixed else "array"]
        case ArrayOf():
            return ["" if value.rank else "mixed" if value.mixed else "array"]
        case Items():
            return [k for v in value.items for k in kinds(lx, v)]
        case Ref():
            return kinds(lx, lx.state.cells[value.cell])
        case RefOf():
            return kinds(lx, value.items)
        case Maybe():
            return [*kinds(lx, value.value), ""]
    return [k for v in parts(value) for k in kinds(lx, v)]


def as_mixed(lx: Lifter, value: Any, which: Collection[int], first: int = 0) -> Any:
    """The structure with the leaves of these numbers as what may be a number or an array of rank 0."""
    if not which:
        return value

    def inside(values: tuple[Any, ...], at: int) -> tuple[Any, ...]:
        made = []
        for v in values:
            made.append(as_mixed(lx, v, which, at))
            at += len(kinds(lx, v))
        return tuple(made)

    match value:
        case Scalar() | Array() | ArrayOf():
            return ArrayOf(0, True, True) if first in which else value
        case Items():
            return replace(value, items=inside(value.items, first))
        case Ref():
            return RefOf(as_mixed(lx, lx.state.cells[value.cell], which, first))
        case RefOf():
            return RefOf(as_mixed(lx, value.items, which, first))
        case Maybe():
            return replace(value, value=as_mixed(lx, value.value, which, first))
    return with_parts(value, inside(parts(value), first))


def holds_iterator(lx: Lifter, value: Any) -> bool:
    """Whether a value is, or reaches, an iterator that gives its items once."""
    state = lx.state.cells.get(value.cell) if isinstance(value, Ref) else None
    inner = state.items if isinstance(state, Items) else parts(value.value if isinstance(value, Maybe) else value)
    return is_iterator(value) or any(holds_iterator(lx, v) for v in inner)


def rebuilt_items(
    lx: Lifter, state: Items, ops: Iterator[ir.Operand], name: str, places: Collection[int] | None = None
) -> Items:
    """The same contents with other numbers; with ``places`` only those items have others."""
    items = tuple(rebuilt(lx, v, ops, name) if places is None or k in places else v for k, v in enumerate(state.items))
    return Items(state.kind, items, state.keys, state.cls)


def undefined_like(lx: Lifter, types: list[Type]) -> list[ir.Operand]:
    """Nothing, of these types."""
    return [ir.Undef(t) for t in types]


def as_maybe(value: Any, flag: ir.Operand) -> Maybe:
    """A value that is assigned if the flag says so."""
    return Maybe(value, lambda: flag) if not isinstance(value, Maybe) else value


TRUE, FALSE = ir.Const(True, BOOL), ir.Const(False, BOOL)
