"""Which arguments a callable takes, where its own rules do not say: a call that Python would refuse is refused here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import known
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values.convert import shown

_ROOTS = "builtins math operator numpy functools itertools transpile".split()  # nothing else is imported for this


def check(lx: Lifter, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], node: Any) -> None:
    """T132 where the function of this dotted name would not take the arguments."""
    _check(lx, shown(name), signature(name), args, kwargs, node)


def check_method(
    lx: Lifter, kind: str, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], node: Any = None
) -> None:
    """The same of a method of an array, a list, a dict or a tuple."""
    found = method_signature(kind, name)
    _check(lx, f"{kind}.{name}", found, [None, *args] if found is not None else args, kwargs, node)


def bound(
    lx: Lifter, name: str, found: inspect.Signature, args: Sequence[Any], kwargs: Mapping[str, Any], node: Any
) -> dict[str, Any]:
    """The arguments by the names of the parameters; T132 where they do not fit."""
    try:
        return dict(found.bind(*args, **kwargs).arguments)
    except TypeError as e:
        raise lx.error("T132", f"{name}: {e}", node) from None


def _check(
    lx: Lifter, name: str, found: inspect.Signature | None, args: Sequence[Any], kwargs: Mapping[str, Any], node: Any
) -> None:
    if found is not None:
        try:
            found.bind(*args, **kwargs)
        except TypeError as e:
            raise lx.error("T132", f"{name}: {e}", node) from None


@functools.lru_cache(maxsize=1024)
def signature(name: str) -> inspect.Signature | None:
    """The signature of a function; None where it is not known."""
    if name in _FUNCTIONS:
        return inspect.signature(_FUNCTIONS[name])
    if name.partition(".")[0] not in _ROOTS or name.startswith(
        "numpy.random."
    ):  # a generator's methods come without it
        return None
    return _of(known.known_value(Known(name)))


@functools.lru_cache(maxsize=128)
def method_signature(kind: str, name: str) -> inspect.Signature | None:
    """The signature of a method, ``self`` included; None where it is not known."""
    if kind == "array":
        return inspect.signature(_METHODS[name]) if name in _METHODS else None
    owner = {"list": list, "dict": dict, "tuple": tuple}.get(kind)
    return _of(getattr(owner, name, None))


def _of(obj: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(obj)
    except (TypeError, ValueError):
        return None


# Python does not say it of these.
_FUNCTIONS: dict[str, Any] = {
    "builtins.max": lambda first, /, *more, key=None, default=None: 0,
    "builtins.min": lambda first, /, *more, key=None, default=None: 0,
    "builtins.range": lambda a, b=0, c=0, /: 0,
    "builtins.map": lambda function, first, /, *more: 0,
    "builtins.filter": lambda function, items, /: 0,
    "builtins.dict": lambda items=(), /, **more: 0,
    "builtins.bool": lambda x=0, /: 0,
    "builtins.int": lambda x=0, /, base=10: 0,
    "builtins.getattr": lambda obj, name, default=None, /: 0,
    "builtins.type": lambda obj, /: 0,
    "builtins.zip": lambda *items, strict=False: 0,
    "functools.partial": lambda function, /, *args, **kwargs: 0,
    "functools.reduce": lambda function, items, initial=None, /: 0,
    "dataclasses.replace": lambda obj, /, **changes: 0,
    "itertools.product": lambda *items, repeat=1: 0,
}
_METHODS: dict[str, Any] = {
    "fill": lambda self, value, /: 0,
    "sort": lambda self, axis=-1, kind=None, order=None, *, stable=None: 0,
    "astype": lambda self, dtype, order="K", casting="unsafe", subok=True, copy=True: 0,
    "tolist": lambda self: 0,
    "copy": lambda self, order="C": 0,
    "swapaxes": lambda self, axis1, axis2, /: 0,
}
