"""An array of which each trip of a loop touches its own elements only loses that axis: ``t[i, k]`` becomes ``t[k]``.

What has no axis left and is still in memory is an array of one element.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from transpile.core.nodes import Add, Alloc, Block, Const, For, Function, Index, Let, Operand, Point, Stmt, Store, Var
from transpile.core.types import INT, Type
from transpile.core.walk import blocks, leaves, reads
from transpile.loops.affine import Forms, Linear
from transpile.loops.memory import accesses


def contract(fn: Function) -> Function:
    """The function with such axes left out."""
    found = _Search(fn)
    axes = {use.alloc.var: dropped for use in found.uses.values() if (dropped := found.own_axes(use))}
    return _Rewrite(axes).function(fn) if axes else fn


@dataclass(slots=True)
class _Use:
    alloc: Alloc
    block: Block
    places: list[tuple[tuple[Operand, ...], tuple[For, ...]]] = field(
        default_factory=list
    )  # subscripts and loops around
    whole: bool = False  # used by name


class _Search:
    def __init__(self, fn: Function) -> None:
        self.forms = Forms(fn.body)
        self.uses: dict[Var, _Use] = {}
        self.home: dict[int, Block] = {}  # of each loop, the block that it stands in
        self.defined: dict[int, set[Var]] = {}
        self._visit(fn.body, ())

    def _visit(self, block: Block, around: tuple[For, ...]) -> None:
        for stmt in block.stmts:
            if isinstance(stmt, Alloc):
                self.uses[stmt.var] = _Use(stmt, block)
            mentioned: set[Var] = set()
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
                if isinstance(op, Var) and op in self.uses and not (isinstance(stmt, Let) and stmt.prim == "index"):
                    self.uses[op].whole = True
            inside = around
            if isinstance(stmt, For):
                self.home[id(stmt)] = block
                inside = (*around, stmt)
            for inner in blocks(stmt):
                self._visit(inner, inside)
        for op in leaves(block):
            if isinstance(op, Var) and op in self.uses:
                self.uses[op].whole = True

    def own_axes(self, use: _Use) -> tuple[int, ...]:
        """The axes whose subscript is, in all places, the same form of the index of the loop beside the allocation."""
        if use.whole or use.alloc.prim != "empty" or not use.places:
            return ()
        loops = [next((x for x in around if self.home[id(x)] is use.block), None) for _, around in use.places]
        loop = loops[0]
        if loop is None or any(x is not loop for x in loops):
            return ()
        found = []
        for axis in range(len(use.alloc.var.type.dims)):
            forms = {self.forms.of(indices[axis]) for indices, _ in use.places}
            if len(forms) == 1 and self.is_own(next(iter(forms)), loop):
                found.append(axis)
        return tuple(found)

    def is_own(self, form: Linear, loop: For) -> bool:
        """Whether it has another value in each trip, and one in a trip."""
        if not form.coefficient(loop.index):
            return False
        if id(loop) not in self.defined:
            from transpile.core.walk import defined

            self.defined[id(loop)] = set(defined(loop.body))
        return not (form.without(loop.index).variables & self.defined[id(loop)])


class _Rewrite:
    def __init__(self, axes: dict[Var, tuple[int, ...]]) -> None:
        self.axes = axes
        self.new: dict[Var, Var] = {}
        for var, dropped in axes.items():
            dims = [d for k, d in enumerate(var.type.dims) if k not in dropped] or [var.type.dims[0]]
            self.new[var] = Var(var.name, Type(var.type.dtype, tuple(dims)), buffer=True, note=var.note)

    def function(self, fn: Function) -> Function:
        return replace(fn, body=self.block(fn.body))

    def block(self, block: Block) -> Block:
        return replace(block, stmts=[self.stmt(s) for s in block.stmts])

    def left(self, var: Var, parts: tuple[Operand, ...], none: int) -> tuple[Operand, ...]:
        dropped = self.axes[var]
        return tuple(p for k, p in enumerate(parts) if k not in dropped) or (Const(none, INT),)

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Alloc() if stmt.var in self.axes:
                return replace(stmt, var=self.new[stmt.var], args=self.left(stmt.var, stmt.args, 1))
            case Let(prim="index") if stmt.args[0] in self.axes:
                var = stmt.args[0]
                assert isinstance(var, Var)
                args = self.left(var, stmt.args[1:], 0)
                return replace(stmt, args=(self.new[var], *args), params={**stmt.params, "path": points(len(args))})
            case Store() | Add() if stmt.buf in self.axes:
                args = self.left(stmt.buf, stmt.args, 0)
                return replace(stmt, buf=self.new[stmt.buf], args=args, path=points(len(args)))
        if not blocks(stmt):
            return stmt
        from transpile.loops.rebuild import with_blocks

        return with_blocks(stmt, self.block)


def points(count: int) -> tuple[Index]:
    return (Index(tuple(Point(k) for k in range(count))),)
