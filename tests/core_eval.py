"""Core functions run on NumPy: the package's evaluator with the primitives that there are.

>>> import numpy as np
>>> from transpile.core import nodes as ir
>>> from transpile.core.builder import Builder
>>> from transpile.core.dims import Dim
>>> from transpile.core.types import Type
>>> from transpile.ops.tables import prims
>>> b, x = Builder(prims()), ir.Var("x", Type("float64", (Dim.of(3),)))
>>> y = b.let("sum", x, axes=(0,), keepdims=False)
>>> evaluate(ir.Function("f", (x,), ir.Block(stmts=b.block.stmts, yields=(y.op,)), {}), np.arange(3.0))
(np.float64(3.0),)
"""

from __future__ import annotations

from typing import Any

from transpile.core import evaluate as evaluator
from transpile.core import nodes as ir
from transpile.ops.run_spelling import run, run_spelling
from transpile.simplify.expansion import expanded

__all__ = ["evaluate", "run_spelling"]


def evaluate(fn: ir.Function, *args: Any, strict: bool = False) -> tuple[Any, ...]:
    """The results of ``fn``, one for each yield."""
    return evaluator.evaluate(expanded(fn), args, run, strict)
