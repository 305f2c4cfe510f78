"""The order of the passes."""

from __future__ import annotations

from collections.abc import Sequence

from transpile.core.nodes import Function
from transpile.loops.assume import Axis, assume
from transpile.loops.checks import hoist_checks
from transpile.loops.contract import contract
from transpile.loops.dead import remove_dead
from transpile.loops.forward import forward
from transpile.loops.fuse import fuse
from transpile.loops.hoist import hoist
from transpile.loops.order import order
from transpile.loops.promote import promote


def optimise(fn: Function, equal: Sequence[Sequence[Axis]] = ()) -> Function:
    """The lowered function with faster loops: each pass takes what the one before has found.

    ``equal``: axes of parameters that are to have one size (`transpile.loops.assume`).
    """
    fn = remove_dead(forward(assume(fn, equal)))
    fn = forward(hoist_checks(fn))
    fn = forward(hoist_checks(fn))  # what is simpler now may leave another loop
    fn = _fused(fn)
    ordered = order(fn)
    if ordered is not fn:
        fn = _fused(forward(ordered))
    return remove_dead(forward(hoist(promote(fn))))


def _fused(fn: Function) -> Function:
    fn = remove_dead(forward(fuse(fn)))
    return forward(remove_dead(contract(fn)))
