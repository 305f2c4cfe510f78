"""Gathers additions that several nests make to one array at shifted subscripts: each element is written once instead of many
times.

    for i in range(n):                    for i in range(2, n):
        b[i] += x[i]                          b[i] += x[i] + x[i - 1] + x[i - 2]
    for i in range(n):
        b[i + 1] += x[i]        ->        b[0] += x[0]
    for i in range(n):                    ...
        b[i + 2] += x[i]

Nests like these, over boxes that overlap except for a border (`transpile.loops.boxes`), are the adjoint of a stencil. The same
elements are read and written as before (`transpile.loops.gathered_nest`). A nest that stores joins the others: the old values
of the core are then not read.

All nests move to the position of the last one, past statements that do not depend on them. Sums are added in another order, and
a stored sum of negative zeros may be positive zero; nothing else changes.
"""

from __future__ import annotations

from transpile.analysis.accesses import Roots, Touches
from transpile.analysis.affine import Forms
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks
from transpile.loops.boxes import Boxes, Nest
from transpile.loops.fission import Split
from transpile.loops.gathered_nest import Gathered, Side
from transpile.loops.recomputed_sources import Sources

FAR = 120  # statements between the first nest and the last one
REACH = 4  # largest distance between starts, or ends, of two boxes along a row
LARGE = 80  # statements of all nests


def scatter_to_gather(fn: ir.Function) -> ir.Function:
    """The function with nests that add to shifted elements of one array merged, so that each element is written once."""
    return with_body(fn, _Search(fn).block(fn.body))


class _Search:
    def __init__(self, fn: ir.Function) -> None:
        self.depth = 0  # number of loops around
        self.forms = Forms(fn.body)
        self.boxes = Boxes(fn, self.forms)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.sources = Sources(fn, self.boxes, self.touches)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with nests gathered, nested blocks first."""
        stmts = [new for s in block.stmts for new in self.ready(s)]
        at = 0
        while at < len(stmts):
            nests = self.nests(stmts, at)
            found = Gathered.of(nests, self.boxes)
            if found is not None:
                end = next(k for k, s in enumerate(stmts) if s is nests[-1].stmt)
                found.nests, moved = self.sources.seen_through(nests, stmts[: end + 1])
                if self.depth and len(found.axes) == 1 and self.sources.is_made_beside(found.nests, stmts[:end]):
                    found = None
            if found is None:
                at += 1
                continue
            gone = [n.stmt for n in nests] + moved
            before = [s for s in stmts[: end + 1] if not any(s is g for g in gone)]
            stmts = [*before, *found.stmts(), *moved, *stmts[end + 1 :]]
        return with_stmts(block, stmts)

    def ready(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """The statements that replace one: the nests it is split into, or itself with the nests inside it gathered."""
        if not blocks(stmt) or self.boxes.of(stmt) is not None:
            return [stmt]
        split = Split.of(stmt, self.boxes, self.touches)
        found = None if split is None else split.made(lambda nests: Gathered.of(nests, self.boxes) is not None)
        if found is None:
            self.depth += isinstance(stmt, (ir.For, ir.While))
            found = [with_blocks(stmt, self.block)]
            self.depth -= isinstance(stmt, (ir.For, ir.While))
        return found

    def nests(self, stmts: list[ir.Stmt], at: int) -> list[Nest]:
        """The nest at position ``at`` and later ones that can be gathered with it, if all may move to the position of the last
        one; empty if there is no nest."""
        first = self.boxes.of(stmts[at])
        if first is None or not self.is_open(first):
            return []
        found = [first]
        for stmt in stmts[at + 1 : at + FAR]:
            nest = self.boxes.of(stmt)
            if sum(len(n.lets) + 1 for n in found) > LARGE:
                break
            if nest is not None and self.is_open(nest) and self.goes_with(first, nest):
                found.append(nest)
            elif any(self.touches.ordered(n.stmt, stmt) for n in found) or reads_whole(stmt):
                break
        return found

    def is_open(self, nest: Nest) -> bool:
        """Whether a nest does not read the array that it writes."""
        return self.roots.of(nest.write.buf) not in self.touches.of(nest.stmt).read

    def goes_with(self, a: Nest, b: Nest) -> bool:
        """Whether two nests write the same array over boxes whose ends differ by constants, by at most `REACH` along a row, and
        the second does not read it."""
        if a.write.buf is not b.write.buf or set(a.axes) != set(b.axes):
            return False
        if any(a.shifts[k] != b.shifts[k] for k in range(len(a.shifts)) if k not in a.axes):
            return False
        if self.roots.of(a.write.buf) in self.touches.of(b.stmt).read:
            return False
        for axis in a.axes:
            for ends in ((a.low[axis], b.low[axis]), (a.high[axis], b.high[axis])):
                side = Side.of(ends, self.boxes)
                if side is None or (axis == max(a.axes) and abs(side.later[1]) > REACH):
                    return False
        return True


def reads_whole(stmt: ir.Stmt) -> bool:
    """Whether a statement is an allocation with an array among its operands, such as a copy."""
    return isinstance(stmt, ir.Alloc) and any(isinstance(a, ir.Var) and a.type.dims for a in stmt.args)
