"""Small clean-ups after a transform: what a loop carries unchanged is not carried, branches that do nothing vanish, what is
computed twice in sight of each other is computed once.

    s_bar = 1.0                              x_bar[i] += x[i]
    for i in ...:                     ->     (with 1.0 for s_bar)
        x_bar[i] += s_bar * x[i]
        s_bar = s_bar
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transpile.core.nodes import Block, Const, For, Function, If, Let, Operand, Stmt, Undef, Var, While
from transpile.core.peephole import is_const
from transpile.core.walk import map_reads, reads
from transpile.rules import prims

Moved = Callable[[object, object], None]


def tidy(fn: Function) -> Function:
    """``fn`` without invariant carries and empty branches."""
    symbols = dict(fn.symbols)
    body = tidy_block(fn.body, symbols)
    return fn if body is fn.body else replace(fn, body=body, symbols=symbols)


def tidy_block(block: Block, symbols: dict[str, Operand], moved: Moved = lambda old, new: None) -> Block:
    """``block`` tidied; ``symbols`` are kept up to date."""
    tidying = _Tidy(moved)
    new = tidying.block(block)
    symbols.update((name, tidying.operand(operand)) for name, operand in symbols.items())
    return new


class _Tidy:
    """Rebuilds a block while operands are replaced by what they are equal to."""

    def __init__(self, moved: Moved) -> None:
        self.equal: dict[Var, Operand] = {}
        self.known: dict[tuple[object, ...], Var] = {}  # what has been computed in this block and around it
        self.moved = moved

    def operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Var) and operand in self.equal:
            operand = self.equal[operand]
        return operand

    def block(self, block: Block) -> Block:
        around, self.known = self.known, dict(self.known)
        try:
            return self._block(block)
        finally:
            self.known = around

    def _block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            new = self.stmt(stmt)
            if new is not None:
                stmts.append(new)
        yields = tuple(self.operand(o) for o in block.yields)
        stop = None if block.stop is None else self.operand(block.stop)
        same = len(stmts) == len(block.stmts) and all(a is b for a, b in zip(stmts, block.stmts))
        if same and all(a is b for a, b in zip(yields, block.yields)) and stop is block.stop:
            return block
        new_block = Block(block.params, stmts, yields, stop)
        self.moved(block, new_block)
        return new_block

    def stmt(self, stmt: Stmt) -> Stmt | None:
        changed = any(isinstance(o, Var) and o in self.equal for o in reads(stmt))
        base = map_reads(stmt, self.operand) if changed else stmt
        match base:
            case If():
                new = self.branch(base)
            case For() | While():
                new = self.loop(base)
            case Let() if changed and (same := _identity(base)) is not None:
                self.equal[base.var] = same
                return None
            case Let() if (key := _key(base)) is not None:
                same = self.known.setdefault(key, base.var)
                if same is not base.var and base.var.name == "t" and same.type == base.var.type:
                    self.equal[base.var] = same
                    return None
                return base
            case _:
                return base
        if new is not None and new is not stmt:
            self.moved(stmt, new)
        return new

    def branch(self, stmt: If) -> Stmt | None:
        then, orelse = self.block(stmt.then), self.block(stmt.orelse)
        keep = []
        for r, a, b in zip(stmt.results, then.yields, orelse.yields):
            joined = a if a is b or (isinstance(a, Const) and a == b) else None
            if joined is not None and not isinstance(joined, Undef):
                self.equal[r] = joined
            keep.append(joined is None)
        if not then.stmts and not orelse.stmts and not any(keep):
            return None
        if then is stmt.then and orelse is stmt.orelse and all(keep):
            return stmt
        if not all(keep):
            then, orelse = self._yields(then, keep), self._yields(orelse, keep)
        return replace(stmt, then=then, orelse=orelse, results=tuple(r for r, k in zip(stmt.results, keep) if k))

    def _yields(self, block: Block, keep: list[bool]) -> Block:
        new = replace(block, yields=tuple(y for y, k in zip(block.yields, keep) if k))
        self.moved(block, new)
        return new

    def loop(self, stmt: For | While) -> Stmt:
        body = stmt.body
        keep = []
        for k, (p, init, out, r) in enumerate(zip(body.params, stmt.inits, body.yields, stmt.results)):
            fixed = (out is p or (isinstance(out, Const) and out == init)) and not isinstance(init, Undef)
            if fixed:
                self.equal[p] = self.equal[r] = init
                if isinstance(stmt, While):
                    self.equal[stmt.test.params[k]] = init
            keep.append(not fixed)
        new_body = self.block(body)
        test = self.block(stmt.test) if isinstance(stmt, While) else None
        if all(keep) and new_body is body and (test is None or test is stmt.test):  # type: ignore[union-attr]
            return stmt
        if not all(keep):
            trimmed = replace(
                new_body,
                params=tuple(p for p, k in zip(body.params, keep) if k),
                yields=tuple(y for y, k in zip(new_body.yields, keep) if k),
            )
            self.moved(new_body if new_body is not body else body, trimmed)
            new_body = trimmed
        new = replace(
            stmt,
            body=new_body,
            inits=tuple(i for i, k in zip(stmt.inits, keep) if k),
            results=tuple(r for r, k in zip(stmt.results, keep) if k),
        )
        if isinstance(new, While):
            assert test is not None
            new = replace(new, test=replace(test, params=tuple(p for p, k in zip(stmt.test.params, keep) if k)))  # type: ignore[union-attr]
        return new


def _identity(stmt: Let) -> Operand | None:
    """What ``1 * x``, ``x * 1`` and ``x / 1`` are; such products appear when a carried 1 is no longer carried."""
    if stmt.prim == "mul":
        pairs = [(stmt.args[0], stmt.args[1]), (stmt.args[1], stmt.args[0])]
    elif stmt.prim == "div":
        pairs = [(stmt.args[1], stmt.args[0])]
    else:
        return None
    for one, other in pairs:
        if is_const(one, 1) and isinstance(other, Var) and other.type == stmt.var.type:
            return other
    return None


def _key(stmt: Let) -> tuple[object, ...] | None:
    """What two computations of the same value have in common; None for reads of buffers and all but cheap forms."""
    entry = prims()[stmt.prim]
    if not (entry.elementwise or stmt.prim in ("cast", "broadcast", "reshape", "transpose", "dim")):
        return None
    if any(isinstance(a, Var) and a.buffer for a in stmt.args):
        return None
    args = tuple(a if isinstance(a, Var) else (repr(getattr(a, "value", None)), a.type) for a in stmt.args)
    return (stmt.prim, args, tuple(sorted((k, repr(v)) for k, v in stmt.params.items())))
