"""Packets: one number in each of several lanes, computed together. The part of loop core that describes them.

    theta: float64 x 8 = lanes angles[i]                a packet of consecutive elements
    far: bool x 8 = greater theta 3.0                   a mask; a constant applies to every lane
    while any_lane far: ...                             a loop that goes on until all lanes are done
    new: float64 x 8 = where far x theta                a lane that is done keeps its value
    lanes angles[i] where far <- new                    only lanes of the mask write

A packet is an operand of elementwise primitives, whose other packets have as many lanes, and of the primitives below. Loops and
branches carry it like a number. It is never returned, recorded, or stored as one element.
"""

from __future__ import annotations

from transpile.core.nodes import Let
from transpile.core.types import Type

SPLAT = "splat"  # one number in every lane
NUMBERS = "lane_numbers"  # 0, 1, 2, ...
ANY, ALL = "any_lane", "all_lanes"  # of a mask: whether it is true in some lane, in all lanes
COMBINED = "combined_lanes"  # all lanes reduced to one number by ``params["combiner"]``, one half with the other
ACROSS = frozenset((SPLAT, NUMBERS, ANY, ALL, COMBINED))


def has_lanes(let: Let) -> bool:
    """Whether the result or an operand of the statement is a packet."""
    return is_packet(let.var.type) or any(is_packet(a.type) for a in let.args)


def packet(dtype: str, lanes: int) -> Type:
    """The type of a packet of ``lanes`` numbers of this dtype."""
    return Type(dtype, kind="packet", lanes=lanes)


def is_packet(type_: Type) -> bool:
    return type_.kind == "packet"
