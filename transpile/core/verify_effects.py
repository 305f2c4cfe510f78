"""No effect is repeated: what a function prints stands no more often in what a pass makes of it.

What is raised ends the run, so that nobody sees it twice. A function that is called prints as often as it is called. One with a
derivative of the user's own may do what it does itself and what its rule does: which of them stands in its place, the pass decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from transpile.core import nodes as ir
from transpile.core.functions import routine_of
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, statements

Effects = Counter[ir.Loc]  # of prints


def repeated(old: ir.Function, new: ir.Function, after: str) -> None:
    """Raises `InternalError` where ``new`` does on one way what ``old`` does not, or more often."""
    more = effects(new.body) - effects(old.body, with_rules=True)
    if more:
        refuse(new, after, f"the print of line {next(iter(more)).line} is done more often than before")


def effects(block: ir.Block, with_rules: bool = False) -> Effects:
    """How often each effect of the user's stands on that way through a block on which it does so most often; of a function with a
    rule also what the rule does."""
    found: Effects = Counter()
    for stmt in block.stmts:
        if isinstance(stmt, ir.Print):
            found[stmt.loc] += 1
        elif isinstance(stmt, ir.If):
            found += effects(stmt.then, with_rules) | effects(stmt.orelse, with_rules)
        elif isinstance(stmt, ir.Call):
            found += _called(stmt, with_rules)
        else:
            for inner in blocks(stmt):
                found += effects(inner, with_rules)
    return found


def _called(stmt: ir.Call, with_rules: bool) -> Effects:
    found: Effects = Counter()
    if isinstance(stmt.function, ir.Custom):
        rule = (stmt.custom.derivative, stmt.custom.pullback) if with_rules else ()
        for fn in (stmt.custom.fn, *rule):
            found += effects(fn.body, with_rules) if fn is not None else Counter()
    else:
        found.update({s.loc for s in _prints(stmt, set())})
    return found


def _prints(stmt: ir.Stmt, seen: set[ir.Routine]) -> Iterator[ir.Print]:
    """What a call of a kept function prints, as far as the bodies are there: of one that is being made, who makes it asks."""
    routine = routine_of(stmt)
    if routine is not None and routine.fn is not None and routine not in seen:
        seen.add(routine)
        for inner in statements(routine.fn.body):
            if isinstance(inner, ir.Print):
                yield inner
            yield from _prints(inner, seen)
