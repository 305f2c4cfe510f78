"""Values that may be undefined: where `Undef` flows through loops and branches, and which statements read it.

    for i in range(n):              y = If(c, then: x * x, else: Undef)
        if c:                       r = add(r, y)       # reads it
            y = x * x
        r += y

A value is surely defined in a branch that is taken only where it is defined, and after a check that raises where it is not:
branch and check test the flag of the branch that defined it. A loop that surely has an iteration returns the values of its last
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from transpile.core import nodes as ir
from transpile.core.walk import blocks, dim_symbols, leaves, reads, statements
from transpile.ops.tables import record_of

Flag = tuple[ir.Operand, bool]  # a flag, and its value where the variable is defined


class Undefined:
    """The variables of a function that may be undefined. ``sources``: variable -> the operands of which its value is one."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.sources: dict[ir.Var, tuple[ir.Operand, ...]] = {}
        self.made: dict[ir.Var, ir.Let] = {}
        self.choices: dict[ir.Var, tuple[ir.If, int]] = {}
        for stmt in statements(fn.body):
            self._describe(stmt)
        self.maybe: set[ir.Var] = set()
        changed = True
        while changed:
            found = {v for v, ops in self.sources.items() if v not in self.maybe and any(map(self.is_nothing, ops))}
            self.maybe |= found
            changed = bool(found)

    def _describe(self, stmt: ir.Stmt) -> None:
        """Notes for a *let*, a branch or a loop where the values of its variables come from."""
        match stmt:
            case ir.Let():
                self.made[stmt.var] = stmt
            case ir.If():
                sides = [b.yields for b in (stmt.then, stmt.orelse) if not is_left(b)]
                for k, result in enumerate(stmt.results):
                    self.sources[result] = tuple(y[k] for y in sides)
                    self.choices[result] = stmt, k
            case ir.For() | ir.While():
                for k, (param, init, end) in enumerate(zip(stmt.body.params, stmt.inits, stmt.body.yields)):
                    self.sources[param] = (init, end)
                    if isinstance(stmt, ir.While):
                        self.sources[stmt.test.params[k]] = (init, end)
                    if k < len(stmt.results):
                        self.sources[stmt.results[k]] = (end,) if has_trip(stmt) else (init, end)

    def is_nothing(self, op: ir.Operand) -> bool:
        """Whether the operand may be undefined."""
        return isinstance(op, ir.Undef) or (isinstance(op, ir.Var) and op in self.maybe)

    def reads(self, is_asked: Callable[[ir.Stmt, ir.Var], bool] = lambda stmt, var: True) -> dict[ir.Var, ir.Stmt]:
        """The variables read where they may be undefined, including sizes, each with the first statement that reads it.
        ``is_asked(statement, variable)`` selects the reads; by default all count."""
        found: dict[ir.Var, ir.Stmt] = {}
        for stmt, op, known in self._reads(self.fn.body, frozenset()):
            if isinstance(op, ir.Var) and op in self.maybe and is_asked(stmt, op) and not self.is_defined(op, known):
                found.setdefault(op, stmt)
        return found

    def _reads(self, block: ir.Block, known: frozenset[Flag]) -> Iterator[tuple[ir.Stmt, ir.Operand, frozenset[Flag]]]:
        """Each operand that a statement of the block reads, sizes included, with the statement and the flags known there.
        Values that loops and branches pass on are not read."""
        for stmt in block.stmts:
            plain = (*reads(stmt), *(self.fn.symbols[s] for s in dim_symbols(stmt) if s in self.fn.symbols))
            if isinstance(stmt, (ir.For, ir.While)):
                plain = plain[: len(plain) - len(stmt.inits)]  # carried values are passed on, not read
            yield from ((stmt, op, known) for op in plain)
            if isinstance(stmt, ir.If):
                yes, no = self.flag(stmt.test, True), self.flag(stmt.test, False)
                yield from self._reads(stmt.then, known | {yes})
                yield from self._reads(stmt.orelse, known | {no})
                if is_left(stmt.then):
                    known |= {no}
                if is_left(stmt.orelse):
                    known |= {yes}
                continue
            for inner in blocks(stmt):
                yield from self._reads(inner, known)
                tested = leaves(inner) if isinstance(stmt, ir.While) and inner is stmt.test else (inner.stop,)
                yield from ((stmt, op, known) for op in tested if op is not None)

    def flag(self, op: ir.Operand, value: bool) -> Flag:
        """The flag under the negations of ``op``, and the value that it has where ``op`` has this ``value``."""
        while isinstance(op, ir.Var) and op in self.made and record_of(self.made[op]).is_negation:
            op, value = self.made[op].args[0], not value
        return op, value

    def is_defined(self, var: ir.Var, known: frozenset[Flag]) -> bool:
        """Whether the variable is surely defined where these flags are known."""
        if var not in self.maybe:
            return True
        if var not in self.choices:
            return False
        stmt, k = self.choices[var]
        for value, block in ((True, stmt.then), (False, stmt.orelse)):
            if self.flag(stmt.test, value) in known:
                op = block.yields[k]
                return not self.is_nothing(op) or (isinstance(op, ir.Var) and self.is_defined(op, known))
        return False


def is_left(block: ir.Block) -> bool:
    """Whether control never continues after the block: it raises on every path."""
    last = block.stmts[-1] if block.stmts else None
    if isinstance(last, ir.If):
        return is_left(last.then) and is_left(last.orelse)
    return isinstance(last, ir.Raise)


def has_trip(loop: ir.For | ir.While) -> bool:
    """Whether the loop surely has an iteration."""
    if isinstance(loop, ir.While):
        return False
    numbers = [o.value for o in (loop.start, loop.bound, loop.step) if isinstance(o, ir.Const)]
    return len(numbers) == 3 and len(range(*map(int, numbers))) > 0
