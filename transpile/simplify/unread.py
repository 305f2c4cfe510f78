"""Removes what a lifted function does not read: dead code, and captured numbers that only dead code reads."""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.simplify.dead_code import needed, remove_dead_block


def prune(fn: ir.Function) -> ir.Function:
    """The function with only the statements that its results, its effects or arrays of the caller need, and without captured
    numbers that these do not read; captured arrays stay."""
    roots = [*fn.body.yields, *(p for p in fn.params if p.buffer)]
    body = remove_dead_block(fn.body, roots, fn.symbols, sizes=True)
    read = needed(body, roots, fn.symbols)
    split = len(fn.params) - len(fn.captured)
    kept = [k for k, v in enumerate(fn.params[split:]) if v in read or v.type.dims]
    params = (*fn.params[:split], *(fn.params[split + k] for k in kept))
    captured = tuple(fn.captured[k] for k in kept)  # a function may capture a table and read only a few of its numbers
    symbols = {k: v for k, v in fn.symbols.items() if not isinstance(v, ir.Var) or v in read or v in params}
    return replace(fn, params=params, captured=captured, body=body, symbols=symbols, taken=fn.taken.with_outside(kept))
