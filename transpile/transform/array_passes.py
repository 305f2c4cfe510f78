"""The passes over array core around the transforms, in their order; the transforms themselves are stations of `core.watch`."""

from __future__ import annotations

from functools import partial

from transpile.core import nodes as ir
from transpile.core.functions import is_custom
from transpile.core.pass_list import Chain, Pass, Property
from transpile.core.walk import statements
from transpile.simplify.dead_code import remove_dead
from transpile.simplify.placeholders import is_move, is_size, with_placeholders
from transpile.simplify.tidy import tidy
from transpile.transform.backwards import read_forwards
from transpile.transform.chosen_values import settle_chosen
from transpile.transform.custom_rules import expand_calls
from transpile.transform.prepare import count_trips, own_memory, with_items
from transpile.transform.private_arrays import privatise


def _is_counted(fn: ir.Function) -> bool:
    loops = [s for s in statements(fn.body) if isinstance(s, (ir.For, ir.While))]
    return all(s.trips is not None for s in loops if isinstance(s, ir.While) or s.body.stop is not None)


def _calls_nothing(fn: ir.Function) -> bool:
    return not any(map(is_custom, statements(fn.body)))


def _is_live(fn: ir.Function) -> bool:
    return remove_dead(fn) is fn


LIVE = Property("no dead code", "all that is computed reaches a result, an effect or the size of something", _is_live)
TIDY = Property(
    "tidy", "nothing is carried that no trip changes, no branch does nothing, nothing in sight is there twice"
)
OWNED = Property("own memory", "no argument is written, and memory begins as a copy, not as a formula")
READS = Property("reads forwards", "no view is read from its end to its beginning where it may be written")
COUNTED = Property("counted trips", "a loop whose number of trips only the run knows gives that number", _is_counted)
ITEMS = Property("items", "each of several results of a primitive has a name")
EXPANDED = Property("no custom calls", "a call with a derivative of the user's own is its body", _calls_nothing)
DEFINED = Property("sizes defined", "no size is asked of what may have no value")

PROPERTIES = (LIVE, TIDY, OWNED, READS, COUNTED, ITEMS, EXPANDED, DEFINED)

TIDYING = Pass(
    "common values and carries",
    tidy,
    "what a transform writes twice or carries for nothing would hide what is dead",
    ensures=(TIDY,),
    breaks=(LIVE,),
)
DEAD = Pass("dead code", remove_dead, "after what makes code dead", ensures=(LIVE,))

FOR_REVERSE = Chain(
    "array",
    (
        Pass("own memory", own_memory, "a derivative call changes no argument", ensures=(OWNED,), breaks=(LIVE, TIDY)),
        Pass(
            "reads forwards",
            read_forwards,
            "reads that are alike are then seen to be",
            ensures=(READS,),
            breaks=(LIVE, TIDY),
        ),
        TIDYING,
        DEAD,
        Pass("trip counts", count_trips, "the reverse sweep runs as often", ensures=(COUNTED,), breaks=(LIVE,)),
        Pass(
            "privatisation",
            privatise,
            "memory of one trip is recorded in that trip, if at all",
            requires=(OWNED,),
        ),
        Pass("items", with_items, "each result is what can be recorded", ensures=(ITEMS,), breaks=(LIVE,)),
    ),
    PROPERTIES,
    wanted=(OWNED, READS, COUNTED, ITEMS, TIDY),
)
"""What stands before the reverse sweep is written."""

AFTER_REVERSE = Chain(
    "array",
    (
        Pass(
            "placeholders for moves",
            partial(with_placeholders, is_asked=is_move),
            "a tape holds what it is given, also where the user's program has no value",
            breaks=(LIVE, TIDY),
        ),
        DEAD,
        TIDYING,
        DEAD,
    ),
    PROPERTIES,
    wanted=(TIDY, LIVE),
)
"""What cleans the two sweeps when they are one function."""

CLEAN = Chain(
    "array",
    (
        Pass(
            "custom calls expanded", expand_calls, "after the last derivative", ensures=(EXPANDED,), breaks=(LIVE, TIDY)
        ),
        Pass("chosen values", settle_chosen, "after the last derivative", breaks=(LIVE, TIDY)),
        TIDYING,
        DEAD,
        Pass(
            "placeholders for sizes",
            partial(with_placeholders, is_asked=is_size),
            "last: what is dead asks for no size",
            requires=(EXPANDED, LIVE),
            ensures=(DEFINED,),
            breaks=(LIVE,),
        ),
    ),
    PROPERTIES,
    wanted=(EXPANDED, TIDY, DEFINED),
)
"""What cleans a function, or one that it keeps, before it is printed or lowered."""
