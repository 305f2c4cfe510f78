"""Long chains of operators, ``a + b + c + ...``, as one flat node: Python's trees nest once for each term, and no pass shall
recurse over the length of a formula.

>>> import ast
>>> tree = to_gast(ast.parse(" + ".join("abcde" * 10)))
>>> type(tree.body[0].value).__name__, len(tree.body[0].value.rights)
('Chain', 49)
"""

from __future__ import annotations

import ast
import copy
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import gast
from gast.ast3 import Ast3ToGAst

from transpile.frontend.sources.match_statements import without_match
from transpile.frontend.sources.private_names import rename

LONG = 24  # operators; shorter chains stay the trees that they are

T = TypeVar("T")


class Chain(gast.expr):
    """``left op right op right ...``, from the left: ``rights`` and ``ops`` are equally many."""

    _fields = ("left", "ops", "rights")
    _attributes = ("lineno", "col_offset", "end_lineno", "end_col_offset")

    def parts(self) -> list[gast.BinOp]:
        """The operations in their order, each at its place in the text; only ``op`` and ``right`` are to be read of them."""
        found = []
        for op, right in zip(self.ops, self.rights):
            one = gast.BinOp(left=self.left, op=op, right=right)
            one.lineno, one.col_offset = self.lineno, self.col_offset
            one.end_lineno, one.end_col_offset = right.end_lineno, right.end_col_offset
            found.append(one)
        return found


class _Converter(Ast3ToGAst):
    def __init__(self, owner: str) -> None:
        super().__init__()
        self.owner = owner  # the class whose text this is

    def visit(self, node: ast.AST) -> Any:
        made = super().visit(node)
        if self.owner:
            rename(made, self.owner)
        return made

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        outside, head = self.owner, copy.copy(node)
        head.body = []
        made = getattr(Ast3ToGAst, "visit_ClassDef", Ast3ToGAst.generic_visit)(self, head)
        self.owner = node.name
        made.body = [self.visit(s) for s in node.body]
        self.owner = outside
        return made

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        spine: list[ast.BinOp] = []
        first: ast.expr = node
        while isinstance(first, ast.BinOp):
            spine.append(first)
            first = first.left
        if len(spine) < LONG:
            return self.generic_visit(node)
        spine.reverse()
        chain = Chain(left=self.visit(first), ops=[self.visit(s.op) for s in spine],
                      rights=[self.visit(s.right) for s in spine])  # fmt: skip
        return gast.copy_location(chain, node)


def to_gast(tree: ast.AST, owner: str = "") -> Any:
    """The gast of a tree of Python's; ``owner`` is the class whose text it is part of."""
    return _Converter(owner).visit(without_match(tree))


def unnested(run: Callable[[], T]) -> T:
    """What ``run`` gives; where Python's own parser or compiler finds a text too deep, once more with nothing on the stack below:
    how deep they may go counts from the calls that are open, and in a thread of its own there are none."""
    try:
        return run()
    except RecursionError:
        pass
    found: list[T] = []
    failed: list[BaseException] = []

    def inside() -> None:
        try:
            found.append(run())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]
