"""Instances of registered classes (`transpile.tree`): their functions are lifted to take them apart and to put them together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transpile.aggregates import REGISTERED, Content, Node, Registered
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.static_file import StaticFunction
from transpile.frontend.values import contents, structure_values
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Cell, Items, Ref, Static, Tuple


def of(cls: Any) -> Registered | None:
    """What a class was registered with, if it was."""
    return REGISTERED.get(cls)


def settled(lx: Lifter, cls: Any, keys: Sequence[Any], items: Sequence[Any]) -> tuple[Any, ...]:
    """The fields of an instance, those that belong to the structure as they are kept."""
    how = of(cls)
    if how is None or not how.meta:
        return tuple(items)
    return tuple(structure_values.settled(lx, v) if k in how.meta else v for k, v in zip(keys, items))


def _function(lx: Lifter, function: Any) -> Any:
    return Static(function) if isinstance(function, StaticFunction) else lx.outside(function)


def fields(lx: Lifter, value: Any, names: Sequence[str], node: Any = None) -> tuple[Any, ...]:
    """The attributes of an instance under these names, those that only its class has too."""
    state = contents.items(lx, value, node) if isinstance(value, Ref) else None
    held = dict(zip(state.keys or (), state.items)) if state is not None else {}
    return tuple(held[k] if k in held else lx.attribute(value, k, node) for k in names)


def taken_apart(lx: Lifter, value: Any, cls: Any, node: Any = None) -> tuple[str, tuple[Any, ...], tuple[Any, ...]]:
    """The kind of node that an instance is, its children, and its keys."""
    how = of(cls)
    assert how is not None
    if how.flatten is None:
        names = (*how.fields, *how.meta)
        return "dataclass", fields(lx, value, names, node), names
    found = lx.apply(_function(lx, how.flatten), [value], {}, node)
    if not isinstance(found, Tuple) or len(found.items) != 2:
        message = (
            f"the flatten function of {cls.__name__!r} must return a pair (children, aux), not {describe(lx, found)}"
        )
        raise lx.error(
            "T131", message, node, "return (children, aux): a tuple of arrays, and what belongs to the structure"
        )
    children, aux = found.items
    if (
        isinstance(value, Ref) and value.cell in lx.instances
    ):  # the structure of what stands outside is asked for at each call
        known = how.flatten(lx.instances[value.cell])[1]
    else:
        known = structure_values.python(lx, aux, f"the aux data of {cls.__name__!r}", node)
    return "registered", tuple(lx.unrolled(children, node)), (Content(known),)


def put_together(lx: Lifter, cls: Any, aux: Any, children: Sequence[Any], node: Any = None) -> Any:
    """The instance with these children."""
    how = of(cls)
    assert how is not None
    return lx.apply(_function(lx, how.unflatten), [lx.structural(aux), Tuple(tuple(children))], {}, node)


def keys(lx: Lifter, value: Any, cls: Any, node: Any = None) -> list[Any] | None:
    """The keys of the children, if the class was registered with a function that says them."""
    how = of(cls)
    if how is None or how.with_keys is None:
        return None
    found = lx.apply(_function(lx, how.with_keys), [value], {}, node)
    return [lx.unrolled(pair, node)[0] for pair in lx.unrolled(found.items[0], node)]


def as_node(lx: Lifter, value: Any, cls: Any, tree: Callable[[Any], Any]) -> Node:
    """The node that an instance is, its children by ``tree``."""
    kind, children, names = taken_apart(lx, value, cls)
    meta = children if kind == "registered" else children[: len(of(cls).fields)]  # type: ignore[union-attr]
    known = [beside(lx, k, c) for k, c in zip(names[len(meta) :], children[len(meta) :])]
    return Node(kind, (*(tree(c) for c in meta), *known), names, cls)


def beside(lx: Lifter, name: str, value: Any, node: Any = None) -> Content:
    """What a field holds that belongs to the structure."""
    return Content(structure_values.python(lx, value, f"the field {name!r}", node))


def from_node(lx: Lifter, node: Any, items: Sequence[Any]) -> Any:
    """The abstract value of a node of an argument or result, whose children are these."""
    if node.kind == "registered":
        return put_together(lx, node.cls, node.keys[0].value, items)
    cell = Cell(getattr(node.cls, "__name__", node.kind))
    items = settled(lx, node.cls, node.keys, items)
    lx.state.cells[cell] = Items("dict" if node.kind == "dict" else "instance", items, node.keys, node.cls)
    return Ref(cell)
