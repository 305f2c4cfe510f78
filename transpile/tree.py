"""Trees: Python containers of arrays, worked on leaf by leaf. Names and meaning are those of ``jax.tree``.

Tuples, lists, dicts (leaves in the order of the sorted keys), named tuples, dataclasses and instances of registered classes are
containers; None is a tree without leaves; all else is a leaf. In transformed code the functions unroll: what stands in the
program is the work on the leaves.

>>> import numpy as np
>>> params = {"w": np.array([1.0, 2.0]), "b": 0.5}
>>> map(lambda p, g: p - 0.1 * g, params, {"w": np.ones(2), "b": 1.0})
{'w': array([0.9, 1.9]), 'b': 0.4}
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from transpile.aggregates import REGISTERED, Registered
from transpile.base import treedef
from transpile.base.jax_names import missing
from transpile.base.treedef import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, TreeDef
from transpile.base.unravel import Unravel
from transpile.errors import TranspileError, error

__all__ = [
    "DictKey", "FlattenedIndexKey", "GetAttrKey", "SequenceKey", "TreeDef", "all", "flatten", "keystr", "leaves", "map",
    "map_with_path", "ravel_pytree", "reduce", "register_dataclass", "register_node", "structure", "transpose", "unflatten",
]  # fmt: skip

C = TypeVar("C", bound=type)
IsLeaf = Callable[[Any], bool] | None
_MISSING: Any = object()


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeDef]:
    """The leaves of a tree, and its structure. ``is_leaf(subtree)`` says what is a leaf too.

    >>> flatten({"b": (1.0, None), "a": 2.0})
    ([2.0, 1.0], TreeDef({'a': *, 'b': (*, None)}))
    """
    found: list[Any] = []
    return found, treedef.flatten(tree, is_leaf, found)


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with these leaves; the inverse of `flatten`. T203 if there are more or fewer leaves.

    >>> unflatten(structure({"b": (1.0, None), "a": 2.0}), [10, 20])
    {'b': (20, None), 'a': 10}
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree.

    >>> leaves([1.0, None, (2.0, {"z": 3.0})])
    [1.0, 2.0, 3.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> TreeDef:
    """The structure of a tree, to be compared or filled again.

    >>> structure((1.0, [2.0])) == structure((3.0, [4.0]))
    True
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """The tree with ``f(leaf, ...)`` for each leaf. Each tree of ``rest`` has the structure of ``tree``, or goes on below its
    leaves; T203 if not.

    >>> map(lambda x, y: x + y, (1, [2]), (10, [20]))
    (11, [22])
    """
    first, shape = flatten(tree, is_leaf)
    others = [shape.flatten_up_to(other) for other in rest]
    return shape.unflatten([f(*together) for together in zip(first, *others)])


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """As `map` with ``f(path, leaf, ...)``; a path is a tuple of `DictKey`, `SequenceKey`, `GetAttrKey` and `FlattenedIndexKey`.
    With ``is_leaf_takes_path`` it is ``is_leaf(path, subtree)`` that says what is a leaf too.

    >>> map_with_path(lambda path, x: keystr(path), {"w": [1.0, 2.0]})
    {'w': ["['w'][0]", "['w'][1]"]}
    """
    asked = is_leaf if is_leaf is None or is_leaf_takes_path else lambda path, subtree: is_leaf(subtree)
    first: list[Any] = []
    shape = treedef.flatten_with_paths(tree, asked, (), first)
    others = [shape.flatten_up_to(other) for other in rest]
    return shape.unflatten([f(path, leaf, *together) for (path, leaf), *together in zip(first, *others)])


def keystr(keys: Sequence[Any]) -> str:
    """A path as it is written in Python.

    >>> keystr((DictKey("w"), SequenceKey(0), GetAttrKey("bias")))
    "['w'][0].bias"
    """
    return "".join(str(key) for key in keys)


def reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _MISSING, is_leaf: IsLeaf = None) -> Any:
    """The leaves folded from the left.

    >>> reduce(lambda a, b: a + b, {"a": 1, "b": (2, 3)}), reduce(lambda a, b: a + b, [], 0)
    (6, 0)
    """
    given = () if initializer is _MISSING else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *given)


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves are true.

    >>> all({"a": True, "b": 1}), all((True, [False]))
    (True, False)
    """
    return builtins.all(leaves(tree, is_leaf))


def transpose(outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: Any) -> Any:
    """A tree of trees, inside out: the inner structure (None: that of the first) of the outer one. T203 if it does not have both.

    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    try:
        parts = outer_treedef.flatten_up_to(pytree_to_transpose)
        if inner_treedef is None:
            inner_treedef = structure(parts[0])
        rows = [inner_treedef.flatten_up_to(part) for part in parts]
    except TranspileError:
        found = (
            None
            if inner_treedef is None
            else treedef.counted(outer_treedef, inner_treedef, leaves(pytree_to_transpose))
        )
        if inner_treedef is None or found is None:
            raise
        rows = found
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in zip(*rows)])


# ------------------------------------------------------------------------------------------------------------ ravel


def ravel_pytree(pytree: Any) -> tuple[Any, Callable[[Any], Any]]:
    """All leaves as one array of rank 1, and the function that makes a tree of such an array again. Numbers come back as NumPy's.
    Leaves of one dtype are then of that of the array that is given; if they are of several, an array of another dtype than the
    one made here is a TypeError.

    >>> flat, unravel = ravel_pytree({"w": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> flat, unravel(10 * flat)
    (array([3., 1., 2.]), {'w': array([[10., 20.]]), 'b': np.float64(30.0)})
    """
    found, shape = flatten(pytree)
    shapes = tuple(np.shape(leaf) for leaf in found)
    dtypes = tuple(np.result_type(leaf) for leaf in found)
    flat = np.concatenate([np.ravel(leaf) for leaf in found]) if found else np.zeros(0)
    return flat, Unravel(shape, shapes, dtypes)


# ----------------------------------------------------------------------------------------------------- registration


def register_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, tuple[Any, ...]], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Makes the instances of a class containers. ``flatten_func(x) -> (children, aux)``, ``unflatten_func(aux, children) -> x``;
    ``aux`` belongs to the structure and can be compared. In transformed code both functions are lifted like any other. ValueError
    if the class is registered already.

    >>> class Line:
    ...     def __init__(self, slope, start):
    ...         self.slope, self.start = slope, start
    >>> register_node(Line, lambda line: ((line.slope, line.start), None), lambda aux, children: Line(*children))
    >>> leaves([Line(1.0, 2.0), 3.0])
    [1.0, 2.0, 3.0]
    """
    _register(nodetype, Registered(flatten_func, unflatten_func, flatten_with_keys_func))


def register_dataclass(
    nodetype: C,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> C:
    """Says which fields of a class hold trees and which belong to the structure; gives the class back, so that it can be a
    decorator. Without ``data_fields`` and ``meta_fields`` those of a dataclass are found: a field with ``metadata={"static":
    True}`` belongs to the structure. (A dataclass that is not registered has all its fields as children.) TypeError if fields are
    missing.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(metadata={"static": True})
    >>> map(lambda x: 2 * x, Layer(1.5, "first"))
    Layer(w=3.0, name='first')
    """
    if (data_fields is None) != (meta_fields is None):
        raise TypeError("give data_fields and meta_fields, or neither")
    own = [f for f in dataclasses.fields(nodetype) if f.init] if dataclasses.is_dataclass(nodetype) else None
    if data_fields is None or meta_fields is None:
        if own is None:
            raise TypeError(f"{nodetype.__name__} is no dataclass: give data_fields and meta_fields")
        meta_fields = [f.name for f in own if f.metadata.get("static", False)]
        data_fields = [f.name for f in own if f.name not in (*meta_fields, *drop_fields)]
    if own is not None:
        given, wanted = {*data_fields, *meta_fields, *drop_fields}, {f.name for f in own}
        if given != wanted:
            raise TypeError(f"{nodetype.__name__} has the fields {sorted(wanted)}, {sorted(given)} are named")
    named = Counter([*data_fields, *meta_fields, *drop_fields])
    twice = [name for name, count in named.items() if count > 1]
    if twice:
        raise TypeError(f"fields of {nodetype.__name__} are named twice: {', '.join(twice)}")
    _register(nodetype, Registered(fields=tuple(data_fields), meta=tuple(meta_fields)))
    return nodetype


def _register(cls: type, how: Registered) -> None:
    if not isinstance(cls, type):
        raise error("T411", f"expected a class, got {type(cls).__name__}")
    if cls in REGISTERED:
        raise ValueError(f"class {cls.__name__} is registered already")
    REGISTERED[cls] = how


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
