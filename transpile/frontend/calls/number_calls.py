"""Python's numeric builtins: conversions, ``sum``, ``min``, ``max``, ``any``, ``all``, ``sorted``."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.types import FLOAT, INT
from transpile.frontend.calls import iterator_calls, library_calls
from transpile.frontend.control import (
    branches,
    dynamic_list_reads,
    generator_folds,
    iteration,
    live,
    quantifiers,
    truth,
)
from transpile.frontend.control.truth_values import FALSE, TRUE, answer
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.restarts import Dead
from transpile.frontend.values import comparisons, containers, contents, memory
from transpile.frontend.values.convert import new_list
from transpile.frontend.values.operators import binary
from transpile.frontend.values.values import Array, Scalar, Static, Tuple

MOST = 8  # items that are sorted by branches
_SOURCE = {"max": "largest", "min": "smallest"}
Args = list[Any]
Kwargs = dict[str, Any]


def _float(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if args and isinstance(args[0], Static) and isinstance(args[0].value, str):
        try:
            return lx.const(float(args[0].value))
        except ValueError as e:
            raise lx.error("T131", str(e), node, _NUMBER_TEXT) from None
    return _number(lx, args, FLOAT, node)


def _int(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    has_base = len(args) > 1 or "base" in kwargs
    if has_base or (args and isinstance(args[0], Static) and isinstance(args[0].value, str)):
        given = [lx.static(a, "the argument of int", node) for a in (*args, *kwargs.values())]
        try:
            return lx.const(int(*given))
        except (ValueError, TypeError) as e:
            raise lx.error("T131", str(e), node, _NUMBER_TEXT) from None
    return _number(lx, args, INT, node)


_NUMBER_TEXT = "pass a number, or a string that holds one"


def _number(lx: Lifter, args: Args, to: Any, node: Any) -> Any:
    if not args:
        return lx.const(0.0 if to is FLOAT else 0)
    x = _as_scalar(lx, args[0], node)
    if isinstance(x, ir.Const):
        try:
            return lx.const((float if to is FLOAT else int)(x.value))
        except (OverflowError, ValueError) as e:  # of infinity and NaN: where the run comes here
            if not lx.regions:
                raise
            lx.b.emit(ir.Raise((), type(e).__name__, (str(e),), loc=lx.b.loc))
            raise Dead from None
    return Scalar(lx.b.surely_of_dtype(lx.b.cast(x, to)).op)


def _as_scalar(lx: Lifter, value: Any, node: Any) -> Any:
    x = lx.operand(value, node)
    if x.type.dims:
        raise lx.error(
            "T213",
            f"an array of type {x.type} is not a number",
            node,
            hint="take an element of it, or reduce it (np.sum)",
        )
    return x


def _bool(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return answer(lx, truth.truth(lx, args[0], node)) if args else lx.const(False)


def _sum(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``sum(items, start)``: one after another."""
    total = args[1] if len(args) > 1 else kwargs.get("start", lx.const(0))
    if isinstance(total, Static) and isinstance(total.value, (str, bytes)):
        raise lx.error("T131", "sum() cannot add strings", node, hint="use ''.join(...)")
    found = live.known_items(lx, args[0], node)
    if found is None and isinstance(args[0], Array) and len(memory.type_of(lx, args[0].cell).dims) > 1:
        rows = _rows(lx, args[0], node)
        return rows if _is_zero(total) else binary(lx, "add", total, rows, node)
    if found is None:
        return _folded(lx, args[0], total, "add", node)
    for item in found:
        plain = _is_zero(total) and isinstance(item, (Scalar, Array))
        total = _plus(lx, item) if plain else binary(lx, "add", total, item, node)
    return total


def _rows(lx: Lifter, value: Array, node: Any) -> Any:
    """The sum of an array's rows, in its own dtype: narrow integers wrap round, as they do when they are added."""
    total = lx.known_call("numpy.sum", [value, lx.const(0)], {}, node)
    type_ = memory.type_of(lx, value.cell)
    return total if type_.is_bool else lx.value(lx.b.cast(lx.operand(total), type_.dtype))


