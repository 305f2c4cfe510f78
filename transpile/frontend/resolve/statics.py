"""What must be known when the function is transformed: an axis, a tuple index, the length of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from transpile.core import nodes as ir
from transpile.core import walk
from transpile.core.places import is_nonnegative
from transpile.core.walk import blocks, defines
from transpile.errors import TranspileError
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import known_entries, reads
from transpile.frontend.resolve.bindings import Captured, Known, StaticValue, User
from transpile.frontend.resolve.known import known_value
from transpile.frontend.restarts import NeedStatic, NeedValue, Restart
from transpile.frontend.values import memory
from transpile.frontend.values.values import Array, Items, Ref, Scalar, SliceOf, Static, Text, Tuple


class Unknown(Exception):
    """Only the run knows the value."""

    def __init__(self, op: ir.Operand | None) -> None:
        super().__init__(op)
        self.op = op


def python(lx: Lifter, value: Any, what: str = "this value", node: Any = None) -> Any:
    """The Python object that a value is."""
    while True:
        try:
            return known(lx, value)
        except Unknown as e:
            if e.op is None or e.op.type.dims and not _rests_on_arrays(lx, e.op):
                raise _unknown(lx, e.op, what, node, "it depends on the data: pass it as an argument") from None
            if not known_entries.learn(lx, e.op):
                need(lx, e.op, what, node)


def is_known(lx: Lifter, value: Any) -> bool:
    """Whether the value is known now."""
    try:
        known(lx, value)
    except Unknown:
        return False
    return True


def known(lx: Lifter, value: Any) -> Any:
    """The Python object, or `Unknown`."""
    rule = _KNOWN.get(type(value))
    if rule is None:
        raise Unknown(None)
    return rule(lx, value)


def _scalar(lx: Lifter, value: Scalar) -> Any:
    if isinstance(value.op, ir.Const):
        return value.op.value
    form = lx.b.form_of(value.op)
    if form is not None and form.is_const:
        return form.const
    if value.op in lx.known_arrays:
        return lx.known_arrays[value.op].item()
    raise Unknown(value.op)


def _array(lx: Lifter, value: Array) -> Any:
    if value.cell in lx.fixed_cells:
        return lx.fixed_cells[value.cell]
    if not memory.type_of(lx, value.cell).dims:
        return _scalar(lx, Scalar(memory.read(lx, value.cell)))
    op = memory.read(lx, value.cell)
    if op in lx.known_arrays:
        return lx.known_arrays[op].tolist()
    raise Unknown(op if op.type.is_int else None)


def _tuple(lx: Lifter, value: Tuple) -> Any:
    items = [known(lx, v) for v in value.items]
    return value.cls(*items) if value.cls is not None else tuple(items)


def _ref(lx: Lifter, value: Ref) -> Any:
    if value.cell in lx.fixed_cells:
        return lx.fixed_cells[value.cell]
    state: Items = lx.state.cells[value.cell]
    if state.kind not in ("list", "dict"):
        raise Unknown(None)
    items = [known(lx, v) for v in state.items]
    if state.cls is not None:
        return state.cls(zip(state.keys or (), items) if state.kind == "dict" else items)
    return dict(zip(state.keys or (), items)) if state.kind == "dict" else items


def _static(lx: Lifter, value: Static) -> Any:
    held = value.value
    if isinstance(held, StaticValue):
        return held.value
    if isinstance(held, Known):
        return known_value(held)
    return held.target if isinstance(held, User) else held


def _slice(lx: Lifter, value: SliceOf) -> Any:
    return slice(*(None if v is None else known(lx, v) for v in (value.start, value.stop, value.step)))


def _text(lx: Lifter, value: Text) -> Any:
    """Known once the numbers in it are: of a loop index where that is unrolled."""
    raise Unknown(value.ops[0] if value.ops else None)


_KNOWN: dict[type, Callable[[Lifter, Any], Any]] = {
    Scalar: _scalar, Array: _array, Tuple: _tuple, Ref: _ref, Static: _static, SliceOf: _slice,
    Text: _text,
}  # fmt: skip


def _unknown(lx: Lifter, op: ir.Operand | None, what: str, node: Any, hint: str) -> TranspileError:
    """T210: what to do about an argument, else the ``hint``."""
    if op in lx.params:
        hint = "pass an int, or bind the value with functools.partial(f, ...)"
    return lx.error("T210", f"{what} must be known before the function runs", node, hint)


def need(lx: Lifter, op: ir.Operand, what: str, node: Any = None) -> NoReturn:
    """Asks for the value: of an argument by specialising on it, of a loop index by unrolling, else refused."""
    why = _unknown(lx, op, what, node, "it depends on an array or on a loop: pass it as an argument")
    sources = _sources(lx, op)
    for var in sources:
        if _is_freezable(lx, var, op.type.is_float):
            lx.frozen[lx.captures[var]] = None
            raise Restart(f"the entries of {lx.captures[var]} are known", lx.symbols)
    if op.type.dims:
        raise why
    raise NeedValue(sources, why)


MOST = 1000  # entries of an array from outside that are built into the text


def _is_freezable(lx: Lifter, var: ir.Var, floats: bool) -> bool:
    """Whether a variable is an array from outside, not known yet: of integers, or where ``floats`` are asked for of these."""
    found = lx.captures.get(var)
    if not isinstance(found, Captured) or not var.type.dims or found in lx.frozen:
        return False
    wanted = var.type.is_int or floats and var.type.is_float and not np.isnan(found.example).any()  # NaN is not itself
    return bool(wanted and found.example.size <= MOST)


def _rests_on_arrays(lx: Lifter, op: ir.Operand) -> bool:
    """Whether an array is known, or would be if arrays from outside were."""
    return known_entries.learn(lx, op) or any(_is_freezable(lx, var, False) for var in _sources(lx, op))


def is_negative(lx: Lifter, value: Scalar | Array) -> bool:
    """Whether an integer that only the run knows is negative for these arguments, and for what stands outside, whose signs are
    remembered."""
    op = lx.operand(value)
    if not isinstance(op, ir.Var) or op.type.dims or not op.type.is_int:
        return False
    form = lx.b.form_of(op)
    if is_nonnegative(form) or form is not None and lx.symbols.is_size(form):
        return False  # sizes of arrays less a number: on a path for others, maybe
    for var in (op,) if op in lx.captures else _sources(lx, op):
        if isinstance(found := lx.captures.get(var), Captured) and var.type.is_int:
            reads.note_signs(found)
    if form is not None and not form.is_const and (example := lx.symbols.value(form)) is not None:
        return example < 0
    found = known_entries.example(lx, op)
    return found is not None and bool(found < 0)


def _sources(lx: Lifter, op: ir.Operand) -> tuple[ir.Var, ...]:
    """The variables that an integer is computed from: parameters, loop indices, carried values."""
    definitions: dict[ir.Var, tuple[ir.Operand, ...]] = {}
    for block in (*lx.open_blocks, lx.b.block):
        for stmt in block.stmts:
            for var in defines(stmt):
                definitions[var] = (
                    walk.reads(stmt) if not blocks(stmt) else tuple(o for b in blocks(stmt) for o in b.yields)
                )
    found: dict[ir.Var, None] = {}
    stack: list[ir.Operand] = [op]
    while stack:
        here = stack.pop()
        if not isinstance(here, ir.Var) or here in found:
            continue
        if here in definitions:
            found[here] = None
            stack.extend(definitions[here])
        else:
            found[here] = None
    return tuple(found)


def resolve_need(lx: Lifter, failed: NeedValue) -> NoReturn:
    """No loop around could be unrolled: specialise on an integer argument, or refuse."""
    for var in failed.sources:
        k = lx.params.get(var)
        if k is not None and not var.type.dims and not var.type.is_float:
            raise NeedStatic(k, failed.why)
    raise failed.why


def is_array(value: Any) -> bool:
    return isinstance(value, Array)
