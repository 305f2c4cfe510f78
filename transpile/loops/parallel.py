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

from dataclasses import dataclass, replace

from transpile.core.dims import Dim
from transpile.core.nodes import (
    SYNTHETIC,
    Add,
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
    Store,
    Var,
    While,
)
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, defined, leaves, reads, statements
from transpile.loops.affine import Forms, Twins
from transpile.loops.contract import points
from transpile.loops.facts import Facts, is_integer
from transpile.loops.memory import Access, Roots, Touches, is_array, may_raise
from transpile.loops.rebuild import with_blocks

PARALLEL = "parallel"  # the note of the index of a loop whose trips run at once


def parallelise(fn: Function, threads: int) -> Function:
    """The function with its outermost independent loops in chunks, one for each of the threads."""
    return replace(fn, body=_Parallel(fn, threads).block(fn.body, None))


@dataclass
class _Plan:
    """``shared``: the arrays that the trips only add to; ``folds``: how each carried value is folded."""

    shared: list[Var]
    folds: list[str]


class _Parallel:
    def __init__(self, fn: Function, threads: int) -> None:
        self.fn, self.threads = fn, threads
        self.forms, self.roots = Forms(fn.body), Roots(fn)
        self.touches = Touches(self.roots)
        self.facts = Facts(self.forms)
        self.sizes: dict[Var, tuple[Operand, ...]] = {}
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
            plan = self.plan(stmt) if isinstance(stmt, For) else None
            if plan is not None:
                assert isinstance(stmt, For)
                stmts += _Chunks(self, stmt, plan).stmts
            elif blocks(stmt):
                inner = stmt if isinstance(stmt, For) else None
                stmts.append(with_blocks(stmt, lambda b, inner=inner: self.block(b, inner)))  # type: ignore[misc]
            else:
                stmts.append(stmt)
        self.facts = around
        return replace(block, stmts=stmts)

    # ---- which loops

    def plan(self, loop: For) -> _Plan | None:
        """How the loop can be cut into chunks; None if it cannot, or is not worth it."""
        if loop.body.stop is not None or loop.trips is not None or not isinstance(loop.step, Const):
            return None
        inner = list(statements(loop.body))
        if loop.step.value != 1 or not any(isinstance(s, (For, While)) for s in inner):
            return None
        if any(isinstance(s, (Effect, Push, Pop, NewStack)) or (isinstance(s, Let) and may_raise(s)) for s in inner):
            return None
        if any(isinstance(s, Let) and s.prim not in ("index", "dim") and any(map(is_array, s.args)) for s in inner):
            return None
        folds = [self.fold(loop, k) for k in range(len(loop.body.params))]
        if any(f is None for f in folds):
            return None
        shared = self.shared(loop)
        return None if shared is None else _Plan(shared, [f for f in folds if f])

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

    def shared(self, loop: For) -> list[Var] | None:
        """The arrays that need a part for each chunk; None if trips depend on each other."""
        touch = self.touches.of(loop)
        own = set(defined(loop.body))
        by_root: dict[Var, list[Access]] = {}
        for a in touch.found:
            by_root.setdefault(self.roots.of(a.var), []).append(a)
        found: list[Var] = []
        for accesses in by_root.values():
            if all(a.kind == "read" for a in accesses) or all(a.var in own for a in accesses):
                continue
            if any(a.var is not accesses[0].var or a.indices is None for a in accesses):
                return None
            if all(self.is_own(x, y, loop, own) for x in accesses if x.kind != "read" for y in accesses):
                continue
            if any(a.kind != "add" for a in accesses) or self.size_of(accesses[0].var) is None:
                return None
            found.append(accesses[0].var)
        return found

    def is_own(self, x: Access, y: Access, loop: For, own: set[Var]) -> bool:
        """Whether both touch one element only in the same trip."""
        assert x.indices is not None and y.indices is not None
        pairs = [(self.forms.of(i), self.forms.of(j)) for i, j in zip(x.indices, y.indices)]
        if any(p == q and p.coefficient(loop.index) and not p.variables & own for p, q in pairs):
            return True
        twins = Twins({loop.index, *own})
        facts = self.facts.inner()
        facts.enter(loop)
        facts.enter(replace(loop, index=twins.of(loop.index)))
        return any(facts.compare("not_equal", p, twins.form(q)) for p, q in pairs)

    def size_of(self, var: Var) -> tuple[Operand, ...] | None:
        """The sizes of an array that is allocated outside loops."""
        return self.sizes.get(var) if any(isinstance(s, Alloc) and s.var is var for s in self.fn.body.stmts) else None


def _operands(stmt: Stmt) -> list[Operand]:
    return [*reads(stmt), *(o for b in blocks(stmt) for o in leaves(b))]


