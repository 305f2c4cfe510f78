"""Generic access to statements: operands, definitions, nested blocks, cloning with substitution.

This module describes each kind of statement once. A pass that only needs to know what a statement reads or defines asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type


def first_read(fn: ir.Function, positions: Iterable[int]) -> tuple[ir.Var, ir.Stmt] | None:
    """The first of the parameters at ``positions`` whose elements a statement reads, not only its sizes, and the statement;
    None if there is none."""
    params = {fn.params[k] for k in positions}
    for stmt in statements(fn.body):
        if not (isinstance(stmt, ir.Let) and stmt.prim == "dim"):
            for operand in reads(stmt):
                if operand in params:
                    return operand, stmt
    return None


def reads(stmt: ir.Stmt) -> tuple[ir.Operand, ...]:
    """The operands that the statement itself reads, without nested blocks; the buffer of a `Store` does not count as read."""
    match stmt:
        case ir.Let() | ir.Alloc() | ir.Print() | ir.Raise() | ir.Call():
            return stmt.args
        case ir.BoundsCheck():
            return stmt.operands
        case ir.Check():
            return (stmt.test,)
        case ir.Store() | ir.Add():
            return (*stmt.args, stmt.value)
        case ir.PacketRead():
            return (stmt.buf, *stmt.args, *(() if stmt.mask is None else (stmt.mask,)))
        case ir.PacketStore():
            return (*stmt.args, stmt.value, *(() if stmt.mask is None else (stmt.mask,)))
        case ir.If():
            return (stmt.test,)
        case ir.For():
            return (stmt.start, stmt.bound, stmt.step, *stmt.inits)
        case ir.While():
            return stmt.inits
        case ir.Push():
            return (stmt.value,)
        case ir.Pop():
            return (stmt.stack,)
        case ir.NewStack():
            return ()
    raise TypeError(stmt)


def dim_symbols(stmt: ir.Stmt) -> tuple[str, ...]:
    """The symbols in the params of a *let* or an allocation, which it needs at run time; empty for an ``index``, whose dims
    only describe its result."""
    if not isinstance(stmt, (ir.Let, ir.Alloc)) or stmt.prim == "index":
        return ()
    found: dict[str, None] = {}
    for value in stmt.params.values():
        for dim in value if isinstance(value, tuple) else (value,):
            if isinstance(dim, Dim):
                found.update(dict.fromkeys(dim.symbols()))
    return tuple(found)


def type_symbols(type_: Type) -> Iterator[str]:
    """The symbols in the dims of a type, or of the types of its items; one may be repeated."""
    for part in (type_, *type_.items):
        for dim in part.dims:
            yield from dim.symbols()


def symbols(block: ir.Block) -> tuple[str, ...]:
    """The symbols that occur in a block, nested blocks included, each once: in types and params of definitions and as loop
    indices."""
    found: dict[str, None] = {}
    for var in defined(block):
        found.update(dict.fromkeys(type_symbols(var.type)))
    for stmt in statements(block):
        found.update(dict.fromkeys((*dim_symbols(stmt), *index_symbols(stmt))))
    return tuple(found)


def index_symbols(stmt: ir.Stmt) -> tuple[str, ...]:
    """The symbols that stand for the index of the statement, if it is a loop that has one; else empty."""
    return stmt.symbol.symbols() if isinstance(stmt, ir.For) and stmt.symbol is not None else ()


def symbols_of(fn: ir.Function) -> set[str]:
    """The symbols that occur in a function or in the types of its parameters, including those without an operand."""
    return {*fn.symbols, *symbols(fn.body), *(name for p in fn.params for name in type_symbols(p.type))}


def written(stmt: ir.Stmt) -> ir.Var | None:
    """The buffer or stack that the statement itself changes, or None."""
    match stmt:
        case ir.Store() | ir.Add() | ir.PacketStore():
            return stmt.buf
        case ir.Push() | ir.Pop():
            return stmt.stack
    return None


def defines(stmt: ir.Stmt) -> tuple[ir.Var, ...]:
    """The variables that the statement defines in its own block."""
    match stmt:
        case ir.Let() | ir.Alloc() | ir.NewStack() | ir.Pop() | ir.PacketRead():
            return (stmt.var,)
        case ir.If() | ir.Call():
            return stmt.results
        case ir.For() | ir.While():
            return stmt.results if stmt.trips is None else (*stmt.results, stmt.trips)
    return ()


_BLOCKS: dict[
    type, Callable[[Any], tuple[ir.Block, ...]]
] = {  # a table for speed: every statement is looked up many times
    ir.If: lambda stmt: (stmt.then, stmt.orelse),
    ir.For: lambda stmt: (stmt.body,),
    ir.While: lambda stmt: (stmt.test, stmt.body),
}


def blocks(stmt: ir.Stmt) -> tuple[ir.Block, ...]:
    """The blocks nested directly in the statement, in order; empty for one that is neither a branch nor a loop."""
    found = _BLOCKS.get(type(stmt))
    return () if found is None else found(stmt)


def leaves(block: ir.Block) -> tuple[ir.Operand, ...]:
    """The operands that the end of a block reads: its yields and its stop."""
    return block.yields if block.stop is None else (*block.yields, block.stop)


def statements(block: ir.Block) -> Iterator[ir.Stmt]:
    """All statements of a block, nested ones included, outer before inner."""
    for stmt in block.stmts:
        yield stmt
        if type(stmt) in _BLOCKS:
            for inner in blocks(stmt):
                yield from statements(inner)


def uses(block: ir.Block) -> Iterator[ir.Operand]:
    """Every operand read anywhere in a block, nested blocks and all yields and stops included, as often as it is read."""
    for stmt in statements(block):
        yield from reads(stmt)
        for inner in blocks(stmt):
            yield from leaves(inner)
    yield from leaves(block)


def defined(block: ir.Block) -> Iterator[ir.Var]:
    """Every variable defined anywhere in a block: parameters, loop indices and results, nested blocks included."""
    yield from block.params
    for stmt in block.stmts:
        if isinstance(stmt, ir.For):
            yield stmt.index
        yield from defines(stmt)
        for inner in blocks(stmt):
            yield from defined(inner)


def free(block: ir.Block) -> tuple[ir.Var, ...]:
    """The variables that a block, nested blocks included, reads or writes without defining them, each once."""
    own = set(defined(block))
    found: dict[ir.Var, None] = {}
    for stmt in statements(block):
        root = written(stmt)
        if root is not None and root not in own:
            found[root] = None
        for operand in reads(stmt):
            if isinstance(operand, ir.Var) and operand not in own:
                found[operand] = None
        for inner in blocks(stmt):
            found.update((v, None) for v in leaves(inner) if isinstance(v, ir.Var) and v not in own)
    found.update((v, None) for v in leaves(block) if isinstance(v, ir.Var) and v not in own)
    return tuple(found)


def written_in(block: ir.Block) -> tuple[ir.Var, ...]:
    """The buffers and stacks that statements in a block write, nested ones included, each once, also those defined in the
    block."""
    found: dict[ir.Var, None] = {}
    for stmt in statements(block):
        root = written(stmt)
        if root is not None:
            found[root] = None
    return tuple(found)


# --------------------------------------------------------------------------------------------------- rewriting


def map_reads(
    stmt: ir.Stmt, f: Callable[[ir.Operand], ir.Operand], root: Callable[[ir.Var], ir.Var] = lambda v: v
) -> ir.Stmt:
    """The statement with ``f(operand)`` for each operand that it reads itself and ``root(buffer)`` for a buffer or stack that
    it writes or a packet reads; nested blocks are unchanged."""

    def many(operands: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
        return tuple(f(o) for o in operands)

    match stmt:
        case ir.Let() | ir.Alloc() | ir.Print() | ir.Raise() | ir.Call():
            return replace(stmt, args=many(stmt.args))
        case ir.BoundsCheck():
            guard = None if stmt.guard is None else f(stmt.guard)
            return replace(stmt, at=f(stmt.at), size=f(stmt.size), given=f(stmt.given), guard=guard)
        case ir.Check():
            return replace(stmt, test=f(stmt.test))
        case ir.Store() | ir.Add():
            return replace(stmt, buf=root(stmt.buf), args=many(stmt.args), value=f(stmt.value))
        case ir.PacketRead():
            mask = None if stmt.mask is None else f(stmt.mask)
            return replace(stmt, buf=root(stmt.buf), args=many(stmt.args), mask=mask)
        case ir.PacketStore():
            mask = None if stmt.mask is None else f(stmt.mask)
            return replace(stmt, buf=root(stmt.buf), args=many(stmt.args), value=f(stmt.value), mask=mask)
        case ir.If():
            return replace(stmt, test=f(stmt.test))
        case ir.For():
            return replace(stmt, start=f(stmt.start), bound=f(stmt.bound), step=f(stmt.step), inits=many(stmt.inits))
        case ir.While():
            return replace(stmt, inits=many(stmt.inits))
        case ir.Push():
            return replace(stmt, stack=root(stmt.stack), value=f(stmt.value))
        case ir.Pop():
            return replace(stmt, stack=root(stmt.stack))
        case ir.NewStack():
            return stmt
    raise TypeError(stmt)


def map_operands(
    stmt: ir.Stmt, f: Callable[[ir.Operand], ir.Operand], root: Callable[[ir.Var], ir.Var] = lambda v: v
) -> ir.Stmt:
    """The statement with ``f(operand)`` for every operand, in nested blocks too, and ``root(buffer)`` for every written buffer
    or stack; what it defines is unchanged."""

    def block(b: ir.Block) -> ir.Block:
        return ir.Block(
            b.params,
            [map_operands(s, f, root) for s in b.stmts],
            tuple(f(o) for o in b.yields),
            None if b.stop is None else f(b.stop),
        )

    stmt = map_reads(stmt, f, root)
    match stmt:
        case ir.If():
            return replace(stmt, then=block(stmt.then), orelse=block(stmt.orelse))
        case ir.For():
            return replace(stmt, body=block(stmt.body))
        case ir.While():
            return replace(stmt, test=block(stmt.test), body=block(stmt.body))
    return stmt


class Cloner:
    """Copies blocks, with a fresh variable for each one that they define.

    ``mapping`` maps free variables to their replacements; cloning adds the variables that it renames. ``dims`` replaces symbols
    in types and in symbolic params.
    """

    def __init__(
        self, mapping: dict[ir.Var, ir.Operand] | None = None, dims: Callable[[str], Dim | None] | None = None
    ) -> None:
        self.mapping: dict[ir.Var, ir.Operand] = dict(mapping or {})
        self.dims = dims

    def type(self, type_: Type) -> Type:
        return type_ if self.dims is None else resized(type_, self.dims)

    def fresh(self, var: ir.Var) -> ir.Var:
        """A new variable that replaces ``var`` from here on, of the same name and its type with the symbols replaced."""
        new = ir.Var(var.name, self.type(var.type), var.buffer)
        self.mapping[var] = new
        return new

    def operand(self, operand: ir.Operand) -> ir.Operand:
        return self.mapping.get(operand, operand) if isinstance(operand, ir.Var) else operand

    def root(self, var: ir.Var) -> ir.Var:
        new = self.mapping.get(var, var)
        assert isinstance(new, ir.Var)
        return new

    def params(self, params):  # type: ignore[no-untyped-def]
        if self.dims is None:
            return params
        return {k: _map_dims(v, self.dims) for k, v in params.items()}

    def block(self, block: ir.Block) -> ir.Block:
        params = tuple(self.fresh(v) for v in block.params)
        stmts = [self.stmt(s) for s in block.stmts]
        yields = tuple(self.operand(o) for o in block.yields)
        return ir.Block(params, stmts, yields, None if block.stop is None else self.operand(block.stop))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A copy of the statement with the operands replaced and with new variables for those that it defines."""
        new = map_reads(stmt, self.operand, self.root)
        match new:
            case ir.Let() | ir.Alloc():
                return replace(new, var=self.fresh(new.var), params=self.params(new.params))
            case ir.NewStack() | ir.Pop() | ir.PacketRead():
                return replace(new, var=self.fresh(new.var))
            case ir.If():
                then, orelse = self.block(new.then), self.block(new.orelse)
                return replace(new, then=then, orelse=orelse, results=tuple(self.fresh(v) for v in new.results))
            case ir.For():
                index = self.fresh(new.index)
                body = self.block(new.body)
                results = tuple(self.fresh(v) for v in new.results)
                trips = None if new.trips is None else self.fresh(new.trips)
                symbol = new.symbol if self.dims is None else substituted(new.symbol, self.dims)
                return replace(new, index=index, body=body, results=results, trips=trips, symbol=symbol)
            case ir.Call():
                return replace(new, results=tuple(self.fresh(v) for v in new.results))
            case ir.While():
                test, body = self.block(new.test), self.block(new.body)
                results = tuple(self.fresh(v) for v in new.results)
                trips = None if new.trips is None else self.fresh(new.trips)
                return replace(new, test=test, body=body, results=results, trips=trips)
        return new

    def function(self, fn: ir.Function) -> ir.Function:
        """A copy of the function with new parameters and variables."""
        params = tuple(self.fresh(v) for v in fn.params)
        body = self.block(fn.body)
        symbols = {k: self.operand(v) for k, v in fn.symbols.items()}
        return replace(fn, params=params, body=body, symbols=symbols)


