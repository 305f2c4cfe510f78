"""Scalar functions made of functions with any result: the sum of its float leaves with fixed weights.

The text is written to a file and names each leaf by its path, as a user would write it, since this text is transformed.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from differences import floats, is_float, is_scalar

from transpile.aggregates import open_node


def scalarised(f: Callable, args: tuple, value: Any, folder: Path, name: str = "weighted") -> Callable:
    """``f`` itself if its result is one float; else a function of the same arguments that returns a number."""
    if isinstance(value, float):
        return f
    rng = np.random.default_rng(7)
    weights = {f"w{k}": rng.normal(size=np.shape(leaf)) + 0.5 for k, leaf in enumerate(floats(value))}
    terms = []
    for (k, leaf), path in zip(enumerate(floats(value)), float_paths(value)):
        weights[f"w{k}"] = np.asarray(weights[f"w{k}"], np.asarray(leaf).dtype)
        if is_scalar(leaf):
            weights[f"w{k}"] = float(weights[f"w{k}"])
        terms.append(f"w{k} * {path}" if is_scalar(leaf) else f"np.sum(w{k} * {path})")
    names = ", ".join(f"a{k}" for k in range(len(args)))
    lines = [
        "import numpy as np",
        "",
        "",
        f"def weighted({names}):",
        f"    y = fn({names})",
        f"    return {' + '.join(terms) or '0.0'}",
        "",
    ]
    return made("\n".join(lines), name, folder, {"fn": f, **weights})["weighted"]


def made(text: str, name: str, folder: Path, names: dict[str, Any]) -> dict[str, Any]:
    """The namespace of a module with this text, with ``names`` as globals."""
    name = name.replace(".", "_")
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__.update(names)
    sys.modules[name] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module.__dict__


def float_paths(value: Any, path: str = "y") -> list[str]:
    """The expression for each float leaf of the result, such as ``y[0]['w']``."""
    found = open_node(value)
    if found is None:
        return [path] if is_float(value) else []
    kind, children, keys, _ = found
    paths: list[str] = []
    for k, child in enumerate(children):
        step = (
            f".{keys[k]}" if kind in ("namedtuple", "dataclass") else f"[{keys[k]!r}]" if kind == "dict" else f"[{k}]"
        )
        paths += float_paths(child, path + step)
    return paths
