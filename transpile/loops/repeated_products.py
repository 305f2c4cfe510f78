"""Computes a matrix product only once if its result is still in memory.

blas.gemm(1.0, a, b, 0.0, t)          blas.gemm(1.0, a, b, 0.0, t)
y = t[i, j]                     ->    y = t[i, j]
blas.gemm(1.0, a, b, 0.0, u)          z = t[i, j]
z = u[i, j]

A repeated product that is added to an array, with a factor, becomes a sum of elements:

blas.gemm(s, a, b, 1.0, c)    ->      c[i, j] += s * t[i, j]
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from transpile.analysis.affine import form_of
from transpile.core import nodes as ir
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import map_operands, statements
from transpile.loops.array_contraction import points
from transpile.loops.product_calls import Maker, nest
from transpile.loops.product_statements import lying
from transpile.loops.terms import Code

TARGET = {"blas.gemm": 4, "blas.part": 3}


def share_repeated_products(fn: ir.Function) -> ir.Function:
    """The function without repeated products of its outermost block, where nothing they read is written in between."""
    calls = [s for s in fn.body.stmts if isinstance(s, ir.Call) and s.library in TARGET]
    if len(calls) < 2:
        return fn
    code = Code(fn)
    held: dict[Hashable, tuple[ir.Call, ir.Var]] = {}
    same: dict[ir.Var, ir.Var] = {}
    gone: list[ir.Stmt] = []
    for let in calls:
        target = _own(code, let)
        key = _key(code, let)
        if target is None or key is None:
            continue
        first = held.setdefault(key, (let, target))
        if first[0] is let:
            continue
        if _is_kept(code, fn.body, first[0], let):
            same[target] = first[1]
            gone += [s for s in fn.body.stmts if _makes(code, s, target)]
        else:
            held[key] = (let, target)
    sums = _sums(code, calls, gone)
    if not same and not sums:
        return fn
    stmts = [n for s in fn.body.stmts if not any(s is g for g in gone) for n in sums.get(id(s), [s])]

    def operand(op: ir.Operand) -> ir.Operand:
        return same.get(op, op) if isinstance(op, ir.Var) else op

    stmts = [map_operands(s, operand) for s in stmts]
    yields = tuple(operand(y) for y in fn.body.yields)
    return replace(fn, body=ir.Block(fn.body.params, stmts, yields))


def _sums(code: Code, calls: Sequence[ir.Call], gone: Sequence[ir.Stmt]) -> dict[int, list[ir.Stmt]]:
    """For each call of ``calls`` whose product is already known and is added to an array, the statements that replace it, by
    the id of the call; those in ``gone`` do not count."""
    held: dict[Hashable, ir.Call] = {}
    found: dict[int, list[ir.Stmt]] = {}
    for let in calls:
        key = None if any(let is g for g in gone) else _sides(code, let)
        if key is None:
            continue
        first = held.get(key)
        if first is not None and _adds(let) and _is_kept(code, code.fn.body, first, let):
            instead = _added(code, first, let)
            if instead is not None:
                found[id(let)] = instead
        elif ir.is_literal(let.args[0], 1.0) and _own(code, let) is not None:
            held[key] = let
    return found


def _sides(code: Code, let: ir.Call) -> Hashable:
    """A key that is equal for calls with the same factors, whatever the scale and the target; None if the call computes only a
    part of the target or its operands are not known."""
    if let.library == "blas.part" and not ir.is_literal(let.args[-1], False):
        return None  # computes only a part of the target
    target = TARGET[let.library]
    others = let.args[target + 1 :]
    return _key(
        code, replace(let, args=(_ONE, *let.args[1:3], *([_ONE] * (target - 3)), let.args[target], *others)), False
    )


def _adds(let: ir.Call) -> bool:
    """Whether a call adds to its target and keeps the old value with factor 1."""
    return let.library == "blas.part" or ir.is_literal(let.args[3], 1.0)


def _added(code: Code, first: ir.Call, let: ir.Call) -> list[ir.Stmt] | None:
    """Loops that add the product which the call ``first`` has computed, times the scale, in place of the call ``let``; None if
    the sizes are not known to agree.

    If the scale is not a constant, they may stand in a branch: with an infinite or NaN scale the call itself runs.
    """
    number = TARGET[let.library]
    held, target = lying(code, first.args[number]), lying(code, let.args[number])
    if held is None or target is None:
        return None
    sizes, others = held.sizes(), target.sizes()
    if any(s is None for s in (*sizes, *others)) or sizes != others or len(sizes) != 2:
        return None
    outside, make = Maker(code, let.loc), Maker(code, let.loc)
    bounds = [outside.length(s) for s in sizes if s is not None]
    indices = [ir.Var(n, INT) for n in "ij"]
    forms = [form_of(i) for i in indices]
    value: ir.Operand = make.element(held.at(*forms))
    if not ir.is_literal(let.args[0], 1.0):
        value = make.let("mul", (let.args[0], value), Type(held.var.type.dtype))
    place = target.at(*forms)
    at = tuple(make.form(f) for f in place.at)
    stmts: list[ir.Stmt] = [*make.stmts, ir.Add(place.var, points(len(at)), at, value, let.loc)]
    order = (0, 1) if target.order[0] < target.order[1] else (1, 0)
    stmts = nest([indices[k] for k in order], [bounds[k] for k in order], stmts, let.loc)
    if let.library == "blas.gemm" or isinstance(let.args[0], ir.Const):
        return [*outside.stmts, *stmts]
    nothing = outside.let("mul", (let.args[0], ir.Const(0.0, Type(held.var.type.dtype))), Type(held.var.type.dtype))
    # an infinite or NaN factor must not reach elements whose sum is empty
    is_finite = outside.let("equal", (nothing, ir.Const(0.0, Type(held.var.type.dtype))), BOOL)
    return [*outside.stmts, ir.If(is_finite, ir.Block((), stmts), ir.Block((), [let]), (), let.loc)]


_ONE = ir.Const(1.0, Type("float64"))


def _own(code: Code, let: ir.Call) -> ir.Var | None:
    """The array that the call fills, if the outermost block allocates it and nothing else writes it, except zeros before; else
    None."""
    found = lying(code, let.args[TARGET[let.library]])
    if found is None or any(found.var is y for y in code.fn.body.yields):
        return None
    alloc = code.definer.get(found.var)
    if not isinstance(alloc, ir.Alloc) or code.path[id(alloc)][0][0] is not code.fn.body:
        return None
    writers = code.writers.get(code.roots.of(found.var), [])
    others = [w for w in writers if w is not let]
    is_zero = all(isinstance(w, ir.Store) and isinstance(w.value, ir.Const) and w.value.value == 0 for w in others)
    is_before = all(code.path[id(w)][0][1] < code.path[id(let)][0][1] for w in others)
    return found.var if is_zero and is_before and len(code.path[id(alloc)]) == 1 else None


def _key(code: Code, let: ir.Call, is_whole: bool = True) -> Hashable:
    """A key that is equal for calls with the same result; None if an array operand is not known. It includes the target's shape
    if ``is_whole``, and nothing of the target otherwise."""
    parts: list[Hashable] = [let.library]
    for k, a in enumerate(let.args):
        if isinstance(a, ir.Var) and (a.type.dims or a.buffer):
            found = lying(code, a)
            if found is None:
                return None
            is_target = k == TARGET[let.library]
            if is_target and not is_whole:
                continue
            sizes = tuple(code.forms.of(s) for s in code.sizes.get(found.var, ()))
            parts.append((sizes if is_target else found.var, found.parts, found.order))
        elif isinstance(a, ir.Const):
            parts.append(repr(a.value))
        else:
            parts.append(code.forms.of(a) if isinstance(a, ir.Var) and a.type.is_int else a)
    return tuple(parts)


def _is_kept(code: Code, block: ir.Block, first: ir.Call, second: ir.Call) -> bool:
    """Whether nothing from the call ``first`` up to the call ``second``, in this block, writes what ``first`` reads."""
    start, stop = (next(k for k, s in enumerate(block.stmts) if s is x) for x in (first, second))
    read = {code.roots.of(v.var) for a in first.args[1:3] if (v := lying(code, a)) is not None}
    between = code.written(block, start, stop, first)
    return not read & between


def _makes(code: Code, stmt: ir.Stmt, target: ir.Var) -> bool:
    """Whether a statement allocates the array ``target``, is the product that fills it, or is a loop that writes nothing
    else."""
    if isinstance(stmt, ir.Alloc):
        return stmt.var is target
    if isinstance(stmt, ir.Call):
        found = lying(code, stmt.args[TARGET[stmt.library]]) if stmt.library in TARGET else None
        return found is not None and found.var is target
    if not isinstance(stmt, ir.For):
        return False
    writes = [s for s in statements(stmt.body) if isinstance(s, (ir.Store, ir.Add))]
    return bool(writes) and all(w.buf is target for w in writes)
