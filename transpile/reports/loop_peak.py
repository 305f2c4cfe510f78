"""The arrays that are alive at once in compiled code: a walk over its loops.

An array is freed after its last use; one that is made before a loop and used in it lives as long as the loop. Sizes are the
integers that the loops compute from the shapes of the arguments. If an array comes from a call whose result has a size of its
own, there is no answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from transpile.base.loc import Loc
from transpile.codegen.numba.loop_text import kernel_variables
from transpile.core import nodes as ir
from transpile.core.walk import blocks, leaves, reads, uses, written
from transpile.errors import TranspileError
from transpile.ops.tables import record_of, records
from transpile.reports.call_numbers import Values
from transpile.reports.formula import Formula
from transpile.reports.peak import Array, Peak
from transpile.reports.recorded import Amount
from transpile.reports.size_formulas import Sizes

Dims = tuple["Formula | None", ...]


@cache
def made_of_rows(function: str) -> bool:
    """Whether the runtime function with this name computes a primitive along an axis, row by row."""
    return any(r.kind == "rows" and r.entry == function for r in records().values())


@dataclass
class _Life:
    """An array, and the numbers of the first and the last statement at which it is alive."""

    name: str
    dims: Dims
    item: int
    loc: Loc
    start: int
    end: int
    loops: tuple[int, ...]
    stack: Amount | None = None

    @property
    def formula(self) -> Formula | None:
        """The bytes of the array as a formula; None if a size is unknown."""
        total = Formula.of(self.item)
        for dim in self.dims:
            if dim is None:
                return None
            total = total * dim
        return total


@dataclass(frozen=True)
class Plan:
    """The arrays of a compiled function; ``formulas`` are those of their bytes."""

    lives: tuple[_Life, ...]
    core: ir.Function

    @property
    def formulas(self) -> list[Formula]:
        return [life.formula for life in self.lives if life.formula is not None]

    def peak(self, values: Values) -> Peak | None:
        """The moment at which most memory is alive; None if a size is unknown in this call. Bounds count with the bytes
        measured."""
        arrays: list[tuple[_Life, Array]] = []
        for life in self.lives:
            formula = life.formula
            size = None if formula is None else values.of(formula)
            bounded = life.stack is not None and life.stack.var in values.taken
            if life.stack is not None and bounded:
                size = values.taken[life.stack.var]
            if formula is None or size is None:
                return None
            loc = life.loc if life.loc.line else self.core.loc
            arrays.append((life, Array(life.name, formula, size, loc, not bounded)))
        best: list[tuple[_Life, Array]] = []
        for life, _ in arrays:
            alive = [(other, a) for other, a in arrays if other.start <= life.start <= other.end]
            if sum(a.bytes for _, a in alive) > sum(a.bytes for _, a in best):
                best = alive
        last = max((life for life, _ in best), key=lambda life: life.start, default=None)
        loc = last.loc if last is not None and last.loc.line else self.core.loc
        total = sum((a.formula for _, a in best), Formula())
        exact = all(a.is_exact for _, a in best)
        return Peak(sum(a.bytes for _, a in best), total, loc, tuple(a for _, a in best), exact)


Lowered = Callable[[ir.Function], Sequence[ir.Function]]  # the function itself is the last


def compiled_plan(
    core: ir.Function, sizes: Sizes, stacks: Sequence[tuple[Amount, Dims]], lowered: Lowered
) -> Plan | None:
    """The arrays of the compiled function, the last one that ``lowered(core)`` gives; None if it cannot be compiled, or if the
    size of an array is unknown.

    ``stacks`` are those of ``core``, in order, each with the sizes of its entries.
    """
    try:
        walk = _Walk(core, sizes, lowered(core)[-1], stacks)
        walk.run()
    except TranspileError:
        return None
    return Plan(tuple(walk.lives), core) if walk.is_known else None


class _Walk:
    """Walks the lowered function and collects its arrays."""

    def __init__(
        self, core: ir.Function, sizes: Sizes, kernel: ir.Function, stacks: Sequence[tuple[Amount, Dims]]
    ) -> None:
        self.sizes, self.kernel, self.stacks = sizes, kernel, list(stacks)
        self.names = kernel_variables(kernel)
        self.read = Counter(o for o in uses(kernel.body) if isinstance(o, ir.Var))
        self.numbers: dict[ir.Var, Formula | None] = {}
        self.dims: dict[ir.Var, Dims] = {}  # sizes of arrays
        for var, param in zip(kernel.params, core.params):
            if param.type.dims:
                self.dims[var] = tuple(sizes.of_dim(d) for d in param.type.dims)
            elif param.type.is_int:
                self.numbers[var] = sizes.of(param)
        self.lives: list[_Life] = []
        self.held: dict[ir.Var, list[_Life]] = {}  # the arrays that a variable may be, or be a view of
        self.entries: dict[ir.Var, Dims] = {}  # sizes of the entries of stacks
        self.is_known = True
        self.at = 0
        self.loops: tuple[int, ...] = ()
        self.ends: dict[int, int] = {}  # number of a loop -> number of its last statement
        self.uses: list[tuple[ir.Var, int, tuple[int, ...]]] = []

    def run(self) -> None:
        """Fills ``lives`` with the arrays of the function, then sets from their uses where each ends."""
        self.block(self.kernel.body)
        self.at += 1
        self.use(self.kernel.body.yields)
        for life in self.lives:
            life.end = life.start
        for var, at, loops in self.uses:
            for life in self.held.get(var, ()):
                around = [k for k in loops if k not in life.loops]
                life.end = max(life.end, self.ends[around[0]] if around else at)
                if at < life.start and life.loops:  # a value of the iteration before
                    life.start, life.end = min(life.start, life.loops[-1]), max(life.end, self.ends[life.loops[-1]])

    def begin(self, var: ir.Var, dims: Dims, item: int, loc: Loc) -> _Life:
        """Adds an array of ``var`` that starts to live here to ``lives``, and returns it: its sizes are ``dims``, an element
        takes ``item`` bytes."""
        life = _Life(self.names.get(var, ""), dims, item, loc, self.at, self.at, self.loops)
        self.lives.append(life)
        self.held.setdefault(var, []).append(life)
        self.dims[var] = dims
        self.is_known = self.is_known and life.formula is not None
        return life

    def alias(self, var: ir.Var, other: ir.Operand) -> None:
        """Notes that ``var`` and ``other`` may name one array: a use of one is a use of the other. Does nothing if ``other`` is
        no array."""
        if not isinstance(other, ir.Var) or other not in self.dims:
            return
        old, new = self.held.get(var, []), self.held.get(other, [])
        self.held[var] = self.held[other] = [*new, *(life for life in old if life not in new)]
        self.dims.setdefault(var, self.dims[other])

    def use(self, operands: Sequence[ir.Operand]) -> None:
        """Notes a use of each operand at the current statement; constants are skipped."""
        self.uses += [(o, self.at, self.loops) for o in operands if isinstance(o, ir.Var)]

    # ---- statements

    def block(self, block: ir.Block) -> None:
        """Walks a block: numbers its statements, notes uses, arrays that begin, and integers."""
        for stmt in block.stmts:
            self.at += 1
            self.use(reads(stmt))
            if (root := written(stmt)) is not None:
                self.use((root,))
            match stmt:
                case ir.For() | ir.While():
                    self.loop(stmt)
                case ir.If():
                    self.branch(stmt)
                case ir.Alloc():
                    dims = tuple(map(self.number, stmt.args))
                    self.begin(stmt.var, dims, np.dtype(stmt.var.type.dtype).itemsize, stmt.loc)
                case ir.NewStack():
                    stack, self.entries[stmt.var] = self.stacks[len(self.entries)]
                    self.begin(stmt.var, (stack.formula,), 1, stmt.loc).stack = stack
                case ir.Pop():
                    self.dims[stmt.var] = self.entries[stmt.stack]
                case ir.View():
                    self.view(stmt)
                case ir.Call() if stmt.library and stmt.results:
                    self.call(stmt)
                case ir.Let():
                    self.numbers[stmt.var] = self.value(stmt)

    def loop(self, stmt: ir.For | ir.While) -> None:
        """Walks a loop once; notes its last statement, its index at its largest value, and what it carries."""
        number, around = self.at, self.loops
        if isinstance(stmt, ir.For):
            falls = isinstance(stmt.step, ir.Const) and stmt.step.value < 0
            last = self.number(stmt.start if falls else stmt.bound)  # an index counts as its largest value
            self.numbers[stmt.index] = None if last is None else last if falls else last - 1
        self.loops = (*around, number)
        self.hand(stmt.body.params, stmt.inits)
        for inner in blocks(stmt):
            self.hand(inner.params, stmt.body.params)
            self.block(inner)
            self.at += 1
            self.use(leaves(inner))
        self.hand(stmt.body.params, stmt.body.yields)
        self.hand(stmt.results, stmt.body.params)
        self.ends[number], self.loops = self.at, around

    def branch(self, stmt: ir.If) -> None:
        """Walks both sides of a branch, one after the other."""
        for side in blocks(stmt):
            self.block(side)
            self.at += 1
            self.use(side.yields)
            self.hand(stmt.results, side.yields)

    def hand(self, targets: Sequence[ir.Var], sources: Sequence[ir.Operand]) -> None:
        """Notes ``targets = sources``: arrays become aliases; an integer that had another value becomes unknown."""
        for target, source in zip(targets, sources):
            if target is source:
                continue
            self.alias(target, source)
            number = self.number(source)
            self.numbers[target] = number if self.numbers.get(target, number) == number else None

    def view(self, stmt: ir.View) -> None:
        """Notes that the view is an alias of its base, and its sizes where they are known."""
        base = self.dims.get(stmt.base) if isinstance(stmt.base, ir.Var) else None
        if base is None:
            return
        self.alias(stmt.var, stmt.base)
        match stmt.step:
            case ir.Reshape():
                self.dims[stmt.var] = tuple(map(self.number, stmt.args[1:]))
            case ir.Permute():
                self.dims[stmt.var] = base[::-1]
            case _:
                self.dims[stmt.var] = (None,) * len(base)

    def call(self, stmt: ir.Call) -> None:
        """Notes the array that a runtime function returns: with the sizes of its first operand if it works row by row. Else its
        size is unknown, and so is the peak. Nothing if no result is read."""
        made = [r for r in stmt.results if r.type.dims]
        if not made or not any(self.read[r] for r in stmt.results):
            return
        rows = stmt.args[0] if made_of_rows(stmt.library) else None
        dims = self.dims.get(rows) if isinstance(rows, ir.Var) else None
        if dims is None:
            self.is_known = False
            return
        self.begin(made[0], dims, np.dtype(made[0].type.dtype).itemsize, stmt.loc)

    # ---- integers

    def number(self, op: ir.Operand) -> Formula | None:
        """The value of an integer operand as a formula; None if it is unknown."""
        if isinstance(op, ir.Const):
            return Formula.of(op.value) if isinstance(op.value, int) and not isinstance(op.value, bool) else None
        return self.numbers.get(op) if isinstance(op, ir.Var) else None

    def value(self, stmt: ir.Let) -> Formula | None:
        """The value of an integer computation, or the size that a ``dim`` reads, as a formula; None if it is unknown."""
        first = stmt.args[0] if stmt.args else None
        if stmt.prim == "dim":
            dims, axis = self.dims.get(first, ()) if isinstance(first, ir.Var) else (), stmt.params["axis"]
            return dims[axis] if axis < len(dims) else None
        found = [self.number(a) for a in stmt.args]
        numbers = [n for n in found if n is not None]
        if not numbers or len(numbers) < len(found):
            return None
        return self.sizes.computed(record_of(stmt), numbers)


__all__ = ["Plan", "compiled_plan"]
