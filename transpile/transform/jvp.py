"""Forward mode: every statement is followed by the statement of its tangent.

    y = sin(x)                ->    y = sin(x)
                                    y_dot = cos(x) * x_dot

Buffers have tangent buffers that mirror every store; loops and branches carry the tangents of what they carry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial as bound
from functools import singledispatchmethod

from transpile.analysis.activity import active, carries_derivative
from transpile.analysis.zero_tangents import resting
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr, unify_any
from transpile.core.inline import splice
from transpile.core.watch import station
from transpile.ops.record import REFUSED, UNWRITTEN, ZERO, Op
from transpile.ops.tables import prims
from transpile.transform.calculus import plus, times, zero
from transpile.transform.custom_rules import check_sizes, tied
from transpile.transform.function_derivatives import pushforward
from transpile.transform.linear_rules import solved_tangents
from transpile.transform.prepare import own_memory, refuse, refuse_forward, refuse_rule


@station("forward mode")
def jvp(fn: ir.Function, wrt: Sequence[int], *, value: bool = True, aux: int = 0) -> ir.Function:
    """The forward derivative of ``fn`` with respect to the parameters ``wrt``.

    Parameters: those of ``fn``, with one tangent for each of ``wrt`` before the captured ones, which stay last. Results: those
    of ``fn`` (unless ``value`` is False), then one tangent for each floating-point result except the last ``aux`` results.
    """
    fn = own_memory(fn)
    return _Forward(fn, wrt, aux).run(value)


class _Forward:
    """Builds the forward derivative, statement by statement."""

    def __init__(self, fn: ir.Function, wrt: Sequence[int], aux: int) -> None:
        self.fn = fn
        self.wrt = [fn.params[k] for k in wrt]
        self.main = fn.body.yields[: len(fn.body.yields) - aux]
        self.active = active(fn, self.wrt, self.main)
        self.prims = prims()
        self.b = Builder(self.prims, dict(fn.symbols), fn)
        self.b.unify = unify_any
        self.dots: dict[ir.Var, ir.Operand | tuple[ir.Operand | None, ...]] = {}
        self.resting = resting(
            fn, self.active, self.wrt if fn.routine is not None else ()
        )  # a caller may pass any tangent

    def run(self, value: bool) -> ir.Function:
        """The function of primal values and tangents. It returns the results of the function (unless ``value`` is False), then
        a tangent for each floating-point result that is differentiated."""
        fn, b = self.fn, self.b
        seeds = []
        for var in self.wrt:
            seed = ir.Var(f"{var.name}_dot", var.type)
            seeds.append(seed)
            self.dots[var] = seed
        self.stmts(fn.body)
        tangents = tuple(self.tangent_or_zero(r).op for r in self.main if carries_derivative(r))
        body = ir.Block((), b.block.stmts, (*(fn.body.yields if value else ()), *tangents))
        split = len(fn.params) - len(fn.captured)
        params = (*fn.params[:split], *seeds, *fn.params[split:])
        return replace(fn, name=f"{fn.name}_jvp", params=params, body=body, symbols=b.symbols, out_tree=None)

    def stmts(self, block: ir.Block) -> None:
        for stmt in block.stmts:
            with self.b.at(stmt.loc):
                self.stmt(stmt)

    # ---- tangents

    def tangent(self, operand: ir.Operand) -> Expr | None:
        """The tangent of an operand; None if it is zero, as for operands that are not active, or if the operand holds several
        results."""
        if not isinstance(operand, ir.Var) or operand not in self.active:
            return None
        dot = self.dots.get(operand)
        return None if dot is None or isinstance(dot, tuple) else self.b.expr(dot)

    def tangent_or_zero(self, operand: ir.Operand) -> Expr:
        """The tangent of an operand, a zero of its type if there is none; an undefined operand itself."""
        dot = self.tangent(operand)
        if dot is not None:
            return dot
        if isinstance(operand, ir.Undef):
            return self.b.expr(operand)
        return zero(self.b, operand.type)

    def name(self, var: ir.Var) -> str:
        return f"{var.name}_dot" if var.name != ir.SYNTHETIC else ir.SYNTHETIC

    # ---- statements

    @singledispatchmethod
    def stmt(self, stmt: ir.Stmt) -> None:
        """Emits the statement, then, if its result is active, the statements of its tangent, which is noted in ``dots``."""
        raise TypeError(stmt)

    @stmt.register
    def _(self, stmt: ir.Let) -> None:
        self.b.emit(stmt)
        if stmt.var not in self.active:
            return
        if stmt.prim == "item":
            dots = self.dots.get(stmt.args[0])  # type: ignore[arg-type]
            dot = dots[stmt.params["k"]] if isinstance(dots, tuple) else None
            if dot is not None:
                self.dots[stmt.var] = self.named(self.b.expr(dot), stmt.var)
            return
        found = self.derive(stmt)
        if isinstance(found, tuple):
            self.dots[stmt.var] = tuple(None if d is None else d.op for d in found)
        elif found is not None:
            self.dots[stmt.var] = self.named(found, stmt.var)

    def named(self, found: Expr, var: ir.Var) -> ir.Operand:
        """The tangent ``found``; its variable is renamed in place after ``var`` if it has no name and ``var`` has one."""
        op = found.op
        if isinstance(op, ir.Var) and op.name == ir.SYNTHETIC and var.name != ir.SYNTHETIC:
            op.name = self.name(var)
        return op

    def derive(self, stmt: ir.Let | ir.Alloc) -> Expr | tuple[Expr | None, ...] | None:
        """The tangent of a statement's result, emitted; None if it is zero. If the primitive has several results, a tuple of
        such tangents. T303 or T304 if the primitive has no derivative."""
        b, prim = self.b, self.prims[stmt.prim]
        dots = [self.tangent(a) for a in stmt.args]
        if stmt.prim == "where":
            test, x, y = stmt.args
            return b.elementwise("where", test, self.tangent_or_zero(x), self.tangent_or_zero(y))
        if stmt.prim == "index" or not prim.elementwise:
            return self.structural(stmt, prim, dots)
        args = [b.expr(a) for a in stmt.args]
        total: Expr | None = None
        several = sum(d is not None for d in dots) > 1
        for k, (partial, dot) in enumerate(zip(prim.partials_of(stmt.params), dots)):
            if dot is None or partial is ZERO:
                continue
            if partial is REFUSED or partial is UNWRITTEN:
                refuse(stmt, partial, k)
            b.via = stmt.params.get("via", "")
            term = times(dot, partial(b.expr(stmt.var), *args))
            b.via = ""
            if term is None:
                continue
            steep = prim.steep(*args) if k == 0 and prim.steep and (several or stmt.args[0] in self.resting) else None
            if steep is not None:  # an infinite slope times a zero tangent is 0
                term = b.elementwise("where", b.elementwise("logical_and", steep, dot.eq(0)), 0.0, term)
            total = term if total is None else plus(total, term)
        return total

    def structural(
        self, stmt: ir.Let | ir.Alloc, prim: Op, dots: list[Expr | None]
    ) -> Expr | tuple[Expr | None, ...] | None:
        """The tangent by the ``jvp`` rule of the primitive, from the tangents ``dots`` of its operands, None where zero; None
        if all are None. A tuple if the primitive has several results."""
        if all(d is None for d in dots):
            return None
        if prim.jvp is REFUSED:
            refuse(stmt, REFUSED)
        b = self.b
        y = b.expr(stmt.var)
        if stmt.var.type.kind == "tuple":
            y = tuple(b.let("item", stmt.var, k=k) for k in range(len(stmt.var.type.items)))  # type: ignore[assignment]
        return prim.jvp(y, [b.expr(a) for a in stmt.args], dots, stmt.params)

    @stmt.register
    def _(self, stmt: ir.Alloc) -> None:
        b = self.b
        b.emit(stmt)
        if stmt.var not in self.active:
            return
        name = self.name(stmt.var)
        if stmt.prim == "copy":
            dot = self.tangent(stmt.args[0])
            self.dots[stmt.var] = b.zeros(name, stmt.var.type) if dot is None else b.copy(name, dot)
            return
        found = self.derive(stmt)
        assert not isinstance(found, tuple)
        self.dots[stmt.var] = b.zeros(name, stmt.var.type) if found is None else b.copy(name, found)

    @stmt.register(ir.Store)
    @stmt.register(ir.Add)
    def _(self, stmt: ir.Store | ir.Add) -> None:
        self.b.emit(stmt)
        dot = self.dots.get(stmt.buf) if stmt.buf in self.active else None
        if dot is None:
            return
        value = self.tangent(stmt.value)
        if value is None and isinstance(stmt, ir.Add):
            return
        op = zero(self.b, stmt.value.type).op if value is None else value.op
        assert isinstance(dot, ir.Var)
        self.b.emit(replace(stmt, buf=dot, value=op))

    @stmt.register
    def _(self, stmt: ir.If) -> None:
        carried = [k for k, r in enumerate(stmt.results) if r in self.active]
        sides = []
        for block in (stmt.then, stmt.orelse):
            with self.b.into(ir.Block(block.params)) as side:
                self.stmts(block)
                dots = tuple(self.tangent_or_zero(block.yields[k]).op for k in carried)
                side.yields = (*block.yields, *dots)
            sides.append(side)
        results = self.declare([stmt.results[k] for k in carried])
        self.b.emit(replace(stmt, then=sides[0], orelse=sides[1], results=(*stmt.results, *results)))

    def declare(self, variables: Sequence[ir.Var]) -> tuple[ir.Var, ...]:
        """A new tangent variable for each variable, not defined by a statement yet; noted as their tangents from here on."""
        made = tuple(ir.Var(self.name(v), v.type) for v in variables)
        self.dots.update(zip(variables, made))
        return made

    def loop(self, stmt: ir.For | ir.While, body_of: ir.Block) -> tuple[list[int], tuple[ir.Operand, ...], ir.Block]:
        """The positions of the active carried values, the initial values of their tangents, and the body ``body_of`` with
        tangents, which it takes as further parameters and yields last. Nothing is emitted for the loop itself."""
        carried = [k for k, p in enumerate(stmt.body.params) if p in self.active or stmt.results[k] in self.active]
        inits = tuple(self.tangent_or_zero(stmt.inits[k]).op for k in carried)
        params = self.declare([body_of.params[k] for k in carried])
        with self.b.into(ir.Block((*body_of.params, *params), stop=body_of.stop)) as body:
            self.stmts(body_of)
            body.yields = (*body_of.yields, *(self.tangent_or_zero(body_of.yields[k]).op for k in carried))
        return carried, inits, body

    def loop_results(self, stmt: ir.For | ir.While, carried: Sequence[int]) -> tuple[ir.Var, ...]:
        return self.declare([stmt.results[k] for k in carried])

    @stmt.register
    def _(self, stmt: ir.For) -> None:
        carried, inits, body = self.loop(stmt, stmt.body)
        results = self.loop_results(stmt, carried)
        self.b.emit(replace(stmt, inits=(*stmt.inits, *inits), body=body, results=(*stmt.results, *results)))

    @stmt.register
    def _(self, stmt: ir.While) -> None:
        carried, inits, body = self.loop(stmt, stmt.body)
        results = self.loop_results(stmt, carried)
        extra = tuple(ir.Var(self.name(stmt.test.params[k]), stmt.test.params[k].type) for k in carried)
        test = ir.Block((*stmt.test.params, *extra), stmt.test.stmts, stmt.test.yields)
        self.b.emit(replace(stmt, inits=(*stmt.inits, *inits), test=test, body=body, results=(*stmt.results, *results)))

    @stmt.register
    def _(self, stmt: ir.NewStack) -> None:
        self.b.emit(stmt)
        if stmt.var in self.active:
            dot = ir.Var(self.name(stmt.var), stmt.var.type)
            self.b.emit(ir.NewStack(dot, stmt.loc))
            self.dots[stmt.var] = dot

    @stmt.register
    def _(self, stmt: ir.Push) -> None:
        self.b.emit(stmt)
        if stmt.stack in self.active:
            self.b.emit(ir.Push(self.dots[stmt.stack], self.tangent_or_zero(stmt.value).op, stmt.loc))  # type: ignore[arg-type]

    @stmt.register
    def _(self, stmt: ir.Pop) -> None:
        self.b.emit(stmt)
        if stmt.stack in self.active:
            (dot,) = self.declare([stmt.var])
            self.b.emit(ir.Pop(dot, self.dots[stmt.stack], stmt.loc))  # type: ignore[arg-type]

    @stmt.register
    def _(self, stmt: ir.Effect) -> None:
        self.b.emit(stmt)

    @stmt.register
    def _(self, stmt: ir.Call) -> None:
        if not any(a in self.active for a in stmt.args):
            self.b.emit(stmt)
        elif isinstance(stmt.function, ir.Routine):
            self.kept(stmt)
        else:
            self.custom(stmt)

    def kept(self, stmt: ir.Call) -> None:
        """Emits the call of the pushforward in place of the call of a kept function; the call itself if no argument has a
        tangent or no result is active."""
        dots = {k: d for k, a in enumerate(stmt.args) if (d := self.tangent(a)) is not None}
        if not dots or not any(r in self.active for r in stmt.results):
            self.b.emit(stmt)
            return
        made = {r: ir.Var(ir.SYNTHETIC, r.type) for r in stmt.results if r.type.is_float}
        args = (*stmt.args, *(d.op for d in dots.values()))
        function = pushforward(stmt.routine, tuple(dots), jvp)
        self.b.emit(replace(stmt, function=function, args=args, results=(*stmt.results, *made.values())))
        for var, dot in made.items():
            if var in self.active:
                self.dots[var] = self.named(self.b.expr(dot), var)

    def custom(self, stmt: ir.Call) -> None:
        """Emits the user's rule, inlined, in place of the call; notes the tangents of the results. An implicit rule comes after
        the call, which stays. T303 if the rule is one for reverse mode only."""
        refuse_rule(stmt, self.active)
        if stmt.custom.rule == "vjp":
            refuse_forward(stmt)
        if stmt.custom.rule == "linear":
            self.solution(stmt)
            return
        floats = [a for a in stmt.args if carries_derivative(a)]
        dots = [self.tangent_or_zero(a).op for a in floats]
        if stmt.custom.rule == "implicit":
            self.b.emit(stmt)
            outs = stmt.results[: stmt.custom.outputs]
            found = splice(self.b, tied(stmt.custom.derivative, stmt), (*stmt.args, *outs, *dots))
            with_dot = [r for r in outs if carries_derivative(r)]
            check_sizes(self.b, stmt, found, with_dot)
            self.dots.update(zip(with_dot, found))
            return
        found = splice(self.b, tied(stmt.custom.derivative, stmt), (*stmt.args, *dots))
        for var, operand in zip(stmt.results, found):
            self.b.emit(ir.Let(var, "identity", (operand,), {}, stmt.loc))
        with_dot = [r for r in stmt.results if carries_derivative(r)]
        check_sizes(self.b, stmt, found, (*stmt.results, *with_dot))
        self.dots.update(zip(with_dot, found[len(stmt.results) :]))

    def solution(self, stmt: ir.Call) -> None:
        """Emits the call of the linear solver, then a solve for the tangents of its results, unless these are all zero."""
        self.b.emit(stmt)
        found = solved_tangents(self.b, stmt, list(map(self.tangent, stmt.args)), bound(jvp, value=False))
        if found is not None:
            self.dots.update(zip(stmt.results, found))
