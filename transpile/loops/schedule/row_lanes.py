"""Splits a recurrence over many independent rows: the outer loop's iterations depend on each other, those of the inner loops do
not.

    for j in range(1, m):                         for c in prange(chunks):
        for i in range(n):                            for j in range(1, m):
            y[i, j] = a * y[i, j - 1] + x[i, j]  ->       for i in range(n * c // chunks, n * (c + 1) // chunks):
                                                              y[i, j] = a * y[i, j - 1] + x[i, j]

Every array that the loop writes is accessed with the inner index, plus one common offset, along some axis: the *lane*. Each
thread has its own lanes through all iterations of the outer loop, and recomputes the values that the outer body computes before
the inner loops.

If lanes are neighbours in memory, threads meet in each row: one prefetches what the other writes. A chunk then has many lanes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from transpile.analysis.accesses import Access, is_array
from transpile.analysis.affine import Linear
from transpile.analysis.loop_reductions import fold_of, folds_of, held_by
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT
from transpile.core.walk import blocks, defined, leaves, reads, statements, uses
from transpile.loops.array_contraction import points
from transpile.loops.check_hoisting import raises
from transpile.loops.schedule.parallel_schedule import Chunks, Plan
from transpile.loops.schedule.privatisation import Sharing, is_bound
from transpile.ops.tables import record_of

_MANY = 1024  # lanes per chunk if they are neighbours: two chunks of 500 gain nothing


@dataclass
class Lanes:
    """``ends``: the ranges of the inner loops; ``least``: the smallest number of lanes of a chunk."""

    plan: Plan
    ends: list[tuple[ir.Operand, ir.Operand]]
    least: int


def lanes_of(loop: ir.For, sharing: Sharing) -> Lanes | None:
    """The lanes of a loop; None if it has none.

    Statements that may raise are allowed only outside the inner loops: there all threads do the same and fail in the same
    iteration.
    """
    if not isinstance(loop.step, ir.Const) or loop.trips is not None or loop.body.stop is not None:
        return None
    inner: list[ir.For] = []
    outside: list[ir.Stmt] = []
    if not _skeleton(loop.body, inner, outside) or not inner or any(map(raises, inner)):
        return None
    if any(is_bound(s) for s in statements(loop.body)):
        return None
    if raises(loop) and sharing.touches.of(loop).visible:
        return None
    own = {loop.index, *defined(loop.body)}
    if any(op in own for f in inner for op in (f.start, f.bound)):
        return None
    folds = folds_of(loop)
    if folds is None:
        return None
    if not _are_sums_of_lanes(loop, inner, outside):
        return None
    least = _are_apart(loop, inner, outside, own, sharing)
    if least is None:
        return None
    ends = list(dict.fromkeys((f.start, f.bound) for f in inner))
    return Lanes(Plan({}, folds=folds), ends, least)


def _skeleton(block: ir.Block, inner: list[ir.For], outside: list[ir.Stmt]) -> bool:
    """Appends the inner loops of a body to ``inner`` and the statements around them, in branches too, to ``outside``. False
    unless the latter are values, new arrays, checks and branches, and the former have step 1 and never stop early."""
    for stmt in block.stmts:
        if isinstance(stmt, ir.For):
            if not isinstance(stmt.step, ir.Const) or stmt.step.value != 1 or stmt.trips is not None:
                return False
            if stmt.body.stop is not None:
                return False
            inner.append(stmt)
            continue
        outside.append(stmt)
        if isinstance(stmt, ir.If):
            if any(is_array(r) for r in stmt.results):
                return False
            if not all(_skeleton(b, inner, outside) for b in blocks(stmt)):
                return False
        elif isinstance(stmt, ir.Effect):
            if isinstance(stmt, ir.Print) or any(map(is_array, reads(stmt))):
                return False
        elif isinstance(stmt, ir.Let):
            if stmt.prim not in ("index", "dim") and any(map(is_array, stmt.args)):
                return False
        elif not isinstance(stmt, ir.Alloc):
            return False
    return True


def _are_sums_of_lanes(loop: ir.For, inner: list[ir.For], outside: list[ir.Stmt]) -> bool:
    """Whether the outer loop's carried values fold the inner loops' results, and nothing else.

    The inner loops continue the fold, or start at 0 and have their sum added.
    """
    held = {v for k in range(len(loop.body.params)) for v in held_by(loop, k)}
    sums: set[ir.Operand] = set()
    for one in inner:
        for k, (init, result) in enumerate(zip(one.inits, one.results)):
            if result not in held:
                fold = fold_of(one, k)
                if fold is None or not record_of(fold.prim).is_sum or not isinstance(init, ir.Const) or init.value != 0:
                    return False
                sums.add(result)
        if len(one.results) < len(one.inits):
            return False
    for stmt in outside:
        given = [op in sums for op in reads(stmt)]
        if isinstance(stmt, ir.Let) and stmt.var in held:
            if not record_of(stmt).is_sum or sum(given) != 1:
                return False  # every thread would fold it in
        elif any(given):
            is_linear = all(given) if isinstance(stmt, ir.Let) and record_of(stmt).signs else False
            if not isinstance(stmt, ir.Let) or not (is_linear or (record_of(stmt).multiplies and sum(given) == 1)):
                return False
            sums.add(stmt.var)
        if any(op in sums for b in blocks(stmt) for op in leaves(b)):
            return False
    rest = [op for f in inner for op in (*uses(f.body), *leaves(f.body), *f.inits, f.start, f.bound)]
    return not sums & {*rest, *leaves(loop.body)}


def _are_apart(
    loop: ir.For, inner: list[ir.For], outside: list[ir.Stmt], own: set[ir.Var], sharing: Sharing
) -> int | None:
    """The least number of lanes in a chunk, if everything the loop writes lies in lanes; else None. ``inner``: the loops over
    lanes; ``outside``: the statements around these; ``own``: the variables of an iteration."""
    roots, touches = sharing.roots, sharing.touches
    changed = touches.changed(loop)
    by_root: dict[ir.Var, list[tuple[ir.For, Access]]] = {}
    for one in inner:
        mine = {one.index, *defined(one.body)}
        for access in touches.of(one).found:
            root = roots.of(access.var)
            if root in changed and not mine.issuperset((root, *sharing.names.get(root, ()))):
                by_root.setdefault(root, []).append((one, access))
    if any(isinstance(s, ir.Let) and s.prim == "index" and roots.of(s.args[0]) in changed for s in outside):  # type: ignore[arg-type]
        return None
    after = {root: _axes_after(found, own, sharing) for root, found in by_root.items()}
    if None in after.values():
        return None
    return _MANY if any(n == 0 and root not in own for root, n in after.items()) else 1


def _axes_after(found: list[tuple[ir.For, Access]], own: set[ir.Var], sharing: Sharing) -> int | None:
    """Number of axes after the lane axis, the first one on which all accesses ``found`` to an array have the inner index plus
    the same offset; None if it has none."""
    places = [(one, *sharing.place(access)) for one, access in found]
    var = places[0][1]
    if any(v is not var for _, v, _ in places) or (
        var in own and len(sharing.names.get(sharing.roots.of(var), ())) > 0
    ):
        return None
    for axis in range(var.type.rank):
        rests: set[Linear] = set()
        for one, _, at in places:
            index = at[axis]
            form = None if index is None else sharing.forms.of(index)
            if form is None or form.coefficient(one.index) != 1 or form.without(one.index).atoms & own:
                break
            rests.add(form.without(one.index))
        else:
            if len(rests) == 1:
                return var.type.rank - 1 - axis
    return None


# ------------------------------------------------------------------------------------------------ statements


def in_lanes(
    loop: ir.For, lanes: Lanes, lets: Mapping[ir.Var, ir.Let], threads: int, least: float
) -> list[ir.Stmt] | None:
    """The loop on several threads, each of which runs some of the lanes; None if that never pays. ``least``: work that is worth
    one thread."""
    return _InLanes(loop, lanes, lets, threads).statements(least)


class _InLanes(Chunks):
    """Chunks of lanes in place of chunks of iterations."""

    def __init__(self, loop: ir.For, lanes: Lanes, lets: Mapping[ir.Var, ir.Let], threads: int) -> None:
        super().__init__(loop, lanes.plan, lets, threads)
        self.lanes = lanes
        (self.first, self.last), *rest = lanes.ends
        for start, bound in rest:
            self.first = self.let("minimum", self.first, start)
            self.last = self.let("maximum", self.last, bound)
        self.trips = self.let("sub", self.last, self.first)
        if lanes.least > 1:
            some = self.let("maximum", self.trips, ir.Const(0, INT))
            self.limit = self.let("quick_div", some, ir.Const(lanes.least, INT))

    def parallel(self, chunks: ir.Var) -> tuple[ir.Operand, ...]:
        """Appends the statements for several chunks, in each of which the whole outer loop runs over some of the lanes; returns
        the carried values after them."""
        loop, index = self.loop, ir.Var("c", INT)
        sums = [self.array("sums", p.type.dtype, (chunks,)) for p in loop.body.params]
        outside, self.stmts = self.stmts, []
        after = self.let("add", index, ir.Const(1, INT))
        low, high = (self.let("add", self.first, self.start(k, chunks, None)) for k in (index, after))
        ends = {}
        for start, bound in self.lanes.ends:
            if len(self.lanes.ends) > 1:
                ends[start, bound] = self.let("maximum", start, low), self.let("minimum", bound, high)
            else:
                ends[start, bound] = low, high
        results = tuple(ir.Var(r.name, r.type) for r in loop.results)
        body = replace(loop.body, stmts=[self.narrowed(s, ends) for s in loop.body.stmts])
        self.stmts.append(replace(loop, inits=self.inits(), body=body, results=results))
        self.stmts += [ir.Store(s, points(1), (index,), r, self.loc) for s, r in zip(sums, results)]
        inside, self.stmts = self.stmts, outside
        self.run(index, None, chunks, inside)
        kinds = zip(self.plan.folds, loop.inits, loop.results)
        return tuple(self.fold(s, chunks, *kind) for s, kind in zip(sums, kinds))

    def narrowed(
        self, stmt: ir.Stmt, ends: Mapping[tuple[ir.Operand, ir.Operand], tuple[ir.Operand, ir.Operand]]
    ) -> ir.Stmt:
        """The statement with the ranges of inner loops, in branches too, replaced by what ``ends`` gives for them."""
        if isinstance(stmt, ir.For):
            start, bound = ends[stmt.start, stmt.bound]
            return replace(stmt, start=start, bound=bound)
        if isinstance(stmt, ir.If):
            return with_blocks(stmt, lambda b: replace(b, stmts=[self.narrowed(s, ends) for s in b.stmts]))
        return stmt
