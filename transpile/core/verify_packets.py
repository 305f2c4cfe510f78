"""Checks of packets in loop core: which primitives take them, with which operands, and how lanes access memory."""

from __future__ import annotations

from collections.abc import Sequence

from transpile.core import nodes as ir
from transpile.core.packets import ACROSS, ALL, ANY, COMBINED, NUMBERS, SPLAT, is_packet
from transpile.core.types import Type
from transpile.core.verify_scopes import Scopes

_MOST = 64


def let(form: Scopes, s: ir.Let) -> None:
    """Checks a *let* that reads or defines a packet."""
    if s.prim in ACROSS:
        _across(form, s)
        return
    prim = form.prims.get(s.prim)
    if prim is None or not prim.elementwise:
        form.fail(f"{s.prim!r} takes no packets")
    lanes = _lanes(form, s.var.type)
    for a in s.args:
        form.check(isinstance(a, ir.Const) or a.type.lanes == lanes, f"{a} has not {lanes} lanes")
    form.elementwise(s, prim.dtype_rule)  # a mask may select, a comparison gives a mask
    wanted = prim.type_rule([a.type for a in s.args], s.params).dtype
    form.check(wanted == s.var.type.dtype, f"{s.var} is no {wanted}")


def _across(form: Scopes, s: ir.Let) -> None:
    """Checks one of the primitives that only packets have: `SPLAT`, `NUMBERS`, `ANY`, `ALL`, `COMBINED`."""
    made, given = s.var.type, [a.type for a in s.args]
    match s.prim:
        case "splat":
            _lanes(form, made)
            form.check(_kinds(given) == ["array"] and not given[0].dims, f"{SPLAT} of {s.args}")
            form.check(given[0].dtype == made.dtype, f"{given[0]} in lanes of {made}")
        case "lane_numbers":
            _lanes(form, made)
            form.check(not given and made.dtype == "int64", f"{NUMBERS} are {made}")
        case "any_lane" | "all_lanes":
            form.check(_kinds(given) == ["packet"] and given[0].is_bool, f"{ANY} or {ALL} of what is no mask")
            form.check(made.is_bool and made.kind == "array", f"{s.prim} gives {made}")
        case _:
            form.check(_kinds(given) == ["packet"], f"{COMBINED} of {s.args}")
            form.check(made == Type(given[0].dtype, weak=made.weak), f"{COMBINED} of {given[0]} gives {made}")
            form.check(form.combines(s.params["combiner"]), f"{s.params['combiner']!r} combines nothing")


def _kinds(types: Sequence[Type]) -> list[str]:
    return [t.kind for t in types]


def _lanes(form: Scopes, type_: Type) -> int:
    """The number of lanes of a type, after a check that it is that of a packet: a power of 2, at most 64."""
    n = type_.lanes
    form.check(is_packet(type_) and not type_.dims, f"{type_} is no packet")
    form.check(1 < n <= _MOST and n & (n - 1) == 0, f"a packet of {n} lanes")
    return n


# ---------------------------------------------------------------------------------------------------------- memory


def read(form: Scopes, s: ir.PacketRead) -> None:
    _place(form, s, s.var.type)


def store(form: Scopes, s: ir.PacketStore) -> None:
    form.use(s.value)
    _place(form, s, s.value.type)


def _place(form: Scopes, s: ir.PacketRead | ir.PacketStore, type_: Type) -> None:
    """Checks the subscripts and the mask of a read or store of a packet of type ``type_``."""
    lanes = _lanes(form, type_)
    form.use(s.buf)
    form.check(s.buf.type.rank > 0, f"lanes of {s.buf}")
    form.check(s.buf.type.dtype == type_.dtype, f"lanes of {type_} in {s.buf}")
    form.check(len(s.args) == s.buf.type.rank, f"{len(s.args)} subscripts of rank {s.buf.type.rank}")
    for a in s.args:
        form.use(a)
        fits = a.type.dtype == "int64" and not a.type.dims and a.type.lanes in (0, lanes)
        form.check(fits, f"a subscript is {a.type}")
    if s.mask is not None:
        form.use(s.mask)
        form.check(s.mask.type.is_bool and s.mask.type.lanes == lanes, f"{s.mask} is no mask of {lanes} lanes")
