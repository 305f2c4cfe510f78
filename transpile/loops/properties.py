"""What passes over loops ask of the code and what they leave true of it: a closed list.

Where a property says that a pass has nothing more to do, it may hold but for what that pass refuses.
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.pass_list import Property
from transpile.core.walk import statements
from transpile.loops.power_expansion import exponent
from transpile.simplify.dead_code import remove_dead_lowered


def _is_whole(fn: ir.Function) -> bool:
    return not any(isinstance(s, ir.For) and s.kind == "parallel" for s in statements(fn.body))


def _is_plain(fn: ir.Function) -> bool:
    return not any(isinstance(s, ir.Let) and "vector" in s.params for s in statements(fn.body))


def _has_no_powers(fn: ir.Function) -> bool:
    return all(exponent(s) is None for s in statements(fn.body))


def _is_live(fn: ir.Function) -> bool:
    return remove_dead_lowered(fn) is fn


WHOLE = Property("whole loops", "no loop is cut into chunks, packets or parts", _is_whole)
PLAIN = Property("plain functions", "no function of vectors is called", _is_plain)
FITTED = Property("ranges used", "no check is made that the ranges of integers answer")
SIZED = Property("known sizes", "what is assumed of sizes is guarded, and numbers stand for those that are known")
NUMBERED = Property("numbered values", "a value that is seen twice has one name; a stored element is not read again")
LIVE = Property("no dead code", "all that is computed reaches a result or an effect", _is_live)
VIEWED = Property("no views", "what differs by axes of size 1 is accessed by one name")
PLAIN_POWERS = Property("powers as products", "no power has a small constant exponent", _has_no_powers)
CHECKED = Property("checks outside", "a check stands before the loops that it does not depend on")
PRODUCTS = Property("products as calls", "what loops multiply bit by bit is a call of a library")
FUSED = Property("fused loops", "neighbours over one range that may be one loop are one")
SCALARS = Property("scalars for memory", "what innermost loops add up in memory is added up in registers")

PROPERTIES = (
    WHOLE,
    PLAIN,
    FITTED,
    SIZED,
    NUMBERED,
    LIVE,
    VIEWED,
    PLAIN_POWERS,
    CHECKED,
    PRODUCTS,
    FUSED,
    SCALARS,
)
