"""What belongs to a structure beside its leaves (what a registered class has beside its children, fields that are no children) as
abstract values: constants, of which nothing is read at a call, since another content is another structure.

What is of one content is one value, so that paths that meet and iterations of loops do not tell it apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.aggregates import Content
from transpile.base.content import copied, is_compared_by_state, lasts, state, with_state
from transpile.core.dims import Dim
from transpile.core.leaf_types import unsupported
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import capture, resolve, statics
from transpile.frontend.resolve import name_lookup as names
from transpile.frontend.values import memory
from transpile.frontend.values.values import Array, Cell, Items, Ref, Scalar, Static, Tuple
from transpile.numpy_api.api_arguments import stack

LITERAL = 64  # entries that are written as numbers
FIXED = "a part of the structure of an argument cannot be changed"


def fixed(lx: Lifter, value: Any) -> Any:
    """The abstract value of what belongs to a structure."""
    key = Content(value)
    found = lx.fixed_values.get(key)
    if found is None:
        held = copied(value)
        found = lx.fixed_values[key] = _new(lx, held)
        if isinstance(found, (Array, Ref)):
            lx.fixed_cells[found.cell] = held
    capture.present(lx, found)
    return found


def _new(lx: Lifter, value: Any) -> Any:
    cls = type(value)
    if isinstance(value, np.generic) and unsupported(value.dtype) is None:
        return Scalar(lx.b.operand(value))
    if cls is np.ndarray and unsupported(value.dtype) is None:
        return _array(lx, value)
    if cls is tuple or isinstance(value, tuple) and hasattr(cls, "_fields"):
        return Tuple(tuple(fixed(lx, v) for v in value), None if cls is tuple else cls)
    if cls is list:
        return _container(lx, Items("list", tuple(fixed(lx, v) for v in value)))
    if cls is dict:
        return _container(lx, Items("dict", tuple(fixed(lx, v) for v in value.values()), tuple(value)))
    if (
        is_compared_by_state(cls)
        and cls.__module__.partition(".")[0] != "transpile"
        and not hasattr(cls, "__getattr__")
    ):
        held = state(value)
        return _container(lx, Items("instance", tuple(fixed(lx, v) for v in held.values()), tuple(held), cls))
    return outside(lx, value)


def outside(lx: Lifter, value: Any) -> Any:
    """The abstract value of something that is known, and is itself."""
    if callable(value) or hasattr(value, "__dict__"):
        root = resolve.Root("", "object", value)
        return names.from_binding(lx, resolve.bind(value, resolve.Captured(root, (), value)))
    return lx.const(value)


def _container(lx: Lifter, items: Items) -> Ref:
    cell = Cell(getattr(items.cls, "__name__", items.kind), readonly=FIXED)
    lx.captured_cells[cell] = items
    return Ref(cell)


def _array(lx: Lifter, value: np.ndarray) -> Array:
    """The entries, written before all else: whatever path asks for them first, they are there on all. Of many the array itself,
    which nobody changes, is handed in."""
    if value.size > LITERAL:
        sizes = "_".join(map(str, value.shape))
        return capture.captured(lx, resolve.Captured(resolve.Root(f"constant_{sizes}", "object", value), (), value))
    with lx.into(lx.root):
        op = _entries(lx, value)
    cell = Cell("", readonly=FIXED)
    lx.captured_cells[cell] = memory.held(lx, op)
    return Array(cell)


def _entries(lx: Lifter, value: np.ndarray) -> Any:
    if not value.ndim:
        return lx.b.operand(value[()])
    if not value.size:
        return lx.b.let("empty", dims=tuple(map(Dim, value.shape)), dtype=value.dtype.name).op
    return stack(lx.b, [lx.b.expr(_entries(lx, v)) for v in value], 0).op


# ------------------------------------------------------------------------------------------------ and back again


def python(lx: Lifter, value: Any, what: str, node: Any = None) -> Any:
    """The Python object that belongs to a structure; refused if it is only known when the function runs."""
    try:
        return known(lx, value)
    except statics.Unknown as unknown:
        if unknown.op is not None:
            lx.need(unknown.op, what, node)
        return lx.static(value, what, node)


def known(lx: Lifter, value: Any) -> Any:
    """The same, `statics.Unknown` if it is not known; instances that the program has made are known if what they hold is."""
    if isinstance(value, Tuple):
        items = [known(lx, v) for v in value.items]
        return tuple(items) if value.cls is None else tuple.__new__(value.cls, items)
    if not isinstance(value, Ref) or value.cell in lx.fixed_cells:
        return statics.known(lx, value)
    state_of: Items = lx.state.cells[value.cell]
    if state_of.kind == "instance" and isinstance(state_of.cls, type) and is_compared_by_state(state_of.cls):
        return with_state(state_of.cls, {k: known(lx, v) for k, v in zip(state_of.keys or (), state_of.items)})
    if state_of.kind not in ("list", "dict"):
        raise statics.Unknown(None)
    if state_of.cls is not None:
        return statics.known(lx, value)
    items = [known(lx, v) for v in state_of.items]
    return dict(zip(state_of.keys or (), items)) if state_of.kind == "dict" else items


def settled(lx: Lifter, value: Any) -> Any:
    """A field that belongs to the structure, as it is kept: numbers are known, and what cannot be changed is one value, so that no
    loop carries it."""
    if not isinstance(value, (Scalar, Tuple, Ref)):
        return value
    try:
        found = known(lx, value)
    except statics.Unknown:
        return value
    if isinstance(value, Scalar):
        return Static(found)
    return fixed(lx, found) if lasts(found) else value
