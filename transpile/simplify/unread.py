"""Removes what nobody reads: lets, results of branches, carried values, writes to buffers that are not read, captured numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.functions import must_run
from transpile.core.walk import blocks, reads


def prune(fn: ir.Function) -> ir.Function:
    """The function with only the statements that its results, its effects or a caller's array need."""
    marker = _Marker(fn)
    marker.mark()
    body = _swept(fn.body, marker.needed)
    split = len(fn.params) - len(fn.captured)
    kept = [k for k, v in enumerate(fn.params[split:]) if v in marker.needed or v.type.dims]
    params = (*fn.params[:split], *(fn.params[split + k] for k in kept))
    captured = tuple(fn.captured[k] for k in kept)  # of tables a call may read only a few numbers
    taken = fn.taken.with_outside(kept)
    symbols = {k: v for k, v in fn.symbols.items() if not isinstance(v, ir.Var) or v in marker.needed or v in params}
    return replace(fn, params=params, captured=captured, body=body, symbols=symbols, taken=taken)


class _Marker:
    """Finds the variables that are needed."""

    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.needed: set[ir.Var] = set()
        self.stack: list[ir.Var] = []
        self.made: dict[ir.Var, tuple[Any, int]] = {}  # variable -> (statement, number of the result or parameter)
        self.around: dict[int, Any] = {}  # statement -> the statement around it
        self.writes: dict[ir.Var, list[Any]] = {}
        self.control: set[int] = set()
        self.roots: list[Any] = []
        self._index(fn.body, None)

    def _index(self, block: ir.Block, around: Any) -> None:
        for stmt in block.stmts:
            self.around[id(stmt)] = around
            if must_run(stmt):
                self.roots.append(stmt)
            match stmt:
                case ir.Let() | ir.Alloc() | ir.NewStack():
                    self.made[stmt.var] = (stmt, 0)
                case ir.Pop():
                    self.made[stmt.var] = (stmt, 0)
                    self.writes.setdefault(stmt.stack, []).append(stmt)
                case ir.Store() | ir.Add():
                    self.writes.setdefault(stmt.buf, []).append(stmt)
                case ir.Push():
                    self.writes.setdefault(stmt.stack, []).append(stmt)
                case ir.Effect():
                    self.roots.append(stmt)
                case ir.If() | ir.For() | ir.While() | ir.Call():
                    for k, var in enumerate(stmt.results):
                        self.made[var] = (stmt, k)
                    trips = getattr(stmt, "trips", None)
                    if trips is not None:
                        self.made[trips] = (stmt, -1)
                    if isinstance(stmt, ir.For):
                        self.made[stmt.index] = (stmt, -1)
                    for inner in blocks(stmt):
                        for k, var in enumerate(inner.params):
                            self.made[var] = (stmt, k)
                        self._index(inner, stmt)

    def mark(self) -> None:
        for op in self.fn.body.yields:
            self.need(op)
        for var in self.fn.params:
            if var.buffer:
                self.need(var)
        for stmt in self.roots:
            self.need_stmt(stmt)
        while self.stack:
            self._visit(self.stack.pop())

    def need(self, op: ir.Operand | None) -> None:
        if isinstance(op, ir.Var) and op not in self.needed:
            self.needed.add(op)
            self.stack.append(op)

    def need_stmt(self, stmt: Any) -> None:
        for op in reads(stmt):
            self.need(op)
        self.need_control(self.around[id(stmt)])

    def need_control(self, stmt: Any) -> None:
        while stmt is not None and id(stmt) not in self.control:
            self.control.add(id(stmt))
            match stmt:
                case ir.If():
                    self.need(stmt.test)
                case ir.For():
                    for op in (stmt.start, stmt.bound, stmt.step, stmt.body.stop):
                        self.need(op)
                case ir.While():
                    for op in (*stmt.test.yields, stmt.body.stop):
                        self.need(op)
            stmt = self.around[id(stmt)]

    def _visit(self, var: ir.Var) -> None:
        parts = [d for t in (var.type, *var.type.items) for d in t.dims]
        for dim in (*parts, *([var.form] if var.form is not None else [])):
            for symbol in dim.symbols():
                self.need(self.fn.symbols.get(symbol))
        for write in self.writes.get(var, ()):
            self.need_stmt(write)
            if isinstance(write, ir.Pop):
                self.need(write.var)
        found = self.made.get(var)
        if found is None:
            return
        stmt, k = found
        match stmt:
            case ir.Let() | ir.Alloc() | ir.NewStack() | ir.Pop() | ir.Call():
                self.need_stmt(stmt)
                if isinstance(stmt, ir.Call):  # all its results are there, read or not
                    for result in stmt.results:
                        self.need(result)
                if isinstance(stmt, (ir.Let, ir.Alloc)):
                    for value in stmt.params.values():
                        for dim in value if isinstance(value, tuple) else ():
                            for symbol in dim.symbols() if hasattr(dim, "symbols") else ():
                                self.need(self.fn.symbols.get(symbol))
            case ir.If():
                self.need_control(stmt)
                self.need(stmt.then.yields[k])
                self.need(stmt.orelse.yields[k])
            case ir.For() | ir.While():
                self.need_control(stmt)
                if k >= 0:
                    self.need(stmt.inits[k])
                    self.need(stmt.body.yields[k])


def _swept(block: ir.Block, needed: set[ir.Var]) -> ir.Block:
    stmts: list[ir.Stmt] = []
    for stmt in block.stmts:
        kept = _swept_stmt(stmt, needed)
        if kept is not None:
            stmts.append(kept)
    return replace(block, stmts=stmts)


def _swept_stmt(stmt: ir.Stmt, needed: set[ir.Var]) -> ir.Stmt | None:
    match stmt:
        case ir.Let() | ir.Alloc() | ir.NewStack() | ir.Pop():
            return stmt if stmt.var in needed or must_run(stmt) else None
        case ir.Store() | ir.Add():
            return stmt if stmt.buf in needed else None
        case ir.Push():
            return stmt if stmt.stack in needed else None
        case ir.Call():
            return stmt if any(v in needed for v in stmt.results) or must_run(stmt) else None
        case ir.If():
            return _swept_if(stmt, needed)
        case ir.For() | ir.While():
            return _swept_loop(stmt, needed)
    return stmt


def _swept_if(stmt: ir.If, needed: set[ir.Var]) -> ir.If | None:
    keep = [k for k, v in enumerate(stmt.results) if v in needed]
    then, orelse = (
        replace(_swept(b, needed), yields=tuple(b.yields[k] for k in keep)) for b in (stmt.then, stmt.orelse)
    )
    if not (keep or then.stmts or orelse.stmts):
        return None
    return replace(stmt, then=then, orelse=orelse, results=tuple(stmt.results[k] for k in keep))


def _swept_loop(stmt: Any, needed: set[ir.Var]) -> Any:
    params = list(
        zip(stmt.body.params, stmt.results, stmt.test.params if isinstance(stmt, ir.While) else stmt.body.params)
    )
    keep = [k for k, group in enumerate(params) if any(v in needed for v in group)]

    def kept(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(items[k] for k in keep)

    body = replace(_swept(stmt.body, needed), params=kept(stmt.body.params), yields=kept(stmt.body.yields))
    trips = stmt.trips if stmt.trips in needed else None
    if not (keep or body.stmts or trips):
        return None
    new = replace(stmt, inits=kept(stmt.inits), results=kept(stmt.results), body=body, trips=trips)
    if isinstance(new, ir.While):
        new.test = replace(_swept(stmt.test, needed), params=kept(stmt.test.params))
    return new
