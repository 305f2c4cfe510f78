"""Writes to memory as nodes: stores, additions, and computations in place."""

from __future__ import annotations

import ast

from transpile.codegen.expression_nodes import LOAD, call, dotted
from transpile.codegen.numpy.place_nodes import is_subscript, merged, place, subscript
from transpile.codegen.numpy.printable_form import Printable, augmented
from transpile.codegen.numpy.value_nodes import Expressions
from transpile.core import nodes as ir
from transpile.ops.tables import record_of

_OTHER = {"+=": "-=", "-=": "+="}
Parts = tuple["str | ast.expr", ...]


class Updates:
    """Makes the parts of lines that write to memory; writes no lines."""

    def __init__(self, form: Printable, expressions: Expressions) -> None:
        self.form, self.nested, self.e = form, form.nested, expressions

    # ---- rebinding

    def rebinding(self, name: str, let: ir.Let, live: int) -> tuple[str, ast.expr] | None:
        """A pair such as ``("+=", y)`` if ``name = name + y`` may be written in place; else None.

        ``live``: a mask of the variables live afterwards.
        """
        found = self.form.in_place(name, let, live)
        return None if found is None else self.signed(*found)

    def signed(self, sign: str, second: ir.Operand) -> tuple[str, ast.expr]:
        """A pair: the sign and the node of ``second``; ``+=`` or ``-=`` of an operand that begins with a minus becomes the
        other one."""
        turned = self.e.turned(second) if sign in _OTHER else None
        return (sign, self.e.operand(second)) if turned is None else (_OTHER[sign], turned)

    # ---- stores

    def store(self, stmt: ir.Store) -> Parts:
        """The parts of the line that stores a value at a place, an update of the place if the value is computed from it."""
        target = self.target(stmt.buf, stmt.path, stmt.args)
        update = self.same_place(stmt, target)
        if update is not None:
            left = self.e.name(stmt.buf) if not stmt.path else target
            return (left, f" {update[0]} ", update[1])
        return (target, " = ", self.e.operand(stmt.value))

    def target(self, buf: ir.Var, path: ir.Path, args: tuple[ir.Operand, ...]) -> ast.expr:
        """The place in ``buf`` that ``path``, with the operands ``args``, selects, as the target of an assignment.

        A whole array gets ``[:]``, a 0-d array ``[...]``; a scalar that is a variable is only its name.
        """
        node = place(self.e.name(buf), path, lambda k: self.e.operand(args[k]))
        if is_subscript(path) or (not path and not buf.type.dims and buf not in self.e.zero_d):
            return node
        whole: ast.expr = ast.Slice(None, None, None) if buf.type.dims else ast.Constant(Ellipsis)
        return ast.Subscript(node, whole, LOAD)

    def same_place(self, stmt: ir.Store, target: ast.expr) -> tuple[str, ast.expr] | None:
        """A pair such as ``("*=", y)`` if the stored value is ``place * y`` of the same dtype; else None. ``target``: the
        place's node."""
        tree = self.nested.trees.get(stmt.value) if isinstance(stmt.value, ir.Var) else None
        if not isinstance(tree, ir.Let) or not augmented(tree):
            return None
        if tree.var.type.dtype != stmt.buf.type.dtype or "via" in tree.params or "py" in tree.params:
            return None
        first, second = tree.args
        if self.is_place(first, stmt, target):
            return self.signed(augmented(tree), second)
        if record_of(tree).commutes and self.is_place(second, stmt, target) and not isinstance(first, ir.Const):
            return self.signed(augmented(tree), first)
        return None

    def is_place(self, operand: ir.Operand, stmt: ir.Store, target: ast.expr) -> bool:
        """Whether the operand is what stands at the place that the statement stores to; ``target``: the node of the place."""
        if not stmt.path:
            return operand is stmt.buf or (not stmt.buf.type.dims and is_alike(self.e.operand(operand), target))
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if not isinstance(tree, ir.Let) or tree.prim != "index" or tree.args[0] is not stmt.buf:
            return False
        return is_alike(self.e.let(tree), target)

    # ---- additions

    def add(self, stmt: ir.Add) -> Parts:
        """The parts of the line that adds a value at a place: ``+=``, ``-=`` for an operand with a minus, or ``np.add.at``."""
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
        """The node of a call of ``np.add.at``, in which repeated subscripts all count."""
        steps = merged(stmt.path)
        last = steps[-1]
        if not isinstance(last, ir.Index):
            raise NotImplementedError("an addition through a gather that is not the last step of its path")
        base = place(self.e.name(stmt.buf), tuple(steps[:-1]), lambda k: self.e.operand(stmt.args[k]))  # type: ignore[arg-type]
        index = subscript(last.items, lambda k: self.e.operand(stmt.args[k]))
        return call(dotted("np.add.at"), base, _as_argument(index), self.e.operand(stmt.value))


def is_alike(one: ast.expr, two: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(two)


def _as_argument(index: ast.expr) -> ast.expr:
    """A subscript as an argument of a call: slices become ``slice(...)``."""
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
