"""Memory that nobody reads any more holds the next array: fewer bytes to move, fewer pages to ask the system for.

    t = np.empty((n,))                    x_bar = np.empty((n,))
    for i in range(n):                    for i in range(n):
        t[i] = math.exp(x[i])                 x_bar[i] = math.exp(x[i])
    x_bar = np.empty((n,))        ->      for i in range(n):
    for i in range(n):                        x_bar[i] = x_bar[i] / total
        x_bar[i] = t[i] / total

Two arrays of one shape that a block makes become one if the first is read for the last time before the second is written, or in
one loop with it, whose trips read, of the first, only the element that they write afterwards.
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
    """The function with fewer arrays."""
    return _Reuse(fn).function()


@dataclass(slots=True)
class _Piece:
    """Memory, and the arrays that have it one after the other; ``first`` and ``last``: the statements between which it is used."""

    arrays: list[ir.Var]
    made: ir.Alloc
    first: int
    last: int
    stays: bool  # after the block


@dataclass(slots=True)
class _Use:
    """Of an array in a statement: the places that are touched, each time the loops around, whether it is used by name."""

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
        self.made: dict[int, ir.Alloc | None] = {}  # what stands for an allocation

    def function(self) -> ir.Function:
        self.search(self.fn.body)
        return replace(self.fn, body=self.rewritten(self.fn.body)) if self.same else self.fn

    def find_handed_on(self) -> set[ir.Var]:
        """The roots of what has another name at some time, or is there after the block that makes it."""
        found: set[ir.Operand] = set(leaves(self.fn.body))
        for stmt in statements(self.fn.body):
            if isinstance(stmt, ir.Push):
                found.add(stmt.value)
            if isinstance(stmt, (ir.For, ir.While)):
                found.update(stmt.inits)
            for block in blocks(stmt):
                found.update(leaves(block))
        return {self.roots.of(o) for o in found if isinstance(o, ir.Var) and is_array(o)}

    # ---- which

    def search(self, block: ir.Block) -> None:
        for pieces in self.pieces(block.stmts).values():
            self.join(block.stmts, pieces)
        for stmt in block.stmts:
            for inner in blocks(stmt):
                self.search(inner)

    def pieces(self, stmts: Sequence[ir.Stmt]) -> dict[tuple[str, Shape], list[_Piece]]:
        """The arrays that the statements make and use, by their shapes; those of known sizes lie in registers."""
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
        """Notes which arrays of one shape become one."""
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
            if len(piece.arrays) > 1:  # the last one is a result, if there is one
                named = [v for v in piece.arrays if v.name != ir.SYNTHETIC]
                name = piece.arrays[-1] if piece.stays or not named else named[0]
                self.same.update((var, name) for var in piece.arrays)
                self.made[id(piece.made)] = replace(piece.made, var=name)

    def may_follow(self, stmts: Sequence[ir.Stmt], one: _Piece, two: _Piece) -> bool:
        if one.last == two.first:
            return self.in_step(stmts[one.last], one.arrays[-1], two.arrays[0])
        return one.last < two.first

    # ---- both in one loop

    def in_step(self, stmt: ir.Stmt, one: ir.Var, two: ir.Var) -> bool:
        """Whether a trip reads of ``one`` the element alone that it writes of ``two`` afterwards."""
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
        held = self.uses.get(id(stmt))
        if held is None:
            held = self.uses[id(stmt)] = defaultdict(_Use)
            self.visit(stmt, (), held)
        return held

    def visit(self, stmt: ir.Stmt, around: tuple[ir.For, ...], used: dict[ir.Var, _Use]) -> None:
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
        """Whether all that a trip does with ``one`` comes before all that it does with ``two``."""
        last = max((k for k, s in enumerate(body.stmts) if one in self.touches.of(s).uses), default=-1)
        first = min((k for k, s in enumerate(body.stmts) if two in self.touches.of(s).uses), default=len(body.stmts))
        return last < first

    # ---- the new text

    def rewritten(self, block: ir.Block) -> ir.Block:
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
        return self.same.get(var, var)
