"""The pass lists over array core before and after the transforms. The transforms themselves are stations of `core.watch`."""

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


LIVE = Property("no dead code", "every computed value reaches a result, an effect or a size", _is_live)
TIDY = Property("tidy", "loops carry only values that change, no branch is empty, no visible value is computed twice")
OWNED = Property("own memory", "no argument is written, and every buffer begins as a copy, not as a formula")
READS = Property(
    "reads forwards", "no slice with step -1 over a whole axis is read, except where the same place is written"
)
COUNTED = Property("counted trips", "a loop whose trip count is known only at run time returns it", _is_counted)
ITEMS = Property("items", "each result of a primitive with several results has a variable")
EXPANDED = Property("no custom calls", "each call with a custom rule has been replaced by its body", _calls_nothing)
DEFINED = Property("sizes defined", "no size is taken of a value that may be undefined")

PROPERTIES = (LIVE, TIDY, OWNED, READS, COUNTED, ITEMS, EXPANDED, DEFINED)

TIDYING = Pass(
    "common values and carries",
    tidy,
    "duplicates and needless carried values of a transform would hide dead code",
    ensures=(TIDY,),
    breaks=(LIVE,),
)
DEAD = Pass("dead code", remove_dead, "after passes that leave dead code", ensures=(LIVE,))

FOR_REVERSE = Chain(
    "array",
    (
        Pass("own memory", own_memory, "a derivative call changes no argument", ensures=(OWNED,), breaks=(LIVE, TIDY)),
        Pass(
            "reads forwards",
            read_forwards,
            "equal reads become the same statement and are merged",
            ensures=(READS,),
            breaks=(LIVE, TIDY),
        ),
        TIDYING,
        DEAD,
        Pass(
            "trip counts", count_trips, "the reverse loop has the same trip count", ensures=(COUNTED,), breaks=(LIVE,)
        ),
        Pass(
            "privatisation",
            privatise,
            "memory used in one iteration is recorded there, if at all",
            requires=(OWNED,),
        ),
        Pass("items", with_items, "so that each result can be recorded by itself", ensures=(ITEMS,), breaks=(LIVE,)),
    ),
    PROPERTIES,
    wanted=(OWNED, READS, COUNTED, ITEMS, TIDY),
)
"""The passes before the reverse sweep is built."""

AFTER_REVERSE = Chain(
    "array",
    (
        Pass(
            "placeholders for moves",
            partial(with_placeholders, is_asked=is_move),
            "a tape also records where the user's variable is undefined",
            breaks=(LIVE, TIDY),
        ),
        DEAD,
        TIDYING,
        DEAD,
    ),
    PROPERTIES,
    wanted=(TIDY, LIVE),
)
"""The passes that clean up the two sweeps, joined in one function."""

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
            "last, because dead code takes no sizes",
            requires=(EXPANDED, LIVE),
            ensures=(DEFINED,),
            breaks=(LIVE,),
        ),
    ),
    PROPERTIES,
    wanted=(EXPANDED, TIDY, DEFINED),
)
"""The passes that clean up a function, or a kept function, before it is printed or lowered."""
