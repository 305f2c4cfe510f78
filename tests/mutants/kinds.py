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


def kind(name: str) -> Callable[[Kind], Kind]:
    def add(change: Kind) -> Kind:
        KINDS[name] = change
        return change

    return add


# --------------------------------------------------------------------------------------------------------- statements


@kind("a store is dropped")
def _(p: Place) -> bool:
    return isinstance(p.stmt, (ir.Store, ir.Add, ir.PacketStore)) and p.put()


@kind("a store adds, or an addition stores")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, (ir.Store, ir.Add)) or s.value.type.is_bool:
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


@kind("a push or a pop is dropped")
def _(p: Place) -> bool:
    s = p.stmt
    if isinstance(s, ir.Pop) and not s.var.type.dims:
        zero = ir.Const(0.0 if s.var.type.is_float else 0 if s.var.type.is_int else False, s.var.type)
        return p.put(ir.Let(s.var, "identity", (zero,)))
    return isinstance(s, ir.Push) and p.put()


@kind("a check is dropped")
def _(p: Place) -> bool:
    return isinstance(p.stmt, (ir.Check, ir.BoundsCheck)) and p.put()


@kind("a side of a branch is empty")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.If) or s.results:
        return False
    full = [side for side in (s.then, s.orelse) if side.stmts and not isinstance(side.stmts[-1], ir.Raise)]
    if not full:
        return False
    p.one_of(full).stmts.clear()
    return True


# ----------------------------------------------------------------------------------------------------------- operands

TWICE = {
    "sub",
    "div",
    "true_divide",
    "floordiv",
    "mod",
    "pow",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "where",
}


@kind("operands are exchanged")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Let) or s.prim not in TWICE or s.args[-1] == s.args[-2]:
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


@kind("another operation")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Let) or s.prim not in EXCHANGED:
        return False
    s.prim = EXCHANGED[s.prim]
    return True


@kind("an operation of another number of operands")
def _(p: Place) -> bool:
    s = p.stmt
    if (
        not isinstance(s, ir.Let)
        or isinstance(s, ir.View)
        or s.prim in ("index", "cast", "dim", "item")
        or len(s.args) < 2
    ):
        return False
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


@kind("a cast is left out")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Let) or s.prim != "cast" or s.args[0].type.dtype == s.var.type.dtype:
        return False
    return p.put(ir.Let(s.var, "identity", s.args, {}, s.loc))


# ------------------------------------------------------------------------------------------------------------- memory


def _accesses(s: Any) -> bool:
    return isinstance(s, (ir.Store, ir.Add)) or (isinstance(s, ir.Let) and s.prim == "index" and len(s.args) > 1)


def _indices(s: Any) -> list[int]:
    """The positions of subscripts among the operands."""
    return list(range(1 if isinstance(s, ir.Let) else 0, len(s.args)))


@kind("a subscript is one further")
def _(p: Place) -> bool:
    s = p.stmt
    if not _accesses(s) or not _indices(s):
        return False
    k = p.one_of(_indices(s))
    moved = ir.Var("moved", INT)
    step = 1 if p.rng.integers(2) else -1
    args = (*s.args[:k], moved, *s.args[k + 1 :])
    return p.put(ir.Let(moved, "add", (s.args[k], ir.Const(step, s.args[k].type))), replace(s, args=args))


@kind("another subscript")
def _(p: Place) -> bool:
    s = p.stmt
    if not _accesses(s):
        return False
    found = [(k, v) for k in _indices(s) if (v := p.other(s.args[k])) is not None]
    if not found:
        return False
    k, v = p.one_of(found)
    s.args = (*s.args[:k], v, *s.args[k + 1 :])
    return True


@kind("subscripts are exchanged")
def _(p: Place) -> bool:
    s = p.stmt
    if not _accesses(s) or len(_indices(s)) < 2:
        return False
    *first, a, b = s.args
    if a == b:
        return False
    s.args = (*first, b, a)
    return True


@kind("a subscript is missing")
def _(p: Place) -> bool:
    s = p.stmt
    if not _accesses(s) or not _indices(s):
        return False
    s.args = s.args[:-1]
    return True


@kind("an array has another size")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Alloc) or not s.args:
        return False
    k = p.one_of(range(len(s.args)))
    size = ir.Var("size", INT)
    args = (*s.args[:k], size, *s.args[k + 1 :])
    step = 1 if p.rng.integers(2) else -1
    if s.space == "frame":
        s.args = (*s.args[:k], ir.Const(s.args[k].value + step, INT), *s.args[k + 1 :])
        return True
    return p.put(ir.Let(size, "add", (s.args[k], ir.Const(step, INT))), replace(s, args=args))


@kind("an array is another one")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, (ir.Store, ir.Add)) or (v := p.other(s.buf)) is None:
        return False
    s.buf = v
    return True