def _plus(lx: Lifter, item: Any) -> Any:
    """``0 + item``."""
    op = lx.operand(item)
    if isinstance(item, Scalar) and not op.type.is_bool:
        return item
    return lx.value(lx.b.cast(op, INT) if op.type.is_bool else op)


def _is_zero(value: Any) -> bool:
    return (
        isinstance(value, Scalar)
        and isinstance(value.op, ir.Const)
        and value.op.value == 0
        and type(value.op.value) is int
    )


def _folded(lx: Lifter, value: Any, total: Any, prim: str, node: Any) -> Any:
    """A sum or product over what a loop runs over."""
    return generator_folds.fold(lx, value, total, lambda a, b: binary(lx, prim, a, b, node), node, adapts=True)


def _extreme(lx: Lifter, args: Args, kwargs: Kwargs, node: Any, name: str) -> Any:
    """``max(items)`` or ``max(a, b, ...)``, with a key or a default; the first of equal ones."""
    if "key" in kwargs and statics.is_known(lx, kwargs["key"]) and statics.known(lx, kwargs["key"]) is None:
        kwargs = {k: v for k, v in kwargs.items() if k != "key"}
    if len(args) > 1 and "default" in kwargs:
        message = f"{name} of several arguments does not take 'default'"
        raise lx.error("T132", message, node, "leave default out, or pass one list")
    if len(args) > 1:
        return _of_known(lx, args, kwargs, node, name)
    (value,) = args
    if isinstance(value, Array):
        if not kwargs and len(memory.type_of(lx, value.cell).dims) == 1:
            return lx.known_call(f"numpy.{name}", [value], {}, node)
        return _of_many(lx, value, kwargs, node, name)
    items = live.known_items(lx, value, node)
    if items is None:
        made = lx.known_call("builtins.list", [value], {}, node)
        if dynamic_list_reads.is_grown(lx, made):
            return _of_many(lx, made, kwargs, node, name)
        items = list(contents.items(lx, made, node).items)
    if items:
        return _of_known(lx, items, kwargs, node, name)
    if "default" in kwargs:
        return kwargs["default"]
    raise lx.error("T131", f"{name}() of an empty sequence", node, f"write {name}(items, default=...)")


def _of_many(lx: Lifter, value: Any, kwargs: Kwargs, node: Any, name: str) -> Any:
    """Of a list or an array of which only the run knows how many elements it has, maybe none."""

    def best() -> Any:
        if (
            "key" not in kwargs
            and dynamic_list_reads.is_grown(lx, value)
            and dynamic_list_reads.is_of_numbers(lx, value)
        ):
            return _extreme(lx, [lx.value(lx.array(value))], {}, node, name)
        key = [kwargs["key"]] if "key" in kwargs else []
        return library_calls.call(lx, f"library_lists:{_SOURCE[name]}", [value, *key], {}, node)

    if "default" not in kwargs:
        return best()
    length = lx.known_call("builtins.len", [value], {}, node)
    has_any = truth.truth(lx, comparisons.compare(lx, gast.Gt(), length, lx.const(0), node), node)
    if isinstance(has_any, ir.Const):
        return best() if has_any.value else kwargs["default"]
    return branches.choose(lx, has_any, best, lambda: kwargs["default"], node)


def _of_known(lx: Lifter, items: Sequence[Any], kwargs: Kwargs, node: Any, name: str) -> Any:
    """Of items whose number is known."""

    def keyed(item: Any) -> Tuple:
        return Tuple((item, lx.apply(kwargs["key"], [item], {}, node)))

    if "key" not in kwargs:
        return functools.reduce(lambda best, item: _better(lx, best, item, name, node), items)
    best = keyed(items[0])
    for item in items[1:]:
        other = keyed(item)
        best = _chosen(lx, best, other, best.items[1], other.items[1], name, node)
    return best.items[0]


