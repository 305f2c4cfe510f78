"""Where each variable of a function is defined: the statement, the block, and the loops and branches around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.core.functions import computes
from transpile.core.walk import blocks, defines, dim_symbols

Nest = tuple[tuple[ir.Stmt, ir.Block], ...]  # the enclosing statements, outermost first, each with the block entered


@dataclass(frozen=True, slots=True)
class Def:
    """The definition of a variable. ``kind``: "param" of a function or loop body, "index" of a loop, or "stmt". ``order`` is
    the number of the statement in the text."""

    kind: str
    stmt: ir.Stmt | None
    block: ir.Block
    nest: Nest
    order: int

    @property
    def loops(self) -> tuple[ir.For | ir.While, ...]:
        """The enclosing loops, outermost first."""
        return tuple(s for s, _ in self.nest if isinstance(s, (ir.For, ir.While)))


@dataclass(frozen=True, slots=True)
class Site:
    """A statement with its block, the blocks around it, and its number in the text."""

    stmt: ir.Stmt
    block: ir.Block
    nest: Nest
    order: int


def sites(fn: ir.Function) -> Iterator[Site]:
    """All statements of a function, in textual order."""
    counter = [0]

    def visit(block: ir.Block, nest: Nest) -> Iterator[Site]:
        for stmt in block.stmts:
            counter[0] += 1
            yield Site(stmt, block, nest, counter[0])
            for inner in blocks(stmt):
                yield from visit(inner, (*nest, (stmt, inner)))

    return visit(fn.body, ())


def definitions(fn: ir.Function) -> dict[ir.Var, Def]:
    """The definition of every variable of ``fn``."""
    found: dict[ir.Var, Def] = {p: Def("param", None, fn.body, (), 0) for p in fn.params}
    for site in sites(fn):
        stmt = site.stmt
        for var in defines(stmt):
            found[var] = Def("stmt", stmt, site.block, site.nest, site.order)
        for inner in blocks(stmt):
            nest = (*site.nest, (stmt, inner))
            for param in inner.params:
                found[param] = Def("param", stmt, inner, nest, site.order)
            if isinstance(stmt, ir.For):
                found[stmt.index] = Def("index", stmt, inner, nest, site.order)
    return found


def sizes_before(stmt: ir.Stmt, symbols: Mapping[str, ir.Operand], defs: Mapping[ir.Var, Def]) -> tuple[str, ...]:
    """The size symbols in the dims of a statement that must be known before it runs: all except sizes of its own results."""
    return tuple(s for s in dim_symbols(stmt) if not is_own_size(stmt, symbols[s], defs))


def is_own_size(stmt: ir.Stmt, operand: ir.Operand, defs: Mapping[ir.Var, Def]) -> bool:
    """Whether the operand was read as a size of the statement's own result, or of an item of it."""
    for prim in ("dim", "item"):
        made = defs[operand].stmt if isinstance(operand, ir.Var) and operand in defs else None
        if isinstance(made, ir.Let) and made.prim == prim:
            operand = made.args[0]
    return computes(stmt) and operand in defines(stmt)
