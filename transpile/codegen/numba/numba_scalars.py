"""Scalar operations for Numba: the element of a record (`transpile.ops.element`) as Python nodes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from transpile.codegen.expression_nodes import COMPARISONS, OPERATORS, UNARY, call, dotted, number
from transpile.core.types import Type
from transpile.ops.element import Apply, Arg, Choose, Element, Infix, Number, Prefix, parts
from transpile.ops.tables import record_of


def element_node(element: Element, args: Sequence[ast.expr]) -> ast.expr:
    """The node of the element, in which operand ``k`` is ``args[k]``, uncopied."""
    match element:
        case Arg(k):
            return args[k]
        case Number(value):
            return number(value)
        case Infix("and" | "or" as sign, a, b):
            joint = ast.And() if sign == "and" else ast.Or()
            return ast.BoolOp(joint, [element_node(a, args), element_node(b, args)])
        case Infix(sign, a, b) if sign in COMPARISONS:
            return ast.Compare(element_node(a, args), [COMPARISONS[sign]()], [element_node(b, args)])
        case Infix(sign, a, b):
            return ast.BinOp(element_node(a, args), OPERATORS[sign](), element_node(b, args))
        case Prefix("not", a):
            return ast.UnaryOp(ast.Not(), element_node(a, args))
        case Prefix(sign, a):
            return ast.UnaryOp(UNARY[sign](), element_node(a, args))
        case Choose(test, yes, no):
            return ast.IfExp(element_node(test, args), element_node(yes, args), element_node(no, args))
        case Apply(function, inner):
            return call(dotted(function), *(element_node(a, args) for a in inner))


def is_narrow(prim: str, types: Sequence[Type], params: Mapping[str, Any]) -> bool:
    """Whether Numba's result is a float32 without a cast: all operands that are not bool are float32, and no operation
    widens."""
    if {t.dtype for t in types if not t.is_bool} != {"float32"}:
        return False
    found = record_of(prim).element_of(types, types[-1], params)
    return "vector" in params or found is not None and all(map(_is_narrow, parts(found)))


def _is_narrow(element: Element) -> bool:
    """Whether this operation alone, on float32 operands, gives a float32 in Numba."""
    match element:
        case Infix(sign, _, _):
            return sign in ("+", "-", "*", "/")
        case Apply(function, _):
            return function.startswith("math.") or function == "special.i0"
    return True
