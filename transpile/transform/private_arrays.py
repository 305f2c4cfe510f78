"""An array that every iteration of a loop fills anew becomes private to the iteration: its allocation moves into the loop.

    terms = np.zeros(k)                     for i in range(n):
    for i in range(n):                          terms = np.zeros(k)
        for c in range(k):          ->          for c in range(k):
            terms[c] = ...                          terms[c] = ...
        total += logsumexp(terms)               total += logsumexp(terms)

Its adjoint is then private to the iteration too, so that no iteration waits for another because of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.integers import Integers
from transpile.core.places import FormOf
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, defined, leaves, reads, statements, uses, written
from transpile.ops.tables import prims


def privatise(fn: ir.Function) -> ir.Function:
    """The function in which each allocation of an array that every iteration of a loop fills before reading it has moved into
    that loop, the innermost possible."""
    return with_body(fn, _block(fn.body, Integers(prims(), fn).of))


def _block(block: ir.Block, form_of: FormOf) -> ir.Block:
    """The block in which each allocation of an array that every iteration of a loop fills anew has moved into that loop, also
    in nested blocks. ``form_of`` gives the linear form of an integer."""
    stmts: list[ir.Stmt | None] = list(block.stmts)
    places = _places(block.stmts)
    for k, alloc in enumerate(block.stmts):
        if not isinstance(alloc, ir.Alloc):
            continue
        loop = _owner(alloc, block, stmts, places, form_of)
        if loop is None:
            continue
        (at,) = places[alloc.var]
        stmts[at] = replace(loop, body=replace(loop.body, stmts=[alloc, *loop.body.stmts]))
        stmts[k] = None
        for var in _touched(alloc):
            del places[var][k]
            places[var].setdefault(at)
    return with_stmts(block, [with_blocks(s, lambda b: _block(b, form_of)) for s in stmts if s is not None])


def _places(stmts: list[ir.Stmt]) -> dict[ir.Var, dict[int, None]]:
    """For each variable, the positions of the statements that read or write it, also by nested statements, in order."""
    found: dict[ir.Var, dict[int, None]] = {}
    for k, stmt in enumerate(stmts):
        for var in _touched(stmt):
            found.setdefault(var, {}).setdefault(k)
    return found


def _touched(stmt: ir.Stmt) -> set[ir.Var]:
    """The variables that the statement, or one nested in it, reads or writes."""
    inner = [stmt, *(s for b in blocks(stmt) for s in statements(b))]
    found = {written(s) for s in inner} | {v for s in inner for v in reads(s)}
    found.update(v for s in inner for b in blocks(s) for v in leaves(b))
    return {v for v in found if isinstance(v, ir.Var)}


def _owner(
    alloc: ir.Alloc,
    block: ir.Block,
    stmts: list[ir.Stmt | None],
    places: Mapping[ir.Var, Collection[int]],
    form_of: FormOf,
) -> ir.For | ir.While | None:
    """The only statement of ``block`` that touches the array ``alloc``, if it is a loop whose iterations each fill the array
    first; else None. ``places``: the positions in ``stmts`` of the statements that touch each variable."""
    touching = list(places.get(alloc.var, ()))
    if len(touching) != 1 or alloc.var in leaves(block):
        return None
    loop = stmts[touching[0]]
    if not isinstance(loop, (ir.For, ir.While)) or alloc.var in reads(loop):
        return None
    if isinstance(loop, ir.While) and alloc.var in set(uses(loop.test)):
        return None
    first = next((s for s in loop.body.stmts if touches(s, alloc.var)), None)
    return loop if first is not None and fills(first, alloc.var, {}, form_of) else None


def touches(stmt: ir.Stmt, buf: ir.Var) -> bool:
    """Whether the statement, or one nested in it, reads or writes the buffer."""
    return buf in _touched(stmt)


def fills(stmt: ir.Stmt, buf: ir.Var, around: dict[ir.Var, Dim], form_of: FormOf) -> bool:
    """Whether the statement writes every element of the buffer and reads none of them; False if this is not known. ``around``
    maps the indices of enclosing loops, which run from 0 with step 1, to their trip counts."""
    match stmt:
        case ir.Store():
            return stmt.buf is buf and buf not in reads(stmt) and _is_everywhere(stmt, around)
        case ir.For() if stmt.body.stop is None and isinstance(stmt.start, ir.Const) and stmt.start.value == 0:
            if not isinstance(stmt.step, ir.Const) or stmt.step.value != 1:
                return False
            size = form_of(stmt.bound)
            inside = {**around, stmt.index: size} if size is not None else around
            touching = [s for s in stmt.body.stmts if touches(s, buf)]
            own = set(defined(stmt.body))
            return len(touching) == 1 and buf not in own and fills(touching[0], buf, inside, form_of)
    return False


def _is_everywhere(store: ir.Store, around: dict[ir.Var, Dim]) -> bool:
    """Whether the store, over all iterations of the loops ``around`` (index to trip count), writes every element: each axis has
    a full slice, or the index of one of the loops with as many iterations, and each loop has an axis."""
    if not store.path:
        return True
    if len(store.path) != 1 or not isinstance(store.path[0], ir.Index):
        return False
    seen: set[ir.Operand] = set()
    for item, dim in zip(store.path[0].items, store.buf.type.dims):
        match item:
            case ir.Slice() if item.is_full:
                pass
            case ir.Point(arg=k):
                index = store.args[k]
                if not isinstance(index, ir.Var) or index in seen or around.get(index) != dim:
                    return False
                seen.add(index)
            case _:
                return False
    return len(store.path[0].items) == store.buf.type.rank and set(around) == seen
