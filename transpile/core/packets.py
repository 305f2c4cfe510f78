"""Packets: a number in each of several lanes, which are computed at once. What the loop dialect says of them.

    theta: float64 x 8 = lanes angles[i]                a packet of elements that lie one after the other
    far: bool x 8 = greater theta 3.0                   a mask; a constant counts for each lane
    while any_lane far: ...                             a loop that goes on until all lanes are done
    new: float64 x 8 = where far x theta                what a lane that is done keeps
    lanes angles[i] where far <- new                    only lanes of the mask write

A packet is an operand of elementwise primitives, with others of as many lanes, and of those below; loops and branches carry it
like a number. It is never returned, recorded or stored as one element.
"""

from __future__ import annotations

from transpile.core.nodes import Let
from transpile.core.types import Type

SPLAT = "splat"  # a number, in every lane
NUMBERS = "lane_numbers"  # 0, 1, 2, ...
ANY, ALL = "any_lane", "all_lanes"  # of a mask: whether one lane has it, all lanes do
COMBINED = (
    "combined_lanes"  # one number of all lanes: a half with the other by ``params["combiner"]``, until one is left
)
ACROSS = frozenset((SPLAT, NUMBERS, ANY, ALL, COMBINED))


def has_lanes(let: Let) -> bool:
    """Whether a packet is read or made."""
    return is_packet(let.var.type) or any(is_packet(a.type) for a in let.args)


def packet(dtype: str, lanes: int) -> Type:
    return Type(dtype, kind="packet", lanes=lanes)


def is_packet(type_: Type) -> bool:
    return type_.kind == "packet"
