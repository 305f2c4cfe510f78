"""Summaries of what calls do in lanes, computed from the bodies of the called functions; for kept functions, by a fixed point.

power(x, k), x differs        ->   values (True,), sizes (False,); it does not split: all lanes go equally deep
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.analysis.called import Pattern, Summary, is_reached
from transpile.analysis.mapped import Mapped, acts_in_lanes, below_branches
from transpile.core import nodes as ir
from transpile.core.functions import Routine, routine_of
from transpile.core.walk import reads, statements


class Called:
    """Cached summaries, shared by all analyses of one program. Kept functions need a fixed point: one that is requested during
    the iteration is first assumed to do nothing."""

    def __init__(self) -> None:
        self.routines: dict[tuple[Routine, Pattern], Summary] = {}
        self.functions: dict[
            tuple[int, Pattern], tuple[ir.Function, Summary]
        ] = {}  # keeps the function alive, so that its id stays valid
        self.is_open = False

    def of(self, stmt: ir.Call, given: Sequence[bool | None]) -> Summary:
        """The summary of a call; ``given`` says which of its arguments differ between lanes (None: the axis of their
        collectives)."""
        if isinstance(stmt.function, Routine):
            return self.of_routine(stmt.function, tuple(given))
        return self.of_function(stmt.custom.fn, tuple(given))

    def of_function(self, fn: ir.Function, given: Pattern) -> Summary:
        """The summary of a call of ``fn``, which has a user-defined derivative; ``given``: which of its arguments differ
        between lanes."""
        key = id(fn), given
        if key in self.functions:
            return self.functions[key][1]
        found = self._summary(fn, given)
        if not self.is_open:
            self.functions[key] = fn, found
        return found

    def of_routine(self, routine: Routine, given: Pattern) -> Summary:
        """The summary of a call of a kept function whose arguments differ between lanes as ``given``; one without a body yet is
        assumed to do everything."""
        key = routine, given
        several = len(routine.results)
        if routine.fn is None:  # its body is still being built
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

    def _summary(self, fn: ir.Function, given: Pattern, routine: Routine | None = None) -> Summary:
        """The summary computed from the body of ``fn``, for arguments that differ between lanes as ``given`` says.

        ``routine``: the kept function whose body this is, None for any other function; an argument that differs in a call of
        itself is added to ``given`` in the result.
        """
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
