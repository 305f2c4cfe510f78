"""Nodes of the text for Numba: constants, dtypes, elements of arrays."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from transpile.codegen.expression_nodes import LOAD, call, dotted, number, operator, shortest
from transpile.core import nodes as ir
from transpile.core.types import Type


def mentions(node: ast.expr, name: str) -> bool:
    """Whether the name ``name`` occurs in the node."""
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def attribute(node: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(node, name, LOAD)


def part(node: ast.expr, *indices: ast.expr) -> ast.expr:
    """The node of ``node[i]``, or of ``node[i, j]`` with several indices."""
    return ast.Subscript(node, indices[0] if len(indices) == 1 else ast.Tuple(list(indices), LOAD), LOAD)


def less_one(node: ast.expr, is_small: bool = True) -> ast.expr:
    """The node of ``node - 1``; unless ``is_small`` the difference may wrap, and is a call of ``scalars.minus``."""
    return operator("-", [node, number(1)]) if is_small else call(dotted("scalars.minus"), node, number(1))


def listed(nodes: Sequence[ast.expr]) -> Iterator[str | ast.expr]:
    """Yields the parts of a line that print the nodes separated by commas."""
    for k, node in enumerate(nodes):
        yield from (", ", node) if k else (node,)


def is_natural(type_: Type) -> bool:
    """Whether the dtype is float64, int64 or bool: Numba's arithmetic on it gives the same dtype, so that no cast is needed."""
    return type_.dtype in ("float64", "int64", "bool")


def dtype_node(dtype: str) -> ast.expr:
    """The expression ``np.float64`` for a dtype; ``np.bool_`` for "bool"."""
    return dotted("np.bool_" if dtype == "bool" else f"np.{dtype}")


def undefined(type_: Type) -> ast.expr:
    """The node of an arbitrary value of the type, which is never read: 0, or an array whose sizes are 0."""
    if type_.dims:
        return call(dotted("np.empty"), ast.Tuple([number(0)] * len(type_.dims), LOAD), dtype_node(type_.dtype))
    zeros = {"float64": 0.0, "int64": 0, "bool": False}
    known = zeros.get(type_.dtype)
    return call(dtype_node(type_.dtype), number(0)) if known is None else number(known)


def constant(op: ir.Const) -> ast.expr:
    """The node of a constant; a call such as ``np.float32(0.1)`` gives it its dtype, unless the literal has it."""
    value, dtype = op.value, op.type.dtype
    if isinstance(value, bool):
        return ast.Constant(value)
    node = number(shortest(value, dtype))
    if isinstance(value, float) and not math.isfinite(value):
        node = dotted("math.nan" if math.isnan(value) else "math.inf")
        node = ast.UnaryOp(ast.USub(), node) if value < 0 else node
    if dtype in ("float64", "int64"):
        return call(ast.Name("float", LOAD), node) if dtype == "float64" and isinstance(value, int) else node
    return call(dtype_node(dtype), node)
