"""Trees: nested Python containers flattened to a list of leaves, and rebuilt from one.

A leaf is an array, a NumPy scalar, or a Python int, float or complex. Tuples, lists, dicts, named tuples, dataclasses and
instances of registered classes (`transpile.tree`) are nodes. Any other object (None, a string, a flag, a callable, a dtype, an
object of another class) is static: part of the structure, compared by value if its value is all that it is, otherwise by
identity. The auxiliary data of a node (`Content`) is compared recursively.

>>> leaves, tree = flatten({"w": 1.5, "b": (2.0, None)})
>>> leaves
[1.5, 2.0]
>>> unflatten(tree, [10, 20])
{'w': 10, 'b': (20, None)}
>>> tree == flatten({"w": 0.0, "b": (0.0, None)})[1]
True
"""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from transpile.base.content import Itself, content, copied, is_hashed, lasts


class Leaf:
    """Leaf number ``k`` of the flat list. ``zero_dim``: a scalar result that is returned as an array of rank 0."""

    __slots__ = ("k", "zero_dim")

    def __init__(self, k: int, zero_dim: bool = False) -> None:
        self.k, self.zero_dim = k, zero_dim

    def __eq__(self, other: object) -> bool:
        return type(other) is Leaf and other.k == self.k

    def __hash__(self) -> int:
        return hash(self.k)

    def __repr__(self) -> str:
        return f"Leaf({self.k})"


class ArgLeaf:
    """The core type of an argument's leaf, for `frontend.entry.lift`, with an example value if there is one.

    ``zero_dim``: the leaf is an array of rank 0, not a number.
    """

    __slots__ = ("example", "type", "zero_dim")

    def __init__(self, type: Any, example: Any = None, zero_dim: bool | None = None) -> None:
        self.type, self.example = type, example
        self.zero_dim = isinstance(example, np.ndarray) and example.ndim == 0 if zero_dim is None else zero_dim

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgLeaf) and other.type == self.type and other.zero_dim == self.zero_dim

    def __hash__(self) -> int:
        return hash(self.type)

    def __repr__(self) -> str:
        return f"ArgLeaf({self.type!r})"


class Static:
    """A static part of a structure; equal to another only if the types agree too (``1``, ``1.0`` and ``True`` differ)."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = (type(value), self._meaning(value))

    @staticmethod
    def _meaning(value: Any) -> Any:
        return _identity(value)

    def lasts(self) -> bool:
        """True if the same object always has the same meaning; an unhashable one may have been changed."""
        return is_hashed(self.value)

    def fresh(self) -> Any:
        """The value, for a caller that may change it; a `Content` gives a copy instead."""
        return self.value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        return type(self), (self.value,)  # without the key, which may hold an object equal to no other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"


def _identity(value: Any) -> Any:
    """What a static value is compared by, besides its type: NaN equals NaN, -0.0 differs from 0.0, items of tuples and sets
    count with their types; an unhashable object, or one of a class with its own ``__eq__``, equals only itself."""
    if type(value) in (float, complex):
        return repr(value)  # -0.0 is not 0.0, nan is nan
    if isinstance(value, np.generic):
        return (value.dtype, value.tobytes())
    if type(value) is slice:
        return tuple(map(Static, (value.start, value.stop, value.step)))
    if type(value) is tuple:
        return tuple(map(Static, value))
    if type(value) in (set, frozenset):
        return frozenset(map(Static, value))
    return value if is_hashed(value) and not _has_more_than_is_compared(value) else Itself(value)


def _has_more_than_is_compared(value: Any) -> bool:
    """True for an object whose user-defined class has its own ``__eq__``: equal objects may differ in other fields."""
    cls = type(value)
    return isinstance(cls.__eq__, FunctionType) and cls.__module__.partition(".")[0] not in _VALUES


_VALUES = {*sys.stdlib_module_names, "numpy", "transpile"}  # packages whose __eq__ compares everything


def exact_keys(keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of a dict in a form in which ``1``, ``1.0`` and ``True`` differ; the keys themselves if all are strings."""
    return keys if all(type(k) is str for k in keys) else tuple(map(Static, keys))


class Content(Static):
    """The auxiliary data of a node; equal to another if both hold equal values, compared recursively."""

    __slots__ = ()

    @staticmethod
    def _meaning(value: Any) -> Any:
        return content(value)

    def lasts(self) -> bool:
        return lasts(self.value)

    def fresh(self) -> Any:
        return copied(self.value)


