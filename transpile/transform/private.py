"""An array that every trip of a loop fills anew belongs to the trip: its allocation moves into the loop.

    terms = np.zeros(k)                     for i in range(n):
    for i in range(n):                          terms = np.zeros(k)
        for c in range(k):          ->          for c in range(k):
            terms[c] = ...                          terms[c] = ...
        total += logsumexp(terms)               total += logsumexp(terms)

Its adjoint then belongs to the trip as well, so that no trip waits for another one because of it.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core.dims import Dim
from transpile.core.nodes import (
    Alloc,
    Block,
    Const,
    For,
    Function,
    Index,
    Operand,
    Point,
    Slice,
    Stmt,
    Store,
    Var,
    While,
)
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, defined, leaves, reads, statements, uses, written


def private(fn: Function) -> Function:
    """The function with each such allocation in the innermost loop that it can belong to."""
    return with_body(fn, _block(fn.body))


def _block(block: Block) -> Block:
    stmts = list(block.stmts)
    for alloc in [s for s in stmts if isinstance(s, Alloc)]:
        at = _owner(alloc, block, stmts)
        if at is None:
            continue
        loop = stmts[at]
        assert isinstance(loop, (For, While))
        stmts[at] = replace(loop, body=replace(loop.body, stmts=[alloc, *loop.body.stmts]))
        stmts = [s for s in stmts if s is not alloc]
    return with_stmts(block, [with_blocks(s, _block) for s in stmts])


def _owner(alloc: Alloc, block: Block, stmts: list[Stmt]) -> int | None:
    """Where the only statement stands that touches the array, if it is a loop whose trips each fill it first."""
    touching = [k for k, s in enumerate(stmts) if touches(s, alloc.var)]
    if len(touching) != 1 or alloc.var in leaves(block):
        return None
    loop = stmts[touching[0]]
    if not isinstance(loop, (For, While)) or alloc.var in reads(loop):
        return None
    if isinstance(loop, While) and alloc.var in set(uses(loop.test)):
        return None
    first = next((s for s in loop.body.stmts if touches(s, alloc.var)), None)
    return touching[0] if first is not None and fills(first, alloc.var, {}) else None


def touches(stmt: Stmt, buf: Var) -> bool:
    """Whether the statement, or one in it, reads or writes the buffer."""
    inner = [s for b in blocks(stmt) for s in statements(b)]
    if any(written(s) is buf or buf in reads(s) for s in (stmt, *inner)):
        return True
    return any(buf in leaves(b) for s in (stmt, *inner) for b in blocks(s))


def fills(stmt: Stmt, buf: Var, around: dict[Var, Dim]) -> bool:
    """Whether the statement writes every element and reads none; ``around``: loop indices that run over all of a size."""
    match stmt:
        case Store():
            return stmt.buf is buf and buf not in reads(stmt) and _is_everywhere(stmt, around)
        case For() if stmt.body.stop is None and isinstance(stmt.start, Const) and stmt.start.value == 0:
            if not isinstance(stmt.step, Const) or stmt.step.value != 1:
                return False
            size = _form(stmt.bound)
            inside = {**around, stmt.index: size} if size is not None else around
            touching = [s for s in stmt.body.stmts if touches(s, buf)]
            own = set(defined(stmt.body))
            return len(touching) == 1 and buf not in own and fills(touching[0], buf, inside)
    return False


def _is_everywhere(store: Store, around: dict[Var, Dim]) -> bool:
    if not store.path:
        return True
    if len(store.path) != 1 or not isinstance(store.path[0], Index):
        return False
    seen: set[Operand] = set()
    for item, dim in zip(store.path[0].items, store.buf.type.dims):
        match item:
            case Slice() if item.is_full:
                pass
            case Point(arg=k):
                index = store.args[k]
                if not isinstance(index, Var) or index in seen or around.get(index) != dim:
                    return False
                seen.add(index)
            case _:
                return False
    return len(store.path[0].items) == store.buf.type.rank and set(around) == seen


def _form(op: Operand) -> Dim | None:
    if isinstance(op, Const):
        return Dim(int(op.value))
    return op.form if isinstance(op, Var) else None
