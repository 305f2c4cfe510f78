"""Recomputes temporaries that several nests read at their own offsets and that cost no more to compute than to read.

    t[i] = 0.2 * a[i]                     b[i] += 0.2 * a[i]
    b[i] += t[i]                ->        b[i + 1] += 0.2 * a[i]
    b[i + 1] += t[i]

The operands of the temporary must still be there: a nest that overwrites them moves after the readers.
"""

from __future__ import annotations

from transpile.analysis.accesses import Touches, accesses
from transpile.analysis.affine import form_of
from transpile.core import nodes as ir
from transpile.core.walk import Cloner, blocks, leaves, reads, statements
from transpile.loops.boxes import REALS, Boxes, Nest

STEPS = 2  # operations that may be recomputed


class Sources:
    """The temporaries of one function, with their readers and writers."""

    def __init__(self, fn: ir.Function, boxes: Boxes, touches: Touches) -> None:
        self.boxes, self.touches = boxes, touches
        self.allocs: set[ir.Var] = set()
        self.readers: dict[ir.Var, list[ir.Let]] = {}
        self.writers: dict[ir.Var, list[ir.Stmt]] = {}
        self.whole: set[ir.Operand] = set(leaves(fn.body))
        for stmt in statements(fn.body):
            self._learn(stmt)

    def _learn(self, stmt: ir.Stmt) -> None:
        """Notes what a statement allocates, reads, writes and uses as a whole."""
        if isinstance(stmt, ir.Alloc) and stmt.prim == "empty":
            self.allocs.add(stmt.var)
        for inner in blocks(stmt):
            self.whole.update(leaves(inner))
        if isinstance(stmt, ir.Let) and stmt.prim == "index":
            self.readers.setdefault(stmt.args[0], []).append(stmt)  # type: ignore[arg-type]
            self.whole.update(stmt.args[1:])
            return
        self.whole.update(reads(stmt))
        for a in accesses(stmt):
            if a.kind != "read":
                self.writers.setdefault(a.var, []).append(stmt)

    def seen_through(self, nests: list[Nest], stmts: list[ir.Stmt]) -> tuple[list[Nest], list[ir.Stmt]]:
        """A pair: the nests with cheap temporaries recomputed, and the statements that must then move after all nests, because
        they overwrite what is now read later. The same nests and no statements if nothing can be recomputed.

        ``stmts``: the statements of the block up to the last nest. Cheap: at most one read and `STEPS` operations per element.
        """
        known = self._candidates(nests, stmts)
        while known:
            moved = self._moved(known, nests, stmts)
            if isinstance(moved, list):
                return [self._without(n, known) for n in nests], moved
            del known[moved]
            self._settle(known, nests)
        return nests, []

    def is_made_beside(self, nests: list[Nest], stmts: list[ir.Stmt]) -> bool:
        """Whether one of the statements fills an array that the nests read and that is expensive to recompute: fusing this
        statement with a nest then saves more."""
        arrays = {let.args[0] for n in nests for let in n.lets if let.prim == "index"}
        makers = [m for a in arrays if isinstance(a, ir.Var) and (m := self._made(a, stmts)) is not None]
        return any(self._is_dear(m, {}) for m in makers)

    # ---- temporaries to recompute

    def _candidates(self, nests: list[Nest], stmts: list[ir.Stmt]) -> dict[ir.Var, Nest]:
        """Temporaries that the nests can recompute, directly or through others, each with the nest that fills it."""
        known: dict[ir.Var, Nest] = {}
        work = list(nests)
        while work:
            nest = work.pop()
            for let in nest.lets:
                array = let.args[0] if let.prim == "index" else None
                if isinstance(array, ir.Var) and array not in known and array in self.allocs:
                    made = self._made(array, stmts)
                    if made is not None:
                        known[array] = made
                        work.append(made)
        self._settle(known, nests)
        return known

    def _made(self, array: ir.Var, stmts: list[ir.Stmt]) -> Nest | None:
        """The nest that fills a temporary; None if there is not exactly one, or the array is used whole."""
        writers = self.writers.get(array, [])
        if len(writers) != 1 or array in self.whole or array.type.dtype not in REALS:
            return None
        for stmt in stmts:
            nest = self.boxes.of(stmt)
            if nest is not None and nest.write is writers[0] and isinstance(nest.write, ir.Store):
                return nest if len(nest.axes) == len(nest.low) else None
        return None

    def _settle(self, known: dict[ir.Var, Nest], nests: list[Nest]) -> None:
        """Removes temporaries from ``known`` until all that remain are cheap, read by these nests only, and read only where
        they were filled."""
        while True:
            inside = [*nests, *known.values()]
            lets = {id(let) for n in inside for let in n.lets}
            for array in known:
                readers = self.readers.get(array, [])
                if not all(id(r) in lets for r in readers):
                    break
                if not all(
                    self._is_covered(n, let, known[array]) for n in inside for let in n.lets if let.args[:1] == (array,)
                ):
                    break
                if self._is_dear(known[array], known):
                    break
            else:
                return
            del known[array]

    def _is_covered(self, reader: Nest, let: ir.Let, made: Nest) -> bool:
        """Whether surely all elements that ``let`` reads in the nest ``reader`` were filled by the nest ``made``."""
        for axis, at in enumerate(let.args[1:]):
            low = high = self.boxes.forms.of(at)
            for loop in reader.loops:
                first, after = self.boxes.ends(loop)
                if low.coefficient(loop.index) < 0:
                    return False
                low, high = low.replaced(loop.index, first), high.replaced(loop.index, after - 1)
            gaps = (low - made.low[axis], made.high[axis] - high - 1)
            if any(g.terms or g.const < 0 for g in gaps):
                return False
        return True

    def _is_dear(self, nest: Nest, known: dict[ir.Var, Nest]) -> bool:
        """Whether recomputing an element takes more than one read or more than `STEPS` operations, with the temporaries in
        ``known`` recomputed too."""
        reads, steps = self._cost(nest, known)
        return reads > 1 or steps > STEPS

    def _cost(self, nest: Nest, known: dict[ir.Var, Nest]) -> tuple[int, int]:
        """A pair of the numbers of reads and of non-integer operations in one iteration. Reads of temporaries in ``known``
        count as what recomputing them costs."""
        found = [0, 0]
        for let in nest.lets:
            if let.prim == "index":
                array = let.args[0]
                more = self._cost(known[array], known) if isinstance(array, ir.Var) and array in known else (1, 0)
                found = [found[0] + more[0], found[1] + more[1]]
            elif not let.var.type.is_int:
                found[1] += 1
        return found[0], found[1]

    # ---- statements that overwrite operands

    def _moved(self, known: dict[ir.Var, Nest], nests: list[Nest], stmts: list[ir.Stmt]) -> list[ir.Stmt] | ir.Var:
        """The statements that must move after the nests, in order; or a temporary that must not be recomputed, because one of
        these statements cannot move."""
        place = {id(s): k for k, s in enumerate(stmts)}
        mine = {id(n.stmt) for n in nests}
        found: dict[int, ir.Stmt] = {}
        for array, nest in known.items():
            sources = self.touches.of(nest.stmt).read - {self.touches.roots.of(a) for a in known}
            for k in range(place[id(nest.stmt)] + 1, len(stmts)):
                touch = self.touches.of(stmts[k])
                if not sources & (touch.written | touch.added):
                    continue
                if id(stmts[k]) in mine or touch.raises or touch.acts or not isinstance(stmts[k], (ir.For, ir.Store)):
                    return array
                found[k] = stmts[k]
        for k, stmt in found.items():
            for j in range(k + 1, len(stmts)):
                if j not in found and self.touches.ordered(stmt, stmts[j]):
                    return self._first(known, stmt)
        return [found[k] for k in sorted(found)]

    def _first(self, known: dict[ir.Var, Nest], stmt: ir.Stmt) -> ir.Var:
        """A temporary in ``known`` whose operands a statement overwrites."""
        touch = self.touches.of(stmt)
        written = touch.written | touch.added
        return next(a for a, nest in known.items() if written & self.touches.of(nest.stmt).read)

    # ---- the nests without the temporaries

    def _without(self, nest: Nest, known: dict[ir.Var, Nest]) -> Nest:
        """The nest with the temporaries in ``known`` recomputed."""
        cloner = Cloner()
        lets: list[ir.Stmt] = []
        for let in nest.lets:
            self._copy(let, cloner, known, lets)
        write = cloner.stmt(nest.write)
        return Nest(nest.stmt, nest.loops, tuple(lets), write, nest.axes, nest.shifts, nest.low, nest.high)  # type: ignore[arg-type]

    def _copy(self, let: ir.Let, cloner: Cloner, known: dict[ir.Var, Nest], lets: list[ir.Stmt]) -> None:
        """Appends to ``lets`` a copy of the *let*, with a read of a temporary in ``known`` replaced by its computation."""
        array = let.args[0] if let.prim == "index" else None
        if not isinstance(array, ir.Var) or array not in known:
            lets.append(cloner.stmt(let))
            return
        made = known[array]
        inner = Cloner()
        for loop, axis in zip(made.loops, made.axes):
            at = cloner.operand(let.args[1 + axis])
            inner.mapping[loop.index] = self.boxes.operand(form_of(at) - made.shifts[axis], lets)
        for other in made.lets:
            self._copy(other, inner, known, lets)
        cloner.mapping[let.var] = inner.operand(made.write.value)
