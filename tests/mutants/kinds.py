"""Kinds of faults in loop core. Each one takes a place in a function and changes it there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.core.walk import blocks, defines, map_reads, reads


@dataclass(frozen=True)
class Place:
    """A statement, the block in which it stands, its position there, and the variables that it sees."""

    block: ir.Block
    at: int
    visible: tuple[ir.Var, ...]
    rng: np.random.Generator

    @property
    def stmt(self) -> Any:
        return self.block.stmts[self.at]

    def put(self, *stmts: ir.Stmt) -> bool:
        """Puts other statements in the place of this one."""
        self.block.stmts[self.at : self.at + 1] = stmts
        return True

    def one_of(self, found: Sequence[Any]) -> Any:
        return found[int(self.rng.integers(len(found)))]

    def other(self, than: ir.Operand) -> ir.Var | None:
        """Another variable of the same type."""
        found = [v for v in self.visible if v is not than and _like(v, than)]
        return self.one_of(found) if found else None


def _like(a: ir.Operand, b: ir.Operand) -> bool:
    ours, theirs = a.type, b.type
    same = (ours.dtype, ours.rank, ours.kind, ours.lanes) == (theirs.dtype, theirs.rank, theirs.kind, theirs.lanes)
    return same and getattr(a, "buffer", False) == getattr(b, "buffer", False)


def places(fn: ir.Function, rng: np.random.Generator) -> Iterator[Place]:
    """The place of every statement."""

    def visit(block: ir.Block, visible: tuple[ir.Var, ...]) -> Iterator[Place]:
        visible = (*visible, *block.params)
        for k, stmt in enumerate(block.stmts):
            yield Place(block, k, visible, rng)
            inner = (*visible, stmt.index) if isinstance(stmt, ir.For) else visible
            for one in blocks(stmt):
                yield from visit(one, inner)
            visible = (*visible, *defines(stmt))

    return visit(fn.body, fn.params)


Kind = Callable[[Place], bool]
"""Changes the place; False if it is none for this kind."""
KINDS: dict[str, Kind] = {}


def kind(name: str, *types: type) -> Callable[[Kind], Kind]:
    """Names a kind, for statements of these types; of all, if none are given."""

    def add(change: Kind) -> Kind:
        KINDS[name] = lambda place: (not types or isinstance(place.stmt, types)) and change(place)
        return change

    return add


def _with(items: Sequence[Any], k: int, item: Any) -> tuple[Any, ...]:
    """The items with another one at position ``k``."""
    return (*items[:k], item, *items[k + 1 :])


def _sum(name: str, op: ir.Operand, by: int) -> ir.Let:
    """``op + by``, as a new variable."""
    return ir.Let(ir.Var(name, INT), "add", (op, ir.Const(by, op.type)))


# --------------------------------------------------------------------------------------------------------- statements


@kind("a store is dropped", ir.Store, ir.Add, ir.PacketStore)
def _(p: Place) -> bool:
    return p.put()


@kind("a store adds, or an addition stores", ir.Store, ir.Add)
def _(p: Place) -> bool:
    s = p.stmt
    if s.value.type.is_bool:
        return False
    made: Any = ir.Add if isinstance(s, ir.Store) else ir.Store
    return p.put(made(s.buf, s.path, s.args, s.value, s.loc))


@kind("two neighbours are exchanged")
def _(p: Place) -> bool:
    if p.at + 1 >= len(p.block.stmts):
        return False
    a, b = p.block.stmts[p.at : p.at + 2]
    p.block.stmts[p.at : p.at + 2] = [b, a]
    return True


@kind("a statement stands twice")
def _(p: Place) -> bool:
    s = p.stmt
    if defines(s) and not isinstance(s, ir.Pop):
        return False
    again = replace(s, var=ir.Var("again", s.var.type)) if isinstance(s, ir.Pop) else s
    return not blocks(s) and p.put(s, again)


@kind("a push or a pop is dropped", ir.Push, ir.Pop)
def _(p: Place) -> bool:
    s = p.stmt
    if isinstance(s, ir.Push):
        return p.put()
    if s.var.type.dims:
        return False
    zero = ir.Const(0.0 if s.var.type.is_float else 0 if s.var.type.is_int else False, s.var.type)
    return p.put(ir.Let(s.var, "identity", (zero,)))


@kind("a check is dropped", ir.Check, ir.BoundsCheck)
def _(p: Place) -> bool:
    return p.put()


@kind("a side of a branch is empty", ir.If)
def _(p: Place) -> bool:
    s = p.stmt
    if s.results:
        return False
    full = [side for side in (s.then, s.orelse) if side.stmts and not isinstance(side.stmts[-1], ir.Raise)]
    if not full:
        return False
    p.one_of(full).stmts.clear()
    return True


# ----------------------------------------------------------------------------------------------------------- operands

TWICE = frozenset("sub div true_divide floordiv mod pow less less_equal greater greater_equal where".split())


@kind("operands are exchanged", ir.Let)
def _(p: Place) -> bool:
    s = p.stmt
    if s.prim not in TWICE or s.args[-1] == s.args[-2]:
        return False
    s.args = (*s.args[:-2], s.args[-1], s.args[-2])
    return True


@kind("another variable is read")
def _(p: Place) -> bool:
    s = p.stmt
    if blocks(s) or isinstance(s, (ir.Print, ir.Raise)):
        return False
    found = [(o, v) for o in reads(s) if isinstance(o, ir.Var) and (v := p.other(o)) is not None]
    if not found:
        return False
    old, new = p.one_of(found)
    return p.put(map_reads(s, lambda o: new if o is old else o))


@kind("a constant is another one")
def _(p: Place) -> bool:
    s = p.stmt
    if blocks(s) or isinstance(s, (ir.Print, ir.Raise)):
        return False
    found = [o for o in reads(s) if isinstance(o, ir.Const)]
    if not found:
        return False
    old = p.one_of(found)
    value = not old.value if old.type.is_bool else old.value + 1
    return p.put(map_reads(s, lambda o: ir.Const(value, old.type) if o is old else o))


EXCHANGED = {
    "add": "sub", "sub": "add", "mul": "add", "div": "mul", "true_divide": "mul", "minimum": "maximum",
    "maximum": "minimum", "sin": "cos", "cos": "sin", "exp": "log", "log": "exp", "sqrt": "exp", "neg": "abs",
    "less": "less_equal", "less_equal": "less", "greater": "less", "greater_equal": "greater", "equal": "not_equal",
    "not_equal": "equal", "logical_and": "logical_or", "logical_or": "logical_and", "floordiv": "mod", "mod": "floordiv",
}  # fmt: skip


@kind("another operation", ir.Let)
def _(p: Place) -> bool:
    s = p.stmt
    if s.prim not in EXCHANGED:
        return False
    s.prim = EXCHANGED[s.prim]
    return True


@kind("an operation of another number of operands", ir.Let)
def _(p: Place) -> bool:
    s = p.stmt
    return (
        not isinstance(s, ir.View)
        and s.prim not in ("index", "cast", "dim", "item")
        and len(s.args) > 1
        and _shorter(s)
    )


def _shorter(s: Any) -> bool:
    """Drops the last operand."""
    s.args = s.args[:-1]
    return True


@kind("a value has another type")
def _(p: Place) -> bool:
    s = p.stmt
    found = [v for v in defines(s) if v.type.kind == "array"]
    if not found:
        return False
    var = p.one_of(found)
    others = [d for d in ("float64", "float32", "int64", "int8", "bool") if d != var.type.dtype]
    var.type = replace(var.type, dtype=p.one_of(others), weak=False)
    return True


@kind("a cast is left out", ir.Let)
def _(p: Place) -> bool:
    s = p.stmt
    if s.prim != "cast" or s.args[0].type.dtype == s.var.type.dtype:
        return False
    return p.put(ir.Let(s.var, "identity", s.args, {}, s.loc))


# ------------------------------------------------------------------------------------------------------------- memory


def _indices(s: Any) -> list[int]:
    """The positions of the subscripts among the operands of an access; none for another statement."""
    if isinstance(s, (ir.Store, ir.Add)):
        return list(range(len(s.args)))
    return list(range(1, len(s.args))) if isinstance(s, ir.Let) and s.prim == "index" else []


@kind("a subscript is one further")
def _(p: Place) -> bool:
    s = p.stmt
    if not _indices(s):
        return False
    k = p.one_of(_indices(s))
    moved = _sum("moved", s.args[k], 1 if p.rng.integers(2) else -1)
    return p.put(moved, replace(s, args=_with(s.args, k, moved.var)))


@kind("another subscript")
def _(p: Place) -> bool:
    s = p.stmt
    found = [(k, v) for k in _indices(s) if (v := p.other(s.args[k])) is not None]
    if not found:
        return False
    s.args = _with(s.args, *p.one_of(found))
    return True


@kind("subscripts are exchanged")
def _(p: Place) -> bool:
    s = p.stmt
    if len(_indices(s)) < 2:
        return False
    *first, a, b = s.args
    s.args = (*first, b, a)
    return a != b


@kind("a subscript is missing")
def _(p: Place) -> bool:
    return bool(_indices(p.stmt)) and _shorter(p.stmt)


@kind("an array has another size", ir.Alloc)
def _(p: Place) -> bool:
    s = p.stmt
    if not s.args:
        return False
    k = p.one_of(range(len(s.args)))
    step = 1 if p.rng.integers(2) else -1
    if s.space == "frame":
        s.args = _with(s.args, k, ir.Const(s.args[k].value + step, INT))
        return True
    size = _sum("size", s.args[k], step)
    return p.put(size, replace(s, args=_with(s.args, k, size.var)))


@kind("an array is another one", ir.Store, ir.Add)
def _(p: Place) -> bool:
    s = p.stmt
    if (v := p.other(s.buf)) is None:
        return False
    s.buf = v
    return True


@kind("a view begins elsewhere", ir.View)
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s.step, ir.Index) or len(s.args) < 2:
        return False
    moved = _sum("moved", s.args[1], 1)
    return p.put(moved, replace(s, args=_with(s.args, 1, moved.var)))


# -------------------------------------------------------------------------------------------------------------- loops


@kind("a range is shorter", ir.For)
def _(p: Place) -> bool:
    return _ends(p, "bound", -1)


@kind("a range is longer", ir.For)
def _(p: Place) -> bool:
    return _ends(p, "bound", 1)


@kind("a range begins later", ir.For)
def _(p: Place) -> bool:
    return _ends(p, "start", 1)


def _ends(p: Place, end: str, by: int) -> bool:
    moved = _sum(end, getattr(p.stmt, end), by)
    return p.put(moved, replace(p.stmt, **{end: moved.var}))


@kind("a loop runs the other way", ir.For)
def _(p: Place) -> bool:
    p.stmt.backwards = not p.stmt.backwards
    return True


@kind("a serial loop is parallel", ir.For)
def _(p: Place) -> bool:
    s = p.stmt
    if s.kind != "serial" or s.inits or not ir.is_literal(s.start, 0):
        return False
    s.kind = "parallel"
    return True


@kind("a serial loop is a vector loop", ir.For)
def _(p: Place) -> bool:
    s = p.stmt
    if s.kind != "serial":
        return False
    s.kind, s.combiners = "vector", tuple("add" for _ in s.inits)
    return True


@kind("a carried value is not renewed", ir.For, ir.While)
def _(p: Place) -> bool:
    body = p.stmt.body
    found = [k for k, y in enumerate(body.yields) if y is not body.params[k]]
    if not found:
        return False
    k = p.one_of(found)
    body.yields = _with(body.yields, k, body.params[k])
    return True


@kind("carried values are exchanged", ir.If, ir.For, ir.While)
def _(p: Place) -> bool:
    block = p.stmt.then if isinstance(p.stmt, ir.If) else p.stmt.body
    found = [
        (j, k)
        for k in range(len(block.yields))
        for j in range(k)
        if block.yields[j] is not block.yields[k] and _like(block.yields[j], block.yields[k])
    ]
    if not found:
        return False
    j, k = p.one_of(found)
    made = list(block.yields)
    made[j], made[k] = made[k], made[j]
    block.yields = tuple(made)
    return True


@kind("a carried value is lost", ir.For, ir.While)
def _(p: Place) -> bool:
    body = p.stmt.body
    if not body.yields:
        return False
    body.yields = body.yields[:-1]
    return True


@kind("a loop begins with another value", ir.For, ir.While)
def _(p: Place) -> bool:
    s = p.stmt
    found = [(k, v) for k, i in enumerate(s.inits) if (v := _another(p, i)) is not None]
    if not found:
        return False
    s.inits = _with(s.inits, *p.one_of(found))
    return True


def _another(p: Place, old: ir.Operand) -> ir.Operand | None:
    if isinstance(old, ir.Const) and not old.type.is_bool:
        return ir.Const(old.value + 1, old.type)
    return p.other(old) if isinstance(old, ir.Var) else None


@kind("a combiner is another one", ir.For)
def _(p: Place) -> bool:
    s = p.stmt
    if not s.combiners:
        return False
    s.combiners = _with(s.combiners, 0, "mul" if s.combiners[0] != "mul" else "add")
    return True


@kind("a test is negated", ir.If, ir.For, ir.While)
def _(p: Place) -> bool:
    s = p.stmt
    if isinstance(s, ir.If):
        s.then, s.orelse = s.orelse, s.then
        return True
    if s.body.stop is None:
        return False
    wrong = ir.Var("wrong", s.body.stop.type)
    s.body.stmts.append(ir.Let(wrong, "logical_not", (s.body.stop,)))
    s.body.stop = wrong
    return True


@kind("a loop does not stop", ir.For, ir.While)
def _(p: Place) -> bool:
    if p.stmt.body.stop is None:
        return False
    p.stmt.body.stop = None
    return True


# -------------------------------------------------------------------------------------------------------------- calls


@kind("arguments of a call are exchanged", ir.Call)
def _(p: Place) -> bool:
    s = p.stmt
    found = [k for k in range(1, len(s.args)) if s.args[k] is not s.args[k - 1]]
    if not found:
        return False
    k = p.one_of(found)
    s.args = (*s.args[: k - 1], s.args[k], s.args[k - 1], *s.args[k + 1 :])
    return True


@kind("a call has an argument less", ir.Call)
def _(p: Place) -> bool:
    return bool(p.stmt.args) and _shorter(p.stmt)


@kind("a call fills something else", ir.Call)
def _(p: Place) -> bool:
    if not p.stmt.written:
        return False
    p.stmt.written = ()
    return True


@kind("another function is called", ir.Call)
def _(p: Place) -> bool:
    p.stmt.function = ir.Library(
        p.one_of(("linalg.expm", "arrays.sort", "blas.gemv", "blas.gemm", "linalg.solve_into"))
    )
    return True


__all__ = ["KINDS", "Kind", "Place", "places"]
