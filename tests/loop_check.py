"""The form of scalar core: what every pass of `transpile.loops` must leave whole.

Each variable is defined once, before it is used and where it is seen; what loops and branches carry agrees in number and type; a
store goes into an allocation or a parameter that the function may write; an access has one integer for each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from transpile.core.nodes import (
    Add,
    Alloc,
    Block,
    Const,
    Effect,
    For,
    Function,
    If,
    Let,
    NewStack,
    Operand,
    Point,
    Pop,
    Push,
    Stmt,
    Store,
    Undef,
    Var,
    While,
)
from transpile.core.text import dump_stmt
from transpile.core.types import Type
from transpile.core.walk import defines
from transpile.core.watch import Done, watching

VIEWS = ("view", "swap", "row", "item")
SAME = frozenset("add sub mul div maximum minimum neg".split())  # whose operands have the dtype of the result


class Malformed(AssertionError):
    """A pass has made scalar core that means nothing."""


def check(fn: Function, after: str = "") -> Function:
    """``fn`` itself; raises `Malformed` if it is not well formed."""
    _Check(fn, after).function()
    return fn


@contextmanager
def checked_passes() -> Iterator[None]:
    """Within it, what each pass over loops returns is checked."""

    def watcher(done: Done) -> None:
        if done.dialect == "loops" and done.new is not done.old:
            check(done.new, done.name)

    with watching(watcher):
        yield


class _Check:
    def __init__(self, fn: Function, after: str) -> None:
        self.fn, self.after = fn, after
        self.seen: set[Var] = set()
        self.visible: set[Var] = set()
        self.inside: list[Var] = []  # what the block that is checked has defined
        self.memory: set[Var] = set()  # what may be written
        self.stmt: Stmt | None = None

    def fail(self, message: str) -> NoReturn:
        where = f"\n  in: {dump_stmt(self.stmt).splitlines()[0]}" if self.stmt is not None else ""
        raise Malformed(f"{self.fn.name} after {self.after or 'lower'}: {message}{where}")

    def ask(self, condition: bool, message: str) -> None:
        if not condition:
            self.fail(message)

    def define(self, var: Var) -> None:
        if var in self.seen:
            self.fail(f"{var} is defined twice")
        self.seen.add(var)
        self.visible.add(var)
        self.inside.append(var)

    def use(self, op: Operand) -> None:
        if isinstance(op, Var):
            if op not in self.visible:
                self.fail(f"{op} is used {'out of scope' if op in self.seen else 'before it is defined'}")
        elif not isinstance(op, (Const, Undef)):
            self.fail(f"{op!r} is not an operand")

    def number(self, op: Operand, what: str) -> None:
        self.use(op)
        if op.type.dtype != "int64" or op.type.dims:
            self.fail(f"{what} is {op.type}")

    # ---- function and blocks

    def function(self) -> None:
        for p in self.fn.params:
            self.define(p)
            if p.buffer:
                self.memory.add(p)
        self.block(self.fn.body)
        self.stmt = None
        for y in self.fn.body.yields:
            self.use(y)

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.stmt = stmt
            _HANDLERS[type(stmt)](self, stmt)
            self.stmt = stmt
            for var in defines(stmt):
                self.define(var)

    @contextmanager
    def scope(self) -> Iterator[None]:
        around, self.inside = self.inside, []
        yield
        self.visible.difference_update(self.inside)
        self.inside = around

    def carried(self, given: Sequence[Operand], taken: Sequence[Var], what: str) -> None:
        self.ask(len(given) == len(taken), f"{len(given)} {what} for {len(taken)}")
        for op, var in zip(given, taken):
            self.use(op)
            self.alike(op.type, var.type, what)

    def alike(self, a: Type, b: Type, what: str) -> None:
        if (a.dtype, a.rank, a.kind) != (b.dtype, b.rank, b.kind):
            self.fail(f"{what}: {a} and {b}")

    def flag(self, op: Operand) -> None:
        self.use(op)
        if not op.type.is_bool or op.type.dims:
            self.fail(f"a test is {op.type}")

    # ---- statements

    def let(self, s: Let) -> None:
        for a in s.args:
            self.use(a)
        if s.prim == "index":
            self.access(s.args[0], s.args[1:], s.params["path"])
            self.alike(s.var.type, Type(s.args[0].type.dtype), "a read")
        elif s.prim in SAME:
            for a in s.args:
                self.alike(a.type, s.var.type, s.prim)
        elif s.prim in VIEWS and s.args[0] in self.memory:
            self.memory.add(s.var)
        elif s.prim == "dim":
            self.ask(s.params["axis"] < s.args[0].type.rank, "an axis that is not there")

    def access(self, root: Operand, indices: Sequence[Operand], path: Any) -> None:
        self.use(root)
        self.ask(isinstance(root, Var), "what is accessed is no variable")
        self.ask(len(indices) == root.type.rank, f"{len(indices)} subscripts of rank {root.type.rank}")
        items = [i for step in path for i in step.items]
        if [i.arg for i in items if isinstance(i, Point)] != list(range(len(indices))):
            self.fail(f"the path {path}")
        for i in indices:
            self.number(i, "a subscript")

    def alloc(self, s: Alloc) -> None:
        self.ask(s.prim == "empty" and s.var.buffer, "memory that is not empty")
        self.ask(len(s.args) == s.var.type.rank, f"{len(s.args)} sizes of rank {s.var.type.rank}")
        for a in s.args:
            self.number(a, "a size")
        self.memory.add(s.var)

    def store(self, s: Store | Add) -> None:
        self.access(s.buf, s.args, s.path)
        self.use(s.value)
        if s.buf not in self.memory:
            self.fail(f"{s.buf} is written")
        self.alike(s.value.type, Type(s.buf.type.dtype), "a write")

    def branch(self, s: If) -> None:
        self.flag(s.test)
        for side in (s.then, s.orelse):
            with self.scope():
                self.block(side)
                self.stmt = s
                self.carried(side.yields, s.results, "yields")

    def loop(self, s: For) -> None:
        for op, what in ((s.start, "start"), (s.bound, "bound"), (s.step, "step")):
            self.number(op, f"the {what}")
        self.carried(s.inits, s.body.params, "inits")
        with self.scope():
            self.define(s.index)
            self.body(s)

    def repeat(self, s: While) -> None:
        self.carried(s.inits, s.body.params, "inits")
        self.carried(s.inits, s.test.params, "inits")
        with self.scope():
            for p in s.test.params:
                self.define(p)
            self.block(s.test)
            self.stmt = s
            self.flag(s.test.yields[0])
        with self.scope():
            self.body(s)

    def body(self, s: For | While) -> None:
        for p in s.body.params:
            self.define(p)
        self.block(s.body)
        self.stmt = s
        self.carried(s.body.yields, s.body.params, "yields")
        if s.body.stop is not None:
            self.flag(s.body.stop)
        self.ask(len(s.results) == len(s.inits), f"{len(s.results)} results for {len(s.inits)}")
        for r, p in zip(s.results, s.body.params):
            self.alike(r.type, p.type, "results")

    def push(self, s: Push) -> None:
        self.use(s.stack)
        self.use(s.value)

    def pop(self, s: Pop) -> None:
        self.use(s.stack)

    def effect(self, s: Effect) -> None:
        for a in s.args:
            self.use(a)
        if s.kind == "check":
            for a in s.args[:3]:
                self.number(a, "a part of a check")
            for a in s.args[3:]:
                self.flag(a)

    def new_stack(self, s: NewStack) -> None:
        self.ask(s.var.type.kind == "stack", f"{s.var} is no stack")


_HANDLERS: dict[type, Callable[[_Check, Any], None]] = {
    Let: _Check.let,
    Alloc: _Check.alloc,
    Store: _Check.store,
    Add: _Check.store,
    If: _Check.branch,
    For: _Check.loop,
    While: _Check.repeat,
    NewStack: _Check.new_stack,
    Push: _Check.push,
    Pop: _Check.pop,
    Effect: _Check.effect,
}
