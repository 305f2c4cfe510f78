"""What nobody reads is not computed: values, arrays with the writes into them, what loops and branches carry, empty loops."""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.accesses import is_pure
from transpile.core import nodes as ir
from transpile.core.rebuild import with_stmts
from transpile.core.walk import blocks, leaves, reads, statements


def remove_dead(fn: ir.Function) -> ir.Function:
    """The function without what its results and effects do not need."""
    while True:
        needed = _needed(fn.body)
        body = _Sweep(needed).block(fn.body)
        if body is fn.body:
            return fn
        fn = replace(fn, body=body)


def _needed(body: ir.Block) -> set[ir.Operand]:
    """The variables that something which stays reads."""
    sources: dict[ir.Var, list[ir.Operand]] = {}  # what is read if the variable is needed
    work: list[ir.Operand] = list(leaves(body))

    def visit(block: ir.Block) -> None:
        for stmt in block.stmts:
            match stmt:
                case ir.Let() if is_pure(stmt):
                    sources.setdefault(stmt.var, []).extend(stmt.args)
                case ir.Alloc():
                    sources.setdefault(stmt.var, []).extend(stmt.args)
                case ir.Store() | ir.Add():
                    sources.setdefault(stmt.buf, []).extend((*stmt.args, stmt.value))
                case ir.If():
                    work.append(stmt.test)
                    for k, r in enumerate(stmt.results):
                        sources.setdefault(r, []).extend((stmt.then.yields[k], stmt.orelse.yields[k]))
                case ir.For() | ir.While():
                    if isinstance(stmt, ir.For):
                        work.extend((stmt.start, stmt.bound, stmt.step))
                    inner = (stmt.body, stmt.test) if isinstance(stmt, ir.While) else (stmt.body,)
                    for k, (init, out) in enumerate(zip(stmt.inits, stmt.body.yields)):
                        for b in inner:
                            sources.setdefault(b.params[k], []).extend((init, out))
                        sources.setdefault(stmt.results[k], []).extend((init, out, stmt.body.params[k]))
                    if stmt.body.stop is not None:
                        work.append(stmt.body.stop)
                    if isinstance(stmt, ir.While):
                        work.extend(stmt.test.yields)
                case _:
                    work.extend(reads(stmt))
            for inner_block in blocks(stmt):
                visit(inner_block)

    visit(body)
    found: set[ir.Operand] = set()
    params = _written_parameters(body)
    work.extend(params)
    while work:
        op = work.pop()
        if isinstance(op, ir.Var) and op not in found:
            found.add(op)
            work.extend(sources.get(op, ()))
    return found


def _written_parameters(body: ir.Block) -> set[ir.Var]:
    """What is written and not allocated here: the caller, or another name of the memory, may read it."""
    own = {s.var for s in statements(body) if isinstance(s, ir.Alloc)}
    return {s.buf for s in statements(body) if isinstance(s, (ir.Store, ir.Add)) and s.buf not in own}


class _Sweep:
    def __init__(self, needed: set[ir.Operand]) -> None:
        self.needed = needed

    def block(self, block: ir.Block) -> ir.Block:
        stmts = [new for s in block.stmts if (new := self.stmt(s)) is not None]
        return with_stmts(block, stmts)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | None:
        match stmt:
            case ir.Let() if is_pure(stmt):
                return stmt if stmt.var in self.needed else None
            case ir.Alloc():
                return stmt if stmt.var in self.needed else None
            case ir.Store() | ir.Add():
                return stmt if stmt.buf in self.needed else None
            case ir.If():
                return self.branch(stmt)
            case ir.For():
                return self.loop(stmt)
            case ir.While():
                return self.repeat(stmt)
        return stmt

    def branch(self, stmt: ir.If) -> ir.Stmt | None:
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        keep = [r in self.needed for r in stmt.results]
        if not then.stmts and not orelse.stmts and not any(keep):
            return None
        if all(keep):
            return stmt if then is stmt.then and orelse is stmt.orelse else replace(stmt, then=then, orelse=orelse)
        then, orelse = (replace(b, yields=_kept(b.yields, keep)) for b in (then, orelse))
        return replace(stmt, then=then, orelse=orelse, results=_kept(stmt.results, keep))

    def loop(self, stmt: ir.For) -> ir.Stmt | None:
        body = self.block(stmt.body)
        keep = [r in self.needed or p in self.needed for r, p in zip(stmt.results, body.params)]
        ends = body.stop is None and (stmt.trips is None or stmt.trips not in self.needed)
        if ends and not body.stmts and not any(r in self.needed for r in stmt.results):
            return None
        if all(keep):
            return stmt if body is stmt.body else replace(stmt, body=body)
        body = replace(body, params=_kept(body.params, keep), yields=_kept(body.yields, keep))
        combiners = _kept(stmt.combiners, keep) if stmt.combiners else ()
        inits, results = _kept(stmt.inits, keep), _kept(stmt.results, keep)
        return replace(stmt, inits=inits, results=results, body=body, combiners=combiners)

    def repeat(self, stmt: ir.While) -> ir.Stmt:
        body, test = self.block(stmt.body), self.block(stmt.test)
        keep = [any(v in self.needed for v in carried) for carried in zip(stmt.results, body.params, test.params)]
        if not all(keep):
            body = replace(body, params=_kept(body.params, keep), yields=_kept(body.yields, keep))
            test = replace(test, params=_kept(test.params, keep))
        elif body is stmt.body and test is stmt.test:
            return stmt
        inits, results = _kept(stmt.inits, keep), _kept(stmt.results, keep)
        return replace(stmt, inits=inits, test=test, body=body, results=results)


def _kept(items: tuple, keep: list[bool]) -> tuple:
    return tuple(x for x, k in zip(items, keep) if k)
