"""Reuses the memory of arrays that are no longer read: less memory traffic, fewer pages requested from the system.

    t = np.empty((n,))                    x_bar = np.empty((n,))
    for i in range(n):                    for i in range(n):
        t[i] = math.exp(x[i])                 x_bar[i] = math.exp(x[i])
    x_bar = np.empty((n,))        ->      for i in range(n):
    for i in range(n):                        x_bar[i] = x_bar[i] / total
        x_bar[i] = t[i] / total

Two arrays of one shape allocated in a block become one if the last read of the first comes before the first write of the
second, or in one loop with it if each iteration reads, of the first, only the element that it writes afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import Roots, Touches, accesses, is_array
from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.walk import blocks, leaves, map_reads, reads, statements

Shape = tuple[Linear, ...]


def reuse_buffers(fn: ir.Function) -> ir.Function:
    """The function with arrays of one shape merged if their lifetimes do not overlap."""
    return _Reuse(fn).function()


@dataclass(slots=True)
class _Piece:
    """One allocation and the arrays that use it in turn; ``first`` and ``last``: positions of the first and last statement that
    uses it."""

    arrays: list[ir.Var]
    made: ir.Alloc
    first: int
    last: int
    stays: bool  # used after the block


@dataclass(slots=True)
class _Use:
    """Uses of an array in a statement: elements accessed, the loops around each access, and whether it is used whole."""

    places: set[tuple[Linear, ...]] = field(default_factory=set)
    around: list[tuple[ir.For, ...]] = field(default_factory=list)
    whole: bool = False


class _Reuse:
    def __init__(self, fn: ir.Function) -> None:
        self.fn = fn
        self.forms = Forms(fn.body)
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.handed_on = self.find_handed_on()
        self.uses: dict[int, dict[ir.Var, _Use]] = {}
        self.same: dict[ir.Var, ir.Var] = {}
        self.made: dict[int, ir.Alloc | None] = {}  # what replaces an allocation

    def function(self) -> ir.Function:
        """The function with arrays merged; the same object if there are none to merge."""
        self.search(self.fn.body)
        return replace(self.fn, body=self.rewritten(self.fn.body)) if self.same else self.fn

    def find_handed_on(self) -> set[ir.Var]:
        """Roots of arrays that are pushed, carried, yielded or returned, so that they may get an alias or outlive their
        block."""
        found: set[ir.Operand] = set(leaves(self.fn.body))
        for stmt in statements(self.fn.body):
            if isinstance(stmt, ir.Push):
                found.add(stmt.value)
            if isinstance(stmt, (ir.For, ir.While)):
                found.update(stmt.inits)
            for block in blocks(stmt):
                found.update(leaves(block))
        return {self.roots.of(o) for o in found if isinstance(o, ir.Var) and is_array(o)}

    # ---- arrays to merge

    def search(self, block: ir.Block) -> None:
        """Merges arrays that a block allocates, and those of the blocks inside: notes in ``same`` and ``made`` what replaces
        them."""
        for pieces in self.pieces(block.stmts).values():
            self.join(block.stmts, pieces)
        for stmt in block.stmts:
            for inner in blocks(stmt):
                self.search(inner)

    def pieces(self, stmts: Sequence[ir.Stmt]) -> dict[tuple[str, Shape], list[_Piece]]:
        """By dtype and shape, the arrays that the statements allocate and use, where there are several allocations; those of
        constant size are left out, as they live in registers."""
        found: dict[ir.Var, _Piece] = {}
        kinds: dict[tuple[str, Shape], list[_Piece]] = {}
        for k, stmt in enumerate(stmts):
            if not isinstance(stmt, ir.Alloc):
                if found:
                    for var in {self.roots.of(v) for v in self.touches.of(stmt).uses} & found.keys():
                        piece = found[var]
                        piece.first = k if piece.first < 0 else piece.first
                        piece.last = k
            elif stmt.prim == "empty" and stmt.args and self.roots.of(stmt.var) is stmt.var:
                shape = tuple(self.forms.of(a) for a in stmt.args)
                if any(form.terms for form in shape):
                    found[stmt.var] = piece = _Piece([stmt.var], stmt, -1, -1, stmt.var in self.handed_on)
                    kinds.setdefault((stmt.var.type.dtype, shape), []).append(piece)
        return {kind: [p for p in pieces if p.first >= 0] for kind, pieces in kinds.items() if len(pieces) > 1}

    def join(self, stmts: Sequence[ir.Stmt], pieces: list[_Piece]) -> None:
        """Merges arrays of one shape: a piece joins an earlier one whose memory it may use. Sorts ``pieces`` by first use, in
        place."""
        pieces.sort(key=lambda p: p.first)
        kept: list[_Piece] = []
        for piece in pieces:
            before = next((p for p in reversed(kept) if not p.stays and self.may_follow(stmts, p, piece)), None)
            if before is None:
                kept.append(piece)
                continue
            before.arrays += piece.arrays
            before.last, before.stays = piece.last, piece.stays
            self.made[id(piece.made)] = None
        for piece in kept:
            if len(piece.arrays) > 1:  # only the last one can be a result
                named = [v for v in piece.arrays if v.name != ir.SYNTHETIC]
                name = piece.arrays[-1] if piece.stays or not named else named[0]
                self.same.update((var, name) for var in piece.arrays)
                self.made[id(piece.made)] = replace(piece.made, var=name)

    def may_follow(self, stmts: Sequence[ir.Stmt], one: _Piece, two: _Piece) -> bool:
        """Whether the array ``two`` may use the memory of ``one``: it is first used after the last use of ``one``, or there in
        step with it."""
        if one.last == two.first:
            return self.in_step(stmts[one.last], one.arrays[-1], two.arrays[0])
        return one.last < two.first

    # ---- both in one loop

    def in_step(self, stmt: ir.Stmt, one: ir.Var, two: ir.Var) -> bool:
        """Whether each iteration of the loop ``stmt`` reads the array ``one`` only at the place at which it writes the array
        ``two`` afterwards."""
        if not isinstance(stmt, ir.For):
            return False
        used = self.used_in(stmt)
        a, b = used[one], used[two]
        places = a.places | b.places
        if a.whole or b.whole or len(places) != 1:
            return False
        (place,) = places
        around = a.around[0]
        own = [form.atoms for form in place]
        if any(len(v) != 1 or abs(form.coefficient(next(iter(v)))) != 1 for v, form in zip(own, place)):
            return False
        indices = {next(iter(v)) for v in own}
        depth = len(indices)
        if len(own) != depth or {loop.index for loop in around[:depth]} != indices:
            return False
        if any(loops[:depth] != around[:depth] for loops in (*a.around, *b.around)):
            return False
        return self.is_first_read(around[depth - 1].body, one, two)

    def used_in(self, stmt: ir.Stmt) -> dict[ir.Var, _Use]:
        """The uses of each root in a statement."""
        held = self.uses.get(id(stmt))
        if held is None:
            held = self.uses[id(stmt)] = defaultdict(_Use)
            self.visit(stmt, (), held)
        return held

    def visit(self, stmt: ir.Stmt, around: tuple[ir.For, ...], used: dict[ir.Var, _Use]) -> None:
        """Notes in ``used`` the uses of arrays in a statement, nested ones included; ``around``: the loops around it."""
        named: set[ir.Var] = set()
        for access in accesses(stmt):
            use = used[self.roots.of(access.var)]
            if access.indices is None or self.roots.of(access.var) is not access.var:
                use.whole = True
                continue
            named.add(access.var)
            use.places.add(tuple(self.forms.of(i) for i in access.indices))
            use.around.append(around)
        for op in (*reads(stmt), *(op for block in blocks(stmt) for op in leaves(block))):
            if isinstance(op, ir.Var) and is_array(op) and op not in named:
                used[self.roots.of(op)].whole = True
        inside = (*around, stmt) if isinstance(stmt, ir.For) else around
        for block in blocks(stmt):
            for inner in block.stmts:
                self.visit(inner, inside, used)
        if isinstance(stmt, ir.While):
            for var in self.touches.of(stmt).uses:
                used[self.roots.of(var)].whole = True

    def is_first_read(self, body: ir.Block, one: ir.Var, two: ir.Var) -> bool:
        """Whether all uses of ``one`` in an iteration come before all uses of ``two``."""
        last = max((k for k, s in enumerate(body.stmts) if one in self.touches.of(s).uses), default=-1)
        first = min((k for k, s in enumerate(body.stmts) if two in self.touches.of(s).uses), default=len(body.stmts))
        return last < first

    # ---- rewriting

    def rewritten(self, block: ir.Block) -> ir.Block:
        """The block with merged arrays under one name, nested blocks included, and without the allocations that are no longer
        needed."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            made = self.made.get(id(stmt), stmt)
            if made is not None:
                new = map_reads(made, self.operand, self.root)
                stmts.append(with_blocks(new, self.rewritten))
        return replace(block, stmts=stmts)

    def operand(self, op: ir.Operand) -> ir.Operand:
        return self.root(op) if isinstance(op, ir.Var) else op

    def root(self, var: ir.Var) -> ir.Var:
        """The array that replaces ``var``; ``var`` itself if none does."""
        return self.same.get(var, var)
