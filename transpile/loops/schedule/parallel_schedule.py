"""The statements that replace a parallel loop: chunks of its iterations if there is enough work, else the original loop.

A *plan* describes arrays to which iterations add. Each array in ``shared`` gets a part for every chunk. If iterations that add
to one element are at most ``reach`` apart, as in a stencil, the last iterations of each chunk run in a second phase:

    for i in range(n):                        for phase in range(2):
        y[i] += ...                               for c in prange(chunks - phase):
        y[i + 2] += ...                  ->           low, high = n * c // chunks, n * (c + 1) // chunks
                                                      middle = high - 2 if c + 1 < chunks else high
                                                      for i in range(middle, high) if phase else range(low, middle):
                                                          y[i] += ...
                                                          y[i + 2] += ...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from transpile.analysis.loop_reductions import Fold
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks
from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.core.walk import Cloner, blocks, defined
from transpile.loops.array_contraction import points
from transpile.loops.schedule.cost_model import Work
from transpile.ops.tables import neutral_of, record_of

_PART = 4.0  # work per element of a part, which is zeroed and added
_TINY, _LONG = 64.0, 16384.0  # work of a product that needs no BLAS, and of one that is worth its locks


@dataclass
class Plan:
    """``shared``: arrays that get parts, with their sizes; ``reach``: see above, 0 if each iteration has its own elements.

    ``folds``: how carried values are folded. In a loop that ``raises``, the first chunk has the first iterations, also if it
    counts down.
    """

    shared: dict[ir.Var, tuple[ir.Operand, ...]]
    reach: int = 0
    folds: tuple[Fold, ...] = ()
    raises: bool = False


class Chunks:
    """Builds the statements."""

    def __init__(self, loop: ir.For, plan: Plan, lets: Mapping[ir.Var, ir.Let], threads: int) -> None:
        self.stmts: list[ir.Stmt] = []
        self.loop, self.plan, self.lets, self.threads, self.loc = loop, plan, lets, threads, loop.loc
        self.is_uneven = False  # whether the work of iterations depends on the index
        self.trips = self.let("sub", loop.bound, loop.start)
        self.limit: ir.Var | None = None  # on the number of chunks, if not the trip count

    def statements(self, least: float) -> list[ir.Stmt] | None:
        """The statements that replace the loop; None if several threads never pay. ``least``: work that is worth one thread."""
        chunks = self.count(least)
        return None if chunks is None else self.choice(chunks)

    # ---- small statements

    def let(self, prim: str, *args: ir.Operand, type: Type = INT) -> ir.Var:
        """The new variable of a *let*, an integer by default, which is appended."""
        var = ir.Var(ir.SYNTHETIC, type)
        params: dict[str, Any] = {"py": True} if record_of(prim).extreme else {}
        if prim == "cast":
            params = {"dtype": type.dtype, "weak": type.weak}
        self.stmts.append(ir.Let(var, prim, args, params, self.loc))
        return var

    def floating(self, prim: str, *args: ir.Operand) -> ir.Operand:
        """The new float64 variable of a *let*, which is appended."""
        return self.let(prim, *args, type=FLOAT)

    def size(self, array: ir.Var, axis: int) -> ir.Var:
        """The variable with a size of an array, whose read is appended."""
        var = ir.Var(ir.SYNTHETIC, INT)
        self.stmts.append(ir.Let(var, "dim", (array,), {"axis": axis}, self.loc))
        return var

    def array(self, name: str, dtype: str, sizes: tuple[ir.Operand, ...]) -> ir.Var:
        """A new array, whose allocation without initial values is appended."""
        var = ir.Var(name, Type(dtype, (ANY,) * len(sizes)), buffer=True)
        self.stmts.append(ir.Alloc(var, "empty", sizes, {}, self.loc))
        return var

    def range(self, index: ir.Var, bound: ir.Operand, stmts: list[ir.Stmt]) -> ir.For:
        """The loop ``for index in range(bound)`` around the statements; not appended."""
        return ir.For(index, ir.Const(0, INT), bound, ir.Const(1, INT), (), ir.Block((), stmts), loc=self.loc)

    def at_once(self, index: ir.Var, bound: ir.Operand, stmts: list[ir.Stmt]) -> ir.For:
        """The parallel loop ``for index in prange(bound)`` around the statements; not appended."""
        return replace(self.range(index, bound, stmts), kind="parallel")

    def nest(self, sizes: tuple[ir.Operand, ...], stmts: list[ir.Stmt], indices: list[ir.Var]) -> list[ir.Stmt]:
        """The statements in loops over ``indices`` from 0 up to the sizes, the first one outermost; not appended."""
        for index, size in zip(indices[::-1], sizes[::-1]):
            stmts = [self.range(index, size, stmts)]
        return stmts

    # ---- number of chunks

    def work(self) -> Work:
        """A new estimate of the work of this loop, which appends what it computes."""
        return Work(self.lets, {*defined(self.loop.body), self.loop.index}, self.floating, self.size)

    def count(self, least: float) -> ir.Var | None:
        """The variable with the number of chunks, each with at least ``least`` work; None if more than one never pays. Sets
        ``is_uneven``: whether the chunks must differ in size to have the same work."""
        loop, threads, reach = self.loop, self.threads, self.plan.reach
        work = self.work()
        whole: ir.Operand | float = work.loop(loop)
        self.is_uneven = loop.index in work.asked and not reach
        is_long = [self.is_long(product) for product in work.products]
        if None in is_long:
            return None
        each: ir.Operand | float = least
        for sizes in self.plan.shared.values():
            part: ir.Operand | float = _PART * threads
            for size in sizes:
                part = work.times(part, work.value(size))
            each = work.plus(each, part)
        most: ir.Operand = ir.Const(threads, INT)
        if isinstance(whole, float) and isinstance(each, float):
            if whole < 2 * each:
                return None
        else:
            if isinstance(each, float):
                share = _operand(work.times(whole, 1.0 / each))
            else:
                share = self.floating("div", _operand(whole), each)
            enough = self.let("greater", share, ir.Const(float(threads), FLOAT), type=BOOL)
            most = self.let("where", enough, most, self.let("cast", share, type=Type("int64")))
        for test in is_long:
            if isinstance(test, ir.Var):
                most = self.let("where", test, most, ir.Const(1, INT))
        limit: ir.Operand = self.trips if self.limit is None else self.limit
        if reach:
            limit = self.let("quick_div", self.let("maximum", limit, ir.Const(0, INT)), ir.Const(2 * reach, INT))
        chunks = self.let("minimum", limit, most)
        chunks.name = "chunks"
        return chunks

    def choice(self, chunks: ir.Var) -> list[ir.Stmt]:
        """The statements so far and a branch: the chunks if there are several, else a copy of the original loop."""
        loop = self.loop
        serial = Cloner({}).stmt(loop)
        assert isinstance(serial, ir.For)
        test = self.let("greater", chunks, ir.Const(1, INT), type=BOOL)
        before, self.stmts = self.stmts, []
        totals = self.parallel(chunks)
        results = tuple(loop.results)
        choice = ir.If(
            test, ir.Block((), self.stmts, totals), ir.Block((), [serial], serial.results), results, loop.loc
        )
        return [*before, choice]

    def is_long(self, product: ir.Operand | float) -> ir.Var | bool | None:
        """Whether a product with this work may run in several threads at once, in view of the locks of BLAS: it is tiny, or
        long.

        True or None (never) for a number; for an operand a boolean variable, computed by appended statements.
        """
        if isinstance(product, float):
            return product <= _TINY or product >= _LONG or None
        bounds = [
            self.let(p, product, ir.Const(x, FLOAT), type=BOOL)
            for p, x in (("less_equal", _TINY), ("greater_equal", _LONG))
        ]
        return self.let("logical_or", *bounds, type=BOOL)

    # ---- the chunks

    def parallel(self, chunks: ir.Var) -> tuple[ir.Operand, ...]:
        """Appends the statements for several chunks; returns the carried values after them."""
        plan, loop = self.plan, self.loop
        index, phase = ir.Var("c", INT), ir.Var("phase", INT) if plan.reach else None
        parts = {v: self.array(f"{v.label}_parts", v.type.dtype, (chunks, *s)) for v, s in plan.shared.items()}
        count = self.sums_of(chunks)
        sums = [self.array("sums", p.type.dtype, (count,)) for p in loop.body.params]
        starts = self.starts(chunks) if self.is_uneven else None
        outside, self.stmts = self.stmts, []
        first, last = self.ends(index, phase, chunks, starts)
        for var, part in parts.items():
            self.stmts += self.fill(var, part, index, phase)
        body = replace(loop.body, stmts=[_redirected(s, parts, index) for s in loop.body.stmts])
        results = tuple(ir.Var(r.name, r.type) for r in loop.results)
        backwards = loop.backwards and plan.raises
        own = replace(
            loop, start=first, bound=last, inits=self.inits(), body=body, results=results, backwards=backwards
        )
        at: ir.Var = index
        if sums and phase is not None:
            at = self.let("add", self.let("mul", phase, chunks), index)
        self.stmts += [own, *(ir.Store(s, points(1), (at,), r, self.loc) for s, r in zip(sums, results))]
        inside, self.stmts = self.stmts, outside
        self.run(index, phase, chunks, inside)
        kinds = zip(plan.folds, loop.inits, loop.results)
        totals = tuple(self.fold(s, count, *kind) for s, kind in zip(sums, kinds))
        for var, part in parts.items():
            self.merge(var, part, chunks)
        return totals

    def inits(self) -> tuple[ir.Operand, ...]:
        """Initial carried values of a chunk, which do not change the result if folded in again: 0 for sums, 1 for products,
        those of the loop for maxima and minima."""
        loop, folds = self.loop, self.plan.folds
        return tuple(
            _number(neutral_of(f.prim, p.type.dtype), p.type) if record_of(f.prim).is_polynomial else init
            for f, p, init in zip(folds, loop.body.params, loop.inits)
        )

    def sums_of(self, chunks: ir.Var) -> ir.Operand:
        """Number of partial results of a carried value: ``chunks``, or with two phases ``2 * chunks - 1``."""
        if not self.plan.reach or not self.loop.body.params:
            return chunks
        return self.let("sub", self.let("mul", chunks, ir.Const(2, INT)), ir.Const(1, INT))

    def ends(
        self, index: ir.Var, phase: ir.Var | None, chunks: ir.Var, starts: ir.Var | None
    ) -> tuple[ir.Operand, ir.Operand]:
        """A pair of operands: the first iteration of chunk ``index`` and the one after its last; with a ``phase``, of the part
        of the chunk that runs in this phase. ``starts``: see `start`."""
        if self.loop.backwards and self.plan.raises:
            index = self.let("sub", self.let("sub", chunks, ir.Const(1, INT)), index)
        after = self.let("add", index, ir.Const(1, INT))
        low, high = (self.let("add", self.loop.start, self.start(k, chunks, starts)) for k in (index, after))
        if phase is None:
            return low, high
        least = self.let("sub", high, ir.Const(self.plan.reach, INT))
        middle = self.let("where", self.let("less", after, chunks, type=BOOL), least, high)
        late = self.let("greater", phase, ir.Const(0, INT), type=BOOL)
        return self.let("where", late, middle, low), self.let("where", late, high, middle)

    def start(self, k: ir.Var, chunks: ir.Var, starts: ir.Var | None) -> ir.Var:
        """The variable with the first iteration of chunk ``k``, counted from the start of the loop. ``starts`` is an array of
        these; None if all chunks are of one size."""
        if starts is not None:
            return self.read(starts, k)
        return self.let("quick_div", self.let("mul", self.trips, k), chunks)

    def starts(self, chunks: ir.Var) -> ir.Var:
        """Array of the starts of chunks if the work of iterations grows or falls with the index: each chunk gets the same work.
        Appends the loop that fills it.

        With work ``a`` of the first iteration and ``b`` of the last, a fraction ``f`` of all work is done after the fraction
        ``f * (a + b) / (a + sqrt(a**2 + f * (b**2 - a**2)))`` of the iterations. Chunks read their end from the array, because
        a number that is computed twice may be rounded in two ways, and an iteration be lost.
        """
        loop, one = self.loop, ir.Const(1.0, FLOAT)
        starts = self.array("starts", "int64", (self.let("add", chunks, ir.Const(1, INT)),))
        works = [_operand(self.work().trip(loop, at)) for at in (loop.start, loop.bound)]
        squares = [self.floating("add", self.floating("mul", x, x), one) for x in works]  # never 0
        a, b = (self.floating("sqrt", x) for x in squares)
        k, before, next_ = ir.Var("k", INT), ir.Var("start", INT), ir.Var("start", INT)
        outside, self.stmts = self.stmts, []
        part = self.floating("div", self.floating("cast", k), self.floating("cast", chunks))
        more = self.floating("mul", part, self.floating("sub", squares[1], squares[0]))
        root = self.floating("sqrt", self.floating("add", squares[0], more))
        done = self.floating("mul", part, self.floating("add", a, b))
        done = self.floating("div", done, self.floating("add", a, root))
        trips = self.let("cast", self.floating("mul", done, self.floating("cast", self.trips)), type=Type("int64"))
        inside = self.let("maximum", before, self.let("minimum", trips, self.trips))
        is_last = self.let("equal", k, chunks, type=BOOL)
        self.stmts.append(ir.Let(next_, "where", (is_last, self.trips, inside), {}, self.loc))
        self.stmts.append(ir.Store(starts, points(1), (k,), next_, self.loc))
        body, self.stmts = ir.Block((before,), self.stmts, (next_,)), outside
        bound = self.let("add", chunks, ir.Const(1, INT))
        self.stmts.append(
            ir.For(
                k,
                ir.Const(0, INT),
                bound,
                ir.Const(1, INT),
                (ir.Const(0, INT),),
                body,
                (ir.Var("", INT),),
                loc=self.loc,
            )
        )
        return starts

    def read(self, array: ir.Var, index: ir.Var) -> ir.Var:
        """The variable with an element of an array of rank 1, whose read is appended."""
        value = ir.Var(ir.SYNTHETIC, Type(array.type.dtype))
        self.stmts.append(ir.Let(value, "index", (array, index), {"path": points(1), "dims": ()}, self.loc))
        return value

    def run(self, index: ir.Var, phase: ir.Var | None, chunks: ir.Var, inside: list[ir.Stmt]) -> None:
        """Appends the parallel loop over the chunks with the body ``inside``, in two phases if there is a ``phase``."""
        if phase is None:
            self.stmts.append(self.at_once(index, chunks, inside))
            return
        outside, self.stmts = self.stmts, []
        count = self.let("sub", chunks, phase)
        self.stmts.append(self.at_once(index, count, inside))
        outside.append(self.range(phase, ir.Const(2, INT), self.stmts))
        self.stmts = outside

    # ---- sums

    def fill(self, var: ir.Var, part: ir.Var, index: ir.Var, phase: ir.Var | None) -> list[ir.Stmt]:
        """Statements that set the chunk ``index``'s row of ``part``, the parts of the array ``var``, to 0; with a ``phase``
        only in the first one."""
        sizes = self.plan.shared[var]
        indices = _indices(sizes)
        store = ir.Store(part, points(len(sizes) + 1), (index, *indices), _number(0, Type(var.type.dtype)), self.loc)
        stmts = self.nest(sizes, [store], indices)
        if phase is None:
            return stmts
        early = self.let("equal", phase, ir.Const(0, INT), type=BOOL)
        return [ir.If(early, ir.Block((), stmts), ir.Block(), (), self.loc)]

    def merge(self, var: ir.Var, part: ir.Var, chunks: ir.Var) -> None:
        """Appends loops that add the parts of all chunks, the rows of ``part``, to the array ``var``."""
        c, sizes = ir.Var("c", INT), self.plan.shared[var]
        indices = _indices(sizes)
        value = ir.Var(ir.SYNTHETIC, Type(var.type.dtype))
        path = points(len(sizes) + 1)
        get = ir.Let(value, "index", (part, c, *indices), {"path": path, "dims": ()}, self.loc)
        add = ir.Add(var, points(len(sizes)), tuple(indices), value, self.loc)
        self.stmts.append(self.range(c, chunks, self.nest(sizes, [get, add], indices)))

    def fold(self, sums: ir.Var, count: ir.Operand, kind: Fold, init: ir.Operand, result: ir.Var) -> ir.Var:
        """The variable with ``init`` and the first ``count`` elements of ``sums`` folded together by ``kind``, in order;
        appends the loop that does it. It is new, with the name and type of ``result``."""
        c, total, found = ir.Var("c", INT), ir.Var(result.name, result.type), ir.Var(result.name, result.type)
        value, new = ir.Var(ir.SYNTHETIC, Type(result.type.dtype)), ir.Var(ir.SYNTHETIC, result.type)
        get = ir.Let(value, "index", (sums, c), {"path": points(1), "dims": ()}, self.loc)
        folded = ir.Let(new, kind.prim, (total, value), {"py": True} if kind.py else {}, self.loc)
        body = ir.Block((total,), [get, folded], (new,))
        self.stmts.append(ir.For(c, ir.Const(0, INT), count, ir.Const(1, INT), (init,), body, (found,), loc=self.loc))
        return found


def _operand(x: ir.Operand | float) -> ir.Operand:
    """A number as a constant; an operand as it is."""
    return ir.Const(x, FLOAT) if isinstance(x, float) else x


def _number(value: int, type_: Type) -> ir.Const:
    """The number as a constant of this type."""
    return ir.Const(float(value) if type_.is_float else value, type_)


def _indices(sizes: tuple[ir.Operand, ...]) -> list[ir.Var]:
    """New index variables, one for each size."""
    return [ir.Var("ijklmn"[k] if k < 6 else f"i{k}", INT) for k in range(len(sizes))]


def _redirected(stmt: ir.Stmt, parts: Mapping[ir.Var, ir.Var], index: ir.Var) -> ir.Stmt:
    """The statement with additions to shared arrays redirected to the part of the chunk ``index``; ``parts`` maps each array to
    its parts."""
    if isinstance(stmt, ir.Add) and stmt.buf in parts:
        args = (index, *stmt.args)
        return replace(stmt, buf=parts[stmt.buf], path=points(len(args)), args=args)
    if not blocks(stmt):
        return stmt
    return with_blocks(stmt, lambda b: replace(b, stmts=[_redirected(s, parts, index) for s in b.stmts]))
