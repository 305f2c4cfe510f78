"""Independent trips on several cores: a loop becomes chunks, one for each thread, with sums of their own.

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

The parts are added up in the order of the chunks: the result is the same to the bit whenever the number of threads is. A loop is
taken if no trip touches what another one writes, but to add to it, and nothing in it can raise, print or call.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.nodes import (
    Alloc,
    Block,
    Const,
    Effect,
    For,
    Function,
    Let,
    NewStack,
    Operand,
    Pop,
    Push,
    Stmt,
    Var,
    While,
)
from transpile.core.walk import blocks, defined, leaves, reads, statements
from transpile.loops.affine import Forms
from transpile.loops.apart import only_in_one_trip
from transpile.loops.chunks import Plan, chunked
from transpile.loops.facts import Facts, is_integer
from transpile.loops.memory import Access, Roots, Touches, is_array, may_raise
from transpile.loops.rebuild import with_blocks

LEAST = 100_000.0  # work for a thread that is worth waking it: 4 us, of which a fork and a join take 2
FAR = 8  # trips between which elements are shared, at most


def parallelise(fn: Function, threads: int, least: float = LEAST) -> Function:
    """The function with its outermost independent loops in chunks, one for each of the threads.

    ``least`` is the work that is worth a thread, in the units of `transpile.loops.work`.
    """
    return replace(fn, body=_Parallel(fn, threads, least).block(fn.body, None))


class _Parallel:
    def __init__(self, fn: Function, threads: int, least: float) -> None:
        self.fn, self.threads, self.least = fn, threads, least
        self.forms, self.roots = Forms(fn.body), Roots(fn)
        self.touches = Touches(self.roots)
        self.facts = Facts(self.forms)
        self.sizes: dict[Var, tuple[Operand, ...]] = {}
        self.depth = 0  # of loops around
        for stmt in statements(fn.body):
            if isinstance(stmt, Alloc):
                self.sizes[stmt.var] = stmt.args

    def block(self, block: Block, loop: For | None) -> Block:
        around, self.facts = self.facts, self.facts.inner()
        if loop is not None:
            self.facts.enter(loop)
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Let) and is_integer(stmt.var):
                self.facts.define(stmt)
            found = self.chunks(stmt) if isinstance(stmt, For) else None
            if found is not None:
                stmts += found
            elif blocks(stmt):
                inner = stmt if isinstance(stmt, For) else None
                repeats = isinstance(stmt, (For, While))
                self.depth += repeats
                stmts.append(with_blocks(stmt, lambda b, inner=inner: self.block(b, inner)))  # type: ignore[misc]
                self.depth -= repeats
            else:
                stmts.append(stmt)
        self.facts = around
        return replace(block, stmts=stmts)

    def chunks(self, loop: For) -> list[Stmt] | None:
        plan = self.plan(loop)
        return None if plan is None else chunked(loop, plan, self.forms.lets, self.threads, self.least)

    # ---- which loops

    def plan(self, loop: For) -> Plan | None:
        """How the loop can be cut into chunks; None if it cannot, or is not worth it."""
        if loop.body.stop is not None or loop.trips is not None or not isinstance(loop.step, Const):
            return None
        inner = list(statements(loop.body))
        if loop.step.value != 1 or (self.depth and not any(isinstance(s, (For, While)) for s in inner)):
            return None  # loops in loops are many, and few of them long
        if any(isinstance(s, (Effect, Push, Pop, NewStack)) or (isinstance(s, Let) and may_raise(s)) for s in inner):
            return None
        if any(isinstance(s, Let) and s.prim not in ("index", "dim") and any(map(is_array, s.args)) for s in inner):
            return None
        if any(self.fold(loop, k) is None for k in range(len(loop.body.params))):
            return None
        return self.shared(loop)

    def fold(self, loop: For, k: int) -> str | None:
        """How a carried value is folded: a chain of additions that nothing else reads."""
        param, out = loop.body.params[k], loop.body.yields[k]
        lets = {s.var: s for s in loop.body.stmts if isinstance(s, Let)}
        loops = {r: (s, j) for s in loop.body.stmts if isinstance(s, For) for j, r in enumerate(s.results)}
        while out is not param:
            if not isinstance(out, Var):
                return None
            if out in lets and lets[out].prim in ("add", "sub"):
                a, b = lets[out].args
                out = a if lets[out].prim == "sub" or self.leads(a, param, lets, loops) else b
            elif out in loops:
                inner, j = loops[out]
                if self.fold(inner, j) is None:
                    return None
                out = inner.inits[j]
            else:
                return None
        reads = sum(o is param for s in statements(loop.body) for o in _operands(s))
        return "add" if reads == 1 else None

    def leads(self, op: Operand, param: Var, lets: dict[Var, Let], loops: dict[Var, tuple[For, int]]) -> bool:
        while isinstance(op, Var):
            if op is param:
                return True
            if op in loops:
                inner, j = loops[op]
                op = inner.inits[j]
            elif op in lets and lets[op].prim in ("add", "sub"):
                a, b = lets[op].args
                if self.leads(a, param, lets, loops):
                    return True
                op = b
            else:
                return False
        return False

    def shared(self, loop: For) -> Plan | None:
        """What is done about arrays that several trips add to; None if trips depend on each other."""
        touch = self.touches.of(loop)
        own = set(defined(loop.body))
        by_root: dict[Var, list[Access]] = {}
        for a in touch.found:
            by_root.setdefault(self.roots.of(a.var), []).append(a)
        plan = Plan({})
        for accesses in by_root.values():
            if all(a.kind == "read" for a in accesses) or all(a.var in own for a in accesses):
                continue
            var = accesses[0].var
            if any(a.var is not var or a.indices is None for a in accesses):
                return None
            if all(self.is_own(x, y, loop, own) for x in accesses if x.kind != "read" for y in accesses):
                continue
            if any(a.kind != "add" for a in accesses):
                return None
            reach, sizes = self.reach(accesses, loop, own), self.size_of(var)
            if reach is not None:
                plan.reach = max(plan.reach, reach)
            elif sizes is not None:
                plan.shared[var] = sizes
            else:
                return None
        return plan

    def reach(self, accesses: list[Access], loop: For, own: set[Var]) -> int | None:
        """The most trips that lie between two that add to one element; None if that is not known, or they are many."""
        found: int | None = None
        for subscripts in zip(*(a.indices for a in accesses if a.indices is not None)):
            forms = [self.forms.of(i) for i in subscripts]
            each = abs(forms[0].coefficient(loop.index))
            if not each or forms[0].variables & own or any(f.terms != forms[0].terms for f in forms):
                continue
            ends = [f.const for f in forms]
            reach = (max(ends) - min(ends)) // each
            found = reach if found is None else min(found, reach)
        return found if found is not None and found <= FAR else None

    def is_own(self, x: Access, y: Access, loop: For, own: set[Var]) -> bool:
        return only_in_one_trip(x, y, loop, own, self.forms, self.facts)

    def size_of(self, var: Var) -> tuple[Operand, ...] | None:
        """The sizes of an array that is allocated outside loops."""
        return self.sizes.get(var) if any(isinstance(s, Alloc) and s.var is var for s in self.fn.body.stmts) else None


def _operands(stmt: Stmt) -> list[Operand]:
    return [*reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))]
