"""Builders of small expression nodes, from which all printed code is made."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

LOAD = ast.Load()
OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "@": ast.MatMult, "**": ast.Pow,
    "|": ast.BitOr, "^": ast.BitXor, "&": ast.BitAnd, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip
UNARY: dict[str, type[ast.unaryop]] = {"-": ast.USub, "~": ast.Invert, "+": ast.UAdd}


def variable(name: str) -> ast.expr:
    """A new ``Name`` node of a variable, marked so that `Imports` never takes it for a module or builtin of that name."""
    node = ast.Name(name, ast.Load())
    node.is_variable = True  # type: ignore[attr-defined]
    return node


def dotted(name: str) -> ast.expr:
    """The node of a name or of a path of attributes such as ``a.b.c``; its head is not marked as a variable."""
    head, *rest = name.split(".")
    node: ast.expr = ast.Name(head, ast.Load())
    for part in rest:
        node = ast.Attribute(node, part, ast.Load())
    return node


def number(value: int | float) -> ast.expr:
    """The node of a number. A negative number, or -0.0, is a unary minus, since ``-1 ** 2`` is not ``(-1) ** 2``."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and (value < 0 or repr(value) == "-0.0"):
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def shortest(value: Any, dtype: str) -> Any:
    """The shortest Python float that rounds to the value in this dtype: 0.1 for the float32 0.10000000149011612.

    Only for float16 and float32; other dtypes, infinity and NaN give ``value`` unchanged.
    """
    if dtype not in ("float16", "float32") or not np.isfinite(value):
        return value
    kind = np.dtype(dtype).type
    found = float(str(kind(value)))
    return found if kind(found) == value else value


def call(fn: ast.expr, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """The node of ``fn(*args, **keywords)``, whose keywords stand in the order given."""
    return ast.Call(fn, list(args), [ast.keyword(k, v) for k, v in keywords.items()])


def boolean(op: ast.boolop, *values: ast.expr) -> ast.expr:
    """The node of ``and`` or ``or``, as ``op`` says; operands that have the same operator are flattened into it."""
    flat: list[ast.expr] = []
    for value in values:
        flat += value.values if isinstance(value, ast.BoolOp) and type(value.op) is type(op) else [value]
    return ast.BoolOp(op, flat)


def operator(sign: str, args: Sequence[ast.expr]) -> ast.expr:
    """The node of the operator ``sign`` with one or two operands; if the first operand of ``==`` or ``!=`` is a constant, they
    are swapped."""
    if len(args) == 1:
        return ast.UnaryOp(UNARY[sign](), args[0])
    if sign in ("==", "!=") and isinstance(args[0], ast.Constant):
        args = args[::-1]
    if sign in COMPARISONS:
        return ast.Compare(args[0], [COMPARISONS[sign]()], [args[1]])
    return ast.BinOp(args[0], OPERATORS[sign](), args[1])
