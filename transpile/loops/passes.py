"""The order of the passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transpile.core import nodes as ir
from transpile.loops.allocation_motion import hoist
from transpile.loops.array_contraction import contract
from transpile.loops.buffer_reuse import reuse
from transpile.loops.check_elimination import fit
from transpile.loops.check_hoisting import hoist_checks
from transpile.loops.fusion import fuse
from transpile.loops.index_set_splitting import split_wrapped
from transpile.loops.interchange import order
from transpile.loops.invariant_motion import move_invariants
from transpile.loops.loop_versioning import without_questions
from transpile.loops.power_expansion import expand_powers
from transpile.loops.product_invariant_motion import take_sides
from transpile.loops.product_recognition import multiply
from transpile.loops.reassociation import side_by_side
from transpile.loops.rematerialisation import compute_again
from transpile.loops.repeated_products import once
from transpile.loops.scalar_replacement import promote
from transpile.loops.scatter_to_gather import gather
from transpile.loops.schedule.parallel import LEAST, parallelise
from transpile.loops.size_assumptions import Assumed, assume
from transpile.loops.small_products import write_out
from transpile.loops.unit_axes import see_through
from transpile.loops.unroll import unroll
from transpile.loops.unroll_and_jam import abreast
from transpile.loops.value_numbering import forward
from transpile.loops.vector_functions import by_vectors
from transpile.loops.zero_skipping import skip_zeros
from transpile.simplify.dead_loop_code import remove_dead

Pass = Callable[[ir.Function], ir.Function]


def optimise(
    fn: ir.Function, sizes: Sequence[Assumed] = (), threads: int = 0, vectors: bool = True, least: float = LEAST
) -> ir.Function:
    """The lowered function with faster loops: each pass takes what the one before has found.

    ``sizes``: what is assumed of the sizes of parameters (`transpile.loops.size_assumptions`). ``threads``: on how many cores
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


def then(after: Pass, one: Pass, fn: ir.Function) -> ir.Function:
    """The function after a pass, and after another one if that changed something."""
    new = one(fn)
    return fn if new is fn else after(new)


def clean(fn: ir.Function) -> ir.Function:
    return remove_dead(forward(fn))


def fused(fn: ir.Function) -> ir.Function:
    return then(lambda new: forward(remove_dead(new)), contract, then(clean, fuse, fn))
