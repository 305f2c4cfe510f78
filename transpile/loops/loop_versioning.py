"""A second version, without overflow checks, of loops in which integers may overflow, taken if bounds show beforehand that none
does.

    for i in range(n):                          if n * (n * n) < 2 ** 62:       # in floating point
        check not overflows_mul(i, i)               for i in range(n):
        t = i * i                       ->              s = s + i * i
        check not overflows_add(s, t)           else:
        s = s + t                                   the loop as it was

The bound of each integer is computed at run time from the ends of the loops, the carried values and the trip counts. Without a
check the loop can be vectorised or replaced by a closed formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.analysis.undefined import is_left
from transpile.analysis.value_ranges import LONGEST
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, FLOAT
from transpile.core.walk import Cloner, blocks, defined, statements
from transpile.ops.tables import record_of
from transpile.ops.traits import EQUAL

SAFE = 2.0**62  # the gap to 2 ** 63 is far larger than rounding errors
MOST = 150  # statements of a loop that is duplicated
DEPTH = 40
Change = tuple["ir.Operand | None", "tuple[ir.Operand, ...] | None"]  # bound on the increment; bounds on other values


def version_loops(fn: ir.Function) -> ir.Function:
    """The function with a second version, without overflow checks, of loops whose integers can be bounded at run time."""
    if not any(isinstance(s, ir.Check) for s in statements(fn.body)):
        return fn
    lets = {s.var: s for s in statements(fn.body) if isinstance(s, ir.Let)}
    return with_body(fn, _block(fn.body, lets))


def _block(block: ir.Block, lets: dict[ir.Var, ir.Let]) -> ir.Block:
    """The block with a second version of loops whose checks can be decided beforehand; ``lets``: the definitions in the
    function."""
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        found = _versions(stmt, lets) if isinstance(stmt, ir.For) else None
        if found is None:
            stmts.append(with_blocks(stmt, lambda b: _block(b, lets)) if blocks(stmt) else stmt)
        else:
            stmts += found
    return with_stmts(block, stmts)


def _versions(loop: ir.For, lets: dict[ir.Var, ir.Let]) -> list[ir.Stmt] | None:
    """The statements that replace a loop: its bounds and a branch between both versions, or the loop without checks if they
    surely pass. None if no check can be dropped."""
    inner = list(statements(loop.body))
    questions = [s for s in inner if isinstance(s, ir.Check)]
    if not questions or len(inner) > MOST or any(r.type.dims or r.type.kind != "array" for r in loop.results):
        return None
    bounds = Bounds(loop, lets)
    answered: list[int] = []
    safe: ir.Operand | None = None
    for question in questions:
        found = bounds.of_question(question.test)
        if found is not None:
            answered.append(id(question))
            safe = found if safe is None else bounds.all_of(safe, found)
    if safe is None:
        return None
    if isinstance(safe, ir.Const):
        return [_asking_less(loop, answered)] if safe.value else None
    results = (*loop.results, *([loop.trips] if loop.trips is not None else []))
    quick = Cloner().stmt(_asking_less(loop, answered))
    assert isinstance(quick, ir.For)
    twins = tuple(ir.Var(r.name, r.type) for r in loop.results)
    trips = None if loop.trips is None else ir.Var(loop.trips.name, loop.trips.type)
    slow = replace(loop, results=twins, trips=trips)
    then = ir.Block((), [quick], (*quick.results, *([quick.trips] if quick.trips is not None else [])))
    orelse = ir.Block((), [slow], (*twins, *([trips] if trips is not None else [])))
    return [*bounds.made, ir.If(safe, then, orelse, results, loop.loc)]


def _asking_less(loop: ir.For, answered: Sequence[int]) -> ir.For:
    """The loop without the checks whose ids are in ``answered``."""

    def block(old: ir.Block) -> ir.Block:
        return with_stmts(old, [with_blocks(s, block) if blocks(s) else s for s in old.stmts if id(s) not in answered])

    return replace(loop, body=block(loop.body))


class Bounds:
    """Bounds on the magnitude of integers in all iterations of a loop, as floats computed before it."""

    def __init__(self, loop: ir.For, lets: dict[ir.Var, ir.Let]) -> None:
        self.lets = lets
        self.made: list[ir.Stmt] = []
        self.loc = loop.loc
        self.own = {loop.index, *defined(loop.body)}
        self.known: dict[ir.Operand, ir.Operand | None] = {}
        self.indices: dict[ir.Var, ir.For] = {}
        self.params: dict[ir.Var, tuple[ir.For, int]] = {}
        self.results: dict[ir.Var, tuple[ir.If | ir.For, int]] = {}
        for stmt in (loop, *statements(loop.body)):
            if isinstance(stmt, ir.For):
                self.indices[stmt.index] = stmt
                self.params.update((p, (stmt, k)) for k, p in enumerate(stmt.body.params))
            if isinstance(stmt, (ir.If, ir.For)):
                self.results.update((r, (stmt, k)) for k, r in enumerate(stmt.results))

    def let(self, prim: str, a: ir.Operand, b: ir.Operand, type_: object = FLOAT) -> ir.Operand:
        """An operand with the value ``prim(a, b)``, a float, or with ``type_`` a boolean: a constant or ``b`` if that is known
        now, else a variable whose *let* is appended to ``made``."""
        record = record_of(prim)
        if type_ is FLOAT and record.integers is not None and isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(record.integers(a.value, b.value), FLOAT)
        if record.signs == (1, 1) and ir.is_literal(a, 0):
            return b
        var = ir.Var(ir.SYNTHETIC, FLOAT if type_ is FLOAT else BOOL)
        self.made.append(ir.Let(var, prim, (a, b), {}, self.loc))
        return var

    def both(self, prim: str, a: ir.Operand | None, b: ir.Operand | None) -> ir.Operand | None:
        """The bound that `let` computes from two bounds; None if one of them is None (unknown)."""
        return None if a is None or b is None else self.let(prim, a, b)

    # ---- tests

    def of_question(self, test: ir.Operand) -> ir.Operand | None:
        """A condition before the loop, as an operand, that implies that ``test`` (an overflow) is false in all iterations; a
        constant if that is decided, None if none is found."""
        let = self.lets.get(test) if isinstance(test, ir.Var) else None
        if let is None:
            return None
        record = record_of(let)
        if record.is_conjunction:
            found = [self.of_question(a) for a in let.args]
            return next((f for f in found if f is not None), None)
        bound: ir.Operand | None = None
        asked = record_of(record.asks)
        if asked.is_polynomial and asked.magnitude is not None:
            bound = self.both(asked.magnitude.joined, *(self.of(a) for a in let.args))
        elif record.relation is EQUAL and isinstance(let.args[1], ir.Const) and let.args[1].value == -(2**63):
            bound = self.of(let.args[0])
        if isinstance(bound, ir.Const):
            return ir.Const(bound.value < SAFE, BOOL)
        return None if bound is None else self.let("less", bound, ir.Const(SAFE, FLOAT), BOOL)

    def all_of(self, a: ir.Operand, b: ir.Operand) -> ir.Operand:
        """The conjunction of two conditions, computed before the loop unless one is constant."""
        if isinstance(a, ir.Const) or isinstance(b, ir.Const):
            known, other = (a, b) if isinstance(a, ir.Const) else (b, a)
            return other if known.value else known  # type: ignore[union-attr]
        return self.let("logical_and", a, b, BOOL)

    # ---- bounds

    def of(self, op: ir.Operand, depth: int = DEPTH) -> ir.Operand | None:
        """An operand computed before the loop that is at least the magnitude of the integer ``op`` in all iterations; None if
        unknown."""
        if op not in self.known:
            self.known[op] = None  # in case the value depends on itself other than through sums
            self.known[op] = self.find(op, depth) if depth else None
        return self.known[op]

    def find(self, op: ir.Operand, depth: int) -> ir.Operand | None:
        """The bound that `of` returns, computed; ``depth`` limits how many definitions are followed."""
        if isinstance(op, ir.Const):
            return ir.Const(float(abs(op.value)), FLOAT)
        if not isinstance(op, ir.Var) or op.type.dims or op.type.kind != "array":
            return None
        if op.type.is_bool:
            return ir.Const(1.0, FLOAT)
        if not op.type.is_int:
            return None
        if op not in self.own:
            return self.outside(op)
        if op in self.indices:
            loop = self.indices[op]
            return self.both("add", self.of(loop.start, depth - 1), self.of(loop.bound, depth - 1))
        if op in self.params:
            return self.carried(*self.params[op], depth - 1)
        if op in self.results:
            stmt, k = self.results[op]
            if isinstance(stmt, ir.For):
                return self.carried(stmt, k, depth - 1)
            sides = [self.of(b.yields[k], depth - 1) for b in (stmt.then, stmt.orelse) if not is_left(b)]
            return sides[0] if len(sides) == 1 else self.both("maximum", *sides) if sides else None
        let = self.lets.get(op)
        if let is None or let.prim == "index":
            return _by_dtype(op)
        return self.made_by(let, depth - 1)

    def made_by(self, let: ir.Let, depth: int) -> ir.Operand | None:
        """The bound on the result of a *let* that the record of its primitive gives; None if it gives none."""
        if let.prim == "dim":
            return ir.Const(float(LONGEST), FLOAT)
        magnitude = record_of(let).magnitude
        if magnitude is None:
            return None
        if magnitude.joined:
            return self.both(magnitude.joined, *(self.of(a, depth) for a in let.args[magnitude.first :]))
        if let.var.type.dtype != "int64" and not magnitude.first:
            return _by_dtype(let.var)
        return self.of(let.args[magnitude.first], depth)

    def outside(self, op: ir.Var) -> ir.Operand | None:
        """The magnitude of a value from outside the loop, computed by statements that are appended to ``made``."""
        cast = ir.Var(ir.SYNTHETIC, FLOAT)
        self.made.append(ir.Let(cast, "cast", (op,), {"dtype": "float64", "weak": True}, self.loc))
        size = ir.Var(ir.SYNTHETIC, FLOAT)
        self.made.append(ir.Let(size, "absolute", (cast,), {}, self.loc))
        return size

    def trips(self, loop: ir.For, depth: int) -> ir.Operand | None:
        """An operand that is at least the trip count: the bounds on the magnitudes of both ends added; None if one is
        unknown."""
        return self.both("add", self.of(loop.start, depth), self.of(loop.bound, depth))

    def carried(self, loop: ir.For, k: int, depth: int) -> ir.Operand | None:
        """Bound on the carried value number ``k`` of a loop, to which each iteration adds; None if it is unknown, or if
        ``depth`` operations do not suffice to find it."""
        if depth <= 0:
            return None
        init, trips = self.of(loop.inits[k], depth - 1), self.trips(loop, depth - 1)
        each, others = self.change(loop.body.yields[k], loop.body.params[k], depth - 1)
        if others is None:
            return None
        for other in others:
            init = self.both("add", init, other)
        return init if each is None else self.both("add", init, self.both("mul", trips, each))

    def change(self, op: ir.Operand, param: ir.Var, depth: int) -> Change:
        """A pair: a bound on the amount by which ``op`` differs from the carried value ``param`` (None: nothing is added), and
        bounds on values that ``op`` may have instead. The latter is None if nothing is known."""
        if op is param:
            return None, ()
        let = self.lets.get(op) if isinstance(op, ir.Var) else None
        if depth and let is not None and record_of(let).is_sum and let.var in self.own:
            for one, other in (let.args, let.args[::-1]):
                if self.leads(one, param):
                    each, others = self.change(one, param, depth - 1)
                    by = self.of(other, depth - 1)
                    if others == () and by is not None:
                        return (by if each is None else self.let("add", each, by)), ()
                    return None, None
        if depth and let is not None and _is_no_larger(let) and self.leads(let.args[0], param):
            return self.change(let.args[0], param, depth - 1)
        stmt, k = self.results.get(op, (None, 0)) if isinstance(op, ir.Var) else (None, 0)
        if depth and (isinstance(stmt, ir.If) or (let is not None and let.prim == "where")):
            if isinstance(stmt, ir.If):
                sides: Sequence[ir.Operand] = [b.yields[k] for b in (stmt.then, stmt.orelse) if not is_left(b)]
            else:
                sides = let.args[1:] if let is not None else ()
            return self.either([self.change(s, param, depth - 1) for s in sides])
        if depth and isinstance(stmt, ir.For) and self.leads(stmt.inits[k], param):
            first, others = self.change(stmt.inits[k], param, depth - 1)
            each, more = self.change(stmt.body.yields[k], stmt.body.params[k], depth - 1)
            trips = self.trips(stmt, depth - 1)
            if others != () or more != () or trips is None:
                return None, None
            total = None if each is None else self.let("mul", trips, each)
            return (total if first is None else first if total is None else self.let("add", first, total)), ()
        found = self.of(op, depth - 1) if depth else None
        return (None, None) if found is None else (None, (found,))

    def either(self, changes: Sequence[Change]) -> Change:
        """The change that covers all of several cases; ``(None, None)`` if one is unknown."""
        each: ir.Operand | None = None
        others: tuple[ir.Operand, ...] = ()
        for by, more in changes:
            if more is None:
                return None, None
            others += more
            if by is not None:
                each = by if each is None else self.let("maximum", each, by)
        return each, others

    def leads(self, op: ir.Operand, param: ir.Var, depth: int = DEPTH) -> bool:
        """Whether ``op`` may be the carried value ``param``, or a sum with it, through branches and inner loops."""
        if op is param:
            return True
        if not depth or not isinstance(op, ir.Var) or op not in self.own:
            return False
        let = self.lets.get(op)
        if let is not None:
            args = let.args[1:] if let.prim == "where" else let.args if record_of(let).is_sum else ()
            return any(self.leads(a, param, depth - 1) for a in args)
        stmt, k = self.results.get(op, (None, 0))
        if isinstance(stmt, ir.If):
            return any(self.leads(b.yields[k], param, depth - 1) for b in (stmt.then, stmt.orelse))
        return isinstance(stmt, ir.For) and self.leads(stmt.inits[k], param, depth - 1)


def _is_no_larger(let: ir.Let) -> bool:
    """Whether the magnitude of the result is at most that of the first operand, as for a quotient."""
    magnitude = record_of(let).magnitude
    return magnitude is not None and not magnitude.joined and not magnitude.first


def _by_dtype(op: ir.Var) -> ir.Operand | None:
    """Bound on the magnitude of integers of at most 32 bits, as a constant; None for other dtypes."""
    bits = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32}.get(op.type.dtype)
    return None if bits is None else ir.Const(2.0**bits, FLOAT)
