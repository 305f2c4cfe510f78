"""Brings core into the form that the other steps of printing expect.

- The test of a `While` reads the parameters of its body, which hold the same values.
- A trip count that is read is an ordinary value: a carried counter if the loop may end early, else the length of the range.
- If the last branch of a block tests a value that the block yields, or that stops the loop, this value becomes a result of the
  branch: True on one side, False on the other. So the end of a loop stands in the branch that decides it.
- An `Alloc` fills, leaves empty, or copies; any other primitive becomes a *let* and a copy, which `copy_elision` may remove.

    trips = for i in range(n): ... stop      ->     trips = for i in range(n) with c := 0: ...; yield c + 1
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT
from transpile.core.walk import map_operands, uses
from transpile.ops.tables import record_of

FILLS = ("copy", "full", "empty")
ZERO, ONE = ir.Const(0, INT), ir.Const(1, INT)


def normalise(fn: ir.Function) -> ir.Function:
    """``fn`` in the form described in this module, as a new function."""
    return replace(fn, body=_Normal(set(uses(fn.body))).block(fn.body, top=True))


class _Normal:
    """Rewrites blocks; ``used`` are the operands that the function reads."""

    def __init__(self, used: set[ir.Operand]) -> None:
        self.used = used

    def block(self, block: ir.Block, top: bool = False) -> ir.Block:
        """The block with its statements in canonical form; unless ``top``, a test that it yields becomes a result of its last
        branch."""
        stmts = [new for stmt in block.stmts for new in self.stmt(stmt)]
        block = ir.Block(block.params, stmts, block.yields, block.stop)
        return block if top else _decided(block)

    def stmt(self, stmt: ir.Stmt) -> tuple[ir.Stmt, ...]:
        """The statements, one or two, that stand for a statement in canonical form."""
        match stmt:
            case ir.Alloc():
                return self.alloc(stmt)
            case ir.If():
                return (replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)),)
            case ir.For():
                return self.loop(replace(stmt, body=self.block(stmt.body)))
            case ir.While():
                same: dict[ir.Operand, ir.Operand] = dict(zip(stmt.test.params, stmt.body.params))
                test = self.block(stmt.test, top=True)
                stmts = [map_operands(s, lambda o: same.get(o, o)) for s in test.stmts]
                test = ir.Block(stmt.body.params, stmts, tuple(same.get(o, o) for o in test.yields))
                return (self.counted(replace(stmt, test=test, body=self.block(stmt.body))),)
        return (stmt,)

    def alloc(self, stmt: ir.Alloc) -> tuple[ir.Stmt, ...]:
        """The allocation alone if it fills, leaves empty or copies; else a *let* that computes the array, and a copy of
        that."""
        if stmt.prim in FILLS:
            return (stmt,)
        value = ir.Var(ir.SYNTHETIC, stmt.var.type)
        return (
            ir.Let(value, stmt.prim, stmt.args, stmt.params, stmt.loc),
            ir.Alloc(stmt.var, "copy", (value,), {}, stmt.loc, stmt.reason),
        )

    def loop(self, stmt: ir.For) -> tuple[ir.Stmt, ...]:
        """The loop without trip count; if that is read, followed by the range's length, or with a counter if it may end
        early."""
        if stmt.trips is None or stmt.trips not in self.used:
            return (replace(stmt, trips=None),)
        if stmt.body.stop is not None:
            return (self.counted(stmt),)
        length = ir.Let(stmt.trips, "range_length", (stmt.start, stmt.bound, stmt.step), {}, stmt.loc)
        return (replace(stmt, trips=None), length)

    def counted(self, stmt):  # type: ignore[no-untyped-def]
        """The loop with its trip count as the last carried value, a counter; without any trip count if that is never read."""
        if stmt.trips is None or stmt.trips not in self.used:
            return replace(stmt, trips=None)
        count, more = ir.Var(stmt.trips.name, INT), ir.Var(ir.SYNTHETIC, INT)
        body = stmt.body
        body = ir.Block(
            (*body.params, count),
            [*body.stmts, ir.Let(more, "add", (count, ONE), {}, stmt.loc)],
            (*body.yields, more),
            body.stop,
        )
        new = replace(stmt, inits=(*stmt.inits, ZERO), body=body, results=(*stmt.results, stmt.trips), trips=None)
        if isinstance(new, ir.While):
            new = replace(new, test=replace(new.test, params=body.params))
        return new


def _decided(block: ir.Block) -> ir.Block:
    """The block with the test of its last branch as a result of this branch, if the block yields the test or stops by it.

    Also if it yields a value of which the test is the negation. Else the block itself.
    """
    last = block.stmts[-1] if block.stmts else None
    if not isinstance(last, ir.If) or not isinstance(last.test, ir.Var):
        return block
    known = {last.test: True}
    for stmt in block.stmts:
        if (
            isinstance(stmt, ir.Let)
            and record_of(stmt).is_negation
            and stmt.var is last.test
            and isinstance(stmt.args[0], ir.Var)
        ):
            known[stmt.args[0]] = False
    for test, value in known.items():
        if test in block.yields or test is block.stop:
            return _with_result(block, last, test, value)
    return block


def _with_result(block: ir.Block, last: ir.If, test: ir.Var, value: bool) -> ir.Block:
    """The block whose last branch, ``last``, has ``test`` as one more result: ``value`` on the first side, else the opposite.

    What the block yields, and its ``stop``, refer to the result.
    """
    result = ir.Var(test.name, test.type)
    sides = []
    for side, known in ((last.then, value), (last.orelse, not value)):
        constant = ir.Const(known, BOOL)
        sides.append(_decided(replace(side, yields=(*(constant if y is test else y for y in side.yields), constant))))
    branch = replace(last, then=sides[0], orelse=sides[1], results=(*last.results, result))
    return ir.Block(
        block.params,
        [*block.stmts[:-1], branch],
        tuple(result if y is test else y for y in block.yields),
        result if block.stop is test else block.stop,
    )
