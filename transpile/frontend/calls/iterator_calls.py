"""What loops run over, and the containers made of it: ``range``, ``zip``, ``list``, ``dict``, ``len``, parts of ``itertools``."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.frontend.control import (
    dynamic_list_reads,
    filling,
    iteration,
    iterators,
    live,
    range_items,
)
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.state import Frame
from transpile.frontend.values import attributes, containers, contents, overloads
from transpile.frontend.values.convert import describe, new_dict, new_list
from transpile.frontend.values.values import Array, Generator, Iteration, RangeOf, Ref, Scalar, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]


def _range(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> RangeOf:
    ops = [lx.operand(a, node) for a in args]
    if not 1 <= len(ops) <= 3 or any(o.type.dims or not (o.type.is_int or o.type.is_bool) for o in ops):
        raise lx.error("T131", "range takes one to three integers", node, hint="convert a float with int(...)")
    if len(ops) == 3 and isinstance(ops[2], ir.Const) and not ops[2].value:
        raise lx.error("T131", "the step of a range must not be zero", node, "write a positive or a negative step")
    ops = [lx.b.cast(o, INT).op for o in ops]
    zero, one = lx.b.operand(0), lx.b.operand(1)
    return RangeOf(*((zero, ops[0], one) if len(ops) == 1 else (ops[0], ops[1], ops[2] if len(ops) > 2 else one)))


def _zip(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if "strict" in kwargs and lx.static(kwargs["strict"], "the argument 'strict'", node):
        lengths = [lx.b.form(lx.operand(_len(lx, [a], {}, node))) for a in args]
        if any(lx.b.unify(lengths[0], n) is None for n in lengths[1:]):
            shown = " and ".join(map(str, lengths))
            message = f"zip(strict=True) of iterables of lengths {shown} ({', '.join(lx.symbols.apart)})"
            raise lx.error("T203", message, node, "pass iterables of the same length, or leave strict=True out")
    return iterators.made(lx, "zip", tuple(args)) if args else Tuple(())


def _enumerate(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    start = args[1] if len(args) > 1 else kwargs.get("start", lx.const(0))
    return iterators.made(lx, "enumerate", (start, args[0]))


def _reversed(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    return iterators.made(lx, "reversed", (args[0],))


def _iter(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    return iterators.made(lx, "iter", (args[0],))


def _map(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    return iterators.made(lx, "map", tuple(args))


def _filter(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Generator:
    """``(item for item in items if test(item))``."""
    test = "item" if isinstance(args[0], Static) and args[0].value is None else "test(item)"
    key = ("filter", *lx.key(node))
    made = lx.memo.get(key)
    if made is None:
        made = lx.memo[key] = gast.parse(f"(item for item in items if {test})").body[0].value
        for inner in gast.walk(made):
            gast.copy_location(inner, node)
    lx.frame.keep = True
    code = lx.frame.code.inside(made, "<filter>")
    frame = Frame(code, lx.frame, lx.frame.caller, frozenset({"test", "items"}), depth=lx.frame.depth, up=lx.frame, keep=True,
                  turns=lx.turn(code, lx.frame.caller))  # fmt: skip
    lx.state.vars[frame, "test"], lx.state.vars[frame, "items"] = args
    return Generator(made, frame, args[1], iterators.new_cell(lx))


def _ndindex(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    sizes = lx.unrolled(args[0], node) if len(args) == 1 and not isinstance(args[0], Scalar) else args
    if not sizes:
        return Tuple((Tuple(()),))
    return iterators.made(lx, "product", tuple(_range(lx, [n], {}, node) for n in sizes))


def _ndenumerate(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (given,) = (*args, *kwargs.values())
    array = given if isinstance(given, Array) else lx.value(lx.operand(given, node))
    if not isinstance(array, Array):
        return Tuple((Tuple((Tuple(()), array)),))
    places = _ndindex(lx, [attributes.shape(lx, array)], {}, node)
    return iterators.made(lx, "map", (Static(_Numbered(array)), places))


class _Numbered:
    """The pair of a place in an array and what stands there."""

    def __init__(self, array: Array) -> None:
        self.array = array

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Tuple:
        return Tuple((args[0], lx.item(self.array, args[0], node)))


def _product(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    repeat = lx.static(kwargs["repeat"], "repeat", node) if "repeat" in kwargs else 1
    parts = [lx.unrolled(a, node) for a in args]
    return _once(lx, itertools.product(*parts, repeat=repeat))


def _combinations(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    count = lx.static(args[1] if len(args) > 1 else kwargs["r"], "r", node)
    return _once(lx, itertools.combinations(lx.unrolled(args[0], node), count))


def _once(lx: Lifter, found: Iterable[tuple[Any, ...]]) -> Iteration:
    """An iterator over tuples that are known now."""
    return iterators.made(lx, "iter", (Tuple(tuple(map(Tuple, found))),))


# ----------------------------------------------------------------------------------------------------- containers


def _list(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args:
        return new_list(lx, [])
    (value,) = args
    if isinstance(value, (Generator, RangeOf)):
        short = live.short(lx, value, node)
        found = None if short is None else list(live.each(short))
    else:  # an iterator gives its items once: what asks for them takes them
        found = None if containers.is_long(lx, value) else lx.unrolled(value, node)
    return of_many(lx, value, node) if found is None else new_list(lx, found)


def of_many(lx: Lifter, value: Any, node: Any) -> Any:
    """A list of what only the run knows how many it has."""
    if isinstance(value, Generator):
        return filling.filled(lx, value, node)
    return containers.METHODS["grown", "copy"](lx, iterators.handed_on(lx, value), [], {}, node)


def _tuple(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Tuple:
    return Tuple(tuple(lx.unrolled(args[0], node))) if args else Tuple(())


def _dict(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    keys, values = containers.pairs_of(lx, args[0], node) if args else ([], [])
    return new_dict(lx, [*keys, *kwargs], [*values, *kwargs.values()])


def _len(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (value,) = args
    own = overloads.call(lx, value, "__len__", [], node)
    if own is not None:
        return own
    if isinstance(value, Array):
        return attributes.size(lx, iteration.length_of(lx, value, node))
    if isinstance(value, (Tuple, Ref)):
        if isinstance(value, Ref) and dynamic_list_reads.is_grown(lx, value):
            return dynamic_list_reads.length(lx, value)
        held = value.items if isinstance(value, Tuple) else contents.items(lx, value, node).items
        return lx.const(len(held))
    if isinstance(value, Iteration) and value.kind in iteration.DICT_VIEWS:
        return _len(lx, list(value.parts), {}, node)
    if isinstance(value, RangeOf):
        return lx.value(iteration.as_expr(lx, range_items.length_of_range(lx, value)))
    if isinstance(value, Static) and hasattr(statics.known(lx, value), "__len__"):
        return lx.const(len(statics.known(lx, value)))
    raise lx.error(
        "T120", f"{describe(lx, value)} has no length", node, "len takes an array, a list, a tuple or a dict"
    )


TABLE: dict[str, Any] = {
    **{
        f"builtins.{name}": rule
        for name, rule in {
            "range": _range, "zip": _zip, "enumerate": _enumerate, "reversed": _reversed, "map": _map, "filter": _filter,
            "iter": _iter, "list": _list, "tuple": _tuple, "dict": _dict, "len": _len,
        }.items()
    },
    "numpy.ndindex": _ndindex,
    "numpy.ndenumerate": _ndenumerate,
    "itertools.product": _product,
    "itertools.combinations": _combinations,
}  # fmt: skip
