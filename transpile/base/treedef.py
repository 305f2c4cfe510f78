"""The structure of a tree as its user sees it (`transpile.tree.structure`): an object that is compared, printed, and filled with
leaves.

It differs from `transpile.aggregates` in what a leaf is: here all that is no container, as in JAX, and None is a tree without
leaves. The frontend makes the same objects of the trees of the transformed program.

The library ``optree`` does not serve here: its structures are made of Python objects alone, where ours are also those of abstract
values and of classes of files that are not executed, it takes a dataclass that nobody has registered for a leaf, and it is some
20 µs faster for the 20 leaves of a nested dict (flattened in 26 µs, not 18) and slower for a list of 1000 numbers.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from transpile.aggregates import REGISTERED, Meta, Node, Static, close_node, open_node
from transpile.errors import TranspileError, error


class TreeDef:
    """``kind``: leaf, none, meta (a part of the structure that is no tree), or that of an `aggregates.Node`; ``keys`` of a dict
    are in the order of its leaves, ``order`` is the order in which they are put in again."""

    __slots__ = ("children", "cls", "keys", "kind", "num_leaves", "order")
    __lifter_methods__: ClassVar = {name: f"transpile.tree.{name}" for name in ("unflatten", "flatten_up_to")}
    __lifter_constants__ = ("num_leaves",)

    def __init__(
        self,
        kind: str,
        children: Iterable[TreeDef] = (),
        keys: tuple[Any, ...] = (),
        cls: Any = None,
        order: tuple[Any, ...] = (),
        num_leaves: int | None = None,
    ) -> None:
        self.kind, self.children, self.keys, self.cls, self.order = kind, tuple(children), keys, cls, order
        if num_leaves is None:
            num_leaves = 1 if kind == "leaf" else sum([c.num_leaves for c in self.children])
        self.num_leaves: int = num_leaves

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with these leaves; T203 if there are more or fewer than it has."""
        return filled(self, leaves)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of ``tree`` that stand where this structure has leaves; T203 if it is no prefix of it."""
        return subtrees(self, tree)

    def _parts(self) -> tuple[Any, ...]:
        return self.kind, self.cls, self.keys, self.children

    def __eq__(self, other: object) -> bool:
        return type(other) is TreeDef and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __reduce__(self) -> Any:
        return TreeDef, (self.kind, self.children, self.keys, self.cls, self.order)

    def __repr__(self) -> str:
        return f"TreeDef({text(self)})"


LEAF, NONE = TreeDef("leaf"), TreeDef("none")


class DictKey(NamedTuple):
    """The value of a dict under ``key``."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class SequenceKey(NamedTuple):
    """Item ``idx`` of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"


class GetAttrKey(NamedTuple):
    """The attribute ``name`` of a named tuple, a dataclass or a registered class."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


class FlattenedIndexKey(NamedTuple):
    """Child ``key`` of a registered class."""

    key: int

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


def key_of(kind: str, keys: Sequence[Any], k: int) -> Any:
    """The key of child ``k`` of a container."""
    if kind == "dict":
        return DictKey(keys[k])
    if kind in ("namedtuple", "dataclass"):
        return GetAttrKey(keys[k])
    return FlattenedIndexKey(k) if kind == "registered" else SequenceKey(k)


def in_order(keys: Iterable[Any], cls: Any = None) -> tuple[Any, ...]:
    """The keys of a dict as its leaves are ordered: sorted if they can be, those of an OrderedDict as they are."""
    if cls is not None:
        return tuple(keys)
    try:
        return tuple(sorted(keys))
    except TypeError:
        return tuple(keys)


# ------------------------------------------------------------------------------------------- trees of Python objects

PLAIN = frozenset((float, int, bool, complex, str, np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_))
"""Frequent leaves, which are recognised without looking further."""


def flatten(value: Any, is_leaf: Any, found: list[Any]) -> TreeDef:
    """The structure of a value; its leaves are appended. Lists, tuples and dicts are gone through here: most of a tree is that."""
    if is_leaf is not None and is_leaf(value):
        found.append(value)
        return LEAF
    cls, start = type(value), len(found)
    if cls is dict:
        keys = in_order(value)
        parts = _flat_items([value[k] for k in keys], is_leaf, found)
        return TreeDef("dict", parts, keys, None, tuple(value), len(found) - start)
    if cls is list or cls is tuple:
        return TreeDef(cls.__name__, _flat_items(value, is_leaf, found), num_leaves=len(found) - start)
    here = None if cls in PLAIN else opened(value)
    if here is None:
        found.append(value)
        return LEAF
    shape, children = here
    if not children:
        return shape
    parts = [m if m.kind == "meta" else flatten(c, is_leaf, found) for m, c in zip(shape.children, children)]
    return TreeDef(shape.kind, parts, shape.keys, shape.cls, shape.order, len(found) - start)


def _flat_items(items: Sequence[Any], is_leaf: Any, found: list[Any]) -> list[TreeDef]:
    parts = []
    for item in items:
        if is_leaf is None and type(item) in PLAIN:
            found.append(item)
            parts.append(LEAF)
        else:
            parts.append(flatten(item, is_leaf, found))
    return parts


