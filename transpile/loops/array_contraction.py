"""Removes an axis from an array if each iteration of a loop touches only its own index along it: ``t[i, k]`` becomes ``t[k]``.

An array that would lose all axes keeps one element.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import accesses
from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, defined, leaves, reads


def contract_arrays(fn: ir.Function) -> ir.Function:
    """The function without axes along which each iteration of a loop touches only its own index; an array that lost such an
    axis is allocated in the loop."""
    while True:
        search = _Search(fn)
        found = {use.alloc.var: own for use in search.uses.values() if (own := search.own_axes(use)) is not None}
        if not found:
            return fn
        fn = _Rewrite(found).function(fn)


@dataclass(slots=True)
class _Use:
    """An allocation, the block it stands in, and how the array is used."""

    alloc: ir.Alloc
    block: ir.Block
    # subscripts of an access, and the loops around it
    places: list[tuple[tuple[ir.Operand, ...], tuple[ir.For, ...]]] = field(default_factory=list)
    whole: bool = False  # used as a whole


class _Search:
    """Accesses of all allocated arrays."""

    def __init__(self, fn: ir.Function) -> None:
        self.forms = Forms(fn.body)
        self.uses: dict[ir.Var, _Use] = {}
        self.home: dict[int, ir.Block] = {}  # for each loop, the block it stands in
        self.defined: dict[int, set[ir.Var]] = {}
        self._visit(fn.body, ())

    def _visit(self, block: ir.Block, around: tuple[ir.For, ...]) -> None:
        """Notes the accesses of allocated arrays in a block; ``around``: the loops around it."""
        for stmt in block.stmts:
            if isinstance(stmt, ir.Alloc):
                self.uses[stmt.var] = _Use(stmt, block)
            mentioned: set[ir.Var] = set()
            for a in accesses(stmt):
                use = self.uses.get(a.var)
                if use is None:
                    continue
                if a.indices is None:
                    use.whole = True
                else:
                    use.places.append((a.indices, around))
                    mentioned.add(a.var)
            for op in reads(stmt):
                if (
                    isinstance(op, ir.Var)
                    and op in self.uses
                    and not (isinstance(stmt, ir.Let) and stmt.prim == "index")
                ):
                    self.uses[op].whole = True
            inside = around
            if isinstance(stmt, ir.For):
                self.home[id(stmt)] = block
                inside = (*around, stmt)
            for inner in blocks(stmt):
                self._visit(inner, inside)
        for op in leaves(block):
            if isinstance(op, ir.Var) and op in self.uses:
                self.uses[op].whole = True

    def own_axes(self, use: _Use) -> tuple[tuple[int, ...], ir.For] | None:
        """A pair of the axes that can go, and the loop beside the allocation on whose index their subscript depends, the same
        form in all accesses; None if there are none."""
        if use.whole or use.alloc.prim != "empty" or not use.places:
            return None
        loops = [next((x for x in around if self.home[id(x)] is use.block), None) for _, around in use.places]
        loop = loops[0]
        if loop is None or any(x is not loop for x in loops):
            return None
        found = []
        for axis in range(len(use.alloc.var.type.dims)):
            forms = {self.forms.of(indices[axis]) for indices, _ in use.places}
            if len(forms) == 1 and self.is_own(next(iter(forms)), loop):
                found.append(axis)
        return (tuple(found), loop) if found else None

    def is_own(self, form: Linear, loop: ir.For) -> bool:
        """Whether the form has another value in each iteration of the loop and one value within an iteration."""
        if not form.coefficient(loop.index):
            return False
        if id(loop) not in self.defined:
            self.defined[id(loop)] = set(defined(loop.body))
        return not (form.without(loop.index).atoms & self.defined[id(loop)])


class _Rewrite:
    def __init__(self, found: dict[ir.Var, tuple[tuple[int, ...], ir.For]]) -> None:
        self.axes = {var: axes for var, (axes, _) in found.items()}
        self.owner = {var: loop for var, (_, loop) in found.items()}
        self.new: dict[ir.Var, ir.Var] = {}
        self.moved: dict[int, list[ir.Stmt]] = {}  # allocations by the loop that they move into
        for var, dropped in self.axes.items():
            dims = [d for k, d in enumerate(var.type.dims) if k not in dropped] or [var.type.dims[0]]
            self.new[var] = ir.Var(var.name, Type(var.type.dtype, tuple(dims)), buffer=True)

    def function(self, fn: ir.Function) -> ir.Function:
        return replace(fn, body=self.block(fn.body))

    def block(self, block: ir.Block) -> ir.Block:
        """The block with fewer axes; an allocation of a contracted array moves to the start of its loop's body."""
        stmts: list[ir.Stmt] = []
        for stmt in block.stmts:
            new = self.stmt(stmt)
            if isinstance(stmt, ir.Alloc) and stmt.var in self.axes:
                self.moved.setdefault(id(self.owner[stmt.var]), []).append(new)
                continue
            if isinstance(new, ir.For) and id(stmt) in self.moved:
                new = replace(new, body=replace(new.body, stmts=[*self.moved[id(stmt)], *new.body.stmts]))
            stmts.append(new)
        return replace(block, stmts=stmts)

    def left(self, var: ir.Var, parts: tuple[ir.Operand, ...], none: int) -> tuple[ir.Operand, ...]:
        """Those of ``parts``, one for each axis of ``var``, whose axes stay; the constant ``none`` alone if no axis stays."""
        dropped = self.axes[var]
        return tuple(p for k, p in enumerate(parts) if k not in dropped) or (ir.Const(none, INT),)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """The statement with contracted arrays replaced, nested blocks included."""
        match stmt:
            case ir.Alloc() if stmt.var in self.axes:
                return replace(stmt, var=self.new[stmt.var], args=self.left(stmt.var, stmt.args, 1))
            case ir.Let(prim="index") if stmt.args[0] in self.axes:
                var = stmt.args[0]
                assert isinstance(var, ir.Var)
                args = self.left(var, stmt.args[1:], 0)
                return replace(stmt, args=(self.new[var], *args), params={**stmt.params, "path": points(len(args))})
            case ir.Store() | ir.Add() if stmt.buf in self.axes:
                args = self.left(stmt.buf, stmt.args, 0)
                return replace(stmt, buf=self.new[stmt.buf], args=args, path=points(len(args)))
        if not blocks(stmt):
            return stmt
        return with_blocks(stmt, self.block)


def points(count: int) -> tuple[ir.Index]:
    """The path of an access with ``count`` scalar subscripts."""
    return (ir.Index(tuple(ir.Point(k) for k in range(count))),)
