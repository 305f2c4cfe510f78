"""Python's builtins, and what stands beside them in ``functools``, ``itertools``, ``operator`` and ``dataclasses``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from transpile.core.nodes import Const, Effect
from transpile.core.types import FLOAT, INT
from transpile.frontend import attributes, calls, comprehensions, containers, formatting, iteration, memory, statics, table_calls, truth
from transpile.frontend.bindings import Known, StaticClass
from transpile.frontend.convert import describe, new_list
from transpile.frontend.lifter import Lifter
from transpile.frontend.operators import binary
from transpile.frontend.values import (
    Array, Bound, Cell, Closure, Generator, Items, Iteration, Method, RangeOf, Ref, Scalar, Static, Tuple,
)

Args = list[Any]
Kwargs = dict[str, Any]


# ---------------------------------------------------------------------------------------------- what is iterated


def _range(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> RangeOf:
    ops = [lx.operand(a, node) for a in args]
    if not 1 <= len(ops) <= 3 or any(o.type.dims or not (o.type.is_int or o.type.is_bool) for o in ops):
        raise lx.error("T131", "range takes one to three integers", node)
    ops = [lx.b.cast(o, INT).op for o in ops]
    zero, one = lx.b.operand(0), lx.b.operand(1)
    return RangeOf(*((zero, ops[0], one) if len(ops) == 1 else (ops[0], ops[1], ops[2] if len(ops) > 2 else one)))


def _zip(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Iteration("zip", tuple(args)) if args else Tuple(())


def _enumerate(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    start = args[1] if len(args) > 1 else kwargs.get("start", lx.const(0))
    return Iteration("enumerate", (start, args[0]))


def _reversed(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    return Iteration("reversed", (args[0],))


def _map(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Iteration:
    return Iteration("map", tuple(args))


def _filter(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    kept = []
    for item in iteration.unrolled(lx, args[1], node):
        found = item if isinstance(args[0], Static) and args[0].value is None else calls.apply(lx, args[0], [item], {}, node)
        decided = truth.truth(lx, found, node)
        if not isinstance(decided, Const):
            raise lx.error("T112", "the test of filter depends on the data", node, hint="write it as a loop")
        if decided.value:
            kept.append(item)
    return new_list(lx, kept)


def _product(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    import itertools

    repeat = lx.static(kwargs["repeat"], "repeat", node) if "repeat" in kwargs else 1
    parts = [iteration.unrolled(lx, a, node) for a in args]
    return Tuple(tuple(Tuple(items) for items in itertools.product(*parts, repeat=repeat)))


def _combinations(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    import itertools

    count = lx.static(args[1] if len(args) > 1 else kwargs["r"], "r", node)
    return Tuple(tuple(Tuple(c) for c in itertools.combinations(iteration.unrolled(lx, args[0], node), count)))


# ----------------------------------------------------------------------------------------------------- containers


def _list(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if args and isinstance(args[0], Generator):
        found = comprehensions.unrolled(lx, args[0], node)
        if found is None:
            from transpile.frontend import growing

            return growing.filled(lx, args[0], node)
        return new_list(lx, found)
    return new_list(lx, iteration.unrolled(lx, args[0], node) if args else [])


def _tuple(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Tuple:
    return Tuple(tuple(iteration.unrolled(lx, args[0], node))) if args else Tuple(())


def _dict(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend.expressions import new_dict

    keys: list[Any] = []
    values: list[Any] = []
    if args and isinstance(args[0], Ref) and containers.items(lx, args[0], node).kind == "dict":
        state = containers.items(lx, args[0], node)
        keys, values = list(state.keys or ()), list(state.items)
    elif args:
        for pair in iteration.unrolled(lx, args[0], node):
            key, value = iteration.unrolled(lx, pair, node)
            keys.append(lx.static(key, "the key of a dict", node))
            values.append(value)
    return new_dict(lx, [*keys, *kwargs], [*values, *kwargs.values()])


def _len(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (value,) = args
    if isinstance(value, Array):
        return attributes.size(lx, memory.type_of(lx, value.cell).dims[0])
    if isinstance(value, (Tuple, Ref)):
        if isinstance(value, Ref) and lx.state.cells[value.cell].kind in ("grown", "counted"):
            from transpile.frontend import growing

            return growing.length(lx, value)
        held = value.items if isinstance(value, Tuple) else containers.items(lx, value, node).items
        return lx.const(len(held))
    if isinstance(value, RangeOf):
        return lx.value(iteration.as_expr(lx, iteration.length_of_range(lx, value)))
    if isinstance(value, Static):
        return lx.const(len(statics.known(lx, value)))
    raise lx.error("T120", f"{describe(lx, value)} has no length", node)


# -------------------------------------------------------------------------------------------------------- numbers


def _float(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if args and isinstance(args[0], Static) and isinstance(args[0].value, str):
        return lx.const(float(args[0].value))
    return _number(lx, args, FLOAT, node)


def _int(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
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
        if not all(d.is_one for d in x.type.dims):
            raise lx.error("T213", f"an array of type {x.type} is not a number", node)
        x = lx.b.let("reshape", x, dims=()).op
    return x


def _bool(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Scalar(truth.truth(lx, args[0], node)) if args else lx.const(False)


def _sum(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``sum(items, start)``: one after another."""
    total = args[1] if len(args) > 1 else kwargs.get("start", lx.const(0))
    found = _items(lx, args[0], node)
    if found is None:
        return _folded(lx, args[0], total, "add", node)
    for item in found:
        total = binary(lx, "add", total, item, node) if not _is_zero(total) or not isinstance(item, (Scalar, Array)) else _plus(lx, item)
    return total


