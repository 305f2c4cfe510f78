"""What values are made of: a shell, which is known now, and parts, which are values again.

Whoever carries values through loops, joins them where paths meet or asks what they reach looks at the parts of all of them in the
same way. Lists, dicts and instances are not among them: what they hold is a state of their cell.

>>> shell(Method(Scalar(None), "sum")), parts(Method(Scalar(None), "sum"))
(('method', 'sum'), (Scalar(op=None),))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from transpile.base.levels import peeled
from transpile.frontend.values.stand import Stand, opened, stacked
from transpile.frontend.values.values import (
    Bound,
    Closure,
    Generator,
    Iteration,
    Method,
    RangeOf,
    Scalar,
    SliceOf,
    Static,
    Super,
    Text,
    Tuple,
    Updates,
)

Parts = tuple[Any, ...]


def shell(value: Any) -> Any:
    """What a value is beside its parts, to be compared; None of a value without parts."""
    made = _kind(value)
    return None if made is None else made.shell(value)


def parts(value: Any) -> Parts:
    """The values that a value is made of."""
    made = _kind(value)
    return () if made is None else made.parts(value)


def with_parts(value: Any, new: Parts) -> Any:
    """The value with others in the places of its parts."""
    made = _kind(value)
    return value if made is None else made.again(value, new)


def is_iterator(value: Any) -> bool:
    """Whether a value gives its items once, and remembers in its cell who took them."""
    return isinstance(value, (Iteration, Generator)) and value.cell is not None


@dataclass(frozen=True)
class _Kind:
    shell: Callable[[Any], Any]
    parts: Callable[[Any], Parts]
    again: Callable[[Any, Parts], Any]


def _kind(value: Any) -> _Kind | None:
    if type(value) is Static:
        return _TRANSFORMED if opened(value) is not None else None
    return None if is_iterator(value) else _KINDS.get(type(value))


def _transformed(value: Static, new: Parts) -> Static:
    levels, function = peeled(value.value)
    return stacked(levels, Stand(new[0], function.lifter))


_TRANSFORMED = _Kind(  # functions of the lifter under transforms
    lambda v: ("transformed", *peeled(v.value)[0]), lambda v: (peeled(v.value)[1].value,), _transformed
)


def _bound(value: Bound, new: Parts) -> Bound:
    count = len(value.args)
    kwargs = zip((name for name, _ in value.kwargs), new[1 + count :])
    return Bound(new[0], new[1 : 1 + count], tuple(kwargs))


def _closure(value: Closure, new: Parts) -> Closure:
    count = len(value.defaults)
    return replace(value, defaults=new[:count], kw_defaults=dict(zip(value.kw_defaults, new[count:])))


def _slice(value: SliceOf, new: Parts) -> SliceOf:
    given = iter(new)
    return SliceOf(*(None if k is None else next(given) for k in (value.start, value.stop, value.step)))


def _bounds(value: SliceOf) -> Parts:
    return tuple(k for k in (value.start, value.stop, value.step) if k is not None)


_KINDS: dict[type, _Kind] = {
    Tuple: _Kind(lambda v: ("tuple", v.cls, len(v.items)), lambda v: v.items, lambda v, new: Tuple(new, v.cls)),
    Bound: _Kind(
        lambda v: ("bound", len(v.args), tuple(name for name, _ in v.kwargs)),
        lambda v: (v.function, *v.args, *(part for _, part in v.kwargs)),
        _bound,
    ),
    Closure: _Kind(
        lambda v: ("closure", v.code, v.frame, tuple(v.kw_defaults)),
        lambda v: (*v.defaults, *v.kw_defaults.values()),
        _closure,
    ),
    RangeOf: _Kind(
        lambda v: ("range",),
        lambda v: (Scalar(v.start), Scalar(v.stop), Scalar(v.step)),
        lambda v, new: RangeOf(*(part.op for part in new)),
    ),
    SliceOf: _Kind(lambda v: ("slice", v.start is None, v.stop is None, v.step is None), _bounds, _slice),
    Method: _Kind(lambda v: ("method", v.name), lambda v: (v.owner,), lambda v, new: Method(new[0], v.name)),
    Updates: _Kind(
        lambda v: ("updates", v.index is None),
        lambda v: (v.owner,) if v.index is None else (v.owner, v.index),
        lambda v, new: Updates(*new),
    ),
    Iteration: _Kind(lambda v: ("view", v.kind), lambda v: v.parts, lambda v, new: Iteration(v.kind, new)),
    Text: _Kind(
        lambda v: ("text", v.parts),
        lambda v: tuple(map(Scalar, v.ops)),
        lambda v, new: Text(v.parts, tuple(part.op for part in new)),
    ),
    Super: _Kind(lambda v: ("super", v.cls), lambda v: (v.owner,), lambda v, new: Super(v.cls, new[0])),
}
