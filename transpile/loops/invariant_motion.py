"""Loop-invariant code motion: expensive values that do not depend on an outer loop are computed once, into an array, before
that loop.

    for i in range(n):                         for c in range(k):
        for c in range(k):                         scale[c] = exp(-log_scale[c])
            z = x[i] * exp(-log_scale[c])  ->  for i in range(n):
            ...                                    for c in range(k):
                                                       z = x[i] * scale[c]

They are computed only if the outer loop, and each loop around the value, has an iteration: nothing else proves that the
elements read exist. A value that is read after a check in the outer loop stays there, because otherwise the check would come
too late.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from transpile.analysis.accesses import Roots, Touches, is_pure
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.types import BOOL, INT, Type
from transpile.core.walk import Cloner, blocks, defined
from transpile.loops.array_contraction import points
from transpile.loops.check_hoisting import raises
from transpile.loops.small_integers import Small
from transpile.ops.tables import record_of


def move_invariants(fn: ir.Function) -> ir.Function:
    """The function with expensive invariant values of inner loops computed before the outermost loop that they do not depend
    on."""
    return with_body(fn, _Moving(fn).block(fn.body))


class _Moving:
    def __init__(self, fn: ir.Function) -> None:
        self.roots = Roots(fn)
        self.touches = Touches(self.roots)
        self.small = Small(fn)

    def block(self, block: ir.Block) -> ir.Block:
        """The block with values hoisted out of its loops, outer loops first."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, ir.For) and stmt.body.stop is None:
                before, stmt = _Out(self, stmt).run()
                stmts += before
            stmts.append(with_blocks(stmt, self.block) if blocks(stmt) else stmt)
        return with_stmts(block, stmts)


@dataclass
class _Nest:
    """Loops inside the outer one, and the *lets* of their bodies seen so far."""

    loops: tuple[ir.For, ...]
    lets: dict[ir.Var, ir.Let]


