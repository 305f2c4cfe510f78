"""Checks that no pass repeats an effect: each print occurs at most as often after a pass as before it.

A raise ends the run, so it cannot be seen twice. The prints of a called function count once for each call. A call with a
user-defined derivative counts its function and its rule before a pass, because the pass decides which of them replaces the
call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from transpile.core import nodes as ir
from transpile.core.functions import routine_of
from transpile.core.verify_scopes import refuse
from transpile.core.walk import blocks, statements

Effects = Counter[ir.Loc]  # location of a print -> count


def repeated(old: ir.Function, new: ir.Function, after: str) -> None:
    """Raises `InternalError` if on some path ``new``, which the pass ``after`` made, prints more often than ``old``."""
    more = effects(new.body) - effects(old.body, with_rules=True)
    if more:
        refuse(new, after, f"the print of line {next(iter(more)).line} is done more often than before")


def effects(block: ir.Block, with_rules: bool = False) -> Effects:
    """For each place of a print in the user's code, the largest number of times that it occurs on a path through the block;
    loop bodies count once.

    ``with_rules`` adds the prints in user-defined derivatives.
    """
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
    """The number of prints in a called function, by their place; ``with_rules`` adds those of a user-defined derivative."""
    found: Effects = Counter()
    if isinstance(stmt.function, ir.Custom):
        rule = (stmt.custom.derivative, stmt.custom.pullback) if with_rules else ()
        for fn in (stmt.custom.fn, *rule):
            found += effects(fn.body, with_rules) if fn is not None else Counter()
    else:
        found.update({s.loc for s in _prints(stmt, set())})
    return found


def _prints(stmt: ir.Stmt, seen: set[ir.Routine]) -> Iterator[ir.Print]:
    """The prints in a called kept function and the functions that it calls; a function without a body yet, or in ``seen``, is
    skipped. Functions visited are added to ``seen``."""
    routine = routine_of(stmt)
    if routine is not None and routine.fn is not None and routine not in seen:
        seen.add(routine)
        for inner in statements(routine.fn.body):
            if isinstance(inner, ir.Print):
                yield inner
            yield from _prints(inner, seen)
