"""Local simplification of a *let* while it is built: identities, constants, signs.

``simplify`` gives the operand that stands for ``prim(operands)``, or None where nothing is simpler. What holds for every
value, NaN and infinity included, is always done; ``x * 0`` is never folded. Shapes agree already (`Builder.elementwise`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import BOOL, Type


class Emitting(Protocol):
    """What a simpler form is emitted with: `transpile.core.builder.Builder`."""

    block: ir.Block

    def let(self, prim: str, *args: Any, name: str = "", **params: Any) -> object: ...


def identity(prim: str, args: tuple[ir.Operand, ...]) -> ir.Operand | None:
    """The operand that has the value of ``prim(args)``, whatever the others are: NaN and infinity too. Whether it has the type is
    for the caller to ask."""
    rule = _IDENTITIES.get(prim)
    return None if rule is None else rule(*args)


def _unit(one: ir.Operand, other: ir.Operand) -> ir.Operand | None:
    return other if is_const(one, 1) else None


def _chosen(test: ir.Operand, x: ir.Operand, y: ir.Operand) -> ir.Operand | None:
    if isinstance(test, ir.Const):
        return x if test.value else y
    return x if x is y else None


def _logic(neutral: bool) -> Callable[..., ir.Operand | None]:
    def rule(a: ir.Operand, b: ir.Operand) -> ir.Operand | None:
        for one, other in ((a, b), (b, a)):
            if isinstance(one, ir.Const) and one.type.is_bool and other.type.is_bool and not other.type.dims:
                return other if bool(one.value) == neutral else ir.Const(not neutral, BOOL)
        return a if a is b else None

    return rule


_IDENTITIES: dict[str, Callable[..., ir.Operand | None]] = {
    "mul": lambda x, y: _unit(x, y) or _unit(y, x),
    "div": lambda x, y: _unit(y, x),
    "where": _chosen,
    "logical_and": _logic(True),
    "logical_or": _logic(False),
    "logical_not": lambda x: ir.Const(not x.value, x.type) if isinstance(x, ir.Const) else None,
}

Rule = Callable[[Emitting, tuple[ir.Operand, ...], Mapping[str, Any]], "Any"]


def simplify(b: Emitting, prim: str, operands: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    """A simpler operand or Expr for ``prim(operands)``, or None."""
    rule = _RULES.get(prim)
    return None if rule is None else rule(b, operands, params)


def is_const(operand: ir.Operand, value: Any) -> bool:
    return isinstance(operand, ir.Const) and not isinstance(operand.value, bool) and operand.value == value


def definition(b: Emitting, operand: ir.Operand) -> ir.Let | None:
    """The *let* that defines the operand, if it was emitted lately in the current block."""
    if isinstance(operand, ir.Var):
        for stmt in reversed(b.block.stmts[-40:]):
            if isinstance(stmt, ir.Let) and stmt.var is operand:
                return stmt
    return None


def _int_fold(python: Callable[..., Any]) -> Rule:
    def fold(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
        known = [o for o in ops if isinstance(o, ir.Const) and type(o.value) is int]
        if len(known) < len(ops):
            return None
        value, strong = python(*(o.value for o in known)), [o.type for o in known if not o.type.weak]
        if not strong:
            return ir.Const(value, ops[0].type)
        fits = -(2**63) <= value < 2**63 and all(o.type.dtype == "int64" for o in known)
        return ir.Const(value, strong[0]) if fits else None

    return fold


def fold_floats(prim: str, ops: tuple[ir.Operand, ...]) -> ir.Const | None:
    """The number that two numbers give, where that is no longer than they are: 0.025 for ``0.5 * 0.05``, not for ``1 / 3``."""
    if prim not in _FLOATS or not all(isinstance(o, ir.Const) for o in ops):
        return None
    x, y = ops
    assert isinstance(x, ir.Const) and isinstance(y, ir.Const)
    if not x.type.dtype == y.type.dtype == "float64" or (prim == "div" and y.value == 0):
        return None
    value = _FLOATS[prim](float(x.value), float(y.value))
    is_short = len(repr(value)) <= max(len(repr(x.value)), len(repr(y.value))) + 2
    return ir.Const(value, y.type if x.type.weak else x.type) if is_short and 1e-4 <= abs(value) < 1e6 else None


_FLOATS: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}


def _keeps(result: ir.Operand, other: ir.Operand) -> bool:
    """Whether the operand that is left has the type that the operation would give."""
    return result.type.dtype == other.type.dtype and not isinstance(result, ir.Const)


def _add(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    x, y = ops
    if is_const(y, 0) and _keeps(x, y) and x.type.is_int:
        return x
    if is_const(x, 0) and _keeps(y, x) and y.type.is_int:
        return y
    if (d := definition(b, y)) is not None and d.prim == "neg":
        return b.let("sub", x, d.args[0])
    if (d := definition(b, x)) is not None and d.prim == "neg":
        return b.let("sub", y, d.args[0])
    return fold_floats("add", ops) or _int_fold(operator.add)(b, ops, params)


def _sub(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    x, y = ops
    if is_const(y, 0) and _keeps(x, y):
        return x
    if (d := definition(b, y)) is not None and d.prim == "neg":
        return b.let("add", x, d.args[0])
    return fold_floats("sub", ops) or _int_fold(operator.sub)(b, ops, params)


def _mul(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    x, y = ops
    same = identity("mul", ops)
    if same is not None and x.type.dtype == y.type.dtype and not isinstance(same, ir.Const):
        return same
    for one, other in ((x, y), (y, x)):
        if is_const(one, -1) and _keeps(other, one) and other.type.is_float:
            return b.let("neg", other)
    folded = fold_floats("mul", ops) or _int_fold(operator.mul)(b, ops, params)
    if folded is not None:
        return folded
    for first, second in ((x, y), (y, x)):  # a sign comes out: (-a) * b = -(a * b)
        d = definition(b, first)
        if d is not None and d.prim == "neg" and first.type.is_float:
            product = (d.args[0], second) if first is x else (second, d.args[0])
            return b.let("neg", b.let("mul", *product))
    return None


def _div(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    x, y = ops
    if identity("div", ops) is x and _keeps(x, y):
        return x
    d = definition(b, x)
    if d is not None and d.prim == "neg" and x.type.is_float:
        return b.let("neg", b.let("div", d.args[0], y))
    return fold_floats("div", ops)


def _neg(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    (x,) = ops
    if isinstance(x, ir.Const) and (type(x.value) is float or (type(x.value) is int and x.type.weak)):
        return ir.Const(-x.value, x.type)
    d = definition(b, x)
    if d is not None and d.prim == "broadcast" and not d.args[0].type.dims:
        return b.let("broadcast", b.let("neg", d.args[0]), **d.params)
    return d.args[0] if d is not None and d.prim == "neg" else None


def _pow(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    x, p = ops
    if is_const(p, 1) and _keeps(x, p):
        return x
    if all(isinstance(o, ir.Const) and type(o.value) is int and o.value >= 0 and o.type.weak for o in ops):
        return ir.Const(x.value**p.value, x.type) if p.value < 64 else None  # type: ignore[union-attr]
    return None


def _cast(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    (x,) = ops
    target = Type(params["dtype"], x.type.dims, params.get("weak", False))
    if x.type == target:
        return x
    d = definition(b, x)  # a widening in between is undone: float32 -> float64 -> float32
    if d is not None and d.prim == "cast" and d.args[0].type == target:
        return d.args[0] if _widens(target.dtype, x.type.dtype) else None
    return None


def _widens(narrow: str, wide: str) -> bool:
    return bool(np.can_cast(np.dtype(narrow), np.dtype(wide), "safe"))


def _broadcast(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    (x,) = ops
    if isinstance(x, ir.Var) and x.type.dims == tuple(params["dims"]):
        return x
    d = definition(b, x)
    if d is not None and d.prim == "broadcast":
        return b.let("broadcast", d.args[0], **params)
    return None


def _index(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    source = ops[0]
    if not params["path"] and not (isinstance(source, ir.Var) and source.buffer):
        return source
    return None


def _transpose(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    axes = tuple(params["axes"])
    if axes == tuple(range(len(axes))):
        return ops[0]
    d = definition(b, ops[0])
    if d is not None and d.prim == "transpose":
        inner = d.params["axes"]
        return b.let("transpose", d.args[0], axes=tuple(inner[a] for a in axes))
    return None


def _where(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    return identity("where", ops)


def _not(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    (x,) = ops
    known = identity("logical_not", ops)
    if known is not None:
        return known
    d = definition(b, x)
    return d.args[0] if d is not None and d.prim == "logical_not" else None


def _same_dims(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    if ops[0].type.dims == tuple(params["dims"]):
        return ops[0]
    d = definition(b, ops[0])
    if d is not None and d.prim == "broadcast" and not d.args[0].type.dims:
        return b.let("broadcast", d.args[0], dims=tuple(params["dims"]))
    return None


def _reshape(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    d = definition(b, ops[0])
    if d is not None and d.prim == "reshape":  # what stands between two shapes does not matter
        return b.let("reshape", d.args[0], **params)
    return _same_dims(b, ops, params)


def _nothing_reduced(b: Emitting, ops: tuple[ir.Operand, ...], params: Mapping[str, Any]) -> Any:
    return ops[0] if params["axes"] == () and ops[0].type.is_float else None


_RULES: dict[str, Rule] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _pow,
    "cast": _cast,
    "broadcast": _broadcast,
    "sized": lambda b, ops, params: ops[0] if ops[0].type.dims == tuple(params["dims"]) else None,
    "index": _index,
    "transpose": _transpose,
    "where": _where,
    "clip": _int_fold(lambda x, low, high: min(max(x, low), high)),
    "logical_not": _not,
    "reshape": _reshape,
    "identity": lambda b, ops, params: ops[0],
    "sum": _nothing_reduced,
    "floordiv": lambda b, ops, params: (
        _int_fold(operator.floordiv)(b, ops, params) if not is_const(ops[1], 0) else None
    ),
    "mod": lambda b, ops, params: _int_fold(operator.mod)(b, ops, params) if not is_const(ops[1], 0) else None,
    "maximum": _int_fold(max),
    "minimum": _int_fold(min),
}
