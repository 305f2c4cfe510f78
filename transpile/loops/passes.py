"""The list of passes over loops, in order.

Each pass relies on the ones before it; the second part of a group cleans up after the first. `TRANSPILE_DUMP=loops` shows the
code after each pass.
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
    """Settings of one run of the passes.

    ``sizes``: assumptions on the sizes of parameters (`transpile.loops.size_assumptions`). ``threads``: number of cores that
    run independent iterations of outer loops, each with at least ``least`` work; 0 keeps all loops serial. Without ``vectors``
    the result calls no function of `transpile_runtime.compiled.vector`.
    """

    sizes: Sequence[Assumed] = ()
    threads: int = 0
    vectors: bool = True
    least: float = LEAST


# ---------------------------------------------------------------------------------------------------- clean-up passes

DEAD = Pass(
    "dead code",
    remove_dead_lowered,
    "unused values that a pass leaves behind would hide patterns from the next pass",
    ensures=(LIVE,),
)
NUMBERING = Pass(
    "value numbering",
    forward_stores,
    "equal values get one name, so that later passes recognise equal subscripts and sizes",
    ensures=(NUMBERED,),
    breaks=(LIVE,),
)
CLEAN = (NUMBERING, DEAD)
CODE = (NUMBERED, LIVE)  # broken by any pass that writes code
EARLY = (NUMBERED, CHECKED, WHOLE, PLAIN)  # required by passes that look at whole nests

# ----------------------------------------------------------------------------------------------------------- the passes

POWERS = Pass(
    "power expansion",
    expand_powers,
    "before value numbering, so that powers of one base share factors",
    ensures=(PLAIN_POWERS,),
    breaks=CODE,
)
CHECKS = Pass(
    "check hoisting",
    hoist_checks,
    "only a loop without checks can be interchanged, fused and vectorised",
    requires=(SIZED, FITTED),
    ensures=(CHECKED,),
    breaks=CODE,
)
INTERCHANGE = Pass(
    "loop interchange",
    interchange_loops,
    "before fusion, which keeps the order of loops in each nest",
    requires=EARLY,
    breaks=(*CODE, FUSED),
)
FUSION = Pass(
    "loop fusion",
    fuse_loops,
    "an element that one loop writes for the next is then read in the same iteration",
    requires=(*EARLY, VIEWED),
    ensures=(FUSED,),
    breaks=CODE,
)
CONTRACTION = Pass(
    "array contraction",
    contract_arrays,
    "after fusion, which leaves arrays that are used within one iteration",
    requires=(*EARLY, VIEWED, FUSED),
    breaks=CODE,
)


def cleaned(*given: Any, **more: Any) -> Group:
    """A group of one pass, made of these arguments of `Pass`, followed by value numbering and dead-code elimination if it
    changed something."""
    return Group((Pass(*given, **more),), CLEAN)


FUSED_LOOPS: tuple[Step, ...] = (Group((FUSION,), CLEAN), Group((CONTRACTION,), (DEAD, NUMBERING)))

STEPS: tuple[Step, ...] = (
    Pass(
        "check elimination",
        eliminate_checks,
        "first, so that no later pass has to handle the checks that it removes",
        requires=(WHOLE, PLAIN),
        ensures=(FITTED,),
        breaks=CODE,
    ),
    Pass(
        "size assumptions",
        assume_sizes,
        "before value numbering, which gives sizes assumed equal one name",
        ensures=(SIZED,),
        breaks=CODE,
        given=("sizes",),
    ),
    NUMBERING,
    Pass(
        "unit axes",
        drop_unit_axes,
        "after value numbering, because sizes of views and arrays are compared by name",
        requires=(NUMBERED, SIZED),
        ensures=(VIEWED,),
        breaks=CODE,
    ),
    DEAD,
    POWERS,
    CHECKS,
    DEAD,
    NUMBERING,
    Group((replace(CHECKS, why="checks that became simpler may move out of another loop"),), (DEAD, NUMBERING)),
    cleaned(
        "loop versioning",
        version_loops,
        "once bounds checks are hoisted, only overflow checks are left in loops",
        requires=(NUMBERED, CHECKED, FITTED, WHOLE),
        breaks=CODE,
    ),
    Group(
        (
            Pass(
                "product recognition",
                recognise_products,
                "before interchange and fusion, which would mix the products with other work",
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
                "the forward and the reverse sweep may compute the same product",
                requires=(PRODUCTS, NUMBERED, LIVE),
                breaks=(LIVE,),  # not NUMBERED: two reads of a shared product were two products before
            ),
        ),
    ),
    cleaned(
        "small products",
        unroll_small_products,
        "after product recognition; the loops of small products are then fused like others",
        requires=(PRODUCTS, SIZED),
        breaks=CODE,
    ),
    Group(
        (
            Pass(
                "loop unrolling",
                unroll_loops,
                "before fusion: fused short loops would keep their arrays in memory",
                requires=(SIZED, WHOLE, PLAIN),
                breaks=(*CODE, PLAIN_POWERS),
            ),
        ),
        (*CLEAN, Group((replace(POWERS, why="an exponent that was a loop index is a constant now"),), CLEAN)),
    ),
    cleaned(
        "scatter to gather",
        scatter_to_gather,
        "before fusion, while each nest of a stencil's adjoint still stands alone",
        requires=(WHOLE, PLAIN, CHECKED, VIEWED),
        breaks=CODE,
    ),
    Group((INTERCHANGE,), (NUMBERING,)),
    *FUSED_LOOPS,
    Group((replace(INTERCHANGE, why="fusion brings together loops to interchange"),), (NUMBERING, *FUSED_LOOPS)),
    Group(
        (
            Pass(
                "loop-invariant code motion",
                move_invariants,
                "after fusion, which exposes values that a nest recomputes; the new loops may be fused",
                requires=(*EARLY, FUSED),
                breaks=(*CODE, FUSED),
            ),
        ),
        (NUMBERING, *FUSED_LOOPS),
    ),
    cleaned(
        "zero skipping",
        skip_zeros,
        "after fusion, which puts all statements that depend on one choice into one body",
        requires=(WHOLE, PLAIN, FUSED),
        breaks=CODE,
    ),
    Pass(
        "parallel schedule",
        parallelise,
        "once nests are final, because a chunk of iterations is a nest of its own",
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
                "after the schedule, so that chunks are included; before unroll and jam, which needs sums in registers",
                ensures=(SCALARS,),
                breaks=CODE,
            ),
            Pass(
                "unroll and jam",
                unroll_and_jam,
                "on recurrences that scalar replacement exposes",
                requires=(SCALARS, PLAIN),
                breaks=(*CODE, WHOLE),
            ),
            Pass(
                "allocation motion",
                hoist_allocations,
                "after all passes that allocate arrays in loops",
                breaks=CODE,
            ),
            Pass(
                "scalar motion",
                move_scalars,
                "once nests are final: statements between two loops would prevent interchange and jamming",
                breaks=(*CODE, WHOLE),
            ),
        ),
        CLEAN,
    ),
    cleaned(
        "index-set splitting",
        split_wrapped,
        "on final loops, because each part is a copy of the body",
        breaks=(*CODE, WHOLE),
    ),
    Pass("buffer reuse", reuse_buffers, "once no pass tells arrays apart by name", breaks=(NUMBERED,)),
    Pass(
        "vector functions",
        call_vector_functions,
        "last, because no other pass knows vector functions, and recurrences are settled by then",
        requires=(SCALARS, PLAIN_POWERS),
        breaks=(PLAIN, NUMBERED),
        when="vectors",
    ),
)

PASSES = Chain("loops", STEPS, PROPERTIES, begins=(WHOLE, PLAIN))


def optimise(
    fn: ir.Function, sizes: Sequence[Assumed] = (), threads: int = 0, vectors: bool = True, least: float = LEAST
) -> ir.Function:
    """The lowered function after all passes over loops; for the arguments see `Settings`."""
    return PASSES.run(fn, Settings(sizes, threads, vectors, least))
