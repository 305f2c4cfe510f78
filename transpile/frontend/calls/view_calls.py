"""Calls that give a part of the memory of an argument: which path leads to it is read off what the rule emits.

`transpile.numpy_api.entry_record.Entry` says of each spelling whether NumPy gives a view. The rule is run once on a value that
stands for the array; if what it emits is slices, permutations, new axes, a diagonal, these are the path of a view, and what was
emitted is dropped. A view that is no place of ours (windows, a broadcast) is computed anew from the array each time it is read.

    y = np.flip(x)[1:]          the place x[::-1][1:]
    w = sliding_window_view(x, 3); x[0] = 1.0; w[0]       the windows of what x holds by then
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.core.walk import blocks, defines, reads, uses
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import aliases, memory
from transpile.frontend.values.convert import from_rule, new_list
from transpile.frontend.values.memory import READ_ONLY
from transpile.frontend.values.paths import compose
from transpile.frontend.values.values import Array, Cell, Derived, Tuple
from transpile.ops.tables import record_of

MAYBE_COPY = "{} may be a view or a copy, depending on the memory layout: it cannot be written"
NO_PLACE = "a write through this view is not supported"

Build = Callable[[list[Any], dict[str, Any]], Any]


def call(lx: Lifter, kind: str, args: list[Any], kwargs: dict[str, Any], build: Build) -> Any:
    """What ``build(args, kwargs)`` gives, as views of the arrays among the arguments, by the trait ``kind`` of the spelling."""
    found = _Call(lx, kind, args, kwargs, build)
    with lx.b.into(found.scratch):
        tried = build(*found.given(dict(found.probes)))
    for stmt in found.independent():
        lx.b.emit(stmt)
    return found.value(tried, ())


def arrays_in(args: list[Any], kwargs: dict[str, Any]) -> list[Cell]:
    """The arrays that are arguments themselves."""
    return list(dict.fromkeys(a.cell for a in (*args, *kwargs.values()) if isinstance(a, Array)))


@dataclass
class _Call:
    """One call: a value that stands for each array, and what the rule makes of them."""

    lx: Lifter
    kind: str
    args: list[Any]
    kwargs: dict[str, Any]
    build: Build
    probes: dict[Cell, ir.Var] = field(default_factory=dict)
    scratch: ir.Block = field(default_factory=ir.Block)
    reached: dict[ir.Var, dict[Cell, None]] = field(default_factory=dict)  # what is computed from which arrays
    lets: dict[ir.Var, ir.Let] = field(default_factory=dict)
    real: Any = None  # what the rule gives for what the arrays hold now

    def __post_init__(self) -> None:
        for cell in arrays_in(self.args, self.kwargs):
            probe = self.probes[cell] = ir.Var(cell.name, memory.type_of(self.lx, cell))
            others = memory.has_dtypes(self.lx, self.lx.state.cells[cell])
            if others:
                self.lx.b.others[probe] = frozenset(others[:-1])

    def given(self, ops: dict[Cell, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments, with arrays that hold other operands."""

        def one(value: Any) -> Any:
            return memory.new_array(self.lx, ops[value.cell]) if isinstance(value, Array) else value

        return [one(a) for a in self.args], {k: one(v) for k, v in self.kwargs.items()}

    def independent(self) -> list[ir.Stmt]:
        """The statements that do not rest on the arrays; notes what the others make. A check of a size is made of the array."""
        self.reached = {p: {c: None} for c, p in self.probes.items()}
        kept: list[ir.Stmt] = []
        for stmt in self.scratch.stmts:
            if isinstance(stmt, ir.Let):
                self.lets[stmt.var] = stmt
            inner = [o for block in blocks(stmt) for o in uses(block)]
            roots = {c: None for o in (*reads(stmt), *inner) if isinstance(o, ir.Var) for c in self.reached.get(o, ())}
            if not roots:
                kept.append(stmt)
            self.reached.update({v: roots for v in defines(stmt) if roots})
            if roots and not isinstance(stmt, ir.Let) and self.real is None:
                self._build()
        return kept

    # ---- results

    def value(self, tried: Any, at: tuple[int, ...]) -> Any:
        """The abstract value of a (part of a) result; ``at`` says which part."""
        if isinstance(tried, Expr):
            return self._leaf(tried.op, at)
        if isinstance(tried, (tuple, list)):
            parts = [self.value(t, (*at, k)) for k, t in enumerate(tried)]
            if isinstance(tried, list):
                return new_list(self.lx, parts)
            return Tuple(tuple(parts), getattr(type(tried), "_fields", None) and type(tried))
        return from_rule(self.lx, tried)

    def _leaf(self, op: ir.Operand, at: tuple[int, ...]) -> Any:
        if self.kind == "itself":
            return next((Array(c) for c, probe in self.probes.items() if op is probe), None) or self._now(at)
        sources = list(self.reached.get(op, ())) if isinstance(op, ir.Var) else []
        if len(sources) != 1:
            return self._shared(at, sources)
        (cell,) = sources
        found = self._path(op, cell)
        if self.kind == "layout" or (self.kind == "ordered" and not memory.is_whole_in_order(self.lx, cell)):
            found = None
        if found is None and self.kind in ("place", "same"):
            return self._now(at)
        if found is None:
            is_view = self.kind in ("view", "read-only")
            return self._derived(op.type, cell, at) if is_view else self._shared(at, sources)
        if not found[0] and self.kind in ("place", "same", "ordered"):
            return Array(cell)
        return memory.part(self.lx, cell, *found, readonly=READ_ONLY if self.kind == "read-only" else "")

    def _now(self, at: tuple[int, ...], **more: Any) -> Any:
        """The result as a new value."""
        if self.real is None:
            self._build()
        return from_rule(self.lx, _part(self.real, at), self.kind != "place", **more)

    def _build(self) -> None:
        self.real = self.build(*self.given({c: memory.read(self.lx, c) for c in self.probes}))

    def _shared(self, at: tuple[int, ...], sources: list[Cell]) -> Any:
        """A new value that may be a part of one of the arguments: neither is written while the other is read."""
        readonly = (
            READ_ONLY
            if self.kind == "read-only"
            else MAYBE_COPY
            if sources and self.kind not in ("place", "same")
            else ""
        )
        made = self._now(at, readonly=readonly, contiguous=self.kind == "ordered")
        if isinstance(made, Array):
            aliases.may_be(self.lx, made.cell, tuple(memory.root(self.lx, c) for c in sources))
        return made

    def _derived(self, type_: Type, cell: Cell, at: tuple[int, ...]) -> Array:
        """A view that is computed from the array each time it is read."""
        others = {c: memory.read(self.lx, c) for c in self.probes if c is not cell}

        def again(op: ir.Operand) -> ir.Operand:
            result = _part(self.build(*self.given({**others, cell: op})), at)
            return self.lx.b.operand(result)

        made = Cell(readonly=READ_ONLY if self.kind == "read-only" else NO_PLACE)
        self.lx.state.cells[made] = Derived(cell, again, type_)
        return Array(made)

    # ---- paths

    def _path(self, op: ir.Operand, cell: Cell) -> tuple[ir.Path, tuple[ir.Operand, ...]] | None:
        """The way from the array to the result, if it is one of steps that places know."""
        steps: list[tuple[Any, tuple[ir.Operand, ...]]] = []
        probe = self.probes[cell]
        while op is not probe:
            let = self.lets.get(op) if isinstance(op, ir.Var) else None
            found = None if let is None else self._steps(let, probe, cell)
            if found is None or any(a in self.reached for a in found[1] if isinstance(a, ir.Var)):
                return None
            steps[:0] = [(step, found[1]) for step in found[0]]
            assert let is not None
            op = let.args[0]
        path: ir.Path = ()
        args: tuple[ir.Operand, ...] = ()
        for step, own in steps:
            path, args = compose(path, args, step, own)
        return path, args

    def _steps(self, let: ir.Let, probe: ir.Var, cell: Cell) -> Steps | None:
        if let.prim == "index":
            return _index(let)
        if let.prim == "reshape":
            return _reshape(self, let, probe, cell)
        place = record_of(let).place
        found: Steps | None = None if place is None else place(let, self.lx.b.surely)
        return found


