"""Lists, dicts and instances: what they hold, and how that changes. They are values of the lifter, not of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core import nodes as ir
from transpile.errors import TranspileError
from transpile.frontend.calls import library_calls
from transpile.frontend.control import dynamic_list_reads, dynamic_list_writes, dynamic_lists, iterators
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import contents
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Cell, Iteration, Ref, SliceOf, Static, Tuple


def set_item(lx: Lifter, owner: Ref, index: Any, value: Any, node: Any) -> None:
    """``owner[index] = value`` of a list or dict."""
    state = contents.items(lx, owner, node)
    if state.kind == "dict":
        key = key_of(lx, index, node)
        held = dict(zip(state.keys or (), state.items))
        held[key] = value
        contents.replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
        return
    if state.kind in dynamic_list_reads.KINDS:
        dynamic_list_writes.set_item(lx, owner, index, value, node)
        return
    if state.kind != "list":
        raise lx.error("T123", f"{describe(lx, owner)} does not support item assignment", node, NO_ITEMS)
    k = lx.static(index, "the index of a list", node)
    held_items = list(state.items)
    if isinstance(k, slice):
        iterators.use(lx, value, node)
        held_items[k] = lx.unrolled(value, node)
    elif -len(held_items) <= k < len(held_items):
        held_items[k] = value
    else:
        dynamic_lists.beyond(lx, owner.cell, "list assignment index out of range", node)
        message = f"index {k} is out of range for a list of length {len(held_items)}"
        raise lx.error("T207", message, node, "append to the list, or correct the index")
    contents.replace_items(lx, owner.cell, tuple(held_items))


NO_ITEMS = "write into an array, a list or a dict"


def without_key(lx: Lifter, key: Any, keys: tuple[Any, ...], node: Any) -> TranspileError:
    """T207 for a key that a dict does not have."""
    some = ", ".join(map(repr, keys[:6])) + ", ..." * (len(keys) > 6)
    hint = f"the keys are {some}" if keys else "the dict is empty"
    return lx.error("T207", f"the dict has no key {key!r}", node, hint)


def delete(lx: Lifter, owner: Ref, index: Any, node: Any) -> None:
    """``del owner[index]`` of a list or dict."""
    state = contents.items(lx, owner, node)
    if state.kind == "instance":
        hint = "define __delitem__ in its class"
        raise lx.error("T108", f"cannot delete an item of {describe(lx, owner)}", node, hint)
    if not isinstance(index, SliceOf):
        _pop(lx, owner, [index], {}, node)
        return
    if state.kind != "list":
        message = "deleting a slice of a list whose length depends on the data is not supported"
        raise lx.error("T123", message, node, hint="make a list of the elements that remain")
    held = list(state.items)
    del held[lx.static(index, "the slice of a list", node)]
    contents.replace_items(lx, owner.cell, tuple(held))


def key_of(lx: Lifter, value: Any, node: Any) -> Any:
    """The Python object that is a key."""
    found = lx.static(value, "the key of a dict", node)
    try:
        hash(found)
    except TypeError as e:
        raise lx.error("T120", f"the key of a dict: {e}", node, "use a string, a number or a tuple") from None
    return found


def pairs_of(lx: Lifter, value: Any, node: Any) -> tuple[list[Any], list[Any]]:
    """The keys and values that ``dict(value)`` and ``d.update(value)`` take: of a dict, or of pairs."""
    if isinstance(value, Ref) and contents.items(lx, value, node).kind == "dict":
        state = contents.items(lx, value, node)
        return list(state.keys or ()), list(state.items)
    keys, values = [], []
    for k, pair in enumerate(lx.unrolled(value, node)):
        found = lx.unrolled(pair, node)
        if len(found) != 2:
            message = f"a dict is made of pairs (key, value), but element {k} has {len(found)} items"
            raise lx.error("T134", message, node, "write pairs: dict([(key, value), ...])")
        keys.append(key_of(lx, found[0], node))
        values.append(found[1])
    return keys, values


# ------------------------------------------------------------------------------------------------------- methods

Args = list[Any]
Kwargs = dict[str, Any]


def _append(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    if state.kind in ("grown", "counted"):
        return dynamic_lists.append(lx, owner, args[0], node)
    contents.replace_items(lx, owner.cell, (*state.items, args[0]))
    return Static(None)


def _extend(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    contents.items(lx, owner, node)
    if is_long(lx, owner) or is_long(lx, args[0]):
        return _library("extend")(lx, owner, args, kwargs, node)
    more = lx.unrolled(args[0], node)
    for item in more:
        _append(lx, owner, [item], {}, node)
    return Static(None)


def is_long(lx: Lifter, value: Any) -> bool:
    """Whether only the run knows how many elements there are."""
    if isinstance(value, Iteration):
        return any(is_long(lx, p) for p in value.parts)
    return isinstance(value, Ref) and contents.items(lx, value).kind in dynamic_list_reads.KINDS


def _library(name: str) -> Any:
    """A method that is written in Python, for lists of which only the run knows how many elements they have."""

    def call(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
        return library_calls.call(lx, f"library_lists:{name}", [owner, *args], kwargs, node)

    return call


def _insert(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    held = list(contents.items(lx, owner, node).items)
    held.insert(lx.static(args[0], "the position", node), args[1])
    contents.replace_items(lx, owner.cell, tuple(held))
    return Static(None)


def _remove(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """Where it is known now which item it is."""
    held = list(contents.items(lx, owner, node).items)
    for k, item in enumerate(held):
        same = lx.is_equal(item, args[0], node)
        if not isinstance(same, ir.Const):
            message = "which element list.remove removes depends on the data"
            raise lx.error("T119", message, node, hint="make a list of the elements that remain")
        if same.value:
            contents.replace_items(lx, owner.cell, (*held[:k], *held[k + 1 :]))
            return Static(None)
    raise lx.error("T131", "list.remove(x): x not in list", node, "test for it first: if x in items")


def _pop(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    if state.kind == "dict":
        return _pop_key(lx, owner, args, node)
    if state.kind in dynamic_list_reads.KINDS:
        if args and not (statics.is_known(lx, args[0]) and statics.known(lx, args[0]) == -1):
            return _library("pop")(lx, owner, args, kwargs, node)
        return dynamic_list_writes.pop(lx, owner, node)
    held = list(state.items)
    k = lx.static(args[0], "the position", node) if args else -1
    if not -len(held) <= k < len(held):
        dynamic_lists.beyond(lx, owner.cell, "pop from empty list" if not held else "pop index out of range", node)
        message = (
            "pop from empty list" if not held else f"pop index {k} is out of range for a list of length {len(held)}"
        )
        raise lx.error("T207", message, node, "test the length of the list first")
    found = held.pop(k)
    contents.replace_items(lx, owner.cell, tuple(held))
    return found


def _pop_key(lx: Lifter, owner: Ref, args: Args, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    held = dict(zip(state.keys or (), state.items))
    if not args:
        raise lx.error("T132", "pop of a dict takes a key", node, "write d.pop(key)")
    key = key_of(lx, args[0], node)
    if key not in held and len(args) < 2:
        raise without_key(lx, key, tuple(held), node)
    found = held.pop(key, args[1] if len(args) > 1 else None)
    contents.replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
    return found


def _reverse(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    contents.replace_items(lx, owner.cell, contents.items(lx, owner, node).items[::-1])
    return Static(None)


def _copy(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    cell = Cell(owner.cell.name)
    lx.state.cells[cell] = contents.items(lx, owner, node)
    return Ref(cell)


def _clear(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if contents.items(lx, owner, node).kind in dynamic_list_reads.KINDS:
        dynamic_list_writes.clear(lx, owner, node)
        return Static(None)
    keys = () if contents.items(lx, owner, node).kind == "dict" else None
    contents.replace_items(lx, owner.cell, (), keys)
    return Static(None)


def _search(name: str) -> Any:
    """``count`` and ``index``: now, where all is known, else by comparisons when the function runs."""

    def call(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
        held = owner.items if isinstance(owner, Tuple) else contents.items(lx, owner, node).items
        if len(args) == 1 and all(statics.is_known(lx, v) for v in (*held, args[0])):
            known = [statics.known(lx, v) for v in held]
            wanted = statics.known(lx, args[0])
            if name == "count":
                return lx.const(known.count(wanted))
            if wanted not in known:
                raise lx.error("T207", f"{wanted!r} is not in the {_word(owner)}", node, "test for it first with 'in'")
            return lx.const(known.index(wanted))
        return _library(name)(lx, owner, args, kwargs, node)

    return call


def _word(owner: Any) -> str:
    return "tuple" if isinstance(owner, Tuple) else "list"


def _view(kind: str) -> Any:
    """``d.keys()`` and its like: they show what the dict holds when they are read."""
    return lambda lx, owner, args, kwargs, node: Iteration(kind, (owner,))


def _get(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    key = key_of(lx, args[0], node)
    if key in (state.keys or ()):
        return state.items[(state.keys or ()).index(key)]
    return args[1] if len(args) > 1 else kwargs.get("default", Static(None))


def _setdefault(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    if key_of(lx, args[0], node) not in (state.keys or ()):
        set_item(lx, owner, args[0], args[1] if len(args) > 1 else Static(None), node)
    return _get(lx, owner, args[:1], {}, node)


def _update(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    state = contents.items(lx, owner, node)
    held = dict(zip(state.keys or (), state.items))
    if len(args) > 1:
        message = f"update of a dict takes at most one positional argument but {len(args)} were given"
        raise lx.error("T132", message, node, "call update once for each")
    for other in args:
        held.update(zip(*pairs_of(lx, other, node)))
    held.update(kwargs)
    contents.replace_items(lx, owner.cell, tuple(held.values()), tuple(held))
    return Static(None)


def _sort(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    found = lx.sorted_items(owner, kwargs, node)
    contents.replace_items(lx, owner.cell, tuple(found))
    return Static(None)


def _sort_grown(lx: Lifter, owner: Ref, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not dynamic_list_reads.is_of_numbers(lx, owner) or "key" in kwargs:
        return _library("sort")(lx, owner, args, kwargs, node)
    dynamic_list_writes.sort(lx, owner, node)
    if "reverse" in kwargs and lx.static(kwargs["reverse"], "reverse", node):
        _library("reverse")(lx, owner, [], {}, node)
    return Static(None)


METHODS: dict[tuple[str, str], Callable[[Lifter, Any, Args, Kwargs, Any], Any]] = {
    **{(kind, name): rule for kind in dynamic_list_reads.KINDS for name, rule in (
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
