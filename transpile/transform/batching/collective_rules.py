"""Collectives over the named axis, for all lanes.

s = psum(x, i)           s = np.sum(x, axis=0)           one value for all lanes
y = all_gather(x, i)  -> y = x                           the values of all lanes, as they are
k = axis_index(i)        k = np.arange(batch)
"""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.walk import uses
from transpile.errors import error
from transpile.ops.tables import record_of
from transpile.transform.batching.all_lanes import AllLanes
from transpile.transform.batching.families import transposed


def emit(w: AllLanes, stmt: ir.Let) -> None:
    """Emits ``stmt``, a collective over the axis that is batched. Its result is kept as a value for all lanes, or defined as
    one value that they share."""
    x = stmt.args[0]
    record, before = record_of(stmt), len(w.b.block.stmts)
    found = _RULES[record.collective](w, stmt, x)
    if record.is_own:
        w.keep(found, stmt.var)
        return
    last = w.b.block.stmts[-1] if len(w.b.block.stmts) > before else None
    if isinstance(last, ir.Let) and last.var is found and found.type == stmt.var.type:
        last.var = stmt.var  # it was emitted for this
    else:
        w.b.emit(ir.Let(stmt.var, "identity", (found,), {}, stmt.loc, stmt.reason))


def _folded(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    """The fold of ``x`` over the lanes, without a lane axis: a sum, or the reduction of ``x``, which is ``x`` itself if lanes
    share it."""
    over = record_of(stmt).over
    if record_of(record_of(over).fold).is_sum:
        return _sum(w, stmt, x)
    if w.differs(x):
        return w.b.let(over, w.of(x), axes=(0,), keepdims=False).op
    return w.b.cast(x, stmt.var.type).op


def _sum(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    """The sum of ``x`` over the lanes, without a lane axis; ``x`` times the number of lanes if they share it."""
    b, type_ = w.b, stmt.var.type
    if w.differs(x):
        found = _contracted(w, x)
        if found is None:
            found = b.let("sum", w.of(x), axes=(0,), keepdims=False)
        return b.cast(found, type_.dtype).op
    return b.cast(b.expr(x) * b.cast(w.count, type_.dtype), type_.dtype).op


def _contracted(w: AllLanes, x: ir.Operand) -> Expr | None:
    """The sum over the lanes of ``x``, a product that nothing else reads and whose operands both differ, as one contraction, so
    that the products are never stored; None for other values."""
    made = w.mapped.made.get(x) if isinstance(x, ir.Var) else None
    if not isinstance(made, ir.Let) or sum(u is x for u in uses(w.fn.body)) > 1:
        return None
    family = record_of(made).family
    sides = [w.alls.get(a) for a in made.args if isinstance(a, ir.Var)]
    ranks = tuple(a.type.rank for a in made.args)
    if len(sides) < 2 or None in sides or not all(a.type.is_float for a in made.args):
        return None
    first, second = sides
    if family == "outer" and ranks == (1, 1):
        return w.b.let("matmul", transposed(w, first, (1, 0)), second)  # type: ignore[arg-type]
    if family == "matmul" and ranks in ((2, 2), (2, 1), (1, 2)):
        return w.b.let("tensordot", first, second, axes=((0, ranks[0]), (0, 1)))
    return None


def _moved(w: AllLanes, x: ir.Operand, source: int, target: int) -> ir.Operand:
    """``x`` with axis ``source`` moved to position ``target``, a view; ``x`` itself if they are the same."""
    rank = x.type.rank
    order = [k for k in range(rank) if k != source]
    order.insert(target, source)
    if order == list(range(rank)):
        return x
    type_ = x.type.with_dims(tuple(x.type.dims[k] for k in order))
    return w.b.bind(ir.SYNTHETIC, type_, "transpose", (x,), {"axes": tuple(order)})


def _gather(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    return _moved(w, w.whole(x), 0, stmt.params["at"])


def _scatter(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    return _moved(w, _sum(w, stmt, x), stmt.params["at"], 0)


def _permute(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    """The values of all lanes, each moved to the lane that ``perm`` names, else zeros. T605 if ``perm`` differs between
    lanes."""
    _, sources, targets, _ = stmt.args
    if w.differs(sources) or w.differs(targets):
        hint = "compute perm from values that the whole batch shares"
        raise error("T605", "the perm of ppermute differs between lanes of the batch", stmt.loc, hint)
    b, type_ = w.b, w.batched(stmt.var.type)
    path = (ir.Index((ir.Gather(0), *[ir.Slice()] * stmt.var.type.rank)),)
    sent = b.read(w.whole(x), path, [sources])
    buf = b.zeros(stmt.var.name, type_)
    b.store(buf, path, [targets], sent)
    return b.read(buf).op


def _number(w: AllLanes, stmt: ir.Let, x: ir.Operand) -> ir.Operand:
    w.numbers.add(stmt.var)
    return w.lane_numbers(0)


_RULES: dict[str, Any] = {
    "folded": _folded, "gathered": _gather, "scattered": _scatter, "permuted": _permute, "numbered": _number,
}  # fmt: skip
