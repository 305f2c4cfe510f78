"""What nobody reads goes from a function that has been lifted: dead code, and the numbers from outside that only it read."""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.simplify.dead_code import needed, remove_dead_block


def prune(fn: ir.Function) -> ir.Function:
    """The function with only the statements that its results, its effects or a caller's array need."""
    roots = [*fn.body.yields, *(p for p in fn.params if p.buffer)]
    body = remove_dead_block(fn.body, roots, fn.symbols, sizes=True)
    read = needed(body, roots, fn.symbols)
    split = len(fn.params) - len(fn.captured)
    kept = [k for k, v in enumerate(fn.params[split:]) if v in read or v.type.dims]
    params = (*fn.params[:split], *(fn.params[split + k] for k in kept))
    captured = tuple(fn.captured[k] for k in kept)  # of tables a call may read only a few numbers
    symbols = {k: v for k, v in fn.symbols.items() if not isinstance(v, ir.Var) or v in read or v in params}
    return replace(fn, params=params, captured=captured, body=body, symbols=symbols, taken=fn.taken.with_outside(kept))
