"""Calls of `transpile.tree` in transformed code: trees of abstract values are taken apart and put together, the work on leaves
unrolls."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from transpile import tree
from transpile.aggregates import REGISTERED
from transpile.base import treedef
from transpile.base.treedef import LEAF, NONE, TreeDef
from transpile.base.unravel import unravelled
from transpile.errors import TranspileError
from transpile.frontend.calls import arity
from transpile.frontend.control import truth
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.resolve.bindings import Known, StaticClass, User
from transpile.frontend.values import attributes, contents, derived_containers, registered
from transpile.frontend.values.convert import describe, new_list
from transpile.frontend.values.values import Bound, Cell, Items, Ref, Scalar, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]
IsLeaf = Any  # an abstract function, or None


def opened(lx: Lifter, value: Any, node: Any = None) -> tuple[TreeDef, tuple[Any, ...]] | None:
    """As `transpile.base.treedef.opened`, of an abstract value."""
    match value:
        case Tuple():
            if value.cls is None:
                return TreeDef("tuple", [LEAF] * len(value.items)), value.items
            fields = tuple(getattr(value.cls, "_fields", None) or (f[0] for f in value.cls.fields))
            return TreeDef("namedtuple", [LEAF] * len(fields), fields, value.cls), value.items
        case Ref():
            return _of_ref(lx, value, node)
        case Static():
            held = statics.known(lx, value)
            if held is None:
                return NONE, ()
            if type(held) in REGISTERED:
                return _of_registered(lx, value, type(held), node)
    return None


def _of_ref(lx: Lifter, value: Ref, node: Any) -> tuple[TreeDef, tuple[Any, ...]] | None:
    state = contents.items(lx, value, node)
    if derived_containers.base_of(state.cls) is not None:
        return _of_registered(lx, value, state.cls, node)
    if state.kind == "list":
        return TreeDef("list", [LEAF] * len(state.items)), state.items
    if state.kind == "dict":
        keys = state.keys or ()
        ordered = treedef.in_order(keys, state.cls)
        held = dict(zip(keys, state.items))
        return TreeDef("dict", [LEAF] * len(keys), ordered, state.cls, tuple(keys)), tuple(held[k] for k in ordered)
    if state.kind != "instance":
        hint = "make an array of it: np.array(...)"
        raise lx.error("T204", "a list whose length depends on the data cannot be a tree", node, hint)
    if registered.of(state.cls) is not None:
        return _of_registered(lx, value, state.cls, node)
    if isinstance(state.cls, StaticClass) and state.cls.kind == "dataclass":
        fields = tuple(f[0] for f in state.cls.fields)
    elif dataclasses.is_dataclass(state.cls):
        fields = tuple(f.name for f in dataclasses.fields(state.cls))
    else:
        return None
    return TreeDef("dataclass", [LEAF] * len(fields), fields, state.cls), registered.fields(lx, value, fields, node)


def _of_registered(lx: Lifter, value: Any, cls: Any, node: Any) -> tuple[TreeDef, tuple[Any, ...]]:
    kind, children, keys = registered.taken_apart(lx, value, cls, node)
    if kind == "registered":
        return TreeDef(kind, [LEAF] * len(children), keys, cls), children
    meta = len(registered.of(cls).fields)  # type: ignore[union-attr]
    known = [registered.beside(lx, k, c, node) for k, c in zip(keys[meta:], children[meta:])]
    return TreeDef(kind, [LEAF] * meta + [TreeDef("meta", (), (k,)) for k in known], keys, cls), children


def closed(lx: Lifter, shape: TreeDef, children: Sequence[Any], node: Any = None) -> Any:
    """As `transpile.base.treedef.closed`."""
    if shape.kind in ("tuple", "namedtuple"):
        return Tuple(tuple(children), shape.cls)
    if shape.kind == "list":
        return new_list(lx, list(children))
    if shape.kind == "registered":
        return registered.put_together(lx, shape.cls, shape.keys[0].value, children, node)
    keys, items = shape.keys, tuple(children)
    if shape.kind == "dict":
        held = dict(zip(keys, items))
        keys, items = shape.order, tuple(held[k] for k in shape.order)
    else:
        items = registered.settled(lx, shape.cls, keys, items)
    cell = Cell(getattr(shape.cls, "__name__", shape.kind))
    lx.state.cells[cell] = Items("dict" if shape.kind == "dict" else "instance", items, keys, shape.cls)
    return Ref(cell)


def flat(lx: Lifter, value: Any, is_leaf: IsLeaf = None, node: Any = None) -> tuple[list[Any], TreeDef]:
    """The leaves of an abstract tree, and its structure."""
    found: list[Any] = []
    return found, _flatten(lx, value, is_leaf, found, node)


def _flatten(lx: Lifter, value: Any, is_leaf: IsLeaf, found: list[Any], node: Any) -> TreeDef:
    here = None if _is_leaf(lx, value, is_leaf, node) else opened(lx, value, node)
    if here is None:
        found.append(value)
        return LEAF
    shape, children = here
    if not children:
        return shape
    parts = [m if m.kind == "meta" else _flatten(lx, c, is_leaf, found, node) for m, c in zip(shape.children, children)]
    return TreeDef(shape.kind, parts, shape.keys, shape.cls, shape.order)


def _is_leaf(lx: Lifter, value: Any, is_leaf: IsLeaf, node: Any, path: tuple[Any, ...] | None = None) -> bool:
    """What ``is_leaf`` says, of the path too if there is one."""
    if is_leaf is None or isinstance(is_leaf, Static) and is_leaf.value is None:
        return False
    args = [value] if path is None else [Tuple(path), value]
    return bool(lx.static(lx.apply(is_leaf, args, {}, node), "the result of is_leaf", node))


def filled(lx: Lifter, shape: TreeDef, leaves: Sequence[Any], node: Any = None) -> Any:
    """The abstract tree of a structure with these leaves."""
    if len(leaves) != shape.num_leaves:
        raise placed(lx, treedef.wrong_number(shape, len(leaves)), node)
    return _filled(lx, shape, iter(leaves), node)


def _filled(lx: Lifter, shape: TreeDef, leaves: Iterator[Any], node: Any) -> Any:
    match shape.kind:
        case "leaf":
            return next(leaves)
        case "none":
            return Static(None)
        case "meta":
            return lx.structural(shape.keys[0].value)
    return closed(lx, shape, [_filled(lx, c, leaves, node) for c in shape.children], node)


def subtrees(lx: Lifter, shape: TreeDef, value: Any, node: Any = None) -> list[Any]:
    """The abstract values that stand where the structure has leaves."""
    found: list[Any] = []
    _match(lx, shape, value, found, "", node)
    return found


def _match(lx: Lifter, shape: TreeDef, value: Any, found: list[Any], at: str, node: Any) -> None:
    if shape.kind == "leaf":
        found.append(value)
        return
    if shape.kind == "meta":
        return
    other = opened(lx, value, node)
    if other is None or not treedef.alike(shape, other[0]):
        raise placed(lx, treedef.mismatch(shape, None if other is None else other[0], at), node)
    for k, (child, part) in enumerate(zip(shape.children, other[1])):
        _match(lx, child, part, found, at + str(treedef.key_of(shape.kind, shape.keys, k)), node)


def placed(lx: Lifter, failed: TranspileError, node: Any) -> TranspileError:
    """A diagnostic of a plain run, at the call."""
    (found,) = failed.diagnostics
    return lx.error(found.code, found.message, node, found.hint)


# ------------------------------------------------------------------------------------------------------- the calls


def _bound(name: str, args: Args, kwargs: Kwargs) -> inspect.BoundArguments:
    return inspect.signature(getattr(tree, name)).bind(*args, **kwargs)


def _rule(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Binds the arguments of a call to the parameters that the function has outside."""

    def made(rule: Callable[..., Any]) -> Callable[..., Any]:
        def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
            try:
                bound = _bound(name, args, kwargs)
            except TypeError as e:
                hint = arity.parameters(inspect.signature(getattr(tree, name)))
                raise lx.error("T132", f"transpile.tree.{name}: {e}", node, hint) from None
            return rule(lx, node, *bound.args, **bound.kwargs)

        TABLE[f"transpile.tree.{name}"] = call
        return rule

    return made


