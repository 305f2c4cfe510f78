"""No effect is repeated: what a function prints stands no more often in what a pass makes of it.

What raises ends the call: what stands for it once more is never come to.
"""

from __future__ import annotations

from collections import Counter

from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, statements

Effects = Counter[ir.Loc]


def repeated(old: ir.Function, new: ir.Function, after: str) -> None:
    """Raises `InternalError` where ``new`` does on one way what ``old`` does not, or more often."""
    if any(isinstance(s, ir.Call) and isinstance(s.function, ir.Custom) for s in statements(old.body)):
        return  # which of the functions of a rule is called, a derivative decides
    more = effects(new.body) - effects(old.body)
    if more:
        refuse(new, after, f"the print of line {next(iter(more)).line} is done more often than before")


def effects(block: ir.Block) -> Effects:
    """How often each effect of the user's stands on that way through a block on which it does so most often."""
    found: Effects = Counter()
    for stmt in block.stmts:
        if isinstance(stmt, ir.Print):
            found[stmt.loc] += 1
        elif isinstance(stmt, ir.If):
            found += effects(stmt.then) | effects(stmt.orelse)
        elif isinstance(stmt, ir.Call) and isinstance(stmt.function, ir.Custom):
            for fn in (stmt.custom.fn, stmt.custom.derivative, stmt.custom.pullback):
                found += effects(fn.body) if fn is not None else Counter()
        else:
            for inner in blocks(stmt):
                found += effects(inner)
    return found
