"""The effect of a call in lanes: which results differ, given which arguments differ; what it prints and raises.

def power(x, k):                   power(x, k) where x differs: its results do, sizes and the depth of its calls do not
    if k == 0:                     where k differs: its calls stand in a branch that lanes do not all take
        return x * 0 + 1
    return x * power(x, k - 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from transpile.core import nodes as ir
from transpile.core.functions import Routine, is_custom, routine_of
from transpile.core.walk import statements

Pattern = tuple[
    bool | None, ...
]  # for each argument: whether it differs between lanes; None: it is the axis of their collectives


@dataclass(frozen=True)
class Summary:
    """``values``, ``sizes``: which results differ between lanes, and which have a size that differs. ``acts``: the function
    prints, or raises in some lanes only. ``splits``: it calls itself on a path that not all lanes take. ``given``: the
    arguments that differ in this call or in a call that it makes of itself, because one function for all lanes serves both."""

    values: Pattern = ()
    sizes: Pattern = ()
    acts: bool = False
    splits: bool = False
    given: Pattern = ()


NOTHING = Summary()  # of a statement that is no call


class Summaries(Protocol):
    """Gives the summary of a call whose arguments differ between lanes as ``given`` says:
    `transpile.analysis.summaries.Called`."""

    def of(self, stmt: ir.Call, given: Sequence[bool | None]) -> Summary: ...


def may_act(stmt: ir.Stmt) -> bool:
    """Whether a statement is an effect (a print, raise or check), or calls a function that contains one."""
    if isinstance(stmt, ir.Effect):
        return True
    return any(True for _ in effects_of(stmt))


def effects_of(stmt: ir.Stmt, seen: set[Routine] | None = None):  # type: ignore[no-untyped-def]
    """The effects (prints, raises, checks) in the functions that a statement calls, directly or not; kept functions in ``seen``
    are left out, and each one that is visited is added to it."""
    seen = set() if seen is None else seen
    routine = routine_of(stmt)
    if is_custom(stmt):
        body = stmt.custom.fn.body
    elif routine is not None and routine.fn is not None and routine not in seen:
        seen.add(routine)
        body = routine.fn.body
    else:
        return
    for one in statements(body):
        if isinstance(one, ir.Effect):
            yield one
        else:
            yield from effects_of(one, seen)


def is_reached(routine: Routine, start: Routine) -> bool:
    """Whether a call of ``start`` may lead to a call of ``routine``; True if both are the same."""
    seen, todo = {start}, [start]
    while todo:
        one = todo.pop()
        if one is routine:
            return True
        inside = statements(one.fn.body) if one.fn is not None else ()
        for called in {r for s in inside if (r := routine_of(s)) is not None} - seen:
            seen.add(called)
            todo.append(called)
    return False
