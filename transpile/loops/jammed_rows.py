"""Copies rows of arrays into private buffers, so that iterations that run side by side access neighbouring elements.

    for lane in range(n):                             for lane in range(n):
        for j in range(1, m):                             row = np.empty(m)
            y[lane, j] += a * y[lane, j - 1]              for j in range(m):
                                              ->              row[j] = y[lane, j]
                                                          for j in range(1, m):
                                                              row[j] += a * row[j - 1]
                                                          for j in range(m):
                                                              y[lane, j] = row[j]

This applies where the loop index subscripts an axis other than the last; `transpile.loops.unroll_and_jam` then puts the
iterations beside each other in the buffer. What is read once per iteration, outside inner loops, and what is only written, is
not copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from transpile.analysis.accesses import Access, Roots, accesses
from transpile.analysis.affine import Forms, Linear, computed
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, defined, statements
from transpile.loops.array_contraction import points

Key = tuple[Linear | None, ...]  # subscripts that all iterations share; None for the axes of a row


@dataclass(frozen=True)
class _Place:
    """``at``: the axis that the loop index subscripts, with its ``form``. ``fixed``: for the other axes, subscripts that all
    iterations share."""

    at: int
    form: Linear
    fixed: Key


def with_rows(loop: ir.For, forms: Forms, roots: Roots) -> tuple[list[ir.Stmt], ir.For]:
    """A pair of the statements needed before the loop, and the loop with buffers; no statements and the same loop if it needs
    none."""
    made = _Rows(loop, forms, roots)
    return made.before, made.loop


class _Rows:
    def __init__(self, loop: ir.For, forms: Forms, roots: Roots) -> None:
        self.old, self.forms, self.roots = loop, forms, roots
        self.own = {loop.index, *defined(loop.body)}
        self.before: list[ir.Stmt] = []
        self.rows: dict[tuple[ir.Var, Key], ir.Var] = {}
        self.keys: dict[ir.Var, dict[Key, _Place]] = {}  # rows of each array
        self.top: list[ir.Stmt] = []
        self.end: list[ir.Stmt] = []
        self.loop = loop
        self.find()
        if self.keys:
            for var, places in self.keys.items():
                for place in places.values():
                    self.make(var, place)
            body = [*self.top, *(self.rewritten(s) for s in loop.body.stmts), *self.end]
            self.loop = replace(loop, body=replace(loop.body, stmts=body))

    # ---- arrays to copy

    def find(self) -> None:
        """Notes in ``keys`` the arrays to be copied and the rows of each."""
        inside = {id(s) for f in statements(self.old.body) if isinstance(f, ir.For) for s in statements(f.body)}
        by_root: dict[ir.Var, list[tuple[ir.Stmt, Access]]] = {}
        for stmt in statements(self.old.body):
            for access in accesses(stmt):
                by_root.setdefault(self.roots.of(access.var), []).append((stmt, access))
        for found in by_root.values():
            var = found[0][1].var
            places = [self.place(a) for _, a in found]
            if var in self.own or any(a.var is not var for _, a in found) or None in places:
                continue
            where = [p for p in places if p is not None]
            if len({(p.at, p.form) for p in where}) != 1 or where[0].at == var.type.rank - 1:
                continue
            if all(a.kind == "read" for _, a in found):
                # copy only what is read in an inner loop
                where = [p for p, (s, _) in zip(where, found) if id(s) in inside]
            elif all(a.kind == "write" for _, a in found):
                continue
            else:
                same = tuple(f if all(p.fixed[k] == f for p in where) else None for k, f in enumerate(where[0].fixed))
                where = [replace(where[0], fixed=same)]
            if where:
                self.keys[var] = {p.fixed: p for p in where}

    def place(self, access: Access) -> _Place | None:
        """The part of an array that an iteration accesses; None unless the index subscripts exactly one axis, with coefficient
        1 and an offset known before the loop."""
        if access.indices is None:
            return None
        forms = [self.forms.of(i) for i in access.indices]
        mine = [k for k, f in enumerate(forms) if f.coefficient(self.old.index)]
        if len(mine) != 1:
            return None
        (at,) = mine
        if forms[at].coefficient(self.old.index) != 1 or not self.is_outer(forms[at].without(self.old.index)):
            return None
        return _Place(at, forms[at], tuple(f if k != at and self.is_outer(f) else None for k, f in enumerate(forms)))

    def is_outer(self, form: Linear) -> bool:
        """Whether the form is known before the loop."""
        return not form.atoms & self.own

    # ---- copies

    def make(self, var: ir.Var, place: _Place) -> None:
        """Adds the buffer for one row of the array ``var``, the copy in at the top of the iteration and, if the array is
        written, the copy out at its end."""
        axes = [k for k, f in enumerate(place.fixed) if f is None and k != place.at]
        sizes = [self.size(var, k) for k in axes] or [ir.Const(1, INT)]
        dims = tuple(var.type.dims[k] for k in axes) or (var.type.dims[place.at],)
        row = ir.Var(var.name, Type(var.type.dtype, dims), buffer=True)
        self.rows[var, place.fixed] = row
        self.top.append(ir.Alloc(row, "empty", tuple(sizes), {}, self.old.loc))
        self.top += self.copy(var, row, place, axes, sizes, True)
        if any(a.kind != "read" and a.var is var for s in statements(self.old.body) for a in accesses(s)):
            self.end += self.copy(var, row, place, axes, sizes, False)

    def size(self, var: ir.Var, axis: int) -> ir.Operand:
        """The variable with a size of an array, read before the loop."""
        size = ir.Var(ir.SYNTHETIC, INT)
        self.before.append(ir.Let(size, "dim", (var,), {"axis": axis}, self.old.loc))
        return size

    def copy(
        self, var: ir.Var, row: ir.Var, place: _Place, axes: Sequence[int], sizes: Sequence[ir.Operand], is_in: bool
    ) -> list[ir.Stmt]:
        """Loops that copy the row ``place`` of the array ``var`` into its buffer ``row`` (``is_in``), or the buffer into the
        row. ``axes``, ``sizes``: those of the row."""
        stmts: list[ir.Stmt] = []
        indices = [ir.Var("k", INT) for _ in axes]
        at: dict[int, ir.Operand] = dict(zip(axes, indices))
        for k in range(var.type.rank):
            if k not in at:
                form = place.form if k == place.at else place.fixed[k]
                assert form is not None
                at[k] = computed(form, lambda prim, a, b: self.number(stmts, prim, a, b))
        whole = [at[k] for k in range(var.type.rank)]
        part: list[ir.Operand] = list(indices) or [ir.Const(0, INT)]
        source, target = ((var, whole), (row, part)) if is_in else ((row, part), (var, whole))
        value = ir.Var(ir.SYNTHETIC, Type(var.type.dtype))
        inner: list[ir.Stmt] = [
            ir.Let(value, "index", (source[0], *source[1]), {"path": points(len(source[1])), "dims": ()}, self.old.loc),
            ir.Store(target[0], points(len(target[1])), tuple(target[1]), value, self.old.loc),
        ]
        for index, size in reversed(list(zip(indices, sizes))):
            inner = [ir.For(index, ir.Const(0, INT), size, ir.Const(1, INT), (), ir.Block((), inner), loc=self.old.loc)]
        return [*stmts, *inner]

    def number(self, stmts: list[ir.Stmt], prim: str, a: ir.Operand, b: ir.Operand) -> ir.Var:
        """The variable of an integer *let*, appended to ``stmts``."""
        let = ir.Let(ir.Var(ir.SYNTHETIC, INT), prim, (a, b), {}, self.old.loc)
        self.forms.learn(let)
        stmts.append(let)
        return let.var

    # ---- statements

    def rewritten(self, stmt: ir.Stmt) -> ir.Stmt:
        """The statement, nested blocks included, with accesses to rows replaced by accesses to their buffers."""
        for access in accesses(stmt):
            found = self.row(access)
            if found is None:
                continue
            row, at = found
            if isinstance(stmt, ir.Let):
                return replace(stmt, args=(row, *at), params={**stmt.params, "path": points(len(at)), "dims": ()})
            assert isinstance(stmt, (ir.Store, ir.Add))
            return replace(stmt, buf=row, args=at, path=points(len(at)))
        if not blocks(stmt):
            return stmt
        return with_blocks(stmt, lambda b: replace(b, stmts=[self.rewritten(s) for s in b.stmts]))

    def row(self, access: Access) -> tuple[ir.Var, tuple[ir.Operand, ...]] | None:
        """A pair of the buffer that replaces the array in an access, and the subscripts in it; None if the array itself is
        accessed."""
        keys = self.keys.get(access.var)
        if keys is None or access.indices is None:
            return None
        place = self.place(access)
        assert place is not None
        fixed = place.fixed if access.kind == "read" and place.fixed in keys else next(iter(keys))
        if fixed not in keys or any(f is not None and f != g for f, g in zip(fixed, place.fixed)):
            return None  # read once, not from a buffer
        at = tuple(i for k, i in enumerate(access.indices) if fixed[k] is None and k != place.at)
        return self.rows[access.var, fixed], at or (ir.Const(0, INT),)
