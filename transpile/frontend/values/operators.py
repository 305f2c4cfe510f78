"""Operators of any two values, and in place: ``+=`` rebinds numbers and writes into arrays."""

from __future__ import annotations

import types
from typing import Any

import gast
import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import FLOAT
from transpile.frontend.calls import formatting, library_calls, ways_out
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import statics
from transpile.frontend.values import aliases, containers, contents, memory, overloads
from transpile.frontend.values.convert import describe, new_dict, new_list
from transpile.frontend.values.values import Array, RangeOf, Ref, Scalar, Static, Text, Tuple
from transpile.ops.tables import by_token, operator_of, record_of

_OF_NUMBERS = ("+", "-", "~")  # of truth values they give other numbers where these are Python's
BINARY = {getattr(gast, t): r.name for t, r in by_token().items() if issubclass(getattr(gast, t), gast.operator)}


def binary(lx: Lifter, prim: str, left: Any, right: Any, node: Any = None) -> Any:
    """``left op right`` of any two values."""
    if not (isinstance(left, (Scalar, Array)) and isinstance(right, (Scalar, Array))):
        found = overloads.binary(lx, prim, left, right, node)
        if found is not None:
            return found
        found = _containers(lx, prim, left, right, node)
        if found is not None:
            return found
        _refuse_lists(lx, prim, left, right, node)
    x, y = _operand(lx, left, prim, node, "left"), _operand(lx, right, prim, node, "right")
    if prim == "matmul":
        return lx.known_call("numpy.matmul", [left, right], {}, node)
    refuse_either(lx, operator_of(prim).sign, node, x, y)
    if isinstance(left, Array) and x.type.is_bool and record_of(prim).is_power and _is_two(y):
        return lx.value(lx.b.elementwise("square", x, strong=True))  # for NumPy, not of the dtype of other powers
    return lx.value(memory.of_either(lx, arithmetic(lx, prim, x, y), x, y))


def _is_two(op: ir.Operand) -> bool:
    return isinstance(op, ir.Const) and op.type.weak and op.type.is_int and op.value == 2


def refuse_either(lx: Lifter, sign: str, node: Any, *operands: ir.Operand) -> None:
    """Of truth values that are Python's or NumPy's, what gives other numbers of the ones than of the others."""
    if sign in _OF_NUMBERS and memory.is_of_either(lx, *operands):
        message = f"{sign!r} of a truth value that is a bool or an np.bool_, depending on the data"
        raise lx.error("T205", message, node, "convert it on both paths: bool(...) or int(...)")


def _refuse_lists(lx: Lifter, prim: str, left: Any, right: Any, node: Any) -> None:
    """Lists have no arithmetic of their own: only NumPy's arrays and numbers make arrays of them."""
    lists = [isinstance(v, (Tuple, Ref, RangeOf)) and overloads.class_of(lx, v) is None for v in (left, right)]
    arrays = [isinstance(v, Array) or (isinstance(v, Scalar) and not v.op.type.weak) for v in (left, right)]
    by_number = operator_of(prim).sign == "*" and not any(isinstance(v, Array) for v in (left, right))
    if any(lists) and (by_number or not any(arrays)):
        message = f"{operator_of(prim).sign!r} is not supported between {describe(lx, left)} and {describe(lx, right)}"
        raise lx.error("T120", message, node, hint="make an array of it: np.array(...)")


def _operand(lx: Lifter, value: Any, prim: str, node: Any, side: str) -> ir.Operand:
    if isinstance(value, Static) and not isinstance(value.value, (bool, int, float)):
        if value.value is None or isinstance(value.value, str):
            written = getattr(node, side, getattr(node, {"left": "target", "right": "value"}[side], None))
            text = "" if written is None or isinstance(written, gast.Constant) else _text(written)
            hint = (
                f"test for it first: if {text or 'it'} is not None"
                if value.value is None
                else "convert it outside of the function: float(...)"
            )
            which = f"{text} is {describe(lx, value)}, which" if text else describe(lx, value)
            raise lx.error("T120", f"{which} cannot be an operand of {operator_of(prim).sign!r}", node, hint)
    return lx.operand(value, node)


def _text(node: Any) -> str:
    """An expression as it is usually written."""
    text = gast.unparse(node).strip()
    return text if '"' in text else text.replace("'", '"')