def _map_dims(value, dims):  # type: ignore[no-untyped-def]
    if isinstance(value, Dim):
        return value.substitute(dims)
    if isinstance(value, tuple) and any(isinstance(v, Dim) for v in value):
        return tuple(v.substitute(dims) if isinstance(v, Dim) else v for v in value)
    return value


def resize(block: ir.Block, sizes: Mapping[str, Dim]) -> None:
    """Replaces symbols of sizes by the forms in ``sizes``, in place: in the types of all variables that a block defines, in
    params and in the symbols of loops."""
    for var in defined(block):
        var.type = resized(var.type, sizes.get)
    for stmt in statements(block):
        if isinstance(stmt, (ir.Let, ir.Alloc)):
            stmt.params = {k: _map_dims(v, sizes.get) for k, v in stmt.params.items()}
        elif isinstance(stmt, ir.For):
            stmt.symbol = substituted(stmt.symbol, sizes.get)


def substituted(symbol: Dim | None, dims: Callable[[str], Dim | None]) -> Dim | None:
    """The symbol of a loop with each symbol in it replaced by ``dims(name)``, or kept where that is None; None stays None."""
    return None if symbol is None else symbol.substitute(dims)


def resized(type_: Type, dims: Callable[[str], Dim | None]) -> Type:
    """The type with each symbol in its dims, or in those of its items, replaced by ``dims(name)``, or kept where that is
    None."""
    if type_.items:
        return replace(type_, items=tuple(resized(t, dims) for t in type_.items))
    return type_.with_dims(tuple(d.substitute(dims) for d in type_.dims)) if type_.dims else type_
