"""How iterations of a loop use arrays from outside: each has its own elements, several add to the same ones, or they depend on
each other.

    for i in range(n):
        blas.gemm(1.0, a[i], b, 0.0, c[i])        ``a`` and ``b`` are read; each iteration has its own part of ``c``
        w_bar[k[i]] += 1.0                        all add to ``w_bar``: each chunk of iterations needs its own

A view counts as the part of its array that it covers, as far as known: for a row the index, for a range any subscript.
"""

from __future__ import annotations

from transpile.analysis.accesses import Access, Roots, Touches, is_array
from transpile.analysis.affine import Forms
from transpile.analysis.value_ranges import Facts
from transpile.core import nodes as ir
from transpile.core.walk import defined, statements
from transpile.loops.allocation_motion import READS
from transpile.loops.independent_iterations import only_in_one_trip
from transpile.loops.schedule.parallel_schedule import Plan

FAR = 8  # largest distance of iterations that share elements

At = tuple["ir.Operand | None", ...]  # None for a subscript that may be any


class Sharing:
    """Dependence tests for one function."""

    def __init__(self, fn: ir.Function, forms: Forms) -> None:
        self.forms, self.roots = forms, Roots(fn)
        self.touches = Touches(self.roots)
        self.sizes = {s.var: s.args for s in statements(fn.body) if isinstance(s, ir.Alloc)}
        self.names: dict[ir.Var, list[ir.Var]] = {}  # by root
        for var in self.roots.parent:
            self.names.setdefault(self.roots.of(var), []).append(var)

    def plan(self, loop: ir.For, facts: Facts) -> Plan | None:
        """The plan for the arrays from outside to which several iterations add; None if iterations depend on each other
        otherwise, or the size of such an array is not known."""
        own = set(defined(loop.body))
        by_root: dict[ir.Var, list[Access]] = {}
        for a in self.touches.of(loop).found:
            by_root.setdefault(self.roots.of(a.var), []).append(a)
        plan = Plan({})
        for root, accesses in by_root.items():
            if all(a.kind == "read" for a in accesses) or own.issuperset((root, *self.names.get(root, ()))):
                continue
            places = [(a.kind, *self.place(a)) for a in accesses]
            var = places[0][1]
            if var in own or any(v is not var for _, v, _ in places):
                return None
            ats = [at for _, _, at in places]
            if all(
                only_in_one_trip(x, y, loop, own, self.forms, facts) for (k, _, x) in places if k != "read" for y in ats
            ):
                continue
            if any(a.kind != "add" or a.var is not var for a in accesses):
                return None
            reach, sizes = self.reach(ats, loop, own), self.sizes.get(var)
            if reach is not None:
                plan.reach = max(plan.reach, reach)
            elif sizes is not None:
                plan.shared[var] = sizes
            else:
                return None
        return plan

    def place(self, access: Access) -> tuple[ir.Var, At]:
        """A pair of the array that an access belongs to, looking through views except reshapes, and the subscripts in it."""
        var = access.var
        at: At = (None,) * var.type.rank if access.indices is None else access.indices
        while (
            (let := self.forms.lets.get(var)) is not None
            and isinstance(let, ir.View)
            and not isinstance(let.step, ir.Reshape)
        ):
            base = let.base
            assert isinstance(base, ir.Var)
            var, at = base, at[::-1] if isinstance(let.step, ir.Permute) else _in_whole(let, at)
        return var, at

    def reach(self, ats: list[At], loop: ir.For, own: set[ir.Var]) -> int | None:
        """Largest distance between iterations that add to one element by the subscripts ``ats``; None if unknown or larger than
        `FAR`."""
        found: int | None = None
        for subscripts in zip(*ats):
            forms = [self.forms.of(i) for i in subscripts if i is not None]
            each = abs(forms[0].coefficient(loop.index)) if len(forms) == len(subscripts) else 0
            if not each or forms[0].atoms & own or any(f.key != forms[0].key for f in forms):
                continue
            ends = [f.const for f in forms]
            reach = (max(ends) - min(ends)) // each
            found = reach if found is None else min(found, reach)
        return found if found is not None and found <= FAR else None


def _in_whole(row: ir.View, at: At) -> At:
    """Subscripts in the base of the view ``row`` for the subscripts ``at`` of the view; None for one that is not known: a part
    of a slice that is not full."""
    rest = iter(at)
    found: list[ir.Operand | None] = []
    for item in row.items:
        if isinstance(item, ir.Point):
            found.append(row.args[1:][item.arg])
            continue
        index = next(rest, None)
        found.append(index if isinstance(item, ir.Slice) and item.is_full else None)
    return tuple(found)


def is_bound(stmt: ir.Stmt) -> bool:
    """Whether a statement must keep the order of iterations or run in their thread: a stack, a print, or a kept function or
    primitive that takes whole arrays."""
    if isinstance(stmt, (ir.Push, ir.Pop, ir.NewStack, ir.Print)):
        return True
    if isinstance(stmt, ir.Call):
        return isinstance(stmt.function, ir.Kept) and any(map(is_array, stmt.args))
    if not isinstance(stmt, ir.Let) or isinstance(stmt, ir.View):
        return False
    return stmt.prim not in (*READS, "item") and any(map(is_array, stmt.args))
