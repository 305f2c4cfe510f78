"""Inlining: replaces a call by the body of the function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.dims import Dim
from transpile.core.walk import Cloner


def splice(b: Builder, fn: ir.Function, args: Sequence[ir.Operand]) -> tuple[ir.Operand, ...]:
    """The results of ``fn`` with ``args`` in place of its parameters; a copy of its body is emitted, without checks of sizes
    that the caller knows to be equal."""
    mapping: dict[ir.Var, ir.Operand] = dict(zip(fn.params, args))
    dims: dict[str, Dim] = {}
    for param, arg in zip(fn.params, args):
        for mine, theirs in zip(param.type.dims, arg.type.dims):
            if mine.as_symbol is not None:
                dims.setdefault(mine.as_symbol, theirs)
    known = _known_sizes(b, fn, mapping)
    cloner = Cloner(mapping, lambda name: dims.get(name) or _own(b, name, fn, renamed))
    renamed: dict[str, Dim] = {}
    body = cloner.block(replace(fn.body, stmts=[s for s in fn.body.stmts if id(s) not in known]))
    for old, new in renamed.items():
        symbol = new.as_symbol
        assert symbol is not None
        b.symbols[symbol] = cloner.operand(fn.symbols[old])
    b.integers.include(body, {str(new): b.symbols[str(new)] for new in renamed.values()})
    b.block.stmts.extend(_without_settled_checks(b, body.stmts))
    return body.yields


def _known_sizes(b: Builder, fn: ir.Function, mapping: dict[ir.Var, ir.Operand]) -> set[int]:
    """The ids of statements of ``fn`` that read a parameter's size for which the caller has an operand; ``mapping`` gets this
    operand for each result."""
    found: set[int] = set()
    for stmt in fn.body.stmts:
        if (
            isinstance(stmt, ir.Let)
            and stmt.prim == "dim"
            and isinstance(stmt.args[0], ir.Var)
            and stmt.args[0] in mapping
        ):
            symbol = b.canonical(mapping[stmt.args[0]].type.dims[stmt.params["axis"]]).as_symbol
            if symbol is not None and symbol in b.symbols:
                mapping[stmt.var] = b.symbols[symbol]
                found.add(id(stmt))
    return found


def _without_settled_checks(b: Builder, stmts: Sequence[ir.Stmt]) -> list[ir.Stmt]:
    """The statements without branches that only raise if a size differs from itself."""
    settled = {s.var for s in stmts if isinstance(s, ir.Let) and _is_settled(b, s)}
    return [
        s for s in stmts if not (isinstance(s, ir.If) and s.test in settled and not s.results and not s.orelse.stmts)
    ]


def _is_settled(b: Builder, test: ir.Let) -> bool:
    """Whether an integer is compared with itself by a relation that is false for equal operands."""
    record = b.prims.get(test.prim)
    if record is None or record.relation is None or record.relation.equal:
        return False
    return test.args[0] is test.args[1] and test.args[0].type.is_int


def _own(b: Builder, name: str, fn: ir.Function, renamed: dict[str, Dim]) -> Dim | None:
    """The new symbol for a symbol that is not the size of a parameter, the same one each time; None if the function does not
    define it.

    ``renamed`` holds the symbols renamed so far, and gets the new one.
    """
    if name not in fn.symbols:
        return None
    if name not in renamed:
        fresh = b.fresh_symbol(name.split(".")[0])
        renamed[name] = fresh
    return renamed[name]
