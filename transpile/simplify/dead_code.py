"""Dead code elimination for both dialects: values, buffers with the writes into them, stacks, carried values, empty loops.

Effects are always kept, with the control around them. Liveness is by variable, not by time: a buffer that is read anywhere
keeps all its writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from transpile.analysis.accesses import is_pure
from transpile.core import nodes as ir
from transpile.core.functions import must_run
from transpile.core.walk import blocks, dim_symbols, reads, statements, type_symbols

Moved = Callable[[object, object], None]
Stays = Callable[[ir.Stmt], bool]
"""Whether a statement stays even if nothing reads its results."""


def remove_dead(fn: ir.Function, *, sizes: bool = True, stays: Stays = must_run) -> ir.Function:
    """``fn`` without statements that its results, its effects and memory of the caller do not need; the same object if nothing
    is dead.

    ``sizes``: also keep the sizes of parameters and of all variables that stay, since a later transform may need them.
    ``stays``: whether a statement stays even if nothing reads it.
    """
    roots = [*fn.body.yields, *(p for p in fn.params if p.buffer), *_written_elsewhere(fn.body)]
    if sizes:
        roots += [s.var for s in fn.body.stmts if isinstance(s, ir.Let) and s.prim == "dim" and s.args[0] in fn.params]
    body = remove_dead_block(fn.body, roots, fn.symbols, sizes=sizes, stays=stays)
    return fn if body is fn.body else replace(fn, body=body)


def remove_dead_lowered(fn: ir.Function) -> ir.Function:
    """`remove_dead` for loop core, where sizes are operands: they do not stay by themselves, but a *let* that may raise does,
    because its check is part of it, and so does every call, which may fill arrays."""
    return remove_dead(fn, sizes=False, stays=_stays_lowered)


def _stays_lowered(stmt: ir.Stmt) -> bool:
    """Whether a statement of loop core stays even if nothing reads its results: it is a call, or a *let* that may raise."""
    return isinstance(stmt, ir.Call) or isinstance(stmt, ir.Let) and not is_pure(stmt)


def _written_elsewhere(body: ir.Block) -> list[ir.Var]:
    """The buffers written in the body that it does not allocate: the caller, or an alias, may read them."""
    own = {s.var for s in statements(body) if isinstance(s, ir.Alloc)}
    return [s.buf for s in statements(body) if isinstance(s, (ir.Store, ir.Add, ir.PacketStore)) and s.buf not in own]


def remove_dead_block(
    block: ir.Block,
    roots: Iterable[ir.Operand],
    symbols: Mapping[str, ir.Operand],
    moved: Moved = lambda old, new: None,
    sizes: bool = False,
    stays: Stays = must_run,
) -> ir.Block:
    """``block`` without statements that ``roots`` and effects do not need; the same object if nothing is dead. ``moved(old,
    new)`` is called for each statement and block that is replaced by a smaller one; ``sizes`` and ``stays`` are as for
    `remove_dead`."""
    return _Sweep(_Liveness(block, symbols, sizes, stays).run(roots), moved).block(block)


def is_live(fn: ir.Function, stmt: ir.Stmt, roots: Iterable[ir.Operand], symbols: Mapping[str, ir.Operand]) -> bool:
    """Whether ``roots`` or an effect of ``fn`` need the statement, of ``fn``; results of ``fn`` count only if they are in
    ``roots``."""
    return id(stmt) in _Liveness(fn.body, symbols).run(roots).kept


def needed(block: ir.Block, roots: Iterable[ir.Operand], symbols: Mapping[str, ir.Operand]) -> set[ir.Var]:
    """The variables of a block, and those from outside it, that ``roots``, effects, and the sizes of these variables need."""
    return _Liveness(block, symbols, sizes=True).run(roots).live


class _Liveness:
    def __init__(
        self, block: ir.Block, symbols: Mapping[str, ir.Operand], sizes: bool = False, stays: Stays = must_run
    ) -> None:
        self.symbols, self.sizes, self.stays = symbols, sizes, stays
        self.sources: dict[ir.Var, list[ir.Operand]] = {}  # variable -> the operands that it needs if it is live
        self.writes: dict[ir.Var, list[ir.Stmt]] = {}
        self.live: set[ir.Var] = set()
        self.kept: set[int] = set()  # ids of statements that stay
        self.enclosing: dict[int, tuple[ir.Stmt, ...]] = {}
        self.definition: dict[ir.Var, ir.Stmt] = {}
        self.queue: list[ir.Operand] = []
        self._visit(block, ())

    def _visit(self, block: ir.Block, around: tuple[ir.Stmt, ...]) -> None:
        """Notes all statements of the block and of nested blocks with the statements around them; marks those that always
        stay."""
        for stmt in block.stmts:
            self.enclosing[id(stmt)] = around
            self._describe(stmt)
            for inner in blocks(stmt):
                self._visit(inner, (*around, stmt))
            if isinstance(stmt, ir.Effect) or self.stays(stmt):
                self.keep(stmt)

    def _describe(self, stmt: ir.Stmt) -> None:
        """Notes what the results of a statement need, and what it writes; nested blocks are not visited."""
        match stmt:
            case ir.Let() | ir.Alloc() | ir.PacketRead():
                self._define(stmt.var, stmt, reads(stmt))
            case ir.NewStack():
                self._define(stmt.var, stmt, ())
            case ir.Call():
                for r in stmt.results:
                    self._define(r, stmt, stmt.args)
            case ir.Pop():
                self._define(stmt.var, stmt, (stmt.stack,))
                self.writes.setdefault(stmt.stack, []).append(stmt)
            case ir.Push():
                self.writes.setdefault(stmt.stack, []).append(stmt)
            case ir.Store() | ir.Add() | ir.PacketStore():
                self.writes.setdefault(stmt.buf, []).append(stmt)
            case ir.If():
                for r, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                    self._define(r, stmt, (a, b))
            case ir.For():
                self._define(stmt.index, stmt, ())
                self._loop(stmt)
            case ir.While():
                for p, q in zip(stmt.test.params, stmt.body.params):
                    self._define(p, stmt, (q,))
                self._loop(stmt)

    def _loop(self, stmt: ir.For | ir.While) -> None:
        for r, p, init, out in zip(stmt.results, stmt.body.params, stmt.inits, stmt.body.yields):
            self._define(r, stmt, (p,))
            self._define(p, stmt, (init, out))
        if stmt.trips is not None:
            self._define(stmt.trips, stmt, ())

    def _define(self, var: ir.Var, stmt: ir.Stmt, sources: Iterable[ir.Operand]) -> None:
        self.sources[var] = list(sources)
        self.definition[var] = stmt

    def mark(self, operand: ir.Operand) -> None:
        """Notes that the operand is live, to be followed by `run`; does nothing for constants and variables known to be
        live."""
        if isinstance(operand, ir.Var) and operand not in self.live:
            self.live.add(operand)
            self.queue.append(operand)

    def keep(self, stmt: ir.Stmt) -> None:
        """Marks the statement, and the loops and branches around it, to stay, and their operands as live, once. A value that a
        loop or branch yields becomes live only with the result."""
        if id(stmt) in self.kept:
            return
        for s in (stmt, *self.enclosing[id(stmt)]):
            if id(s) in self.kept:
                continue
            self.kept.add(id(s))
            match s:
                case ir.If():
                    self.mark(s.test)
                case ir.For():
                    for o in (s.start, s.bound, s.step):
                        self.mark(o)
                    if s.body.stop is not None:
                        self.mark(s.body.stop)
                case ir.While():
                    self.mark(s.test.yields[0])
                    if s.body.stop is not None:
                        self.mark(s.body.stop)
                case _:
                    for o in reads(s):
                        self.mark(o)
                    if self.symbols:
                        for n in dim_symbols(s):
                            self.mark(self.symbols[n])
                    if isinstance(s, (ir.Push, ir.Pop)):
                        self.mark(s.stack)
                    if isinstance(s, (ir.Store, ir.Add, ir.PacketStore)):
                        self.mark(s.buf)
                    if isinstance(s, ir.Call) and self.sizes:  # a call keeps all its results, read or not
                        for r in s.results:
                            self.mark(r)

    def run(self, roots: Iterable[ir.Operand]) -> _Liveness:
        """The object itself, after everything is marked that the ``roots``, and statements that always stay, need."""
        for root in roots:
            self.mark(root)
        while self.queue:
            var = self.queue.pop()
            assert isinstance(var, ir.Var)
            if self.sizes:
                self.sizes_of(var)
            for source in self.sources.get(var, ()):
                self.mark(source)
            if var in self.definition:
                self.keep(self.definition[var])
            for stmt in self.writes.get(var, ()):
                self.keep(stmt)
        return self

    def sizes_of(self, var: ir.Var) -> None:
        """Marks the values of the size symbols in the type of ``var`` as live."""
        for name in type_symbols(var.type):
            if name in self.symbols:
                self.mark(self.symbols[name])


class _Sweep:
    def __init__(self, live: _Liveness, moved: Moved) -> None:
        self.kept, self.live, self.moved = live.kept, live.live, moved

    def block(self, block: ir.Block, keep: list[bool] | None = None) -> ir.Block:
        """The block with the statements that stay; the same object if all do. ``keep``: for each param and yield whether it
        stays; None for all."""
        stmts = [self.stmt(s) for s in block.stmts if id(s) in self.kept]
        params = block.params
        yields = block.yields
        if keep is not None:
            params = tuple(p for p, k in zip(params, keep) if k) if params else ()
            yields = tuple(y for y, k in zip(yields, keep) if k)
        unchanged = len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts))
        if unchanged and len(yields) == len(block.yields):
            return block
        new = ir.Block(params, stmts, yields, block.stop)
        self.moved(block, new)
        return new

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """The statement with nested blocks, results and carried values reduced to what is live; the same object if all is."""
        match stmt:
            case ir.If():
                keep = [r in self.live for r in stmt.results]
                then, orelse = self.block(stmt.then, keep), self.block(stmt.orelse, keep)
                if then is stmt.then and orelse is stmt.orelse:
                    return stmt
                new: ir.Stmt = replace(stmt, then=then, orelse=orelse, results=self._kept(stmt.results, keep))
            case ir.For() | ir.While():
                keep = [r in self.live or p in self.live for r, p in zip(stmt.results, stmt.body.params)]
                if isinstance(stmt, ir.While):
                    keep = [k or p in self.live for k, p in zip(keep, stmt.test.params)]
                trips = stmt.trips if stmt.trips in self.live else None
                body = self.block(stmt.body, keep)
                test = self._test(stmt, keep) if isinstance(stmt, ir.While) else None
                same_test = test is None or test is stmt.test  # type: ignore[union-attr]
                if body is stmt.body and same_test and trips is stmt.trips:
                    return stmt
                results, inits = self._kept(stmt.results, keep), self._kept(stmt.inits, keep)
                new = replace(stmt, body=body, results=results, inits=inits, trips=trips)
                if isinstance(new, ir.While):
                    assert test is not None
                    new = replace(new, test=test)
            case _:
                return stmt
        self.moved(stmt, new)
        return new

    def _test(self, stmt: ir.While, keep: list[bool]) -> ir.Block:
        stmts = [self.stmt(s) for s in stmt.test.stmts if id(s) in self.kept]
        params = self._kept(stmt.test.params, keep)
        if len(params) == len(stmt.test.params) and len(stmts) == len(stmt.test.stmts):
            if all(a is b for a, b in zip(stmts, stmt.test.stmts)):
                return stmt.test
        return ir.Block(params, stmts, stmt.test.yields)

    @staticmethod
    def _kept(items, keep):  # type: ignore[no-untyped-def]
        return tuple(x for x, k in zip(items, keep) if k)
