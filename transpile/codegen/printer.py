"""Prints expression nodes on one line: few parentheses, strings in double quotes, powers spaced as by Black.

The code generator is astor's; a method here replaces astor's where the output would differ from the tree's meaning or from what
a person writes.

>>> flat(ast.parse("(a + (b * c)) ** 2 - f(x[1:, None]**2, axis = 0)", mode="eval").body)
'(a + b * c) ** 2 - f(x[1:, None] ** 2, axis=0)'
"""

from __future__ import annotations

import ast
from typing import Any

from astor.code_gen import SourceGenerator, set_precedence
from astor.op_util import Precedence

ANYWHERE = Precedence.Comma  # precedence of an element of a list: only a tuple is parenthesised


def flat(node: ast.expr, place: int = ANYWHERE) -> str:
    """The text of an expression on one line, in parentheses if ``place`` binds more tightly than the expression does."""
    if isinstance(node, ast.Name):
        return node.id
    generator = _Generator("    ")
    set_precedence(place, node)
    try:
        generator.visit(node)
    except _Twice:
        return flat(_apart(node), place)
    return "".join(generator.result)


class _Twice(Exception):
    """Raised if a node other than a name occurs twice in a tree: astor stores the precedence of one place on it."""


def _apart(node: Any) -> Any:
    """A copy of a tree in which each node occurs once."""
    if isinstance(node, list):
        return [_apart(n) for n in node]
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{name: _apart(value) for name, value in ast.iter_fields(node)})


class _Generator(SourceGenerator):
    """astor's generator of source, with other text for constants, f-strings, powers, subscripts and slices."""

    def __init__(self, indentation: str) -> None:
        self.seen: set[int] = set()
        super().__init__(indentation)

    def visit(self, node: ast.AST) -> None:
        """Writes the node; `_Twice` if it was written before, unless it is a name."""
        if type(node) is not ast.Name:
            if id(node) in self.seen:
                raise _Twice
            self.seen.add(id(node))
        super().visit(node)

    @staticmethod
    def get__pp(node: ast.AST) -> int:
        """The precedence stored on a node, removed when read: a value left by an earlier print must not remove parentheses."""
        return node.__dict__.pop("_pp", Precedence.highest)

    def visit_Constant(self, node: ast.Constant) -> None:
        text = constant(node.value)
        is_signed = text.startswith("-") and self.get__pp(node) > Precedence.USub
        self.write(f"({text})" if is_signed else text)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        mark = quotation_mark(node)
        self.write(f"f{mark}{''.join(piece(v, mark) for v in node.values)}{mark}")

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Writes a binary operation; ``**`` has no spaces if both of its operands are simple."""
        if not (isinstance(node.op, ast.Pow) and is_simple(node.left) and is_simple(node.right)):
            super().visit_BinOp(node)
            return
        with self.delimit(node, node.op):
            set_precedence(Precedence.Await, node.left)
            set_precedence(Precedence.PowRHS, node.right)
            self.write(node.left, "**", node.right)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Writes ``value[...]``; a tuple as subscript is written without parentheses."""
        set_precedence(Precedence.highest, node.value)
        set_precedence(ANYWHERE, node.slice)
        self.write(node.value, "[")
        if isinstance(node.slice, ast.Tuple) and node.slice.elts:
            self.comma_list(node.slice.elts, len(node.slice.elts) == 1)
        else:
            self.write(node.slice)
        self.write("]")

    def visit_Slice(self, node: ast.Slice) -> None:
        """Writes a slice, with spaces around its colon if an end is more than a name or number; none before a step."""
        ends = [n for n in (node.lower, node.upper) if n is not None]
        simple = all(isinstance(n, (ast.Name, ast.Constant, ast.UnaryOp)) for n in ends)
        text = (":" if simple else " : ").join("" if n is None else flat(n) for n in (node.lower, node.upper)).strip()
        self.write(text if node.step is None else f"{text}:{flat(node.step)}")


def is_simple(node: ast.expr) -> bool:
    """Whether ``**`` has no spaces beside the operand, as Black formats it: a name, a constant, or an attribute or sign of
    these."""
    match node:
        case ast.UnaryOp(operand=operand):
            return isinstance(operand, ast.Constant)
        case ast.Attribute(value=value):
            return is_simple(value)
    return isinstance(node, (ast.Name, ast.Constant))


# ------------------------------------------------------------------------------------------------------- literals


def constant(value: Any) -> str:
    """The text of a constant; infinity and NaN are written as ``np.inf`` and ``np.nan``, strings in double quotes."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value != value or value in (float("inf"), float("-inf")):
            return {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}[repr(float(value))]
        return numeral(value)
    return "..." if value is Ellipsis else repr(value)


def numeral(value: int | float) -> str:
    """The shortest text of a number, as ``1e-6`` for ``1e-06``; a float with more than four trailing zeros becomes ``1e5``."""
    text = repr(value).replace("e-0", "e-").replace("e+", "e")
    digits = text[:-2].rstrip("0")
    zeros = len(text) - 2 - len(digits)
    return f"{digits}e{zeros}" if text.endswith(".0") and zeros > 4 and digits.strip("-") else text


def quoted(text: str) -> str:
    """The source of a string literal in double quotes."""
    inner = repr("'" + text)[2:-1]  # repr chooses double quotes if a single quote is inside
    inner = inner if repr("'" + text)[0] == '"' else repr(text)[1:-1].replace("\\'", "'").replace('"', '\\"')
    return f'"{inner}"'


def quotation_mark(node: ast.JoinedStr) -> str:
    """The quotation mark of an f-string: ``"``, or ``'`` if its text contains ``"`` and no ``'``."""
    texts = [str(v.value) for v in node.values if isinstance(v, ast.Constant)]
    return "'" if any('"' in t for t in texts) and not any("'" in t for t in texts) else '"'


def piece(node: Any, mark: str) -> str:
    """The text of one part of an f-string in quotes ``mark``: escaped text, or a field in braces.

    Strings inside a field use the other quotes, as Python 3.10 requires.
    """
    if isinstance(node, ast.Constant):
        text = quoted(str(node.value))[1:-1] if mark == '"' else repr(node.value)[1:-1]
        return text.replace("{", "{{").replace("}", "}}")
    inner = flat(node.value, Precedence.IfExp + 1)
    inner = inner.replace(*("\"'" if mark == '"' else "'\""))
    inner = f" {inner}" if inner.startswith("{") else inner
    conversion = "" if node.conversion in (-1, None) else f"!{chr(node.conversion)}"
    form = "" if node.format_spec is None else ":" + "".join(piece(v, mark) for v in node.format_spec.values)
    return f"{{{inner}{conversion}{form}}}"