def _better(lx: Lifter, best: Any, item: Any, name: str, node: Any) -> Any:
    """Python's ``max(best, item)``: the first of equal ones."""
    if not isinstance(best, (Scalar, Array)) or not isinstance(item, (Scalar, Array)):
        return _chosen(lx, best, item, best, item, name, node)
    x, y = lx.operand(best, node), lx.operand(item, node)
    if x.type.dims or y.type.dims:
        raise lx.error("T211", "the truth value of an array is ambiguous", node, hint=f"use np.{name}imum")
    if isinstance(x, ir.Const) and isinstance(y, ir.Const):
        return lx.const({"max": max, "min": min}[name](x.value, y.value))
    found = lx.b.elementwise(f"{name}imum", x, y, py=True)
    if found.op not in (x, y) and isinstance(found.op, ir.Var):
        memory.note_dtypes(lx, found.op, x, y)
    return lx.value(found)


def _chosen(lx: Lifter, best: Any, item: Any, key: Any, other: Any, name: str, node: Any) -> Any:
    """``item`` where its key ``other`` is better than that of the best, as Python asks: ``max`` by ``>``, ``min`` by ``<``."""
    asked = comparisons.compare(lx, gast.Gt() if name == "max" else gast.Lt(), other, key, node)
    return truth.either(lx, truth.truth(lx, asked, node), _giving(item), _giving(best), node)


