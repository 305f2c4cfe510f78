"""Blocks and branches as lines: assignments, the values that branches pass on, and their order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.codegen.layout import Line
from transpile.codegen.numpy.printable_form import Handed, Printable
from transpile.codegen.numpy.printed_exits import Flags, Leave
from transpile.codegen.numpy.printed_updates import Updates
from transpile.codegen.numpy.value_nodes import Expressions, negated
from transpile.core import nodes as ir
from transpile.ops.tables import record_of


class Blocks:
    """Writes blocks and branches to ``lines``; `printed_statements.Writer` writes single statements.

    In all methods ``depth`` is the indentation, ``live`` or ``after`` a mask of the variables live afterwards.
    """

    def __init__(self, form: Printable) -> None:
        nested = form.nested
        self.form, self.nested, self.names = form, nested, form.names
        self.expressions = Expressions(nested, form.names)
        self.live, self.items = form.live, form.items
        self.updates = Updates(form, self.expressions)
        self.lines: list[Line] = []
        self.flags = Flags(nested)
        self.unsaid: set[ir.Var] = set()  # flags that are not printed
        self.leaves: dict[int, Leave] = {}  # id of a loop -> writes its exit
        self.kept: list[ir.Stmt] = []  # statements created here: facts are found by id, so they must stay alive

    def statement(self, stmts: Sequence[ir.Stmt], at: int, depth: int) -> int:
        """Writes the statement at ``at`` with the following ones that belong to it; returns how many statements were
        written."""
        raise NotImplementedError

    def line(self, depth: int, *parts: str | ast.expr, loc: ir.Loc = ir.NOWHERE) -> None:
        """Appends a line of text and nodes, with the user's location ``loc``."""
        self.lines.append(Line(depth, parts, loc))

    def node(self, operand: ir.Operand) -> ast.expr:
        return self.expressions.operand(operand)

    def block(self, stmts: Sequence[ir.Stmt], depth: int) -> None:
        at = 0
        while at < len(stmts):
            at += self.statement(stmts, at, depth)

    def assign(self, name: str, operand: ir.Operand, var: ir.Var, depth: int, loc: ir.Loc, live: int) -> None:
        """Writes ``name = operand``, or an update of ``name`` in place.

        ``live``: a mask of the variables live afterwards. An operand that is an expression is printed with its own location.
        """
        tree = self.nested.trees.get(operand) if isinstance(operand, ir.Var) else None
        if isinstance(tree, (ir.Let, ir.Call)):
            loc = tree.loc if tree.loc.line else loc
        if isinstance(tree, ir.Let) and self.update(name, tree, depth, loc, live):
            return
        self.line(depth, f"{name} = ", self.expressions.operand(operand, True), loc=loc)

    def update(self, name: str, let: ir.Let, depth: int, loc: ir.Loc, live: int) -> bool:
        """Writes ``name = let`` as an update in place if it may be one, and returns True; else writes nothing and returns
        False."""
        found = self.updates.rebinding(name, let, live)
        if found is not None:
            self.line(depth, f"{name} {found[0]} ", found[1], loc=loc)
        return found is not None

    def hand(self, handed: Sequence[Handed], depth: int, loc: ir.Loc, live: int) -> None:
        """Writes assignments that are meant to be simultaneous, in an order in which none overwrites an operand of a later one.

        If there is no such order, those left are one statement ``a, b = b, a``.
        """
        todo = list(handed)
        while todo:
            reads = [{self.names[v] for v in self.nested.leaves((o,))} for _, o, _ in todo]
            free = next(
                (k for k, (name, _, _) in enumerate(todo) if not any(name in r for j, r in enumerate(reads) if j != k)),
                None,
            )
            if free is None:
                left = ", ".join(name for name, _, _ in todo)
                right = ast.Tuple([self.expressions.operand(o, True) for _, o, _ in todo], ast.Load())
                trees = [self.nested.trees.get(o) for _, o, _ in todo if isinstance(o, ir.Var)]
                loc = next((tree.loc for tree in trees if tree is not None and tree.loc.line), loc)
                self.line(depth, f"{left} = ", *bare(right), loc=loc)
                return
            name, operand, var = todo.pop(free)
            self.assign(name, operand, var, depth, loc, live)

    def pairs(self, targets: Sequence[ir.Var], sources: Sequence[ir.Operand], wanted: int) -> list[Handed]:
        """The assignments that pass ``sources`` on to ``targets``, as `Printable.pairs`, without flags that are not printed.

        Only targets in the mask ``wanted`` count.
        """
        return self.form.pairs(targets, sources, wanted, self.unsaid)

    # ---- branches

    def branch(self, stmt: ir.If, depth: int, word: str = "if") -> None:
        """Writes a branch, whose first line begins with ``word``; an ``else`` that is only a branch becomes ``elif``.

        A side without lines is left out: the other one is then tested alone, or nothing is written.
        """
        after = self.live.after[id(stmt)]
        stmt = self.turned(stmt, after)
        then = self.captured(lambda: self.side(stmt, stmt.then, depth + 1, after))
        inner = stmt.orelse.stmts
        if then:
            is_check = all(isinstance(s, ir.Raise) for s in stmt.then.stmts) and not then[0].comment
            self.lines.append(Line(depth, (f"{word} ", self.node(stmt.test), ":"), stmt.loc, comment=not is_check))
            self.lines += then
            if (
                len(inner) == 1
                and isinstance(inner[0], ir.If)
                and not self.pairs(stmt.results, stmt.orelse.yields, after)
            ):
                self.branch(inner[0], depth, "elif")
                return
        orelse = self.captured(lambda: self.side(stmt, stmt.orelse, depth + 1, after))
        if not orelse:
            return
        if then:
            self.line(depth, "else:")
        else:
            self.line(depth, f"{word} ", self.negation(stmt.test), ":", loc=stmt.loc)
        self.lines += orelse

    def turned(self, stmt: ir.If, after: int) -> ir.If:
        """The branch ``if c: b else: a`` for ``if not c: a else: b``, unless a side is empty; other branches as they are.

        ``after``: a mask of the variables live after the branch.
        """
        tree = self.nested.trees.get(stmt.test) if isinstance(stmt.test, ir.Var) else None
        if not isinstance(tree, ir.Let) or not record_of(tree).is_negation:
            return stmt
        if not all(side.stmts or self.pairs(stmt.results, side.yields, after) for side in (stmt.then, stmt.orelse)):
            return stmt
        new = replace(stmt, test=tree.args[0], then=stmt.orelse, orelse=stmt.then)
        self.live.after[id(new)] = after
        self.kept.append(new)
        return new

    def side(self, stmt: ir.If, side: ir.Block, depth: int, after: int) -> None:
        """Writes one side of a branch and the assignments of its values to the branch's results."""
        self.block(side.stmts, depth)
        self.hand(self.pairs(stmt.results, side.yields, after), depth, stmt.loc, after)

    def captured(self, write: Callable[[], None]) -> list[Line]:
        """The lines that ``write`` produces, which are not added to ``lines``."""
        saved, self.lines = self.lines, []
        write()
        written, self.lines = self.lines, saved
        return written

    def negation(self, test: ir.Operand) -> ast.expr:
        """The node of ``not test``, as the opposite comparison where no NaN can make a difference."""
        tree = self.nested.trees.get(test) if isinstance(test, ir.Var) else None
        exact = isinstance(tree, ir.Let) and all(not a.type.is_float for a in tree.args)
        return negated(self.node(test), exact)


def bare(node: ast.Tuple) -> list[str | ast.expr]:
    """The parts that print the elements of a tuple without parentheses."""
    parts: list[str | ast.expr] = []
    for k, element in enumerate(node.elts):
        parts += [", ", element] if k else [element]
    return parts