class _Out:
    """Hoists values out of one outer loop."""

    def __init__(self, around: _Moving, outer: ir.For) -> None:
        self.around, self.outer = around, outer
        self.own = {outer.index, *defined(outer.body)}
        touch = around.touches.of(outer)
        self.written = touch.written | touch.added
        self.before: list[ir.Stmt] = []
        self.made: dict[Hashable, ir.Var] = {}  # the arrays, by the key of their values
        self.guarded: set[ir.Var] = set()  # values read after a check in the outer loop
        self.sizes: dict[ir.Operand, ir.Var] = {}  # bounds, clipped at 0

    def run(self) -> tuple[list[ir.Stmt], ir.For]:
        """A pair of the statements before the outer loop, and the loop with reads of the arrays in place of the values; no
        statements and the same loop if nothing moves."""
        body = self.block(self.outer.body, _Nest((), {}))
        if not self.before:
            return [], self.outer
        outer = replace(self.outer, body=body)
        loops = [s for s in self.before if isinstance(s, (ir.For, ir.If))]
        others: list[ir.Stmt] = [s for s in self.before if not isinstance(s, (ir.For, ir.If))]
        test = ir.Var(ir.SYNTHETIC, BOOL)
        ends = (outer.start, outer.bound)
        if not isinstance(outer.step, ir.Const) or outer.step.value < 0:
            ends = (outer.bound, outer.start)
        asked = ir.Let(test, "less", ends, {}, outer.loc)
        return [*others, asked, ir.If(test, ir.Block((), list(loops)), ir.Block(), (), outer.loc)], outer

    def block(self, block: ir.Block, nest: _Nest, asked: bool = False) -> ir.Block:
        """The block with reads of the arrays. ``nest``: the loops between the outer one and the block; ``asked``: a check of
        the outer loop stands before."""
        stmts: list[ir.Stmt] = []
        lets = dict(nest.lets)
        for stmt in block.stmts:
            if isinstance(stmt, ir.Let):
                lets[stmt.var] = stmt
                if asked and stmt.prim == "index":
                    self.guarded.add(stmt.var)
                if record_of(stmt).is_dear and nest.loops and self.is_fixed(stmt, nest.loops, lets):
                    stmt = self.moved(stmt, nest.loops, lets)
            elif isinstance(stmt, ir.For) and self.is_plain(stmt):
                stmt = replace(stmt, body=self.block(stmt.body, _Nest((*nest.loops, stmt), lets), asked))
            asked = asked or (isinstance(stmt, (ir.Effect, ir.If)) and raises(stmt))
            stmts.append(stmt)
        return replace(block, stmts=stmts)

    def is_plain(self, loop: ir.For) -> bool:
        """Whether a loop starts at 0 with a bound that is invariant in the outer loop and no larger than array sizes, so that
        an array with one value for each iteration is not too large."""
        if loop.body.stop is not None or not isinstance(loop.step, ir.Const) or loop.step.value != 1:
            return False
        if not isinstance(loop.start, ir.Const) or loop.start.value != 0 or loop.bound in self.own:
            return False
        return self.around.small.is_small(loop.bound)

    def is_fixed(self, let: ir.Let, loops: tuple[ir.For, ...], lets: dict[ir.Var, ir.Let]) -> bool:
        """Whether ``let`` depends on nothing in the outer loop except the indices of ``loops``, and on at least one of them."""
        indices = {loop.index for loop in loops}
        used: set[ir.Var] = set()

        def fixed(op: ir.Operand) -> bool:
            if not isinstance(op, ir.Var) or op not in self.own:
                return True
            if op in indices:
                used.add(op)
                return True
            made = lets.get(op)
            return made is not None and self.is_steady(made) and all(fixed(a) for a in made.args)

        return is_pure(let) and all(fixed(a) for a in let.args) and bool(used)

    def is_steady(self, let: ir.Let) -> bool:
        """Whether a statement surely gives the same value in all iterations of the outer loop if its operands do; no array it
        reads may be written there."""
        if let.prim == "index":
            source = let.args[0]
            if let.var in self.guarded or not isinstance(source, ir.Var) or source in self.own:
                return False
            return self.around.roots.of(source) not in self.written
        return is_pure(let) and not let.var.type.dims and let.var.type.kind == "array"

    def moved(self, let: ir.Let, loops: tuple[ir.For, ...], lets: dict[ir.Var, ir.Let]) -> ir.Let:
        """The read of the array that now holds the value of ``let``. The allocation of the array and the nest that fills it are
        put before the outer loop."""
        used = [loop for loop in loops if self.depends(let, loop.index, lets)]
        others = [loop for loop in loops if not any(loop is u for u in used) and not has_trips(loop)]
        key = (self.key(let.var, used, lets), *(self.key(loop.bound, [], lets) for loop in others))
        params = {"path": points(len(used)), "dims": ()}
        if key in self.made:
            return ir.Let(let.var, "index", (self.made[key], *(loop.index for loop in used)), params, let.loc)
        array = ir.Var(let.var.name, Type(let.var.type.dtype, (ANY,) * len(used)), buffer=True)
        self.before.append(ir.Alloc(array, "empty", tuple(self.size(loop) for loop in used), {}, let.loc))
        copy = Cloner()
        indices = [copy.fresh(loop.index) for loop in used]
        stmts: list[ir.Stmt] = []

        def compute(op: ir.Operand) -> None:
            if isinstance(op, ir.Var) and op in self.own and op not in copy.mapping:
                made = lets[op]
                for a in made.args:
                    compute(a)
                stmts.append(copy.stmt(made))

        compute(let.var)
        stmts.append(ir.Store(array, points(len(used)), tuple(indices), copy.operand(let.var), let.loc))
        for loop, index in zip(used[::-1], indices[::-1]):
            body = ir.Block((), stmts)
            stmts = [replace(loop, index=index, inits=(), results=(), trips=None, backwards=False, body=body)]
        for loop in others:
            test = ir.Var(ir.SYNTHETIC, BOOL)
            self.before.append(ir.Let(test, "less", (loop.start, loop.bound), {}, loop.loc))
            stmts = [ir.If(test, ir.Block((), stmts), ir.Block(), (), loop.loc)]
        self.before += stmts
        self.made[key] = array
        return ir.Let(let.var, "index", (array, *(loop.index for loop in used)), params, let.loc)

    def size(self, loop: ir.For) -> ir.Operand:
        """The operand with the number of iterations of a loop from 0 to its bound; computed before the outer loop, since the
        bound may be negative."""
        if isinstance(loop.bound, ir.Const):
            return ir.Const(max(loop.bound.value, 0), INT)
        if loop.bound not in self.sizes:
            self.sizes[loop.bound] = size = ir.Var(ir.SYNTHETIC, INT)
            self.before.append(ir.Let(size, "maximum", (loop.bound, ir.Const(0, INT)), {"py": True}, loop.loc))
        return self.sizes[loop.bound]

    def key(self, op: ir.Operand, loops: list[ir.For], lets: dict[ir.Var, ir.Let]) -> Hashable:
        """A key that is equal only for operands that always have equal values; the indices of ``loops`` count by position and
        bound."""
        if not isinstance(op, ir.Var):
            return repr(op)
        for k, loop in enumerate(loops):
            if op is loop.index:
                return (k, loop.bound if isinstance(loop.bound, ir.Var) else repr(loop.bound))
        if op not in self.own:
            return op
        let = lets[op]
        return (let.prim, repr(sorted(let.params.items(), key=str)), *(self.key(a, loops, lets) for a in let.args))

    def depends(self, let: ir.Let, index: ir.Var, lets: dict[ir.Var, ir.Let]) -> bool:
        """Whether a value depends on an index, directly or through ``lets``."""
        return any(
            a is index or (a in self.own and a in lets and self.depends(lets[a], index, lets))
            for a in let.args
            if isinstance(a, ir.Var)
        )


def has_trips(loop: ir.For) -> bool:
    """Whether a loop that starts at 0 is known to have an iteration."""
    return isinstance(loop.bound, ir.Const) and loop.bound.value > 0
