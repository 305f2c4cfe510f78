"""Prints expression nodes: with as few parentheses as possible, strings in double quotes, and wrapped inside brackets where a line
would be too long.

Nodes of `ast` and of `gast` are taken alike: they are told apart by the name of their class.

>>> import ast
>>> flat(ast.parse("(a + (b * c)) ** 2 - f(x[1:, None]**2, axis = 0)", mode="eval").body)
'(a + b * c) ** 2 - f(x[1:, None] ** 2, axis=0)'
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

# Precedences, as in the language reference; an operand is parenthesised if it binds less than its place asks for.
(
    TUPLE, NAMED, LAMBDA, TERNARY, OR, AND, NOT, COMPARE, BITOR, BITXOR, BITAND, SHIFT, SUM, TERM, SIGN, POWER, AWAIT, ATOM,
) = range(18)  # fmt: skip

_BINARY = {
    "Add": ("+", SUM), "Sub": ("-", SUM), "Mult": ("*", TERM), "Div": ("/", TERM), "FloorDiv": ("//", TERM),
    "Mod": ("%", TERM), "MatMult": ("@", TERM), "Pow": ("**", POWER), "BitOr": ("|", BITOR), "BitXor": ("^", BITXOR),
    "BitAnd": ("&", BITAND), "LShift": ("<<", SHIFT), "RShift": (">>", SHIFT),
}  # fmt: skip
_UNARY = {"USub": ("-", SIGN), "UAdd": ("+", SIGN), "Invert": ("~", SIGN), "Not": ("not ", NOT)}
_COMPARE = {
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=", "Is": "is", "IsNot": "is not", "In": "in",
    "NotIn": "not in",
}  # fmt: skip


def flat(node: Any, place: int = TUPLE) -> str:
    """The text of an expression on one line, parenthesised if ``place`` binds more than it does."""
    printed = _FLAT.get(type(node).__name__)
    if printed is None:
        return ast.unparse(node)
    text, binding = printed(node)
    return f"({text})" if binding < place else text


def _name_of(node: Any) -> str:
    return type(node).__name__


def _constant(node: Any) -> tuple[str, int]:
    value = node.value
    if isinstance(value, str):
        return quoted(value), ATOM
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value != value or value in (float("inf"), float("-inf")):
            return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[
                repr(float(value))
            ], SIGN if value < 0 else ATOM
        return numeral(value), SIGN if repr(value).startswith("-") else ATOM
    return "..." if value is Ellipsis else repr(value), ATOM


def numeral(value: int | float) -> str:
    """The shortest text of a number: ``1e-6``, ``1e10``."""
    text = repr(value).replace("e-0", "e-").replace("e+", "e")
    digits = text[:-2].rstrip("0")
    zeros = len(text) - 2 - len(digits)
    return f"{digits}e{zeros}" if text.endswith(".0") and zeros > 4 and digits.strip("-") else text


def quoted(text: str) -> str:
    """A string literal in double quotes."""
    inner = repr("'" + text)[2:-1]  # with a quote inside, repr chooses double quotes
    inner = inner if repr("'" + text)[0] == '"' else repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inner}"'


def _binary(node: Any) -> tuple[str, int]:
    sign, binding = _BINARY[_name_of(node.op)]
    if binding == POWER:
        gap = "" if _is_simple(node.left) and _is_simple(node.right) else " "
        return f"{flat(node.left, AWAIT)}{gap}**{gap}{flat(node.right, SIGN)}", POWER
    return f"{flat(node.left, binding)} {sign} {flat(node.right, binding + 1)}", binding


def _is_simple(node: Any) -> bool:
    """Whether ``**`` stands close to it, as Black has it."""
    kind = _name_of(node)
    if kind == "UnaryOp":
        return _name_of(node.operand) == "Constant"
    return kind in ("Name", "Constant") or (kind == "Attribute" and _is_simple(node.value))


def _unary(node: Any) -> tuple[str, int]:
    sign, binding = _UNARY[_name_of(node.op)]
    return f"{sign}{flat(node.operand, binding)}", binding


def _boolean(node: Any) -> tuple[str, int]:
    word, binding = (" and ", AND) if _name_of(node.op) == "And" else (" or ", OR)
    return word.join(flat(v, binding + 1) for v in node.values), binding


def _compare(node: Any) -> tuple[str, int]:
    text = flat(node.left, COMPARE + 1)
    for op, right in zip(node.ops, node.comparators):
        text += f" {_COMPARE[_name_of(op)]} {flat(right, COMPARE + 1)}"
    return text, COMPARE


def _ternary(node: Any) -> tuple[str, int]:
    return (
        f"{flat(node.body, TERNARY + 1)} if {flat(node.test, TERNARY + 1)} else {flat(node.orelse, TERNARY)}",
        TERNARY,
    )


def _call(node: Any) -> tuple[str, int]:
    return f"{flat(node.func, ATOM)}({', '.join(_arguments(node))})", ATOM


def _arguments(node: Any) -> list[str]:
    return [*(flat(a, NAMED) for a in node.args), *(_keyword(k) for k in node.keywords)]


def _keyword(node: Any) -> str:
    return f"**{flat(node.value, BITOR)}" if node.arg is None else f"{node.arg}={flat(node.value, NAMED)}"


def _tuple(node: Any) -> tuple[str, int]:
    inner = ", ".join(flat(e, NAMED) for e in node.elts)
    return (f"({inner},)" if len(node.elts) == 1 else f"({inner})"), ATOM


def _subscript(node: Any) -> tuple[str, int]:
    index = node.slice
    if _name_of(index) == "Tuple" and index.elts:
        inner = ", ".join(flat(e, NAMED) for e in index.elts) + ("," if len(index.elts) == 1 else "")
    else:
        inner = flat(index, NAMED)
    return f"{flat(node.value, ATOM)}[{inner}]", ATOM


def _slice(node: Any) -> tuple[str, int]:
    def end(part: Any) -> str:
        return "" if part is None else flat(part, TERNARY)

    simple = all(p is None or _name_of(p) in ("Name", "Constant", "UnaryOp") for p in (node.lower, node.upper))
    colon = ":" if simple else " : "
    text = f"{end(node.lower)}{colon}{end(node.upper)}".strip()
    return (text if node.step is None else f"{text}:{end(node.step)}"), NAMED


def _dict(node: Any) -> tuple[str, int]:
    pairs = (f"{flat(k, NAMED)}: {flat(v, NAMED)}" for k, v in zip(node.keys, node.values))
    return f"{{{', '.join(pairs)}}}", ATOM


def _joined(node: Any) -> tuple[str, int]:
    mark = _mark(node)
    return f"f{mark}{''.join(_piece(v, mark) for v in node.values)}{mark}", ATOM


def _mark(node: Any) -> str:
    """The quotation marks of an f-string."""
    texts = [v.value for v in node.values if _name_of(v) == "Constant"]
    return "'" if any('"' in t for t in texts) and not any("'" in t for t in texts) else '"'


def _piece(node: Any, mark: str) -> str:
    """A part of an f-string in quotation marks; strings within it are in the other ones, as Python 3.10 asks."""
    if _name_of(node) == "Constant":
        text = quoted(node.value)[1:-1] if mark == '"' else repr(node.value)[1:-1]
        return text.replace("{", "{{").replace("}", "}}")
    inner = flat(node.value, TERNARY + 1)
    inner = inner.replace(*("\"'" if mark == '"' else "'\""))
    inner = f" {inner}" if inner.startswith("{") else inner
    conversion = "" if node.conversion in (-1, None) else f"!{chr(node.conversion)}"
    form = "" if node.format_spec is None else ":" + "".join(_piece(v, mark) for v in node.format_spec.values)
    return f"{{{inner}{conversion}{form}}}"


_FLAT: dict[str, Callable[[Any], tuple[str, int]]] = {
    "Name": lambda node: (node.id, ATOM),
    "Constant": _constant,
    "Attribute": lambda node: (f"{flat(node.value, ATOM)}.{node.attr}", ATOM),
    "BinOp": _binary,
    "UnaryOp": _unary,
    "BoolOp": _boolean,
    "Compare": _compare,
    "IfExp": _ternary,
    "Call": _call,
    "Tuple": _tuple,
    "List": lambda node: (f"[{', '.join(flat(e, NAMED) for e in node.elts)}]", ATOM),
    "Dict": _dict,
    "Subscript": _subscript,
    "Slice": _slice,
    "Starred": lambda node: (f"*{flat(node.value, BITOR)}", TUPLE),
    "JoinedStr": _joined,
}


# ------------------------------------------------------------------------------------------------------- wrapping


def broken(node: Any, column: int, indent: int, width: int, place: int = TUPLE) -> list[str]:
    """The lines of an expression that begins at ``column``; those after the first are indented by ``indent`` or more."""
    text = flat(node, place)
    if column + len(text) <= width:
        return [text]
    breaker = _BROKEN.get(_name_of(node))
    if breaker is None:
        return [text]
    lines = breaker(node, column, indent, width)
    if text.startswith("(") and flat(node) != text and not (lines[0] == "(" and lines[-1].strip() == ")"):
        lines = [f"({lines[0]}", *lines[1:-1], f"{lines[-1]})"] if len(lines) > 1 else [f"({lines[0]})"]
    return lines


def _bracketed(head: str, parts: list[Any], tail: str, indent: int, width: int, comma: bool = False) -> list[str]:
    """``head``, the parts one below the other (or all on one line, if they fit), ``tail``; ``comma``: one part has one, too."""
    inner = indent + 4
    together = ", ".join(_part(p) for p in parts) + ("," if comma and len(parts) == 1 else "")
    if inner + len(together) <= width:
        return [head, " " * inner + together, " " * indent + tail]
    lines = [head]
    for part in parts:
        prefix = " " * inner
        value = part
        if _name_of(part) == "keyword":
            prefix, value = f"{prefix}{part.arg}=", part.value
        is_alone = len(parts) == 1 and value is part and not comma and _name_of(part) != "Tuple"
        whole = broken(value, indent, indent, width) if is_alone else []
        if len(whole) > 2 and whole[0] == "(" and whole[-1].strip() == ")":
            lines += whole[1:-1]  # the brackets are there already
            continue
        first, *rest = broken(value, len(prefix), inner, width - 1, NAMED)
        lines += [prefix + first, *rest]
        lines[-1] += "," if len(parts) > 1 or comma else ""
    return [*lines, " " * indent + tail]


def _part(node: Any) -> str:
    return _keyword(node) if _name_of(node) == "keyword" else flat(node, NAMED)


def _broken_call(node: Any, column: int, indent: int, width: int) -> list[str]:
    parts = [*node.args, *node.keywords]
    head = flat(node.func, ATOM)
    if not parts:
        lines = broken(node.func, column, indent, width - 2, ATOM)
        return [*lines[:-1], lines[-1] + "()"]
    if column + len(head) >= width:
        lines = broken(node.func, column, indent, width - 1, ATOM)
        if len(lines) == 1:
            return [flat(node)]
        text = f"{lines[-1]}({', '.join(_arguments(node))})"
        rest = [text] if len(text) <= width else _bracketed(f"{lines[-1]}(", parts, ")", indent, width)
        return [*lines[:-1], *rest]
    if len(parts) == 1 and _name_of(parts[0]) in ("Tuple", "List", "Call") and column + len(head) + 20 < width:
        lines = broken(parts[0], column + len(head) + 1, indent, width, NAMED)
        return [f"{head}({lines[0]}", *lines[1:-1], f"{lines[-1]})"] if len(lines) > 1 else [f"{head}({lines[0]})"]
    return _bracketed(f"{head}(", parts, ")", indent, width)


def _operands(node: Any, binding: int) -> list[tuple[str, Any, int]]:
    """A chain of operators of one precedence: (operator, operand, place) from left to right."""
    if _name_of(node) == "BinOp" and _BINARY[_name_of(node.op)][1] == binding:
        sign, _ = _BINARY[_name_of(node.op)]
        return [*_operands(node.left, binding), (sign, node.right, binding + 1)]
    return [("", node, binding)]


def _broken_binary(node: Any, column: int, indent: int, width: int) -> list[str]:
    _sign, binding = _BINARY[_name_of(node.op)]
    if binding == POWER:
        tail = f" ** {flat(node.right, SIGN)}"
        lines = broken(node.left, column, indent, width - len(tail), AWAIT)
        return [*lines[:-1], lines[-1] + tail]
    chain = _operands(node, binding)
    if len(chain) == 2 and (wrapped := _last_broken(chain, column, indent, width)) is not None:
        return wrapped
    return _parenthesised([(f"{s} " if s else "", part, place) for s, part, place in chain], indent, width)


def _last_broken(chain: list[tuple[str, Any, int]], column: int, indent: int, width: int) -> list[str] | None:
    """``a * f(`` ... ``)``: only the last operand is broken, if it has brackets of its own."""
    (_, left, place), (sign, right, right_place) = chain
    head = f"{flat(left, place)} {sign} "
    if _name_of(right) != "Call" or column + len(head) > width - 40:
        return None
    lines = broken(right, column + len(head), indent, width, right_place)
    return None if len(lines) == 1 else [head + lines[0], *lines[1:]]


def _parenthesised(parts: list[tuple[str, Any, int]], indent: int, width: int) -> list[str]:
    inner = indent + 4
    lines = ["("]
    for head, part, place in parts:
        prefix = " " * inner + head
        first, *rest = broken(part, len(prefix), inner, width, place)
        lines += [prefix + first, *rest]
    return [*lines, " " * indent + ")"]


def _broken_ternary(node: Any, column: int, indent: int, width: int) -> list[str]:
    parts = [("", node.body, TERNARY + 1), ("if ", node.test, TERNARY + 1), ("else ", node.orelse, TERNARY)]
    return _parenthesised(parts, indent, width)


def _broken_boolean(node: Any, column: int, indent: int, width: int) -> list[str]:
    word, binding = ("and ", AND) if _name_of(node.op) == "And" else ("or ", OR)
    return _parenthesised([(word if k else "", v, binding + 1) for k, v in enumerate(node.values)], indent, width)


def _broken_unary(node: Any, column: int, indent: int, width: int) -> list[str]:
    sign, binding = _UNARY[_name_of(node.op)]
    first, *rest = broken(node.operand, column + len(sign), indent, width, binding)
    return [sign + first, *rest]


def _broken_compare(node: Any, column: int, indent: int, width: int) -> list[str]:
    parts = [("", node.left, COMPARE + 1)]
    parts += [(f"{_COMPARE[_name_of(op)]} ", right, COMPARE + 1) for op, right in zip(node.ops, node.comparators)]
    return _parenthesised(parts, indent, width)


def _broken_attribute(node: Any, column: int, indent: int, width: int) -> list[str]:
    tail = f".{node.attr}"
    lines = broken(node.value, column, indent, width - len(tail), ATOM)
    return [*lines[:-1], lines[-1] + tail]


def _broken_subscript(node: Any, column: int, indent: int, width: int) -> list[str]:
    tail = _subscript(node)[0][len(flat(node.value, ATOM)) :]
    lines = broken(node.value, column, indent, width - len(tail), ATOM)
    return [*lines[:-1], lines[-1] + tail]


def _broken_joined(node: Any, column: int, indent: int, width: int) -> list[str]:
    """An f-string cut at blanks; only used within brackets."""
    lines: list[str] = []
    current = ""
    mark = _mark(node)
    for piece in (_piece(v, mark) for v in node.values):
        for word in [piece] if piece.startswith("{") and not piece.startswith("{{") else _words(piece):
            if current and column + len(current) + len(word) + 3 > width:
                lines.append(current)
                current = ""
                column = indent
            current += word
    lines.append(current)
    text = [f"{'f' if '{' in line else ''}{mark}{line}{mark}" for line in lines]
    return [text[0], *(" " * indent + line for line in text[1:])]


def _words(text: str) -> list[str]:
    out = text.split(" ")
    return [w + " " for w in out[:-1]] + ([out[-1]] if out[-1] else [])


_BROKEN: dict[str, Callable[[Any, int, int, int], list[str]]] = {
    "Call": _broken_call,
    "BinOp": _broken_binary,
    "UnaryOp": _broken_unary,
    "BoolOp": _broken_boolean,
    "Compare": _broken_compare,
    "IfExp": _broken_ternary,
    "Attribute": _broken_attribute,
    "Subscript": _broken_subscript,
    "JoinedStr": _broken_joined,
    "Tuple": lambda node, column, indent, width: _bracketed("(", node.elts, ")", indent, width, True),
    "List": lambda node, column, indent, width: _bracketed("[", node.elts, "]", indent, width),
    "Dict": lambda node, column, indent, width: _bracketed("{", _pairs(node), "}", indent, width),
}


def _pairs(node: Any) -> list[Any]:
    return [_Pair(k, v) for k, v in zip(node.keys, node.values)]


class _Pair:
    def __init__(self, key: Any, value: Any) -> None:
        self.key, self.value = key, value


_FLAT["_Pair"] = lambda node: (f"{flat(node.key, NAMED)}: {flat(node.value, NAMED)}", ATOM)