class Meta:
    """A field of a registered dataclass that belongs to the structure, even if its value is an array or a container."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Meta and Content(other.value) == Content(self.value)

    def __hash__(self) -> int:
        return hash(Content(self.value))

    def __repr__(self) -> str:
        return f"Meta({self.value!r})"


class Registered:
    """The registration of a class: its flatten and unflatten functions, or its fields.

    ``fields`` are the fields that hold trees, ``meta`` those that belong to the structure.
    """

    __slots__ = ("fields", "flatten", "meta", "unflatten", "with_keys")

    def __init__(
        self,
        flatten: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
        unflatten: Callable[[Any, tuple[Any, ...]], Any] | None = None,
        with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
        fields: tuple[str, ...] = (),
        meta: tuple[str, ...] = (),
    ) -> None:
        self.flatten, self.unflatten, self.with_keys = flatten, unflatten, with_keys
        self.fields, self.meta = fields, meta

    def opened(self, value: Any) -> tuple[str, Iterable[Any], tuple[Any, ...], type | None]:
        """As `open_node`, for an instance of the registered class."""
        if self.flatten is None:
            return _by_fields(value, self.fields, self.meta)
        children, aux = self.flatten(value)
        return "registered", tuple(children), (Content(aux),), type(value)


REGISTERED: dict[type, Registered] = {}
"""The classes that the program has registered (`transpile.tree.register_node`, `register_dataclass`)."""


class Node:
    """A container. ``kind`` is "tuple", "list", "dict", "namedtuple", "dataclass" or "registered".

    ``keys`` are the keys of a dict, the field names of a dataclass or named tuple, the auxiliary data of a registered class.
    """

    __slots__ = ("children", "cls", "keys", "kind")

    def __init__(
        self, kind: str, children: tuple[Any, ...], keys: tuple[Any, ...] = (), cls: type | None = None
    ) -> None:
        self.kind, self.children, self.keys, self.cls = kind, children, keys, cls

    def __eq__(self, other: object) -> bool:
        if type(other) is not Node:
            return False
        same = other.kind == self.kind and other.cls is self.cls and exact_keys(other.keys) == exact_keys(self.keys)
        return same and other.children == self.children

    def __hash__(self) -> int:
        return hash((self.kind, self.children, self.keys, self.cls))

    def __repr__(self) -> str:
        return f"Node({self.kind!r}, {self.children!r}, {self.keys!r}, {self.cls!r})"


Tree = Leaf | ArgLeaf | Static | Node


UNSET = object()  # the default of a parameter without default


class ArgSpec:
    """A parameter of a Python function. ``kind``: "pos", "kw" (keyword only), "varpos" (the tree is a tuple), "varkw" (a dict).

    ``at`` is its position in the signature, -1 if it has none; ``default`` its default value.
    """

    __slots__ = ("at", "default", "kind", "name", "tree")

    def __init__(self, name: str, tree: Any, kind: str = "pos", at: int = -1, default: Any = UNSET) -> None:
        self.name, self.tree, self.kind, self.at, self.default = name, tree, kind, at, default

    def __repr__(self) -> str:
        return f"ArgSpec({self.name!r}, {self.tree!r}, {self.kind!r}, {self.at})"


NUMBERS = (int, float, complex)


def is_leaf(value: Any) -> bool:
    """True for arrays, NumPy scalars (``np.bool_`` too) and Python's int, float and complex; a Python bool is a flag and an
    enum member a name, so they are static."""
    return type(value) in NUMBERS or isinstance(value, (np.ndarray, np.generic))


def flatten(value: Any) -> tuple[list[Any], Tree]:
    """``(leaves, structure)`` of a value, the leaves from left to right."""
    leaves: list[Any] = []
    return leaves, _flatten(value, leaves)


def _flatten(value: Any, leaves: list[Any]) -> Tree:
    """The structure of a value; its leaves are appended to ``leaves`` and numbered by their positions there."""
    if is_leaf(value):
        leaves.append(value)
        return Leaf(len(leaves) - 1)
    if type(value) is Meta:
        return Content(value.value)
    found = open_node(value)
    if found is None:
        return Static(value)
    kind, children, keys, cls = found
    return Node(kind, tuple(_flatten(c, leaves) for c in children), keys, cls)


def open_node(value: Any) -> tuple[str, Iterable[Any], tuple[Any, ...], type | None] | None:
    """``(kind, children, keys, cls)`` of a container, one level deep, with the meaning of the fields of `Node`. None if the
    value is no node, such as a subclass of dict that overrides how its items are read."""
    cls = type(value)
    opener = _OPENERS.get(cls)
    if opener is not None:
        return opener(value)
    registered = REGISTERED.get(cls)
    if registered is not None:
        return registered.opened(value)
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return "namedtuple", value, tuple(cls._fields), cls
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _by_fields(value, tuple(f.name for f in dataclasses.fields(value)))
    if isinstance(value, dict) and not _reads_its_own_way(cls):
        return "dict", value.values(), tuple(value), None
    return None


def _by_fields(value: Any, fields: tuple[str, ...], meta: tuple[str, ...] = ()) -> tuple[str, list[Any], Any, type]:
    """As `open_node`, for an object with these ``fields``; ``meta`` and overridden class attributes belong to the structure."""
    names = (*meta, *overriding(value, (*fields, *meta)))
    held = [*(getattr(value, n) for n in fields), *(Meta(getattr(value, n)) for n in names)]
    return "dataclass", held, (*fields, *names), type(value)


def overriding(value: Any, fields: Sequence[str]) -> tuple[str, ...]:
    """The names of the instance attributes, apart from ``fields`` and cached properties, that hide an attribute of the
    class."""
    held = getattr(value, "__dict__", ())
    if len(held) <= len(fields):
        return ()
    cls = type(value)
    others = [n for n in held if n not in fields and hasattr(cls, n)]
    return tuple([n for n in others if not isinstance(getattr(cls, n), functools.cached_property)])


def _reads_its_own_way(cls: type) -> bool:
    """True for a subclass of ``dict`` that overrides how its items are read."""
    own = [c for c in cls.__mro__ if issubclass(c, dict) and c.__module__ not in ("builtins", "collections")]
    return any(name in vars(c) for c in own for name in READING)


READING = ("__contains__", "__getitem__", "__iter__", "__len__", "get", "items", "keys", "values")
"""Methods of a container that determine what is read from it; a subclass that overrides one is not a node."""

_OPENERS: dict[type, Callable[[Any], Any]] = {
    tuple: lambda v: ("tuple", v, (), None),
    list: lambda v: ("list", v, (), None),
    dict: lambda v: ("dict", v.values(), tuple(v), None),
    OrderedDict: lambda v: ("dict", v.values(), tuple(v), OrderedDict),
}


def unflatten(tree: Tree, leaves: Sequence[Any]) -> Any:
    """The value with this structure and these leaves, the inverse of `flatten`; static values are not copied."""
    if isinstance(tree, Leaf):
        return leaves[tree.k]
    if isinstance(tree, Static):
        return tree.value
    assert isinstance(tree, Node), tree
    return close_node(tree, [unflatten(c, leaves) for c in tree.children])


def close_node(node: Node, children: Sequence[Any]) -> Any:
    """A new container of this node with these children. Dataclasses are made without calling ``__init__``."""
    return _CLOSERS[node.kind](node, children)


def close_own(node: Node, children: Sequence[Any]) -> Any:
    """As `close_node`, for a caller that may change the container: its auxiliary data is a copy."""
    keys = tuple(Content(k.fresh()) for k in node.keys) if node.kind == "registered" else node.keys
    return close_node(Node(node.kind, (), keys, node.cls), children)


def kept(tree: Tree) -> Tree:
    """The structure with copies of mutable auxiliary data, so that later changes are not seen."""
    if isinstance(tree, Content):
        return tree if tree.lasts() else Content(tree.fresh())
    if not isinstance(tree, Node):
        return tree
    keys = tuple(map(kept, tree.keys)) if tree.kind == "registered" else tree.keys
    return Node(tree.kind, tuple(map(kept, tree.children)), keys, tree.cls)


def _close_registered(node: Node, children: Sequence[Any]) -> Any:
    assert node.cls is not None
    unflatten = REGISTERED[node.cls].unflatten
    assert unflatten is not None
    return unflatten(node.keys[0].value, tuple(children))


def _close_dataclass(node: Node, children: Sequence[Any]) -> Any:
    # not through __init__: a gradient need not satisfy the checks of __post_init__
    assert node.cls is not None
    value: Any = object.__new__(node.cls)
    for name, child in zip(node.keys, children):
        object.__setattr__(value, name, child.value if type(child) is Meta else child)
    return value


_CLOSERS: dict[str, Callable[[Node, Sequence[Any]], Any]] = {
    "tuple": lambda node, children: tuple(children),
    "list": lambda node, children: list(children),
    "dict": lambda node, children: (node.cls or dict)(zip(node.keys, children)),
    "namedtuple": lambda node, children: tuple.__new__(node.cls, children),  # type: ignore[arg-type]
    "dataclass": _close_dataclass,
    "registered": _close_registered,
}


# ------------------------------------------------------------------------------------------- work on structures


def leaf_numbers(tree: Tree) -> tuple[int, ...]:
    """The ``k`` of the leaves of a tree, from left to right."""
    return tuple(leaf.k for leaf in walk_leaves(tree) if isinstance(leaf, Leaf))


def walk_leaves(tree: Tree) -> Iterator[Leaf | ArgLeaf]:
    """The leaves of a tree, from left to right."""
    if isinstance(tree, (Leaf, ArgLeaf)):
        yield tree
    elif isinstance(tree, Node):
        for child in tree.children:
            yield from walk_leaves(child)


def has_content(tree: Tree) -> bool:
    """True if the tree has auxiliary data: a node of a registered class, or a field that belongs to the structure."""
    if isinstance(tree, Node):
        return tree.kind == "registered" or any(map(has_content, tree.children))
    return isinstance(tree, Content)


def map_leaves(tree: Tree, f: Callable[[Any], Any]) -> Any:
    """The tree with each leaf replaced by ``f(leaf)``: another leaf or a whole subtree."""
    if isinstance(tree, (Leaf, ArgLeaf)):
        return f(tree)
    if isinstance(tree, Node):
        return Node(tree.kind, tuple(map_leaves(c, f) for c in tree.children), tree.keys, tree.cls)
    return tree


def number_leaves(trees: Sequence[Tree], start: int = 0) -> tuple[list[Tree], list[Any]]:
    """The trees with their leaves replaced by `Leaf` numbers from ``start``, counted through all trees, and the list of the old
    leaves."""
    old: list[Any] = []

    def number(leaf: Any) -> Leaf:
        old.append(leaf)
        return Leaf(start + len(old) - 1, getattr(leaf, "zero_dim", False))

    return [map_leaves(t, number) for t in trees], old


def leaf_paths(tree: Tree, name: str) -> Iterator[tuple[str, Any]]:
    """``(text, leaf)`` for each leaf: the Python expression that reads it from a variable of this name.

    >>> [path for path, _ in leaf_paths(flatten({"w": [1.0, 2.0], "cfg": {"n": 3}})[1], "p")]
    ['p["w"][0]', 'p["w"][1]', 'p["cfg"]["n"]']
    """
    if not isinstance(tree, Node):
        if not isinstance(tree, Static):
            yield name, tree
        return
    for k, child in enumerate(tree.children):
        yield from leaf_paths(child, name + part_text(tree, k))


def part_text(tree: Node, k: int) -> str:
    """The Python text that reads child ``k``: ``["w"]``, ``[0]``, ``.w``; for a registered class ``.<0>``, which is not
    Python."""
    if tree.kind == "dict":
        key = tree.keys[k]
        return f'["{key}"]' if isinstance(key, str) and '"' not in key else f"[{key!r}]"
    if tree.kind == "registered":
        return f".<{k}>"
    return f".{tree.keys[k]}" if tree.kind in ("namedtuple", "dataclass") else f"[{k}]"


def structure_text(
    tree: Tree, leaf: Callable[[Any], str] = lambda leaf: "*", static: Callable[[Any], str] = repr
) -> str:
    """The structure as text for messages: ``{'w': *, 'b': (*, None)}``.

    ``leaf`` gives the text of a leaf, ``static`` that of a static value.
    """
    if isinstance(tree, (Leaf, ArgLeaf)):
        return leaf(tree)
    if isinstance(tree, Static):
        return static(tree.value)
    parts = [structure_text(c, leaf, static) for c in tree.children]
    if tree.kind == "dict":
        return "{" + ", ".join(f"{k!r}: {p}" for k, p in zip(tree.keys, parts)) + "}"
    if tree.kind == "list":
        return f"[{', '.join(parts)}]"
    if tree.kind == "tuple":
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    name = tree.cls.__name__ if tree.cls is not None else tree.kind
    if tree.kind == "registered":
        return f"{name}({', '.join(parts)})"
    return f"{name}({', '.join(f'{k}={p}' for k, p in zip(tree.keys, parts))})"
