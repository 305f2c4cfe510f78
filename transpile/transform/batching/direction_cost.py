"""Whether directions should be an axis or the iterations of a loop, if Python and NumPy run the generated code.

With an axis, each statement runs once. The axis loses where the loop would compute with Python numbers, since one NumPy call
costs about ten such operations, and where the arrays of all directions are far larger than the caches. The figures are in
microseconds, measured on one machine (NumPy 2.4); only their ratios matter.
"""

from __future__ import annotations

from collections.abc import Mapping

from transpile.analysis.mapped import Mapped
from transpile.analysis.summaries import Called
from transpile.core import nodes as ir
from transpile.core.types import Type
from transpile.core.walk import blocks
from transpile.ops.tables import record_of
from transpile.transform.batching.contradictions import Differs, Escapes
from transpile.transform.batching.decided import Parts
from transpile.transform.batching.decisions import attempt
from transpile.transform.batching.diagonals import Diagonals
from transpile.transform.batching.lane_modes import Modes

NUMBER = 0.07  # an operation on Python numbers
CALL = 0.7  # a call of NumPy
MULTIPLIED = 2e-5  # one multiplication in a product of matrices
READ = 5e-4  # one multiplication in a product of a matrix and a vector, which reads the matrix
BYTES = ((2**18, 4e-4), (2**22, 8e-4), (2**25, 1.5e-3))  # one element of an array of at most so many bytes
FRESH = 3e-3  # one element of an array in memory fresh from the system
UNKNOWN = 30  # size of an axis without an example value
TRIPS = 10  # trip count of a loop, if unknown
ROOM = 2**30  # bytes always allowed for the largest array of all directions


def is_worth_an_axis(fn: ir.Function, seed: int, sizes: Mapping[str, int]) -> bool:
    """Whether batching ``fn`` over the directions of parameter ``seed`` is estimated to be no slower than running it once for
    each element, with arrays that are not too large. ``sizes``: example values of size symbols."""
    param = fn.params[seed]
    mapped = Mapped(fn, [param], Called())
    diagonals = Diagonals(fn, mapped, param, together=False)
    try:
        modes = attempt(fn, mapped, together=False, diagonals=diagonals).modes
    except (Differs, Escapes):
        return False
    cost = _Cost(modes, sizes, 1)
    cost.lanes = cost.elements(param.type)
    cost.block(fn.body, 1.0)
    return cost.axis <= cost.loop and cost.greatest <= max(ROOM, 4 * cost.wanted)


class _Cost:
    """``axis`` and ``loop``: the estimated time with an axis and with a loop; ``greatest``: the bytes of the largest array for
    all lanes."""

    def __init__(self, modes: Modes[Parts], sizes: Mapping[str, int], lanes: float) -> None:
        self.modes, self.sizes, self.lanes = modes, sizes, lanes
        self.axis = self.loop = self.greatest = 0.0

    @property
    def wanted(self) -> float:
        """The bytes of the largest result for all lanes, at 8 for each element."""
        return max((8 * self.lanes * self.elements(y.type) for y in self.modes.fn.body.yields), default=0.0)

    def elements(self, type_: Type) -> float:
        """The number of elements of a type; an axis without an example value counts as `UNKNOWN`."""
        if type_.kind == "tuple":
            return sum(self.elements(t) for t in type_.items)
        total = 1.0
        for dim in type_.dims:
            found = dim.evaluate(self.sizes)
            total *= max(found.const, 0) if found.is_const else UNKNOWN
        return total

    def block(self, block: ir.Block, times: float, outside: bool = True) -> None:
        """Adds the time of a block to ``axis`` and ``loop``. ``times``: how often it runs in one direction; ``outside``: no
        loop or branch is around it, so that a loop over directions computes shared values only once, before it."""
        for step in self.modes.steps[id(block)]:
            for stmt in step.stmts:
                if id(stmt) in self.modes.elsewhere:
                    self.axis += CALL
                    self.loop += self.lanes * self.statement(stmt, 1)
                elif step.is_region:
                    one = times * self.nested(stmt)
                    self.axis += self.lanes * one
                    self.loop += self.lanes * one
                elif self.modes.is_shared(stmt):
                    one = times * self.nested(stmt)
                    self.axis += one
                    self.loop += one if outside else self.lanes * one
                elif inner := list(blocks(stmt)):
                    for one_of in inner:
                        self.block(one_of, times * _trips(stmt), False)
                else:
                    self.axis += times * self.statement(stmt, self.lanes)
                    self.loop += times * self.lanes * self.statement(stmt, 1)

    def nested(self, stmt: ir.Stmt) -> float:
        """The time, in microseconds, of a statement in one lane, with all nested ones and their iterations."""
        inner = [s for b in blocks(stmt) for s in b.stmts]
        return _trips(stmt) * sum(map(self.nested, inner)) if inner else self.statement(stmt, 1)

    def statement(self, stmt: ir.Stmt, lanes: float) -> float:
        """The time, in microseconds, of a statement on so many lanes, without nested ones; notes its array in ``greatest``."""
        match stmt:
            case ir.Let(prim="dim" | "identity"):
                return 0.0
            case ir.Let() | ir.Alloc():
                types = [stmt.var.type]
            case ir.Call(function=ir.Routine()):
                types = [r.type for r in stmt.results]
            case ir.Store() | ir.Add():
                types = [stmt.value.type]
            case _:
                return CALL if lanes > 1 else NUMBER
        if lanes == 1 and not any(t.dims for t in (*types, *(a.type for a in getattr(stmt, "args", ())))):
            return NUMBER
        count = lanes * sum(map(self.elements, types))
        if lanes > 1:
            self.greatest = max(self.greatest, 8 * count)
        if isinstance(stmt, ir.Let) and stmt.prim in ("index", "transpose", "broadcast", "reshape"):
            return CALL / 2  # a view
        rate = next((rate for most, rate in BYTES if 8 * count <= most), FRESH)
        return CALL + count * (rate + self.inner(stmt, lanes))

    def inner(self, stmt: ir.Stmt, lanes: float) -> float:
        """The time of the multiplications and additions for one element of a product; 0.0 for other statements."""
        if not isinstance(stmt, ir.Let) or not record_of(stmt).together:
            return 0.0
        first = stmt.args[0].type
        depth = self.elements(first.with_dims(first.dims[-1:]))
        return depth * (MULTIPLIED if lanes > 1 and self.is_of_matrices(*stmt.args) else READ)

    def is_of_matrices(self, *args: ir.Operand) -> bool:
        """Whether the product of ``args``, on all lanes, is one of two matrices."""
        has = self.modes.mapped.has
        return any(not has(a) or a.type.rank >= 2 for a in args)


def _trips(stmt: ir.Stmt) -> float:
    """The number of iterations of a loop, `TRIPS` if it is not constant; 1.0 for other statements."""
    if isinstance(stmt, ir.If) or not isinstance(stmt, (ir.For, ir.While)):
        return 1.0
    ends = (stmt.start, stmt.bound, stmt.step) if isinstance(stmt, ir.For) else ()
    if ends and all(isinstance(e, ir.Const) for e in ends):
        start, bound, step = (int(e.value) for e in ends)  # type: ignore[union-attr]
        return max(0, -((start - bound) // step))
    return TRIPS
