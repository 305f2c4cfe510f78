"""Loop nests in which each iteration writes one element and no two iterations the same one: the boxes that they fill.

for i in range(n):
    for j in range(m):                the box of b from [0, 1] up to [n, m + 1]
        b[i, j + 1] += 2.0 * a[i, j]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from transpile.analysis.accesses import is_array, is_pure
from transpile.analysis.affine import Forms, Linear, form_of
from transpile.analysis.value_ranges import as_extremum, is_integer
from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.core.walk import Cloner, defined
from transpile.loops.small_integers import Small
from transpile.ops.tables import record_of

REALS = ("float64", "float32")


@dataclass(frozen=True)
class Nest:
    """A nest that fills a box. ``low`` and ``high``: for each axis of the array, the first index and the one after the last."""

    stmt: ir.For
    loops: tuple[ir.For, ...]
    lets: tuple[ir.Let, ...]
    write: ir.Store | ir.Add
    axes: tuple[int, ...]  # for each loop, the axis that its index runs along
    shifts: tuple[Linear, ...]  # for each axis, the subscript without the index of the loop
    low: tuple[Linear, ...]
    high: tuple[Linear, ...]


class Boxes:
    """The box-filling nests of one function."""

    def __init__(self, fn: ir.Function, forms: Forms) -> None:
        self.forms, self.small = forms, Small(fn, forms)
        self.known: dict[int, tuple[ir.Stmt, Nest | None]] = {}
        self.rank = {var: k for k, var in enumerate((*fn.params, *defined(fn.body)))}  # deterministic, unlike sets

    def of(self, stmt: ir.Stmt) -> Nest | None:
        """The nest that begins with a statement; None if it fills no box."""
        held = self.known.get(id(stmt))
        if held is None or held[0] is not stmt:
            held = self.known[id(stmt)] = (stmt, self._found(stmt) if isinstance(stmt, ir.For) else None)
        return held[1]

    def _found(self, outer: ir.For) -> Nest | None:
        """The nest that begins with a loop, as `of` gives it, not cached."""
        loops: list[ir.For] = []
        lets: list[ir.Let] = []
        last: ir.Stmt = outer
        while isinstance(last, ir.For):
            stmts = last.body.stmts
            if not is_simple(last) or not stmts or not all(is_scalar(s) for s in stmts[:-1]):
                return None
            loops.append(last)
            lets += [s for s in stmts if isinstance(s, ir.Let)]
            last = stmts[-1]
        if not isinstance(last, (ir.Store, ir.Add)) or last.buf.type.dtype not in REALS:
            return None
        if last.value.type.dtype != last.buf.type.dtype:
            return None
        return self._placed(outer, tuple(loops), tuple(lets), last)

    def _placed(
        self, outer: ir.For, loops: tuple[ir.For, ...], lets: tuple[ir.Let, ...], write: ir.Store | ir.Add
    ) -> Nest | None:
        """The nest of these loops around ``write``; None unless each index runs along exactly one axis, with coefficient 1, and
        the ends of the box are known outside and cannot wrap."""
        own = {loop.index for loop in loops} | {let.var for let in lets}
        axes: dict[int, int] = {}
        shifts, low, high = [], [], []
        for axis, at in enumerate(write.args):
            form = self.forms.of(at)
            first, after = Linear(0), Linear(1)
            k = next((k for k, loop in enumerate(loops) if form.coefficient(loop.index)), None)
            if k is not None:
                if form.coefficient(loops[k].index) != 1 or k in axes:
                    return None
                axes[k] = axis
                form = form.without(loops[k].index)
                first, after = self.ends(loops[k])
            low.append(first + form)
            high.append(after + form)
            shifts.append(form)
        if len(axes) < len(loops):
            return None
        if any((f.atoms & own) or not self.small.is_of_small(f) for f in (*low, *high)):
            return None
        return Nest(
            outer, loops, lets, write, tuple(axes[k] for k in range(len(loops))), tuple(shifts), tuple(low), tuple(high)
        )

    def ends(self, loop: ir.For) -> tuple[Linear, Linear]:
        """A pair of the least index of a loop with step 1 or -1, and the greatest plus one."""
        start, bound = self.forms.of(loop.start), self.forms.of(loop.bound)
        assert isinstance(loop.step, ir.Const)
        return (start, bound) if loop.step.value > 0 else (bound + 1, start + 1)

    # ---- sizes of the form max(x, 0)

    def plain(self, form: Linear, assumed: dict[ir.Var, Linear]) -> Linear:
        """The form with ``x`` in place of each ``max(x, 0)``; adds the replaced variables and their ``x`` to ``assumed``."""
        while True:
            found = [(v, x) for v in self.sorted(form) if (x := self._inside(v)) is not None]
            if not found:
                return form
            for var, inside in found:
                assumed[var] = inside
                form = form.replaced(var, inside)

    def _inside(self, var: ir.Var) -> Linear | None:
        """``x`` if the variable is ``max(x, 0)``; else None."""
        let = self.forms.lets.get(var)
        kind, args = as_extremum(let) if let is not None else ("", ())
        if kind == "max" and isinstance(args[1], ir.Const) and args[1].value == 0:
            return self.forms.of(args[0])
        return None

    def sorted(self, form: Linear) -> list[ir.Var]:
        """The variables of a form, those with positive coefficients first, each group in the order of definitions."""
        return sorted(form.atoms, key=lambda v: (form.coefficient(v) < 0, self.rank.get(v, -1)))

    # ---- statements

    def operand(self, form: Linear, stmts: list[ir.Stmt]) -> ir.Operand:
        """An operand with the value of the form; appends the statements that compute it to ``stmts``."""
        found: ir.Operand | None = None
        for var in self.sorted(form):
            coef = form.coefficient(var)
            term = var if abs(coef) == 1 else number("mul", ir.Const(abs(coef), INT), var, stmts)
            if found is None and coef > 0:
                found = term
            else:
                found = number("add" if coef > 0 else "sub", found or ir.Const(0, INT), term, stmts)
        if found is None:
            return ir.Const(form.const, INT)
        if form.const:
            found = number("add" if form.const > 0 else "sub", found, ir.Const(abs(form.const), INT), stmts)
        return found

    def copy(self, nest: Nest, fixed: Mapping[int, ir.Operand]) -> tuple[list[ir.Stmt], ir.Store | ir.Add, Cloner]:
        """A triple: fresh statements of one iteration of the nest, in which some axes have the subscripts ``fixed``; the write,
        which is not among them; and the cloner that made all."""
        cloner = Cloner()
        stmts: list[ir.Stmt] = []
        for loop, axis in zip(nest.loops, nest.axes):
            if axis in fixed:
                index = form_of(fixed[axis]).plus(nest.shifts[axis], -1)
                cloner.mapping[loop.index] = self.operand(index, stmts)
            else:
                cloner.fresh(loop.index)
        stmts += [cloner.stmt(let) for let in nest.lets]
        write = cloner.stmt(nest.write)
        assert isinstance(write, (ir.Store, ir.Add))
        return stmts, write, cloner

    def trips(self, nest: Nest, fixed: Mapping[int, ir.Operand]) -> list[ir.Stmt]:
        """Statements of all iterations of the nest that have the subscripts ``fixed`` along some axes, in fresh loops along the
        others."""
        stmts, write, cloner = self.copy(nest, fixed)
        stmts.append(write)
        before: list[ir.Stmt] = []
        for loop, axis in reversed([*zip(nest.loops, nest.axes)]):
            if axis not in fixed:
                stmts = [self.outside(nest.loops, loop, cloner.root(loop.index), stmts, before)]
        return [*before, *stmts]

    def outside(
        self, loops: Sequence[ir.For], loop: ir.For, index: ir.Var, stmts: list[ir.Stmt], before: list[ir.Stmt]
    ) -> ir.For:
        """The loop ``loop``, one of ``loops``, with another index around other statements. If these loops define its bounds,
        the computation of the bounds is appended to ``before``."""
        own = {let.var for outer in loops for let in outer.body.stmts if isinstance(let, ir.Let)}
        start, bound = (
            self.operand(self.forms.of(end), before) if isinstance(end, ir.Var) and end in own else end
            for end in (loop.start, loop.bound)
        )
        return replace(loop, index=index, start=start, bound=bound, body=ir.Block((), stmts))


def is_simple(loop: ir.For) -> bool:
    """Whether a loop carries nothing, never stops early, and has step 1 or -1 and an int64 index."""
    if loop.inits or loop.trips is not None or loop.body.stop is not None:
        return False
    return isinstance(loop.step, ir.Const) and abs(loop.step.value) == 1 and is_integer(loop.index)


def is_scalar(stmt: ir.Stmt) -> bool:
    """Whether a statement is a *let* of a scalar that cannot raise."""
    return isinstance(stmt, ir.Let) and is_pure(stmt) and not is_array(stmt.var)


def number(prim: str, a: ir.Operand, b: ir.Operand, stmts: list[ir.Stmt]) -> ir.Var:
    """The integer variable ``prim(a, b)``, defined by a *let* that is appended to ``stmts``."""
    var = ir.Var(ir.SYNTHETIC, INT)
    stmts.append(ir.Let(var, prim, (a, b), {"py": True} if record_of(prim).extreme else {}))
    return var
