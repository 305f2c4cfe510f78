"""The reverse derivative of a core function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.activity import carries_derivative
from transpile.core import nodes as ir
from transpile.core.builder import Builder, unify_any
from transpile.core.watch import station
from transpile.ops.tables import prims
from transpile.simplify.dead_code import remove_dead_block
from transpile.simplify.tidy import tidy_block
from transpile.transform.array_passes import AFTER_REVERSE, FOR_REVERSE
from transpile.transform.branch_pullback import by_sides
from transpile.transform.recompute import link_best
from transpile.transform.sweep import Nested, Sweep, reverse_sweep


@station("reverse mode")
def vjp(fn: ir.Function, wrt: Sequence[int], *, value: bool = False, seeds: bool = False, aux: int = 0) -> ir.Function:
    """The reverse derivative of ``fn`` with respect to the parameters ``wrt``.

    With ``seeds``, the parameters are those of ``fn`` and one cotangent for each floating-point result that is differentiated;
    cotangents stand before the captured parameters. Without, ``fn`` has one floating-point result, a scalar, which comes first;
    its cotangent is 1. The last ``aux`` results are not differentiated. Results: with ``value`` those of ``fn``, else the
    ``aux`` ones; then one adjoint for each of ``wrt``.
    """
    fn = FOR_REVERSE.run(fn)
    yields = fn.body.yields
    main = len(yields) - aux
    outputs = [k for k in range(main) if carries_derivative(yields[k])]
    b = Builder(prims(), dict(fn.symbols), fn)
    b.unify = unify_any
    sweep = _trimmed(reverse_sweep(fn, wrt, outputs, b, seeds, Nested(_of_rule, vjp_by_sides)), b.symbols)
    kept = yields if value else yields[main:]
    body = link_best(fn, sweep, b, kept)
    split = len(fn.params) - len(fn.captured)
    params = (*fn.params[:split], *sweep.seeds, *fn.params[split:])
    name = f"{fn.name}_{'vjp' if seeds else 'grad'}"
    body = ir.Block((), body.stmts, (*kept, *body.yields))
    result = replace(fn, name=name, params=params, body=body, symbols=b.symbols, out_tree=None)
    return AFTER_REVERSE.run(result)


def _of_rule(fn: ir.Function, wrt: Sequence[int]) -> ir.Function:
    """The reverse derivative by `vjp`, with the cotangents as parameters."""
    return vjp(fn, wrt, seeds=True)


def vjp_by_sides(fn: ir.Function, wrt: Sequence[int], *, value: bool = False, aux: int = 0) -> ir.Function:
    """The reverse derivative by `vjp`, with the cotangents as parameters (``seeds``); in a function that ends in a branch, each
    side is differentiated separately."""
    return by_sides(fn, wrt, vjp, value=value, aux=aux)


def _trimmed(sweep: Sweep, symbols: dict[str, ir.Operand]) -> Sweep:
    """The sweep, changed in place, without dead and repeated statements, so that nothing is recorded for them."""

    def moved(old: object, new: object) -> None:
        if old in sweep.mirrors:
            sweep.mirrors[new] = sweep.mirrors[old]
        if old in sweep.sides:
            sweep.sides[new] = sweep.sides[old]

    block = remove_dead_block(sweep.block, sweep.block.yields, symbols, moved)
    block = tidy_block(block, symbols, moved)
    block = remove_dead_block(block, block.yields, symbols, moved)
    sweep.block = block
    return sweep
