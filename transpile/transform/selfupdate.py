"""Adjoints that an update leaves unchanged: ``a[i] += g`` neither changes ``a_bar[i]`` nor requires that it is zeroed.

As a store, the update's mirror reads ``a_bar[i]``, zeroes it, and adds the value back, since the old ``a[i]`` enters the new
one with factor 1. Zeroing and adding back are removed together:

    t = a_bar[i]                  t = a_bar[i]
    a_bar[i] = 0.0          ->    g_bar = f(t)
    g_bar = f(t)
    a_bar[i] += t

If another contribution is the first to be added, it assigns instead.
"""

from __future__ import annotations

from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.peephole import is_const
from transpile.core.places import may_repeat
from transpile.core.walk import blocks, reads, statements, uses, written
from transpile.ops.tables import record_of


def keep_self_updates(block: ir.Block) -> None:
    """Edits a finished reverse sweep in place: removes zeroing that is undone, or makes it an assignment, and reads of whole
    buffers that nothing uses."""
    _kept(block, set(uses(block)))


def _kept(block: ir.Block, used: set[ir.Operand]) -> None:
    """Edits a block and the blocks nested in it in place, as `keep_self_updates`; ``used`` are all operands that the sweep
    reads."""
    block.stmts[:] = [s for s in block.stmts if not _is_idle(s, used)]
    for stmt in block.stmts:
        for inner in blocks(stmt):
            _kept(inner, used)
    dropped: set[int] = set()
    inserted: dict[int, list[ir.Stmt]] = {}
    for k, stmt in enumerate(block.stmts):
        if isinstance(stmt, ir.Store) and is_const(stmt.value, 0):
            back = _added_back(block.stmts, k)
            if back is not None:
                j, rest = back
                dropped.update((k,) if rest else (k, j))
                if rest:
                    block.stmts[j] = rest[-1]
                    inserted[j] = rest[:-1]
                continue
            first = _first_added(block.stmts, k)
            if first is not None:
                add = block.stmts[first]
                assert isinstance(add, ir.Add)
                block.stmts[first] = ir.Store(add.buf, add.path, add.args, add.value, add.loc)
                dropped.add(k)
    if dropped:
        kept = [(k, s) for k, s in enumerate(block.stmts) if k not in dropped]
        block.stmts[:] = [s for k, stmt in kept for s in (*inserted.get(k, ()), stmt)]


def _added_back(stmts: list[ir.Stmt], k: int) -> tuple[int, list[ir.Stmt]] | None:
    """The position of the `Add` that restores what the zeroing at position ``k`` removed, and the statements that add the
    remainder, [] if it adds no more than that. None if there is no such `Add`, the place was not read before, or the buffer is
    read or stored to in between."""
    zeroing = stmts[k]
    assert isinstance(zeroing, ir.Store)
    taken = _read_before(stmts, k)
    if taken is None:
        return None
    for j in range(k + 1, len(stmts)):
        stmt = stmts[j]
        if isinstance(stmt, ir.Add) and stmt.buf is zeroing.buf and _same_place(stmt, zeroing):
            if stmt.value is taken:
                return j, []
            rest = _rest(stmts[:j], stmt, taken)
            if rest is not None:
                return j, rest
        if _looks(stmt, zeroing.buf):
            return None
    return None


def _rest(stmts: list[ir.Stmt], add: ir.Add, taken: ir.Var) -> list[ir.Stmt] | None:
    """The statements that add what ``add`` adds beyond ``taken``: for ``p += taken + r`` those of ``p += r``, for ``p += taken
    - r`` those of ``p += -r``; None for another sum. ``stmts`` are those before it."""
    made = next((s for s in reversed(stmts) if isinstance(s, ir.Let) and s.var is add.value), None)
    if made is None or not record_of(made).is_sum or taken not in made.args:
        return None
    x, y = made.args
    if not record_of(made).is_difference:
        return [replace(add, value=y if x is taken else x)]
    if x is not taken:
        return None
    negative = ir.Var(ir.SYNTHETIC, made.var.type)
    return [ir.Let(negative, "neg", (y,), {}, add.loc), replace(add, value=negative)]


def _first_added(stmts: list[ir.Stmt], k: int) -> int | None:
    """The position of the next `Add` to exactly the place that the store at position ``k`` zeroes, which may assign instead;
    None if something else touches the buffer before, or if indices may repeat."""
    zeroing = stmts[k]
    assert isinstance(zeroing, ir.Store)
    for j in range(k + 1, len(stmts)):
        stmt = stmts[j]
        if isinstance(stmt, ir.Add) and stmt.buf is zeroing.buf:
            return j if _same_place(stmt, zeroing) and not may_repeat(stmt.path) else None
        if _looks(stmt, zeroing.buf) or any(zeroing.buf is written(s) for b in blocks(stmt) for s in statements(b)):
            return None
    return None


def _read_before(stmts: list[ir.Stmt], k: int) -> ir.Var | None:
    """The variable that holds the content of the place which the store at ``k`` zeroes, read after the last write to the buffer
    and the last loop or branch; None if there is none."""
    zeroing = stmts[k]
    assert isinstance(zeroing, ir.Store)
    for stmt in reversed(stmts[:k]):
        if isinstance(stmt, ir.Let) and stmt.prim == "index" and stmt.args[0] is zeroing.buf:
            if stmt.params["path"] == zeroing.path and stmt.args[1:] == zeroing.args:
                return stmt.var
        if written(stmt) is zeroing.buf or blocks(stmt):
            return None
    return None


def _same_place(stmt: ir.Add, zeroing: ir.Store) -> bool:
    return stmt.path == zeroing.path and stmt.args == zeroing.args


def _is_idle(stmt: ir.Stmt, used: set[ir.Operand]) -> bool:
    """Whether the statement reads a whole buffer and its result is not in ``used``: the value became the adjoint of another
    variable."""
    return isinstance(stmt, ir.Let) and stmt.prim == "index" and not stmt.params["path"] and stmt.var not in used


def _looks(stmt: ir.Stmt, buf: ir.Var) -> bool:
    """Whether the statement, or a nested one, reads the buffer or stores to a part of it; adding to it does not count."""
    inner = [s for b in blocks(stmt) for s in statements(b)]
    return any(buf in reads(s) or (isinstance(s, ir.Store) and s.buf is buf) for s in (stmt, *inner))