def arithmetic(lx: Lifter, prim: str, x: ir.Operand, y: ir.Operand) -> ir.Operand:
    """An operator of numbers and arrays; literals fold where Python's arithmetic is exact."""
    if operator_of(prim).sign == "**" and _is_int(x) and _is_int(y):
        if isinstance(y, ir.Const) and y.value < 0 and x.type.weak:
            x = lx.b.cast(x, FLOAT).op
    if isinstance(x, ir.Const) and isinstance(y, ir.Const) and x.type.weak and y.type.weak:
        folded = _fold(prim, x.value, y.value)
        if folded is not None:
            return lx.b.operand(folded)
    return lx.b.elementwise(prim, x, y).op


def _is_int(op: ir.Operand) -> bool:
    return op.type.is_int or op.type.is_bool


def _fold(prim: str, x: Any, y: Any) -> Any:
    if isinstance(x, float) or isinstance(y, float):
        return None  # written as the user wrote it
    exactly = record_of(prim).integers
    try:
        return None if exactly is None else exactly(x, y)
    except (ZeroDivisionError, ValueError):
        return None


def _containers(lx: Lifter, prim: str, left: Any, right: Any, node: Any) -> Any:
    """``+`` and ``*`` of lists, tuples and strings, ``|`` of dicts and of classes."""
    sign = operator_of(prim).sign
    if sign == "|" and isinstance(left, Static) and isinstance(right, Static):
        classes = [statics.known(lx, v) for v in (left, right)]
        if any(isinstance(c, (type, types.UnionType)) for c in classes):
            return Static(classes[0] | classes[1])
    if sign == "|" and _is_dict(lx, left) and _is_dict(lx, right):
        states = [lx.state.cells[v.cell] for v in (left, right)]
        return new_dict(lx, [k for s in states for k in s.keys or ()], [v for s in states for v in s.items])
    if dynamic_list_reads.is_grown(lx, left) or dynamic_list_reads.is_grown(lx, right):
        return _of_grown(lx, prim, left, right, node)
    kinds = (_items(lx, left), _items(lx, right))
    if sign == "+" and kinds[0] is not None and kinds[1] is not None and type(left) is type(right):
        joined = [*kinds[0], *kinds[1]]
        return Tuple(tuple(joined)) if isinstance(left, Tuple) else new_list(lx, joined)
    if sign == "*":
        for items, times, whole in ((kinds[0], right, left), (kinds[1], left, right)):
            if items is not None and isinstance(whole, Ref) and _is_by_size(lx, times):
                return _of_grown(lx, prim, left, right, node)
            if items is not None and isinstance(times, (Scalar, Static)):
                count = lx.static(times, "the number of repetitions")
                if not isinstance(count, (int, np.integer)):
                    message = f"a list or tuple can be multiplied by an integer, not by {count!r}"
                    raise lx.error("T120", message, hint=ways_out.TREES)
                repeated = list(items) * count
                return Tuple(tuple(repeated)) if isinstance(whole, Tuple) else new_list(lx, repeated)
    if sign == "*" and any(isinstance(v, Static) and isinstance(v.value, str) for v in (left, right)):
        if statics.is_known(lx, left) and statics.is_known(lx, right):
            known = [statics.known(lx, v) for v in (left, right)]
            return lx.const(known[0] * known[1]) if any(isinstance(k, int) for k in known) else None
    if sign == "+" and any(isinstance(v, Text) for v in (left, right)) and _is_string(left) and _is_string(right):
        return formatting.concatenated(lx, [left, right])
    held = [v.value for v in (left, right) if isinstance(v, Static)]
    if len(held) == 2 and sign in ("+", "%", "|", "&", "-"):
        try:
            return lx.const(operator_of(prim).function(*held))
        except TypeError:
            return None
    if sign == "%" and isinstance(left, Static) and isinstance(left.value, str):
        return formatting.percent(lx, left.value, right)
    return None


def _is_string(value: Any) -> bool:
    return isinstance(value, Text) or (isinstance(value, Static) and isinstance(value.value, str))


def _is_by_size(lx: Lifter, times: Any) -> bool:
    """Whether a number of repetitions is made of sizes of arguments."""
    op = times.op if isinstance(times, Scalar) else None
    form = lx.b.form_of(op) if isinstance(op, ir.Var) and op.type.is_int else None
    form = None if form is None else lx.symbols.resolve(form)
    return form is not None and not form.is_const and lx.symbols.is_size(form)


