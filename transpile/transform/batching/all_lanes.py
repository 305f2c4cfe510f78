"""Counterparts, for all lanes, of the values of one lane: values with the lane axis in front, buffers, sizes, the number of
lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.builder import Builder, unify_any
from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.core.walk import symbols_of
from transpile.ops.tables import prims
from transpile.transform.batching.decided import Decided
from transpile.transform.batching.families import placed
from transpile.transform.batching.lane_places import Shifted, shift

BATCH = "batch"


class AllLanes:
    """``alls`` maps a value that differs to its value for all lanes, lane axis in front. ``memory`` maps a buffer to its buffer
    for all lanes and the path that puts the lane axis in front."""

    def __init__(
        self,
        found: Decided,
        axes: Sequence[int | None],
        count: int | None,
    ) -> None:
        fn, diagonals, common = found.fn, found.diagonals, found.axis
        self.diagonals, self.axis = diagonals, common
        self.numbers: set[ir.Var] = set()  # variables whose value is the number of the lane
        self.fn, self.mapped, self.modes, self.axes = fn, found.mapped, found.modes, axes
        self.b = b = Builder(prims(), dict(fn.symbols), fn)
        b.unify = unify_any
        b.loc = fn.loc
        self.alls: dict[ir.Var, ir.Operand] = {}
        self.memory: dict[ir.Var, tuple[ir.Var, ir.Path]] = {}
        self.named: set[str] = set()  # symbols of sizes and integers that differ and have their values in a region
        self.lanes = Dim(count) if count is not None else Dim.symbol(self.free_name())
        if diagonals is not None and diagonals.count is not None:
            self.lanes = diagonals.count
        if common is not None:
            self.lanes = common.var.type.dims[0]
        self.params: list[ir.Var] = []
        for param, axis in zip(fn.params, axes):
            self.params.append(
                param if axis is None else ir.Var(param.name, self.with_lanes(param.type, axis), param.buffer)
            )

    def free_name(self) -> str:
        """``batch``, or ``batch_2``, ``batch_3``, ...: a name for the number of lanes that is no size symbol of the
        function."""
        taken = symbols_of(self.fn)
        name = BATCH
        while name in taken:
            name = f"{BATCH}_{int(name.rpartition('_')[2]) + 1}" if name != BATCH else f"{BATCH}_2"
        return name

    def with_lanes(self, lane: Type, axis: int) -> Type:
        """``lane``, the type of one lane, with a lane axis inserted at position ``axis``; not weak."""
        return replace(lane, dims=(*lane.dims[:axis], self.lanes, *lane.dims[axis:]), weak=False)

    def batched(self, type_: Type) -> Type:
        """The type for all lanes of a value with type ``type_`` in one lane: with the lane axis in front, of each part of a
        tuple."""
        if type_.kind == "tuple":
            return replace(type_, items=tuple(self.batched(t) for t in type_.items))
        return self.with_lanes(type_, 0)

    # ---- operands

    def differs(self, op: ir.Operand) -> bool:
        """Whether the operand differs between lanes."""
        return self.mapped.has(op)

    def of(self, op: ir.Operand) -> ir.Operand:
        """The value for all lanes, lane axis in front, if the operand differs between lanes; else the operand itself, which
        lanes share."""
        return self.alls[op] if isinstance(op, ir.Var) and self.mapped.has(op) else op

    def whole(self, op: ir.Operand) -> ir.Operand:
        """The value for all lanes, lane axis in front; an operand that lanes share is broadcast, by a statement that is
        emitted."""
        if isinstance(op, ir.Undef):
            return ir.Undef(self.batched(op.type))
        if self.differs(op):
            return self.of(op)
        return self.b.let("broadcast", op, dims=(self.lanes, *op.type.dims)).op

    @property
    def count(self) -> ir.Operand:
        """The number of lanes as an operand."""
        return self.b.dim(self.lanes).op if self.axis is None else self.axis.size

    def lane_numbers(self, rank: int) -> ir.Operand:
        """``np.arange(lanes)``, emitted, followed by ``rank`` axes of size 1."""
        found = self.b.let("arange", self.b.dim(self.lanes), dims=(self.lanes,), dtype="int64").op
        return (
            placed(self, found, [ir.Slice(), *[ir.NewAxis()] * rank], (self.lanes, *[Dim(1)] * rank)) if rank else found
        )

    def aligned(self, op: ir.Operand, rank: int) -> ir.Operand:
        """``op``, a value for all lanes, with axes of size 1 inserted after the lane axis, so that ``rank`` axes follow it."""
        dims = op.type.dims
        missing = rank - (len(dims) - 1)
        items = [ir.Slice(), *[ir.NewAxis()] * missing, *[ir.Slice()] * (len(dims) - 1)]
        return placed(self, op, items, (dims[0], *[Dim(1)] * missing, *dims[1:]))

    def keep(self, found: ir.Operand, var: ir.Var) -> None:
        """Notes ``found`` as the value of ``var`` for all lanes; renames it in place after ``var`` if it has no name."""
        if isinstance(found, ir.Var) and found.name == ir.SYNTHETIC:
            found.name = var.name
        self.alls[var] = found

    def shifted(self, path: ir.Path, args: Sequence[ir.Operand], source: bool) -> tuple[Shifted, list[ir.Operand]]:
        """The path for all lanes of a path in one lane, and all its operands, emitted where necessary. ``source``: the memory
        has a lane axis too."""
        found = shift(path, args, source, self.differs)
        ready = [self.aligned(self.of(a), found.rank) if k in found.gathers else a for k, a in enumerate(args)]
        if found.lane is not None:
            ready.append(self.lane_numbers(found.rank))
        elif found.size is not None:
            ready.append(self.b.dim(self.lanes).op)
        return found, ready
