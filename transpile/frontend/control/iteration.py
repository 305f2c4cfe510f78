"""What can be iterated over an index that a loop counts; known items are those of `transpile.frontend.control.live`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.frontend.control import dynamic_list_reads, iterators, range_items
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import contents, memory, overloads
from transpile.frontend.values.values import Array, Generator, Iteration, RangeOf, Ref, Scalar, Static, Tuple


@dataclass
class Stream:
    """Items by number: ``at(k)`` for ``k`` from 0 to ``length``. ``range`` is set where it is a plain range."""

    length: Dim | ir.Operand
    at: Callable[[Expr], Any]
    range: RangeOf | None = None
    backwards: bool = False
    counted: bool = False  # the items are pairs with their number first


DICT_VIEWS = ("dict_keys", "dict_values", "dict_items")


def of_view(lx: Lifter, value: Iteration, node: Any) -> list[Any]:
    """What ``d.keys()``, ``d.values()`` or ``d.items()`` shows now."""
    state = contents.items(lx, value.parts[0], node)
    keys = [lx.const(k) if not isinstance(k, tuple) else Static(k) for k in state.keys or ()]
    if value.kind == "dict_items":
        return [Tuple(pair) for pair in zip(keys, state.items)]
    return keys if value.kind == "dict_keys" else list(state.items)


def opened(lx: Lifter, value: Any, node: Any) -> Any:
    """What ``__iter__`` gives of an object of the user's; other iterables are what they are."""
    own = overloads.call(lx, value, "__iter__", [], node)
    return value if own is None else own


def sources(value: Iteration) -> tuple[Any, ...]:
    """What is iterated together."""
    return value.parts[1:] if value.kind in ("map", "enumerate") else value.parts


def why_not(value: Any) -> str:
    """The way out where a value cannot be iterated."""
    if isinstance(value, Generator):
        return "loop over the items themselves, with an 'if' in the body"
    if isinstance(value, Scalar) and value.op.type.is_int:
        return "write range(...) of it"
    return "loop over an array, a list, a range, or enumerate, zip or reversed of them"


def length_of(lx: Lifter, value: Array, node: Any = None) -> Dim:
    """The size of the first axis."""
    dims = memory.type_of(lx, value.cell).dims
    if not dims:
        hint = "give it an axis: np.atleast_1d(x)"
        raise lx.error("T120", "an array of rank 0 has no length and cannot be iterated", node, hint)
    return dims[0]


def rows(lx: Lifter, value: Array, count: int) -> list[Any]:
    return [element(lx, value, lx.b.expr(k)) for k in range(count)]


def element(lx: Lifter, value: Array, k: Expr) -> Any:
    """``value[k]``."""
    rank = len(memory.type_of(lx, value.cell).dims)
    return memory.view(lx, value.cell, ir.Index((ir.Point(0), *[ir.Slice()] * (rank - 1))), (k.op,))


def unpacked(lx: Lifter, value: Any, target: Any) -> list[Any]:
    """The items that an assignment to several targets spreads."""
    value = opened(lx, value, target)
    iterators.use(lx, value, target)
    if isinstance(value, Array):
        count = sum(not isinstance(t, gast.Starred) for t in target.elts)
        dim = lx.symbols.resolve(length_of(lx, value, target))
        if dim.is_const or count < len(target.elts):
            return rows(lx, value, lx.symbols.fixed(lx, dim, target))
        lx.symbols.fix(lx, dim, count, target)
        return rows(lx, value, count)
    if dynamic_list_reads.is_grown(lx, value) and not any(isinstance(t, gast.Starred) for t in target.elts):
        return dynamic_list_reads.exactly(lx, value, len(target.elts), target)
    return lx.unrolled(value, target)


# --------------------------------------------------------------------------------------------------- items by index


def stream(lx: Lifter, value: Any, node: Any = None) -> Stream | None:
    """The items by number, for a loop over an index; None where it must be unrolled."""
    rule = _STREAMS.get(type(value))
    return None if rule is None else rule(lx, value, node)


def _of_array(lx: Lifter, value: Array, node: Any) -> Stream:
    return Stream(lx.symbols.resolve(length_of(lx, value, node)), lambda k: element(lx, value, k))


