"""What is computed or read twice is computed or read once; an element that has just been written is not read again.

    t[i] = x[i] * w[i]                    s = x[i] * w[i]
    total = total + t[i]          ->      t[i] = s
                                          total = total + s

Known is what holds in the block: values computed in it or around it, the elements of arrays until something may write
them, that a test whose branch raised is false, that two sizes which were checked are one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from transpile.core.nodes import (
    SYNTHETIC,
    Add,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    Operand,
    Stmt,
    Store,
    Var,
    While,
)
from transpile.core.types import BOOL, Type
from transpile.core.walk import map_reads
from transpile.loops.affine import Forms, Linear
from transpile.loops.memory import Roots, Touches, accesses, is_array, is_pure

Key = tuple[Hashable, ...]
Place = tuple[Var, tuple[Linear, ...]]


def forward(fn: Function) -> Function:
    """The function without repeated computations and reads."""
    return replace(fn, body=_Forward(fn).block(fn.body))


class _Forward:
    def __init__(self, fn: Function) -> None:
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.equal: dict[Var, Operand] = {}
        self.computed: dict[Key, Var] = {}
        self.held: dict[Place, Operand] = {}  # what elements of arrays hold
        self.checked: set[Key] = set()
        self.depth = 0

    def operand(self, op: Operand) -> Operand:
        while isinstance(op, Var) and op in self.equal:
            op = self.equal[op]
        return op

    # ---- blocks

    def block(self, block: Block) -> Block:
        saved = self.computed, self.held, self.checked, self.equal
        self.computed, self.held, self.checked, self.equal = (
            dict(self.computed),
            dict(self.held),
            set(self.checked),
            dict(self.equal),
        )
        self.depth += 1
        stmts = _Stores(self)
        for stmt in block.stmts:
            for new in self.stmt(stmt):
                stmts.append(new)
        self.depth -= 1
        yields = tuple(self.operand(y) for y in block.yields)
        stop = None if block.stop is None else self.operand(block.stop)
        self.computed, self.held, self.checked, self.equal = saved
        return Block(block.params, stmts.left(), yields, stop)

    def stmt(self, old: Stmt) -> Sequence[Stmt]:
        """What stands in the statement's place."""
        stmt = map_reads(old, self.operand)
        match stmt:
            case Let():
                return self.let(stmt)
            case Store():
                self.forget(stmt)
                self.held[self.place(stmt.buf, stmt.args)] = stmt.value
            case Add():
                return self.add(stmt)
            case If():
                return self.branch(stmt)
            case For() | While():
                return (self.loop(stmt),)
            case Effect(kind="check"):
                key = tuple(self.form(a) for a in (*stmt.args[:2], *stmt.args[3:]))
                if key in self.checked or key[:2] in self.checked or self.holds(stmt):
                    return ()
                self.checked.add(key)
            case _:
                self.forget(stmt)
        return (stmt,)

    def form(self, op: Operand) -> Hashable:
        """What equal operands have in common."""
        if isinstance(op, Var):
            is_index = op.type.dtype == "int64" and not op.type.dims and op.type.kind == "array"
            return self.forms.of(op) if is_index else op
        value = getattr(op, "value", None)
        return (repr(value), op.type)

    # ---- values

    def let(self, stmt: Let) -> Sequence[Stmt]:
        if stmt.prim == "index":
            return self.read(stmt)
        if not is_pure(stmt) or is_array(stmt.var) or stmt.var.type.kind != "array":
            self.forget(stmt)
            return (stmt,)
        key = (stmt.prim, *(self.form(a) for a in stmt.args), stmt.var.type, repr(sorted(stmt.params.items(), key=str)))
        same = self.computed.setdefault(key, stmt.var)
        if same is not stmt.var:
            self.drop(stmt.var, same)
            return ()
        return (stmt,)

    def drop(self, var: Var, same: Operand) -> None:
        """``var`` is ``same`` wherever it is seen."""
        if isinstance(same, Var):
            if same.name == SYNTHETIC:
                same.name = var.name
            self.forms.alias(var, same)
        self.equal[var] = same

    def place(self, var: Var, indices: tuple[Operand, ...]) -> Place:
        return var, tuple(self.forms.of(i) for i in indices)

    def read(self, stmt: Let) -> Sequence[Stmt]:
        source = stmt.args[0]
        assert isinstance(source, Var)
        held = self.held.setdefault(self.place(source, stmt.args[1:]), stmt.var)
        if held is stmt.var:
            return (stmt,)
        self.drop(stmt.var, held)
        return ()

    def add(self, stmt: Add) -> Sequence[Stmt]:
        """``t[i] += x`` as a write of a sum, where what ``t[i]`` holds is known."""
        place = self.place(stmt.buf, stmt.args)
        held = self.held.get(place)
        self.forget(stmt)
        if held is None or stmt.buf.type.dtype not in ("float64", "float32", "int64"):
            return (stmt,)
        if is_zero(held):
            self.held[place] = stmt.value
            return (Store(stmt.buf, stmt.path, stmt.args, stmt.value, stmt.loc),)
        total = Var(SYNTHETIC, Type(stmt.buf.type.dtype))
        self.held[place] = total
        let = Let(total, "add", (held, stmt.value), {}, stmt.loc)
        return let, Store(stmt.buf, stmt.path, stmt.args, total, stmt.loc)

    def forget(self, stmt: Stmt) -> None:
        """What elements hold is not known any more where the statement may write them."""
        for access in accesses(stmt):
            if access.kind == "read":
                continue
            root = self.roots.of(access.var)
            spot = None if access.indices is None else self.place(access.var, access.indices)
            self.held = {
                p: v
                for p, v in self.held.items()
                if self.roots.of(p[0]) is not root or (spot and is_elsewhere(p, spot))
            }

    def forget_inside(self, stmt: Stmt) -> None:
        touch = self.touches.of(stmt)
        roots = touch.written | touch.added
        if roots:
            self.held = {p: v for p, v in self.held.items() if self.roots.of(p[0]) not in roots}

    def holds(self, check: Effect) -> bool:
        """Whether a check is known to pass."""
        at, size = (self.forms.of(a) for a in check.args[:2])
        gap = size.plus(at, -1)
        return not gap.terms and gap.const > 0 and not check.params["low"]

    # ---- control

    def branch(self, stmt: If) -> Sequence[Stmt]:
        if isinstance(stmt.test, Const) and not stmt.results:
            taken = self.block(stmt.then if stmt.test.value else stmt.orelse)
            self.forget_inside(stmt)
            return taken.stmts
        new = replace(stmt, then=self.block(stmt.then), orelse=self.block(stmt.orelse))
        self.forget_inside(new)
        if isinstance(stmt.test, Var) and ends(new.then):
            self.learn(stmt.test)
        return (new,)

    def learn(self, test: Var) -> None:
        """The test is false from here on; where it asked whether two sizes differ, they are one."""
        self.equal[test] = Const(False, BOOL)
        let = self.forms.lets.get(test)
        if let is None or let.prim != "not_equal" or self.depth > 1:
            return
        a, b = (self.operand(x) for x in let.args)
        if isinstance(a, Var) and a.type.dtype == "int64" and not a.type.dims and a is not b:
            self.drop(a, b)

    def loop(self, stmt: For | While) -> Stmt:
        self.forget_inside(stmt)
        if isinstance(stmt, While):
            return replace(stmt, test=self.block(stmt.test), body=self.block(stmt.body))
        return replace(stmt, body=self.block(stmt.body))


