"""The reverse derivative of a function that ends in a branch: each side is differentiated by itself.

    def f(x):                               def f_pullback(x, y_bar):
        if is_end(x):                           if is_end(x):
            return g(x)            ->               return g_pullback(x, y_bar)
        ...                                     ...
        return y                                return x_bar

So a function reads as it was written, and a loop of one side may run forward and backward at once. What stands before the branch
must be cheap: both sides compute what they need of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from transpile.core.dims import Dim
from transpile.core.nodes import SYNTHETIC, Block, Function, If, Index, Let, Operand, Slice, Stmt, Undef, Var
from transpile.core.walk import Cloner
from transpile.transform.dce import remove_dead
from transpile.transform.needs import cost
from transpile.transform.prepare import ready
from transpile.transform.tidy import tidy


class Vjp(Protocol):
    """The reverse derivative of a function, `transpile.transform.reverse.vjp`."""

    def __call__(
        self, fn: Function, wrt: Sequence[int], *, value: bool = False, seeds: bool = False, aux: int = 0
    ) -> Function: ...


def by_sides(fn: Function, wrt: Sequence[int], vjp: Vjp, *, value: bool = False, aux: int = 0) -> Function:
    """As ``vjp`` with cotangents as parameters, which is asked for what does not end in a branch."""
    fn = remove_dead(tidy(ready(fn)))
    last = _last_branch(fn)
    if last is None or not _is_split(fn, last):
        return vjp(fn, wrt, value=value, seeds=True, aux=aux)
    before = fn.body.stmts[: fn.body.stmts.index(last)]
    fn = replace(fn, body=replace(fn.body, stmts=[*before, last]))
    parts = []
    for side in (last.then, last.orelse):
        given: dict[Operand, Operand] = dict(zip(last.results, side.yields))
        yields = tuple(given.get(y, y) for y in fn.body.yields)
        part = Cloner().function(replace(fn, body=Block((), [*before, *side.stmts], yields)))
        for stmt in part.body.stmts[: len(before)]:
            assert isinstance(stmt, Let)
            stmt.var.name = SYNTHETIC  # computed already
        parts.append(by_sides(part, wrt, vjp, value=value, aux=aux))
    return tidy(_joined(fn, last, parts))


def _last_branch(fn: Function) -> If | None:
    """The branch that the function ends in; behind it only the sizes of its results may be asked for."""
    for stmt in reversed(fn.body.stmts):
        if isinstance(stmt, If):
            return stmt
        if not isinstance(stmt, Let) or stmt.prim != "dim" or stmt.var in fn.body.yields:
            return None
    return None


def _is_split(fn: Function, last: If) -> bool:
    """Whether the branch gives the results, and nothing before it is dear or has memory that is written."""
    at = fn.body.stmts.index(last)
    if any(s.args[0] not in last.results for s in fn.body.stmts[at + 1 :] if isinstance(s, Let)):
        return False
    if not any(y in last.results for y in fn.body.yields):
        return False
    for side in (last.then, last.orelse):
        given: dict[Operand, Operand] = dict(zip(last.results, side.yields))
        if any(isinstance(given.get(y, y), Undef) for y in fn.body.yields):
            return False
    return all(isinstance(s, Let) and cost(s) <= 1 and not s.var.type.dims for s in fn.body.stmts[:at])


def _joined(fn: Function, last: If, parts: Sequence[Function]) -> Function:
    """One function of the derivatives of both sides."""
    count = len(fn.params)
    seeds = tuple(_seed(p, q) for p, q in zip(*(part.params[count:] for part in parts)))
    params = (*fn.params, *seeds)
    above = {*fn.params, *(s.var for s in fn.body.stmts[:-1] if isinstance(s, Let))}
    symbols = {name: value for name, value in fn.symbols.items() if not isinstance(value, Var) or value in above}
    shared = frozenset(symbols)
    sides = []
    for k, part in enumerate(parts):
        own = _Side(part, shared, k)
        sized = [_sized(own, p, q, last) for p, q in zip(part.params[count:], seeds)]
        own.mapping.update(zip(part.params, (*fn.params, *(v for v, _ in sized))))
        done = own.function(replace(part, params=()))
        done.body.stmts[:0] = [s for _, s in sized if s is not None]
        symbols.update((name, value) for name, value in done.symbols.items() if name not in shared)
        sides.append(Block((), done.body.stmts, done.body.yields))
    results = tuple(_result(y, z) for y, z in zip(*(side.yields for side in sides)))
    branch = If(last.test, sides[0], sides[1], results, last.loc)
    body = Block((), [*fn.body.stmts[:-1], branch], results)
    return remove_dead(replace(parts[0], params=params, body=body, symbols=symbols))


def _seed(p: Var, q: Var) -> Var:
    """The cotangent of a result: where the sides give it different sizes, it has sizes of its own."""
    pairs = enumerate(zip(p.type.dims, q.type.dims))
    dims = tuple(d if d == e else Dim.symbol(f"{p.name}[{axis}]") for axis, (d, e) in pairs)
    return Var(p.name, p.type.with_dims(dims) if dims else p.type)


def _result(y: Operand, z: Operand) -> Var:
    return Var(next((o.name for o in (y, z) if isinstance(o, Var)), SYNTHETIC), y.type)


def _sized(own: _Side, wanted: Var, seed: Var, last: If) -> tuple[Var, Stmt | None]:
    """The cotangent with the sizes that it has on a side, and the statement that says so."""
    type_ = own.type(wanted.type)
    if type_.dims == seed.type.dims:
        return seed, None
    var = Var(seed.name, type_)
    if not any(d.is_one for d in type_.dims):
        return var, Let(var, "identity", (seed,), {}, last.loc)
    whole = (Index(tuple(Slice() for _ in type_.dims)),)
    return var, Let(var, "index", (seed,), {"path": whole, "dims": type_.dims}, last.loc)


class _Side(Cloner):
    """Copies a side; sizes that only it knows get names of their own."""

    def __init__(self, part: Function, shared: frozenset[str], k: int) -> None:
        self.renamed: dict[str, Dim] = {}
        super().__init__({}, self.renamed.get)
        for name, value in part.symbols.items():
            if name not in shared:
                form = value.form if isinstance(value, Var) else None
                is_size = form is not None and form.as_symbol is not None and form.terms[0][0].kind == "symbol"
                new = f"{name}'{k}"
                self.renamed[name] = Dim.symbol(new) if is_size else Dim.integer(new)

    def function(self, fn: Function) -> Function:
        done = super().function(fn)
        symbols = {str(self.renamed.get(name, name)): value for name, value in done.symbols.items()}
        return replace(done, symbols=symbols)
