"""The call of a kept function as a primitive; of its derivatives, calls of other functions, the transforms know."""

from __future__ import annotations

import ast
from typing import Any

from transpile.core.dims import ANY
from transpile.core.functions import together
from transpile.core.types import Type
from transpile.ops.lowering_kinds import KeptCall
from transpile.ops.record import Op


def _type(types, params) -> Type:  # type: ignore[no-untyped-def]
    """The dtypes and ranks of the results; what their sizes are, the call knows (`transpile.core.functions.invoke`)."""
    results = params["routine"].results
    return together([t.with_dims(tuple(d if d.is_const else ANY for d in t.dims)) for t in results])


def _spelling(args, params, types) -> Any:  # type: ignore[no-untyped-def]
    name = ast.Name(params["routine"].name, ast.Load())
    name.is_variable = True  # type: ignore[attr-defined]  # defined in the module: nothing to import
    return ast.Call(name, list(args), [])


TABLE = [
    # invoke: params["routine"] called; several results are a tuple. The transforms call the derivatives of the routine, without a
    # rule from here (`transpile.transform.function_derivatives`).
    Op("invoke", _type, _spelling, kind="call", lowering=KeptCall(), jvp=None, vjp=None, cost=3, family="call"),
]
