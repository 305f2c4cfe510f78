"""Arrays and numbers from outside the function: hidden parameters, read at each call."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.aggregates import Meta, is_leaf, open_node
from transpile.base import making
from transpile.base.captured import Place
from transpile.base.content import attributes
from transpile.core import nodes as ir
from transpile.core.leaf_types import unsupported
from transpile.core.types import Type
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.bindings import Captured
from transpile.frontend.resolve.looks import Looks
from transpile.frontend.values import memory
from transpile.frontend.values.values import Array, Cell, Items, Ref, Scalar, SliceOf, Static, Tuple
from transpile.numpy_api.api_arguments import from_nested

OUTSIDE = "{} comes from outside the function: it cannot be written"


def captured(lx: Lifter, found: Captured, node: Any = None) -> Any:
    """The value of a global, a closure variable or an attribute of an object; of an expression, if there is a ``node``."""
    value = _value(lx, found)
    if node is None and isinstance(value, Ref) and value.cell in lx.looks:
        lx.looks[value.cell].others += 1
    return value


def _value(lx: Lifter, found: Captured) -> Any:
    cached = lx.captured_values.get(found)
    if cached is None:
        cached = lx.captured_values[found] = _new(lx, found)
    present(lx, cached)
    return cached


def _new(lx: Lifter, found: Captured) -> Any:
    example = found.example
    if is_leaf(example):
        return leaf(lx, found)
    if isinstance(example, slice):
        return _slice(lx, found)
    opened = open_node(example)
    if opened is None:
        return lx.const(example)
    if found.root.kind == "object" and not found.steps:
        reads.note("object", found.root.holder, "", example)
    kind, children, keys, cls = opened
    if kind == "registered":
        return _instance(lx, found, example)
    parts = list(children)
    read = kind == "dataclass" or kind == "namedtuple" and not any(making.is_descriptor(cls, k) for k in keys)
    steps = [("attr", k) for k in keys] if read else [
        ("item", k) for k in (keys if kind == "dict" else range(len(parts)))
    ]  # fmt: skip
    values = [
        _field(lx, part.value) if type(part) is Meta else _value(lx, found.child(*step))
        for part, step in zip(parts, steps)
    ]
    if kind in ("tuple", "namedtuple"):
        return Tuple(tuple(values), cls)
    cell = Cell(found.path, readonly=_outside(kind))
    lx.captured_cells[cell] = Items(_KINDS[kind], tuple(values), keys if kind != "list" else None, cls)
    if type(example) in (dict, list):
        lx.looks[cell] = Looks(Place.of(found).key())
    return Ref(cell)


def _field(lx: Lifter, value: Any) -> Any:
    """A field that belongs to the structure; numbers are known, and no loop carries them."""
    return Static(value) if isinstance(value, (bool, int, float)) else lx.structural(value)


def _slice(lx: Lifter, found: Captured) -> SliceOf:
    """A slice some of whose bounds are arrays of rank 0."""

    def bound(name: str) -> Any:
        value = getattr(found.example, name)
        return captured(lx, found.child("attr", name)) if isinstance(value, np.ndarray) else lx.const(value)

    given = [None if getattr(found.example, k) is None else bound(k) for k in ("start", "stop", "step")]
    return SliceOf(*given)


def _instance(lx: Lifter, found: Captured, example: Any) -> Any:
    """An instance of a registered class: its attributes are read, whatever its own function makes of them."""
    base = next((c for c in (list, dict) if isinstance(example, c)), None)
    if base is not None:
        return _derived(lx, found, example, base)
    held = attributes(example)
    reads.note_fields(found, tuple(held))
    parts = [found.child("attr", k) for k in held]
    for part in parts:  # by the way to it: another object may come to stand there
        reads.note_way(part)
    cell = Cell(found.path, readonly=_outside("instance"))
    values = tuple(captured(lx, part) for part in parts)
    lx.captured_cells[cell] = Items("instance", values, tuple(held), type(example))
    lx.instances[cell] = example
    return Ref(cell)


def _derived(lx: Lifter, found: Captured, example: Any, base: type) -> Any:
    """An instance of a registered class that is a list or a dict: what it holds is read."""
    keys = tuple(dict.keys(example)) if base is dict else None
    cell = Cell(found.path, readonly=_outside(base.__name__))
    steps = range(list.__len__(example)) if keys is None else keys
    lx.captured_cells[cell] = Items(
        base.__name__, tuple(captured(lx, found.child("item", k)) for k in steps), keys, type(example)
    )
    return Ref(cell)


_KINDS = {"list": "list", "dict": "dict", "dataclass": "instance"}


def _outside(kind: str) -> str:
    what = {"list": "a list", "dict": "a dict"}.get(kind, "an object")
    return f"{what} from outside the function cannot be changed"


def leaf(lx: Lifter, found: Captured) -> Any:
    """One hidden parameter. What must be known is taken from the example, and checked at each call."""
    example = found.example
    name = found.path.rpartition(".")[2] if found.steps and found.steps[-1][0] == "attr" else found.path
    name = "".join(c if c.isalnum() else "_" for c in name).strip("_") or "captured"
    type_ = type_of_example(lx, found, lx.first_capture + len(lx.captures))
    var = ir.Var(name, type_)
    lx.captures[var] = found
    is_frozen = found in lx.frozen or type_.is_int and not type_.dims and kind_of(found) in lx.frozen
    op = _frozen(lx, found, var) if is_frozen else var
    if not type_.dims and not isinstance(example, np.ndarray):
        return Scalar(op)
    cell = Cell(name, readonly=OUTSIDE)
    lx.captured_cells[cell] = memory.held(lx, op)
    return Array(cell)


def _frozen(lx: Lifter, found: Captured, var: ir.Var) -> ir.Operand:
    """The value of a hidden parameter that is known: a number, or an array whose entries are."""
    example = found.example
    (reads.note_entries if isinstance(example, np.ndarray) else reads.note_number)(found)
    if var.type.dims:
        for d in var.type.dims:
            lx.symbols.fixed(lx, d)
        lx.checked[var] = lx.known_arrays[var] = np.array(example)
        return var
    op = ir.Const(np.asarray(example).item(), var.type)
    lx.checked[var] = op
    return op


def kind_of(found: Captured) -> Any:
    """The same for integers outside that differ in the number of an item only: those of ``edges[k]["from"]``."""
    steps = tuple((kind, "") if kind == "item" and isinstance(key, int) else (kind, key) for kind, key in found.steps)
    return ("kind", found.root, steps)


def type_of_example(lx: Lifter, captured: Captured, number: int) -> Type:
    """The type of a captured value, its sizes symbols of their own: of this place, whatever else has its name."""
    example = captured.example
    if isinstance(example, (bool, int, float)) and not isinstance(example, np.generic):
        return lx.b.operand(example).type
    array = np.asarray(example)
    found = unsupported(array.dtype)
    if found is not None:
        code, message, hint = found
        raise lx.error(code, f"{captured.path!r} outside the function is {message}", hint=hint)
    dims = tuple(lx.symbols.argument(captured, number, axis, size, array.ndim) for axis, size in enumerate(array.shape))
    for d in dims:
        lx.symbols.operand(lx, d)
    return Type(array.dtype.name, dims)


def present(lx: Lifter, value: Any) -> None:
    """A captured cell may have been met first in a branch that was left: it is in this state, too."""
    match value:
        case Array() | Ref():
            if value.cell not in lx.state.cells:
                lx.state.cells[value.cell] = lx.captured_cells[value.cell]
            if isinstance(value, Ref):
                for item in lx.captured_cells[value.cell].items:
                    present(lx, item)
        case Tuple():
            for item in value.items:
                present(lx, item)


def static_tree(lx: Lifter, value: Any) -> Any:
    """The abstract value of a Python object: literals are constants, containers are containers."""
    if type(value) is Meta:
        return _field(lx, value.value)
    if isinstance(value, np.ndarray):
        return lx.value(_literal_array(lx, value))
    opened = open_node(value)
    if opened is None:
        return lx.const(value)
    kind, children, keys, cls = opened
    values = [static_tree(lx, v) for v in children]
    if kind in ("tuple", "namedtuple"):
        return Tuple(tuple(values), cls)
    cell = Cell(kind if kind != "dataclass" else type(value).__name__, readonly=_outside(kind))
    lx.state.cells[cell] = Items(_KINDS[kind], tuple(values), keys if kind != "list" else None, cls)
    return Ref(cell)


def _literal_array(lx: Lifter, value: np.ndarray) -> Any:
    return lx.b.cast(from_nested(lx.b, value.tolist()), value.dtype.name).op
