"""The named axis of a `vmap` in the function of one lane, and what its collectives are for all lanes.

s = psum(x, i)           s = np.sum(x, axis=0)           one value for all lanes
y = all_gather(x, i)  -> y = x                           what lanes have each for itself is at hand
k = axis_index(i)        k = np.arange(batch)

The axis is a parameter, an array with one entry for each lane; its size is the number of lanes. Both go.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.nodes import (
    SYNTHETIC,
    Block,
    Call,
    Const,
    Function,
    Gather,
    Index,
    Let,
    Operand,
    Slice,
    Stmt,
    Undef,
    Var,
)
from transpile.core.types import INT
from transpile.core.walk import Cloner, blocks, reads, statements, uses
from transpile.errors import error
from transpile.rules.collectives import COLLECTIVES, OWN
from transpile.transform.batching.families import transposed

if TYPE_CHECKING:
    from transpile.transform.batching.whole import Emit


@dataclass(frozen=True)
class Axis:
    """``var``: the parameter; ``size``: what stands for the number of lanes in the function."""

    var: Var
    size: Operand

    def has(self, stmt: Stmt) -> bool:
        """Whether it is a collective over this axis, or a call of a function in which one may be."""
        if isinstance(stmt, Let) and stmt.prim in COLLECTIVES:
            return stmt.args[-1] is self.var
        return isinstance(stmt, (Let, Call)) and self.var in reads(stmt)

    def is_in(self, stmt: Stmt) -> bool:
        return self.has(stmt) or any(self.has(s) for b in blocks(stmt) for s in statements(b))


def sized(fn: Function, at: int, count: int | None) -> tuple[Function, Axis]:
    """The function with one value for the number of lanes, and its axis, which is parameter ``at``."""
    var = fn.params[at]
    (dim,) = var.type.dims
    renamed = {} if count is None else {name: Dim(count) for name in dim.symbols()}
    size = Var(str(dim), INT, form=dim) if count is None else Const(count, INT)
    cloner = _Sized(var, size, renamed)
    done = cloner.function(fn)
    symbols = {name: op for name, op in done.symbols.items() if name not in cloner.renamed}
    return replace(done, symbols=symbols), Axis(done.params[at], size)


class _Sized(Cloner):
    def __init__(self, var: Var, size: Operand, renamed: dict[str, Dim]) -> None:
        super().__init__({}, renamed.get if renamed else None)
        self.var, self.size, self.renamed = var, size, renamed

    def operand(self, operand: Operand) -> Operand:
        """A number that has no value on one side of a branch, and nobody reads there, is 0: it can wait for all lanes."""
        if isinstance(operand, Undef) and operand.type.kind == "array" and not operand.type.dims:
            return Const({"b": False, "f": 0.0}.get(np.dtype(operand.type.dtype).kind, 0), operand.type)
        return super().operand(operand)

    def function(self, fn: Function) -> Function:
        done = super().function(fn)
        axis = self.mapping[self.var]
        done.body.yields = tuple(self.size if y is axis else y for y in done.body.yields)
        return done

    def stmt(self, stmt: Stmt) -> Stmt:
        """Where a rule of the user's wants to know the axis, it is among the results of the call."""
        new = super().stmt(stmt)
        if isinstance(stmt, Call):
            axis = self.mapping[self.var]
            own = {p for p, a in zip(stmt.fn.params, reads(new)) if a is axis}
            self.mapping.update((r, axis) for r, y in zip(stmt.results, stmt.fn.body.yields) if y in own)
        return new

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Let) and stmt.prim == "dim" and stmt.args[0] is self.var:
                self.mapping[stmt.var] = self.size
            else:
                stmts.append(stmt)
        return super().block(replace(block, stmts=stmts))


def apart(stmt: Stmt) -> Exception:
    """What is said where lanes come to a collective by different ways."""
    named = next((s for s in (stmt, *(s for b in blocks(stmt) for s in statements(b))) if _is_collective(s)), stmt)
    what = named.prim if isinstance(named, Let) and named.prim in COLLECTIVES else "a collective"
    message = f"{what} over all lanes stands where lanes take different ways"
    hint = "take it out of the branch or loop that the data of a lane decide; np.where chooses between two values"
    return error("T605", message, named.loc, hint)


