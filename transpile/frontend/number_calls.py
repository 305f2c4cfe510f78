"""Python's numeric builtins: conversions, ``sum``, ``min``, ``max``, ``any``, ``all``, ``sorted``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.nodes import Const
from transpile.core.types import FLOAT, INT
from transpile.frontend import (
    calls,
    comprehensions,
    containers,
    grown_lists,
    iteration,
    memory,
    quantifiers,
    statics,
    truth,
)
from transpile.frontend.convert import new_list
from transpile.frontend.lifter import Lifter
from transpile.frontend.operators import binary
from transpile.frontend.values import Array, Generator, Ref, Scalar, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]


def _float(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if args and isinstance(args[0], Static) and isinstance(args[0].value, str):
        try:
            return lx.const(float(args[0].value))
        except ValueError as e:
            raise lx.error("T131", str(e), node) from None
    return _number(lx, args, FLOAT, node)


def _int(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    has_base = len(args) > 1 or "base" in kwargs
    if has_base or (args and isinstance(args[0], Static) and isinstance(args[0].value, str)):
        given = [lx.static(a, "what int reads", node) for a in (*args, *kwargs.values())]
        try:
            return lx.const(int(*given))
        except (ValueError, TypeError) as e:
            raise lx.error("T131", str(e), node) from None
    return _number(lx, args, INT, node)


def _number(lx: Lifter, args: Args, to: Any, node: Any) -> Any:
    if not args:
        return lx.const(0.0 if to is FLOAT else 0)
    x = _as_scalar(lx, args[0], node)
    if isinstance(x, Const):
        return lx.const((float if to is FLOAT else int)(x.value))
    return Scalar(lx.b.cast(x, to).op)


def _as_scalar(lx: Lifter, value: Any, node: Any) -> Any:
    x = lx.operand(value, node)
    if x.type.dims:
        raise lx.error("T213", f"an array of type {x.type} is not a number", node, hint="use .item()")
    return x


def _bool(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return truth.answer(lx, truth.truth(lx, args[0], node)) if args else lx.const(False)


def _sum(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``sum(items, start)``: one after another."""
    total = args[1] if len(args) > 1 else kwargs.get("start", lx.const(0))
    found = items_of(lx, args[0], node)
    if found is None and isinstance(args[0], Array) and len(memory.type_of(lx, args[0].cell).dims) > 1:
        rows = calls.known_call(lx, "numpy.sum", [args[0], lx.const(0)], {}, node)
        return rows if _is_zero(total) else binary(lx, "add", total, rows, node)
    if found is None:
        return _folded(lx, args[0], total, "add", node)
    for item in found:
        plain = _is_zero(total) and isinstance(item, (Scalar, Array))
        total = _plus(lx, item) if plain else binary(lx, "add", total, item, node)
    return total


def _plus(lx: Lifter, item: Any) -> Any:
    """``0 + item``."""
    op = lx.operand(item)
    if isinstance(item, Scalar) and not op.type.is_bool:
        return item
    return lx.value(lx.b.cast(op, INT) if op.type.is_bool else op)


def _is_zero(value: Any) -> bool:
    return (
        isinstance(value, Scalar)
        and isinstance(value.op, Const)
        and value.op.value == 0
        and type(value.op.value) is int
    )


def items_of(lx: Lifter, value: Any, node: Any) -> list[Any] | None:
    """The items, if the iterable is one that is unrolled."""
    if isinstance(value, Generator):
        return comprehensions.unrolled(lx, value, node)
    return iteration.known_items(lx, value, node)


def _folded(lx: Lifter, value: Any, total: Any, prim: str, node: Any) -> Any:
    """A sum or product over what a loop runs over."""
    from transpile.frontend import folds

    return folds.fold(lx, value, total, lambda a, b: binary(lx, prim, a, b, node), node)


def _extreme(lx: Lifter, args: Args, kwargs: Kwargs, node: Any, name: str) -> Any:
    if "key" in kwargs:
        return _by_key(lx, args, kwargs, node, name)
    if len(args) == 1:
        if grown_lists.is_grown(lx, args[0]):
            return _extreme_of_grown(lx, args[0], kwargs, node, name)
        if isinstance(args[0], Array) and len(memory.type_of(lx, args[0].cell).dims) == 1:
            return calls.known_call(lx, f"numpy.{name}", [args[0]], {}, node)
        found = items_of(lx, args[0], node)
        if found is None:
            return _folded_extreme(lx, args[0], name, node)
        if not found:
            if "default" in kwargs:
                return kwargs["default"]
            raise lx.error("T131", f"{name} of nothing", node)
        args = found
    best = args[0]
    for item in args[1:]:
        best = _better(lx, best, item, name, node)
    return best


def _extreme_of_grown(lx: Lifter, value: Ref, kwargs: Kwargs, node: Any, name: str) -> Any:
    """Of a list of which only the run knows how many elements it has, maybe none."""
    from transpile.frontend import branches

    has_any = grown_lists.has_any(lx, value)
    if isinstance(has_any, Const) and not has_any.value and "default" in kwargs:
        return kwargs["default"]

    def largest() -> Any:
        return _extreme(lx, [lx.value(lx.array(value))], {}, node, name)

    if "default" not in kwargs or isinstance(has_any, Const):
        return largest()
    return branches.choose(lx, has_any, largest, lambda: kwargs["default"], node)


