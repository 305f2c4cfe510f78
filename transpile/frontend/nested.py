"""Transforms inside the transformed function: ``grad(inner)(x)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from transpile.core.dims import Dim
from transpile.core.nodes import Function, Operand, Var
from transpile.core.walk import Cloner
from transpile.frontend.lifter import Lifter


def transform(lx: Lifter, name: str, obj: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
    raise lx.error("T130", f"{name} inside a transformed function is not supported", node)


def splice(lx: Lifter, function: Function, operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The results of a core function on these operands: its statements, copied to here."""
    dims: dict[str, Dim] = {}
    for param, op in zip(function.params, operands):
        for have, given in zip(param.type.dims, op.type.dims):
            symbol = have.as_symbol
            if symbol is not None:
                dims.setdefault(symbol, given)
    mapping: dict[Var, Operand] = dict(zip(function.params, operands))
    for symbol, op in function.symbols.items():
        if isinstance(op, Var) and op.form is not None and symbol not in dims and op in mapping:
            dims[symbol] = lx.b.form(mapping[op])
    cloner = Cloner(mapping, dims.get)
    for symbol, op in function.symbols.items():
        if symbol not in dims and symbol in lx.b.symbols:
            dims[symbol] = lx.symbols.fresh(lx, symbol)
    block = cloner.block(function.body)
    lx.b.block.stmts.extend(block.stmts)
    for symbol, op in function.symbols.items():
        if symbol not in dims or dims[symbol].as_symbol not in lx.b.symbols:
            lx.b.symbols.setdefault(dims[symbol].as_symbol or symbol if symbol in dims else symbol, cloner.operand(op))
    return block.yields
