"""Aliased arguments: an array twice, overlapping views, a list in two places, an object that the function reads outside.

Generated code assumes that the arguments of a call do not alias. If the function writes into one that aliases another, the
original function is run instead. A derivative with respect to each of them is not defined and is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from transpile.aggregates import flatten, open_node, unflatten
from transpile.base.captured import Place
from transpile.base.levels import level_of, peeled
from transpile.errors import TranspileError, error
from transpile.frontend.resolve.reads import MISSING, Read
from transpile.frontend.values.changes import SHARED

ndarray = np.ndarray


def overlap(values: Sequence[Any], pairs: Sequence[tuple[int, int]]) -> bool:
    """True if the arrays of some pair, indices into ``values``, share memory; the first of each pair is one that the function
    writes."""
    for k, j in pairs:
        a, b = values[k], values[j]
        if np.may_share_memory(a, b) and (a is b or np.shares_memory(a, b)):
            return True
    return False


def is_twice(args: Sequence[Any], reads: Sequence[Read] = ()) -> bool:
    """True if the same list, dict or object occurs twice in the arguments, or both in them and in what is read outside."""
    found = [id(v) for arg in args for v in _containers(arg)]
    if len(set(found)) < len(found):
        return True
    return any(id(v) in found for read in reads if read.tree is not None for v in _containers(read.now()))


def _containers(value: Any) -> Iterator[Any]:
    """Yields the lists, dicts and objects in a value, also itself, outer ones first."""
    opened = open_node(value) if value is not MISSING else None
    if opened is not None:
        kind, children, _, _ = opened
        if kind in ("list", "dict", "dataclass", "registered"):
            yield value
        for child in children:
            yield from _containers(child)


_copied: ContextVar[tuple[Any, ...]] = ContextVar("copied", default=())
are_copied = _copied.get


@contextmanager
def copied(values: Sequence[Any]) -> Iterator[None]:
    """A context for calls with copies of ``values``; meanwhile `refuse_copied` refuses functions that write their arguments and
    read ``values`` outside."""
    token = _copied.set(tuple(values))
    try:
        yield
    finally:
        _copied.reset(token)


def refuse_copied(target: Any, places: Sequence[Place], reads: Sequence[Read]) -> None:
    """Raises T123 if one of the values copied for this call (see `copied`) is also read outside, at ``places`` or by ``reads``,
    by the function, which changes its arguments."""
    given = are_copied()
    if not given:
        return
    outside = [place.read() for place in places]
    arrays = [v for v in flatten(given)[0] if isinstance(v, ndarray)]
    shared = any(isinstance(v, ndarray) and np.may_share_memory(a, v) for a in arrays for v in outside)
    if shared or is_twice(given, reads) and not is_twice(given):
        raise refusal(target)


def instead(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call with aliased arguments, by the user's function, untransformed; T123 if a level is more than `jit`: a
    derivative or a batched function."""
    if all(level.is_plain for level in peeled(target)[0]):
        return run_plain(target, args, kwargs)
    raise refusal(target)


def refusal(target: Any) -> TranspileError:
    """The T123 diagnostic for aliased arguments of ``target``, returned for the caller to raise."""
    from transpile.frontend.resolve.resolve import definition_loc

    while level_of(target) is not None:
        target = target.__wrapped__
    name = getattr(target, "__name__", "the function")
    hint = "pass a .copy() of one, or differentiate a function of one argument that passes it twice: lambda x: f(x, x)"
    return error("T123", f"{name!r} {SHARED}", definition_loc(target), hint)


def run_plain(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of the user's function under all transforms, run untransformed; its arrays are copies."""
    while level_of(target) is not None:
        target = target.__wrapped__
    leaves, tree = flatten(target(*args, **kwargs))
    return unflatten(tree, [np.array(v) if isinstance(v, ndarray) else v for v in leaves])