TABLE: dict[str, Any] = {}


def _shape(lx: Lifter, value: Any, node: Any) -> TreeDef:
    held = lx.static(value, "the structure of a tree", node)
    if not isinstance(held, TreeDef):
        raise lx.error("T131", f"expected the structure of a tree, got {describe(lx, value)}", node,
                       "write tp.tree.structure(x)")  # fmt: skip
    return held


@_rule("flatten")
def _flatten_call(lx: Lifter, node: Any, tree: Any, is_leaf: IsLeaf = None) -> Tuple:
    leaves, shape = flat(lx, tree, is_leaf, node)
    return Tuple((new_list(lx, leaves), Static(shape)))


@_rule("leaves")
def _leaves(lx: Lifter, node: Any, tree: Any, is_leaf: IsLeaf = None) -> Any:
    return new_list(lx, flat(lx, tree, is_leaf, node)[0])


@_rule("structure")
def _structure(lx: Lifter, node: Any, tree: Any, is_leaf: IsLeaf = None) -> Static:
    return Static(flat(lx, tree, is_leaf, node)[1])


@_rule("unflatten")
def _unflatten(lx: Lifter, node: Any, shape: Any, leaves: Any) -> Any:
    return filled(lx, _shape(lx, shape, node), lx.unrolled(leaves, node), node)


