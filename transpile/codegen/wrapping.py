"""Wraps an expression that is too long for its line inside brackets.

>>> print("\\n".join(broken(ast.parse("np.sum(alpha * beta, axis=0)", mode="eval").body, 0, 0, 20)))
np.sum(
    alpha * beta,
    axis=0,
)
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from astor.op_util import Precedence, get_op_precedence, get_op_symbol

from transpile.codegen.printer import ANYWHERE, flat, piece, quotation_mark

ATOM = Precedence.highest
CHOICE = Precedence.IfExp


def broken(node: Any, column: int, indent: int, width: int, place: int = ANYWHERE) -> list[str]:
    """The lines of an expression that begins at ``column``, at most ``width`` long if possible.

    The first line has no indentation, the others have at least ``indent`` columns. ``place`` is the precedence of what
    surrounds the expression, which decides on parentheses. A node that cannot be broken is one line.
    """
    text = flat(node, place)
    breaker = _BROKEN.get(type(node))
    if column + len(text) <= width or breaker is None:
        return [text]
    lines = breaker(node, column, indent, width)
    if text != flat(node) and not (lines[0] == "(" and lines[-1].strip() == ")"):
        lines = [f"({lines[0]}", *lines[1:-1], f"{lines[-1]})"] if len(lines) > 1 else [f"({lines[0]})"]
    return lines


def _bracketed(head: str, parts: list[Any], tail: str, indent: int, width: int, comma: bool = False) -> list[str]:
    """The lines of ``head``, the parts and ``tail``; the parts stand together on one line if they fit, else one a line.

    ``tail`` is indented by ``indent``, the parts by 4 more. With ``comma`` a single part has a trailing comma, as in a tuple.
    """
    inner = indent + 4
    together = ", ".join(_part(p) for p in parts) + ("," if comma and len(parts) == 1 else "")
    if inner + len(together) <= width:
        return [head, " " * inner + together, " " * indent + tail]
    lines = [head]
    for part in parts:
        prefix = " " * inner
        value = part
        if isinstance(part, ast.keyword):
            prefix, value = f"{prefix}{part.arg}=", part.value
        is_alone = len(parts) == 1 and value is part and not comma and not isinstance(part, ast.Tuple)
        whole = broken(value, indent, indent, width) if is_alone else []
        if len(whole) > 2 and whole[0] == "(" and whole[-1].strip() == ")":
            lines += whole[1:-1]  # the part has brackets already
            continue
        first, *rest = [_part(part)] if isinstance(part, _Pair) else broken(value, len(prefix), inner, width - 1)
        lines += [prefix + first, *rest]
        lines[-1] += "," if len(parts) > 1 or comma else ""
    return [*lines, " " * indent + tail]


def _part(node: Any) -> str:
    """The text, on one line, of an argument or of an item of a dictionary."""
    match node:
        case ast.keyword(arg=None):
            return f"**{flat(node.value)}"
        case ast.keyword():
            return f"{node.arg}={flat(node.value)}"
        case _Pair():
            return f"{flat(node.key)}: {flat(node.value)}"
    return flat(node)


def _broken_call(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of a call, its arguments broken, or its function if that is too long itself; ``column`` etc. as in `broken`."""
    parts = [*node.args, *node.keywords]
    head = flat(node.func, ATOM)
    if not parts:
        lines = broken(node.func, column, indent, width - 2, ATOM)
        return [*lines[:-1], lines[-1] + "()"]
    if column + len(head) >= width:
        lines = broken(node.func, column, indent, width - 1, ATOM)
        if len(lines) == 1:
            return [flat(node)]
        text = f"{lines[-1]}({', '.join(map(_part, parts))})"
        rest = [text] if len(text) <= width else _bracketed(f"{lines[-1]}(", parts, ")", indent, width)
        return [*lines[:-1], *rest]
    if len(parts) == 1 and isinstance(parts[0], (ast.Tuple, ast.List, ast.Call)) and column + len(head) + 20 < width:
        lines = broken(parts[0], column + len(head) + 1, indent, width)
        return [f"{head}({lines[0]}", *lines[1:-1], f"{lines[-1]})"] if len(lines) > 1 else [f"{head}({lines[0]})"]
    return _bracketed(f"{head}(", parts, ")", indent, width)


def _operands(node: Any, binding: int) -> list[tuple[str, Any, int]]:
    """A chain of operators of the precedence ``binding`` as triples (operator, operand, place), from left to right.

    The first has the operator ""; ``place`` is the precedence at which the operand must be printed.
    """
    if isinstance(node, ast.BinOp) and get_op_precedence(node.op) == binding:
        sign = get_op_symbol(node.op)
        return [*_operands(node.left, binding), (sign, node.right, binding + 1)]
    return [("", node, binding)]


