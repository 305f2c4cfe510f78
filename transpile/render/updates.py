"""Writes into memory: stores, additions, and rebinding that may be written as ``x += y``.

An augmented assignment to an array changes its memory, so a rebinding is one only where nobody else can see that memory.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from transpile.core.nodes import Add, Const, For, Gather, If, Index, Let, Operand, Path, Pop, Store, Var, While
from transpile.core.walk import statements
from transpile.render.alias import FOREIGN
from transpile.render.expressions import LOAD, Expressions, call
from transpile.render.liveness import Liveness
from transpile.render.nesting import Nested
from transpile.render.places import dotted, is_subscript, merged, place, subscript
from transpile.render.printer import flat

AUGMENTED = {
    "add": "+=",
    "sub": "-=",
    "mul": "*=",
    "div": "/=",
    "matmul": None,
    "pow": "**=",
    "floordiv": "//=",
    "mod": "%=",
}
_OTHER = {"+=": "-=", "-=": "+="}
COMMUTES = ("add", "mul")
Parts = tuple["str | ast.expr", ...]


class Updates:
    def __init__(self, nested: Nested, expressions: Expressions, names: Mapping[Var, str], live: Liveness) -> None:
        self.nested, self.e, self.names, self.live = nested, expressions, names, live
        self.loose = _zero_d(nested)

    # ---- rebinding

    def rebinding(self, name: str, let: Let, live: int) -> tuple[str, ast.expr] | None:
        """``("+=", y)`` if ``name = name + y`` may be written so."""
        sign = AUGMENTED.get(let.prim)
        if sign is None or len(let.args) != 2 or "via" in let.params or "py" in let.params:
            return None
        first, second = let.args
        if not self.is_name(first, name):
            if (
                let.prim not in COMMUTES
                or not self.is_name(second, name)
                or first.type.dims
                or (isinstance(first, Const) and not name.endswith("_bar"))
            ):
                return None
            first, second = second, first
        assert isinstance(first, Var)
        if not let.var.type.dims:
            return None if first in self.loose else self.signed(sign, second)
        if first.type.dims != let.var.type.dims or first.type.dtype != let.var.type.dtype:
            return None
        numbers = self.nested.aliases.numbers
        if live & numbers.bit(first):  # another name takes it at the end of the block
            return None
        hidden = numbers.bit(first) | numbers.bit(let.var)
        for var in numbers.members(self.nested.aliases.of(first) & ~(1 << FOREIGN)):
            if self.names.get(var) == name:
                hidden |= numbers.bit(var)
        if self.nested.aliases.of(first) & ((live & ~hidden) | 1 << FOREIGN):
            return None
        return self.signed(sign, second)

    def signed(self, sign: str, second: Operand) -> tuple[str, ast.expr]:
        """``+=`` of what begins with a minus is ``-=``."""
        turned = self.e.turned(second) if sign in _OTHER else None
        return (sign, self.e.operand(second)) if turned is None else (_OTHER[sign], turned)

    def is_name(self, operand: Operand, name: str) -> bool:
        return isinstance(operand, Var) and operand not in self.nested.trees and self.names[operand] == name

    # ---- stores

    def store(self, stmt: Store) -> Parts:
        target = self.target(stmt.buf, stmt.path, stmt.args)
        update = self.same_place(stmt, target)
        if update is not None:
            left = self.e.name(stmt.buf) if not stmt.path else target
            return (left, f" {update[0]} ", update[1])
        return (target, " = ", self.e.operand(stmt.value))

    def target(self, buf: Var, path: Path, args: tuple[Operand, ...]) -> ast.expr:
        """The place as what an assignment writes."""
        node = place(self.e.name(buf), path, lambda k: self.e.operand(args[k]))
        if is_subscript(path) or (not path and not buf.type.dims and buf not in self.e.zero_d):
            return node
        whole: ast.expr = ast.Slice(None, None, None) if buf.type.dims else ast.Constant(Ellipsis)
        return ast.Subscript(node, whole, LOAD)

    def same_place(self, stmt: Store, target: ast.expr) -> tuple[str, ast.expr] | None:
        """``("*=", y)`` if the value is ``place * y``."""
        tree = self.nested.trees.get(stmt.value) if isinstance(stmt.value, Var) else None
        if not isinstance(tree, Let) or AUGMENTED.get(tree.prim) is None or len(tree.args) != 2:
            return None
        if tree.var.type.dtype != stmt.buf.type.dtype or "via" in tree.params or "py" in tree.params:
            return None
        first, second = tree.args
        if self.is_place(first, stmt, target):
            return self.signed(AUGMENTED[tree.prim], second)  # type: ignore[arg-type]
        if tree.prim in COMMUTES and self.is_place(second, stmt, target) and not isinstance(first, Const):
            return self.signed(AUGMENTED[tree.prim], first)  # type: ignore[arg-type]
        return None

    def is_place(self, operand: Operand, stmt: Store, target: ast.expr) -> bool:
        if not stmt.path:
            return operand is stmt.buf or (not stmt.buf.type.dims and flat(self.e.operand(operand)) == flat(target))
        tree = self.nested.trees.get(operand) if isinstance(operand, Var) else None
        if not isinstance(tree, Let) or tree.prim != "index" or tree.args[0] is not stmt.buf:
            return False
        return flat(self.e.let(tree)) == flat(target)

    # ---- additions

    def add(self, stmt: Add) -> Parts:
        sign, value = "+=", stmt.value
        gathers = any(isinstance(i, Gather) for s in stmt.path if isinstance(s, Index) for i in s.items)
        if gathers:
            return (self.add_at(stmt),)
        turned = self.e.turned(value)
        if turned is not None:
            sign = "-="
        left = (
            self.e.name(stmt.buf)
            if not stmt.path and stmt.buf not in self.e.zero_d
            else self.target(stmt.buf, stmt.path, stmt.args)
        )
        return (left, f" {sign} ", turned or self.e.operand(value))

    def add_at(self, stmt: Add) -> ast.expr:
        """``np.add.at``: of repeated indices each counts."""
        steps = merged(stmt.path)
        last = steps[-1]
        if not isinstance(last, Index):
            raise NotImplementedError("an addition through a gather that is not the last step of its path")
        base = place(self.e.name(stmt.buf), tuple(steps[:-1]), lambda k: self.e.operand(stmt.args[k]))  # type: ignore[arg-type]
        index = subscript(last.items, lambda k: self.e.operand(stmt.args[k]))
        return call(dotted("np.add.at"), base, _as_argument(index), self.e.operand(stmt.value))


def _as_argument(index: ast.expr) -> ast.expr:
    """What stands between brackets, as an argument: slices are spelled out."""
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_as_argument(e) for e in index.elts], LOAD)
    if not isinstance(index, ast.Slice):
        return index
    parts = [ast.Constant(None) if p is None else p for p in (index.lower, index.upper, index.step)]
    if index.step is None:
        parts.pop()
        if index.lower is None:
            parts.pop(0)
    return call(ast.Name("slice", LOAD), *parts)


def _zero_d(nested: Nested) -> set[Var]:
    """Scalars that may be 0-d arrays of the caller's, which ``+=`` would change."""
    found = {p for p in nested.fn.params if not p.type.dims and not p.type.weak}
    if not found:
        return found
    links: list[tuple[Var, Operand]] = []
    for stmt in statements(nested.fn.body):
        match stmt:
            case If():
                links += [*zip(stmt.results, stmt.then.yields), *zip(stmt.results, stmt.orelse.yields)]
            case For() | While():
                for operands in (stmt.inits, stmt.body.yields):
                    links += [*zip(stmt.body.params, operands), *zip(stmt.results, operands)]
            case Pop():
                if not stmt.var.type.dims:
                    found.add(stmt.var)
            case Let(prim="copy" | "index" | "stop_gradient"):
                links.append((stmt.var, stmt.args[0]))
    while more := {target for target, source in links if source in found and target not in found}:
        found |= more
    return found
