"""Which arguments a callable takes, where its own rules do not say: a call that Python would refuse is refused here."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.values.convert import shown
from transpile.numpy_api import signatures

_ROOTS = (
    "builtins math operator numpy functools itertools dataclasses transpile".split()
)  # nothing else is imported for this


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
        raise lx.error("T132", f"{name}: {e}", node, parameters(found)) from None


def _check(
    lx: Lifter, name: str, found: inspect.Signature | None, args: Sequence[Any], kwargs: Mapping[str, Any], node: Any
) -> None:
    if found is not None:
        try:
            found.bind(*args, **kwargs)
        except TypeError as e:
            raise lx.error("T132", f"{name}: {e}", node, parameters(found)) from None


def parameters(found: inspect.Signature) -> str:
    """The hint for a call that does not fit: what the function takes."""
    names = [p.name for p in found.parameters.values() if p.name != "self"]
    return its_arguments(names)


def its_arguments(names: Sequence[str]) -> str:
    """``its arguments are x, y``."""
    if not names:
        return "it takes no arguments"
    return f"its argument{'s are' if len(names) > 1 else ' is'} {', '.join(names)}"


def signature(name: str) -> inspect.Signature | None:
    """The signature of a function; None where it is not known."""
    if name.startswith("builtins.") and name.count(".") > 1:
        return None  # a method of a known object: its signature has a self
    if name.partition(".")[0] not in _ROOTS or name.startswith("numpy.random."):
        return None  # a generator's methods come without it
    return signatures.signature(name)


@functools.lru_cache(maxsize=128)
def method_signature(kind: str, name: str) -> inspect.Signature | None:
    """The signature of a method, ``self`` included; None where it is not known."""
    if kind == "array":
        return signatures.signature(f"ndarray.{name}")
    owner = {"list": list, "dict": dict, "tuple": tuple}.get(kind)
    return _of(getattr(owner, name, None))


def _of(obj: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(obj)
    except (TypeError, ValueError):
        return None