class _Chunks:
    """The statements that a loop becomes."""

    def __init__(self, around: _Parallel, loop: For, plan: _Plan) -> None:
        self.stmts: list[Stmt] = []
        self.loop, self.loc = loop, loop.loc
        self.around = around
        trips = self.let(self.stmts, "sub", loop.bound, loop.start)
        least = self.let(self.stmts, "minimum", trips, Const(around.threads, INT))
        chunks = self.let(self.stmts, "maximum", least, Const(1, INT))
        chunks.name = "chunks"
        index = Var("c", INT, note=PARALLEL)
        inside: list[Stmt] = []
        parts = {v: self.part(v, chunks, index, inside) for v in plan.shared}
        sums = [self.array("sums", p.type.dtype, (chunks,)) for p in loop.body.params]
        first = self.let(inside, "add", loop.start, self.cut(inside, trips, index, chunks))
        after = self.let(inside, "add", index, Const(1, INT))
        last = self.let(inside, "add", loop.start, self.cut(inside, trips, after, chunks))
        body = replace(loop.body, stmts=[_redirected(s, parts, index) for s in loop.body.stmts])
        inits = tuple(Const(0.0 if p.type.is_float else 0, p.type) for p in loop.body.params)
        results = tuple(Var(r.name, r.type) for r in loop.results)
        inside.append(replace(loop, start=first, bound=last, inits=inits, body=body, results=results, backwards=False))
        inside += [Store(s, points(1), (index,), r, self.loc) for s, r in zip(sums, results)]
        self.stmts.append(self.range(index, chunks, inside))
        for k, s in enumerate(sums):
            self.add_up(s, chunks, loop.inits[k], loop.results[k])
        for var, (part, sizes) in parts.items():
            self.merge(var, part, chunks, sizes)

    # ---- small statements

    def let(self, stmts: list[Stmt], prim: str, *args: Operand) -> Var:
        var = Var(SYNTHETIC, INT)
        stmts.append(Let(var, prim, args, {"py": True} if prim in ("minimum", "maximum") else {}, self.loc))
        return var

    def cut(self, stmts: list[Stmt], trips: Operand, k: Operand, chunks: Operand) -> Var:
        return self.let(stmts, "quick_div", self.let(stmts, "mul", trips, k), chunks)

    def array(self, name: str, dtype: str, sizes: tuple[Operand, ...]) -> Var:
        var = Var(name, Type(dtype, tuple(Dim.symbol("?") for _ in sizes)), buffer=True)
        self.stmts.append(Alloc(var, "empty", sizes, {}, self.loc))
        return var

    def range(self, index: Var, bound: Operand, stmts: list[Stmt]) -> For:
        return For(index, Const(0, INT), bound, Const(1, INT), (), Block((), stmts), loc=self.loc)

    def nest(self, sizes: tuple[Operand, ...], body: Stmt, indices: list[Var]) -> Stmt:
        for index, size in zip(indices[::-1], sizes[::-1]):
            body = self.range(index, size, [body])
        return body

    # ---- sums

    def part(self, var: Var, chunks: Var, index: Var, inside: list[Stmt]) -> tuple[Var, tuple[Operand, ...]]:
        sizes = self.around.size_of(var)
        assert sizes is not None
        part = self.array(f"{var.label}_parts", var.type.dtype, (chunks, *sizes))
        indices = [Var("ijklmn"[k] if k < 6 else f"i{k}", INT) for k in range(len(sizes))]
        zero = Const(0.0 if var.type.is_float else 0, Type(var.type.dtype))
        fill = Store(part, points(len(sizes) + 1), (index, *indices), zero, self.loc)
        inside.append(self.nest(sizes, fill, indices))
        return part, sizes

    def merge(self, var: Var, part: Var, chunks: Var, sizes: tuple[Operand, ...]) -> None:
        c = Var("c", INT)
        indices = [Var("ijklmn"[k] if k < 6 else f"i{k}", INT) for k in range(len(sizes))]
        value = Var(SYNTHETIC, Type(var.type.dtype))
        path = points(len(sizes) + 1)
        get = Let(value, "index", (part, c, *indices), {"path": path, "dims": ()}, self.loc)
        add = Add(var, points(len(sizes)), tuple(indices), value, self.loc)
        inner: list[Stmt] = [get, add]
        for index, size in zip(indices[::-1], sizes[::-1]):
            inner = [self.range(index, size, inner)]
        self.stmts.append(self.range(c, chunks, inner))

    def add_up(self, sums: Var, chunks: Var, init: Operand, result: Var) -> None:
        c, total = Var("c", INT), Var(result.name, result.type)
        value, new = Var(SYNTHETIC, Type(result.type.dtype)), Var(SYNTHETIC, result.type)
        get = Let(value, "index", (sums, c), {"path": points(1), "dims": ()}, self.loc)
        add = Let(new, "add", (total, value), {}, self.loc)
        body = Block((total,), [get, add], (new,))
        self.stmts.append(For(c, Const(0, INT), chunks, Const(1, INT), (init,), body, (result,), loc=self.loc))


def _redirected(stmt: Stmt, parts: dict[Var, tuple[Var, tuple[Operand, ...]]], index: Var) -> Stmt:
    """The statement with what it adds to shared arrays added to their parts."""
    if isinstance(stmt, Add) and stmt.buf in parts:
        args = (index, *stmt.args)
        return replace(stmt, buf=parts[stmt.buf][0], path=points(len(args)), args=args)
    if not blocks(stmt):
        return stmt
    return with_blocks(stmt, lambda b: replace(b, stmts=[_redirected(s, parts, index) for s in b.stmts]))
