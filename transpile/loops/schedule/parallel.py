"""Runs independent iterations on several cores: a loop becomes chunks, one for each thread, with their own partial sums.

    for i in range(n):                        parts = np.empty((chunks, m))
        for j in range(m):                    for c in prange(chunks):
            w_bar[j] += x[i, j] * s[i]  ->        for j in range(m):
                                                      parts[c, j] = 0.0
                                                  for i in range(n * c // chunks, n * (c + 1) // chunks):
                                                      for j in range(m):
                                                          parts[c, j] += x[i, j] * s[i]
                                              for c in range(chunks):
                                                  for j in range(m):
                                                      w_bar[j] += parts[c, j]

Parts are added in the order of the chunks, so the result is bitwise the same for the same number of threads. A loop qualifies
if no iteration touches what another one writes, except to add to it, and nothing in it prints or records. If iterations may
raise, every chunk runs to its end or to its own exception; the exception of the first failing iteration is raised, as in the
serial loop. Writes of later iterations must then be invisible: a loop that writes to arguments is not split if it may raise.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import is_array
from transpile.analysis.affine import Forms
from transpile.analysis.loop_reductions import folds_of
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.walk import blocks, statements
from transpile.loops.check_hoisting import raises
from transpile.loops.schedule.parallel_schedule import Chunks, Plan
from transpile.loops.schedule.privatisation import Sharing, is_bound
from transpile.loops.schedule.product_threads import is_product, shared
from transpile.loops.schedule.row_lanes import in_lanes, lanes_of

LEAST = 400_000.0  # least work that is worth waking a thread, about 8 us; fork and join take 2, or 10 on a busy machine


def parallelise(fn: ir.Function, threads: int, least: float = LEAST) -> ir.Function:
    """The function with independent loops in chunks and matrix products in shares, at most one for each thread.

    Of nested loops the outermost one that pays is split. ``least``: work that is worth a thread, in the units of
    `transpile.loops.schedule.cost_model`.
    """
    return replace(fn, body=_Parallel(fn, threads, least).block(fn.body, None))


class _Parallel:
    def __init__(self, fn: ir.Function, threads: int, least: float) -> None:
        self.fn, self.threads, self.least = fn, threads, least
        self.forms = Forms(fn.body)
        self.sharing = Sharing(fn, self.forms)
        self.facts = Facts(self.forms)
        self.depth = 0  # number of loops around

    def block(self, block: ir.Block, loop: ir.For | None) -> ir.Block:
        """The block with loops in chunks and products in shares, outer loops first; ``loop``: the loop of which it is the body,
        None for others."""
        around, self.facts = self.facts, self.facts.inside(loop)
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            self.facts.learn(stmt)
            found = self.chunks(stmt) if isinstance(stmt, ir.For) else None
            if found is not None:
                stmts += found
            elif is_product(stmt):
                stmts += shared(stmt, self.threads, self.least)
            elif blocks(stmt):
                inner = stmt if isinstance(stmt, ir.For) else None
                repeats = isinstance(stmt, (ir.For, ir.While))
                self.depth += repeats
                stmts.append(with_blocks(stmt, lambda b, inner=inner: self.block(b, inner)))  # type: ignore[misc]
                self.depth -= repeats
            else:
                stmts.append(stmt)
        self.facts = around
        return replace(block, stmts=stmts)

    def chunks(self, loop: ir.For) -> list[ir.Stmt] | None:
        """The statements that replace a loop; None if it stays serial."""
        plan = self.plan(loop)
        if plan is not None:
            return Chunks(loop, plan, self.forms.lets, self.threads).statements(self.least)
        lanes = lanes_of(loop, self.sharing)
        return None if lanes is None else in_lanes(loop, lanes, self.forms.lets, self.threads, self.least)

    # ---- which loops

    def plan(self, loop: ir.For) -> Plan | None:
        """The plan for splitting the loop into chunks; None if that is illegal or does not pay."""
        if loop.body.stop is not None or loop.trips is not None or not isinstance(loop.step, ir.Const):
            return None
        inner = list(statements(loop.body))
        if loop.step.value != 1 or (self.depth and not any(map(is_long, inner))):
            return None  # nested loops are many, and few are long
        if any(is_bound(s) for s in inner):
            return None
        folds = folds_of(loop)
        if folds is None:
            return None
        plan = self.sharing.plan(loop, self.facts)
        if plan is None:
            return None
        plan.folds = folds
        plan.raises = raises(loop)
        if plan.raises:
            is_seen = self.sharing.touches.of(loop).visible
            if is_seen or plan.reach or any(isinstance(s, ir.While) for s in inner):
                return None  # iterations after the failing one must be invisible, and end
        return plan


def is_long(stmt: ir.Stmt) -> bool:
    """Whether a statement may take longer than a few operations: it is a loop or a call with an array."""
    return isinstance(stmt, (ir.For, ir.While)) or (isinstance(stmt, ir.Call) and any(map(is_array, stmt.args)))
