"""Items of what is unrolled, asked for one after another: a loop, or what is done with the items before, may change the list, dict
or array meanwhile, and what an iterator does for an item it does when that is asked for.

>>> items = [1, 2]
>>> for item in items:
...     if len(items) < 4:
...         items.append(item + 2)
>>> items
[1, 2, 3, 4]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from transpile.core.dims import Dim
from transpile.frontend.control import iteration
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import contents, memory
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Generator, Items, Iteration, RangeOf, Ref, Scalar, Static, Tuple

END = object()
At = Callable[[int], Any]  # the item of a number as it is now, or END; numbers are asked for in order


def known(lx: Lifter, value: Any, node: Any) -> At | None:
    """The items of an iterable that is always unrolled; None of one that a core loop may run over."""
    rule = _KNOWN.get(type(value))
    return None if rule is None else rule(lx, value, node)


def every(lx: Lifter, value: Any, node: Any) -> At:
    """The items of an iterable whose length is known now, or becomes known."""
    found = known(lx, value, node)
    if found is not None:
        return found
    if isinstance(value, Array):
        return _of_stream(lx, value, lx.symbols.fixed(lx, memory.type_of(lx, value.cell).dims[0], node), node)
    if isinstance(value, Iteration):
        return _together(lx, value, [every(lx, p, node) for p in iteration.sources(value)], node)
    if isinstance(value, RangeOf):
        return _of_range(lx, value, node)
    grown = iteration.stream(lx, value, node)
    if grown is not None:
        return _of_stream(lx, value, lx.symbols.fixed(lx, _length(lx, grown), node), node)
    raise lx.error("T113", f"{describe(lx, value)} cannot be iterated here", node, iteration.why_not(value))


def each(at: At) -> Iterator[Any]:
    """The items, each asked for when its turn comes."""
    return itertools.takewhile(lambda item: item is not END, map(at, itertools.count()))


def known_items(lx: Lifter, value: Any, node: Any = None) -> list[Any] | None:
    """All items of an iterable that is always unrolled; None of one that a core loop may run over."""
    found = known(lx, value, node)
    return None if found is None else list(each(found))


def unrolled(lx: Lifter, value: Any, node: Any = None) -> list[Any]:
    """All items of an iterable whose length is known now, or becomes known."""
    return list(each(every(lx, value, node)))


def short(lx: Lifter, value: Any, node: Any) -> At | None:
    """The items of an iterable that a comprehension unrolls: also those of a range or an array of known length."""
    found = known(lx, value, node)
    if found is not None:
        return found
    stream = iteration.stream(lx, value, node)
    if stream is None:
        return None if isinstance(value, Generator) else every(lx, value, node)
    return every(lx, value, node) if _length(lx, stream).is_const else None


def _length(lx: Lifter, stream: iteration.Stream) -> Dim:
    length: Dim = lx.symbols.resolve(stream.length if isinstance(stream.length, Dim) else lx.b.form(stream.length))
    return length


def _of_range(lx: Lifter, value: RangeOf, node: Any) -> At:
    bounds = (value.start, value.stop, value.step)
    numbers = range(*(lx.static(Scalar(o), "the bound of a range that is unrolled", node) for o in bounds))
    return lambda k: lx.const(numbers[k]) if k < len(numbers) else END


def _of_items(items: Any) -> At:
    return lambda k: items[k] if k < len(items) else END


def _of_stream(lx: Lifter, value: Any, many: int, node: Any) -> At:
    found = iteration.stream(lx, value, node)
    assert found is not None
    return lambda k: found.at(lx.b.expr(k)) if k < many else END


# ----------------------------------------------------------------------------------------------------------- sources


def _of_ref(lx: Lifter, value: Ref, node: Any) -> At | None:
    state = contents.items(lx, value, node)
    if state.kind == "dict":
        return _of_dict(lx, value, state, node)
    if state.kind != "list":
        return None

    def at(k: int) -> Any:
        now = contents.items(lx, value, node)
        if now.kind != "list":
            raise lx.error("T119", "the length of a list changes in a loop over it, depending on the data", node,
                           hint="iterate over a copy: items[:]")  # fmt: skip
        return now.items[k] if k < len(now.items) else END

    return at


def _of_dict(lx: Lifter, value: Ref, state: Items, node: Any) -> At:
    def at(k: int) -> Any:
        now = contents.items(lx, value, node)
        if now.keys != state.keys:
            raise lx.error(
                "T119", "a dict gets or loses keys while it is iterated", node, hint="iterate over list(...)"
            )
        keys = now.keys or ()
        return lx.const(keys[k]) if k < len(keys) else END

    return at


# ---------------------------------------------------------------------------------------------- several together


def _of_iteration(lx: Lifter, value: Iteration, node: Any) -> At | None:
    if value.kind in iteration.DICT_VIEWS:
        return _of_view(lx, value, node)
    sources = iteration.sources(value)
    found = [known(lx, p, node) for p in sources]
    if all(at is None for at in found):
        return None
    return _together(lx, value, [_beside(lx, p, node) if at is None else at for p, at in zip(sources, found)], node)


def _of_view(lx: Lifter, value: Iteration, node: Any) -> At:
    keys = _of_dict(lx, value.parts[0], contents.items(lx, value.parts[0], node), node)

    def at(k: int) -> Any:
        key = keys(k)
        return END if key is END else iteration.of_view(lx, value, node)[k]

    return at


def _beside(lx: Lifter, value: Any, node: Any) -> At:
    """The items of an array or range beside a list."""
    found = iteration.stream(lx, value, node)
    if found is None:
        return every(lx, value, node)
    return _of_stream(lx, value, lx.symbols.fixed(lx, _length(lx, found), node), node)


def _together(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    return _TOGETHER[value.kind](lx, value, parts, node)


def _zip(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    def at(k: int) -> Any:
        items = []
        for part in parts:
            item = part(k)
            if item is END:
                return END
            items.append(item)
        return Tuple(tuple(items))

    return at


def _map(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    together = _zip(lx, value, parts, node)

    def at(k: int) -> Any:
        items = together(k)
        return END if items is END else lx.apply(value.parts[0], list(items.items), {}, node)

    return at


def _enumerate(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    start = lx.b.expr(lx.operand(value.parts[0]))

    def at(k: int) -> Any:
        item = parts[0](k)
        return END if item is END else Tuple((Scalar((start + k).op), item))

    return at


def _reversed(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    many = 0
    while parts[0](many) is not END:
        many += 1
    return lambda k: parts[0](many - 1 - k) if k < many else END


def _product(lx: Lifter, value: Iteration, parts: list[At], node: Any) -> At:
    """What is combined is read before the first item is given."""
    pools = [list(each(part)) for part in parts]
    return _of_items([Tuple(items) for items in itertools.product(*pools)])


_TOGETHER: dict[str, Callable[[Lifter, Iteration, list[At], Any], At]] = {
    "zip": _zip, "map": _map, "enumerate": _enumerate, "reversed": _reversed, "product": _product,
    "iter": lambda lx, value, parts, node: parts[0],
}  # fmt: skip
_KNOWN: dict[type, Callable[[Lifter, Any, Any], At | None]] = {
    Tuple: lambda lx, value, node: _of_items(value.items),
    Ref: _of_ref,
    Static: lambda lx, value, node: _of_static(lx, value),
    Generator: lambda lx, value, node: lx.generated(value, node),
    Iteration: _of_iteration,
}


def _of_static(lx: Lifter, value: Static) -> At | None:
    held = value.value
    return _of_items([lx.const(v) for v in held]) if isinstance(held, (str, tuple, frozenset, range, list)) else None


__all__ = ["END", "At", "each", "every", "known", "known_items", "short", "unrolled"]
