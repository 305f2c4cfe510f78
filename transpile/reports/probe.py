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
from transpile.simplify.placeholders import is_any, with_placeholders


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
    """The wanted counts in a call of ``core``, by name; ``run`` runs another function on the arguments of that call and returns
    its results."""
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
        """A new position in the array of counts, noted in ``slots`` under ``name``; with "" it is not returned."""
        number = len(self.slots) + self.hidden
        if name:
            self.slots[name] = number
        else:
            self.hidden += 1
        return number

    def on(self, event: object, action: Callable[..., None], *more: Any) -> None:
        """Registers an action for an event of the walk: a variable, a pair such as ``("push", stack)``, or the id of a loop.
        The action gets the event's subject, then ``more``."""
        self.actions.setdefault(event, []).append(lambda subject: action(subject, *more))

    def happen(self, event: object, subject: Any) -> None:
        """Calls the actions registered for an event with ``subject``, which emit statements."""
        for action in self.actions.get(event, ()):
            action(subject)

    # ---- counts

    def largest(self, var: ir.Var, slot: int) -> None:
        """Emits ``counts[slot] = max(counts[slot], ...)`` with the value of an integer or the number of elements of an
        array."""
        value = self.size(var) if var.type.dims else self.b.expr(var)
        self.put(slot, self.b.let("maximum", self.count(slot), self.b.cast(value, INT)))

    def total(self, loop: ir.For | ir.While, slot: int) -> None:
        """Emits ``counts[slot] += trips`` with the trip count of a loop."""
        self.put(slot, self.count(slot) + self.b.expr(loop.trips))

    def restart(self, stack: ir.Var, slot: int) -> None:
        """Emits ``counts[slot] = 0``, for a new stack."""
        self.put(slot, self.b.expr(0))

    def pushed(self, value: ir.Operand, now: int, highest: int, in_bytes: bool) -> None:
        """Emits an addition to ``counts[now]``, of 1 or with ``in_bytes`` of the bytes of ``value``, and ``counts[highest] =
        max(counts[highest], counts[now])``."""
        more = self.size(value) * np.dtype(value.type.dtype).itemsize if in_bytes else self.b.expr(1)
        total = self.count(now) + more
        self.put(now, total)
        self.put(highest, self.b.let("maximum", self.count(highest), total))

    def size(self, operand: ir.Operand) -> Expr:
        """The number of elements of an operand, emitted: 1 for a scalar."""
        total = self.b.expr(1)
        for axis in range(operand.type.rank):
            total = total * self.b.let("dim", operand, axis=axis)
        return total

    def count(self, slot: int) -> Expr:
        """The current value of ``counts[slot]``, read by a statement that is emitted."""
        return self.b.cast(self.b.read(self.counts, *_place(slot)), INT)

    def put(self, slot: int, value: Expr) -> None:
        self.b.store(self.counts, *_place(slot), self.b.cast(value, "int64"))

    # ---- the copy

    def run(self) -> ir.Function:
        """The function that computes only the counts and returns them as one array."""
        core, b = self.core, self.b
        b.loc = core.loc
        with b.into(ir.Block()) as out:
            dims = (Dim(len(self.slots) + self.hidden),)
            self.counts = b.zeros("counts", Type("int64", dims))
            self.defined(core.params)
            self.block(core.body)
            out.yields = (b.read(self.counts).op,)
        name = f"{core.name}_counts"
        made = remove_dead(replace(core, name=name, body=out, symbols=b.symbols, out_tree=Leaf(0), doc=""))
        return with_placeholders(made, is_any)  # a size that only one side of a branch has is asked for behind it

    def block(self, block: ir.Block) -> None:
        """Emits the statements of a block without prints, and after each what counts."""
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
        """The statement with nested blocks that count; a loop whose trip count is wanted returns it."""
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
