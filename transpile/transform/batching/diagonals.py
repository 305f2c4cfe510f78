"""Directions that are unit vectors: tangents that depend on them linearly, element by element, are kept as their few nonzero
diagonals.

    x_dot = eye(n)                                 the diagonal 1
    d_dot = x_dot[1:] - a * x_dot[:-1]      ->     two diagonals: 1, and -a
    y_dot = w @ d_dot                              an ordinary matrix product
    s_dot = 2.0 * x_dot * x;  u @ s_dot     ->     u * (2.0 * x): the diagonal scales the columns

A tangent in all directions has n times the elements of its value, of which a stencil leaves a few times n nonzero. Only
statements outside loops and branches are handled: slices, sums, products with shared values, and buffers that begin as zeros.
Any other statement that reads such a value gets it with its zeros. In a direction that an element does not depend on, its
tangent is 0.0, even where the omitted product with infinity or NaN would be NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from transpile.analysis.mapped import Mapped
from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.integers import Integers
from transpile.core.places import FormOf, is_nonnegative
from transpile.core.types import Type
from transpile.core.walk import blocks, leaves, reads, statements, written
from transpile.ops.tables import prims, record_of
from transpile.transform.batching.families import Emitter, placed, transposed


@dataclass(frozen=True)
class Part:
    """A part of a diagonal: direction ``shift + i`` has ``value[i]`` at element ``start + i``, for each i below ``size``.

    A value without an axis is the same for each i. It is None while only the places are determined.
    """

    start: Dim
    shift: Dim
    size: Dim
    value: ir.Operand | None = None

    @property
    def place(self) -> tuple[Dim, Dim, Dim]:
        return self.start, self.shift, self.size


Parts = tuple[Part, ...]


class Directions(Emitter, Protocol):
    """The emitter, with the table of values in all directions (`transpile.transform.batching.all_lanes`)."""

    alls: dict[ir.Var, ir.Operand]

    def keep(self, found: ir.Operand, var: ir.Var) -> None: ...


class Diagonals:
    """``values``: the parts of each variable that is kept as diagonals; ``stmts``: ids of the statements that are done on
    parts."""

    def __init__(self, fn: ir.Function, mapped: Mapped, seed: ir.Var, together: bool) -> None:
        self.fn, self.mapped, self.seed = fn, mapped, seed
        self.values: dict[ir.Var, Parts] = {}
        self.stmts: set[int] = set()
        self.form_of = Integers(prims(), fn).of
        self.w: Directions | None = None  # set while statements are emitted
        self.count = count = _known_size(fn, seed)
        if count is None:
            return
        dense: set[ir.Var] = set()
        before = -1
        while before != (before := len(dense)):
            self.values, self.stmts = {seed: (Part(Dim(0), Dim(0), count),)}, set()
            for stmt in fn.body.stmts:
                self.find(stmt, dense)
            dense |= self.read_whole(together)

    def has(self, op: ir.Operand) -> bool:
        """Whether the operand is kept as diagonals: it has an entry in ``values``."""
        return isinstance(op, ir.Var) and op in self.values

    def read_whole(self, together: bool) -> set[ir.Var]:
        """Variables kept as diagonals that statements not done on parts touch: buffers, and with ``together`` all others too,
        since code that runs lane by lane computes an element where it reads it. Never the seed."""
        found: set[ir.Var] = set()
        for stmt in self.fn.body.stmts:
            if id(stmt) in self.stmts:
                continue
            for one in (stmt, *(s for b in blocks(stmt) for s in statements(b))):
                given = [*reads(one), written(one), *(y for b in blocks(one) for y in leaves(b))]
                found.update(v for v in given if isinstance(v, ir.Var) and v in self.values and (v.buffer or together))
        return found - {self.seed}

    def find(self, stmt: ir.Stmt, dense: set[ir.Var]) -> None:
        """Notes the parts of the statement's result in ``values`` and its id in ``stmts``, if it can be done on parts; a buffer
        that cannot stay in parts is added to ``dense``. Variables in ``dense`` are skipped."""
        match stmt:
            case ir.Let() if stmt.var not in dense:
                done = self.let(stmt)
                if done is not None:
                    self.stmts.add(id(stmt))
                    if done:
                        self.values[stmt.var] = done
            case ir.Alloc() if stmt.var not in dense and self.is_zeros(stmt):
                self.stmts.add(id(stmt))
                self.values[stmt.var] = ()
            case ir.Store() | ir.Add() if stmt.buf in self.values:
                done = self.store(stmt)
                if done is None:
                    dense.add(stmt.buf)
                else:
                    self.stmts.add(id(stmt))
                    self.values[stmt.buf] = done

    def is_zeros(self, stmt: ir.Alloc) -> bool:
        """Whether the statement allocates floating-point zeros, with one axis, for a value that differs between directions."""
        (value, *_) = (*stmt.args, None)
        is_zero = stmt.prim == "full" and isinstance(value, ir.Const) and value.value == 0
        return is_zero and stmt.var.type.rank == 1 and stmt.var.type.is_float and self.mapped.has(stmt.var)

    # ---- emission

    def emit(self, w: Directions, stmt: ir.Stmt) -> None:
        """Emits, by ``w``, a statement that is done on parts; notes the parts of its result with their values."""
        self.w = w
        match stmt:
            case ir.Let():
                done = self.let(stmt)
                if done:
                    self.values[stmt.var] = done
            case ir.Alloc():
                self.values[stmt.var] = ()
            case ir.Store() | ir.Add():
                done = self.store(stmt)
                assert done is not None
                self.values[stmt.buf] = done

    def start(self, w: Directions) -> None:
        """Starts emission by ``w``: forgets the parts that were found, except for the seed, the diagonal 1."""
        self.w = w
        if self.count is not None:
            one = ir.Const(1.0, Type(self.seed.type.dtype))
            self.values = {self.seed: (Part(Dim(0), Dim(0), self.count, one),)}

    def whole(self, op: ir.Var, axis: int) -> ir.Operand:
        """The value of ``op`` in all directions with its zeros, emitted; ``axis``, 0 or 1, is the axis of the directions."""
        w = self.w
        assert w is not None
        b, parts, n = w.b, self.values[op], op.type.dims[0]
        dims = (w.lanes, n) if axis == 0 else (n, w.lanes)
        if len(parts) == 1 and parts[0].place == (Dim(0), Dim(0), n) and n == w.lanes:
            (part,) = parts
            if isinstance(part.value, ir.Const) and part.value.value == 1.0:
                return w.alls[self.seed]
            diagonal = b.broadcast(part.value, (n,)).op
            return b.bind(op.name, op.type.with_dims(dims), "diag", (diagonal,), {"offset": 0})
        buf = b.zeros(op.name, op.type.with_dims(dims))
        seen: set[Dim] = set()
        for part in parts:
            rows, columns = (part.shift, part.start) if axis == 0 else (part.start, part.shift)
            path, args = self.block(rows, columns, part.size, dims)
            assert part.value is not None
            value = part.value if isinstance(part.value, ir.Const) else b.broadcast(part.value, (part.size,)).op
            put = b.add if part.shift - part.start in seen else b.store
            put(buf, (*path, ir.Diagonal(), ir.Index((ir.Slice(),))), args, b.cast(value, buf.type.dtype))
            seen.add(part.shift - part.start)
        return b.read(buf, name=op.name).op

    def block(self, row: Dim, column: Dim, size: Dim, dims: Sequence[Dim]) -> tuple[ir.Path, list[ir.Operand]]:
        """The path and the operands of the square block with ``size`` rows that starts at ``row`` and ``column`` of a matrix
        with these ``dims``; the empty path for the whole matrix."""
        args: list[ir.Operand] = []
        items = [self.range(at, size, dim, args) for at, dim in zip((row, column), dims)]
        return (() if all(i.is_full for i in items) else (ir.Index(tuple(items)),)), args

    def range(self, start: Dim, size: Dim, dim: Dim, args: list[ir.Operand]) -> ir.Slice:
        """The slice of ``size`` elements from ``start`` on along an axis of size ``dim``; appends its operands to ``args``.
        Ends that are those of the axis are left out."""
        assert self.w is not None
        b, first, last = self.w.b, None, None
        if start != Dim(0):
            first = len(args)
            args.append(b.dim(start).op)
        left = (
            dim.unclipped - start - size.unclipped
        )  # elements after it: x[1:] has max(n - 1, 0) elements, and none follow
        if left != Dim(0):
            last = len(args)
            args.append(b.operand(-left.const) if left.is_const and left.const > 0 else b.dim(start + size).op)
        return ir.Slice(first, last)

    # ---- rules: parts of the result; () if the result is a whole value, None if there is no rule

    def let(self, stmt: ir.Let) -> Parts | None:
        """The parts of the result of ``stmt``; () if the result is a whole value, noted already when emitting; None if it
        cannot be done on parts."""
        args = stmt.args
        found = [k for k, a in enumerate(args) if self.has(a)]
        if not found:
            return None
        if stmt.prim == "matmul" or record_of(stmt).is_plain_sum:
            return self.end(stmt)
        if stmt.prim == "index":
            return self.index(stmt) if found == [0] else None
        if stmt.var.type.rank != 1 or not stmt.var.type.is_float or len(set(map(_size, args))) > 2:
            return None
        if any(a.type.rank != 1 and not isinstance(a, ir.Const) for a in args):
            return None
        if record_of(stmt).is_sum and len(found) == 2:
            return self.joined(self.parts(args[0]), self.parts(args[1]), stmt)
        if any(self.mapped.has(a) and not self.has(a) for a in args):
            return None
        if stmt.prim == "where":
            return self.chosen(stmt, found)
        if len(found) != 1:
            return None
        (k,) = found
        if k in record_of(stmt).vanishes:
            return tuple(self.scaled(part, stmt, k) for part in self.parts(args[k]))
        return None

    def parts(self, op: ir.Operand) -> Parts:
        assert isinstance(op, ir.Var)
        return self.values[op]

    def scaled(self, part: Part, stmt: ir.Let, k: int) -> Part:
        """The part of the result of ``stmt`` for ``part`` of operand ``k``, in which it is linear: emitted, or only its place
        before emission."""
        if self.w is None:
            return part
        args = [part.value if j == k else self.cut(a, part.start, part.size) for j, a in enumerate(stmt.args)]
        if stmt.prim == "cast":
            return replace(part, value=self.w.b.cast(args[0], stmt.var.type.dtype).op)
        return replace(part, value=self.w.b.elementwise(stmt.prim, *args).op if stmt.prim != "identity" else args[0])

    def chosen(self, stmt: ir.Let, found: Sequence[int]) -> Parts | None:
        """The parts of a ``where`` with a test that all directions share; the operands at the positions ``found`` are in parts.
        None if another choice is not the constant 0.0 or the test is in parts."""
        if 0 in found or any(k not in found and not ir.is_literal(stmt.args[k], 0.0) for k in (1, 2)):
            return None
        chosen: list[Parts] = []
        for k in found:
            zero = ir.Const(0.0, stmt.var.type.with_dims(()))
            parts = self.parts(stmt.args[k])
            if self.w is not None:
                b = self.w.b
                tests = [self.cut(stmt.args[0], p.start, p.size) for p in parts]
                given = [(p.value, zero) if k == 1 else (zero, p.value) for p in parts]
                values = [b.elementwise("where", t, *sides).op for t, sides in zip(tests, given)]
                parts = tuple(replace(p, value=v) for p, v in zip(parts, values))
            chosen.append(parts)
        return chosen[0] if len(chosen) == 1 else self.joined(chosen[0], chosen[1], stmt)

    def cut(self, op: ir.Operand, start: Dim, size: Dim) -> ir.Operand:
        """The ``size`` elements of ``op`` from ``start`` on, a view that is emitted; ``op`` itself if these are all, or if it
        is a constant."""
        if isinstance(op, ir.Const):
            return op
        assert self.w is not None
        args: list[ir.Operand] = []
        item = self.range(start, size, op.type.dims[0], args)
        if item.is_full:
            return op
        params = {"path": (ir.Index((item,)),), "dims": (size,)}
        return self.w.b.bind("", op.type.with_dims((size,)), "index", (op, *args), params)

    def joined(self, x: Parts, y: Parts, stmt: ir.Let | ir.Add) -> Parts:
        """The parts of ``x + y``, or of ``x - y`` if ``stmt`` is a difference; parts at the same place are merged, which is
        emitted."""
        is_sub = isinstance(stmt, ir.Let) and record_of(stmt).is_difference
        found = {part.place: part for part in x}
        for part in y:
            mine = found.get(part.place)
            if self.w is not None:
                b = self.w.b
                assert part.value is not None
                if mine is None:
                    part = replace(part, value=b.elementwise("neg", part.value).op) if is_sub else part
                else:
                    assert mine.value is not None
                    part = replace(part, value=b.elementwise("sub" if is_sub else "add", mine.value, part.value).op)
            found[part.place] = part
        return tuple(found.values())

    def index(self, stmt: ir.Let) -> Parts | None:
        """The parts of a slice with step 1 of a value whose parts cover it all; None for other places."""
        source, *args = stmt.args
        path = stmt.params["path"]
        parts = self.parts(source)
        if not path:
            return parts
        start = _first(path, args, source.type.dims[0], stmt.var.type.dims, self.form_of)
        if start is None or any(p.start != Dim(0) or p.size != source.type.dims[0] for p in parts):
            return None
        (size,) = stmt.var.type.dims
        return tuple(Part(Dim(0), p.shift + start, size, self.sliced(p.value, stmt)) for p in parts)

    def sliced(self, value: ir.Operand | None, stmt: ir.Let) -> ir.Operand | None:
        """The ``value`` of a part, sliced as ``stmt`` says; unchanged if it has no axis, or before emission."""
        if self.w is None or value is None or not value.type.dims:
            return value
        dims = stmt.var.type.dims
        return self.w.b.bind("", value.type.with_dims(dims), "index", (value, *stmt.args[1:]), stmt.params)

    def store(self, stmt: ir.Store | ir.Add) -> Parts | None:
        """The parts of the buffer after a store or an addition of a value in parts to a slice; None if it cannot stay in
        parts."""
        if not self.has(stmt.value) or any(map(self.mapped.has, stmt.args)):
            return None
        before, size = self.values[stmt.buf], stmt.buf.type.dims[0]
        start = _first(stmt.path, stmt.args, size, stmt.value.type.dims, self.form_of) if stmt.path else Dim(0)
        if start is None:
            return None
        moved = tuple(replace(p, start=p.start + start) for p in self.parts(stmt.value))
        if isinstance(stmt, ir.Add):
            return self.joined(before, moved, stmt)
        return moved if not stmt.path or not before else None

    def end(self, stmt: ir.Let) -> Parts | None:
        """() if the result of a sum or of a product with a shared value, a whole value in all directions, can be computed from
        the parts, and is emitted during emission; else None."""
        if record_of(stmt).is_plain_sum:
            (x,) = stmt.args
            if stmt.params["axes"] != (0,) or stmt.params["keepdims"] or x.type.rank != 1:
                return None
            return self.summed(stmt, x, None)
        x, y = stmt.args
        op, other = (x, y) if self.has(x) else (y, x)
        if self.mapped.has(other) or other.type.rank not in (1, 2) or op.type.rank != 1:
            return None
        return self.summed(stmt, op, other)

    def summed(self, stmt: ir.Let, op: ir.Operand, other: ir.Operand | None) -> Parts | None:
        """Emits and keeps the result of ``stmt``: in direction i ``value[i]`` of ``op``, which has one part, times the row or
        column of ``other`` at its element, times 1 if ``other`` is None. () if this form exists, else None; before emission,
        nothing else is done."""
        parts = self.parts(op)
        if len(parts) != 1 or parts[0].shift != Dim(0) or parts[0].size != self.count:
            return None
        w, (part,) = self.w, parts
        if w is None:
            return ()
        b = w.b
        assert part.value is not None
        if other is None:
            found = b.broadcast(part.value, (part.size,)).op
        elif other.type.rank == 1:
            found = b.elementwise("mul", self.cut(other, part.start, part.size), part.value).op
        else:
            found = self.of_matrix(other, part, columns=other is stmt.args[0])
        w.keep(b.cast(found, stmt.var.type.dtype).op, stmt.var)
        return ()

    def of_matrix(self, matrix: ir.Operand, part: Part, columns: bool) -> ir.Operand:
        """The product of ``matrix`` with the diagonal ``part``, directions in front: its rows, or with ``columns`` its columns,
        scaled by the values of the diagonal."""
        w = self.w
        assert w is not None and part.value is not None
        args: list[ir.Operand] = []
        items = [ir.Slice(), ir.Slice()]
        dims = list(matrix.type.dims)
        items[columns] = self.range(part.start, part.size, dims[columns], args)
        dims[columns] = part.size
        if not items[columns].is_full:
            params = {"path": (ir.Index(tuple(items)),), "dims": tuple(dims)}
            matrix = w.b.bind("", matrix.type.with_dims(tuple(dims)), "index", (matrix, *args), params)
        value = part.value
        if value.type.dims and not columns:
            value = placed(w, value, [ir.Slice(), ir.NewAxis()], (part.size, Dim(1)))
        found = w.b.elementwise("mul", matrix, value).op
        return transposed(w, found, (1, 0)) if columns else found


def _known_size(fn: ir.Function, seed: ir.Var) -> Dim | None:
    """The size of the seed, if it has one axis and that size is a constant or known from another parameter; it is also the
    number of directions. Else None."""
    if seed.type.rank != 1:
        return None
    (dim,) = seed.type.dims
    name = dim.as_symbol
    given = {d.as_symbol for p in fn.params if p is not seed for d in p.type.dims}
    return dim if dim.is_const or name is not None and name in given and name in fn.symbols else None


def _size(op: ir.Operand) -> Any:
    return op.type.dims


def _first(path: ir.Path, args: Sequence[ir.Operand], dim: Dim, dims: Sequence[Dim], form_of: FormOf) -> Dim | None:
    """The start of the place ``path`` in an array of size ``dim``, if it is a slice with step 1 and result dims ``dims``; None
    for other places, or if the start is not known to be nonnegative."""
    if len(path) != 1 or not isinstance(path[0], ir.Index) or len(path[0].items) != 1 or len(dims) != 1:
        return None
    (item,) = path[0].items
    if not isinstance(item, ir.Slice):
        return None
    if item.step is not None and not (isinstance(args[item.step], ir.Const) and args[item.step].value == 1):  # type: ignore[union-attr]
        return None
    if item.start is None:
        return Dim(0)
    given = args[item.start]
    if isinstance(given, ir.Const):
        if given.value >= 0:
            return Dim(int(given.value))
        return dim - dims[0] if item.stop is None else None
    form = form_of(given)
    return form if is_nonnegative(form) else None
