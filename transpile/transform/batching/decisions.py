"""Decides how a function is batched: values are assumed to be equal in all lanes until a contradiction is found."""

from __future__ import annotations

from collections.abc import Sequence

from transpile.analysis.called import Summaries
from transpile.analysis.mapped import Mapped
from transpile.analysis.summaries import Called
from transpile.core import nodes as ir
from transpile.transform.batching.contradictions import Apart, Differs
from transpile.transform.batching.decided import Decided, Flags, Parts
from transpile.transform.batching.diagonals import Diagonals
from transpile.transform.batching.lane_modes import Modes
from transpile.transform.batching.lane_places import with_constant_fills
from transpile.transform.batching.lane_recording import recording_later
from transpile.transform.batching.named_axis import Axis, apart, sized


def decided(
    fn: ir.Function,
    given: Sequence[bool | None],
    together: bool,
    unit: int | None = None,
    called: Summaries | None = None,
    count: int | None = None,
) -> Decided:
    """The decisions for ``fn``, where each parameter whose entry in ``given`` is True has a lane axis; None marks the axis of
    collectives over the lanes. Repeated until they have no contradiction; T605 if lanes reach a collective by different paths,
    `Escapes` if the size of a result differs.

    For ``together``, ``unit`` and ``count`` see `batch`; ``called`` holds the summaries of called functions found so far.
    """
    fn = with_constant_fills(fn)
    named = None
    if None in given:
        fn, named = sized(fn, list(given).index(None), count)
    differing = {p for p, differs in zip(fn.params, given) if differs}
    called = called if called is not None else Called()
    while True:
        mapped = Mapped(fn, differing, called, None if named is None else named.var)
        diagonals = None if unit is None else Diagonals(fn, mapped, fn.params[unit], together)
        try:
            return attempt(fn, mapped, together, diagonals, named)
        except Differs as found:
            differing.add(found.var)
        except Apart as found:
            again = None if named is None else recording_later(fn, named)
            if again is None:
                raise apart(found.stmt) from None
            fn = again


def attempt(
    fn: ir.Function, mapped: Mapped, together: bool, diagonals: Diagonals | None = None, axis: Axis | None = None
) -> Decided:
    """The decisions for ``fn`` if the values that differ are those in ``mapped``. ``diagonals``: the values that are kept as
    diagonals, if any; ``axis``: the axis of collectives, if any. Raises `Differs`, `Apart` or `Escapes` on a contradiction."""

    def inner(called: ir.Function, given: Flags) -> Decided:
        return decided(called, given, together, called=mapped.called)

    def whole(stmt: ir.Call) -> Parts:
        return Parts(stmt, mapped, inner)

    modes = Modes(fn, mapped, together, whole, diagonals.stmts if diagonals is not None else (), axis)
    return Decided(fn, mapped, modes, diagonals, axis)
