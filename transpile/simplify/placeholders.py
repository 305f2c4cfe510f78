"""Puts zeros in place of undefined values where these are moved: recorded on a tape, copied, or read by compiled code.

    for i in range(n):                      p = 0.0
        p_tape[i] = p          ->           for i in range(n):
        if c:                                   p_tape[i] = p
            p = ...                             if c:
        r += p                                      p = ...
                                                r += p

The zeros are never used: a check before each read in the user's code raises UnboundLocalError if there is no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from transpile.analysis.undefined import Undefined, has_trip, is_left
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.core.walk import defines


def is_size(stmt: ir.Stmt, var: ir.Var) -> bool:
    """Whether the statement reads only a size of ``var`` (``dim``), or computes or allocates something of that size without
    reading ``var`` itself. Neither is a read in the user's code."""
    return isinstance(stmt, (ir.Let, ir.Alloc)) and (stmt.prim == "dim" or not any(a is var for a in stmt.args))


def is_move(stmt: ir.Stmt, var: ir.Var) -> bool:
    """Whether the statement reads only the size of ``var``, or copies its value unchanged: a store, a push, or an allocation as
    a copy."""
    return (
        is_size(stmt, var)
        or isinstance(stmt, (ir.Store, ir.Push))
        or (isinstance(stmt, ir.Alloc) and stmt.prim == "copy")
    )


def is_any(stmt: ir.Stmt, var: ir.Var) -> bool:
    """True: selects every read."""
    return True


def with_placeholders(fn: ir.Function, is_asked: Callable[[ir.Stmt, ir.Var], bool] | None) -> ir.Function:
    """The function with zeros for variables that may be undefined where a statement reads them for which ``is_asked(statement,
    variable)`` is true; with None, for all variables that may be undefined. ``fn`` itself if there are none."""
    facts = Undefined(fn)
    wanted = facts.maybe if is_asked is None else facts.reads(is_asked)
    if not wanted:
        return fn
    return replace(fn, body=_Filler(fn, _reached(facts, wanted)).block(fn.body))


def _reached(facts: Undefined, wanted: Iterable[ir.Var]) -> set[ir.Var]:
    """The variables in ``wanted``, and those that may be undefined and whose values may flow into them, as a new set."""
    found = set(wanted)
    queue = list(found)
    while queue:
        for op in facts.sources.get(queue.pop(), ()):
            if isinstance(op, ir.Var) and op in facts.maybe and op not in found:
                found.add(op)
                queue.append(op)
    return found


class _Filler:
    def __init__(self, fn: ir.Function, wanted: set[ir.Var]) -> None:
        self.symbols, self.wanted = fn.symbols, wanted
        self.visible: list[ir.Var] = list(fn.params)

    def block(self, block: ir.Block, asked: Sequence[ir.Var | None] = (), loc: ir.Loc | None = None) -> ir.Block:
        """A new block, with zeros for each undefined yield whose entry in ``asked`` is not None. ``loc``: the place of the
        statements for these zeros; None if the yields stay as they are."""
        outside = len(self.visible)
        self.visible += block.params
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            self.stmt(stmt, stmts)
            self.visible += defines(stmt)
        yields = block.yields if loc is None else self.filled(block.yields, asked, stmts, loc)
        del self.visible[outside:]
        return replace(block, stmts=stmts, yields=yields)

    def stmt(self, stmt: ir.Stmt, out: list[ir.Stmt]) -> None:
        """Appends the statement to ``out``, with zeros for undefined values that its branches yield or its loop carries,
        preceded by what computes them."""
        match stmt:
            case ir.If():
                asked = [r if r in self.wanted else None for r in stmt.results]
                sides = [self.block(b, () if is_left(b) else asked, stmt.loc) for b in (stmt.then, stmt.orelse)]
                stmt = replace(stmt, then=sides[0], orelse=sides[1])
            case ir.For() | ir.While():
                asked = [p if self.is_carried(stmt, k) else None for k, p in enumerate(stmt.body.params)]
                inits = self.filled(stmt.inits, asked, out, stmt.loc)
                ends = [
                    p if a or self.is_result(stmt, k) else None for k, (a, p) in enumerate(zip(asked, stmt.body.params))
                ]
                if isinstance(stmt, ir.While):
                    stmt = replace(stmt, test=self.block(stmt.test))
                stmt = replace(stmt, inits=inits, body=self.block(stmt.body, ends, stmt.loc))
        out.append(stmt)

    def is_carried(self, stmt: ir.For | ir.While, k: int) -> bool:
        """Whether the value that the loop carries at position ``k`` must be defined from the start: in the body, or as the
        result if there may be no iteration."""
        params = [stmt.body.params[k], *([stmt.test.params[k]] if isinstance(stmt, ir.While) else [])]
        return not self.wanted.isdisjoint(params) or (not has_trip(stmt) and self.is_result(stmt, k))

    def is_result(self, stmt: ir.For | ir.While, k: int) -> bool:
        """Whether the result of the loop at position ``k`` must be defined."""
        return k < len(stmt.results) and stmt.results[k] in self.wanted

    def filled(
        self, ops: Sequence[ir.Operand], asked: Sequence[ir.Var | None], out: list[ir.Stmt], loc: ir.Loc
    ) -> tuple[ir.Operand, ...]:
        """The operands ``ops``, in which each undefined one whose entry in ``asked`` is not None is a zero; appends to ``out``
        what computes the zeros."""
        pairs = zip(ops, asked) if asked else ((op, None) for op in ops)
        return tuple(
            op if var is None or not isinstance(op, ir.Undef) else self.zero(var, out, loc) for op, var in pairs
        )

    def zero(self, var: ir.Var, out: list[ir.Stmt], loc: ir.Loc) -> ir.Operand:
        """A zero of the type of ``var``: a constant for a scalar, else an array by a statement that is appended to ``out``."""
        dtype = var.type.dtype
        number = ir.Const(False if var.type.is_bool else 0.0 if var.type.is_float else 0, replace(var.type, dims=()))
        if not var.type.dims:
            return number
        dims = tuple(self.known(d, out, loc) for d in var.type.dims)
        made = ir.Var(var.name or ir.SYNTHETIC, Type(dtype, dims))
        out.append(ir.Let(made, "full", (replace(number, type=Type(dtype)),), {"dims": dims, "dtype": dtype}, loc))
        return made

    def known(self, dim: Dim, out: list[ir.Stmt], loc: ir.Loc) -> Dim:
        """The size ``dim`` if it has a value here, else 0: an array whose size is not known yet is never read."""
        return dim if all(self.has(name, out, loc) for name in dim.symbols()) else Dim(0)

    def has(self, name: str, out: list[ir.Stmt], loc: ir.Loc) -> bool:
        """Whether the value of the size symbol ``name`` is visible here; nothing is appended to ``out``."""
        op = self.symbols.get(name)
        return op is not None and (not isinstance(op, ir.Var) or any(v is op for v in self.visible))
