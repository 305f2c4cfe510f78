"""Splits nests that add to several elements of one array per iteration, and do other work, into several nests.

    for i in range(1, n):                 for i in range(1, n):
        t = 0.5 * y[i]                        u[i - 1] = y[i]
        y[i] = 0.0                            y[i] = 0.0
        x[i] += t                ->       for i in range(1, n):
        x[i - 1] += t                         x[i] += 0.5 * u[i - 1]
        x[i + 1] += t                     ...

`transpile.loops.scatter_to_gather` can then gather them. Nothing else in the nest may touch the array that is added to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import Touches
from transpile.analysis.affine import form_of
from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.types import INT, Type
from transpile.core.walk import Cloner
from transpile.loops.array_contraction import points
from transpile.loops.boxes import Boxes, Nest, is_scalar, is_simple, number
from transpile.ops.tables import record_of

MOST = 2  # arrays allocated to hold values


@dataclass
class Split:
    """One nest, and the nests that replace it."""

    loops: list[ir.For]
    lets: dict[ir.Var, ir.Let]
    stmts: list[ir.Stmt]  # of the innermost loop
    boxes: Boxes
    touches: Touches
    held: dict[ir.Var, ir.Var] = field(default_factory=dict)  # values of an iteration, with the arrays that hold them
    sizes: list[ir.Stmt] = field(default_factory=list)

    @staticmethod
    def of(outer: ir.Stmt, boxes: Boxes, touches: Touches) -> Split | None:
        """The nest that begins with the statement ``outer``; None if it has anything besides scalars, stores and additions in
        simple loops."""
        loops: list[ir.For] = []
        lets: dict[ir.Var, ir.Let] = {}
        last: ir.Stmt = outer
        stmts: list[ir.Stmt] = []
        while isinstance(last, ir.For):
            stmts = last.body.stmts
            if not is_simple(last) or not stmts:
                return None
            loops.append(last)
            lets.update((s.var, s) for s in stmts if isinstance(s, ir.Let))
            last = stmts[-1]
            if isinstance(last, ir.For) and not all(is_scalar(s) for s in stmts[:-1]):
                return None
        if not loops or not all(is_scalar(s) or isinstance(s, (ir.Store, ir.Add)) for s in stmts):
            return None
        return Split(loops, lets, stmts, boxes, touches)

    def made(self, pays: Callable[[list[Nest]], bool]) -> list[ir.Stmt] | None:
        """The statements that replace the nest: sizes and arrays, the nest without the additions, and a nest for each of these;
        None if it stays. ``pays``: whether the new nests can be gathered."""
        chosen: list[ir.Add] = []
        nests: list[ir.Stmt] = []
        for buf in dict.fromkeys(s.buf for s in self.stmts if isinstance(s, ir.Add)):
            adds = [s for s in self.stmts if isinstance(s, ir.Add) and s.buf is buf]
            if len(adds) < 3 or not self.is_apart(buf):
                continue
            found = [self.alone(add) for add in adds]
            boxes = [self.boxes.of(s) for s in found]
            if pays([b for b in boxes if b is not None]) and all(b is not None for b in boxes):
                chosen += adds
                nests += found
        if not chosen or len(self.held) > MOST:
            return None
        return [*self.sizes, self.rest(chosen), *nests]

    def is_apart(self, buf: ir.Var) -> bool:
        """Whether the nest only adds to the array ``buf``, by this name."""
        root = self.touches.roots.of(buf)
        touch = self.touches.of(self.loops[0])
        if root in touch.read or root in touch.written:
            return False
        return all(a.var is buf for a in touch.found if self.touches.roots.of(a.var) is root)

    # ---- one addition

    def alone(self, add: ir.Add) -> ir.For:
        """A nest that performs only this addition; what computes its ranges is appended to ``sizes``."""
        cloner = Cloner()
        indices = [cloner.fresh(loop.index) for loop in self.loops]
        stmts: list[ir.Stmt] = []
        value = self.value(add.value, cloner, indices, stmts)
        args = tuple(self.again(a, cloner, stmts) for a in add.args)
        self.learn(stmts)
        stmts.append(replace(add, args=args, value=value))
        before: list[ir.Stmt] = []
        for loop, index in reversed([*zip(self.loops, indices)]):
            stmts = [self.boxes.outside(self.loops, loop, index, stmts, before)]
        self.learn(before)
        self.sizes += before
        (nest,) = stmts
        assert isinstance(nest, ir.For)
        return nest

    def value(self, op: ir.Operand, cloner: Cloner, indices: list[ir.Var], stmts: list[ir.Stmt]) -> ir.Operand:
        """The operand with an iteration's value in another nest, with the indices ``indices``: products with invariant factors
        are recomputed, others read from the source or from a holding array. Appends what computes it to ``stmts``."""
        if not isinstance(op, ir.Var) or op not in self.lets or op in cloner.mapping:
            return cloner.operand(op)
        if self.is_fixed(op):
            return self.again(op, cloner, stmts)
        let = self.lets[op]
        if record_of(let).is_opposite or (record_of(let).multiplies and any(self.is_fixed(a) for a in let.args)):
            args = tuple(self.value(a, cloner, indices, stmts) for a in let.args)
            stmts.append(replace(let, var=cloner.fresh(op), args=args))
        elif let.prim == "index" and not self.is_changed(let.args[0]):
            self.again(op, cloner, stmts)
        else:
            array = self.holder(op)
            at = tuple(
                self.boxes.operand(form_of(i).plus(self.boxes.ends(loop)[0], -1), stmts)
                for i, loop in zip(indices, self.loops)
            )
            path = {"path": points(len(at)), "dims": ()}
            stmts.append(ir.Let(cloner.fresh(op), "index", (array, *at), path, let.loc))
        return cloner.operand(op)

    def again(self, op: ir.Operand, cloner: Cloner, stmts: list[ir.Stmt]) -> ir.Operand:
        """The operand in another nest that has the value of ``op``, a scalar of an iteration; recomputed by statements that are
        appended to ``stmts``."""
        if isinstance(op, ir.Var) and op in self.lets and op not in cloner.mapping:
            let = self.lets[op]
            args = tuple(self.again(a, cloner, stmts) for a in let.args)
            stmts.append(replace(let, var=cloner.fresh(op), args=args))
        return cloner.operand(op)

    def is_fixed(self, op: ir.Operand) -> bool:
        """Whether an operand is the same in all iterations: computed from neither indices nor elements."""
        if isinstance(op, ir.Var) and op in self.lets:
            let = self.lets[op]
            return let.prim != "index" and all(self.is_fixed(a) for a in let.args)
        return not any(op is loop.index for loop in self.loops)

    def is_changed(self, array: ir.Operand) -> bool:
        """Whether the nest writes or adds to an array."""
        touch = self.touches.of(self.loops[0])
        return isinstance(array, ir.Var) and self.touches.roots.of(array) in touch.written | touch.added

    def holder(self, value: ir.Var) -> ir.Var:
        """The array that holds a value of all iterations; its allocation is appended to ``sizes`` at the first request."""
        if value not in self.held:
            sizes: list[ir.Operand] = []
            for loop in self.loops:
                first, after = self.boxes.ends(loop)
                size = self.boxes.operand(after - first, self.sizes)
                sizes.append(number("maximum", size, ir.Const(0, INT), self.sizes))
            array = ir.Var(ir.SYNTHETIC, Type(value.type.dtype, (ANY,) * len(sizes)), buffer=True)
            self.sizes.append(ir.Alloc(array, "empty", tuple(sizes), {}, self.loops[0].loc))
            self.held[value] = array
        return self.held[value]

    def learn(self, stmts: list[ir.Stmt]) -> None:
        """Tells the linear forms the definitions among these statements."""
        for stmt in stmts:
            if isinstance(stmt, ir.Let):
                self.boxes.forms.learn(stmt)

    # ---- the rest of the nest

    def rest(self, chosen: list[ir.Add]) -> ir.Stmt:
        """The nest without the additions ``chosen``; it stores the values that have a holding array."""
        stmts: list[ir.Stmt] = []
        for stmt in self.stmts:
            if not any(stmt is c for c in chosen):
                stmts.append(stmt)
            if isinstance(stmt, ir.Let) and stmt.var in self.held:
                stmts += self.stored(stmt.var)
        loops = list(reversed(self.loops))
        for k, loop in enumerate(loops):
            inner = stmts if not k else [*loop.body.stmts[:-1], *stmts]
            stmts = [replace(loop, body=replace(loop.body, stmts=inner))]
        return stmts[0]

    def stored(self, value: ir.Var) -> list[ir.Stmt]:
        """Statements that store a value of an iteration in its holding array."""
        stmts: list[ir.Stmt] = []
        at = tuple(
            self.boxes.operand(form_of(loop.index).plus(self.boxes.ends(loop)[0], -1), stmts) for loop in self.loops
        )
        self.learn(stmts)
        return [*stmts, ir.Store(self.held[value], points(len(at)), at, value, self.loops[0].loc)]
