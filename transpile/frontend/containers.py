"""Lists, dicts and instances: what they hold, and how that changes. They are values of the lifter, not of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.dims import Dim
from transpile.core.nodes import Const
from transpile.frontend import aliases, grown_lists, statics
from transpile.frontend.convert import describe, new_list
from transpile.frontend.formatting import Text
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Cell, Items, Iteration, RangeOf, Ref, SliceOf, Static, Tuple

__all__ = ["METHODS", "items", "new_list", "range_item", "replace_items", "set_item"]


HANDED_ON = "a list, dict or object that a recursive function is called with cannot be changed in it"
GIVEN = "jit cannot change a list, dict or object of its caller, who would see it as it was"
_HINTS = {HANDED_ON: "return a new one", GIVEN: "change a copy of it, and return that"}


def items(lx: Lifter, value: Ref, node: Any = None) -> Items:
    """What a list, dict or instance holds."""
    state: Items = lx.state.cells[value.cell]
    if state.kind == "conflict":
        from transpile.frontend import growing

        growing.use_inside(lx, value.cell, state)
        message = "this list, dict or object may hold more or fewer items, depending on the data"
        raise lx.error("T118", message, node, "fill an array of known size, or append on both paths")
    return state


def replace_items(lx: Lifter, cell: Cell, new: tuple[Any, ...], keys: tuple[Any, ...] | None = None) -> None:
    """Gives a container other contents."""
    from transpile.frontend import growing

    state: Items = lx.state.cells[cell]
    refuse_read_only(lx, cell)
    aliases.check_write(lx, cell)
    if state.kind == "list" and len(new) != len(state.items):
        growing.changes_length(lx, cell, state.items, new)
    lx.state.cells[cell] = Items(state.kind, new, state.keys if keys is None else keys, state.cls)


def refuse_read_only(lx: Lifter, cell: Cell) -> None:
    """Refuses to change a container that whoever made it would not see changed."""
    if cell.readonly:
        hint = "pass it in as an argument, or make it inside the function"
        raise lx.error("T123", cell.readonly, hint=_HINTS.get(cell.readonly, hint))


def set_item(lx: Lifter, owner: Ref, index: Any, value: Any, node: Any) -> None:
    """``owner[index] = value`` of a list or dict."""
    state = items(lx, owner, node)
    if state.kind == "dict":
        key = key_of(lx, index, node)
        held = dict(zip(state.keys or (), state.items))
        held[key] = value
        replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
        return
    if state.kind in grown_lists.KINDS:
        grown_lists.set_item(lx, owner, index, value, node)
        return
    if state.kind != "list":
        raise lx.error("T123", f"{describe(lx, owner)} cannot be written into", node)
    from transpile.frontend import growing

    k = lx.static(index, "the index of a list", node)
    held_items = list(state.items)
    if isinstance(k, slice):
        from transpile.frontend import iteration

        held_items[k] = iteration.unrolled(lx, value, node)
    elif -len(held_items) <= k < len(held_items):
        held_items[k] = value
    else:
        growing.beyond(lx, owner.cell, "list assignment index out of range", node)
        raise lx.error("T207", f"index {k} is out of range for a list of {len(held_items)}", node)
    replace_items(lx, owner.cell, tuple(held_items))


def delete(lx: Lifter, owner: Ref, index: Any, node: Any) -> None:
    """``del owner[index]`` of a list or dict."""
    state = items(lx, owner, node)
    if state.kind == "instance":
        raise lx.error("T108", f"'del' of an item of {describe(lx, owner)}", node)
    if not isinstance(index, SliceOf):
        _pop(lx, owner, [index], {}, node)
        return
    if state.kind != "list":
        message = "a slice of a list is deleted of which only the run knows how many elements it has"
        raise lx.error("T123", message, node, hint="make a list of those that stay")
    held = list(state.items)
    del held[lx.static(index, "the slice of a list", node)]
    replace_items(lx, owner.cell, tuple(held))


def range_item(lx: Lifter, value: RangeOf, index: Any, node: Any) -> Any:
    """``range(...)[k]`` for a known ``k`` that is not negative."""
    from transpile.frontend import iteration

    k = lx.operand(index, node)
    if isinstance(k, Const) and k.value < 0:
        raise lx.error("T120", "a range cannot be indexed from its end", node)
    length = iteration.length_of_range(lx, value)
    if not (isinstance(k, Const) and isinstance(length, Dim) and length.is_const):
        raise lx.error("T210", "a range that is indexed must be known when the function is transformed", node)
    if not k.value < length.const:
        raise lx.error("T207", f"index {k.value} is out of range for a range of {length.const}", node)
    return lx.value(lx.b.expr(value.start) + lx.b.expr(k) * lx.b.expr(value.step))


def key_of(lx: Lifter, value: Any, node: Any) -> Any:
    """The Python object that is a key."""
    found = lx.static(value, "the key of a dict", node)
    if isinstance(found, Text):
        message = "the key of a dict must be known when the function is transformed, and this text depends on the data"
        raise lx.error("T210", message, node)
    try:
        hash(found)
    except TypeError as e:
        raise lx.error("T120", f"the key of a dict: {e}", node) from None
    return found


def pairs_of(lx: Lifter, value: Any, node: Any) -> tuple[list[Any], list[Any]]:
    """The keys and values that ``dict(value)`` and ``d.update(value)`` take: of a dict, or of pairs."""
    from transpile.frontend import iteration

    if isinstance(value, Ref) and items(lx, value, node).kind == "dict":
        state = items(lx, value, node)
        return list(state.keys or ()), list(state.items)
    keys, values = [], []
    for k, pair in enumerate(iteration.unrolled(lx, value, node)):
        found = iteration.unrolled(lx, pair, node)
        if len(found) != 2:
            raise lx.error("T134", f"element {k} of what a dict is made from has {len(found)} items, not 2", node)
        keys.append(key_of(lx, found[0], node))
        values.append(found[1])
    return keys, values


# ------------------------------------------------------------------------------------------------------- methods

Args = list[Any]
Kwargs = dict[str, Any]


def _append(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import growing

    state = items(lx, owner, node)
    if state.kind in ("grown", "counted"):
        return growing.append(lx, owner, args[0], node)
    replace_items(lx, owner.cell, (*state.items, args[0]))
    return Static(None)


def _extend(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import iteration

    items(lx, owner, node)
    if is_long(lx, owner) or is_long(lx, args[0]):
        return _library("extend")(lx, owner, args, kwargs, node)
    more = iteration.unrolled(lx, args[0], node)
    for item in more:
        _append(lx, owner, [item], {}, node)
    return Static(None)


def is_long(lx: Lifter, value: Any) -> bool:
    """Whether only the run knows how many elements there are."""
    if isinstance(value, Iteration):
        return any(is_long(lx, p) for p in value.parts)
    return isinstance(value, Ref) and items(lx, value).kind in grown_lists.KINDS


def _library(name: str) -> Any:
    """A method that is written in Python, for lists of which only the run knows how many elements they have."""

    def call(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
        from transpile.frontend import table_calls

        return table_calls.library(lx, f"library_lists:{name}", [owner, *args], kwargs, node)

    return call


def _insert(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    held = list(items(lx, owner, node).items)
    held.insert(lx.static(args[0], "the position", node), args[1])
    replace_items(lx, owner.cell, tuple(held))
    return Static(None)


def _remove(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """Where it is known now which item it is."""
    from transpile.frontend import comparisons

    held = list(items(lx, owner, node).items)
    for k, item in enumerate(held):
        same = comparisons.is_equal(lx, item, args[0], node)
        if not isinstance(same, Const):
            message = "which item of a list is removed depends on the data"
            raise lx.error("T119", message, node, hint="make a list of those that stay")
        if same.value:
            replace_items(lx, owner.cell, (*held[:k], *held[k + 1 :]))
            return Static(None)
    raise lx.error("T131", "list.remove(x): x is not in the list", node)


def _pop(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import growing

    state = items(lx, owner, node)
    if state.kind == "dict":
        return _pop_key(lx, owner, args, node)
    if state.kind in grown_lists.KINDS:
        if args and not (statics.is_known(lx, args[0]) and statics.known(lx, args[0]) == -1):
            return _library("pop")(lx, owner, args, kwargs, node)
        return grown_lists.pop(lx, owner, node)
    held = list(state.items)
    k = lx.static(args[0], "the position", node) if args else -1
    if not -len(held) <= k < len(held):
        growing.beyond(lx, owner.cell, "pop from empty list" if not held else "pop index out of range", node)
        raise lx.error("T207", f"pop from a list of {len(held)}", node)
    found = held.pop(k)
    replace_items(lx, owner.cell, tuple(held))
    return found


def _pop_key(lx: Lifter, owner: Ref, args: Args, node: Any) -> Any:
    state = items(lx, owner, node)
    held = dict(zip(state.keys or (), state.items))
    if not args:
        raise lx.error("T132", "pop of a dict takes a key", node)
    key = key_of(lx, args[0], node)
    if key not in held and len(args) < 2:
        raise lx.error("T207", f"the dict has no key {key!r}", node)
    found = held.pop(key, args[1] if len(args) > 1 else None)
    replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
    return found


def _reverse(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    replace_items(lx, owner.cell, items(lx, owner, node).items[::-1])
    return Static(None)


def _copy(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    cell = Cell(owner.cell.name)
    lx.state.cells[cell] = items(lx, owner, node)
    return Ref(cell)


def _clear(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if items(lx, owner, node).kind in grown_lists.KINDS:
        grown_lists.clear(lx, owner, node)
        return Static(None)
    keys = () if items(lx, owner, node).kind == "dict" else None
    replace_items(lx, owner.cell, (), keys)
    return Static(None)


def _search(name: str) -> Any:
    """``count`` and ``index``: now, where all is known, else by comparisons when the function runs."""

    def call(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
        held = owner.items if isinstance(owner, Tuple) else items(lx, owner, node).items
        if len(args) == 1 and all(statics.is_known(lx, v) for v in (*held, args[0])):
            known = [statics.known(lx, v) for v in held]
            wanted = statics.known(lx, args[0])
            if name == "count":
                return lx.const(known.count(wanted))
            if wanted not in known:
                raise lx.error("T207", f"{wanted!r} is not in it", node)
            return lx.const(known.index(wanted))
        return _library(name)(lx, owner, args, kwargs, node)

    return call


def _view(kind: str) -> Any:
    """``d.keys()`` and its like: they show what the dict holds when they are read."""
    return lambda lx, owner, args, kwargs, node: Iteration(kind, (owner,))


def _get(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = items(lx, owner, node)
    key = key_of(lx, args[0], node)
    if key in (state.keys or ()):
        return state.items[(state.keys or ()).index(key)]
    return args[1] if len(args) > 1 else kwargs.get("default", Static(None))


def _setdefault(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = items(lx, owner, node)
    if key_of(lx, args[0], node) not in (state.keys or ()):
        set_item(lx, owner, args[0], args[1] if len(args) > 1 else Static(None), node)
    return _get(lx, owner, args[:1], {}, node)


def _update(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = items(lx, owner, node)
    held = dict(zip(state.keys or (), state.items))
    if len(args) > 1:
        raise lx.error("T132", f"update of a dict takes at most one argument without a name, not {len(args)}", node)
    for other in args:
        held.update(zip(*pairs_of(lx, other, node)))
    held.update(kwargs)
    replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
    return Static(None)


def _sort(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import number_calls

    found = number_calls.sorted_items(lx, owner, kwargs, node)
    replace_items(lx, owner.cell, tuple(found))
    return Static(None)


def _sort_grown(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not grown_lists.is_of_numbers(lx, owner) or "key" in kwargs:
        return _library("sort")(lx, owner, args, kwargs, node)
    grown_lists.sort(lx, owner, node)
    if "reverse" in kwargs and lx.static(kwargs["reverse"], "reverse", node):
        _library("reverse")(lx, owner, [], {}, node)
    return Static(None)


METHODS: dict[tuple[str, str], Callable[[Lifter, Any, Args, Kwargs, Any], Any]] = {
    **{(kind, name): rule for kind in grown_lists.KINDS for name, rule in (
        ("append", _append), ("extend", _extend), ("pop", _pop), ("clear", _clear),
        ("sort", _sort_grown),
        *((name, _library(name)) for name in ("insert", "remove", "reverse", "index", "count", "copy")),
    )},
    ("list", "append"): _append, ("list", "extend"): _extend, ("list", "insert"): _insert, ("list", "pop"): _pop,
    ("list", "reverse"): _reverse, ("list", "copy"): _copy, ("list", "clear"): _clear, ("list", "count"): _search("count"),
    ("list", "index"): _search("index"), ("list", "remove"): _remove, ("list", "sort"): _sort,
    ("tuple", "count"): _search("count"), ("tuple", "index"): _search("index"),
    **{("dict", name): _view(f"dict_{name}") for name in ("keys", "values", "items")},
    ("dict", "get"): _get,
    ("dict", "pop"): _pop, ("dict", "copy"): _copy, ("dict", "clear"): _clear, ("dict", "update"): _update,
    ("dict", "setdefault"): _setdefault,
}  # fmt: skip
