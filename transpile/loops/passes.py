"""The order of the passes."""

from __future__ import annotations

from collections.abc import Sequence

from transpile.core.nodes import Function
from transpile.loops.assume import Assumed, assume
from transpile.loops.blocks import by_vectors
from transpile.loops.checks import hoist_checks
from transpile.loops.contract import contract
from transpile.loops.dead import remove_dead
from transpile.loops.forward import forward
from transpile.loops.fuse import fuse
from transpile.loops.hoist import hoist
from transpile.loops.invariant import move_invariants
from transpile.loops.matrices import multiply
from transpile.loops.order import order
from transpile.loops.parallel import parallelise
from transpile.loops.powers import expand_powers
from transpile.loops.promote import promote
from transpile.loops.tiny import write_out
from transpile.loops.twice import once
from transpile.loops.unroll import unroll
from transpile.loops.views import see_through


def optimise(fn: Function, sizes: Sequence[Assumed] = (), threads: int = 0, vectors: bool = True) -> Function:
    """The lowered function with faster loops: each pass takes what the one before has found.

    ``sizes``: what is assumed of the sizes of parameters (`transpile.loops.assume`). ``threads``: on how many cores
    independent trips of outer loops run; 0 is without. Without
    ``vectors`` the result calls nothing of `runtime.compiled.vector`.
    """
    fn = expand_powers(remove_dead(see_through(forward(assume(fn, sizes)))))
    fn = forward(hoist_checks(fn))
    fn = forward(hoist_checks(fn))  # what is simpler now may leave another loop
    multiplied = multiply(fn)
    if multiplied is not fn:
        fn = once(remove_dead(forward(multiplied)))
    tiny = write_out(fn)
    if tiny is not fn:
        fn = remove_dead(forward(tiny))
    fn = forward(unroll(fn))
    ordered = order(fn)
    fn = _fused(fn if ordered is fn else forward(ordered))
    ordered = order(fn)
    if ordered is not fn:
        fn = _fused(forward(ordered))
    moved = move_invariants(fn)
    if moved is not fn:
        fn = _fused(forward(moved))
    if threads:
        fn = parallelise(fn, threads)
    fn = remove_dead(forward(hoist(promote(fn))))
    return by_vectors(fn) if vectors else fn


def _fused(fn: Function) -> Function:
    fn = remove_dead(forward(fuse(fn)))
    return forward(remove_dead(contract(fn)))
