"""The form of scalar core: what every pass of `transpile.loops` must leave whole.

Each variable is defined once, before it is used and where it is seen; what loops and branches carry agrees in number and type; a
store goes into an allocation or a parameter that the function may write; an access has one integer for each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from transpile.core import nodes as ir
from transpile.core.dump import dump_stmt
from transpile.core.types import Type
from transpile.core.walk import defines, uses
from transpile.loops import passes

SAME = frozenset("add sub mul div maximum minimum neg".split())  # whose operands have the dtype of the result


class Malformed(AssertionError):
    """A pass has made scalar core that means nothing."""


def check(fn: ir.Function, after: str = "") -> ir.Function:
    """``fn`` itself; raises `Malformed` if it is not well formed."""
    _Check(fn, after).function()
    return fn


@contextmanager
def checked_passes() -> Iterator[None]:
    """Within it, what each pass of `transpile.loops.passes` returns is checked."""
    kept = {name: f for name, f in vars(passes).items() if callable(f) and _is_pass(f)}

    def wrapped(name: str, run: Callable[..., ir.Function]) -> Callable[..., ir.Function]:
        return lambda *args: check(run(*args), name)

    for name, f in kept.items():
        setattr(passes, name, wrapped(name, f))
    try:
        yield
    finally:
        for name, f in kept.items():
            setattr(passes, name, f)


def _is_pass(f: Any) -> bool:
    hints = getattr(f, "__annotations__", {})
    return not isinstance(f, type) and hints.get("return") in ("Function", ir.Function) and f.__name__ != "optimise"


class _Check:
    def __init__(self, fn: ir.Function, after: str) -> None:
        self.fn, self.after = fn, after
        self.seen: set[ir.Var] = set()
        self.visible: set[ir.Var] = set()
        self.inside: list[ir.Var] = []  # what the block that is checked has defined
        self.memory: set[ir.Var] = set()  # what may be written
        self.stmt: ir.Stmt | None = None

    def fail(self, message: str) -> NoReturn:
        where = f"\n  in: {dump_stmt(self.stmt).splitlines()[0]}" if self.stmt is not None else ""
        raise Malformed(f"{self.fn.name} after {self.after or 'lower'}: {message}{where}")

    def ask(self, condition: bool, message: str) -> None:
        if not condition:
            self.fail(message)

    def define(self, var: ir.Var) -> None:
        if var in self.seen:
            self.fail(f"{var} is defined twice")
        self.seen.add(var)
        self.visible.add(var)
        self.inside.append(var)

    def use(self, op: ir.Operand) -> None:
        if isinstance(op, ir.Var):
            if op not in self.visible:
                self.fail(f"{op} is used {'out of scope' if op in self.seen else 'before it is defined'}")
        elif not isinstance(op, (ir.Const, ir.Undef)):
            self.fail(f"{op!r} is not an operand")

    def number(self, op: ir.Operand, what: str) -> None:
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

    def block(self, block: ir.Block) -> None:
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

    def carried(self, given: Sequence[ir.Operand], taken: Sequence[ir.Var], what: str) -> None:
        self.ask(len(given) == len(taken), f"{len(given)} {what} for {len(taken)}")
        for op, var in zip(given, taken):
            self.use(op)
            self.alike(op.type, var.type, what)

    def alike(self, a: Type, b: Type, what: str) -> None:
        if (a.dtype, a.rank, a.kind) != (b.dtype, b.rank, b.kind):
            self.fail(f"{what}: {a} and {b}")

    def flag(self, op: ir.Operand) -> None:
        self.use(op)
        if not op.type.is_bool or op.type.dims:
            self.fail(f"a test is {op.type}")

    # ---- statements

    def let(self, s: ir.Let) -> None:
        for a in s.args:
            self.use(a)
        if s.prim == "index":
            self.access(s.args[0], s.args[1:], s.params["path"])
            self.alike(s.var.type, Type(s.args[0].type.dtype), "a read")
        elif s.prim in SAME:
            for a in s.args:
                self.alike(a.type, s.var.type, s.prim)
        elif s.prim == "item" and s.args[0] in self.memory:
            self.memory.add(s.var)
        elif s.prim == "dim":
            self.ask(s.params["axis"] < s.args[0].type.rank, "an axis that is not there")

    def view(self, s: ir.View) -> None:
        for a in s.args:
            self.use(a)
        for a in s.args[1:]:
            self.number(a, "a part of a view")
        self.ask(isinstance(s.base, ir.Var) and s.base.type.rank > 0, "a view of a number")
        self.alike(s.var.type, Type(s.base.type.dtype, s.var.type.dims), "a view")
        self.ask(s.var.type.rank == self.viewed(s), f"a view of rank {s.var.type.rank}")
        if s.base in self.memory:
            self.memory.add(s.var)

    def viewed(self, s: ir.View) -> int:
        """The rank of what the step leads to; each slot is that of an operand, in order."""
        given, rank = list(range(len(s.args) - 1)), s.base.type.rank
        match s.step:
            case ir.Reshape(args):
                self.ask(list(args) == given, f"the sizes {args}")
                return len(args)
            case ir.Permute(axes):
                self.ask(sorted(axes) == list(range(rank)) and not given, f"axes {axes} of rank {rank}")
                return rank
            case ir.Index(items):
                slots = [slot for i in items for slot in _slots(i)]
                self.ask(slots == given and len(items) <= rank, f"the items {items}")
                return rank - sum(isinstance(i, ir.Point) for i in items)
        self.fail(f"a view by {s.step}")

    def access(self, root: ir.Operand, indices: Sequence[ir.Operand], path: Any) -> None:
        self.use(root)
        self.ask(isinstance(root, ir.Var), "what is accessed is no variable")
        self.ask(len(indices) == root.type.rank, f"{len(indices)} subscripts of rank {root.type.rank}")
        items = [i for step in path for i in step.items]
        if [i.arg for i in items if isinstance(i, ir.Point)] != list(range(len(indices))):
            self.fail(f"the path {path}")
        for i in indices:
            self.number(i, "a subscript")

    def alloc(self, s: ir.Alloc) -> None:
        self.ask(s.prim == "empty" and s.var.buffer, "memory that is not empty")
        self.ask(len(s.args) == s.var.type.rank, f"{len(s.args)} sizes of rank {s.var.type.rank}")
        for a in s.args:
            self.number(a, "a size")
        self.memory.add(s.var)

    def store(self, s: ir.Store | ir.Add) -> None:
        self.access(s.buf, s.args, s.path)
        self.use(s.value)
        if s.buf not in self.memory:
            self.fail(f"{s.buf} is written")
        self.alike(s.value.type, Type(s.buf.type.dtype), "a write")

    def branch(self, s: ir.If) -> None:
        self.flag(s.test)
        for side in (s.then, s.orelse):
            with self.scope():
                self.block(side)
                self.stmt = s
                self.carried(side.yields, s.results, "yields")

    def loop(self, s: ir.For) -> None:
        for op, what in ((s.start, "start"), (s.bound, "bound"), (s.step, "step")):
            self.number(op, f"the {what}")
        self.carried(s.inits, s.body.params, "inits")
        if s.kind != "serial":
            self.at_once(s)
        with self.scope():
            self.define(s.index)
            self.body(s)

    def at_once(self, s: ir.For) -> None:
        """The trips can be made at once: they are counted, and no trip needs another."""
        self.ask(ir.is_literal(s.step, 1) and not s.backwards, f"a {s.kind} loop that does not count up by 1")
        self.ask(s.body.stop is None and s.trips is None, f"a {s.kind} loop that may stop")
        if s.kind == "parallel":
            self.ask(
                ir.is_literal(s.start, 0) and not s.inits, "a parallel loop that carries something, or begins elsewhere"
            )
        self.ask(len(s.combiners) == len(s.inits), f"{len(s.combiners)} combiners for {len(s.inits)} values")
        for k, prim in enumerate(s.combiners):
            self.ask(prim in ir.COMBINERS, f"{prim!r} combines nothing")
            self.ask(is_combined(s.body, k, prim), f"{s.body.params[k]} is not only combined by {prim}")

    def repeat(self, s: ir.While) -> None:
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

    def body(self, s: ir.For | ir.While) -> None:
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

    def push(self, s: ir.Push) -> None:
        self.use(s.stack)
        self.use(s.value)

    def pop(self, s: ir.Pop) -> None:
        self.use(s.stack)

    def effect(self, s: ir.Print | ir.Raise) -> None:
        for a in s.args:
            self.use(a)

    def check(self, s: ir.Check) -> None:
        self.flag(s.test)

    def check_bounds(self, s: ir.BoundsCheck) -> None:
        for a in (s.at, s.size, s.given):
            self.number(a, "a part of a check")
        if s.guard is not None:
            self.flag(s.guard)

    def new_stack(self, s: ir.NewStack) -> None:
        self.ask(s.var.type.kind == "stack", f"{s.var} is no stack")


def _slots(item: ir.Item) -> tuple[int, ...]:
    match item:
        case ir.Point(arg):
            return (arg,)
        case ir.Slice(int(start), int(stop), None):
            return start, stop
        case ir.Slice(None, None, None):
            return ()
    raise Malformed(f"{item} in a view")


def is_combined(body: ir.Block, k: int, prim: str) -> bool:
    """Whether a trip hands on its ``k``-th carried value with something combined in, and does nothing else with it."""
    held = {body.params[k]}
    for stmt in body.stmts:
        mine = [o for o in uses(ir.Block((), [stmt])) if o in held]
        if not mine:
            continue
        is_taken_off = prim == "add" and isinstance(stmt, ir.Let) and stmt.prim == "sub" and stmt.args[0] in held
        if (
            len(mine) > 1
            or not isinstance(stmt, ir.Let)
            or not (stmt.params.get("vector", stmt.prim) == prim or is_taken_off)
        ):
            return False
        held.add(stmt.var)
    return body.yields[k] in held and not any(y in held for j, y in enumerate(body.yields) if j != k)


_HANDLERS: dict[type, Callable[[_Check, Any], None]] = {
    ir.Let: _Check.let,
    ir.View: _Check.view,
    ir.Alloc: _Check.alloc,
    ir.Store: _Check.store,
    ir.Add: _Check.store,
    ir.If: _Check.branch,
    ir.For: _Check.loop,
    ir.While: _Check.repeat,
    ir.NewStack: _Check.new_stack,
    ir.Push: _Check.push,
    ir.Pop: _Check.pop,
    ir.Print: _Check.effect,
    ir.Raise: _Check.effect,
    ir.Check: _Check.check,
    ir.BoundsCheck: _Check.check_bounds,
}
