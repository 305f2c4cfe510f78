"""Liveness: the variables that are read later, at each point of a function. Sets are bit masks, since clients intersect them
often.

``stmt_reads`` says what a statement reads by itself, without nested blocks; ``block_reads`` what the end of a block reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, defines, leaves, reads, statements, written

Reads = Callable[[ir.Stmt], Iterable[ir.Operand]]
Ends = Callable[[ir.Block], Iterable[ir.Operand]]


class Numbers:
    """Numbers variables, so that a set of them is an integer."""

    def __init__(self, fn: ir.Function, reserved: int = 0) -> None:
        self.vars: list[ir.Var] = []
        self.of: dict[ir.Var, int] = {}
        self.reserved = reserved  # bits that stand for no variable
        for var in (*fn.params, *defined(fn.body)):
            self.number(var)

    def number(self, var: ir.Var) -> int:
        """The variable's number; a new variable gets the next one."""
        found = self.of.get(var)
        if found is None:
            found = self.of[var] = len(self.vars) + self.reserved
            self.vars.append(var)
        return found

    def bit(self, var: ir.Var) -> int:
        """The set of this variable alone, as a mask."""
        return 1 << self.number(var)

    def mask(self, operands: Iterable[ir.Operand]) -> int:
        """The set of the variables among the operands, as a mask; constants are skipped."""
        mask = 0
        for operand in operands:
            if isinstance(operand, ir.Var):
                mask |= 1 << self.number(operand)
        return mask

    def members(self, mask: int) -> Iterable[ir.Var]:
        """The variables in a mask, in order of their numbers."""
        mask >>= self.reserved
        while mask:
            low = mask & -mask
            yield self.vars[low.bit_length() - 1]
            mask ^= low


def stmt_reads(stmt: ir.Stmt) -> Iterable[ir.Operand]:
    """The operands that a statement reads by itself; the buffer that it writes counts as read."""
    root = written(stmt)
    return reads(stmt) if root is None else (*reads(stmt), root)


class Liveness:
    """``after[id(stmt)]``: the variables live after a statement. ``around[id(loop)]``: those live throughout a loop, including
    the carried values that are needed. ``entry[id(block)]``: those live where a block begins. All are masks of ``numbers``."""

    def __init__(
        self,
        fn: ir.Function,
        numbers: Numbers,
        stmt_reads: Reads = stmt_reads,
        block_reads: Ends = leaves,
    ) -> None:
        self.numbers, self.reads, self.ends = numbers, stmt_reads, block_reads
        self.after: dict[int, int] = {}
        self.around: dict[int, int] = {}
        self.entry: dict[int, int] = {}
        self._free: dict[int, int] = {}
        self.start = self.block(fn.body, 0)

    def block(self, block: ir.Block, out: int) -> int:
        """The variables live at the beginning of a block; ``out`` are those live after it, both as masks. Notes the live
        variables in ``entry`` and, after each statement, in ``after``."""
        live = out | self.numbers.mask(self.ends(block))
        for stmt in reversed(block.stmts):
            self.after[id(stmt)] = live
            live = self.stmt(stmt, live & ~self.numbers.mask(defines(stmt)))
        self.entry[id(block)] = live
        return live

    def stmt(self, stmt: ir.Stmt, live: int) -> int:
        """The variables live before a statement; ``live`` are those live after it, without its definitions, both as masks."""
        own = self.numbers.mask(self.reads(stmt))
        match stmt:
            case ir.If():
                return own | self.block(stmt.then, live) | self.block(stmt.orelse, live)
            case ir.For():
                return own | self.loop(stmt, live)
            case ir.While():
                return own | self.loop(stmt, live)
        return own | live

    def loop(self, stmt: ir.For | ir.While, live: int) -> int:
        """The variables live before a loop; ``live`` are those live after it, both as masks. Notes in ``around`` the variables
        live throughout the loop."""
        m = self.numbers
        around = live | self.free(stmt)
        read = 0
        for block in blocks(stmt):
            read |= self.read_in(block)
        needed = 0
        for k, param in enumerate(stmt.body.params):
            result = k < len(stmt.results) and self.after[id(stmt)] & m.bit(stmt.results[k])
            if result or read & m.bit(param):
                needed |= m.bit(param)
        self.around[id(stmt)] = around | needed
        if isinstance(stmt, ir.While):
            self.block(stmt.body, around)
            self.block(stmt.test, around | needed)
        else:
            self.block(stmt.body, around)
        return around

    def read_in(self, block: ir.Block) -> int:
        """The variables read in a block, including nested blocks, as a mask."""
        found = self.numbers.mask(self.ends(block))
        for stmt in statements(block):
            found |= self.numbers.mask(self.reads(stmt))
            for inner in blocks(stmt):
                found |= self.numbers.mask(self.ends(inner))
        return found

    def free(self, stmt: ir.For | ir.While) -> int:
        """The variables that a loop reads and does not define, as a mask; initial values and ends are left out unless its
        blocks read them."""
        if id(stmt) not in self._free:
            read = own = 0
            for block in blocks(stmt):
                read |= self.read_in(block)
                own |= self.numbers.mask(defined(block))
            if isinstance(stmt, ir.For):
                own |= self.numbers.bit(stmt.index)
            self._free[id(stmt)] = read & ~own
        return self._free[id(stmt)]
