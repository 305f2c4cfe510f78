"""The API reference: pages of Sphinx's autodoc for every public name, and what ``transpile --help`` says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = ("transpile", "lax", "random", "tree", "command-line-options")
SUBJECTS = {
    "Derivatives": "grad value_and_grad jvp vjp linearize linear_transpose",
    "Jacobians and Hessians": "jacfwd jacrev hessian hvp",
    "Compile and batch": "jit vmap",
    "Derivatives of your own": "custom_jvp custom_vjp stop_gradient",
    "Look inside": "source report eval_shape check_grads from_source",
    "Updates of arrays": "at",
    "Errors": "TranspileError Diagnostic",
}
"""The names of ``transpile`` in the order in which one meets them; a name that is not here comes last."""
NOTES = {"Errors": ("Every code, with an example and a way out, is in [Messages](../errors.md).", "")}
TITLES = {
    "control": "Control flow", "scans": "Scans", "implicit": "Solutions of equations", "running_folds": "Running sums",
    "slices": "Slices", "collectives": "Collectives", "keys": "Keys", "continuous": "Continuous distributions",
    "discrete": "Discrete distributions", "counts": "Counts", "gammas": "Gamma and its relatives",
    "quantiles": "By their quantiles",
}  # fmt: skip
"""By the module that defines a name of ``lax`` and ``random``."""
TITLES_OF_MODULES = {
    "lax": "Control flow (transpile.lax)",
    "random": "Random numbers (transpile.random)",
    "tree": "Containers (transpile.tree)",
}
COMMAND_LINE = """# Options of the command line

A file is read and never executed: the derivative of a function in it is written as Python source.

```sh
transpile grad model.py:loss --arg 'w=float64[d]' --arg 'x=float64[n,d]' --arg 'y=float64[n]' -o loss_grad.py
```
"""
COMMANDS = ("grad", "jvp", "vjp", "jacfwd", "jacrev", "hessian", "hvp", "vmap", "emit")


def pages() -> dict[str, str]:
    """The text of each page."""
    import transpile

    found = {"transpile": "\n".join(_page(transpile, "Transforms (transpile)", _by_subject(transpile)))}
    for name, title in TITLES_OF_MODULES.items():
        module = import_module(f"transpile.{name}")
        found[name] = "\n".join(_page(module, title, _by_module(module)))
    found["command-line-options"] = "\n".join(_command_line())
    return found


def _by_subject(module: Any) -> dict[str, list[str]]:
    found = {title: names.split() for title, names in SUBJECTS.items()}
    named = {name for names in found.values() for name in names}
    others = [n for n in module.__all__ if n not in named and not isinstance(getattr(module, n), ModuleType)]
    return {**found, **({"Others": others} if others else {})}


def _by_module(module: Any) -> dict[str, list[str]]:
    """The public names by the file in which they stand."""
    found: dict[str, list[str]] = {title: [] for title in TITLES.values()}
    for name in module.__all__:
        stem = getattr(getattr(module, name), "__module__", "").rpartition(".")[2]
        is_class = isinstance(getattr(module, name), type)
        found.setdefault("Classes" if is_class else TITLES.get(stem, "Functions"), []).append(name)
    return {title: names for title, names in found.items() if names}


def _page(module: Any, title: str, subjects: dict[str, list[str]]) -> Iterator[str]:
    path = module.__name__
    yield from (f"# {title}", "", "```{eval-rst}", f".. automodule:: {path}", "```", "")
    for heading, names in subjects.items():
        if len(subjects) > 1:
            yield from (f"## {heading}", "", *NOTES.get(heading, ()))
        yield "```{eval-rst}"
        for name in names:
            value = getattr(module, name)
            if isinstance(value, type):
                members = "" if issubclass(value, tuple) else "   :members:"
                yield from (f".. autoclass:: {path}.{name}", members, "")
            else:
                yield from (f".. autofunction:: {path}.{name}", "")
        yield from ("```", "")


def _command_line() -> Iterator[str]:
    yield COMMAND_LINE
    for command in ("", *COMMANDS):
        arguments = [*command.split(), "--help"]
        run = [sys.executable, "-m", "transpile", *arguments]
        paths = os.pathsep.join(map(str, (ROOT, ROOT / "runtime")))
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": paths}
        said = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
        heading = f"transpile {command}".strip()
        yield from (f"## {heading}", "", "```text", f"$ {heading} --help", said.stdout.strip(), "```", "")