def _flatten_up_to(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return new_list(lx, subtrees(lx, _shape(lx, args[0], node), args[1], node))


TABLE["transpile.tree.flatten_up_to"] = _flatten_up_to


def _compose(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Static:
    return Static(_shape(lx, args[0], node).compose(_shape(lx, args[1], node)))


TABLE["transpile.tree.compose"] = _compose


@_rule("map")
def _map(lx: Lifter, node: Any, f: Any, tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    first, shape = flat(lx, tree, is_leaf, node)
    others = [subtrees(lx, shape, other, node) for other in rest]
    made = [lx.apply(f, list(together), {}, node) for together in zip(first, *others)]
    return filled(lx, shape, made, node)


@_rule("map_with_path")
def _map_with_path(
    lx: Lifter, node: Any, f: Any, tree: Any, *rest: Any, is_leaf: IsLeaf = None, is_leaf_takes_path: Any = False
) -> Any:
    takes_path = is_leaf_takes_path is not False and lx.static(is_leaf_takes_path, "is_leaf_takes_path", node)
    first: list[Any] = []
    shape = _flatten_with_paths(lx, tree, is_leaf, (() if takes_path else None, ()), first, node)
    others = [subtrees(lx, shape, other, node) for other in rest]
    made = [lx.apply(f, [Tuple(path), leaf, *together], {}, node) for (path, leaf), *together in zip(first, *others)]
    return filled(lx, shape, made, node)


def _flatten_with_paths(
    lx: Lifter, value: Any, is_leaf: IsLeaf, ways: tuple[Any, tuple[Any, ...]], found: list[Any], node: Any
) -> TreeDef:
    """``ways``: the path that ``is_leaf`` is given, if it is given one, and the path."""
    asked, here = ways
    opening = None if _is_leaf(lx, value, is_leaf, node, asked) else opened(lx, value, node)
    if opening is None:
        found.append((here, value))
        return LEAF
    shape, children = opening
    keys = registered.keys(lx, value, shape.cls, node) if shape.kind in ("registered", "dataclass") else None
    if keys is None:
        keys = [_key(lx, treedef.key_of(shape.kind, shape.keys, k)) for k in range(len(children))]
    parts = []
    for mark, key, child in zip(shape.children, keys, children):
        way = (*here, key)
        further = (None if asked is None else way, way)
        parts.append(mark if mark.kind == "meta" else _flatten_with_paths(lx, child, is_leaf, further, found, node))
    return TreeDef(shape.kind, parts, shape.keys, shape.cls, shape.order)


def _key(lx: Lifter, key: Any) -> Tuple:
    return Tuple((lx.const(key[0]),), type(key))


@_rule("keystr")
def _keystr(lx: Lifter, node: Any, keys: Any) -> Static:
    return Static("".join(str(lx.static(key, "a path", node)) for key in lx.unrolled(keys, node)))


@_rule("reduce")
def _reduce(lx: Lifter, node: Any, function: Any, tree: Any, initializer: Any = None, is_leaf: IsLeaf = None) -> Any:
    leaves = flat(lx, tree, is_leaf, node)[0]
    given = [] if initializer is None else [initializer]
    return lx.known_call(Known("functools.reduce"), [function, new_list(lx, leaves), *given], {}, node)


@_rule("all")
def _all(lx: Lifter, node: Any, tree: Any, *, is_leaf: IsLeaf = None) -> Any:
    found = lx.b.expr(True)
    for leaf in flat(lx, tree, is_leaf, node)[0]:
        found = lx.b.elementwise("logical_and", found, truth.truth(lx, leaf, node))
    return Scalar(found.op)


@_rule("transpose")
def _transpose(lx: Lifter, node: Any, outer_treedef: Any, inner_treedef: Any, pytree_to_transpose: Any) -> Any:
    outer = _shape(lx, outer_treedef, node)
    is_open = isinstance(inner_treedef, Static) and inner_treedef.value is None
    inner = None if is_open else _shape(lx, inner_treedef, node)
    try:
        parts = subtrees(lx, outer, pytree_to_transpose, node)
        inner = flat(lx, parts[0], None, node)[1] if inner is None else inner
        rows = [subtrees(lx, inner, part, node) for part in parts]
    except TranspileError:
        leaves = flat(lx, pytree_to_transpose, None, node)[0]
        found = None if inner is None else treedef.counted(outer, inner, leaves)
        if inner is None or found is None:
            raise
        rows = found
    return filled(lx, inner, [filled(lx, outer, column, node) for column in zip(*rows)], node)


def _stop_gradient(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``stop_gradient`` of a tree; that of a number or an array is a rule."""
    value = args[0] if len(args) == 1 and not kwargs else None
    if isinstance(value, Static):
        return value
    if not isinstance(value, (Tuple, Ref)):
        return NotImplemented
    leaves, shape = flat(lx, value, None, node)
    stopped = [v if isinstance(v, Ref) else lx.known_call("transpile.stop_gradient", [v], {}, node) for v in leaves]
    return filled(lx, shape, stopped, node)


TABLE["transpile.stop_gradient"] = _stop_gradient


# ----------------------------------------------------------------------------------------------------------- ravel


@_rule("ravel_pytree")
def _ravel(lx: Lifter, node: Any, pytree: Any) -> Tuple:
    leaves, shape = flat(lx, pytree, None, node)
    ops = [lx.operand(leaf, node) for leaf in leaves]
    shapes = Tuple(tuple(Tuple(tuple(attributes.size(lx, d) for d in op.type.dims)) for op in ops))
    dtypes = Tuple(tuple(Static(np.dtype(op.type.dtype)) for op in ops))
    parts = [lx.known_call(Known("numpy.ravel"), [leaf], {}, node) for leaf in leaves]
    whole = lx.known_call(Known("numpy.concatenate"), [new_list(lx, parts)], {}, node) if parts else \
        lx.known_call(Known("numpy.zeros"), [lx.const(0)], {}, node)  # fmt: skip
    return Tuple((whole, Bound(Static(User(unravelled)), (Static(shape), shapes, dtypes))))


def _call_of_unravel(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A call of the second result of a `ravel_pytree` outside."""
    held, *args = args[0].value, *args[1:]
    shapes = Tuple(tuple(Tuple(tuple(lx.const(n) for n in shape)) for shape in held.shapes))
    dtypes = Tuple(tuple(Static(d) for d in held.dtypes))
    return lx.user_call(unravelled, [Static(held.treedef), shapes, dtypes, *args], kwargs, node)


TABLE["transpile.base.unravel.Unravel.__call__"] = _call_of_unravel
