"""Estimates the work of a loop: the cost of its statements times the trip counts, evaluated at run time.

    for i in range(n):                    ->     9.0 * n * m
        for j in range(m):
            y[i, j] = a[i, j] * x[j] + 1.0

One unit is a load, a store or an addition in a loop that vectorises well: 0.03 to 0.1 ns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from transpile.analysis.accesses import is_array
from transpile.analysis.value_ranges import is_integer
from transpile.core import nodes as ir
from transpile.core.types import FLOAT
from transpile.core.walk import blocks, statements
from transpile.ops.tables import record_of

Emit = Callable[..., ir.Operand]  # emits a statement for a primitive and operands; gives its result
Ask = Callable[[ir.Var, int], ir.Operand]  # the size of an existing array along an axis

_ALLOC, _CALL, _SMALL_CALL = 100.0, 1000.0, 20.0
_UNKNOWN = 8.0  # assumed size or trip count


class Work:
    """``lets``: all *lets* of the function; ``own``: variables that are not defined before the loop."""

    def __init__(self, lets: Mapping[ir.Var, ir.Let], own: set[ir.Var], emit: Emit, ask: Ask) -> None:
        self.lets, self.own, self.emit, self.ask = lets, own, emit, ask
        self.made: dict[ir.Var, tuple[ir.Operand, ...]] = {}  # sizes of arrays allocated in the loop
        self.numbers: dict[ir.Var, ir.Operand | float] = {}
        self.asked: set[ir.Var] = set()  # variables that the work depends on
        self.products: list[ir.Operand | float] = []  # the work of each matrix product and factorisation

    def loop(self, loop: ir.For) -> ir.Operand | float:
        """The work of all iterations: a number, or an operand of type float64."""
        self.made.update((s.var, s.args) for s in statements(loop.body) if isinstance(s, ir.Alloc))
        first, last = self.value(loop.start), self.value(loop.bound)
        trips = self.trips(loop, first, last)
        self.numbers[loop.index] = self.times(self.plus(first, last), 0.5)
        return self.times(self.block(loop.body), trips)

    def trip(self, loop: ir.For, at: ir.Operand) -> ir.Operand | float:
        """The work of the iteration with index ``at``; from here on, ``at`` is the estimate of the loop's index."""
        self.numbers[loop.index] = self.value(at)
        return self.block(loop.body)

    def trips(self, loop: ir.For, first: ir.Operand | float, last: ir.Operand | float) -> ir.Operand | float:
        """The distance from ``first`` to ``last``, the values of a loop's ends, over the size of its step: a number or an
        operand. It is the trip count, not rounded; it may be negative if the loop has no iteration."""
        found = self.plus(last, self.times(first, -1.0))
        step = loop.step.value if isinstance(loop.step, ir.Const) and loop.step.value else 1
        return self.times(found, 1.0 / step)

    def block(self, block: ir.Block) -> ir.Operand | float:
        """The work of one run of a block: a number, or an operand of type float64."""
        total: ir.Operand | float = 0.0
        for stmt in block.stmts:
            total = self.plus(total, self.stmt(stmt))
        return total

    def stmt(self, stmt: ir.Stmt) -> ir.Operand | float:
        """The work of a statement, nested blocks included: a number or an operand. A branch counts with both sides."""
        match stmt:
            case ir.Call():
                return self.call(stmt) if any(map(is_array, stmt.args)) else _SMALL_CALL
            case ir.Let():
                if is_integer(stmt.var) and stmt.prim != "index":
                    return 0.0
                return 0.0 if isinstance(stmt, ir.View) else float(record_of(stmt).effort)
            case ir.Store():
                return 1.0
            case ir.Add():
                return 3.0
            case ir.Alloc():
                return _ALLOC
            case ir.For():
                return self.loop(stmt)
            case ir.While():
                return self.times(self.block(stmt.body), _UNKNOWN)
            case ir.If():
                total: ir.Operand | float = 0.0
                for side in blocks(stmt):
                    total = self.plus(total, self.block(side))
                return total
        return 1.0

    def call(self, let: ir.Call) -> ir.Operand | float:
        """The work of a library call: one per multiplication for matrix products and factorisations, whose work is noted in
        ``products``; a constant for others."""
        module, _, name = let.library.partition(".")
        if module not in ("blas", "linalg"):
            return _CALL
        matrix = next((a for a in let.args if isinstance(a, ir.Var) and a.type.rank == 2), None)
        sizes: list[ir.Operand | float] = [_UNKNOWN]
        if matrix is not None:
            sizes = [self.size(matrix, 0), self.size(matrix, 1)]
        if name in ("gemm", "part"):
            sizes.append(self.size(let.args[4 if name == "gemm" else 3], 1))
        elif module == "linalg":
            sizes.append(sizes[-1])
        total: ir.Operand | float = 1.0
        for size in sizes:
            total = self.times(total, size)
        if name != "gemv":
            self.products.append(total)
        return self.plus(total, _ALLOC)

    def size(self, array: ir.Operand, axis: int) -> ir.Operand | float:
        """A size of an array, as a number or an operand that is known before the loop; a guess if the loop makes the array
        otherwise than by allocation."""
        assert isinstance(array, ir.Var)
        let = self.lets.get(array)
        if isinstance(let, ir.View) and isinstance(let.step, ir.Permute):
            return self.size(let.base, array.type.rank - 1 - axis)
        if isinstance(let, ir.View) and isinstance(let.step, ir.Index):
            return self.of_row(let, axis)
        if array in self.made:
            return self.value(self.made[array][axis])
        return _UNKNOWN if array in self.own else self.value(self.ask(array, axis))

    def of_row(self, row: ir.View, axis: int) -> ir.Operand | float:
        """The size of a slice along an axis of the view ``row``, as a number or an operand."""
        k, item = [(k, i) for k, i in enumerate(row.items) if isinstance(i, ir.Slice)][axis]
        if item.start is None or item.stop is None:
            return self.size(row.base, k)
        start, stop = (row.args[1:][slot] for slot in (item.start, item.stop))
        return self.plus(self.value(stop), self.times(self.value(start), -1.0))

    # ---- numbers

    def value(self, op: ir.Operand) -> ir.Operand | float:
        """An integer as a float: a number or an operand. An integer that is defined in the loops is estimated in the middle of
        their ranges; each variable is noted in ``asked``."""
        if isinstance(op, ir.Const):
            return float(op.value)
        assert isinstance(op, ir.Var)
        self.asked.add(op)
        if op not in self.numbers:
            self.numbers[op] = self.found(op)
        return self.numbers[op]

    def found(self, var: ir.Var) -> ir.Operand | float:
        """The estimate of a variable that `value` returns, not cached; a guess if it is no sum or product."""
        if var not in self.own:
            return self.emit("cast", var)
        let = self.lets.get(var)
        record = None if let is None else record_of(let)
        if let is None or record is None or not (record.is_sum or record.multiplies):
            return _UNKNOWN
        x, y = (self.value(a) for a in let.args)
        if record.multiplies:
            return self.times(x, y)
        return self.plus(x, self.times(y, float(record.signs[1])))

    def plus(self, x: ir.Operand | float, y: ir.Operand | float) -> ir.Operand | float:
        """The sum of both: a number if both are numbers, else an operand, whose statement is emitted."""
        if isinstance(x, float) and isinstance(y, float):
            return x + y
        if isinstance(x, float) or isinstance(y, float):
            known, other = (x, y) if isinstance(x, float) else (y, x)
            return other if known == 0.0 else self.emit("add", other, ir.Const(known, FLOAT))
        return self.emit("add", x, y)

    def times(self, x: ir.Operand | float, y: ir.Operand | float) -> ir.Operand | float:
        """The product of both: a number if both are numbers or one is 0.0, else an operand, whose statement is emitted."""
        if isinstance(x, float) and isinstance(y, float):
            return x * y
        if isinstance(x, float) or isinstance(y, float):
            known, other = (x, y) if isinstance(x, float) else (y, x)
            if known in (0.0, 1.0):
                return other if known else 0.0
            return self.emit("mul", ir.Const(known, FLOAT), other)
        return self.emit("mul", x, y)
