"""What a call does in lanes, for which of its arguments differ between them: found over the body of what is called.

def power(x, k):                   power(x, k) where x differs: its results do, sizes and the depth of its calls do not
    if k == 0:                     where k differs: its calls stand in a branch that lanes do not all take
        return x * 0 + 1
    return x * power(x, k - 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transpile.core.nodes import Call, Effect, Function, Stmt
from transpile.core.routines import Routine, routine_of
from transpile.core.walk import blocks, reads, statements

if TYPE_CHECKING:
    from transpile.analysis.mapped import Mapped

Pattern = tuple[
    bool | None, ...
]  # of the arguments: whether it differs between lanes; None: it is the axis of their collectives


@dataclass(frozen=True)
class Summary:
    """``values``, ``sizes``: which results differ between lanes, which have a size of the lane's own. ``acts``: it prints, or
    raises what not all lanes raise. ``splits``: it calls itself on a way that lanes do not all take. ``given``: the arguments that
    differ in this call or in one that it makes of itself: the function of all lanes is one for both."""

    values: Pattern = ()
    sizes: Pattern = ()
    acts: bool = False
    splits: bool = False
    given: Pattern = ()


NOTHING = Summary()  # of what is no call


class Called:
    """Shared by all that is asked of one program. Of kept functions a fixed point: those that are asked for while others are being
    found do nothing at first."""

    def __init__(self) -> None:
        self.routines: dict[tuple[Routine, Pattern], Summary] = {}
        self.functions: dict[
            tuple[int, Pattern], tuple[Function, Summary]
        ] = {}  # the function is kept alive with its id
        self.is_open = False

    def of(self, stmt: Stmt, given: Sequence[bool | None]) -> Summary:
        """What a call does where these arguments differ."""
        if isinstance(stmt, Call):
            return self.of_function(stmt.fn, tuple(given))
        routine = routine_of(stmt)
        assert routine is not None, stmt
        return self.of_routine(routine, tuple(given))

    def of_function(self, fn: Function, given: Pattern) -> Summary:
        key = id(fn), given
        if key in self.functions:
            return self.functions[key][1]
        found = self._summary(fn, given)
        if not self.is_open:
            self.functions[key] = fn, found
        return found

    def of_routine(self, routine: Routine, given: Pattern) -> Summary:
        key = routine, given
        several = len(routine.results)
        if routine.fn is None:  # it is being made
            return Summary((True,) * several, (True,) * several, True, True, given)
        if key in self.routines:
            return self.routines[key]
        self.routines[key] = Summary((False,) * several, (False,) * several, given=given)
        if self.is_open:
            return self.routines[key]
        self.is_open = True
        try:
            before: dict[tuple[Routine, Pattern], Summary] = {}
            while before != self.routines:
                before = dict(self.routines)
                for (one, pattern), last in before.items():
                    self.routines[one, pattern] = self._summary(one.body, last.given, one)
        finally:
            self.is_open = False
        return self.routines[key]

    def _summary(self, fn: Function, given: Pattern, routine: Routine | None = None) -> Summary:
        from transpile.analysis.mapped import Mapped

        axis = next((p for p, differs in zip(fn.params, given) if differs is None), None)
        mapped = Mapped(fn, [p for p, differs in zip(fn.params, given) if differs], self, axis)
        under = below_branches(mapped, fn)
        acts = splits = False
        for stmt in statements(fn.body):
            acts = acts or acts_in_lanes(mapped, stmt, under)
            called = routine_of(stmt)
            if called is not None and routine is not None and (id(stmt) in under or mapped.called_as(stmt).splits):
                splits = splits or is_reached(routine, called)
            if called is not None and called is routine:
                given = tuple(None if g is None else g or mapped.has(a) for g, a in zip(given, reads(stmt)))
        values = tuple(mapped.has(y) for y in fn.body.yields)
        return Summary(values, tuple(mapped.has_size(y.type) for y in fn.body.yields), acts, splits, given)


def below_branches(mapped: Mapped, fn: Function) -> set[int]:
    """The ids of the statements that not all lanes come to equally often."""
    found: set[int] = set()
    for stmt in statements(fn.body):
        if mapped.diverges(stmt):
            found.update(id(s) for b in blocks(stmt) for s in statements(b))
    return found


def acts_in_lanes(mapped: Mapped, stmt: Stmt, under: set[int]) -> bool:
    """Whether a statement prints, or raises what not all lanes raise."""
    if isinstance(stmt, Effect):
        return stmt.kind != "raise" or mapped.has(*stmt.args) or id(stmt) in under
    found = mapped.called_as(stmt)
    return found.acts or id(stmt) in under and may_act(stmt)


def may_act(stmt: Stmt) -> bool:
    """Whether a statement is a print or a raise, or calls what prints or raises."""
    if isinstance(stmt, Effect):
        return True
    return any(True for _ in effects_of(stmt))


def effects_of(stmt: Stmt, seen: set[Routine] | None = None):  # type: ignore[no-untyped-def]
    """The prints and raises in what a statement calls."""
    seen = set() if seen is None else seen
    routine = routine_of(stmt)
    if isinstance(stmt, Call):
        body = stmt.fn.body
    elif routine is not None and routine.fn is not None and routine not in seen:
        seen.add(routine)
        body = routine.fn.body
    else:
        return
    for one in statements(body):
        if isinstance(one, Effect):
            yield one
        else:
            yield from effects_of(one, seen)


def is_reached(routine: Routine, start: Routine) -> bool:
    """Whether a call of ``start`` may come to call ``routine``."""
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


__all__ = ["Called", "Summary", "acts_in_lanes", "below_branches", "effects_of", "may_act"]
