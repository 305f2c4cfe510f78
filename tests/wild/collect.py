"""The documented functions of a package, and their examples run with another function in the place of each."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import pkgutil
import warnings
from collections.abc import Callable
from typing import Any

SKIPPED = (
    "numba",
    "vectorized",
    "units",
    "optional",
    "documentation",
)  # modules that need more than the package, or wrap it


def functions_of(package: str) -> dict[str, Callable[..., Any]]:
    """The functions of a package whose docstrings hold examples, by full name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in _modules(package):
        for value in vars(module).values():
            if inspect.isfunction(value) and value.__module__ == module.__name__ and examples_of(value):
                found.setdefault(f"{value.__module__}.{value.__qualname__}", value)
    return dict(sorted(found.items()))


def examples_of(function: Callable[..., Any]) -> list[doctest.Example]:
    try:
        return doctest.DocTestParser().get_examples(function.__doc__ or "")
    except ValueError:
        return []


def _modules(package: str) -> list[Any]:
    root = importlib.import_module(package)
    found = [root]
    for info in pkgutil.walk_packages(root.__path__, f"{package}."):
        if not any(part in info.name for part in SKIPPED):
            with contextlib.suppress(Exception):
                found.append(importlib.import_module(info.name))
    return found


def run_examples(function: Callable[..., Any], beside: Callable[..., Any]) -> None:
    """Runs the examples of a function; where they name it, they call ``beside``."""
    module = importlib.import_module(function.__module__)
    root = importlib.import_module(function.__module__.partition(".")[0])
    names = {**vars(root), **vars(module), function.__name__: beside}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for example in examples_of(function):
            if "+SKIP" in example.source:
                continue
            # an example may show an error, or need what is not installed; an import of the function brings the original back
            with contextlib.suppress(Exception):
                exec(compile(example.source, "<doctest>", "single"), names)
            if names.get(function.__name__) is function:
                names[function.__name__] = beside