def _of_grown(lx: Lifter, value: Ref, node: Any) -> Stream | None:
    if not dynamic_list_reads.is_grown(lx, value):
        return None
    dynamic_list_reads.refuse_counted(lx, value, node)
    return Stream(
        lx.symbols.resolve(lx.b.form(dynamic_list_reads.length(lx, value).op)),
        lambda k: dynamic_list_reads.at(lx, value, k),
    )


def _of_range(lx: Lifter, value: RangeOf, node: Any) -> Stream:
    start, step = lx.b.expr(value.start), lx.b.expr(value.step)
    return Stream(range_items.length_of_range(lx, value), lambda k: lx.value(start + k * step), value)


def _of_iteration(lx: Lifter, value: Iteration, node: Any) -> Stream | None:
    if value.kind in DICT_VIEWS:
        return None
    parts = [stream(lx, p, node) for p in sources(value)]
    if any(p is None for p in parts):
        return None
    return _ITERATIONS[value.kind](lx, value, [p for p in parts if p is not None], node)


def _zip(lx: Lifter, value: Iteration, parts: list[Stream], node: Any) -> Stream:
    return Stream(_shortest(lx, parts), lambda k: Tuple(tuple(p.at(k) for p in parts)))


def _shortest(lx: Lifter, parts: list[Stream]) -> Dim | ir.Operand:
    lengths = [p.length for p in parts]
    first = lengths[0]
    if all(isinstance(n, Dim) and n == first for n in lengths):
        return first
    known = [n for n in lengths if isinstance(n, Dim)]
    if len(known) == len(lengths) and lx.symbols.agree(lx, known):
        return known[0]
    if len(known) == 2 == len(lengths) and any(n.is_const for n in known) and all(n.is_size for n in known):
        few, many = sorted(known, key=lambda n: not n.is_const)
        return many - (many - few).clip()  # the smaller one, as a form
    total = as_expr(lx, first)
    for n in lengths[1:]:
        total = lx.b.elementwise("minimum", total, as_expr(lx, n), py=True)
    return total.op


def as_expr(lx: Lifter, length: Dim | ir.Operand) -> Expr:
    return lx.b.dim(length) if isinstance(length, Dim) else lx.b.expr(length)


def _enumerate(lx: Lifter, value: Iteration, parts: list[Stream], node: Any) -> Stream:
    start = lx.b.expr(lx.operand(value.parts[0]))
    from_zero = isinstance(start.op, ir.Const) and start.op.value == 0
    return Stream(parts[0].length, lambda k: Tuple((Scalar((start + k).op), parts[0].at(k))), counted=from_zero)


def _reversed(lx: Lifter, value: Iteration, parts: list[Stream], node: Any) -> Stream:
    (inner,) = parts

    def at(k: Expr) -> Any:
        return inner.at(as_expr(lx, inner.length) - 1 - k)

    return Stream(inner.length, at, inner.range, not inner.backwards)


def _product(lx: Lifter, value: Iteration, parts: list[Stream], node: Any) -> Stream:
    """All combinations, the last part fastest."""
    sizes = [as_expr(lx, p.length) for p in parts]
    total = functools.reduce(lambda a, b: a * b, sizes)

    def at(k: Expr) -> Any:
        places: list[Expr] = []
        for size in sizes[:0:-1]:
            places.append(k % size)
            k = k // size
        return Tuple(tuple(p.at(i) for p, i in zip(parts, [k, *places[::-1]])))

    return Stream(total.op, at)


def _map(lx: Lifter, value: Iteration, parts: list[Stream], node: Any) -> Stream:
    def at(k: Expr) -> Any:
        return lx.apply(value.parts[0], [p.at(k) for p in parts], {}, node)

    return Stream(_shortest(lx, parts), at)


_ITERATIONS: dict[str, Callable[..., Stream | None]] = {
    "zip": _zip, "enumerate": _enumerate, "reversed": _reversed, "map": _map, "product": _product,
    "iter": lambda lx, value, parts, node: parts[0],
}  # fmt: skip
_STREAMS: dict[type, Callable[[Lifter, Any, Any], Stream | None]] = {
    Array: _of_array, RangeOf: _of_range, Iteration: _of_iteration, Ref: _of_grown,
}  # fmt: skip