def _plus(lx: Lifter, item: Any) -> Any:
    """``0 + item``."""
    op = lx.operand(item)
    return item if not op.type.is_bool else lx.value(lx.b.cast(op, INT))


def _is_zero(value: Any) -> bool:
    return isinstance(value, Scalar) and isinstance(value.op, Const) and value.op.value == 0 and type(value.op.value) is int


def _items(lx: Lifter, value: Any, node: Any) -> list[Any] | None:
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
        raise lx.error("T131", f"{name} with a key is not supported", node)
    if len(args) == 1:
        if isinstance(args[0], Ref) and lx.state.cells[args[0].cell].kind == "grown":
            args = [lx.value(lx.array(args[0]))]
        if isinstance(args[0], Array) and len(memory.type_of(lx, args[0].cell).dims) == 1:
            return calls.known_call(lx, f"numpy.{name}", [args[0]], {}, node)
        found = _items(lx, args[0], node)
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
    return _quantified(lx, args[0], True, node)


def _all(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return _quantified(lx, args[0], False, node)


def _quantified(lx: Lifter, value: Any, ends: bool, node: Any) -> Any:
    """``any`` (ends on True) and ``all`` (ends on False)."""
    if isinstance(value, Array) and len(memory.type_of(lx, value.cell).dims) == 1:
        return calls.known_call(lx, "numpy.any" if ends else "numpy.all", [value], {}, node)
    found = _items(lx, value, node)
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
        order = sorted(range(len(items)), key=lambda k: keyed[k], reverse=reverse)
        return [items[k] for k in order]
    if "key" in kwargs:
        raise lx.error("T131", "sorted with a key is supported for values that are known only", node)
    array = calls.known_call(lx, "numpy.sort", [new_list(lx, items)], {}, node)
    found = iteration.rows(lx, array, len(items))
    return found[::-1] if reverse else found


def _sorted(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if isinstance(args[0], Array) and not kwargs:
        return calls.known_call(lx, "numpy.sort", [args[0]], {}, node)
    return new_list(lx, sorted_items(lx, args[0], kwargs, node))


def _print(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return formatting.print_call(lx, args, kwargs, node)


# ------------------------------------------------------------------------------------------------- types, attributes


def _isinstance(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value, wanted = args
    classes = _flat(lx, wanted, node)
    return lx.const(any(_is_instance(lx, value, c) for c in classes))


def _flat(lx: Lifter, wanted: Any, node: Any) -> list[Any]:
    if isinstance(wanted, Tuple):
        return [c for w in wanted.items for c in _flat(lx, w, node)]
    held = statics.known(lx, wanted) if isinstance(wanted, Static) else None
    if hasattr(held, "__args__") and not isinstance(held, type):  # int | float
        return list(held.__args__)
    if held is None:
        raise lx.error("T120", "isinstance of what is not a class", node)
    return [held]


def _is_instance(lx: Lifter, value: Any, cls: Any) -> bool:
    found = class_of(lx, value)
    if isinstance(cls, (Known, StaticClass)) or isinstance(found, (Known, StaticClass)):
        name = cls.name.rpartition(".")[2] if isinstance(cls, Known) else None
        return found is cls or (name is not None and isinstance(found, type) and any(c.__name__ == name for c in found.__mro__))
    return isinstance(found, type) and isinstance(cls, type) and issubclass(found, cls)


def class_of(lx: Lifter, value: Any) -> Any:
    """The class of a value of the program."""
    match value:
        case Scalar():
            if value.op.type.weak:
                return {"float64": float, "int64": int, "bool": bool}.get(value.op.type.dtype, complex)
            return np.dtype(value.op.type.dtype).type
        case Array():
            return np.ndarray
        case Tuple():
            return value.cls or tuple
        case Ref():
            state: Items = lx.state.cells[value.cell]
            return {"list": list, "grown": list, "dict": dict}.get(state.kind, state.cls)
        case Closure() | Bound() | Method():
            return type(lambda: None)
        case Static():
            return type(statics.known(lx, value))
    return object


def _type(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Static(class_of(lx, args[0]))


def _getattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    name = lx.static(args[1], "the name of an attribute", node)
    if len(args) > 2 and not _has(lx, args[0], name, node):
        return args[2]
    return attributes.read(lx, args[0], name, node)


def _hasattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return lx.const(_has(lx, args[0], lx.static(args[1], "the name of an attribute", node), node))


def _has(lx: Lifter, value: Any, name: str, node: Any) -> bool:
    from transpile.errors import TranspileError

    try:
        attributes.read(lx, value, name, node)
    except TranspileError:
        return False
    return True


def _setattr(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    attributes.write(lx, args[0], lx.static(args[1], "the name of an attribute", node), args[2], node)
    return Static(None)


def _callable(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value = args[0]
    if isinstance(value, Static):
        held = statics.known(lx, value)
        return lx.const(callable(held) or isinstance(held, Known))
    return lx.const(isinstance(value, (Closure, Bound, Method)))


def _str(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args:
        return Static("")
    if statics.is_known(lx, args[0]):
        return Static(str(statics.known(lx, args[0])))
    parts: list[Any] = []
    ops: list[Any] = []
    formatting.add(lx, parts, ops, args[0], "s", "", node)
    return Static(formatting.Text(parts, ops))


def _slice(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend.values import SliceOf

    given = [None if isinstance(a, Static) and a.value is None else a for a in args]
    given = [None, *given] if len(given) == 1 else given
    return SliceOf(*given, *[None] * (3 - len(given)))


# --------------------------------------------------------------------------------------------- functools, dataclasses


def _partial(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Bound:
    return Bound(args[0], tuple(args[1:]), tuple(kwargs.items()))


def _reduce(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    items = _items(lx, args[1], node)
    if items is None:
        from transpile.frontend import folds

        start = args[2] if len(args) > 2 else None
        return folds.fold(lx, args[1], start, lambda a, b: calls.apply(lx, args[0], [a, b], {}, node), node)
    if len(args) > 2:
        items = [args[2], *items]
    if not items:
        raise lx.error("T131", "reduce of nothing", node)
    total = items[0]
    for item in items[1:]:
        total = calls.apply(lx, args[0], [total, item], {}, node)
    return total


def _replace(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``dataclasses.replace``."""
    state = containers.items(lx, args[0], node) if isinstance(args[0], Ref) else None
    if state is None or state.kind != "instance":
        raise lx.error("T131", f"dataclasses.replace of {describe(lx, args[0])}", node)
    held = {**dict(zip(state.keys or (), state.items)), **kwargs}
    cell = Cell("instance")
    lx.state.cells[cell] = Items("instance", tuple(held.values()), tuple(held), state.cls)
    return Ref(cell)


def _wraps(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return Static(_Identity())


class _Identity:
    """A decorator that changes nothing."""

    def __lifter_call__(self, lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        return args[0]


def _pow(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if len(args) == 2:
        return binary(lx, "pow", args[0], args[1], node)
    return NotImplemented


_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "pow": "pow",
    "matmul": "matmul", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
}  # fmt: skip


def _operator(prim: str) -> Callable[..., Any]:
    return lambda lx, args, kwargs, node: binary(lx, prim, args[0], args[1], node)


def _itemgetter(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return NotImplemented


def _getitem(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    from transpile.frontend import subscripts

    return subscripts.read(lx, args[0], args[1], node)


TABLE: dict[str, Any] = {
    **{
        f"builtins.{name}": rule
        for name, rule in {
            "range": _range, "zip": _zip, "enumerate": _enumerate, "reversed": _reversed, "map": _map, "filter": _filter,
            "list": _list, "tuple": _tuple, "dict": _dict, "len": _len, "float": _float, "int": _int, "bool": _bool,
            "sum": _sum, "any": _any, "all": _all, "sorted": _sorted, "print": _print, "isinstance": _isinstance,
            "type": _type, "getattr": _getattr, "hasattr": _hasattr, "setattr": _setattr, "callable": _callable,
            "str": _str, "slice": _slice, "pow": _pow,
            "max": lambda lx, args, kwargs, node: _extreme(lx, args, kwargs, node, "max"),
            "min": lambda lx, args, kwargs, node: _extreme(lx, args, kwargs, node, "min"),
        }.items()
    },
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "functools.wraps": _wraps,
    "dataclasses.replace": _replace,
    "itertools.product": _product,
    "itertools.combinations": _combinations,
    "operator.getitem": _getitem,
    "operator.itemgetter": _itemgetter,
    **{f"operator.{name}": _operator(prim) for name, prim in _OPERATORS.items()},
}  # fmt: skip
_ = (Effect, gast, table_calls)
