"""Local simplification of a *let* while it is built: identities, constants, signs.

`simplify` returns the operand that replaces ``prim(operands)``, or None if nothing is simpler. A rule applies only if it holds
for every value, including NaN and infinity: ``x * 0`` is never folded. Shapes agree already (`Builder.elementwise`). The
algebraic properties of a primitive come from its record; only primitives of places and sizes have rules by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from transpile.base.zeros import is_minus_zero
from transpile.core import nodes as ir
from transpile.core.record_protocol import Record, Records
from transpile.core.types import BOOL, Type


class Emitting(Protocol):
    """The methods of `transpile.core.builder.Builder` that emit a simpler form."""

    block: ir.Block
    prims: Records

    def let(self, prim: str, *args: Any, name: str = "", **params: Any) -> object: ...


Operands = tuple[ir.Operand, ...]

# -------------------------------------------------------------------------------------------------------- identities


def identity(record: Record, args: Operands, signed: bool = True) -> ir.Operand | None:
    """The operand, or new boolean constant, that equals the result of the primitive for all values, including NaN and infinity;
    None if there is none.

    The caller must check that its type fits. Unless ``signed``, 0.0 counts as equal to -0.0.
    """
    found = _decided(record, args)
    return _with_unit(record, args, signed) if found is None else found


def _with_unit(record: Record, args: Operands, signed: bool) -> ir.Operand | None:
    """The other operand of a product with 1 or of a sum with 0; else None. ``signed``: not of ``x + 0.0`` for a float, since
    ``-0.0 + 0.0`` is 0.0."""
    if record.unit is None:
        return None
    x, y = args
    if not isinstance(x, ir.Const) and not isinstance(y, ir.Const):
        return None
    if record.is_sum and signed and not (x.type.is_int and y.type.is_int):
        if record.commutes or is_minus_zero(y.value if isinstance(y, ir.Const) else None):
            return None  # -0.0 + 0 is 0
    if record.commutes and is_const(x, record.unit):
        return y
    return x if is_const(y, record.unit) else None


def _decided(record: Record, args: Operands) -> ir.Operand | None:
    """The result of a selection or logical operation if its test or an operand is constant, or its two operands are the same;
    else None."""
    if record.name == "where":
        test, x, y = args
        if isinstance(test, ir.Const):
            return x if test.value else y
        return x if x is y else None
    if record.implies is None:
        return None
    if record.is_negation:
        (x,) = args
        return ir.Const(not x.value, x.type) if isinstance(x, ir.Const) else None
    return _joined_tests(record, *args) if record.neutral is not None else None


def _joined_tests(record: Record, a: ir.Operand, b: ir.Operand) -> ir.Operand | None:
    """The operand or constant that a logical and or or (``record``) of two tests is, if one is constant or both are the same;
    else None."""
    assert record.neutral is not None
    neutral = record.neutral("bool")
    for one, other in ((a, b), (b, a)):
        if isinstance(one, ir.Const) and one.type.is_bool and other.type.is_bool and not other.type.dims:
            return other if bool(one.value) == neutral else ir.Const(not neutral, BOOL)
    return a if a is b else None


def is_const(operand: ir.Operand, value: Any) -> bool:
    """Whether the operand is a constant number equal to ``value``; booleans do not count."""
    return isinstance(operand, ir.Const) and not isinstance(operand.value, bool) and operand.value == value


def definition(b: Emitting, operand: ir.Operand) -> ir.Let | None:
    """The *let* that defines the operand, if it is among the last 40 statements of the current block; else None."""
    if isinstance(operand, ir.Var):
        for stmt in reversed(b.block.stmts[-40:]):
            if isinstance(stmt, ir.Let) and stmt.var is operand:
                return stmt
    return None


# --------------------------------------------------------------------------------------------------------- constants


def _fold_integers(record: Record, ops: Operands) -> ir.Const | None:
    """The result as a constant if all operands are integer constants: Python's, or NumPy's int64 if it does not overflow; else
    None."""
    known = [o for o in ops if isinstance(o, ir.Const) and type(o.value) is int]
    if record.integers is None or len(known) < len(ops):
        return None
    try:
        value = record.integers(*(o.value for o in known))
    except (ArithmeticError, ValueError):
        return None
    strong = [o.type for o in known if not o.type.weak]
    if value is None or not strong:
        return None if value is None else ir.Const(value, ops[0].type)
    fits = -(2**63) <= value < 2**63 and all(o.type.dtype == "int64" for o in known)
    return ir.Const(value, strong[0]) if fits else None


def fold_floats(record: Record, ops: Operands) -> ir.Const | None:
    """The result of an arithmetic operation on two float64 constants if its text is hardly longer than theirs (``0.5 * 0.05``
    becomes 0.025); else None (``1 / 3`` stays)."""
    if len(ops) != 2 or not record.is_arithmetic or record.operator is None:
        return None
    x, y = ops
    if not isinstance(x, ir.Const) or not isinstance(y, ir.Const) or not x.type.dtype == y.type.dtype == "float64":
        return None
    try:
        value = record.operator.function(float(x.value), float(y.value))
    except ZeroDivisionError:
        return None
    is_short = len(repr(value)) <= max(len(repr(x.value)), len(repr(y.value))) + 2
    return ir.Const(value, y.type if x.type.weak else x.type) if is_short and 1e-4 <= abs(value) < 1e6 else None


# ------------------------------------------------------------------------------------------------------------- signs


def _unsigned(b: Emitting, operand: ir.Operand) -> ir.Operand | None:
    """``x`` if the operand is defined nearby as ``-x``; else None."""
    d = definition(b, operand)
    return d.args[0] if d is not None and b.prims[d.prim].is_opposite else None


def _sum(b: Emitting, record: Record, ops: Operands) -> Any:
    """A simpler form of a sum or difference, emitted: ``x - y`` for ``x + -y``, ``y - x`` for ``-x + y``, ``x + y`` for ``x -
    -y``; None if there is none."""
    x, y = ops
    if (other := _unsigned(b, y)) is not None:
        return b.let("sub" if record.commutes else "add", x, other)
    if record.commutes and (other := _unsigned(b, x)) is not None:
        return b.let("sub", y, other)
    return None


def _product(b: Emitting, record: Record, ops: Operands) -> Any:
    """A product or quotient with a sign moved out, emitted: ``-(a * b)`` for ``(-a) * b``, ``-a`` for ``a * -1``; None if it
    has none."""
    for k, op in enumerate(ops if record.multiplies else ops[:1]):
        other = ops[1 - k]
        if record.multiplies and is_const(op, -1) and other.type.is_float and _keeps(other, op):
            return b.let("neg", other)
        if op.type.is_float and (bare := _unsigned(b, op)) is not None:
            return b.let("neg", b.let(record.name, *((bare, other) if k == 0 else (other, bare))))
    return None


def _opposite(b: Emitting, record: Record, ops: Operands) -> Any:
    """The negated constant for ``-c``, or the broadcast of a negated scalar for the negative of a broadcast; else None."""
    (x,) = ops
    if isinstance(x, ir.Const) and (type(x.value) is float or (type(x.value) is int and x.type.weak)):
        return ir.Const(-x.value, x.type)
    d = definition(b, x)
    if d is not None and d.prim == "broadcast" and not d.args[0].type.dims:
        return b.let("broadcast", b.let(record.name, d.args[0]), **d.params)
    return None


def _keeps(result: ir.Operand, other: ir.Operand) -> bool:
    """Whether ``result`` has the dtype of ``other``, the operand that is dropped, so that it can replace the operation; not if
    it is a constant."""
    return result.type.dtype == other.type.dtype and not isinstance(result, ir.Const)


# -------------------------------------------------------------------------------------------------------- all of these


def simplify(b: Emitting, prim: str, operands: Operands, params: Mapping[str, Any]) -> Any:
    """A simpler operand or `Expr` for ``prim(operands)``, perhaps of statements that are emitted; None if there is none."""
    rule = _OF_PLACES.get(prim)
    if rule is not None:
        return rule(b, operands, params)
    record = b.prims[prim]
    if record.of_one and params["axes"] == () and params.get("initial") is None and operands[0].type.is_float:
        return operands[0]
    if not record.elementwise:
        return None
    found = _decided(record, operands)
    if found is not None:
        # a scalar is broadcast to the dims of the others
        dims = next((o.type.dims for o in operands if o.type.dims), ())
        return found if found.type.dims == dims else b.let("broadcast", found, dims=dims)
    same = _with_unit(record, operands, signed=True)
    if same is not None and _keeps(same, operands[same is operands[0]]):
        return same
    number = _constant(record, operands)
    return _by_signs(b, record, operands) if number is None else number


def _constant(record: Record, ops: Operands) -> ir.Const | None:
    if not all(isinstance(o, ir.Const) for o in ops):
        return None
    return fold_floats(record, ops) or _fold_integers(record, ops)


def _by_signs(b: Emitting, record: Record, ops: Operands) -> Any:
    """A simpler form of a sum, product, quotient or negation, or of an operation that undoes itself; None if there is none."""
    if len(record.signs) == 2:
        return _sum(b, record, ops)
    if record.multiplies or record.divides:
        return _product(b, record, ops)
    if record.undoes_itself and (d := definition(b, ops[0])) is not None and d.prim == record.name:
        return d.args[0]
    return _opposite(b, record, ops) if record.is_opposite else None


# ------------------------------------------------------------------------------------------------- places and sizes


def _cast(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    """The operand of a cast to its own type, or ``x`` for a cast of ``x`` to a wider dtype and back; else None."""
    (x,) = ops
    target = Type(params["dtype"], x.type.dims, params.get("weak", False))
    if x.type == target:
        return x
    d = definition(b, x)  # a widening that is undone disappears: float32 -> float64 -> float32
    if d is not None and d.prim == "cast" and d.args[0].type == target:
        return d.args[0] if _widens(target.dtype, x.type.dtype) else None
    return None


def _widens(narrow: str, wide: str) -> bool:
    """Whether the dtype ``wide`` represents every value of ``narrow``. NumPy calls int64 to float64 safe, but it rounds."""
    is_rounded = np.dtype(wide).kind in "fc" and narrow in ("int64", "uint64")
    return not is_rounded and bool(np.can_cast(np.dtype(narrow), np.dtype(wide), "safe"))


def _broadcast(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    """The operand of a broadcast to its own dims, or one broadcast in place of two; None if there is none."""
    (x,) = ops
    if isinstance(x, ir.Var) and x.type.dims == tuple(params["dims"]):
        return x
    d = definition(b, x)
    if d is not None and d.prim == "broadcast":
        return b.let("broadcast", d.args[0], **params)
    return None


def _index(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    source = ops[0]
    if not params["path"] and not (isinstance(source, ir.Var) and source.buffer):
        return source
    return None


def _transpose(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    """The operand of a transpose that moves no axis, or one transpose in place of two; None if there is none."""
    axes = tuple(params["axes"])
    if axes == tuple(range(len(axes))):
        return ops[0]
    d = definition(b, ops[0])
    if d is not None and d.prim == "transpose":
        inner = d.params["axes"]
        return b.let("transpose", d.args[0], axes=tuple(inner[a] for a in axes))
    return None


def _same_dims(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    if ops[0].type.dims == tuple(params["dims"]):
        return ops[0]
    d = definition(b, ops[0])
    if d is not None and d.prim == "broadcast" and not d.args[0].type.dims:
        return b.let("broadcast", d.args[0], dims=tuple(params["dims"]))
    return None


def _reshape(b: Emitting, ops: Operands, params: Mapping[str, Any]) -> Any:
    d = definition(b, ops[0])
    if d is not None and d.prim == "reshape":  # an intermediate shape does not matter
        return b.let("reshape", d.args[0], **params)
    return _same_dims(b, ops, params)


Rule = Callable[[Emitting, Operands, Mapping[str, Any]], Any]

_OF_PLACES: dict[str, Rule] = {
    "cast": _cast,
    "broadcast": _broadcast,
    "sized": lambda b, ops, params: ops[0] if ops[0].type.dims == tuple(params["dims"]) else None,
    "index": _index,
    "transpose": _transpose,
    "reshape": _reshape,
    "identity": lambda b, ops, params: ops[0],
}
