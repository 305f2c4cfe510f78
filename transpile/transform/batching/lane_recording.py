"""Recordings of one lane do not wait for other lanes: they are recorded again next to the loop that reads them.

stack: push, push, ...                     ...
s = psum(y)                        ->      s = psum(y)
pop, pop, ...                              the same loop again, for its pushes; pop, pop, ...

A stack belongs to one lane, so the region that fills it also empties it; a collective between the two would have to stand
inside that region.
"""

from __future__ import annotations

from collections.abc import Iterator

from transpile.analysis.called import may_act
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import Cloner, blocks, defined, defines, reads, statements, written
from transpile.simplify.dead_code import remove_dead
from transpile.transform.batching.named_axis import Axis


def recording_later(fn: ir.Function, axis: Axis) -> ir.Function | None:
    """The function in which the first statement that fills stacks, with a collective between it and what empties them, runs
    once more after the collective, for its pushes; the first run loses them. None if there is no such statement."""
    stmts = fn.body.stmts
    for k, stmt in enumerate(stmts):
        made = {s.var: s for s in stmts[:k] if isinstance(s, ir.NewStack)}
        stacks = [s for s in made if _touches(stmt, ir.Push, s) and _is_only(stmts, k, s)]
        if not stacks or not _may_run_again(stmt, stacks, stmts[k + 1 :]):
            continue
        first = min(j for s in stacks for j in range(k + 1, len(stmts)) if _touches(stmts[j], ir.Pop, s))
        if not any(axis.is_in(s) for s in stmts[k + 1 : first]):
            continue
        again = Cloner()
        with_stacks = [again.stmt(ir.NewStack(s, reason=made[s].reason)) for s in stacks]
        mapping = {s: again.mapping[s] for s in stacks}
        emptied = _Renamed(mapping)
        new = [
            *stmts[:k],
            _without_pushes(stmt, set(stacks)),
            *stmts[k + 1 : first],
            *with_stacks,
            again.stmt(stmt),
            *(emptied.of(s) for s in stmts[first:]),
        ]
        return remove_dead(with_body(fn, with_stmts(fn.body, new)))
    return None


def _inside(stmt: ir.Stmt) -> Iterator[ir.Stmt]:
    """The statement and all statements nested in it."""
    yield stmt
    for block in blocks(stmt):
        yield from statements(block)


def _touches(stmt: ir.Stmt, kind: type, stack: ir.Var) -> bool:
    """Whether the statement, or a nested one, is of the class ``kind``, `Push` or `Pop`, on this stack."""
    return any(isinstance(s, (ir.Push, ir.Pop)) and isinstance(s, kind) and s.stack is stack for s in _inside(stmt))


def _is_only(stmts: list[ir.Stmt], k: int, stack: ir.Var) -> bool:
    """Whether, among ``stmts``, the stack is filled by statement ``k`` alone, and emptied only after it."""
    others = [j for j, s in enumerate(stmts) if j != k and _touches(s, ir.Push, stack)]
    pops = [j for j, s in enumerate(stmts) if _touches(s, ir.Pop, stack)]
    return not others and bool(pops) and min(pops) > k


def _may_run_again(stmt: ir.Stmt, stacks: list[ir.Var], rest: list[ir.Stmt]) -> bool:
    """Whether the statement does the same when it runs after the statements ``rest``: these change no operand of it, it changes
    nothing outside itself but the ``stacks``, and it neither prints nor raises."""
    own = {*defines(stmt), *(v for b in blocks(stmt) for v in defined(b)), *stacks}
    changed = {root for s in rest for one in _inside(s) if (root := written(one)) is not None}
    for one in _inside(stmt):
        root = written(one)
        if may_act(one) or root is not None and root not in own:
            return False
        if any(op in changed for op in reads(one) if isinstance(op, ir.Var) and op not in own):
            return False
    return True


def _without_pushes(stmt: ir.Stmt, stacks: set[ir.Var]) -> ir.Stmt:
    """The statement without pushes to these stacks, also in nested blocks."""

    def block(old: ir.Block) -> ir.Block:
        kept = [s for s in old.stmts if not (isinstance(s, ir.Push) and s.stack in stacks)]
        return with_stmts(old, [with_blocks(s, block) for s in kept])

    return with_blocks(stmt, block)


class _Renamed(Cloner):
    """Copies statements with other stacks; everything else stays the same."""

    def fresh(self, var: ir.Var) -> ir.Var:
        return var

    def of(self, stmt: ir.Stmt) -> ir.Stmt:
        """A copy of the statement with the other stacks, if it pops from one of the renamed ones; else the statement itself."""
        return self.stmt(stmt) if any(_touches(stmt, ir.Pop, s) for s in self.mapping) else stmt