def opened(value: Any) -> tuple[TreeDef, tuple[Any, ...]] | None:
    """The outermost structure of a value (its children are `LEAF`), and the children; None of a leaf."""
    if value is None:
        return NONE, ()
    found = open_node(value)
    if found is None:
        return None
    kind, children, keys, cls = found
    if kind == "dict":
        ordered = in_order(keys, cls)
        return TreeDef(kind, [LEAF] * len(keys), ordered, cls, tuple(keys)), tuple(value[k] for k in ordered)
    parts = tuple(children)
    marks = [TreeDef("meta", (), (Static(c.value),)) if type(c) is Meta else LEAF for c in parts]
    return TreeDef(kind, marks, keys, cls), parts


def closed(shape: TreeDef, children: Sequence[Any]) -> Any:
    """The container of this outermost structure with these children."""
    if shape.kind == "tuple":
        return tuple(children)
    if shape.kind == "dict":
        made = held = dict(zip(shape.keys, children))
        if shape.order != shape.keys:
            made = {k: held[k] for k in shape.order}
        return OrderedDict(made) if shape.cls is not None else made
    return close_node(Node(shape.kind, (), shape.keys, shape.cls), children)


def filled(shape: TreeDef, leaves: Iterable[Any]) -> Any:
    """See `TreeDef.unflatten`."""
    given = list(leaves)
    if len(given) != shape.num_leaves:
        raise wrong_number(shape, len(given))
    return _filled(shape, iter(given))


def wrong_number(shape: TreeDef, count: int) -> TranspileError:
    return error("T203", f"{count} leaves for a structure of {shape.num_leaves}: {text(shape)}")


def _filled(shape: TreeDef, leaves: Any) -> Any:
    if shape.kind == "leaf":
        return next(leaves)
    if shape.kind == "none":
        return None
    if shape.kind == "meta":
        return Meta(shape.keys[0].value)
    children = [next(leaves) if c is LEAF else _filled(c, leaves) for c in shape.children]
    return children if shape.kind == "list" else closed(shape, children)


def subtrees(shape: TreeDef, tree: Any) -> list[Any]:
    """See `TreeDef.flatten_up_to`."""
    found: list[Any] = []
    _match(shape, tree, found, ())
    return found


def _match(shape: TreeDef, tree: Any, found: list[Any], at: tuple[Any, ...]) -> None:
    """``at`` has the structures above and the number of the child in each."""
    if shape.kind == "leaf":
        found.append(tree)
        return
    if shape.kind == "meta":
        return
    parts = _same_container(shape, tree)
    if parts is None:
        other = opened(tree)
        here = None if other is None else other[0]
        if here is None or other is None or not alike(shape, here):
            path = "".join(str(key_of(s.kind, s.keys, k)) for s, k in at)
            raise mismatch(shape, here, path)
        parts = other[1]
    for k, (child, part) in enumerate(zip(shape.children, parts)):
        if child is LEAF:
            found.append(part)
        else:
            _match(child, part, found, (*at, (shape, k)))


def _same_container(shape: TreeDef, tree: Any) -> Sequence[Any] | None:
    """The children of a list, tuple or dict that fits the structure; None of all else, which is looked at more closely."""
    cls = type(tree)
    if cls is list or cls is tuple:
        fits = shape.kind == cls.__name__ and len(tree) == len(shape.children)
        return tree if fits else None
    if cls is dict and shape.kind == "dict" and shape.cls is None and len(tree) == len(shape.keys):
        with contextlib.suppress(KeyError):
            return [tree[k] for k in shape.keys]
    return None


def alike(a: TreeDef, b: TreeDef) -> bool:
    """Whether two containers are of one kind and have as many children, under the same keys."""
    if (a.kind, a.cls, a.keys, len(a.children)) != (b.kind, b.cls, b.keys, len(b.children)):
        return False
    return all(x == y for x, y in zip(a.children, b.children) if y.kind == "meta")


def mismatch(shape: TreeDef, other: TreeDef | None, at: str = "") -> TranspileError:
    """Two trees that do not have one structure: what each is at the first place where they differ."""
    where = f" at tree{at}" if at else ""
    return error("T203", f"trees of different structure: {text(shape)} and {text(other or LEAF)}{where}",
                 hint="give both trees the same containers, keys and lengths")  # fmt: skip


def text(shape: TreeDef, words: Iterator[str] | None = None) -> str:
    """The structure as Python would write it, a star for each leaf, or the next one of the words."""
    parts = [text(c, words) for c in shape.children]
    match shape.kind:
        case "leaf":
            return "*" if words is None else next(words)
        case "none":
            return "None"
        case "meta":
            return repr(shape.keys[0].value)
        case "dict":
            return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(shape.keys, parts)) + "}"
        case "list":
            return f"[{', '.join(parts)}]"
        case "tuple":
            return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
        case "registered":
            return f"{shape.cls.__name__}({', '.join(parts)})"
    return f"{shape.cls.__name__}({', '.join(f'{k}={p}' for k, p in zip(shape.keys, parts))})"


def keyed(value: Any, shape: TreeDef) -> list[Any]:
    """The keys of the children of a container."""
    registered = REGISTERED.get(type(value))
    if registered is not None and registered.with_keys is not None:
        return [key for key, _ in registered.with_keys(value)[0]]
    return [key_of(shape.kind, shape.keys, k) for k in range(len(shape.children))]
