"""Batching: the function of one lane becomes the function of all lanes, core to core.

    h = np.tanh(w @ x)                h = np.tanh(x @ w.T)                    one statement for all lanes
    while y > tol:             ->     for lane in range(batch):               a region: what takes another way in each lane
        y = step(y, h)                    y = ...
                                          while y > tol: ...

What differs between lanes is found by a fixed point (`transpile.analysis.mapped`); what runs for all lanes at once, and in which
order, by `modes`; the rules are those of families of primitives (`families`), which the primitives' records name. Values of all
lanes have the lane axis in front.
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.analysis.called import Called
from transpile.analysis.mapped import Mapped
from transpile.core.nodes import Function, Var
from transpile.errors import error
from transpile.transform.batching.cost import is_worth_an_axis
from transpile.transform.batching.diagonals import Diagonals
from transpile.transform.batching.later import recording_later
from transpile.transform.batching.modes import Apart, Differs, Escapes, Modes
from transpile.transform.batching.named import apart, sized
from transpile.transform.batching.places import with_constant_fills
from transpile.transform.batching.whole import Decided, Emit

__all__ = ["batch", "is_worth_an_axis"]


def batch(
    fn: Function,
    axes: Sequence[int | None],
    outs: Sequence[int | None],
    *,
    count: int | None = None,
    together: bool = False,
    unit: int | None = None,
    axis: int | None = None,
    checked: bool = True,
) -> Function:
    """``fn`` for all lanes: ``axes`` says for each parameter which axis is that of the lanes, ``outs`` for each result.

    ``count`` is the number of lanes where no parameter has them. ``together``: what can be lane by lane is, but for products of all
    lanes at once. ``unit``: the lanes are directions, and this parameter is 1 in each of them at an element of its own, else 0.
    ``axis``: the parameter that collectives over these lanes have as their axis; it goes, or, if not ``checked``, becomes the
    number of lanes. A result without an axis must be the same in all lanes. ``checked``: that the parameters have equally many
    lanes is not known. Raises `TranspileError` T603, and T605 where lanes come to a collective by different ways.
    """
    given = [None if k == axis else a is not None for k, a in enumerate(axes)]
    try:
        found = decided(fn, given, together, unit, count=count)
    except Escapes as size:
        raise _size_differs(fn, size.var) from None
    fn, mapped = found.fn, found.mapped
    for y, out in zip(fn.body.yields, outs):
        if mapped.has_size(y.type):
            raise _size_differs(fn, y)  # type: ignore[arg-type]
        if out is None and isinstance(y, Var) and mapped.has(y):
            hint = "give it an axis in out_axes"
            message = f"a result of {fn.name!r} for which out_axes is None differs between lanes"
            raise error("T603", message, fn.loc, hint)
    return Emit(found, axes, outs, count, checked).run()


def decided(
    fn: Function,
    given: Sequence[bool | None],
    together: bool,
    unit: int | None = None,
    called: Called | None = None,
    count: int | None = None,
) -> Decided:
    """The function as it is batched where these parameters have lanes; one that is None is the axis of their collectives."""
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
            modes = Modes(fn, mapped, together, diagonals.stmts if diagonals is not None else (), named)
            return Decided(fn, mapped, modes, diagonals, named)
        except Differs as found:
            differing.add(found.var)
        except Apart as found:
            again = None if named is None else recording_later(fn, named)
            if again is None:
                raise apart(found.stmt) from None
            fn = again


def _size_differs(fn: Function, var: Var) -> Exception:
    hint = "return an array of a size that all lanes share, with what is not used filled up"
    message = f"a result of {fn.name!r} has a size that depends on the data and may differ between lanes"
    return error("T603", message, fn.loc, hint)
