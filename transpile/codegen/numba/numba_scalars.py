"""How Numba says one scalar operation: the element of a record (`transpile.ops.element`) as Python text.

A template is filled with the printed operands, which have the dtypes that core gives them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transpile.core.types import Type
from transpile.ops.element import Apply, Arg, Choose, Element, Infix, Number, Prefix, parts
from transpile.ops.tables import records

# precedence classes of what a template gives, so that operands are put in parentheses only where needed
ATOM, POWER, UNARY, TERM, SUM, COMPARE, LOOSE = range(7)
LEVELS = {
    "**": POWER,
    **dict.fromkeys(("*", "/", "//", "%"), TERM),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARE),
}


def spell(prim: str, types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> tuple[str, int] | None:
    """Template and precedence of a scalar primitive, or None where there is none."""
    found = element_of(prim, types, result, params)
    return None if found is None else template(found)


def element_of(prim: str, types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element | None:
    record = records().get(prim)
    return None if record is None else record.element_of(types, result, params)


def template(element: Element) -> tuple[str, int]:
    """The text of an element, with a slot for each operand."""
    match element:
        case Arg(k):
            return f"{{{k}}}", ATOM
        case Number(value):
            return repr(value), ATOM
        case Infix(sign, a, b):
            level = LEVELS.get(sign, LOOSE)
            return f"{_inner(a, level)} {sign} {_inner(b, level)}", level
        case Prefix(sign, a):
            level = LOOSE if sign == "not" else UNARY
            return f"{sign}{' ' if sign == 'not' else ''}{_inner(a, level)}", level
        case Choose(test, yes, no):
            return f"{_inner(yes, LOOSE)} if {_inner(test, LOOSE)} else {_inner(no, LOOSE)}", LOOSE
        case Apply(function, args):
            return f"{function}({', '.join(template(a)[0] for a in args)})", ATOM


def _inner(element: Element, level: int) -> str:
    text, own = template(element)
    return text if own < level or own == ATOM else f"({text})"


def is_narrow(prim: str, types: Sequence[Type], params: Mapping[str, Any]) -> bool:
    """Whether Numba gives a float32 by itself, of operands that are float32."""
    if {t.dtype for t in types if not t.is_bool} != {"float32"}:
        return False
    found = element_of(prim, types, types[-1], params)
    return "vector" in params or found is not None and all(map(_is_narrow, parts(found)))


def _is_narrow(element: Element) -> bool:
    match element:
        case Infix(sign, _, _):
            return sign in ("+", "-", "*", "/")
        case Apply(function, _):
            return function.startswith("math.") or function == "special.i0"
    return True
