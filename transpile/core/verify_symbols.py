"""Checks that each symbol in a type has a visible value: the index of an enclosing loop, the size of a parameter, or an
operand.

A size that is known only at run time is bound by the value that has it: `Function.symbols` names a ``dim`` of that value, which
may come later. A symbol without an operand is free: its value is never needed. The type of a stack may name loop indices, since
its elements come from all iterations.
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, defines, index_symbols, statements, type_symbols

LIFTED = "lift"
"""The pass after which every symbol must be bound, except in code with an `Add`: the reverse sweep of a derivative that the
user calls may name sizes that exist only in a branch of the forward sweep, without needing their values. Indices must always
stay in their loops."""


def bound(fn: ir.Function, after: str) -> None:
    """Raises `InternalError`, which names the pass ``after``, if a type names a symbol that is not bound there."""
    _Bound(fn, after).function()


class _Bound:
    def __init__(self, fn: ir.Function, after: str) -> None:
        self.fn, self.after = fn, after
        stmts = list(statements(fn.body))
        self.lets = {s.var: s for s in stmts if isinstance(s, ir.Let)}
        has_sweep = any(isinstance(s, ir.Add) for s in stmts)  # of a derivative that the function calls
        self.asks_all = after == LIFTED and not has_sweep
        self.indices = {n for s in stmts for n in index_symbols(s)}
        self.given = {n for p in fn.params for n in type_symbols(p.type)}
        self.visible: set[ir.Operand] = set(fn.params)
        self.around: list[str] = []  # the symbols of the enclosing loops

    def function(self) -> None:
        self.block(self.fn.body)

    def block(self, block: ir.Block) -> None:
        """Checks the types of parameters and definitions in a block, which are not visible after it."""
        inside = list(block.params)
        for param in block.params:
            self.type(param, None)
        for stmt in block.stmts:
            for inner in blocks(stmt):
                self.inner(stmt, inner)
            for var in defines(stmt):
                self.type(var, stmt)
                self.visible.add(var)
                inside.append(var)
        self.visible.difference_update(inside)

    def inner(self, stmt: ir.Stmt, block: ir.Block) -> None:
        """Checks a block of ``stmt``, inside which a loop's index and its symbol are visible."""
        self.visible.update(block.params)
        if not isinstance(stmt, ir.For):
            return self.block(block)
        around, self.around = self.around, [*self.around, *index_symbols(stmt)]
        self.visible.add(stmt.index)
        self.block(block)
        self.visible.discard(stmt.index)
        self.around = around

    def type(self, var: ir.Var, stmt: ir.Stmt | None) -> None:
        """Raises `InternalError` if the type of ``var`` names the index of a loop that is not around it, or a symbol without a
        value."""
        if var.type.kind == "stack":
            return
        for name in type_symbols(var.type):
            if name in self.given or name in self.around:
                continue
            if name in self.indices:
                refuse(self.fn, self.after, f"{var} names {name}, the index of a loop that is not around it", stmt)
            if self.asks_all and not self.has(name, var):
                refuse(self.fn, self.after, f"{var} names {name}, which has no value there", stmt)

    def has(self, name: str, var: ir.Var) -> bool:
        """Whether the operand of a symbol is visible, or is a size of a visible value or of ``var`` itself; True also if there
        is none."""
        holder = self.fn.symbols.get(name)
        if not isinstance(holder, ir.Var) or holder in self.visible:
            return True
        let = self.lets.get(holder)
        while let is not None and let.prim in ("dim", "item"):
            source = let.args[0]
            if source is var or source in self.visible:
                return True
            let = self.lets.get(source) if isinstance(source, ir.Var) else None
        return False
