"""Single statements as lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from transpile.base.raised import Raised
from transpile.codegen.expression_nodes import call
from transpile.codegen.layout import Line
from transpile.codegen.numpy.effects import effect_lines
from transpile.codegen.numpy.expression_trees import renamings
from transpile.codegen.numpy.printed_loops import Loops
from transpile.core import nodes as ir


class Writer(Loops):
    """Writes the body of one function."""

    def statement(self, stmts: Sequence[ir.Stmt], at: int, depth: int) -> int:
        """Writes the statement at ``at`` with the following ones that belong to it; returns how many statements were written.

        Sizes of one array are one line, so are renamings, and a loop with the branch on its flag becomes a loop with ``else``.
        """
        sizes = self.sizes(stmts, at)
        if len(sizes) > 1:
            targets = ", ".join(self.names[s.var] for s in sizes)
            shape = ast.Attribute(self.node(sizes[0].args[0]), "shape", ast.Load())
            self.line(depth, f"{targets} = ", shape)
            return len(sizes)
        if isinstance(first := stmts[at], ir.Let) and first.prim == "identity":
            count = renamings(stmts, at, self.nested)
            self.rename(stmts[at : at + count], depth)  # type: ignore[arg-type]
            return count
        flagged = self.flags.find(stmts[at], stmts[at + 1] if at + 1 < len(stmts) else None)
        if flagged is not None and self.loop_else(flagged, stmts[at + 1], depth):
            return 2
        _STATEMENTS[type(stmts[at])](self, stmts[at], depth)
        return 1

    def rename(self, lets: Sequence[ir.Let], depth: int) -> None:
        """Writes the *lets*, at least one, as simultaneous assignments; those of a name to itself are left out."""
        handed = [(self.names[s.var], s.args[0], s.var) for s in lets]
        handed = [h for h in handed if not self.form.is_name(h[1], h[0])]
        self.hand(handed, depth, lets[0].loc, self.live.after[id(lets[-1])])

    def sizes(self, stmts: Sequence[ir.Stmt], at: int) -> list[ir.Let]:
        """The *lets* from ``at`` on that read all sizes of one array in order; empty if they do not."""
        found: list[ir.Let] = []
        for stmt in stmts[at:]:
            if not isinstance(stmt, ir.Let) or stmt.prim != "dim" or stmt.params["axis"] != len(found):
                break
            if found and stmt.args != found[0].args:
                break
            found.append(stmt)
        return found if found and len(found) == found[0].args[0].type.rank else []


def _let(w: Writer, stmt: ir.Let, depth: int) -> None:
    """Writes an assignment, an update in place, or an unpacking of several results.

    Nothing is written for an item of these, or for a copy of a scalar that has the same name.
    """
    if stmt.var.type.kind == "tuple":
        return _unpack(w, stmt, depth)
    if stmt.prim == "item":
        return None
    name = w.names[stmt.var]
    same = stmt.prim == "copy" or (stmt.prim == "index" and not stmt.params["path"])
    if same and not stmt.var.type.dims and w.form.is_name(stmt.args[0], name):
        return None
    if not w.update(name, stmt, depth, stmt.loc, w.live.after[id(stmt)]):
        w.line(depth, f"{name} = ", w.expressions.let(stmt), loc=ir.NOWHERE if stmt.prim == "dim" else stmt.loc)
    return None


def _unpack(w: Writer, stmt: ir.Let, depth: int) -> None:
    """Writes ``a, _ = f(x)`` for a primitive with several results: an unread result has no name."""
    items = w.items.get(stmt.var, [])
    names = ["_"] * len(stmt.var.type.items)
    for item in items:
        names[item.params["k"]] = w.names[item.var]
    target = ", ".join(names) + ("," if len(names) == 1 else "")
    w.line(depth, f"{target} = ", w.expressions.let(stmt), loc=stmt.loc)


def _call(w: Writer, stmt: ir.Call, depth: int) -> None:
    """Writes ``x, _ = f(y)``: an unread result has no name."""
    target = ", ".join(w.names.get(r, "_") for r in stmt.results)
    w.line(depth, f"{target} = " if target else "", w.expressions.called(stmt), loc=stmt.loc)


def _alloc(w: Writer, stmt: ir.Alloc, depth: int) -> None:
    let = ir.Let(stmt.var, stmt.prim, stmt.args, stmt.params, stmt.loc, stmt.reason)
    w.line(depth, f"{w.names[stmt.var]} = ", w.expressions.let(let), loc=stmt.loc)


def _store(w: Writer, stmt: ir.Store, depth: int) -> None:
    """Writes a store, in place where possible; nothing if a scalar is assigned to itself."""
    if stmt.path or not w.form.is_name(stmt.value, w.names[stmt.buf]):
        w.line(depth, *w.updates.store(stmt), loc=stmt.loc)


def _add(w: Writer, stmt: ir.Add, depth: int) -> None:
    w.line(depth, *w.updates.add(stmt), loc=stmt.loc)


def _push(w: Writer, stmt: ir.Push, depth: int) -> None:
    append = ast.Attribute(w.expressions.name(stmt.stack), "append", ast.Load())
    w.line(depth, call(append, w.node(stmt.value)), loc=stmt.loc)


def _effect(w: Writer, stmt: ir.Print | ir.Raise, depth: int) -> None:
    """Writes a ``print``, breakpoint or ``raise``; a ``raise`` also notes the error that its line raises."""
    args = [w.node(a) for a in stmt.args]
    raised = None
    if isinstance(stmt, ir.Raise):
        lanes = args[len(args) - stmt.lanes :]
        raised = Raised(stmt.sizes_at is not None, tuple(reversed(lanes)))
    says_line = isinstance(stmt, ir.Raise) and bool(stmt.sizes_at)
    for parts in effect_lines(stmt, args):
        w.lines.append(Line(depth, parts, stmt.loc, comment=not says_line, raised=raised))


_STATEMENTS: dict[type, Callable[[Any, Any, int], None]] = {
    ir.Let: _let,
    ir.Call: _call,
    ir.Alloc: _alloc,
    ir.Store: _store,
    ir.Add: _add,
    ir.If: Writer.branch,
    ir.For: Writer.loop_for,
    ir.While: Writer.loop_while,
    ir.NewStack: lambda w, s, depth: w.line(depth, f"{w.names[s.var]} = []", loc=s.loc),
    ir.Push: _push,
    ir.Pop: lambda w, s, depth: w.line(depth, f"{w.names[s.var]} = {w.names[s.stack]}.pop()", loc=s.loc),
    ir.Print: _effect,
    ir.Breakpoint: _effect,
    ir.Raise: _effect,
}
