"""Solutions of linear equations (`transpile.lax.custom_linear_solve`): differentiated by solving again, at every order.

    x = solve(b, a)      forward:    y = matvec_jvp(b, a, x, a_dot)         reverse:    b_bar = transposed(x_bar, a)
                                     x_dot = solve(b_dot - y, a)                        a_bar = matvec_vjp(b, a, x, -b_bar)

The solve in a derivative is again a call with the same rule: no derivative goes through the body of ``solve``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from transpile.analysis.activity import carries_derivative
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.inline import splice
from transpile.core.rebuild import with_results
from transpile.core.walk import map_operands, uses
from transpile.transform.calculus import zero
from transpile.transform.custom_rules import check_sizes

Derivative = Callable[
    [ir.Function, Sequence[int]], ir.Function
]  # function, parameters to differentiate with respect to


def solved_tangents(b: Builder, call: ir.Call, dots: Sequence[Expr | None], jvp: Derivative) -> list[ir.Var] | None:
    """The tangents of the outputs of the solve ``call``, by a further solve that is emitted; None if they are zero. ``dots``:
    the tangents of its arguments, None where zero. ``jvp`` derives the left-hand side and must return tangents only."""
    rule, count = call.custom, call.custom.outputs
    outs, sides = call.results[:count], call.args[:count]
    right: list[Expr | None] = list(dots[:count])
    wrt = [k for k in _read(rule.derivative, count) if dots[k] is not None]
    if wrt:
        given = [dot.op for k in wrt if (dot := dots[k]) is not None]
        found = splice(b, jvp(rule.derivative, wrt), (*call.args, *outs, *given))
        check_sizes(b, call, found, sides)
        left = [b.expr(op) for op in found]
        right = [-y if dot is None else dot - y for dot, y in zip(right, left)]
    if all(side is None for side in right):
        return None
    whole = [zero(b, old.type) if new is None else new for new, old in zip(right, sides)]
    return _solution(b, call, rule, whole, call.args[count:])


def solved_adjoints(
    b: Builder, call: ir.Call, bars: Sequence[Expr], wants: Sequence[bool], vjp: Derivative
) -> dict[int, Expr]:
    """The adjoints of the arguments of the solve ``call`` that ``wants`` selects, by position. ``bars`` are the cotangents of
    its outputs, ``vjp`` derives the functions of its rule. Emits a solve of the transposed equation."""
    count = call.custom.outputs
    rule, more = transposed(call, vjp)
    sides = _solution(b, call, rule, bars, more)
    found = {k: b.expr(side) for k, side in enumerate(sides) if wants[k]}
    wrt = [k for k in _read(call.custom.derivative, count) if wants[k]]
    if wrt:
        minus = [(-b.expr(side)).op for side in sides]
        given = (*call.args, *call.results[:count], *minus)
        parts = splice(b, vjp(call.custom.derivative, wrt), given)
        check_sizes(b, call, parts, [call.args[k] for k in wrt])
        found |= {k: b.expr(part) for k, part in zip(wrt, parts)}
    return found


def transposed(call: ir.Call, vjp: Derivative) -> tuple[ir.Custom, tuple[ir.Operand, ...]]:
    """The rule of the transposed equation of the solve ``call``, and the arguments that it takes after the right-hand side.

    If the rule gives no transposed solver and is not symmetric, ``vjp`` derives one from the solver, which may read all
    arguments of ``call``.
    """
    rule, count = call.custom, call.custom.outputs
    main = with_results(rule.fn, rule.fn.body.yields[:count])
    if rule.symmetric:
        return replace(rule, fn=main), call.args[count:]
    derivative = _transposed_side(rule.derivative, len(call.args), vjp)
    if rule.pullback is not None:
        return replace(rule, fn=rule.pullback, derivative=derivative, pullback=main), call.args[count:]
    solve = vjp(main, range(count))  # its body may read the right-hand side
    own = len(call.args)
    solve = replace(solve, params=(*solve.params[own:], *solve.params[:own]))
    back, side = (replace(fn, params=_with_unused(fn.params, call.args[:count], count)) for fn in (main, derivative))
    return replace(rule, fn=solve, derivative=side, pullback=back), call.args


def _with_unused(params: Sequence[ir.Var], args: Sequence[ir.Operand], at: int) -> tuple[ir.Var, ...]:
    """The parameters with unused ones, of the types of ``args``, inserted at position ``at``."""
    return (*params[:at], *(ir.Var("unused", a.type) for a in args), *params[at:])


def _transposed_side(fn: ir.Function, own: int, vjp: Derivative) -> ir.Function:
    """The left-hand side of the transposed equation, derived by ``vjp``. ``fn``, the left-hand side, is linear in its
    parameters after the first ``own``; in the result, these are cotangents."""
    outs = fn.params[own:]
    found = vjp(fn, range(own, len(fn.params)))
    bars = found.params[len(fn.params) :]
    at = dict(zip(found.params[own:], bars))  # it is linear: the point of differentiation does not matter
    stmts = [map_operands(s, lambda o: at.get(o, o)) for s in found.body.stmts]  # type: ignore[arg-type]
    yields = tuple(at.get(y, y) for y in found.body.yields)  # type: ignore[arg-type]
    assert len(bars) == len(outs)
    return replace(found, params=(*found.params[:own], *bars), body=replace(found.body, stmts=stmts, yields=yields))


def _read(fn: ir.Function, first: int) -> list[int]:
    """Positions of the floating-point parameters of the left-hand side ``fn`` that it reads, except for the first ``first``
    ones, in place of the right-hand side, and the last ``first`` ones, the outputs."""
    read = set(uses(fn.body))
    own = len(fn.params) - first
    return [k for k in range(first, own) if fn.params[k] in read and carries_derivative(fn.params[k])]


def _solution(
    b: Builder, call: ir.Call, rule: ir.Custom, right: Sequence[Expr], more: Sequence[ir.Operand]
) -> list[ir.Var]:
    """The results of a call that solves by ``rule``, emitted here, with the right-hand side ``right``, cast and broadcast to
    that of ``call``. ``more``: the arguments after the right-hand side."""
    count = rule.outputs
    rule = replace(rule, fn=with_results(rule.fn, rule.fn.body.yields[:count]))
    sides = call.args[:count]
    given = [b.cast(b.broadcast(new, old.type.dims), old.type.strong).op for new, old in zip(right, sides)]
    results = [ir.Var(ir.SYNTHETIC, r.type) for r in call.results[:count]]
    b.emit(ir.Call(rule, (*given, *more), tuple(results), loc=call.loc))
    return results
