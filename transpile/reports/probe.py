"""Measures counts that are known only at run time: a copy of the function that computes nothing else runs once, interpreted.

    while x > 1.0:                    counts[0] = 0
        push x_tape x       ->        while x > 1.0:
        x = x / 2.0                       counts[0] += 1; counts[1] = max(counts[1], counts[0])
                                          x = x / 2.0

Dead code, on which the counts do not depend, is removed: usually the whole reverse sweep of a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transpile.aggregates import Leaf
from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.types import INT, Type
from transpile.core.walk import defines
from transpile.ops.tables import prims
from transpile.simplify.dead_code import remove_dead


@dataclass(frozen=True)
class Wanted:
    """The counts to measure, by name: ``largest`` values of integers or largest sizes of arrays, ``trips`` of loops in total,
    and ``entries`` and ``bytes`` of stacks at their highest."""

    largest: dict[str, ir.Var]
    trips: dict[str, ir.For | ir.While]
    entries: dict[str, ir.Var]
    bytes: dict[str, ir.Var]

    def __bool__(self) -> bool:
        return bool(self.largest or self.trips or self.entries or self.bytes)


Run = Callable[[ir.Function], Any]  # the results of a core function in the call, interpreted


def measure(core: ir.Function, wanted: Wanted, run: Run) -> dict[str, int]:
    """The wanted counts in a call of ``core``; ``run`` runs another function on the arguments of the call."""
    probe = _Probe(core, wanted)
    out = run(probe.run())
    return {name: int(out[k]) for name, k in probe.slots.items()}


class _Probe:
    """Builds the function that counts."""

    def __init__(self, core: ir.Function, wanted: Wanted) -> None:
        self.core = core
        self.b = Builder(prims(), dict(core.symbols), core)
        self.slots: dict[str, int] = {}
        self.hidden = 0  # number of slots that are not returned
        self.actions: dict[object, list[Callable[[Any], None]]] = {}
        for name, var in wanted.largest.items():
            self.on(var, self.largest, self.slot(name))
        for name, loop in wanted.trips.items():
            self.on(id(loop), self.total, self.slot(name))
        for name, stack in (*wanted.entries.items(), *wanted.bytes.items()):
            now, highest = self.slot(""), self.slot(name)
            self.on(("new", stack), self.restart, now)
            self.on(("push", stack), self.pushed, now, highest, name in wanted.bytes)

    def slot(self, name: str) -> int:
        """A new position in the array of counts; "" for one that is not returned."""
        number = len(self.slots) + self.hidden
        if name:
            self.slots[name] = number
        else:
            self.hidden += 1
        return number

    def on(self, event: object, action: Callable[..., None], *more: Any) -> None:
        """Registers an action for an event of the walk: a variable, a stack event, or the id of a loop."""
        self.actions.setdefault(event, []).append(lambda subject: action(subject, *more))

    def happen(self, event: object, subject: Any) -> None:
        """Runs the actions of an event."""
        for action in self.actions.get(event, ()):
            action(subject)

    # ---- counts

    def largest(self, var: ir.Var, slot: int) -> None:
        """Records in a counter the value of an integer or the size of an array, if it is the largest so far."""
        value = self.size(var) if var.type.dims else self.b.expr(var)
        self.put(slot, self.b.let("maximum", self.count(slot), self.b.cast(value, INT)))

    def total(self, loop: ir.For | ir.While, slot: int) -> None:
        """Adds the trip count of a loop to a counter."""
        self.put(slot, self.count(slot) + self.b.expr(loop.trips))

    def restart(self, stack: ir.Var, slot: int) -> None:
        """Sets the counter of a new stack to 0."""
        self.put(slot, self.b.expr(0))

    def pushed(self, value: ir.Operand, now: int, highest: int, in_bytes: bool) -> None:
        """Adds an entry, or with ``in_bytes`` the bytes of its value, to the count of a stack; records the highest count."""
        more = self.size(value) * np.dtype(value.type.dtype).itemsize if in_bytes else self.b.expr(1)
        total = self.count(now) + more
        self.put(now, total)
        self.put(highest, self.b.let("maximum", self.count(highest), total))

    def size(self, operand: ir.Operand) -> Expr:
        """The number of elements of an operand, 1 for a number."""
        total = self.b.expr(1)
        for axis in range(operand.type.rank):
            total = total * self.b.let("dim", operand, axis=axis)
        return total

    def count(self, slot: int) -> Expr:
        """The current value of the counter ``slot``."""
        return self.b.cast(self.b.read(self.counts, *_place(slot)), INT)

    def put(self, slot: int, value: Expr) -> None:
        self.b.store(self.counts, *_place(slot), self.b.cast(value, "int64"))

    # ---- the copy

    def run(self) -> ir.Function:
        """The function that returns the array of counts."""
        core, b = self.core, self.b
        b.loc = core.loc
        with b.into(ir.Block()) as out:
            dims = (Dim(len(self.slots) + self.hidden),)
            self.counts = b.zeros("counts", Type("int64", dims))
            self.defined(core.params)
            self.block(core.body)
            out.yields = (b.read(self.counts).op,)
        name = f"{core.name}_counts"
        return remove_dead(replace(core, name=name, body=out, symbols=b.symbols, out_tree=Leaf(0), doc=""))

    def block(self, block: ir.Block) -> None:
        self.defined(block.params)
        for stmt in block.stmts:
            if isinstance(stmt, ir.Print):
                continue
            new = self.stmt(stmt)
            self.b.emit(new)
            match stmt:
                case ir.NewStack():
                    self.happen(("new", stmt.var), stmt.var)
                case ir.Push():
                    self.happen(("push", stmt.stack), stmt.value)
                case ir.For() | ir.While():
                    self.happen(id(stmt), new)
            self.defined(defines(stmt))

    def defined(self, variables: Iterable[ir.Var]) -> None:
        for var in variables:
            self.happen(var, var)

    def inner(self, block: ir.Block) -> ir.Block:
        with self.b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
            self.block(block)
        return out

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        match stmt:
            case ir.If():
                return replace(stmt, then=self.inner(stmt.then), orelse=self.inner(stmt.orelse))
            case ir.For() | ir.While():
                counted = stmt.trips is None and id(stmt) in self.actions
                trips = ir.Var("trips", INT) if counted else stmt.trips
                return replace(stmt, body=self.inner(stmt.body), trips=trips)
        return stmt


def _place(slot: int) -> tuple[tuple[ir.Index], tuple[int]]:
    return (ir.Index((ir.Point(0),)),), (slot,)


__all__ = ["Wanted", "measure"]
