"""Batching: the function of one lane becomes the function for all lanes, core to core.

    h = np.tanh(w @ x)                h = np.tanh(x @ w.T)                    one statement for all lanes
    while y > tol:             ->     for lane in range(batch):               a region: lanes take different paths
        y = step(y, h)                    y = ...
                                          while y > tol: ...

A fixed point finds the values that differ between lanes (`transpile.analysis.mapped`); `lane_modes` decides which statements
run for all lanes at once, and in which order; the rules belong to families of primitives (`families`), which the records of the
primitives name. A value for all lanes has the lane axis in front.
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.analysis.called import Pattern
from transpile.core import nodes as ir
from transpile.core.watch import station
from transpile.errors import error
from transpile.simplify.expansion import expanded
from transpile.simplify.tidy import tidy
from transpile.transform.batching.all_lane_function import Emit
from transpile.transform.batching.contradictions import Escapes
from transpile.transform.batching.decided import Decided
from transpile.transform.batching.decisions import decided
from transpile.transform.batching.direction_cost import is_worth_an_axis

__all__ = ["batch", "is_worth_an_axis", "of_lanes"]


@station("batching")
def batch(
    fn: ir.Function,
    axes: Sequence[int | None],
    outs: Sequence[int | None],
    *,
    count: int | None = None,
    together: bool = False,
    unit: int | None = None,
    axis: int | None = None,
    checked: bool = True,
) -> ir.Function:
    """``fn`` for all lanes. ``axes``: the lane axis of each parameter, None if lanes share it; ``outs``: the lane axis of each
    result.

    ``count``: the number of lanes if no parameter has a lane axis. ``together``: everything that can run lane by lane does,
    except products and draws for all lanes at once. ``unit``: the lanes are directions, and in each of them this parameter is 1
    at one element of its own, else 0. ``axis``: the parameter that collectives over these lanes have as their axis; it is
    dropped, or, if not ``checked``, becomes the number of lanes. ``checked``: emit checks that all parameters have the same
    number of lanes. Without a lane axis, a result must be equal in all lanes. Raises `TranspileError` T603, and T605 if lanes
    reach a collective by different paths.
    """
    fn = expanded(fn)
    given = [None if k == axis else a is not None for k, a in enumerate(axes)]
    try:
        found = decided(fn, given, together, unit, count=count)
        if _contradicts(found, outs):  # a value that a branch passes on unchanged does not differ
            found = decided(tidy(fn), given, together, unit, count=count)
    except Escapes as size:
        raise _size_differs(fn, size.var) from None
    fn, mapped = found.fn, found.mapped
    for y, out in zip(fn.body.yields, outs):
        if mapped.has_size(y.type):
            raise _size_differs(fn, y)  # type: ignore[arg-type]
        if out is None and isinstance(y, ir.Var) and mapped.has(y):
            hint = "write its axis in out_axes"
            message = f"out_axes is None for a result of {fn.title!r} that differs between lanes of the batch"
            raise error("T603", message, fn.loc, hint)
    return Emit(found, axes, outs, count, of_lanes, checked).run()


def _contradicts(found: Decided, outs: Sequence[int | None]) -> bool:
    """Whether a result that must be equal in all lanes, since its entry in ``outs`` is None, may differ between them."""
    return any(
        out is None and isinstance(y, ir.Var) and found.mapped.has(y) for y, out in zip(found.fn.body.yields, outs)
    )


def of_lanes(fn: ir.Function, given: Pattern, together: bool) -> ir.Function:
    """A called function for all lanes, whose results all have a lane axis in front. ``given``: for each parameter whether it
    has a lane axis, in front; None for the axis of collectives, which becomes the number of lanes. ``together`` is as for
    `batch`."""
    axis = given.index(None) if None in given else None
    axes = [0 if differs else None for differs in given]
    return batch(fn, axes, [0] * len(fn.body.yields), together=together, axis=axis, checked=False)


def _size_differs(fn: ir.Function, var: ir.Var) -> Exception:
    """The error T603 for a result, or a value, of ``fn`` whose size may differ between lanes; returned, not raised."""
    hint = "return an array of a fixed size, and fill up the rest"
    message = f"the size of a result of {fn.title!r} depends on the data and may differ between lanes of the batch"
    return error("T603", message, fn.loc, hint)
