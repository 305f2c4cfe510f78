"""The order of the passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transpile.core.nodes import Function
from transpile.loops.abreast import abreast
from transpile.loops.assume import Assumed, assume
from transpile.loops.blocks import by_vectors
from transpile.loops.bounded import without_questions
from transpile.loops.chains import side_by_side
from transpile.loops.cheap import compute_again
from transpile.loops.checks import hoist_checks
from transpile.loops.contract import contract
from transpile.loops.dead import remove_dead
from transpile.loops.fitting import fit
from transpile.loops.forward import forward
from transpile.loops.fuse import fuse
from transpile.loops.gather import gather
from transpile.loops.hoist import hoist
from transpile.loops.invariant import move_invariants
from transpile.loops.matrices import multiply
from transpile.loops.order import order
from transpile.loops.parallel import LEAST, parallelise
from transpile.loops.powers import expand_powers
from transpile.loops.promote import promote
from transpile.loops.reuse import reuse
from transpile.loops.sides import take_sides
from transpile.loops.tiny import write_out
from transpile.loops.twice import once
from transpile.loops.unroll import unroll
from transpile.loops.views import see_through
from transpile.loops.wrapped import split_wrapped
from transpile.loops.zeros import skip_zeros

Pass = Callable[[Function], Function]


def optimise(
    fn: Function, sizes: Sequence[Assumed] = (), threads: int = 0, vectors: bool = True, least: float = LEAST
) -> Function:
    """The lowered function with faster loops: each pass takes what the one before has found.

    ``sizes``: what is assumed of the sizes of parameters (`transpile.loops.assume`). ``threads``: on how many cores
    independent trips of outer loops run, where there is ``least`` work for each; 0 is without. Without ``vectors`` the result
    calls nothing of `transpile_runtime.compiled.vector`.
    """
    fn = expand_powers(remove_dead(see_through(forward(assume(fit(fn), sizes)))))
    fn = forward(remove_dead(hoist_checks(fn)))
    fn = then(lambda new: forward(remove_dead(new)), hoist_checks, fn)  # what is simpler now may leave another loop
    fn = then(clean, without_questions, fn)
    fn = then(clean, take_sides, fn)
    fn = then(lambda new: once(clean(new)), multiply, fn)
    fn = then(clean, write_out, fn)
    fn = then(clean, unroll, fn)
    fn = then(clean, gather, fn)
    fn = fused(then(forward, order, fn))
    fn = then(lambda new: fused(forward(new)), order, fn)
    fn = then(lambda new: fused(forward(new)), move_invariants, fn)
    fn = then(clean, skip_zeros, fn)
    fn = then(clean, compute_again, fn)
    if threads:
        fn = parallelise(fn, threads, least)
    fn = then(clean, lambda old: hoist(abreast(promote(old))), fn)
    fn = reuse(side_by_side(then(clean, split_wrapped, fn)))
    return by_vectors(fn) if vectors else fn


def then(after: Pass, one: Pass, fn: Function) -> Function:
    """The function after a pass, and after another one if that changed something."""
    new = one(fn)
    return fn if new is fn else after(new)


def clean(fn: Function) -> Function:
    return remove_dead(forward(fn))


def fused(fn: Function) -> Function:
    return then(lambda new: forward(remove_dead(new)), contract, then(clean, fuse, fn))
