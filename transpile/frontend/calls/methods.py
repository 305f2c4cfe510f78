"""Methods of arrays, containers and strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transpile.core.types import BOOL, FLOAT, INT
from transpile.frontend.calls import arity, array_calls, formatting, functional, table_calls, ufuncs, ways_out
from transpile.frontend.control import iterators, truth
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values import containers, contents, memory
from transpile.frontend.values.convert import describe, new_list
from transpile.frontend.values.values import Array, Cell, Items, Ref, Scalar, Static, Tuple, Updates
from transpile.numpy_api.entry_record import METHODS

Args = list[Any]
Kwargs = dict[str, Any]


def call(lx: Lifter, owner: Any, name: str, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``owner.name(*args, **kwargs)``."""
    if isinstance(owner, (Array, Scalar)):
        return _of_array(lx, owner, name, args, kwargs, node)
    if isinstance(owner, Updates):
        return functional.call(lx, owner, name, args, kwargs, node)
    kind = _kind(lx, owner)
    for value in args:
        iterators.use(lx, value, node)
    rule = containers.METHODS.get((kind, name)) or _OTHER.get((kind, name))
    if rule is not None:
        arity.check_method(lx, kind, name, args, kwargs, node)
        return rule(lx, owner, args, kwargs, node)
    if isinstance(owner, Static) and isinstance(owner.value, Known):
        return ufuncs.method(lx, owner, name, args, kwargs, node)
    if isinstance(owner, Static):
        found = getattr(statics.known(lx, owner), name, None)
        if name == "format" and isinstance(owner.value, str):
            return formatting.braces(lx, owner.value, args, kwargs, node)
        if found is not None:
            given = [lx.static(a, "an argument", node) for a in args]
            named = {k: lx.static(a, "an argument", node) for k, a in kwargs.items()}
            try:
                return lx.const(found(*given, **named))
            except (TypeError, ValueError, LookupError) as e:
                hint = "correct the argument"
                raise lx.error("T131", f"{describe(lx, owner)}.{name}: {e}", node, hint) from None
    raise lx.error("T121", f"the method {name!r} of {describe(lx, owner)} is not supported", node, ways_out.OUTSIDE)


def _kind(lx: Lifter, owner: Any) -> str:
    if isinstance(owner, Ref):
        return contents.items(lx, owner).kind
    return "tuple" if isinstance(owner, Tuple) else "static"


def _of_array(lx: Lifter, owner: Any, name: str, args: Args, kwargs: Kwargs, node: Any) -> Any:
    own = _ARRAY.get(name)
    if own is not None:
        arity.check_method(lx, "array", name, args, kwargs, node)
        found = own(lx, owner, args, kwargs, node)
        if found is not NotImplemented:
            return found
    made = table_calls.call(lx, METHODS[name], [owner, *args], kwargs, node)
    if isinstance(owner, Scalar) and isinstance(made, Array) and not memory.type_of(lx, made.cell).dims:
        return lx.value(memory.read(lx, made.cell))  # a NumPy scalar gives scalars
    return made


def _fill(lx: Lifter, owner: Array, args: Args, kwargs: Kwargs, node: Any) -> Any:
    memory.write(lx, owner.cell, (), (), lx.operand(args[0], node))
    return Static(None)


def _in_place(name: str) -> Callable[..., Any]:
    """A method that puts what the function gives into the array itself."""

    def call(lx: Lifter, owner: Array, args: Args, kwargs: Kwargs, node: Any) -> Any:
        found = table_calls.call(lx, name, [owner, *args], kwargs, node)
        memory.write(lx, owner.cell, (), (), lx.operand(found))
        return Static(None)

    return call


def _put(lx: Lifter, owner: Array, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return table_calls.call(lx, "numpy.put", [owner, *args], kwargs, node)


def _choose(lx: Lifter, owner: Array, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """To the method all arguments by position are choices, to the function the first is the list of them."""
    if len(args) != 1:
        raise lx.error("T132", "choose takes its choices as one list", node, hint="write x.choose([a, b])")
    return NotImplemented


def _tolist(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if isinstance(owner, Scalar):
        return _item(lx, owner, [], {}, node)
    return new_list(lx, [_tolist(lx, v, [], {}, node) for v in lx.unrolled(owner, node)])


def _item(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``x.item()``: a Python number."""
    if args:
        index = args[0] if len(args) == 1 else Tuple(tuple(args))
        flat = len(args) == 1 and isinstance(owner, Array) and len(memory.type_of(lx, owner.cell).dims) > 1
        owner = lx.item(
            table_calls.call(lx, "ndarray.reshape", [owner, lx.const(-1)], {}, node) if flat else owner, index, node
        )
    x = lx.b.expr(lx.operand(owner, node))
    if x.dims:
        for d in x.dims:
            if not lx.stretching.is_one(d):
                message = "item() without an index needs an array of one element"
                raise lx.error("T213", message, node, hint="write x.item(k)")
        x = lx.b.expr(truth.only(lx, x.op))
    return lx.value(lx.b.cast(x, BOOL if x.type.is_bool else FLOAT if x.type.is_float else INT))


_ARRAY: dict[str, Callable[..., Any]] = {
    "choose": _choose,
    "fill": _fill,
    "item": _item,
    "sort": _in_place("numpy.sort"),
    "partition": _in_place("numpy.partition"),
    "put": _put,
    "tolist": _tolist,
    "astype": lambda lx, owner, args, kwargs, node: array_calls.astype(lx, owner, args, kwargs, node),
}


# ------------------------------------------------------------------------------------------------ named tuples


def _replace(lx: Lifter, owner: Tuple, args: Args, kwargs: Kwargs, node: Any) -> Any:
    fields = _fields(owner.cls)
    unknown = [k for k in kwargs if k not in fields]
    if unknown:
        hint = f"its fields are {', '.join(map(repr, owner.cls._fields))}"
        raise lx.error("T132", f"{owner.cls.__name__} has no field {unknown[0]!r}", node, hint)
    return Tuple(tuple(kwargs.get(f, v) for f, v in zip(fields, owner.items)), owner.cls)


def _asdict(lx: Lifter, owner: Tuple, args: Args, kwargs: Kwargs, node: Any) -> Any:
    cell = Cell("dict")
    lx.state.cells[cell] = Items("dict", owner.items, tuple(_fields(owner.cls)))
    return Ref(cell)


def _fields(cls: Any) -> tuple[str, ...]:
    return tuple(getattr(cls, "_fields", None) or (f[0] for f in cls.fields))


_OTHER: dict[tuple[str, str], Callable[..., Any]] = {
    ("tuple", "_replace"): _replace,
    ("tuple", "_asdict"): _asdict,
}
