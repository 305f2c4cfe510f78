"""Writes into memory: stores, additions, and rebinding that may be written as ``x += y``.

An augmented assignment to an array changes its memory, so a rebinding is one only where nobody else can see that memory.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.later_reads import Liveness
from transpile.codegen.numpy.memory_sharing import FOREIGN
from transpile.codegen.numpy.place_nodes import dotted, is_subscript, merged, place, subscript
from transpile.codegen.numpy.printer import flat
from transpile.codegen.numpy.value_nodes import LOAD, Expressions, call
from transpile.core import nodes as ir
from transpile.core.walk import statements
from transpile.ops.tables import record_of

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
Parts = tuple["str | ast.expr", ...]


class Updates:
    def __init__(self, nested: Nested, expressions: Expressions, names: Mapping[ir.Var, str], live: Liveness) -> None:
        self.nested, self.e, self.names, self.live = nested, expressions, names, live
        self.loose = _zero_d(nested)

    # ---- rebinding

    def rebinding(self, name: str, let: ir.Let, live: int) -> tuple[str, ast.expr] | None:
        """``("+=", y)`` if ``name = name + y`` may be written so."""
        sign = AUGMENTED.get(let.prim)
        if sign is None or len(let.args) != 2 or "via" in let.params or "py" in let.params:
            return None
        first, second = let.args
        if not self.is_name(first, name):
            if (
                not record_of(let).commutes
                or not self.is_name(second, name)
                or first.type.dims
                or (isinstance(first, ir.Const) and not name.endswith("_bar"))
            ):
                return None
            first, second = second, first
        assert isinstance(first, ir.Var)
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

    def signed(self, sign: str, second: ir.Operand) -> tuple[str, ast.expr]:
        """``+=`` of what begins with a minus is ``-=``."""
        turned = self.e.turned(second) if sign in _OTHER else None
        return (sign, self.e.operand(second)) if turned is None else (_OTHER[sign], turned)

    def is_name(self, operand: ir.Operand, name: str) -> bool:
        return isinstance(operand, ir.Var) and operand not in self.nested.trees and self.names[operand] == name

    # ---- stores

    def store(self, stmt: ir.Store) -> Parts:
        target = self.target(stmt.buf, stmt.path, stmt.args)
        update = self.same_place(stmt, target)
        if update is not None:
            left = self.e.name(stmt.buf) if not stmt.path else target
            return (left, f" {update[0]} ", update[1])
        return (target, " = ", self.e.operand(stmt.value))

    def target(self, buf: ir.Var, path: ir.Path, args: tuple[ir.Operand, ...]) -> ast.expr:
        """The place as what an assignment writes."""
        node = place(self.e.name(buf), path, lambda k: self.e.operand(args[k]))
        if is_subscript(path) or (not path and not buf.type.dims and buf not in self.e.zero_d):
            return node
        whole: ast.expr = ast.Slice(None, None, None) if buf.type.dims else ast.Constant(Ellipsis)
        return ast.Subscript(node, whole, LOAD)

    def same_place(self, stmt: ir.Store, target: ast.expr) -> tuple[str, ast.expr] | None:
        """``("*=", y)`` if the value is ``place * y``."""
        tree = self.nested.trees.get(stmt.value) if isinstance(stmt.value, ir.Var) else None
        if not isinstance(tree, ir.Let) or AUGMENTED.get(tree.prim) is None or len(tree.args) != 2:
            return None
        if tree.var.type.dtype != stmt.buf.type.dtype or "via" in tree.params or "py" in tree.params:
            return None
        first, second = tree.args
        if self.is_place(first, stmt, target):
            return self.signed(AUGMENTED[tree.prim], second)  # type: ignore[arg-type]
        if record_of(tree).commutes and self.is_place(second, stmt, target) and not isinstance(first, ir.Const):
            return self.signed(AUGMENTED[tree.prim], first)  # type: ignore[arg-type]
        return None

    def is_place(self, operand: ir.Operand, stmt: ir.Store, target: ast.expr) -> bool:
        if not stmt.path:
            return operand is stmt.buf or (not stmt.buf.type.dims and flat(self.e.operand(operand)) == flat(target))
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if not isinstance(tree, ir.Let) or tree.prim != "index" or tree.args[0] is not stmt.buf:
            return False
        return flat(self.e.let(tree)) == flat(target)

    # ---- additions

    def add(self, stmt: ir.Add) -> Parts:
        sign, value = "+=", stmt.value
        gathers = any(isinstance(i, ir.Gather) for s in stmt.path if isinstance(s, ir.Index) for i in s.items)
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

    def add_at(self, stmt: ir.Add) -> ast.expr:
        """``np.add.at``: of repeated indices each counts."""
        steps = merged(stmt.path)
        last = steps[-1]
        if not isinstance(last, ir.Index):
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


def _zero_d(nested: Nested) -> set[ir.Var]:
    """Scalars that may be 0-d arrays of the caller's, which ``+=`` would change."""
    found = {p for p in nested.fn.params if not p.type.dims and not p.type.weak}
    if not found:
        return found
    links: list[tuple[ir.Var, ir.Operand]] = []
    for stmt in statements(nested.fn.body):
        match stmt:
            case ir.If():
                links += [*zip(stmt.results, stmt.then.yields), *zip(stmt.results, stmt.orelse.yields)]
            case ir.For() | ir.While():
                for operands in (stmt.inits, stmt.body.yields):
                    links += [*zip(stmt.body.params, operands), *zip(stmt.results, operands)]
            case ir.Pop():
                if not stmt.var.type.dims:
                    found.add(stmt.var)
            case ir.Let(prim="copy" | "index" | "stop_gradient"):
                links.append((stmt.var, stmt.args[0]))
    while more := {target for target, source in links if source in found and target not in found}:
        found |= more
    return found