Steps = tuple[tuple[Any, ...], tuple[ir.Operand, ...]]


def _part(result: Any, at: tuple[int, ...]) -> Any:
    for k in at:
        result = result[k]
    return result


def _index(let: ir.Let) -> Steps | None:
    path: ir.Path = let.params["path"]
    if len(path) != 1 or not isinstance(path[0], ir.Index) or not path[0].is_basic:
        return None
    return path, let.args[1:]


def _reshape(made: _Call, let: ir.Let, probe: ir.Var, cell: Cell) -> Steps | None:
    """Axes of size 1 that come and go are a subscript; any other reshape is a view of what is known to be in C order."""
    lx = made.lx
    wanted = tuple(lx.symbols.resolve(d) for d in let.params["dims"])
    items = _ones([lx.symbols.resolve(d) for d in let.args[0].type.dims], list(wanted))
    if items is not None:
        return (ir.Index(tuple(items)),), (lx.b.operand(0),) if any(isinstance(i, ir.Point) for i in items) else ()
    if let.args[0] is not probe or not memory.is_whole_in_order(lx, cell):
        return None
    return (ir.Reshape(tuple(range(len(wanted)))),), tuple(lx.b.dim(d).op for d in wanted)


def _ones(have: list[Dim], wanted: list[Dim]) -> list[ir.Item] | None:
    """The subscript that makes one shape of another by leaving out and putting in axes of size 1."""
    items: list[ir.Item] = []
    while have or wanted:
        if have and wanted and have[0] == wanted[0]:
            items.append(ir.Slice())
            have, wanted = have[1:], wanted[1:]
        elif wanted and wanted[0].is_one:
            items.append(ir.NewAxis())
            wanted = wanted[1:]
        elif have and have[0].is_one:
            items.append(ir.Point(0))
            have = have[1:]
        else:
            return None
    return items