def ends(block: Block) -> bool:
    """Whether a block raises."""
    return bool(block.stmts) and isinstance(block.stmts[-1], Effect) and block.stmts[-1].kind == "raise"


def is_zero(op: Operand) -> bool:
    return isinstance(op, Const) and not isinstance(op.value, bool) and op.value == 0


class _Stores:
    """The statements of a block, without the writes to elements that are written again before anything reads them."""

    def __init__(self, around: _Forward) -> None:
        self.around = around
        self.stmts: list[Stmt | None] = []
        self.open: dict[Place, int] = {}  # what was written and not read since: where

    def append(self, stmt: Stmt) -> None:
        around = self.around
        touch = around.touches.of(stmt)
        seen = touch.read | touch.added
        if touch.raises or touch.acts:
            seen |= around.roots.written_params
        if not isinstance(stmt, Store):
            seen |= touch.written
        if seen:
            self.open = {p: k for p, k in self.open.items() if around.roots.of(p[0]) not in seen}
        if isinstance(stmt, Store):
            place = around.place(stmt.buf, stmt.args)
            if place in self.open:
                self.stmts[self.open[place]] = None
            self.open[place] = len(self.stmts)
        self.stmts.append(stmt)

    def left(self) -> list[Stmt]:
        return [s for s in self.stmts if s is not None]


def is_elsewhere(a: Place, b: Place) -> bool:
    """Whether two places of one array differ for certain."""
    return a[0] is b[0] and any(p.terms == q.terms and p.const != q.const for p, q in zip(a[1], b[1]))