def _of_grown(lx: Lifter, prim: str, left: Any, right: Any, node: Any) -> Any:
    """``+`` and ``*`` of lists of which only the run knows how many elements they have."""
    lists = [
        isinstance(v, Ref) and lx.state.cells[v.cell].kind in ("list", *dynamic_list_reads.KINDS) for v in (left, right)
    ]
    sign = operator_of(prim).sign
    if sign == "+" and all(lists):
        return library_calls.call(lx, "library_lists:joined", [left, right], {}, node)
    whole, times = (left, right) if lists[0] else (right, left)
    if sign == "*" and isinstance(times, Scalar) and times.op.type.weak and not times.op.type.is_float:
        return library_calls.call(lx, "library_lists:repeated", [whole, times], {}, node)
    return None


def _items(lx: Lifter, value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, Tuple):
        return value.items
    if isinstance(value, Ref):
        state = contents.items(lx, value)
        return state.items if state.kind == "list" else None
    return None


# ----------------------------------------------------------------------------------------------------- in place


def in_place(lx: Lifter, prim: str, target: Any, value: Any, node: Any) -> Any:
    """``target op= value``: None where the target was written, the new value where it is to be rebound."""
    if isinstance(target, Array):
        if target.cell.flat:
            message = f"x.flat cannot be the target of '{operator_of(prim).sign}='"
            raise lx.error("T120", message, node, hint="write x.flat[:] = ...")
        aliases.refuse_mixed(lx, target.cell)
        write_operator(lx, target.cell, (), (), prim, value, node)
        return None
    if isinstance(target, Ref):
        state, sign = contents.items(lx, target, node), operator_of(prim).sign
        if state.kind in ("list", *dynamic_list_reads.KINDS) and sign == "+" and not isinstance(value, Array):
            containers.METHODS[state.kind, "extend"](lx, target, [value], {}, node)
            return None
        if state.kind == "list" and sign == "*" and not isinstance(value, Array):
            repeated = binary(lx, prim, target, value, node)
            contents.replace_items(lx, target.cell, contents.items(lx, repeated, node).items)
            return None
        if state.kind == "dict" and sign == "|" and not isinstance(value, Array):
            containers.METHODS["dict", "update"](lx, target, [value], {}, node)
            return None
    own = overloads.call(lx, target, f"__i{operator_of(prim).method}__", [value], node)
    if own is not None:
        return own
    if _is_changed_in_place(lx, target, prim) and not isinstance(value, Array):
        sign = operator_of(prim).sign
        message = f"'{sign}=' would change {describe(lx, target)} that other variables may share"
        raise lx.error("T123", message, node, f"write a = a {sign} b")
    return binary(lx, prim, target, value, node)


def _is_dict(lx: Lifter, value: Any) -> bool:
    return isinstance(value, Ref) and lx.state.cells[value.cell].kind == "dict"


def _is_changed_in_place(lx: Lifter, target: Any, prim: str) -> bool:
    """Whether ``op=`` changes an object that others may have: a list that grew, a dict, a set."""
    if isinstance(target, Ref):
        held: Any = lx.state.cells[target.cell].kind
        cls = dict if held == "dict" else list if held in dynamic_list_reads.KINDS else object
    else:
        cls = type(statics.known(lx, target)) if isinstance(target, Static) else object
    return hasattr(cls, f"__i{operator_of(prim).method}__")


def write_operator(
    lx: Lifter, cell: Any, steps: ir.Path, args: tuple[ir.Operand, ...], prim: str, value: Any, node: Any
) -> None:
    """``place op= value`` as NumPy does it: read, compute, write."""
    memory.refuse_read_only(lx, cell)
    base, path, used = memory.place(lx, cell, steps, args)
    old = memory.read(lx, cell) if not steps else memory.read_place(lx, base, path, used)
    if callable(value):  # the target is read before the value is computed
        value = value()
    new = lx.operand(binary(lx, prim, lx.value(old), value, node))
    if (
        old.type.dims or not steps
    ):  # of one entry, Python computes a number and puts it there, which casts as any write does
        check_cast(lx, new, old, f"{operator_of(prim).sign}=", node)
    memory.write_place(lx, base, path, used, new)


def check_cast(lx: Lifter, new: ir.Operand, old: ir.Operand, what: str, node: Any) -> None:
    """NumPy refuses to write a float into an array of integers in place."""
    given, place = np.dtype(new.type.dtype), np.dtype(old.type.dtype)
    if not np.can_cast(given, place, "same_kind"):
        message = f"the result of {what} is {given.name}, which NumPy does not cast to {place.name} in place"
        raise lx.error("T212", message, node, f"make it an array of {given.name}, or assign to a new name")
