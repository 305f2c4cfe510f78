"""Brings core into the form that the other steps of rendering take.

- The test of a `While` reads the parameters of its body (they hold the same values).
- Trip counts that are wanted are ordinary values: a carried counter where the loop may end early, else the length of the range.
- What the last branch of a block tests and the block then hands on is a result of the branch: True on one side, False on the other;
  so that the end of a loop stands in the branch that decides it.
- An `Alloc` fills, leaves empty, or copies; any other primitive is a *let* that is copied (a copy that `copies` leaves out).

    trips = for i in range(n): ... stop      ->     trips = for i in range(n) with c := 0: ...; yield c + 1
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.nodes import SYNTHETIC, Alloc, Block, Const, For, Function, If, Let, Operand, Stmt, Var, While
from transpile.core.types import BOOL, INT
from transpile.core.walk import map_operands, uses

FILLS = ("copy", "full", "empty")
ZERO, ONE = Const(0, INT), Const(1, INT)


def normalise(fn: Function) -> Function:
    """``fn`` in the form described above."""
    return replace(fn, body=_Normal(set(uses(fn.body))).block(fn.body, top=True))


class _Normal:
    def __init__(self, used: set[Operand]) -> None:
        self.used = used

    def block(self, block: Block, top: bool = False) -> Block:
        stmts = [new for stmt in block.stmts for new in self.stmt(stmt)]
        block = Block(block.params, stmts, block.yields, block.stop)
        return block if top else _decided(block)

    def stmt(self, stmt: Stmt) -> tuple[Stmt, ...]:
        match stmt:
            case Alloc():
                return self.alloc(stmt)
            case If():
                return (replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse)),)
            case For():
                return self.loop(replace(stmt, body=self.block(stmt.body)))
            case While():
                same: dict[Operand, Operand] = dict(zip(stmt.test.params, stmt.body.params))
                test = self.block(stmt.test, top=True)
                stmts = [map_operands(s, lambda o: same.get(o, o)) for s in test.stmts]
                test = Block(stmt.body.params, stmts, tuple(same.get(o, o) for o in test.yields))
                return (self.counted(replace(stmt, test=test, body=self.block(stmt.body))),)
        return (stmt,)

    def alloc(self, stmt: Alloc) -> tuple[Stmt, ...]:
        if stmt.prim in FILLS:
            return (stmt,)
        value = Var(SYNTHETIC, stmt.var.type)
        return (
            Let(value, stmt.prim, stmt.args, stmt.params, stmt.loc),
            Alloc(stmt.var, "copy", (value,), {}, stmt.loc),
        )

    def loop(self, stmt: For) -> tuple[Stmt, ...]:
        if stmt.trips is None or stmt.trips not in self.used:
            return (replace(stmt, trips=None),)
        if stmt.body.stop is not None:
            return (self.counted(stmt),)
        length = Let(stmt.trips, "range_length", (stmt.start, stmt.bound, stmt.step), {}, stmt.loc)
        return (replace(stmt, trips=None), length)

    def counted(self, stmt):  # type: ignore[no-untyped-def]
        """The loop with its trips as a carried value."""
        if stmt.trips is None or stmt.trips not in self.used:
            return replace(stmt, trips=None)
        count, more = Var(stmt.trips.name, INT), Var(SYNTHETIC, INT)
        body = stmt.body
        body = Block(
            (*body.params, count),
            [*body.stmts, Let(more, "add", (count, ONE), {}, stmt.loc)],
            (*body.yields, more),
            body.stop,
        )
        new = replace(stmt, inits=(*stmt.inits, ZERO), body=body, results=(*stmt.results, stmt.trips), trips=None)
        if isinstance(new, While):
            new = replace(new, test=replace(new.test, params=body.params))
        return new


def _decided(block: Block) -> Block:
    """The block with what its last branch tests as a result of that branch, if the block hands it on."""
    last = block.stmts[-1] if block.stmts else None
    if not isinstance(last, If) or not isinstance(last.test, Var):
        return block
    known = {last.test: True}
    for stmt in block.stmts:
        if (
            isinstance(stmt, Let)
            and stmt.prim == "logical_not"
            and stmt.var is last.test
            and isinstance(stmt.args[0], Var)
        ):
            known[stmt.args[0]] = False
    for test, value in known.items():
        if test in block.yields or test is block.stop:
            return _with_result(block, last, test, value)
    return block


def _with_result(block: Block, last: If, test: Var, value: bool) -> Block:
    """``test`` as a result of the last branch, which is ``value`` on its first side."""
    result = Var(test.name, test.type)
    sides = []
    for side, known in ((last.then, value), (last.orelse, not value)):
        constant = Const(known, BOOL)
        sides.append(_decided(replace(side, yields=(*(constant if y is test else y for y in side.yields), constant))))
    branch = replace(last, then=sides[0], orelse=sides[1], results=(*last.results, result))
    return Block(
        block.params,
        [*block.stmts[:-1], branch],
        tuple(result if y is test else y for y in block.yields),
        result if block.stop is test else block.stop,
    )
