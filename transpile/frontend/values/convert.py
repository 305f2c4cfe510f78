"""From abstract values to operands: what an operator or a NumPy function gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.errors import TranspileError, with_article
from transpile.frontend.calls import ways_out
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.bindings import Known, Module, StaticClass, StaticValue
from transpile.frontend.values import contents, memory
from transpile.frontend.values.values import (
    Array,
    Bound,
    Cell,
    Closure,
    Conflict,
    Generator,
    Items,
    Iteration,
    Maybe,
    Method,
    RangeOf,
    Ref,
    Scalar,
    SliceOf,
    Static,
    Text,
    Tuple,
    Updates,
)
from transpile.numpy_api.api_arguments import from_nested


def operand(lx: Lifter, value: Any, node: Any = None) -> ir.Operand:
    """The operand of a number or array; lists and tuples of numbers become arrays."""
    rule = _OPERANDS.get(type(value))
    if rule is None:
        raise _no_number(lx, value, node)
    return rule(lx, value, node)


def _scalar(lx: Lifter, value: Scalar, node: Any) -> ir.Operand:
    if isinstance(value.op, ir.Undef):
        raise lx.error("T116", "a variable may be read here before it is set", node, "set it on every path")
    return value.op


def _array(lx: Lifter, value: Array, node: Any) -> ir.Operand:
    return memory.read(lx, value.cell)


def _sequence(lx: Lifter, value: Any, node: Any) -> ir.Operand:
    nested = exprs(lx, value, node)
    if isinstance(nested, Expr):
        return nested.op
    if not isinstance(nested, (list, tuple)):
        raise _no_number(lx, value, node)
    return from_nested(lx.b, nested).op


def _static(lx: Lifter, value: Static, node: Any) -> ir.Operand:
    held = value.value.value if isinstance(value.value, (StaticValue, Known)) else value.value
    if isinstance(held, (bool, int, float, complex, np.generic)) and not isinstance(held, np.str_):
        return lx.b.operand(held)
    raise _no_number(lx, value, node)


def _no_number(lx: Lifter, value: Any, node: Any) -> TranspileError:
    return lx.error("T120", f"{describe(lx, value)} is not a number or an array", node, "pass a number or an array")


_OPERANDS: dict[type, Callable[[Lifter, Any, Any], ir.Operand]] = {
    Scalar: _scalar, Array: _array, Tuple: _sequence, Ref: _sequence, RangeOf: _sequence, Static: _static,
}  # fmt: skip


def exprs(lx: Lifter, value: Any, node: Any = None) -> Any:
    """What a rule gets for an argument: an Expr, a nested list or tuple of Exprs, or a static object."""
    if isinstance(value, Tuple):
        return tuple(exprs(lx, v, node) for v in value.items)
    if isinstance(value, Ref):
        state = contents.items(lx, value, node)
        if state.kind == "list":
            return [exprs(lx, v, node) for v in state.items]
        if state.kind in ("grown", "counted"):
            return dynamic_list_reads.stacked(lx, value)
        raise lx.error("T120", f"{describe(lx, value)} is not a number or an array", node, ways_out.TREES)
    if isinstance(value, Static):
        if isinstance(value.value, (Known, StaticValue)) and isinstance(value.value.value, (float, np.generic)):
            return lx.b.expr(value.value.value)
        return lx.static(value, node=node)
    if isinstance(value, (Scalar, Array)):
        return Expr(lx.b, operand(lx, value, node))
    return [exprs(lx, v, node) for v in lx.unrolled(value, node)]


def from_rule(lx: Lifter, result: Any, zero_dim: bool = False, **more: Any) -> Any:
    """The abstract value of what a rule gives; ``zero_dim``: an array even of rank 0."""
    if isinstance(result, Expr):
        return memory.new_array(lx, result.op, **more) if zero_dim else lx.value(result.op, **more)
    if isinstance(result, tuple):
        return Tuple(
            tuple(from_rule(lx, r, zero_dim, **more) for r in result),
            getattr(type(result), "_fields", None) and type(result),
        )
    if isinstance(result, list):
        return new_list(lx, [from_rule(lx, r, zero_dim, **more) for r in result])
    return lx.const(result)


def new_list(lx: Lifter, items: list[Any]) -> Ref:
    cell = Cell("list")
    lx.state.cells[cell] = Items("list", tuple(items))
    return Ref(cell)


def describe(lx: Lifter, value: Any) -> str:
    """What a value is, for messages."""
    match value:
        case Scalar():
            return with_article(str(value.op.type))
        case Array():
            return f"an array of type {memory.type_of(lx, value.cell)}"
        case Tuple():
            return "a tuple" if value.cls is None else f"a {value.cls.__name__}"
        case Ref():
            state: Items = lx.state.cells[value.cell]
            return {
                "list": "a list",
                "dict": "a dict",
                "grown": "a list that a loop appends to",
                "counted": "a list that a loop appends to",
                "conflict": "a list or dict that depends on the data",
            }.get(state.kind, f"an object of class {getattr(state.cls, '__name__', '?')}")
        case Static():
            held = value.value.value if isinstance(value.value, StaticValue) else value.value
            if held is None:
                return "None"
            if isinstance(held, Module):
                return "a module"
            if isinstance(held, Known):
                return f"{shown(held.name)!r}"
            if isinstance(held, (type, StaticClass)):
                return f"the class {held.__name__!r}"
            if type(held).__module__.startswith("transpile.frontend"):
                return str(getattr(type(held), "WORD", "a function"))
            return f"{held!r}" if isinstance(held, str) else f"an object of type {type(held).__name__!r}"
        case Closure() | Bound() | Method():
            return "a function"
        case Maybe():
            return describe(lx, value.value)
        case Iteration():
            return f"{with_article(value.kind)} object"
        case Generator() if value.frame.code.name == "<filter>":
            return "a filter object"
    return _NAMES.get(type(value), "a value of this kind")


_NAMES: dict[type, str] = {
    RangeOf: "a range",
    SliceOf: "a slice",
    Text: "a string whose text depends on the data",
    Generator: "a generator expression",
    Updates: "x.at",
    Conflict: "a value whose structure depends on the data",
}


def shown(name: str) -> str:
    """A dotted name as users write it."""
    public = ".".join(part for part in name.split(".") if not part.startswith("_") or part.startswith("__"))
    return public.replace("numpy.", "np.", 1).removeprefix("builtins.")


def is_number(lx: Lifter, value: Any) -> bool:
    """Whether a value is a number or an array."""
    return isinstance(value, (Scalar, Array))


def const_value(op: ir.Operand) -> Any:
    return op.value if isinstance(op, ir.Const) else None


def new_dict(lx: Lifter, keys: list[Any], items: list[Any]) -> Ref:
    """A dict; of equal keys the last one's value counts, at the first one's place."""
    merged = dict(zip(keys, items))
    cell = Cell("dict")
    lx.state.cells[cell] = Items("dict", tuple(merged.values()), tuple(merged))
    return Ref(cell)
