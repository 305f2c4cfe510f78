"""The passes over loops, in their order.

Each takes what the ones before have found; what it leaves for others to clean is said in a group. The names are those of the
field; `TRANSPILE_DUMP=loops` shows the code after each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.pass_list import Chain, Group, Pass, Step
from transpile.loops.allocation_motion import hoist_allocations
from transpile.loops.array_contraction import contract_arrays
from transpile.loops.buffer_reuse import reuse_buffers
from transpile.loops.check_elimination import eliminate_checks
from transpile.loops.check_hoisting import hoist_checks
from transpile.loops.fusion import fuse_loops
from transpile.loops.index_set_splitting import split_wrapped
from transpile.loops.interchange import interchange_loops
from transpile.loops.invariant_motion import move_invariants
from transpile.loops.loop_versioning import version_loops
from transpile.loops.power_expansion import expand_powers
from transpile.loops.product_recognition import recognise_products
from transpile.loops.properties import (
    CHECKED,
    FITTED,
    FUSED,
    LIVE,
    NUMBERED,
    PLAIN,
    PLAIN_POWERS,
    PRODUCTS,
    PROPERTIES,
    SCALARS,
    SIZED,
    VIEWED,
    WHOLE,
)
from transpile.loops.repeated_products import share_repeated_products
from transpile.loops.scalar_motion import move_scalars
from transpile.loops.scalar_replacement import replace_with_scalars
from transpile.loops.scatter_to_gather import scatter_to_gather
from transpile.loops.schedule.parallel import LEAST, parallelise
from transpile.loops.size_assumptions import Assumed, assume_sizes
from transpile.loops.small_products import unroll_small_products
from transpile.loops.store_forwarding import forward_stores
from transpile.loops.unit_axes import drop_unit_axes
from transpile.loops.unroll import unroll_loops
from transpile.loops.unroll_and_jam import unroll_and_jam
from transpile.loops.vector_functions import call_vector_functions
from transpile.loops.zero_skipping import skip_zeros
from transpile.simplify.dead_code import remove_dead_lowered


@dataclass(frozen=True)
class Settings:
    """What is asked for. ``sizes``: what is assumed of the sizes of parameters (`transpile.loops.size_assumptions`). ``threads``:
    on how many cores independent trips of outer loops run, where there is ``least`` work for each; 0 is without. Without
    ``vectors`` the result calls nothing of `transpile_runtime.compiled.vector`."""

    sizes: Sequence[Assumed] = ()
    threads: int = 0
    vectors: bool = True
    least: float = LEAST


# ------------------------------------------------------------------------------------------- what cleans after others

DEAD = Pass(
    "dead code",
    remove_dead_lowered,
    "what a pass leaves that nobody reads would hide what the next one looks for",
    ensures=(LIVE,),
)
NUMBERING = Pass(
    "value numbering",
    forward_stores,
    "equal values get one name, so that passes see that subscripts and sizes are the same",
    ensures=(NUMBERED,),
    breaks=(LIVE,),
)
CLEAN = (NUMBERING, DEAD)
CODE = (NUMBERED, LIVE)  # what a pass breaks that writes code
EARLY = (NUMBERED, CHECKED, WHOLE, PLAIN)  # what passes ask for that look at whole nests

# ----------------------------------------------------------------------------------------------------------- the passes

POWERS = Pass(
    "power expansion",
    expand_powers,
    "before factors are numbered, which powers share",
    ensures=(PLAIN_POWERS,),
    breaks=CODE,
)
CHECKS = Pass(
    "check hoisting",
    hoist_checks,
    "a loop without checks inside can be exchanged, fused and made vectors of",
    requires=(SIZED, FITTED),
    ensures=(CHECKED,),
    breaks=CODE,
)
INTERCHANGE = Pass(
    "loop interchange",
    interchange_loops,
    "before fusion, which joins loops as they stand",
    requires=EARLY,
    breaks=(*CODE, FUSED),
)
FUSION = Pass(
    "loop fusion",
    fuse_loops,
    "what one loop writes for the next is then read in the trip that writes it",
    requires=(*EARLY, VIEWED),
    ensures=(FUSED,),
    breaks=CODE,
)
CONTRACTION = Pass(
    "array contraction",
    contract_arrays,
    "after fusion, which leaves arrays that live in one trip",
    requires=(*EARLY, VIEWED, FUSED),
    breaks=CODE,
)


def cleaned(*given: Any, **more: Any) -> Group:
    """A pass after which, if it has changed something, all is cleaned."""
    return Group((Pass(*given, **more),), CLEAN)


FUSED_LOOPS: tuple[Step, ...] = (Group((FUSION,), CLEAN), Group((CONTRACTION,), (DEAD, NUMBERING)))

STEPS: tuple[Step, ...] = (
    Pass(
        "check elimination",
        eliminate_checks,
        "first: what it removes nobody has to understand",
        requires=(WHOLE, PLAIN),
        ensures=(FITTED,),
        breaks=CODE,
    ),
    Pass(
        "size assumptions",
        assume_sizes,
        "before numbering, which makes one of the sizes that are taken to be equal",
        ensures=(SIZED,),
        breaks=CODE,
        given=("sizes",),
    ),
    NUMBERING,
    Pass(
        "unit axes",
        drop_unit_axes,
        "the sizes of views and arrays are compared as numbered values",
        requires=(NUMBERED, SIZED),
        ensures=(VIEWED,),
        breaks=CODE,
    ),
    DEAD,
    POWERS,
    CHECKS,
    DEAD,
    NUMBERING,
    Group((replace(CHECKS, why="what is simpler now may leave another loop"),), (DEAD, NUMBERING)),
    cleaned(
        "loop versioning",
        version_loops,
        "once checks of subscripts are out, those of overflow are what a trip still asks",
        requires=(NUMBERED, CHECKED, FITTED, WHOLE),
        breaks=CODE,
    ),
    Group(
        (
            Pass(
                "product recognition",
                recognise_products,
                "before loops are exchanged and fused, which would mix the products with other work",
                requires=EARLY,
                ensures=(PRODUCTS,),
                breaks=CODE,
            ),
        ),
        (
            *CLEAN,
            Pass(
                "repeated products",
                share_repeated_products,
                "forward and reverse sweep may have made the same one",
                requires=(PRODUCTS, NUMBERED, LIVE),
                breaks=(LIVE,),  # two reads of what is left of a product are two products as well
            ),
        ),
    ),
    cleaned(
        "small products",
        unroll_small_products,
        "after the products are found; their loops are then fused like others",
        requires=(PRODUCTS, SIZED),
        breaks=CODE,
    ),
    Group(
        (
            Pass(
                "loop unrolling",
                unroll_loops,
                "before fusion: short loops would be fused, and their arrays would stay arrays",
                requires=(SIZED, WHOLE, PLAIN),
                breaks=(*CODE, PLAIN_POWERS),
            ),
        ),
        (*CLEAN, Group((replace(POWERS, why="an exponent that was an index is a number now"),), CLEAN)),
    ),
    cleaned(
        "scatter to gather",
        scatter_to_gather,
        "while each nest of a stencil's adjoint still stands by itself",
        requires=(WHOLE, PLAIN, CHECKED, VIEWED),
        breaks=CODE,
    ),
    Group((INTERCHANGE,), (NUMBERING,)),
    *FUSED_LOOPS,
    Group((replace(INTERCHANGE, why="fusion leaves pairs that stood apart"),), (NUMBERING, *FUSED_LOOPS)),
    Group(
        (
            Pass(
                "loop-invariant code motion",
                move_invariants,
                "after fusion, which shows what one nest computes again and again; the new loops may be fused",
                requires=(*EARLY, FUSED),
                breaks=(*CODE, FUSED),
            ),
        ),
        (NUMBERING, *FUSED_LOOPS),
    ),
    cleaned(
        "zero skipping",
        skip_zeros,
        "after fusion: what depends on one choice then stands in one body",
        requires=(WHOLE, PLAIN, FUSED),
        breaks=CODE,
    ),
    Pass(
        "parallel schedule",
        parallelise,
        "once nests are final: a chunk is a nest of its own, and no pass over whole nests may follow",
        requires=(WHOLE, CHECKED, FUSED),
        breaks=(WHOLE, NUMBERED),
        given=("threads", "least"),
        when="threads",
    ),
    Group(
        (
            Pass(
                "scalar replacement",
                replace_with_scalars,
                "in chunks too; before loops are jammed, whose sums are then registers",
                ensures=(SCALARS,),
                breaks=CODE,
            ),
            Pass(
                "unroll and jam",
                unroll_and_jam,
                "on recurrences that scalar replacement has shown",
                requires=(SCALARS, PLAIN),
                breaks=(*CODE, WHOLE),
            ),
            Pass(
                "allocation motion",
                hoist_allocations,
                "last of those that make arrays in loops",
                breaks=CODE,
            ),
            Pass(
                "scalar motion",
                move_scalars,
                "once nests are final: what stands between two loops keeps them from being exchanged and jammed",
                breaks=(*CODE, WHOLE),
            ),
        ),
        CLEAN,
    ),
    cleaned(
        "index-set splitting",
        split_wrapped,
        "on final loops: each part is a copy of the body",
        breaks=(*CODE, WHOLE),
    ),
    Pass("buffer reuse", reuse_buffers, "once no pass asks any more which array is which", breaks=(NUMBERED,)),
    Pass(
        "vector functions",
        call_vector_functions,
        "last: nobody else knows these functions; which loops have recurrences has been seen to",
        requires=(SCALARS, PLAIN_POWERS),
        breaks=(PLAIN, NUMBERED),
        when="vectors",
    ),
)

PASSES = Chain("loops", STEPS, PROPERTIES, begins=(WHOLE, PLAIN))


def optimise(
    fn: ir.Function, sizes: Sequence[Assumed] = (), threads: int = 0, vectors: bool = True, least: float = LEAST
) -> ir.Function:
    """The lowered function with faster loops; see `Settings`."""
    return PASSES.run(fn, Settings(sizes, threads, vectors, least))
