"""The state that the rules share: the values of the function that is lowered, their lowered forms, and where buffers are
written.

Snapshots: an element function may read a buffer. Values record the buffers that they depend on and that may still be written
(`deps_of`); a buffer that is never written again is read in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.functions import Routine
from transpile.core.types import INT
from transpile.core.walk import blocks, defined, statements, uses, written, written_in
from transpile.lower.element_functions import Elements, stored
from transpile.lower.nests import Nests
from transpile.lower.repeated_factors import Matrices
from transpile.lower.weak_integers import check_constant, integers_as_floats, only_floats

Held = Any  # Operand of a scalar, Elements of an array, a list of these for a value with several items


class Lowering(Nests):
    """The state of a lowering, and what rules ask of it."""

    def __init__(self, fn: ir.Function, routines: Mapping[Routine, str], is_kept: bool) -> None:
        super().__init__(fn)
        self.fn = fn
        self.routines, self.is_kept = routines, is_kept
        self.depth: ir.Var | None = None  # the depth of the calls
        self.env: dict[ir.Var, Held] = {}
        self.left: Counter[ir.Var] = Counter(o for o in uses(fn.body) if isinstance(o, ir.Var))
        self.total = Counter(self.left)
        self.position: dict[int, int] = {}
        self.last_write: dict[ir.Var, int] = {}
        self._number(fn.body, [])
        self.now = 0
        self.snapshots: dict[ir.Var, None] = {}  # values without memory that may need it before a write
        self.buffers: dict[ir.Var, ir.Var] = {}  # buffer of the source -> variable of the result
        self.origin: dict[ir.Var, ir.Var] = {}  # variable of the result -> buffer of the source
        self.ranges: dict[str, tuple[Dim | None, Dim | None]] = {}  # symbol of an index -> its range
        self.matrices = Matrices(fn)
        self.shapes = {p.type.dims for p in fn.params}  # dims of the arrays in scope
        sizes = {s.var for s in statements(fn.body) if isinstance(s, ir.Let) and s.prim == "dim"}
        self.counted, self.integers = only_floats(fn), integers_as_floats(fn)
        self.measured = {name for name, op in fn.symbols.items() if op in sizes}  # the symbols that are sizes of arrays

    # ---- where buffers are written for the last time

    def _number(self, block: ir.Block, around: list[ir.Stmt]) -> None:
        """Numbers the statements of a block, nested ones included, in textual order, and notes where each buffer is written
        last.

        A write in a loop counts at the end of the outermost loop into which the buffer comes from outside.
        """
        for stmt in block.stmts:
            self.position[id(stmt)] = len(self.position) + 1
            root = written(stmt)
            if root is not None:
                self.last_write[root] = self.position[id(stmt)]
            inside: dict[ir.Var, None] = {}
            for inner in blocks(stmt):
                self._number(inner, [*around, stmt])
                inside.update(dict.fromkeys(written_in(inner)))
            if isinstance(stmt, (ir.For, ir.While)):
                end = len(self.position)  # a write in a loop may come again until the loop ends
                own = {v for inner in blocks(stmt) for v in defined(inner)}
                for v in inside:
                    if v not in own:
                        self.last_write[v] = max(self.last_write.get(v, 0), end)

    def is_stable(self, buf: ir.Var) -> bool:
        """Whether no statement after the current one writes ``buf``, a buffer of the source."""
        return self.last_write.get(buf, 0) <= self.now

    def deps_of(self, var: ir.Var) -> frozenset[ir.Var]:
        """The buffer of the source whose memory ``var`` is, a variable of the result, as a set of one; empty if it has none or
        if that is not written any more."""
        buf = self.origin.get(var)
        return frozenset((buf,)) if buf is not None and not self.is_stable(buf) else frozenset()

    # ---- operands and sizes

    def held(self, op: ir.Operand) -> Held:
        """The lowered form of an operand of the source: `Elements` for an array, an operand of the result for a scalar or a
        stack, a list for a value with several items.

        An undefined array becomes new memory of size 0 on each axis. T502 for an integer constant that does not fit.
        """
        if isinstance(op, ir.Undef) and op.type.dims:
            sizes = tuple(ir.Const(0, INT) for _ in op.type.dims)
            return stored(self.b, self.memory("none", op.type.dtype, sizes), sizes)
        if not isinstance(op, ir.Var):
            check_constant(op, self.b.loc)
            return op
        found = self.env[op]
        if isinstance(found, Elements) and found.root is not None and op.buffer:
            return replace(found, deps=self.deps_of(found.root))
        return found

    def use(self, op: ir.Operand) -> None:
        """Counts one read of an operand: ``left``, the number of its reads that are still to come, goes down by 1."""
        if isinstance(op, ir.Var):
            self.left[op] -= 1

    def scalar(self, op: ir.Operand) -> Expr:
        """A scalar operand of the source, as an expression of the result; of an array of rank 0, its element, which is read
        here."""
        held = self.held(op)
        if isinstance(held, Elements):
            return held.at(())
        return self.b.expr(held)

    def place(self, op: ir.Operand) -> Expr:
        """A scalar operand that is a subscript or a size, as an int64."""
        x = self.scalar(op)
        return self.b.cast(x, "int64") if x.dtype != "int64" else x

    def elements(self, op: ir.Operand) -> Elements:
        """An operand as an array whose elements can be read; a scalar has rank 0.

        The products of a pending sum are computed into memory here, and later readers get these elements too.
        """
        held = self.held(op)
        if isinstance(held, Elements):
            found = held.formed(name_of(op))
            if found is not held:
                self.env[op] = found  # type: ignore[index]
            return found
        return Elements((), op.type.dtype, lambda idx: self.b.expr(held))

    def dim(self, dim: Dim) -> ir.Operand:
        """The run-time value of a dimension, as an operand of the result; its arithmetic is emitted. KeyError if a symbol has
        no value here."""
        b = self.b
        b.symbols.update({s: self.symbol(s) for s in dim.symbols()})
        return b.dim(dim).op

    def name_sizes(self, sizes: Sequence[ir.Operand], dims: Sequence[Dim]) -> None:
        """Records, for each of ``sizes`` (operands of the result) without a known form, that its form is the dim of the
        source."""
        for size, dim in zip(sizes, dims):
            if self.b.form_of(size) is None:
                self.b.learn(size, dim)

    def are_equal(self, a: ir.Operand, b: ir.Operand) -> bool:
        """Whether two sizes are known to be equal: the same operand, or variables with the same form."""
        if a == b:
            return True
        form = self.b.form_of(a)
        return isinstance(a, ir.Var) and isinstance(b, ir.Var) and form is not None and form == self.b.form_of(b)

    def symbol(self, name: str) -> ir.Operand:
        """The value of a symbol of dims: its own operand, or, if this was dead code, the size of an array that has the symbol.
        KeyError if it has neither."""
        op = self.fn.symbols.get(name)
        if op is not None and (not isinstance(op, ir.Var) or op in self.env):
            return self.place(op).op
        for var, held in self.env.items():
            if isinstance(held, Elements):
                for dim, size in zip(var.type.dims, held.sizes):
                    if dim.as_symbol == name:
                        return size
        raise KeyError(f"the size {name} is not known here")

    def is_known(self, name: str) -> bool:
        """Whether a symbol of dims has a value here, so that `symbol` finds it."""
        try:
            self.symbol(name)
        except KeyError:
            return False
        return True

    def sizes(self, dims: Sequence[Dim]) -> tuple[ir.Operand, ...]:
        """The run-time values of dims, as operands of the result; their arithmetic is emitted."""
        return tuple(self.dim(d) for d in dims)

    def least(self, form: Dim) -> Dim:
        """A lower bound of a form, as a form: loop indices are replaced by the ends of their ranges as far as these are
        known."""
        for _ in range(4):  # a range may be bounded by an outer index
            total, changed = Dim(form.const), False
            for atom, coef in form.terms:
                ends = self.ranges.get(atom.name) if atom.name else None
                end = None if ends is None else ends[0] if coef > 0 else ends[1]
                if end is None:
                    total = total + Dim(0, ((atom, coef),))
                else:
                    total, changed = total + end.times(coef), True
            form = total
            if not changed:
                break
        return form


def name_of(op: ir.Operand) -> str:
    """The user's name of an operand; "" if it has none."""
    return op.name if isinstance(op, ir.Var) else ir.SYNTHETIC
