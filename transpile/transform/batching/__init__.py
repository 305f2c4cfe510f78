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
from transpile.transform.batching.modes import Differs, Escapes, Modes
from transpile.transform.batching.places import with_constant_fills
from transpile.transform.batching.whole import Emit

__all__ = ["batch", "is_worth_an_axis"]


def batch(
    fn: Function,
    axes: Sequence[int | None],
    outs: Sequence[int | None],
    *,
    count: int | None = None,
    together: bool = False,
    unit: int | None = None,
    checked: bool = True,
) -> Function:
    """``fn`` for all lanes: ``axes`` says for each parameter which axis is that of the lanes, ``outs`` for each result.

    ``count`` is the number of lanes where no parameter has them. ``together``: what can be lane by lane is, but for products of all
    lanes at once. ``unit``: the lanes are directions, and this parameter is 1 in each of them at an element of its own, else 0.
    A result without an axis must be the same in all lanes. ``checked``: that the parameters have equally many lanes is not known.
    Raises `TranspileError` T603.
    """
    try:
        fn, mapped, modes, diagonals = decided(fn, [a is not None for a in axes], together, unit)
    except Escapes as found:
        raise _size_differs(fn, found.var) from None
    for y, out in zip(fn.body.yields, outs):
        if mapped.has_size(y.type):
            raise _size_differs(fn, y)  # type: ignore[arg-type]
        if out is None and isinstance(y, Var) and mapped.has(y):
            hint = "give it an axis in out_axes"
            message = f"a result of {fn.name!r} for which out_axes is None differs between lanes"
            raise error("T603", message, fn.loc, hint)
    return Emit(fn, mapped, modes, axes, outs, count, diagonals, checked).run()


def decided(
    fn: Function,
    given: Sequence[bool],
    together: bool,
    unit: int | None = None,
    called: Called | None = None,
) -> tuple[Function, Mapped, Modes, Diagonals | None]:
    """The function as it is batched where these parameters have lanes: what differs between them, and what runs how."""
    fn = with_constant_fills(fn)
    differing = {p for p, differs in zip(fn.params, given) if differs}
    called = called if called is not None else Called()
    while True:
        mapped = Mapped(fn, differing, called)
        diagonals = None if unit is None else Diagonals(fn, mapped, fn.params[unit], together)
        try:
            modes = Modes(fn, mapped, together, diagonals.stmts if diagonals is not None else ())
            return fn, mapped, modes, diagonals
        except Differs as found:
            differing.add(found.var)


def _size_differs(fn: Function, var: Var) -> Exception:
    hint = "return an array of a size that all lanes share, with what is not used filled up"
    message = f"a result of {fn.name!r} has a size that depends on the data and may differ between lanes"
    return error("T603", message, fn.loc, hint)