def _is_collective(stmt: Stmt) -> bool:
    return isinstance(stmt, Let) and stmt.prim in COLLECTIVES


# ------------------------------------------------------------------------------------------------- of all lanes


def emit(w: Emit, stmt: Let) -> None:
    """A collective over the axis that is batched."""
    x = stmt.args[0]
    found = _RULES[stmt.prim](w, stmt, x)
    if stmt.prim in OWN:
        w.keep(found, stmt.var)
        return
    last = w.b.block.stmts[-1] if w.b.block.stmts else None
    if isinstance(last, Let) and last.var is found and found.type == stmt.var.type and stmt.prim != "all_gather":
        last.var = stmt.var  # it was made for this
    else:
        w.b.emit(Let(stmt.var, "identity", (found,), {}, stmt.loc))


def _sum(w: Emit, stmt: Let, x: Operand) -> Operand:
    b, type_ = w.b, stmt.var.type
    if w.differs(x):
        found = _contracted(w, x)
        if found is None:
            found = b.let("sum", w.of(x), axes=(0,), keepdims=False)
        return b.cast(found, type_.dtype).op
    return b.cast(b.expr(x) * b.cast(w.count, type_.dtype), type_.dtype).op


def _contracted(w: Emit, x: Operand) -> Expr | None:
    """The sum over the lanes of products that nobody else reads, as one product: none of them has to be there."""
    made = w.mapped.made.get(x) if isinstance(x, Var) else None
    if not isinstance(made, Let) or made.prim not in ("outer", "matmul") or sum(u is x for u in uses(w.fn.body)) > 1:
        return None
    sides = [w.alls.get(a) for a in made.args if isinstance(a, Var)]
    ranks = tuple(a.type.rank for a in made.args)
    if len(sides) < 2 or None in sides or not all(a.type.is_float for a in made.args):
        return None
    first, second = sides
    if made.prim == "outer" and ranks == (1, 1):
        return w.b.let("matmul", transposed(w, first, (1, 0)), second)  # type: ignore[arg-type]
    if made.prim == "matmul" and ranks in ((2, 2), (2, 1), (1, 2)):
        return w.b.let("tensordot", first, second, axes=((0, ranks[0]), (0, 1)))
    return None


def _extreme(prim: str) -> Any:
    def rule(w: Emit, stmt: Let, x: Operand) -> Operand:
        if w.differs(x):
            return w.b.let(prim, w.of(x), axes=(0,), keepdims=False).op
        return w.b.cast(x, stmt.var.type).op

    return rule


def _moved(w: Emit, x: Operand, source: int, target: int) -> Operand:
    """An axis in another place, a view."""
    rank = x.type.rank
    order = [k for k in range(rank) if k != source]
    order.insert(target, source)
    if order == list(range(rank)):
        return x
    type_ = x.type.with_dims(tuple(x.type.dims[k] for k in order))
    return w.b.bind(SYNTHETIC, type_, "transpose", (x,), {"axes": tuple(order)})


def _gather(w: Emit, stmt: Let, x: Operand) -> Operand:
    return _moved(w, w.whole(x), 0, stmt.params["at"])


def _scatter(w: Emit, stmt: Let, x: Operand) -> Operand:
    return _moved(w, _sum(w, stmt, x), stmt.params["at"], 0)


def _permute(w: Emit, stmt: Let, x: Operand) -> Operand:
    _, sources, targets, _ = stmt.args
    if w.differs(sources) or w.differs(targets):
        hint = "who sends to whom is the same in all lanes"
        raise error("T605", "the perm of ppermute differs between lanes", stmt.loc, hint)
    b, type_ = w.b, w.batched(stmt.var.type)
    path = (Index((Gather(0), *[Slice()] * stmt.var.type.rank)),)
    sent = b.read(w.whole(x), path, [sources])
    buf = b.zeros(stmt.var.name, type_)
    b.store(buf, path, [targets], sent)
    return b.read(buf).op


def _number(w: Emit, stmt: Let, x: Operand) -> Operand:
    w.numbers.add(stmt.var)
    return w.lane_numbers(0)


_RULES: dict[str, Any] = {
    "psum": _sum, "pmax": _extreme("max"), "pmin": _extreme("min"), "all_gather": _gather, "psum_scatter": _scatter,
    "ppermute": _permute, "axis_index": _number,
}  # fmt: skip
