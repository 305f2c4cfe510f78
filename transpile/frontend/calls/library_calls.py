"""NumPy functions that are written in NumPy: where their sources are, and what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.known import OWN_TEXT


def own_text(name: str) -> Callable[..., Any] | None:
    """The function of `transpile.lax` or `transpile.tree` that a dotted name means: plain Python, which is lifted."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last, None) if module.startswith(OWN_TEXT) else None


@cache
def function(source: str) -> Callable[..., Any]:
    """The Python function that ``Entry.source`` names: in ``numpy_api/library.py``, ``module:name`` of it, or anywhere."""
    module, _, name = source.rpartition(":")
    if module:
        return getattr(import_module(module if "." in module else f"transpile.numpy_api.{module}"), name)
    for candidate in ("library", "library_special"):
        try:
            found = getattr(import_module(f"transpile.numpy_api.{candidate}"), name, None)
        except ImportError:
            continue
        if found is not None:
            return found
    raise KeyError(source)


def call(lx: Lifter, source: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    """A function that is written in NumPy itself: lifted like the user's, its lines are those of the call."""
    target = function(source)
    around = lx.pinned, lx.certain
    lx.pinned, lx.certain = lx.pinned or lx.b.loc, lx.b.block
    try:
        return lx.user_call(target, args, kwargs, node)
    finally:
        lx.pinned, lx.certain = around
