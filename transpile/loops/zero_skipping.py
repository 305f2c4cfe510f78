"""Skips work that would only add zeros: a choice between a value and 0.0 becomes a branch around the loops that it scales.

    for j in range(n):                            for j in range(n):
        s = a if near[j] else 0.0                     if near[j]:
        for k in range(d):                ->              for k in range(d):
            x_bar[j, k] += s * y[j, k]                        x_bar[j, k] += a * y[j, k]

Adjoints of a minimum, of clipping and of a mask have this form. Everything that depends on the choice must be 0.0 where the
choice is, and must be added to elements. It must include a loop: if both sides are equally likely, a branch costs as much as
about ten products.

Where the choice is 0.0 the other factors are not evaluated: an infinity or NaN among them adds nothing, whereas 0.0 * NaN would
make the sum NaN. As everywhere in `where`, the side not taken does not count. A sum that is -0.0 may stay so.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import Roots, Touches, is_pure
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL
from transpile.core.walk import blocks, defines, leaves, map_operands, statements
from transpile.loops.choices import Test, choices, is_guard
from transpile.loops.loop_shape import known_trips
from transpile.ops.tables import record_of

FEW = 16  # iterations that cost less than a mispredicted branch


def skip_zeros(fn: ir.Function) -> ir.Function:
    """The function with choices between a value and 0.0 as branches around the loops that they scale."""
    if not any(isinstance(s, ir.For) and _may_gain(s.body) for s in statements(fn.body)):
        return fn
    return with_body(fn, _Zeros(fn).block(fn.body, False))


def _may_gain(body: ir.Block) -> bool:
    """Whether a block has a choice, and a loop that skipping may save."""
    return bool(choices(body)) and any(map(is_long, body.stmts))


def is_long(stmt: ir.Stmt) -> bool:
    """Whether a statement is or contains a loop that may have more than `FEW` iterations."""
    trips = [known_trips(s) for s in statements(ir.Block((), [stmt])) if isinstance(s, ir.For)]
    return any(n is None or n > FEW for n in trips)


class _Zeros:
    def __init__(self, fn: ir.Function) -> None:
        self.touches = Touches(Roots(fn))

    def block(self, block: ir.Block, is_body: bool) -> ir.Block:
        """The block with choices as branches, innermost blocks first; only bodies of ``for`` loops (``is_body``) are changed
        themselves."""
        block = with_stmts(block, [self.inside(s) if blocks(s) else s for s in block.stmts])
        tried: set[tuple[Test, ...]] = set()
        while is_body and _may_gain(block):
            found = [c for c in choices(block) if c.tests not in tried]
            if not found:
                break
            tests = found[0].tests
            tried.add(tests)
            if not is_guard(found[0], block):
                values = {c.var: c.value for c in found if c.tests == tests}
                block = _Region(self.touches, block, values).branched(tests) or block
        return block

    def inside(self, stmt: ir.Stmt) -> ir.Stmt:
        return with_blocks(stmt, lambda b: self.block(b, isinstance(stmt, ir.For)))


class _Region:
    """The statements of a block that depend on choices with the same tests. ``values``: the chosen values; ``zeros``: operands
    that are 0.0 where the choices are."""

    def __init__(self, touches: Touches, block: ir.Block, values: dict[ir.Var, ir.Operand]) -> None:
        self.touches, self.old, self.values = touches, block, values
        self.zeros: set[ir.Operand] = set(values)

    def branched(self, tests: tuple[Test, ...]) -> ir.Block | None:
        """The block with the statements that only add zeros in a branch on whether one of ``tests`` has its truth value; None
        if that saves too little or is not legal."""
        stmts = self.old.stmts
        moved = self.closed([s for s in stmts if self.zeros & self.touches.of(s).uses and self.adds_zeros(s)])
        if not any(map(is_long, moved)):
            return None
        at = next(k for k, s in enumerate(stmts) if s is moved[-1])
        if not self.may_pass(stmts[:at], moved):
            return None
        before, moved = self.parted(stmts[: at + 1], moved, stmts[at + 1 :], {test for test, _ in tests})
        inner = [map_operands(s, self.operand) for s in moved]
        loc = inner[-1].loc
        either, test = _any(tests, loc)
        branch = ir.If(test, ir.Block((), inner), ir.Block(), (), loc)
        return replace(self.old, stmts=[*before, *either, branch, *stmts[at + 1 :]])

    def operand(self, op: ir.Operand) -> ir.Operand:
        """The value in place of the choice ``op``; other operands as they are."""
        while isinstance(op, ir.Var) and self.values.get(op, op) is not op:
            op = self.values[op]
        return op

    # ---- what may move

    def is_choice(self, stmt: ir.Stmt) -> bool:
        """Whether a statement is a ``where`` that makes a choice, which is replaced by its value."""
        return isinstance(stmt, ir.Let) and self.values.get(stmt.var, stmt.var) is not stmt.var

    def closed(self, moved: list[ir.Stmt]) -> list[ir.Stmt]:
        """The statements of ``moved`` without choices, and without those whose results other statements or the end of the block
        read."""
        moved = [s for s in moved if not self.is_choice(s)]
        while True:
            others = [s for s in self.old.stmts if not any(s is m for m in moved)]
            needed = set(leaves(self.old)).union(*(self.touches.of(s).uses for s in others))
            left = [s for s in moved if not any(v in needed for v in defines(s))]
            if len(left) == len(moved):
                return moved
            moved = left

    def may_pass(self, stmts: list[ir.Stmt], moved: list[ir.Stmt]) -> bool:
        """Whether those of ``stmts`` that are in ``moved`` may run after all the others."""
        passed: list[ir.Stmt] = []
        for stmt in stmts:
            if any(stmt is m for m in moved):
                passed.append(stmt)
            elif any(self.touches.ordered(m, stmt) for m in passed):
                return False
        return True

    def parted(
        self, stmts: list[ir.Stmt], moved: list[ir.Stmt], after: list[ir.Stmt], tests: set[ir.Var]
    ) -> tuple[list[ir.Stmt], list[ir.Stmt]]:
        """A pair: the statements that stay before the branch, and those that move into it, which are ``moved`` and statements
        whose values only these read. ``after``: the statements after the branch; ``tests``: the variables that it tests."""
        used: set[ir.Operand] = {*tests, *leaves(self.old)}.union(*(self.touches.of(s).uses for s in after))
        inside: set[ir.Operand] = set(self.values.values())
        within: list[ir.Stmt] = []
        before: list[ir.Stmt] = []
        for stmt in reversed(stmts):
            touch = self.touches.of(stmt)
            if any(stmt is m for m in moved) or self.is_source(stmt, inside, used, before):
                inside |= touch.uses
                within.append(stmt)
            elif not self.is_choice(stmt) or any(v in used for v in defines(stmt)):
                used |= touch.uses
                before.append(stmt)
        return before[::-1], within[::-1]

    def is_source(self, stmt: ir.Stmt, inside: set[ir.Operand], used: set[ir.Operand], later: list[ir.Stmt]) -> bool:
        """Whether a pure statement defines values that are used ``inside`` and not in ``used``, and may run after the ``later``
        statements."""
        touch = self.touches.of(stmt)
        if not isinstance(stmt, (ir.Let, ir.For)) or touch.raises or touch.acts or touch.written or touch.added:
            return False
        if self.is_choice(stmt) or not any(v in inside for v in defines(stmt)) or any(v in used for v in defines(stmt)):
            return False
        return not any(self.touches.ordered(stmt, s) for s in later)

    # ---- zeros

    def adds_zeros(self, stmt: ir.Stmt) -> bool:
        """Whether a statement does nothing where the choice is 0.0; adds variables that are 0.0 then to ``zeros``."""
        match stmt:
            case ir.Let():
                return self.let(stmt)
            case ir.Add():
                return stmt.value in self.zeros and not self.zeros & set(stmt.args)
            case ir.For():
                return self.loop(stmt)
            case ir.If():
                return stmt.test not in self.zeros and not stmt.results and all(map(self.body, blocks(stmt)))
        return False

    def let(self, let: ir.Let) -> bool:
        """The part of `adds_zeros` for a *let*: True if no operand is in ``zeros`` and it cannot raise, or if its value is 0.0
        where the choice is; in this case its variable is added to ``zeros``."""
        given = [a in self.zeros for a in let.args]
        if not any(given):
            return is_pure(let)
        nothing = [g or ir.is_literal(a, 0.0) for g, a in zip(given, let.args)]
        if let.prim == "where":
            is_zero = not given[0] and all(nothing[1:])
        else:
            record = record_of(let)
            is_zero = any(given[k] for k in record.vanishes) or bool(record.signs) and all(nothing)
        if not is_zero or not let.var.type.is_float or let.var.type.dims:
            return False
        self.zeros.add(let.var)
        return True

    def loop(self, loop: ir.For) -> bool:
        """The part of `adds_zeros` for a loop: True if its body only adds zeros, and carried sums that start at 0.0 stay so;
        their params and results are added to ``zeros``."""
        if loop.body.stop is not None or loop.trips is not None or self.zeros & {loop.start, loop.bound, loop.step}:
            return False
        kept = [init in self.zeros or ir.is_literal(init, 0.0) for init in loop.inits]
        self.zeros.update(p for p, k in zip(loop.body.params, kept) if k)
        if not self.body(loop.body) or any(k != (y in self.zeros) for k, y in zip(kept, loop.body.yields)):
            return False
        self.zeros.update(r for r, k in zip(loop.results, kept) if k)
        return True

    def body(self, block: ir.Block) -> bool:
        return all(map(self.adds_zeros, block.stmts))


def _any(tests: tuple[Test, ...], loc: ir.Loc) -> tuple[list[ir.Stmt], ir.Var]:
    """A pair of the statements that test whether any of the tests has its truth value, and the variable with the answer."""
    stmts: list[ir.Stmt] = []

    def let(prim: str, *args: ir.Operand) -> ir.Var:
        stmts.append(ir.Let(var := ir.Var(ir.SYNTHETIC, BOOL), prim, args, {}, loc))
        return var

    first, *others = (test if taken else let("logical_not", test) for test, taken in tests)
    for other in others:
        first = let("logical_or", first, other)
    return stmts, first
