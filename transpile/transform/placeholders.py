"""Zeros in the place of nothing, where what may be undefined is moved: recorded on a tape, copied, or read by compiled code.

    for i in range(n):                      p = 0.0
        p_tape[i] = p          ->           for i in range(n):
        if c:                                   p_tape[i] = p
            p = ...                             if c:
        r += p                                      p = ...
                                                r += p

Nobody looks at these zeros: a check before each read of the user's raises UnboundLocalError where there is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from transpile.analysis.undefined import Undefined, has_trip, is_left
from transpile.core.dims import Dim
from transpile.core.nodes import (
    SYNTHETIC,
    Alloc,
    Block,
    Const,
    For,
    Function,
    If,
    Let,
    Loc,
    Operand,
    Push,
    Stmt,
    Store,
    Undef,
    Var,
    While,
)
from transpile.core.types import Type
from transpile.core.walk import defines


def is_size(stmt: Stmt, var: Var) -> bool:
    """Whether the statement asks for the size of a value, or makes an array of that size: no read of the user's."""
    return isinstance(stmt, (Let, Alloc)) and (stmt.prim == "dim" or not any(a is var for a in stmt.args))


def is_move(stmt: Stmt, var: Var) -> bool:
    """Whether the statement does so, or copies a value as it is, whatever it is."""
    return is_size(stmt, var) or isinstance(stmt, (Store, Push)) or (isinstance(stmt, Alloc) and stmt.prim == "copy")


def is_any(stmt: Stmt, var: Var) -> bool:
    return True


def with_placeholders(fn: Function, is_asked: Callable[[Stmt, Var], bool] | None) -> Function:
    """The function with zeros for what may be undefined where such a statement reads it; None: for all."""
    facts = Undefined(fn)
    wanted = facts.maybe if is_asked is None else facts.reads(is_asked)
    if not wanted:
        return fn
    return replace(fn, body=_Filler(fn, _reached(facts, wanted)).block(fn.body))


def _reached(facts: Undefined, wanted: Iterable[Var]) -> set[Var]:
    """All whose values may be values of these."""
    found = set(wanted)
    queue = list(found)
    while queue:
        for op in facts.sources.get(queue.pop(), ()):
            if isinstance(op, Var) and op in facts.maybe and op not in found:
                found.add(op)
                queue.append(op)
    return found


class _Filler:
    def __init__(self, fn: Function, wanted: set[Var]) -> None:
        self.symbols, self.wanted = fn.symbols, wanted
        self.visible: list[Var] = list(fn.params)

    def block(self, block: Block, asked: Sequence[Var | None] = (), loc: Loc | None = None) -> Block:
        """The block; what it yields for ``asked`` is a value."""
        outside = len(self.visible)
        self.visible += block.params
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            self.stmt(stmt, stmts)
            self.visible += defines(stmt)
        yields = block.yields if loc is None else self.filled(block.yields, asked, stmts, loc)
        del self.visible[outside:]
        return replace(block, stmts=stmts, yields=yields)

    def stmt(self, stmt: Stmt, out: list[Stmt]) -> None:
        match stmt:
            case If():
                asked = [r if r in self.wanted else None for r in stmt.results]
                sides = [self.block(b, () if is_left(b) else asked, stmt.loc) for b in (stmt.then, stmt.orelse)]
                stmt = replace(stmt, then=sides[0], orelse=sides[1])
            case For() | While():
                asked = [p if self.is_carried(stmt, k) else None for k, p in enumerate(stmt.body.params)]
                inits = self.filled(stmt.inits, asked, out, stmt.loc)
                ends = [
                    p if a or self.is_result(stmt, k) else None for k, (a, p) in enumerate(zip(asked, stmt.body.params))
                ]
                if isinstance(stmt, While):
                    stmt = replace(stmt, test=self.block(stmt.test))
                stmt = replace(stmt, inits=inits, body=self.block(stmt.body, ends, stmt.loc))
        out.append(stmt)

    def is_carried(self, stmt: For | While, k: int) -> bool:
        params = [stmt.body.params[k], *([stmt.test.params[k]] if isinstance(stmt, While) else [])]
        return not self.wanted.isdisjoint(params) or (not has_trip(stmt) and self.is_result(stmt, k))

    def is_result(self, stmt: For | While, k: int) -> bool:
        return k < len(stmt.results) and stmt.results[k] in self.wanted

    def filled(
        self, ops: Sequence[Operand], asked: Sequence[Var | None], out: list[Stmt], loc: Loc
    ) -> tuple[Operand, ...]:
        pairs = zip(ops, asked) if asked else ((op, None) for op in ops)
        return tuple(op if var is None or not isinstance(op, Undef) else self.zero(var, out, loc) for op, var in pairs)

    def zero(self, var: Var, out: list[Stmt], loc: Loc) -> Operand:
        dtype = var.type.dtype
        number = Const(False if var.type.is_bool else 0.0 if var.type.is_float else 0, replace(var.type, dims=()))
        if not var.type.dims:
            return number
        dims = tuple(self.known(d, out, loc) for d in var.type.dims)
        made = Var(var.name or SYNTHETIC, Type(dtype, dims))
        out.append(Let(made, "full", (replace(number, type=Type(dtype)),), {"dims": dims, "dtype": dtype}, loc))
        return made

    def known(self, dim: Dim, out: list[Stmt], loc: Loc) -> Dim:
        """The size where it has a value here, else 0: what has a size that nobody knows yet is never read."""
        return dim if all(self.has(name, out, loc) for name in dim.symbols()) else Dim(0)

    def has(self, name: str, out: list[Stmt], loc: Loc) -> bool:
        op = self.symbols.get(name)
        return op is not None and (not isinstance(op, Var) or any(v is op for v in self.visible))
