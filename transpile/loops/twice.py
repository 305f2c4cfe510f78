"""A product of matrices that is in memory already is not computed again.

blas.gemm(1.0, a, b, 0.0, t)          blas.gemm(1.0, a, b, 0.0, t)
y = t[i, j]                     ->    y = t[i, j]
blas.gemm(1.0, a, b, 0.0, u)          z = t[i, j]
z = u[i, j]
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from transpile.core.nodes import Add, Alloc, Block, Const, For, Function, Let, Operand, Stmt, Store, Var
from transpile.core.walk import map_operands, statements
from transpile.loops.product import lying
from transpile.loops.terms import Code

TARGET = {"blas.gemm": 4, "blas.part": 3}


def once(fn: Function) -> Function:
    """The function without such products, where nothing that they depend on is written in between."""
    calls = [s for s in fn.body.stmts if isinstance(s, Let) and s.prim == "call" and s.params.get("fn") in TARGET]
    if len(calls) < 2:
        return fn
    code = Code(fn)
    held: dict[Hashable, tuple[Let, Var]] = {}
    same: dict[Var, Var] = {}
    gone: list[Stmt] = []
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
    if not same:
        return fn
    stmts = [s for s in fn.body.stmts if not any(s is g for g in gone)]

    def operand(op: Operand) -> Operand:
        return same.get(op, op) if isinstance(op, Var) else op

    stmts = [map_operands(s, operand) for s in stmts]
    yields = tuple(operand(y) for y in fn.body.yields)
    return replace(fn, body=Block(fn.body.params, stmts, yields))


def _own(code: Code, let: Let) -> Var | None:
    """The array that the call fills, if it is made for that and nothing else writes it."""
    found = lying(code, let.args[TARGET[let.params["fn"]]])
    if found is None or any(found.var is y for y in code.fn.body.yields):
        return None
    alloc = code.definer.get(found.var)
    if not isinstance(alloc, Alloc) or code.path[id(alloc)][0][0] is not code.fn.body:
        return None
    writers = code.writers.get(code.roots.of(found.var), [])
    others = [w for w in writers if w is not let]
    is_zero = all(isinstance(w, Store) and isinstance(w.value, Const) and w.value.value == 0 for w in others)
    return found.var if is_zero and len(others) <= 1 and len(code.path[id(alloc)]) == 1 else None


def _key(code: Code, let: Let) -> Hashable:
    """What two calls that give the same have in common."""
    parts: list[Hashable] = [let.params["fn"]]
    for k, a in enumerate(let.args):
        if isinstance(a, Var) and (a.type.dims or a.buffer):
            found = lying(code, a)
            if found is None:
                return None
            is_target = k == TARGET[let.params["fn"]]
            sizes = tuple(code.forms.of(s) for s in code.sizes.get(found.var, ()))
            parts.append((sizes if is_target else found.var, found.parts, found.order))
        elif isinstance(a, Const):
            parts.append(repr(a.value))
        else:
            parts.append(code.forms.of(a) if isinstance(a, Var) and a.type.is_int else a)
    return tuple(parts)


def _is_kept(code: Code, block: Block, first: Let, second: Let) -> bool:
    """Whether nothing that the calls read is written between them."""
    start, stop = (next(k for k, s in enumerate(block.stmts) if s is x) for x in (first, second))
    read = {code.roots.of(v.var) for a in first.args[1:3] if (v := lying(code, a)) is not None}
    between = code.written(block, start, stop, first)
    return not read & between


def _makes(code: Code, stmt: Stmt, target: Var) -> bool:
    """Whether it is the allocation of the array or what fills it."""
    if isinstance(stmt, Alloc):
        return stmt.var is target
    if isinstance(stmt, Let):
        found = lying(code, stmt.args[TARGET[stmt.params["fn"]]]) if stmt.params.get("fn") in TARGET else None
        return found is not None and found.var is target
    if not isinstance(stmt, For):
        return False
    writes = [s for s in statements(stmt.body) if isinstance(s, (Store, Add))]
    return bool(writes) and all(w.buf is target for w in writes)