def _any(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return answer(lx, lx.operand(_quantified(lx, args[0], True, node)))


def _all(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return answer(lx, lx.operand(_quantified(lx, args[0], False, node)))


def _quantified(lx: Lifter, value: Any, ends: bool, node: Any) -> Any:
    """``any`` (ends on True) and ``all`` (ends on False)."""
    if isinstance(value, Array) and len(memory.type_of(lx, value.cell).dims) == 1:
        return lx.known_call("numpy.any" if ends else "numpy.all", [value], {}, node)
    early = quantifiers.ended_early(lx, value, ends, node)
    if early is not None:
        return early
    found = live.known_items(lx, value, node)
    prim = "logical_or" if ends else "logical_and"
    if found is None:
        start = lx.const(not ends)

        def step(total: Any, item: Any) -> Any:
            return lx.value(lx.b.elementwise(prim, lx.operand(total), truth.truth(lx, item, node)))

        return generator_folds.fold(lx, value, start, step, node)
    total: Any = FALSE if ends else TRUE
    for item in found:
        decided = truth.truth(lx, item, node)
        if isinstance(decided, ir.Const):
            if bool(decided.value) == ends:
                return lx.const(ends)
            continue
        total = decided if isinstance(total, ir.Const) else lx.b.elementwise(prim, total, decided).op
    return Scalar(total)


def sorted_items(lx: Lifter, value: Any, kwargs: Kwargs, node: Any) -> list[Any]:
    """The items in order: known ones now, numbers by a sort of an array."""
    reverse = lx.static(kwargs["reverse"], "reverse", node) if "reverse" in kwargs else False
    items = lx.unrolled(value, node)
    if all(statics.is_known(lx, v) for v in items):
        keys = _keys(lx, items, kwargs.get("key"), node)
        if not all(statics.is_known(lx, k) for k in keys):  # [0, 1, 2] by what stands there
            return _in_order(lx, items, keys, reverse, node)
        keyed = [statics.known(lx, k) for k in keys]
        try:
            order = sorted(range(len(items)), key=lambda k: keyed[k], reverse=reverse)
        except TypeError as e:
            raise lx.error("T131", f"sorted: {e}", node, "sort values of one kind") from None
        return [items[k] for k in order]
    firsts = [v.items[0] if isinstance(v, Tuple) and v.items else None for v in items]
    if "key" not in kwargs and all(f is not None and statics.is_known(lx, f) for f in firsts):
        known = [statics.known(lx, f) for f in firsts]
        if not any(a == b for a, b in itertools.combinations(known, 2)):  # pairs that their first parts tell apart
            return [items[k] for k in sorted(range(len(items)), key=lambda k: known[k], reverse=reverse)]
    if "key" in kwargs or not all(isinstance(v, Scalar) for v in items):
        _check_few(lx, items, node)
        return _in_order(lx, items, _keys(lx, items, kwargs.get("key"), node), reverse, node)
    array = lx.known_call("numpy.sort", [new_list(lx, items)], {}, node)
    found = iteration.rows(lx, array, len(items))
    types = {v.op.type for v in items if isinstance(v, Scalar)}
    if len(types) == 1 and (type_ := types.pop()).weak:
        found = [lx.value(lx.b.cast(lx.array(v), type_)) for v in found]
    return found[::-1] if reverse else found


def _keys(lx: Lifter, items: Sequence[Any], key: Any, node: Any) -> list[Any]:
    """What the items are sorted by: asked of each once."""
    if key is None or isinstance(key, Static) and key.value is None:
        return list(items)
    return [lx.apply(key, [v], {}, node) for v in items]


def _check_few(lx: Lifter, items: Sequence[Any], node: Any) -> None:
    if len(items) > MOST:
        message = (
            f"sorting {len(items)} items by a key, or items that are not numbers, is not supported: at most {MOST}"
        )
        raise lx.error("T131", message, node, hint="sort an array, or a list made by a comprehension over an array")


def _in_order(lx: Lifter, items: Sequence[Any], keys: Sequence[Any], reverse: bool, node: Any) -> list[Any]:
    """Sorted as Python asks, by ``<`` alone: neighbours change places where the second is less, so equal ones stay in order."""
    _check_few(lx, items, node)
    pairs = [Tuple(pair) for pair in zip(items, keys)]
    for last in range(len(pairs) - 1, 0, -1):
        for k in range(last):
            a, b = pairs[k : k + 2]
            less = (a.items[1], b.items[1]) if reverse else (b.items[1], a.items[1])
            asked = truth.truth(lx, comparisons.compare(lx, gast.Lt(), *less, node), node)
            both = truth.either(lx, asked, _giving(Tuple((b, a))), _giving(Tuple((a, b))), node)
            pairs[k : k + 2] = both.items
    return [pair.items[0] for pair in pairs]


def _giving(value: Any) -> Callable[[], Any]:
    return lambda: value


def _sorted(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (value,) = args
    if isinstance(value, Array) and not kwargs and len(memory.type_of(lx, value.cell).dims) == 1:
        return dynamic_list_reads.of_array(lx, lx.known_call("numpy.sort", [value], {}, node))
    # by a key in the run, unless all is known now
    made = (
        iterator_calls.of_many(lx, value, node)
        if "key" in kwargs
        else lx.known_call("builtins.list", [value], {}, node)
    )
    if dynamic_list_reads.is_grown(lx, made):
        containers.METHODS["grown", "sort"](lx, made, [], kwargs, node)
        return made
    return new_list(lx, sorted_items(lx, made, kwargs, node))


def _pow(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    given = {**dict(zip(("base", "exp", "mod"), args)), **kwargs}
    if "mod" in given:
        known = {name: lx.static(a, "an argument of pow with a modulus", node) for name, a in given.items()}
        if known["mod"] is not None:
            return lx.const(pow(**known))
    return binary(lx, "pow", given["base"], given["exp"], node)


TABLE: dict[str, Any] = {
    f"builtins.{name}": rule
    for name, rule in {
        "float": _float, "int": _int, "bool": _bool, "sum": _sum, "any": _any, "all": _all, "sorted": _sorted, "pow": _pow,
        "max": lambda lx, args, kwargs, node: _extreme(lx, args, kwargs, node, "max"),
        "min": lambda lx, args, kwargs, node: _extreme(lx, args, kwargs, node, "min"),
    }.items()
}  # fmt: skip