def _by_key(lx: Lifter, args: Args, kwargs: Kwargs, node: Any, name: str) -> Any:
    """The item with the largest or smallest key, the first of equal ones; of items whose number is known."""
    from transpile.frontend import branches

    items = args if len(args) > 1 else comprehensions.known(lx, args[0], node)
    if items is None:
        raise lx.error(
            "T131", f"{name} with a key of what only the run knows how long it is", node, hint="write it as a loop"
        )
    if not items:
        if "default" in kwargs:
            return kwargs["default"]
        raise lx.error("T131", f"{name} of nothing", node)

    def keyed(item: Any) -> Tuple:
        return Tuple((item, calls.apply(lx, kwargs["key"], [item], {}, node)))

    best = keyed(items[0])
    for item in items[1:]:
        other, here = keyed(item), best
        keys = (lx.operand(other.items[1], node), lx.operand(here.items[1], node))
        is_better = lx.b.elementwise({"max": "greater", "min": "less"}[name], *keys).op
        if isinstance(is_better, Const):
            best = other if is_better.value else here
        else:
            best = branches.choose(lx, is_better, _giving(other), _giving(here), node)
    return best.items[0]


def _giving(value: Any) -> Callable[[], Any]:
    return lambda: value


def _better(lx: Lifter, best: Any, item: Any, name: str, node: Any) -> Any:
    """Python's ``max(best, item)``: the first of equal ones."""
    x, y = lx.operand(best, node), lx.operand(item, node)
    if x.type.dims or y.type.dims:
        raise lx.error("T211", "the truth value of an array is ambiguous", node, hint=f"use np.{name}imum")
    if isinstance(x, Const) and isinstance(y, Const):
        return lx.const({"max": max, "min": min}[name](x.value, y.value))
    return lx.value(lx.b.elementwise(f"{name}imum", x, y, py=True))


def _folded_extreme(lx: Lifter, value: Any, name: str, node: Any) -> Any:
    from transpile.frontend import folds

    return folds.fold(lx, value, None, lambda a, b: _better(lx, a, b, name, node), node)


def _any(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return truth.answer(lx, lx.operand(_quantified(lx, args[0], True, node)))


def _all(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return truth.answer(lx, lx.operand(_quantified(lx, args[0], False, node)))


def _quantified(lx: Lifter, value: Any, ends: bool, node: Any) -> Any:
    """``any`` (ends on True) and ``all`` (ends on False)."""
    if isinstance(value, Array) and len(memory.type_of(lx, value.cell).dims) == 1:
        return calls.known_call(lx, "numpy.any" if ends else "numpy.all", [value], {}, node)
    early = quantifiers.ended_early(lx, value, ends, node)
    if early is not None:
        return early
    found = items_of(lx, value, node)
    prim = "logical_or" if ends else "logical_and"
    if found is None:
        from transpile.frontend import folds

        start = lx.const(not ends)

        def step(total: Any, item: Any) -> Any:
            return lx.value(lx.b.elementwise(prim, lx.operand(total), truth.truth(lx, item, node)))

        return folds.fold(lx, value, start, step, node)
    total: Any = truth.FALSE if ends else truth.TRUE
    for item in found:
        decided = truth.truth(lx, item, node)
        if isinstance(decided, Const):
            if bool(decided.value) == ends:
                return lx.const(ends)
            continue
        total = decided if isinstance(total, Const) else lx.b.elementwise(prim, total, decided).op
    return Scalar(total)


def sorted_items(lx: Lifter, value: Any, kwargs: Kwargs, node: Any) -> list[Any]:
    """The items in order: known ones now, numbers by a sort of an array."""
    reverse = lx.static(kwargs["reverse"], "reverse", node) if "reverse" in kwargs else False
    items = iteration.unrolled(lx, value, node)
    if all(statics.is_known(lx, v) for v in items):
        key = kwargs.get("key")
        keyed = [statics.known(lx, v if key is None else calls.apply(lx, key, [v], {}, node)) for v in items]
        try:
            order = sorted(range(len(items)), key=lambda k: keyed[k], reverse=reverse)
        except TypeError as e:
            raise lx.error("T131", f"sorted: {e}", node) from None
        return [items[k] for k in order]
    firsts = [v.items[0] if isinstance(v, Tuple) and v.items else None for v in items]
    if "key" not in kwargs and all(f is not None and statics.is_known(lx, f) for f in firsts):
        known = [statics.known(lx, f) for f in firsts]
        if len({repr(k) for k in known}) == len(known):  # pairs that their first parts tell apart
            return [items[k] for k in sorted(range(len(items)), key=lambda k: known[k], reverse=reverse)]
    if "key" in kwargs:
        raise lx.error("T131", "sorted with a key is supported for values that are known only", node)
    array = calls.known_call(lx, "numpy.sort", [new_list(lx, items)], {}, node)
    found = iteration.rows(lx, array, len(items))
    types = {v.op.type for v in items if isinstance(v, Scalar)}
    if len(types) == 1 and (type_ := types.pop()).weak:
        found = [lx.value(lx.b.cast(lx.array(v), type_)) for v in found]
    return found[::-1] if reverse else found


def _sorted(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if isinstance(args[0], Array) and not kwargs and len(memory.type_of(lx, args[0].cell).dims) == 1:
        return calls.known_call(lx, "numpy.sort", [args[0]], {}, node)
    if containers.is_long(lx, args[0]):
        made = calls.known_call(lx, "builtins.list", [args[0]], {}, node)
        containers.METHODS["grown", "sort"](lx, made, [], kwargs, node)
        return made
    return new_list(lx, sorted_items(lx, args[0], kwargs, node))


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
