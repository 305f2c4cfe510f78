"""Checks that a function is well-formed loop core.

Stores go to allocations or to parameters that may be written. An access has one integer for each axis. New memory is empty. The
values that loops and branches carry agree in number, dtype and rank; elementwise operands agree in dtype.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from transpile.core import nodes as ir
from transpile.core import verify_packets
from transpile.core.dialects import is_legal
from transpile.core.packets import has_lanes
from transpile.core.record_protocol import Records
from transpile.core.types import Type
from transpile.core.verify_scopes import Scopes
from transpile.core.walk import uses
from transpile.errors import RuleError


def is_memory(op: ir.Operand) -> bool:
    """Whether the operand is memory: an array, a buffer, a stack, or several results of one primitive."""
    return isinstance(op, ir.Var) and (bool(op.type.dims) or op.buffer or op.type.kind in ("tuple", "stack"))


class LoopForm(Scopes):
    """Checks one function of loop core."""

    def __init__(self, fn: ir.Function, prims: Records, after: str = "") -> None:
        super().__init__(fn, prims, after)
        self.memory: set[ir.Var] = set()  # arrays that may be written
        self.frame: set[ir.Var] = set()  # arrays that are gone when the function returns
        self.whole: dict[ir.Operand, ir.Operand] = {}  # a view -> the array that it views

    def number(self, op: ir.Operand, what: str) -> None:
        """Checks that an operand is an int64 scalar or packet without dims; ``what`` names it in the message."""
        self.use(op)
        if op.type.dtype != "int64" or op.type.dims:
            self.fail(f"{what} is {op.type}")

    # ---- function and blocks

    def function(self) -> None:
        for p in self.fn.params:
            self.define(p)
            if p.buffer:
                self.memory.add(p)
        self.statements(self.fn.body)
        self.stmt = None
        for y in self.fn.body.yields:
            self.use(y)
            self.check(y.type.kind != "packet", f"packet {y} is returned")
            self.check(y not in self.frame, f"{y} of the frame is returned")

    def carried(self, given: Sequence[ir.Operand], taken: Sequence[ir.Var], what: str) -> None:
        """Checks that the operands ``given`` for the variables ``taken`` agree with them in number, dtype, rank and kind."""
        self.check(len(given) == len(taken), f"{len(given)} {what} for {len(taken)}")
        for op, var in zip(given, taken):
            self.use(op, undef=True)
            self.alike(op.type, var.type, what)

    def alike(self, a: Type, b: Type, what: str) -> None:
        if (a.dtype, a.rank, a.kind, a.lanes) != (b.dtype, b.rank, b.kind, b.lanes):
            self.fail(f"{what}: {a} and {b}")

    def flag(self, op: ir.Operand) -> None:
        self.use(op)
        if not op.type.is_bool or op.type.dims:
            self.fail(f"a test is {op.type}")

    # ---- statements

    def let(self, s: ir.Let) -> None:
        """Checks a *let*: a primitive of loop core on numbers, a read of an element, a size or an item, or one of packets."""
        for a in s.args:
            self.use(a)
        if has_lanes(s):
            verify_packets.let(self, s)
            return
        record = self.prims.get(s.prim)
        if record is None:
            self.fail(f"{s.prim!r} is no primitive")
        self.check(is_legal(record, "loops"), f"{s.prim!r} is no operation of loop core")
        if s.prim == "index":
            self.access(s.args[0], s.args[1:], s.params["path"])
            self.alike(s.var.type, Type(s.args[0].type.dtype), "a read")
            return
        if s.prim == "dim":
            self.check(s.params["axis"] < s.args[0].type.rank, "an axis that is not there")
        elif s.prim == "item":
            self.item(s)
            return
        else:
            self.check(not any(a.type.dims for a in s.args), f"{s.prim!r} is given an array")
        if record.elementwise:
            self.elementwise(s, record.dtype_rule)
        self.alike(s.var.type, self.wanted(record, [a.type for a in s.args], s.params), s.prim)

    def item(self, s: ir.Let) -> None:
        """Checks that an item is taken of several results, and has its type where these are typed one by one."""
        types, k = s.args[0].type, s.params["k"]
        self.check(types.kind == "tuple", f"an item of {types}")
        if types.items:
            self.check(k < len(types.items), f"item {k} of {len(types.items)}")
            self.alike(s.var.type, types.items[k], "an item")
        if s.args[0] in self.memory:
            self.memory.add(s.var)

    def call(self, s: ir.Call) -> None:
        """Checks a call of a runtime function or of a kept function: what it fills may be written and is no other argument."""
        for a in s.args:
            self.use(a)
        match s.function:
            case ir.Library(name):
                self.entry(s, name)
            case ir.Kept():
                self.check(s.written == (), "a kept function writes into an argument")
            case ir.Custom():
                self.fail("a rule of the user's is called")
            case _:
                self.fail("a function of array core is called")
        for k in s.written:
            self.check(k < len(s.args) and s.args[k] in self.memory, f"argument {k} is filled")
        for k in s.written:
            others = [a for j, a in enumerate(s.args) if j != k]
            self.check(not any(self.overlap(s.args[k], a) for a in others), f"{s.args[k]} is filled and read at once")
        for r in s.results:
            self.check(r.type.kind == "array" and not r.buffer, f"a call gives {r}")

    def entry(self, s: ir.Call, name: str) -> None:
        """Checks a call of a runtime function against its signature."""
        record = self.prims.get(name)
        if record is None or record.kind != "entry":
            self.fail(f"{name!r} is no function of the runtime")
        try:
            found = record.type_rule([a.type for a in s.args], {"written": s.written}).items
        except RuleError as e:
            self.fail(f"{name}: {e.message}")
        self.check(len(found) == len(s.results), f"{len(s.results)} results for {len(found)}")
        for var, type_ in zip(s.results, found):
            self.alike(var.type, type_, "a result")

    def overlap(self, a: ir.Operand, b: ir.Operand) -> bool:
        """Whether two arrays surely share memory: they are the same, or one is a view of the other."""
        return isinstance(a, ir.Var) and (a is b or self.whole.get(a) is b or self.whole.get(b) is a)

    def view(self, s: ir.View) -> None:
        """Checks a view: its step fits its base. It may be written, or is gone with the frame, if its base is."""
        for a in s.args:
            self.use(a)
        for a in s.args[1:]:
            self.number(a, "a part of a view")
        self.check(isinstance(s.base, ir.Var) and s.base.type.rank > 0, "a view of a number")
        self.alike(s.var.type, Type(s.base.type.dtype, s.var.type.dims), "a view")
        self.check(s.var.type.rank == self.viewed(s), f"a view of rank {s.var.type.rank}")
        self.whole[s.var] = self.whole.get(s.base, s.base)
        if s.base in self.memory:
            self.memory.add(s.var)
        if s.base in self.frame:
            self.frame.add(s.var)

    def viewed(self, s: ir.View) -> int:
        """The rank of the view; checks that its slots count the operands in order."""
        given, rank = list(range(len(s.args) - 1)), s.base.type.rank
        match s.step:
            case ir.Reshape(args):
                self.check(list(args) == given, f"the sizes {args}")
                return len(args)
            case ir.Permute(axes):
                self.check(sorted(axes) == list(range(rank)) and not given, f"axes {axes} of rank {rank}")
                return rank
            case ir.Index(items):
                slots = [slot for i in items for slot in self.slots(i)]
                self.check(slots == given and len(items) <= rank, f"the items {items}")
                return rank - sum(isinstance(i, ir.Point) for i in items)
        self.fail(f"a view by {s.step}")

    def slots(self, item: ir.Item) -> tuple[int, ...]:
        """The slots of an item of a view: one for a point, start and stop for a slice, none for a full one; other items are
        refused."""
        match item:
            case ir.Point(arg):
                return (arg,)
            case ir.Slice(int(start), int(stop), None):
                return start, stop
            case ir.Slice(None, None, None):
                return ()
        self.fail(f"{item} in a view")

    def access(self, root: ir.Operand, indices: Sequence[ir.Operand], path: Any) -> None:
        """Checks an access of one element: the path is one integer for each axis of the variable ``root``."""
        self.use(root)
        self.check(isinstance(root, ir.Var), "what is accessed is no variable")
        self.check(len(indices) == root.type.rank, f"{len(indices)} subscripts of rank {root.type.rank}")
        items = [i for step in path for i in step.items]
        if [i.arg for i in items if isinstance(i, ir.Point)] != list(range(len(indices))):
            self.fail(f"the path {path}")
        for i in indices:
            self.number(i, "a subscript")

    def alloc(self, s: ir.Alloc) -> None:
        """Checks an allocation: empty memory, a size for each axis, constant sizes in the frame."""
        self.check(s.prim == "empty" and s.var.buffer, "memory that is not empty")
        self.check(len(s.args) == s.var.type.rank, f"{len(s.args)} sizes of rank {s.var.type.rank}")
        for a in s.args:
            self.number(a, "a size")
        self.memory.add(s.var)
        if s.space == "frame":
            self.check(
                all(isinstance(a, ir.Const) for a in s.args), "an array of the frame whose sizes only the run knows"
            )
            self.frame.add(s.var)

    def store(self, s: ir.Store | ir.Add) -> None:
        self.access(s.buf, s.args, s.path)
        self.use(s.value)
        self.check(s.value.type.kind == "array", f"{s.value} is stored as one element")
        if s.buf not in self.memory:
            self.fail(f"{s.buf} is written")
        self.alike(s.value.type, Type(s.buf.type.dtype), "a write")

    def packet_store(self, s: ir.PacketStore) -> None:
        verify_packets.store(self, s)
        self.check(s.buf in self.memory, f"{s.buf} is written")

    def branch(self, s: ir.If) -> None:
        self.flag(s.test)
        for side in (s.then, s.orelse):
            with self.scope():
                self.statements(side)
                self.stmt = s
                self.carried(side.yields, s.results, "yields")

    def loop(self, s: ir.For) -> None:
        """Checks a `For`: its bounds, inits, body and results, and `at_once` if its kind is not "serial"."""
        for op, what in ((s.start, "start"), (s.bound, "bound"), (s.step, "step")):
            self.number(op, f"the {what}")
        self.carried(s.inits, s.body.params, "inits")
        if s.kind != "serial":
            self.at_once(s)
        with self.scope():
            self.define(s.index)
            self.body(s)

    def at_once(self, s: ir.For) -> None:
        """Checks that the iterations of a parallel or vector loop can run concurrently: they count up by 1, and none needs
        another."""
        self.check(ir.is_literal(s.step, 1) and not s.backwards, f"a {s.kind} loop that does not count up by 1")
        self.check(s.body.stop is None and s.trips is None, f"a {s.kind} loop that may stop")
        if s.kind == "parallel":
            self.check(
                ir.is_literal(s.start, 0) and not s.inits, "a parallel loop that carries something, or begins elsewhere"
            )
        self.check(len(s.combiners) == len(s.inits), f"{len(s.combiners)} combiners for {len(s.inits)} values")
        for k, prim in enumerate(s.combiners):
            self.check(self.combines(prim), f"{prim!r} combines nothing")
            self.check(self.is_combined(s.body, k, prim), f"{s.body.params[k]} is not only combined by {prim}")

    def is_combined(self, body: ir.Block, k: int, prim: str) -> bool:
        """Whether an iteration only combines something by ``prim`` into the carried value number ``k`` and passes it on,
        without any other use."""
        held: set[ir.Operand] = {body.params[k]}
        for stmt in body.stmts:
            mine = [o for o in uses(ir.Block((), [stmt])) if o in held]
            if not mine:
                continue
            if len(mine) > 1 or not isinstance(stmt, ir.Let) or not self.is_combining(stmt, prim, held):
                return False
            held.add(stmt.var)
        return body.yields[k] in held and not any(y in held for j, y in enumerate(body.yields) if j != k)

    def is_combining(self, let: ir.Let, prim: str, held: Set[ir.Operand]) -> bool:
        """Whether the *let* combines by ``prim``, or subtracts from its first operand, which is then in ``held``, the carried
        value so far."""
        if let.params.get("vector", let.prim) == prim:
            return True
        record = self.prims.get(let.prim)
        return record is not None and record.folds == prim and let.args[0] in held

    def repeat(self, s: ir.While) -> None:
        """Checks a `While`: its inits, test, body and results."""
        self.carried(s.inits, s.body.params, "inits")
        self.carried(s.inits, s.test.params, "inits")
        with self.scope():
            for p in s.test.params:
                self.define(p)
            self.statements(s.test)
            self.stmt = s
            self.flag(s.test.yields[0])
        with self.scope():
            self.body(s)

    def body(self, s: ir.For | ir.While) -> None:
        """Checks the body of a loop: its parameters, statements, yields and stop, and the types of the loop's results."""
        for p in s.body.params:
            self.define(p)
        self.statements(s.body)
        self.stmt = s
        self.carried(s.body.yields, s.body.params, "yields")
        if s.body.stop is not None:
            self.flag(s.body.stop)
        self.check(len(s.results) == len(s.inits), f"{len(s.results)} results for {len(s.inits)}")
        for r, p in zip(s.results, s.body.params):
            self.alike(r.type, p.type, "results")

    def push(self, s: ir.Push) -> None:
        self.use(s.value)
        self.element(s.stack, s.value)

    def pop(self, s: ir.Pop) -> None:
        self.check(not s.var.buffer, "a pop defines a buffer")
        self.element(s.stack, s.var)

    def effect(self, s: ir.Print | ir.Raise) -> None:
        for a in s.args:
            self.use(a)

    def test(self, s: ir.Check) -> None:
        self.flag(s.test)

    def check_bounds(self, s: ir.BoundsCheck) -> None:
        for a in (s.at, s.size, s.given):
            self.number(a, "a part of a check")
        if s.guard is not None:
            self.flag(s.guard)


LoopForm.handlers = {
    ir.Let: LoopForm.let,
    ir.PacketRead: verify_packets.read,
    ir.PacketStore: LoopForm.packet_store,
    ir.View: LoopForm.view,
    ir.Call: LoopForm.call,
    ir.Alloc: LoopForm.alloc,
    ir.Store: LoopForm.store,
    ir.Add: LoopForm.store,
    ir.If: LoopForm.branch,
    ir.For: LoopForm.loop,
    ir.While: LoopForm.repeat,
    ir.NewStack: LoopForm.new_stack,
    ir.Push: LoopForm.push,
    ir.Pop: LoopForm.pop,
    ir.Print: LoopForm.effect,
    ir.Raise: LoopForm.effect,
    ir.Check: LoopForm.test,
    ir.BoundsCheck: LoopForm.check_bounds,
}
