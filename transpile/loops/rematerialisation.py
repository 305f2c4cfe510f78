"""What is cheap is computed again where a branch reads it, rather than stored in all trips.

    for j in range(n):                            for j in range(n):
        for k in range(d):                            for k in range(d):
            t = x[k] - c[j, k]                            t = x[k] - c[j, k]
            y[j, k] = t                   ->              s[j] += t * t
            s[j] += t * t                         for j in range(n):
    for j in range(n):                                if near[j]:
        if near[j]:                                       for k in range(d):
            for k in range(d):                                x_bar[k] += x[k] - c[j, k]
                x_bar[k] += y[j, k]

An array is not needed if all that read it stand in branches, in loops over the ranges of those that have written it, and can have
the element from what it was computed from: by one or two operations, of elements that nothing writes in between.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import Roots, Touches, is_pure
from transpile.analysis.affine import Forms, form_of
from transpile.analysis.value_ranges import is_integer
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, leaves, reads
from transpile.loops.fusion import same
from transpile.ops.tables import record_of

MOST = 2  # operations
READS = 3  # elements

Path = tuple[tuple[ir.Block, int], ...]
"""The blocks in which a statement stands, from the outermost, each with the number of the statement in it."""


def compute_again(fn: ir.Function) -> ir.Function:
    """The function in which nothing reads such arrays; what only writes them is left."""
    uses = _Search(fn).candidates()
    return with_body(fn, _replaced(fn.body, _Again(fn).instead(uses))) if uses else fn


def _replaced(block: ir.Block, new: dict[int, list[ir.Stmt]]) -> ir.Block:
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        inner = with_blocks(stmt, lambda b: _replaced(b, new)) if blocks(stmt) else stmt
        stmts += new.get(id(stmt), [inner])
    return with_stmts(block, stmts)


@dataclass(slots=True)
class _Use:
    """Of an array: what writes elements of it and what reads them, each with where it stands."""

    writes: list[tuple[ir.Store | ir.Add, Path]] = field(default_factory=list)
    reads: list[tuple[ir.Let, Path]] = field(default_factory=list)
    is_plain: bool = True  # nothing else is done with it

    def is_candidate(self) -> bool:
        """Whether elements are written, and read in branches only."""
        return self.is_plain and bool(self.writes) and bool(self.reads) and all(_has_branch(p) for _, p in self.reads)


def _has_branch(path: Path) -> bool:
    return any(isinstance(block.stmts[k], ir.If) for block, k in path[:-1])


def shared(one: Path, other: Path) -> int:
    """In how many blocks both stand."""
    return sum(a is b for (a, _), (b, _) in zip(one, other))


class _Search:
    """How the arrays that a function makes are used."""

    def __init__(self, fn: ir.Function) -> None:
        self.uses: dict[ir.Operand, _Use] = {}
        self._visit(fn.body, ())

    def candidates(self) -> list[_Use]:
        return [u for u in self.uses.values() if u.is_candidate()]

    def _visit(self, block: ir.Block, around: Path) -> None:
        for k, stmt in enumerate(block.stmts):
            path = (*around, (block, k))
            rest = reads(stmt)
            match stmt:
                case ir.Alloc(prim="empty"):
                    self.uses[stmt.var] = _Use()
                case ir.Let(prim="index") if stmt.args[0] in self.uses:
                    self.uses[stmt.args[0]].reads.append((stmt, path))
                    rest = stmt.args[1:]
                case ir.Store() | ir.Add() if stmt.buf in self.uses:
                    self.uses[stmt.buf].writes.append((stmt, path))
            self._note(rest)
            for inner in blocks(stmt):
                self._visit(inner, path)
        self._note(leaves(block))

    def _note(self, ops: tuple[ir.Operand, ...]) -> None:
        for op in ops:
            if op in self.uses:
                self.uses[op].is_plain = False


class _Again:
    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.touches = Touches(Roots(fn))

    def instead(self, uses: list[_Use]) -> dict[int, list[ir.Stmt]]:
        """What stands for the reads of arrays, by their numbers."""
        found: dict[int, list[ir.Stmt]] = {}
        for use in uses:
            made = [(let, self.again(use, let, path)) for let, path in use.reads]
            if all(stmts for _, stmts in made):
                found.update((id(let), stmts) for let, stmts in made)
        return found

    def again(self, use: _Use, let: ir.Let, at: Path) -> list[ir.Stmt]:
        """The statements that compute what a read finds; none if that cannot be, or costs more."""
        for store, path in use.writes:
            if isinstance(store, ir.Store) and _has_branch(at[shared(path, at) - 1 :]):
                stmts = self.copied(use, store, path, let, at)
                if stmts:
                    return stmts
        return []

    def copied(self, use: _Use, store: ir.Store, path: Path, let: ir.Let, at: Path) -> list[ir.Stmt]:
        """The same, if the read finds what this statement has written."""
        depth = shared(path, at)
        block, first = path[depth - 1]
        last = at[depth - 1][1]
        loops = [s for b, k in path[depth - 1 : -1] if isinstance(s := b.stmts[k], ir.For) and s.body.stop is None]
        if first >= last or not loops or len(loops) != len(path) - depth:
            return []
        for other, where in use.writes:
            if other is not store and shared(where, at) >= depth and first <= where[depth - 1][1] <= last:
                return []
        made = self.touches.of(block.stmts[first]).defs
        around = [s for b, k in at if isinstance(s := b.stmts[k], ir.For)]
        indices = self.indices(store, loops, let, around, made)
        if indices is None:
            return []
        changed = set[ir.Var]().union(*(self.touches.changed(s) for s in block.stmts[first : last + 1]))
        return _Copy(self, indices, changed, made).of(store.value, let)

    def indices(
        self, store: ir.Store, loops: list[ir.For], let: ir.Let, around: list[ir.For], made: set[ir.Var]
    ) -> dict[ir.Operand, ir.Operand] | None:
        """For the indices of the loops in which an element is written, those of the loops in which it is read; None if that element
        may be another one, or not have been written in these loops. ``made``: what is not known outside of the former."""
        found: dict[ir.Operand, ir.Operand] = {}
        for mine, other in zip(store.args, let.args[1:]):
            one = next((s for s in loops if mine is s.index), None)
            form = self.forms.of(other)
            if one is None:
                if self.forms.of(mine) != form or form.atoms & made:
                    return None
                continue
            two = next((s for s in around if form == form_of(s.index)), None)
            if two is None or one.index in found or not is_one_range(one, two, made):
                return None
            found[one.index] = two.index
        return found if len(found) == len(loops) else None


def is_one_range(a: ir.For, b: ir.For, made: set[ir.Var]) -> bool:
    """Whether both run over the same indices, which do not depend on what is ``made``."""
    ends = ((a.start, b.start), (a.bound, b.bound), (a.step, b.step))
    return all(same(x, y) and x not in made for x, y in ends)


class _Copy:
    """One value computed at another place. ``indices``: what stands there for indices; ``made``: what else is not known there;
    ``changed``: the roots of what may hold something else there."""

    def __init__(
        self, around: _Again, indices: dict[ir.Operand, ir.Operand], changed: set[ir.Var], made: set[ir.Var]
    ) -> None:
        self.lets, self.roots = around.forms.lets, around.touches.roots
        self.changed, self.made = changed, made
        self.new = indices
        self.stmts: list[ir.Let] = []
        self.counts: Counter[str] = Counter()

    def of(self, value: ir.Operand, let: ir.Let) -> list[ir.Stmt]:
        """The statements, of which the last one defines what the read did."""
        found = self.lets.get(value) if isinstance(value, ir.Var) else None
        if found is None or value not in self.made or found.var.type.dtype != let.var.type.dtype:
            return []
        if not self.copied(found) or self.counts["index"] > READS or self.counts["value"] > MOST:
            return []
        *others, last = self.stmts
        return [*others, replace(last, var=let.var)]

    def copied(self, let: ir.Let) -> bool:
        """Whether a value can be computed there; the statements that do so are then among the others."""
        if not self.is_cheap(let) or not all(map(self.is_there, let.args)):
            return False
        new = ir.Var(let.var.name, let.var.type, form=let.var.form)
        self.stmts.append(replace(let, var=new, args=tuple(self.new.get(a, a) for a in let.args)))
        self.new[let.var] = new
        return True

    def is_there(self, op: ir.Operand) -> bool:
        if not isinstance(op, ir.Var) or op not in self.made or op in self.new:
            return True
        let = self.lets.get(op)
        return let is not None and self.copied(let)

    def is_cheap(self, let: ir.Let) -> bool:
        if let.prim == "index":
            self.counts["index"] += 1
            return isinstance(let.args[0], ir.Var) and self.roots.of(let.args[0]) not in self.changed
        if is_integer(let.var):
            return is_pure(let) and record_of(let).is_polynomial
        self.counts["value"] += 1
        return record_of(let).is_polynomial and let.var.type.is_float and not let.var.type.dims
