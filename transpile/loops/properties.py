"""Properties of code that passes over loops require, ensure or break: a closed list.

If a property says that a pass has nothing left to do, cases that the pass refuses do not count.
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.pass_list import Property
from transpile.core.walk import statements
from transpile.loops.power_expansion import exponent
from transpile.simplify.dead_code import remove_dead_lowered


def _is_whole(fn: ir.Function) -> bool:
    """Whether no loop is parallel."""
    return not any(isinstance(s, ir.For) and s.kind == "parallel" for s in statements(fn.body))


def _is_plain(fn: ir.Function) -> bool:
    """Whether no vector function is called."""
    return not any(isinstance(s, ir.Let) and "vector" in s.params for s in statements(fn.body))


def _has_no_powers(fn: ir.Function) -> bool:
    return all(exponent(s) is None for s in statements(fn.body))


def _is_live(fn: ir.Function) -> bool:
    return remove_dead_lowered(fn) is fn


WHOLE = Property("whole loops", "no loop is split into chunks, blocks of iterations or parts", _is_whole)
PLAIN = Property("plain functions", "no vector function is called", _is_plain)
FITTED = Property("ranges used", "no check remains whose outcome follows from the ranges of integers")
SIZED = Property("known sizes", "assumptions on sizes are guarded, and known sizes are constants")
NUMBERED = Property("numbered values", "equal values have one name, and a stored element is not read again")
LIVE = Property("no dead code", "every computed value reaches a result or an effect", _is_live)
VIEWED = Property("no views", "arrays that differ only by axes of size 1 are accessed by one name")
PLAIN_POWERS = Property("powers as products", "no power has a small constant exponent", _has_no_powers)
CHECKED = Property("checks outside", "each check stands before the loops that it does not depend on")
PRODUCTS = Property("products as calls", "loops that compute matrix products are library calls")
FUSED = Property("fused loops", "adjacent loops over one range are fused where that is legal and pays")
SCALARS = Property("scalars for memory", "innermost loops accumulate sums in registers, not in memory")

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
