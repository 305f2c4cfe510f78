"""NumPy functions that are written in NumPy: where their sources are, and what stands for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def function(source: str) -> Callable[..., Any]:
    """The Python function that ``Entry.source`` names: in ``rules/library.py``, or ``module:name`` of the rules."""
    module, _, name = source.rpartition(":")
    if module:
        return getattr(import_module(f"transpile.rules.{module}"), name)
    for candidate in ("library", "library_special"):
        try:
            found = getattr(import_module(f"transpile.rules.{candidate}"), name, None)
        except ImportError:
            continue
        if found is not None:
            return found
    raise KeyError(source)
