"""The reverse derivative of a function that ends in a branch: each side is differentiated separately.

    def f(x):                               def f_pullback(x, y_bar):
        if is_end(x):                           if is_end(x):
            return g(x)            ->               return g_pullback(x, y_bar)
        ...                                     ...
        return y                                return x_bar

The derivative then reads like the function, and a loop of one side may run forward and backward at once. The statements before
the branch must be cheap, because both sides repeat those that they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.integers import Integers
from transpile.core.walk import Cloner
from transpile.ops.tables import prims
from transpile.simplify.dead_code import remove_dead
from transpile.simplify.tidy import tidy
from transpile.transform.prepare import own_memory
from transpile.transform.to_be_recorded import cost


class Vjp(Protocol):
    """The type of `transpile.transform.vjp.vjp`."""

    def __call__(
        self, fn: ir.Function, wrt: Sequence[int], *, value: bool = False, seeds: bool = False, aux: int = 0
    ) -> ir.Function: ...


def by_sides(fn: ir.Function, wrt: Sequence[int], vjp: Vjp, *, value: bool = False, aux: int = 0) -> ir.Function:
    """The reverse derivative of ``fn``, with the cotangents as parameters: ``vjp`` differentiates each side of a final branch
    on its own, then a branch joins both. Without such a branch, or if the statements before it are not cheap scalars, ``vjp``
    gets the whole function. ``value`` and ``aux`` are as for `transpile.transform.vjp.vjp`."""
    fn = remove_dead(tidy(own_memory(fn)))
    last = _last_branch(fn)
    if last is None or not _is_split(fn, last):
        return vjp(fn, wrt, value=value, seeds=True, aux=aux)
    before = fn.body.stmts[: fn.body.stmts.index(last)]
    fn = replace(fn, body=replace(fn.body, stmts=[*before, last]))
    parts = []
    for side in (last.then, last.orelse):
        given: dict[ir.Operand, ir.Operand] = dict(zip(last.results, side.yields))
        yields = tuple(given.get(y, y) for y in fn.body.yields)
        part = Cloner().function(replace(fn, body=ir.Block((), [*before, *side.stmts], yields)))
        for stmt in part.body.stmts[: len(before)]:
            assert isinstance(stmt, ir.Let)
            stmt.var.name = ir.SYNTHETIC  # it has its name already
        parts.append(by_sides(part, wrt, vjp, value=value, aux=aux))
    return tidy(_joined(fn, last, parts))


def _last_branch(fn: ir.Function) -> ir.If | None:
    """The last branch of the body, if only ``dim`` statements that are no results follow it; else None."""
    for stmt in reversed(fn.body.stmts):
        if isinstance(stmt, ir.If):
            return stmt
        if not isinstance(stmt, ir.Let) or stmt.prim != "dim" or stmt.var in fn.body.yields:
            return None
    return None


def _is_split(fn: ir.Function, last: ir.If) -> bool:
    """Whether the sides of ``last`` can be differentiated separately: it gives a result, no result is undefined on a side, all
    statements before it are cheap and give scalars, and those after it take only sizes of its results."""
    at = fn.body.stmts.index(last)
    if any(s.args[0] not in last.results for s in fn.body.stmts[at + 1 :] if isinstance(s, ir.Let)):
        return False
    if not any(y in last.results for y in fn.body.yields):
        return False
    for side in (last.then, last.orelse):
        given: dict[ir.Operand, ir.Operand] = dict(zip(last.results, side.yields))
        if any(isinstance(given.get(y, y), ir.Undef) for y in fn.body.yields):
            return False
    return all(isinstance(s, ir.Let) and cost(s) <= 1 and not s.var.type.dims for s in fn.body.stmts[:at])


def _joined(fn: ir.Function, last: ir.If, parts: Sequence[ir.Function]) -> ir.Function:
    """The function that branches on the test of ``last`` between ``parts``, the derivatives of its two sides, that of ``then``
    first."""
    count = len(fn.params)
    seeds = tuple(_seed(p, q) for p, q in zip(*(part.params[count:] for part in parts)))
    params = (*fn.params, *seeds)
    above = {*fn.params, *(s.var for s in fn.body.stmts[:-1] if isinstance(s, ir.Let))}
    symbols = {name: value for name, value in fn.symbols.items() if not isinstance(value, ir.Var) or value in above}
    shared = frozenset(symbols)
    sides = []
    for k, part in enumerate(parts):
        own = _Side(part, shared, k)
        sized = [_sized(own, p, q, last) for p, q in zip(part.params[count:], seeds)]
        own.mapping.update(zip(part.params, (*fn.params, *(v for v, _ in sized))))
        done = own.function(replace(part, params=()))
        done.body.stmts[:0] = [s for _, s in sized if s is not None]
        symbols.update((name, value) for name, value in done.symbols.items() if name not in shared)
        sides.append(ir.Block((), done.body.stmts, done.body.yields))
    results = tuple(_result(y, z) for y, z in zip(*(side.yields for side in sides)))
    branch = ir.If(last.test, sides[0], sides[1], results, last.loc)
    body = ir.Block((), [*fn.body.stmts[:-1], branch], results)
    return remove_dead(replace(parts[0], params=params, body=body, symbols=symbols))


def _seed(p: ir.Var, q: ir.Var) -> ir.Var:
    """The cotangent parameter for a result whose cotangents are ``p`` and ``q`` on the two sides; where these differ in size,
    it has a size symbol of its own."""
    pairs = enumerate(zip(p.type.dims, q.type.dims))
    dims = tuple(d if d == e else Dim.symbol(f"{p.name}[{axis}]") for axis, (d, e) in pairs)
    return ir.Var(p.name, p.type.with_dims(dims) if dims else p.type)


def _result(y: ir.Operand, z: ir.Operand) -> ir.Var:
    return ir.Var(next((o.name for o in (y, z) if isinstance(o, ir.Var)), ir.SYNTHETIC), y.type)


def _sized(own: _Side, wanted: ir.Var, seed: ir.Var, last: ir.If) -> tuple[ir.Var, ir.Stmt | None]:
    """The cotangent with the sizes of ``wanted``, the parameter of one side, and the statement that defines it from ``seed``;
    if ``seed`` has these sizes, it and None."""
    type_ = own.type(wanted.type)
    if type_.dims == seed.type.dims:
        return seed, None
    var = ir.Var(seed.name, type_)
    if not any(d.is_one for d in type_.dims):
        return var, ir.Let(var, "identity", (seed,), {}, last.loc)
    whole = (ir.Index(tuple(ir.Slice() for _ in type_.dims)),)
    return var, ir.Let(var, "index", (seed,), {"path": whole, "dims": type_.dims}, last.loc)


class _Side(Cloner):
    """Copies a side; size symbols that only this side knows get new names."""

    def __init__(self, part: ir.Function, shared: frozenset[str], k: int) -> None:
        self.renamed: dict[str, Dim] = {}
        super().__init__({}, self.renamed.get)
        form_of = Integers(prims(), part).of
        for name, value in part.symbols.items():
            if name not in shared:
                self.renamed[name] = Dim.alike(f"{name}'{k}", form_of(value))

    def function(self, fn: ir.Function) -> ir.Function:
        done = super().function(fn)
        symbols = {str(self.renamed.get(name, name)): value for name, value in done.symbols.items()}
        return replace(done, symbols=symbols)
