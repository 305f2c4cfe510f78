"""Spellings of primitives as nodes: templates over ``{0}`` (operands) and ``{axis}`` (params), parsed once.

>>> x = ast.BinOp(ast.Name("a", ast.Load()), ast.Add(), ast.Name("b", ast.Load()))
>>> ast.unparse(fill("{0}.sum(axis={axis})", [x], {"axis": (0, 1)}))
'(a + b).sum(axis=(0, 1))'
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from copy import copy
from functools import lru_cache
from typing import Any

from transpile.codegen.expression_nodes import number

_FIELD = re.compile(r"\{(\w+)\}")


def fill(template: str, operands: Sequence[ast.expr], params: Mapping[str, Any]) -> ast.expr:
    """The node of the template: ``{0}`` is an operand, ``{axis}`` the param of that name as a literal, or an attribute's name.

    The operands become part of the result, uncopied.
    """
    return _filled(_parsed(template), operands, params)


@lru_cache(maxsize=1024)
def _parsed(template: str) -> ast.expr:
    """The template as a tree, shared between calls, in which the field ``x`` is the name or attribute ``_field_x``."""
    text = _FIELD.sub(r"_field_\1", template).replace("{{", "{").replace("}}", "}")
    return ast.parse(text, mode="eval").body


def _filled(node: Any, operands: Sequence[ast.expr], params: Mapping[str, Any]) -> Any:
    """A copy of a tree, or list of trees, with its fields replaced; the inserted nodes are not copied."""
    if isinstance(node, ast.Name) and node.id.startswith("_field_"):
        field = node.id[len("_field_") :]
        return operands[int(field)] if field.isdigit() else literal(params[field])
    if isinstance(node, list):
        return [_filled(n, operands, params) for n in node]
    if not isinstance(node, ast.AST):
        return node
    new = copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, (ast.AST, list)):
            setattr(new, name, _filled(value, operands, params))
        elif name == "attr" and value.startswith("_field_"):
            setattr(new, name, str(params[value[len("_field_") :]]))
    return new


def literal(value: Any) -> ast.expr:
    """The node of a static value: a number, string, container, or other constant.

    A set is sorted, so that its text is the same each time.
    """
    if isinstance(value, tuple):
        return ast.Tuple([literal(v) for v in value], ast.Load())
    if isinstance(value, list):
        return ast.List([literal(v) for v in value], ast.Load())
    if isinstance(value, dict):
        return ast.Dict([literal(k) for k in value], [literal(v) for v in value.values()])
    if isinstance(value, (set, frozenset)):
        return ast.Set([literal(v) for v in sorted(value)])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return ast.Constant(value)
