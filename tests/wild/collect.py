"""The documented functions of a package, and their examples run with another function in the place of each."""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib
import inspect
import io
import pkgutil
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SKIPPED = (
    "numba",
    "vectorized",
    "units",
    "optional",
    "documentation",
)  # modules that need more than the package, or wrap it


def functions_of(package: str, documented: bool = True) -> dict[str, Callable[..., Any]]:
    """The functions of a package, those whose docstrings hold examples or all, by full name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in _modules(package):
        for value in list(vars(module).values()):
            if (
                inspect.isfunction(value)
                and value.__module__ == module.__name__
                and (examples_of(value) or not documented)
            ):
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
    for info in pkgutil.walk_packages(getattr(root, "__path__", ()), f"{package}."):
        if not any(part in info.name for part in SKIPPED):
            with contextlib.suppress(Exception):
                found.append(importlib.import_module(info.name))
    return found


def guesses(function: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    """Arguments that a function may take of which nothing is known but how many it wants: numbers, vectors, matrices."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    with contextlib.suppress(ValueError, TypeError):
        wanted = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        count = len([p for p in wanted if p.kind in kinds])
        if any(p.kind is p.KEYWORD_ONLY for p in wanted) or not 1 <= count <= 6:
            return
        rng = np.random.default_rng(0)
        yield tuple(0.3 + 0.4 * k for k in range(1, count + 1))
        yield tuple(20.0 + 7.3 * k for k in range(1, count + 1))
        for shape in ((4,), (3, 3)):
            yield tuple(rng.uniform(0.2, 2.0, shape) for _ in range(count))
        yield tuple(np.sort(rng.normal(size=6)) for _ in range(count))
        for other in (2, 0.5):
            yield (rng.uniform(0.2, 2.0, 5), *(other for _ in range(count - 1)))


def run_guesses(function: Callable[..., Any], beside: Callable[..., Any], calls: int = 4) -> None:
    """Calls ``beside`` with the first of the guessed arguments that the function takes."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for args in guesses(function):
            try:
                function(*copy.deepcopy(args))
            except Exception:
                continue
            beside(*args)
            calls -= 1
            if not calls:
                return


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
            for name, value in list(names.items()):
                if value is function:
                    names[name] = beside
                elif inspect.ismodule(value) and vars(value).get(function.__name__) is function:
                    names[name] = _Module(value, function.__name__, beside)


class _Module:
    """A module with another function in the place of one."""

    def __init__(self, module: Any, name: str, beside: Any) -> None:
        self.module = module
        setattr(self, name, beside)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.module, name)
