"""Functions on trees: nested Python containers whose leaves are arrays and numbers. The names are those of ``jax.tree``.

Tuples, lists, dicts (leaves in the order of sorted keys), named tuples, dataclasses and instances of registered classes are
containers; None is a tree without leaves; any other object is a leaf. Transformed functions may call these functions: the
structure of a tree is known when a function is transformed, so that only the operations on leaves remain in the generated code.
A tree that does not have the expected structure raises `TranspileError` T203.

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
    """``(leaves, structure)`` of a tree; a subtree for which ``is_leaf(subtree)`` is true counts as one leaf.

    >>> flatten({"b": (1.0, None), "a": 2.0})
    ([2.0, 1.0], TreeDef({'a': *, 'b': (*, None)}))
    """
    found: list[Any] = []
    return found, treedef.flatten(tree, is_leaf, found)


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """The tree of a structure with these leaves, the inverse of `flatten`; T203 if their number is wrong.

    >>> unflatten(structure({"b": (1.0, None), "a": 2.0}), [10, 20])
    {'b': (20, None), 'a': 10}
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The list of the leaves of a tree, those of a dict in the order of its sorted keys; ``is_leaf`` is as for `flatten`.

    >>> leaves([1.0, None, (2.0, {"z": 3.0})])
    [1.0, 2.0, 3.0]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> TreeDef:
    """The structure of a tree: a `TreeDef`, which can be compared, and filled by `unflatten`; ``is_leaf`` is as for `flatten`.

    >>> structure((1.0, [2.0])) == structure((3.0, [4.0]))
    True
    """
    return flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """A tree like ``tree`` with ``f(leaf, ...)`` in the place of each leaf; further arguments of ``f`` come from ``rest``.

    Each tree of ``rest`` has the structure of ``tree`` (T203), or subtrees in the place of its leaves, which ``f`` then
    receives. ``is_leaf`` is as for `flatten`, for ``tree``.

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
    """As `map`, with ``f(path, leaf, ...)``.

    A path is a tuple of `DictKey`, `SequenceKey`, `GetAttrKey` and `FlattenedIndexKey`. With ``is_leaf_takes_path`` the test is
    called as ``is_leaf(path, subtree)``.

    >>> map_with_path(lambda path, x: keystr(path), {"w": [1.0, 2.0]})
    {'w': ["['w'][0]", "['w'][1]"]}
    """
    asked = is_leaf if is_leaf is None or is_leaf_takes_path else lambda path, subtree: is_leaf(subtree)
    first: list[Any] = []
    shape = treedef.flatten_with_paths(tree, asked, (), first)
    others = [shape.flatten_up_to(other) for other in rest]
    return shape.unflatten([f(path, leaf, *together) for (path, leaf), *together in zip(first, *others)])


def keystr(keys: Sequence[Any]) -> str:
    """The text of a path, as written in Python.

    >>> keystr((DictKey("w"), SequenceKey(0), GetAttrKey("bias")))
    "['w'][0].bias"
    """
    return "".join(str(key) for key in keys)


def reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _MISSING, is_leaf: IsLeaf = None) -> Any:
    """The leaves combined from the left, ``function(function(a, b), c)``, beginning with ``initializer`` if it is given;
    without it TypeError for a tree without leaves. ``is_leaf`` is as for `flatten`.

    >>> reduce(lambda a, b: a + b, {"a": 1, "b": (2, 3)}), reduce(lambda a, b: a + b, [], 0)
    (6, 0)
    """
    given = () if initializer is _MISSING else (initializer,)
    return functools.reduce(function, leaves(tree, is_leaf), *given)


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """True if all leaves are true; ``is_leaf`` is as for `flatten`.

    >>> all({"a": True, "b": 1}), all((True, [False]))
    (True, False)
    """
    return builtins.all(leaves(tree, is_leaf))


def transpose(outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: Any) -> Any:
    """A tree of trees turned inside out: the inner structure, with a tree of the outer structure in the place of each leaf.

    ``inner_treedef=None`` takes the inner structure of the first part. T203 if the tree does not have both structures.

    >>> transpose(structure([0, 0]), structure({"a": 0, "b": 0}), [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    try:
        parts = outer_treedef.flatten_up_to(pytree_to_transpose)
        if inner_treedef is None:
            if not parts:
                raise error("T203", "a tree without leaves has no first part, whose structure the inner one would be")
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
    """``(flat, unravel)``: all leaves in one array of rank 1, and the function that makes a tree of such an array again.

    ``unravel`` gives NumPy scalars for numbers. If all leaves have one dtype, the leaves of ``unravel(x)`` have the dtype of
    ``x``; otherwise each has its own, and ``x`` must have the dtype of ``flat`` (TypeError).

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
    """Registers a class, so that its instances are containers.

    ``flatten_func(x)`` returns ``(children, aux)``, where ``aux`` can be compared and belongs to the structure;
    ``unflatten_func(aux, children)`` returns an instance; ``flatten_with_keys_func(x)``, if given, returns ``(key, child)``
    pairs and ``aux``, for `map_with_path`. In transformed functions they are transformed like any other. Raises
    ValueError if the class is already registered.

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
    """Registers a class by its fields, and returns it, so that it can be used as a decorator.

    ``data_fields`` hold trees, ``meta_fields`` belong to the structure, ``drop_fields`` are neither. Without the first two,
    those of a dataclass are taken: a field with ``metadata={"static": True}`` belongs to the structure, the others hold trees.
    (All fields of a dataclass that is not registered hold trees.) Raises TypeError if the fields do not match the dataclass,
    ValueError if the class is already registered.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(metadata={"static": True})
    >>> map(lambda x: 2 * x, Layer(1.5, "first"))
    Layer(w=3.0, name='first')
    """
    if (data_fields is None) != (meta_fields is None):
        raise TypeError("pass both data_fields and meta_fields, or neither")
    own = [f for f in dataclasses.fields(nodetype) if f.init] if dataclasses.is_dataclass(nodetype) else None
    if data_fields is None or meta_fields is None:
        if own is None:
            raise TypeError(f"{nodetype.__name__} is not a dataclass: pass data_fields and meta_fields")
        meta_fields = [f.name for f in own if f.metadata.get("static", False)]
        data_fields = [f.name for f in own if f.name not in (*meta_fields, *drop_fields)]
    if own is not None:
        given, wanted = {*data_fields, *meta_fields, *drop_fields}, {f.name for f in own}
        if given != wanted:
            raise TypeError(f"the fields of {nodetype.__name__} are {sorted(wanted)}, but {sorted(given)} are named")
    named = Counter([*data_fields, *meta_fields, *drop_fields])
    twice = [name for name, count in named.items() if count > 1]
    if twice:
        raise TypeError(f"fields of {nodetype.__name__} are named twice: {', '.join(twice)}")
    _register(nodetype, Registered(fields=tuple(data_fields), meta=tuple(meta_fields)))
    return nodetype


def _register(cls: type, how: Registered) -> None:
    """Adds the class to `REGISTERED` with its registration ``how``; T411 if it is no class, ValueError if it is there
    already."""
    if not isinstance(cls, type):
        raise error("T411", f"expected a class, got {type(cls).__name__}", hint="pass the class, not an instance")
    if cls in REGISTERED:
        raise ValueError(f"class {cls.__name__} is already registered")
    REGISTERED[cls] = how


def __getattr__(name: str) -> Any:
    raise missing(__name__, name)