def _broken_binary(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of a binary operation: a chain of operators of one precedence has one operand a line, in parentheses.

    Of two operands only the last one is broken if it is a call with enough room, of a power only the base.
    """
    binding = get_op_precedence(node.op)
    if binding == Precedence.Pow:
        tail = f" ** {flat(node.right, Precedence.PowRHS)}"
        lines = broken(node.left, column, indent, width - len(tail), Precedence.Await)
        return [*lines[:-1], lines[-1] + tail]
    chain = _operands(node, binding)
    if len(chain) == 2 and (wrapped := _last_broken(chain, column, indent, width)) is not None:
        return wrapped
    return _parenthesised([(f"{s} " if s else "", part, place) for s, part, place in chain], indent, width)


def _last_broken(chain: list[tuple[str, Any, int]], column: int, indent: int, width: int) -> list[str] | None:
    """The lines of ``a * f(`` ... ``)`` if the last operand of a chain of two is a call that can be broken and has room; else
    None."""
    (_, left, place), (sign, right, right_place) = chain
    head = f"{flat(left, place)} {sign} "
    if not isinstance(right, ast.Call) or column + len(head) > width - 40:
        return None
    lines = broken(right, column + len(head), indent, width, right_place)
    return None if len(lines) == 1 else [head + lines[0], *lines[1:]]


def _parenthesised(parts: list[tuple[str, Any, int]], indent: int, width: int) -> list[str]:
    """The lines of an expression in parentheses, one part a line.

    Each part is the text in front of it (an operator, ``if``, or ""), a node, and the precedence of its place.
    """
    inner = indent + 4
    lines = ["("]
    for head, part, place in parts:
        prefix = " " * inner + head
        first, *rest = broken(part, len(prefix), inner, width, place)
        lines += [prefix + first, *rest]
    return [*lines, " " * indent + ")"]


def _broken_ternary(node: Any, column: int, indent: int, width: int) -> list[str]:
    parts = [("", node.body, CHOICE + 1), ("if ", node.test, CHOICE + 1), ("else ", node.orelse, CHOICE)]
    return _parenthesised(parts, indent, width)


def _broken_boolean(node: Any, column: int, indent: int, width: int) -> list[str]:
    word, binding = f"{get_op_symbol(node.op)} ", get_op_precedence(node.op)
    return _parenthesised([(word if k else "", v, binding + 1) for k, v in enumerate(node.values)], indent, width)


def _broken_unary(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of a unary operation, whose operand is broken."""
    binding, sign = get_op_precedence(node.op), get_op_symbol(node.op)
    sign += " " * sign.isalpha()
    first, *rest = broken(node.operand, column + len(sign), indent, width, binding)
    return [sign + first, *rest]


def _broken_compare(node: Any, column: int, indent: int, width: int) -> list[str]:
    place = get_op_precedence(node.ops[0]) + 1
    parts = [("", node.left, place)]
    parts += [(f"{get_op_symbol(op)} ", right, place) for op, right in zip(node.ops, node.comparators)]
    return _parenthesised(parts, indent, width)


def _broken_attribute(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of ``value.attr``, whose value is broken."""
    tail = f".{node.attr}"
    lines = broken(node.value, column, indent, width - len(tail), ATOM)
    return [*lines[:-1], lines[-1] + tail]


def _broken_subscript(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of ``value[...]``, whose value is broken, never the subscript."""
    tail = flat(node)[len(flat(node.value, ATOM)) :]
    lines = broken(node.value, column, indent, width - len(tail), ATOM)
    return [*lines[:-1], lines[-1] + tail]


def _broken_joined(node: Any, column: int, indent: int, width: int) -> list[str]:
    """The lines of an f-string cut at spaces into several literals; valid only inside brackets."""
    lines: list[str] = []
    current = ""
    mark = quotation_mark(node)
    for value in node.values:
        text = piece(value, mark)
        for word in _words(text) if isinstance(value, ast.Constant) else [text]:
            if current and column + len(current) + len(word) + 3 > width:
                lines.append(current)
                current = ""
                column = indent
            current += word
    lines.append(current)
    texts = [f"{'f' if '{' in line else ''}{mark}{line}{mark}" for line in lines]
    return [texts[0], *(" " * indent + line for line in texts[1:])]


def _words(text: str) -> list[str]:
    """The text cut after each space; joined, the parts give the text again."""
    out = text.split(" ")
    return [w + " " for w in out[:-1]] + ([out[-1]] if out[-1] else [])


_BROKEN: dict[type, Callable[[Any, int, int, int], list[str]]] = {
    ast.Call: _broken_call,
    ast.BinOp: _broken_binary,
    ast.UnaryOp: _broken_unary,
    ast.BoolOp: _broken_boolean,
    ast.Compare: _broken_compare,
    ast.IfExp: _broken_ternary,
    ast.Attribute: _broken_attribute,
    ast.Subscript: _broken_subscript,
    ast.JoinedStr: _broken_joined,
    ast.Tuple: lambda node, column, indent, width: _bracketed("(", node.elts, ")", indent, width, True),
    ast.List: lambda node, column, indent, width: _bracketed("[", node.elts, "]", indent, width),
    ast.Dict: lambda node, column, indent, width: _bracketed("{", _pairs(node), "}", indent, width),
}


def _pairs(node: Any) -> list[Any]:
    return [_Pair(k, v) for k, v in zip(node.keys, node.values)]


class _Pair:
    """An item of a dictionary display, as a part for `_bracketed`."""

    def __init__(self, key: Any, value: Any) -> None:
        self.key, self.value = key, value