@kind("a view begins elsewhere")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.View) or not isinstance(s.step, ir.Index) or len(s.args) < 2:
        return False
    moved = ir.Var("moved", INT)
    args = (s.args[0], moved, *s.args[2:])
    return p.put(ir.Let(moved, "add", (s.args[1], ir.Const(1, INT))), replace(s, args=args))


# -------------------------------------------------------------------------------------------------------------- loops


def _steps(s: Any) -> bool:
    return isinstance(s, (ir.For, ir.While))


@kind("a range is shorter")
def _(p: Place) -> bool:
    return _bounded(p, -1)


@kind("a range is longer")
def _(p: Place) -> bool:
    return _bounded(p, 1)


def _bounded(p: Place, by: int) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For):
        return False
    bound = ir.Var("bound", INT)
    return p.put(ir.Let(bound, "add", (s.bound, ir.Const(by, s.bound.type))), replace(s, bound=bound))


@kind("a range begins later")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For):
        return False
    start = ir.Var("start", INT)
    return p.put(ir.Let(start, "add", (s.start, ir.Const(1, s.start.type))), replace(s, start=start))


@kind("a loop runs the other way")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For):
        return False
    s.backwards = not s.backwards
    return True


@kind("a serial loop is parallel")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For) or s.kind != "serial" or s.inits or not ir.is_literal(s.start, 0):
        return False
    s.kind = "parallel"
    return True


@kind("a serial loop is a vector loop")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For) or s.kind != "serial":
        return False
    s.kind, s.combiners = "vector", tuple("add" for _ in s.inits)
    return True


@kind("a carried value is not renewed")
def _(p: Place) -> bool:
    s = p.stmt
    found = [k for k, y in enumerate(s.body.yields) if y is not s.body.params[k]] if _steps(s) else []
    if not found:
        return False
    k = p.one_of(found)
    s.body.yields = (*s.body.yields[:k], s.body.params[k], *s.body.yields[k + 1 :])
    return True


@kind("carried values are exchanged")
def _(p: Place) -> bool:
    s = p.stmt
    if isinstance(s, ir.If):
        return _exchanged(p, s.then)
    return _steps(s) and _exchanged(p, s.body)


def _exchanged(p: Place, block: ir.Block) -> bool:
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


@kind("a carried value is lost")
def _(p: Place) -> bool:
    s = p.stmt
    if not _steps(s) or not s.body.yields:
        return False
    s.body.yields = s.body.yields[:-1]
    return True


@kind("a loop begins with another value")
def _(p: Place) -> bool:
    s = p.stmt
    found = [(k, v) for k, i in enumerate(s.inits) if (v := _another(p, i)) is not None] if _steps(s) else []
    if not found:
        return False
    k, v = p.one_of(found)
    s.inits = (*s.inits[:k], v, *s.inits[k + 1 :])
    return True


def _another(p: Place, old: ir.Operand) -> ir.Operand | None:
    if isinstance(old, ir.Const) and not old.type.is_bool:
        return ir.Const(old.value + 1, old.type)
    return p.other(old) if isinstance(old, ir.Var) else None


@kind("a combiner is another one")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.For) or not s.combiners:
        return False
    s.combiners = ("mul" if s.combiners[0] != "mul" else "add", *s.combiners[1:])
    return True


@kind("a test is negated")
def _(p: Place) -> bool:
    s = p.stmt
    if isinstance(s, ir.If):
        s.then, s.orelse = s.orelse, s.then
        return True
    if _steps(s) and s.body.stop is not None:
        wrong = ir.Var("wrong", s.body.stop.type)
        s.body.stmts.append(ir.Let(wrong, "logical_not", (s.body.stop,)))
        s.body.stop = wrong
        return True
    return False


@kind("a loop does not stop")
def _(p: Place) -> bool:
    s = p.stmt
    if not _steps(s) or s.body.stop is None:
        return False
    s.body.stop = None
    return True


# -------------------------------------------------------------------------------------------------------------- calls


@kind("arguments of a call are exchanged")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Call):
        return False
    found = [k for k in range(1, len(s.args)) if s.args[k] is not s.args[k - 1]]
    if not found:
        return False
    k = p.one_of(found)
    args = list(s.args)
    args[k - 1], args[k] = args[k], args[k - 1]
    s.args = tuple(args)
    return True


@kind("a call has an argument less")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Call) or not s.args:
        return False
    s.args = s.args[:-1]
    return True


@kind("a call fills something else")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Call) or not s.written:
        return False
    s.written = ()
    return True


@kind("another function is called")
def _(p: Place) -> bool:
    s = p.stmt
    if not isinstance(s, ir.Call):
        return False
    s.function = ir.Library(p.one_of(("linalg.expm", "arrays.sort", "blas.gemv", "blas.gemm", "linalg.solve_into")))
    return True


__all__ = ["KINDS", "Kind", "Place", "places"]
