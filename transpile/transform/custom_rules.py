"""Derivatives of the user's own (`custom_jvp`, `custom_vjp`): how a `Call` is differentiated, and how it is expanded.

A `Call` is opaque to activity, recording and dead code. Forward mode puts the user's rule in its place; reverse mode puts the
user's pullback into the reverse sweep; what is left of calls is expanded before rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.functions import is_custom
from transpile.core.inline import splice
from transpile.core.rebuild import with_results
from transpile.core.walk import Cloner, map_operands, statements, uses
from transpile.ops.tables import prims


def expand_calls(fn: ir.Function) -> ir.Function:
    """``fn`` with the bodies of all calls in their place."""
    if not any(map(is_custom, statements(fn.body))):
        return fn
    b = Builder(prims(), dict(fn.symbols), fn)
    mapping: dict[ir.Var, ir.Operand] = {}
    body = _expand(b, fn.body, mapping)
    if mapping:
        cloner = Cloner(mapping)
        body = ir.Block(
            body.params, [_map(s, cloner) for s in body.stmts], tuple(cloner.operand(o) for o in body.yields), body.stop
        )
    expanded = replace(fn, body=body, symbols=b.symbols)
    return expand_calls(expanded)


def _map(stmt: ir.Stmt, cloner: Cloner) -> ir.Stmt:
    return map_operands(stmt, cloner.operand, cloner.root)


def _expand(b: Builder, block: ir.Block, mapping: dict[ir.Var, ir.Operand]) -> ir.Block:
    with b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
        for stmt in block.stmts:
            match stmt:
                case ir.Call(function=ir.Custom()):
                    args = tuple(mapping.get(a, a) if isinstance(a, ir.Var) else a for a in stmt.args)
                    mapping.update(zip(stmt.results, splice(b, stmt.custom.fn, args)))
                case ir.If():
                    then, orelse = _expand(b, stmt.then, mapping), _expand(b, stmt.orelse, mapping)
                    b.emit(replace(stmt, then=then, orelse=orelse))
                case ir.For():
                    b.emit(replace(stmt, body=_expand(b, stmt.body, mapping)))
                case ir.While():
                    b.emit(replace(stmt, test=_expand(b, stmt.test, mapping), body=_expand(b, stmt.body, mapping)))
                case _:
                    b.emit(stmt)
    return out


def transposed(
    call: ir.Call, vjp: Callable[[ir.Function, Sequence[int]], ir.Function]
) -> tuple[ir.Function, list[int]]:
    """For a rule of tangents: the function from what it knows and a cotangent for each result to the adjoints of the
    arguments, and the numbers of those (of floating point) that it has adjoints for.

    The rule is linear in the tangents, so its derivative with respect to them does not depend on them; ``vjp`` takes it.
    """
    rule = call.custom.derivative
    known = len(call.args) + (call.custom.outputs if call.custom.rule == "implicit" else 0)
    dots = range(known, len(rule.params))
    if call.custom.rule != "implicit":
        rule = with_results(rule, rule.body.yields[call.custom.outputs :])
    read = set(uses(rule.body)) if call.custom.rule == "implicit" else set(rule.params)
    used = [k for k in dots if rule.params[k] in read]
    return vjp(rule, used), [k - known for k in used]
