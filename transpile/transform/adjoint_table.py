"""The adjoints while a reverse sweep is built: which variables have one, in which form, and how contributions add up.

An adjoint is a value (with the mask of a ``where``, if one applies) until a contribution to a part of it, or one from inside a
loop, arrives; from then on it is a buffer. The first contribution assigns, later ones add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.functions import computes
from transpile.core.peephole import definition, is_const
from transpile.core.types import Type
from transpile.core.walk import blocks, defines, written, written_in
from transpile.ops.record import Scatter
from transpile.ops.tables import record_of
from transpile.transform.calculus import increment, plus, zero


@dataclass
class Pending:
    """An adjoint as a value. With a mask it stands for ``where(mask, value, 0)``: where the mask is false, the value may be
    anything, NaN included, unless ``is_zero`` is set."""

    value: Expr
    mask: Expr | None = None
    is_zero: bool = False

    def settle(self) -> Expr:
        """``where(mask, value, 0)``, emitted; the value itself if there is no mask or ``is_zero`` is set."""
        if self.mask is None or self.is_zero:
            return self.value
        return self.value.b.elementwise("where", self.mask, self.value, 0.0)


def _both(x: Pending, y: Pending) -> Pending:
    """The sum of two adjoints, as a new `Pending`: with the mask that is true where either mask is; without one if either has
    none, or if one mask is the negation of the other."""
    if x.mask is not None and y.mask is not None and x.mask.op is y.mask.op:
        return Pending(plus(x.value, y.value), x.mask, x.is_zero and y.is_zero)
    mask = None if x.mask is None or y.mask is None else _either(x.mask, y.mask)
    return Pending(plus(x.settle(), y.settle()), mask, is_zero=mask is not None)


def _either(x: Expr, y: Expr) -> Expr | None:
    """The mask that is true where ``x`` or ``y`` is, one of the two if the other implies it; None if one is the negation of the
    other."""
    b = x.b
    for one, other in ((x, y), (y, x)):
        made = definition(b, other.op)
        if made is not None and record_of(made).is_negation and made.args[0] is one.op:
            return None
        if made is not None and record_of(made).is_conjunction and one.op in made.args:
            return one
    return b.elementwise("logical_or", x, y)


Contribution = Any  # None, Expr, Pending or Scatter


class Adjoints:
    """The adjoints of active variables, by primal variable."""

    def __init__(self, b: Builder, active: set[ir.Var]) -> None:
        self.b = b
        self.active = active
        self.values: dict[ir.Var, Pending] = {}
        self.buffers: dict[ir.Var, ir.Var] = {}
        # the last read of a buffer -> the buffer, and the block of the read
        self.left: dict[ir.Operand, tuple[ir.Var, ir.Block]] = {}
        self.items: dict[ir.Var, dict[int, Expr]] = {}  # of variables that hold several results: adjoints by position

    def name(self, var: ir.Var) -> str:
        return f"{var.name}_bar" if var.name != ir.SYNTHETIC else ir.SYNTHETIC

    def add(self, operand: ir.Operand, contribution: Contribution) -> None:
        """Adds a contribution to the adjoint of ``operand``; does nothing if the contribution is None or the operand is not
        active."""
        if contribution is None or not isinstance(operand, ir.Var) or operand not in self.active:
            return
        if isinstance(contribution, Scatter):
            self._scatter(operand, contribution)
            return
        pending = contribution if isinstance(contribution, Pending) else Pending(contribution)
        if operand in self.buffers:
            self.b.add(self.buffers[operand], (), (), self.full(pending.settle(), operand.type))
        elif operand.buffer:
            self.buffers[operand] = self._fresh(operand, pending.settle())
        elif operand in self.values:
            self.values[operand] = _both(self.values[operand], pending)
        else:
            self.values[operand] = pending

    def full(self, value: Expr, type_: Type) -> Expr:
        """``value`` cast to the dtype of ``type_`` and broadcast to its dims."""
        return self.b.broadcast(self.b.cast(value, type_), type_.dims) if type_.dims else self.b.cast(value, type_)

    def _fresh(self, var: ir.Var, value: Expr) -> ir.Var:
        return self.b.copy(self.name(var), self.full(value, var.type))

    def _scatter(self, operand: ir.Var, part: Scatter) -> None:
        """Adds ``part`` to the adjoint buffer of ``operand``, or as a value if it covers the whole array and there is no
        buffer."""
        if not part.path and operand not in self.buffers:
            self.add(operand, part.value)
            return
        if not operand.buffer and _is_all(part.path, operand.type.dims):
            self.add(operand, self.b.let("reshape", part.value, dims=operand.type.dims))
            return
        buffer = self.buffer(operand)
        write = self.b.store if self.is_first(buffer, part) else self.b.add
        write(buffer, part.path, part.args, part.value)

    def is_first(self, buffer: ir.Var, part: Scatter) -> bool:
        """Whether ``part`` of ``buffer`` is known to be zero since the buffer was created as zeros, so that a contribution can
        be assigned.

        False if the creation is not among the last 40 statements of the current block, or if the path of ``part`` has more than
        slices and single subscripts.
        """
        if not all(isinstance(step, ir.Index) and step.is_basic for step in part.path):
            return False
        args = tuple(self.b.operand(a) for a in part.args)
        for stmt in reversed(self.b.block.stmts[-40:]):
            if isinstance(stmt, ir.Alloc) and stmt.var is buffer:
                return stmt.prim == "full" and is_const(stmt.args[0], 0)
            if any(buffer in written_in(block) for block in blocks(stmt)):
                return False
            if written(stmt) is buffer and not (
                isinstance(stmt, (ir.Store, ir.Add)) and _are_apart(stmt.path, stmt.args, part.path, args)
            ):
                return False
        return False

    def buffer(self, var: ir.Var) -> ir.Var:
        """The buffer with the adjoint of ``var``. If it has none yet, one is created here, with the value of the adjoint so
        far, or with zeros."""
        if var not in self.buffers:
            pending = self.values.pop(var, None)
            if pending is None:
                self.buffers[var] = self.b.zeros(self.name(var), var.type)
            else:
                self.buffers[var] = self._left(pending) or self._fresh(var, pending.settle())
        return self.buffers[var]

    def _left(self, pending: Pending) -> ir.Var | None:
        """The buffer that `of_copy` read for the value of ``pending`` in the current block, which can be reused; None if there
        is none or a mask applies."""
        buffer, block = self.left.get(pending.value.op, (None, None))
        return buffer if pending.mask is None and block is self.b.block else None

    def of_copy(self, copy: ir.Var, source: ir.Operand) -> None:
        """Reads the adjoint of ``copy``, which is complete and a buffer, removes it from the table, and adds it to the adjoint
        of ``source``."""
        buffer = self.buffers.pop(copy)
        value = self.b.read(buffer, name=self.name(copy))
        self.left[value.op] = buffer, self.b.block
        self.add(source, value)

    def take(self, var: ir.Var) -> Pending | None:
        """The complete adjoint of ``var``, removed from the table: its buffer is read, its mask not yet applied. None if
        nothing was added to it."""
        if var in self.buffers:
            return Pending(self.b.read(self.buffers.pop(var), name=self.name(var)))
        pending = self.values.pop(var, None)
        if pending is not None and pending.mask is None:
            self.christen(pending.value.op, var)
        return pending

    def settle(self, var: ir.Var) -> Expr | None:
        """The complete adjoint of ``var``, removed from the table, with its mask applied; None if nothing was added to it."""
        pending = self.take(var)
        if pending is None:
            return None
        value = pending.settle()
        self.christen(value.op, var)
        return value

    def christen(self, op: ir.Operand, var: ir.Var) -> None:
        """Renames ``op`` in place to the name of the adjoint of ``var``, if ``op`` has no name and one of the last six
        statements computes it."""
        if isinstance(op, ir.Var) and op.name == ir.SYNTHETIC and var.name != ir.SYNTHETIC and _is_recent(self.b, op):
            op.name = self.name(var)

    def value_or_zero(self, operand: ir.Operand, type_: Type, start: ir.Var | None = None) -> ir.Operand:
        """The complete adjoint of an operand that a block yields, removed from the table, with dtype and dims of ``type_``;
        zero if it has none.

        ``start`` is the variable of the adjoint at the beginning of the block: all terms added to it are combined into one
        addition.
        """
        value = self.settle(operand) if isinstance(operand, ir.Var) else None
        if value is None:
            return zero(self.b, type_).op
        if start is not None:
            value = increment(start, value)
            self.christen(value.op, operand)  # type: ignore[arg-type]
        return self.full(value, type_).op


def _are_apart(p: ir.Path, given: tuple[ir.Operand, ...], q: ir.Path, others: tuple[ir.Operand, ...]) -> bool:
    """True if the places ``p`` with operands ``given`` and ``q`` with operands ``others`` surely share no element: on one axis
    they have different constant subscripts of the same sign. False if this is not known."""
    if len(p) != 1 or len(q) != 1 or not isinstance(p[0], ir.Index) or not isinstance(q[0], ir.Index):
        return False
    if any(isinstance(item, ir.NewAxis) for item in (*p[0].items, *q[0].items)):
        return False
    for a, b in zip(p[0].items, q[0].items):
        if isinstance(a, ir.Point) and isinstance(b, ir.Point):
            x, y = given[a.arg], others[b.arg]
            if (
                isinstance(x, ir.Const)
                and isinstance(y, ir.Const)
                and x.value != y.value
                and (x.value < 0) == (y.value < 0)
            ):
                return True
    return False


def _is_all(path: ir.Path, dims: tuple[Dim, ...]) -> bool:
    """Whether the path, in an array with these dims, gives the whole array with axes of size 1 inserted or removed: ``x[:,
    None]``, or ``x[0]`` of a single row."""
    if len(path) != 1 or not isinstance(path[0], ir.Index):
        return False
    axes = iter(dims)
    for item in path[0].items:
        if isinstance(item, ir.NewAxis):
            continue
        axis = next(axes)
        if not (isinstance(item, ir.Slice) and item.is_full) and not (isinstance(item, ir.Point) and axis.is_one):
            return False
    return True


def _is_recent(b: Builder, op: ir.Var) -> bool:
    """Whether one of the last six statements of the current block computes ``op``."""
    return any(computes(s) and op in defines(s) for s in b.block.stmts[-6:])
