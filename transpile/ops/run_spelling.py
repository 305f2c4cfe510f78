"""Evaluates a primitive on NumPy values by its own spelling."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from transpile.core.types import Type
from transpile.ops.spelling import Spelling
from transpile.ops.tables import prims


def run(name: str, values: Sequence[Any], params: Mapping[str, Any], types: Sequence[Type]) -> Any:
    """The result of the primitive of this name on these NumPy values, computed by its spelling."""
    return run_spelling(prims()[name].render, values, params, types)


def run_spelling(render: Any, values: Sequence[Any], params: Mapping[str, Any], types: Sequence[Type]) -> Any:
    """The result of a primitive's NumPy spelling on these values."""
    names = [f"_{k}" for k in range(len(values))]
    text = spelling(render, names, params, types)
    return eval(_compiled(text), {**_modules(), **dict(zip(names, values))})


def spelling(render: Any, names: Sequence[str], params: Mapping[str, Any], types: Sequence[Type]) -> str:
    """The text of a primitive's NumPy spelling (``render`` of its record) for operands of these names."""
    if isinstance(render, Spelling):
        return render.choose(params, types).format(*names, **params)
    if callable(render):
        return ast.unparse(ast.fix_missing_locations(render([ast.Name(n, ast.Load()) for n in names], params, types)))
    if render.startswith("op:"):
        sign = render[3:]
        return f"{sign}{names[0]}" if len(names) == 1 else f"{names[0]} {sign} {names[1]}"
    if render.startswith("reduce:"):
        axes = tuple(params["axes"])
        axis = axes[0] if len(axes) == 1 else axes
        return f"{render[7:]}({names[0]}, axis={axis}, keepdims={params['keepdims']})"
    return render.format(*names, **params)


@cache
def _compiled(text: str) -> Any:
    return compile(text, "<spelling>", "eval")


@cache
def _modules() -> dict[str, Any]:
    """The modules to which spellings refer, by name."""
    import math

    import scipy
    import scipy.linalg
    import scipy.special

    import transpile_runtime.random
    import transpile_runtime.special

    return {"np": np, "math": math, "scipy": scipy, "special": scipy.special, "transpile_runtime": transpile_runtime}
