"""Values that are passed on: those that need memory before a buffer is written, and those that control flow carries."""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.core.walk import blocks, free, written_in
from transpile.lower.element_functions import Elements, stored
from transpile.lower.lowering import name_of
from transpile.lower.lowering_rules import Primitives


class Carried(Primitives):
    # ---- before a write

    """Gives memory to values before writes and control flow, and passes values across blocks."""

    def settle(self, buf: ir.Var, but: ir.Operand | None = None) -> None:
        """Before ``buf`` is written: gives memory to values that depend on it and are still to be read, except ``but``, the
        value being written, if this is its last use."""
        for var in list(self.snapshots):
            held = self.env.get(var)
            if not isinstance(held, Elements) or self.left[var] <= 0:
                continue
            if buf in held.deps and not (var is but and self.left[var] <= 1):
                self.env[var] = self.in_memory(held, name_of(var))

    def settle_outer(self, stmt: ir.Stmt, loop: bool) -> None:
        """Before a nested statement: gives memory to values that are still to be read and depend on a buffer that it writes;
        before a ``loop``, also to those that the loop would recompute in each iteration."""
        changed: dict[ir.Var, None] = {}
        inside: dict[ir.Var, None] = {}
        for inner in blocks(stmt):
            changed.update(dict.fromkeys(written_in(inner)))
            inside.update(dict.fromkeys(free(inner)))
        for var in list(self.snapshots):
            held = self.env.get(var)
            if not isinstance(held, Elements) or self.left[var] <= 0:
                continue
            if any(c in held.deps for c in changed) or (loop and var in inside and not held.cheap):
                self.env[var] = self.in_memory(held, name_of(var))

    # ---- across blocks

    def result(self, y: ir.Operand, taken: set[ir.Var]) -> ir.Operand:
        """The operand that the lowered function returns for ``y``: a scalar, or memory of its own, which is added to ``taken``.

        It is copied if its memory is a parameter's or is in ``taken``, that of an earlier result.
        """
        held = self.held(y)
        if not isinstance(held, Elements):
            return held
        self.use(y)
        var = held.root
        if var is None or var in taken or var not in self.owned:
            var = self.materialise(held, name_of(y))
        taken.add(var)
        return var

    def pass_on(self, op: ir.Operand) -> ir.Operand:
        """An operand that control flow can carry: a scalar, or an array in memory that is never written again, copied if need
        be."""
        if isinstance(op, ir.Undef):
            return op
        held = self.held(op)
        if not isinstance(held, Elements):
            return held
        if held.root is None or held.deps:
            return self.materialise(held, name_of(op))
        return held.root

    def receive(self, var: ir.Var, new: ir.Var) -> None:
        """Makes ``new``, a variable of the result, the lowered form of ``var``, a value that control flow carries."""
        if new.type.dims:
            self.env[var] = stored(self.b, new, self.own_sizes(new, known=True))
        else:
            self.env[var] = new

    def own_sizes(self, var: ir.Var, known: bool = False) -> tuple[ir.Operand, ...]:
        """The sizes of an array variable of the result, read from it; a size of 1 is a constant.

        With ``known`` (not for a parameter), sizes are constants or existing operands if possible: operands that do not change
        in a loop let its temporaries move out of it.
        """
        sizes: list[ir.Operand] = []
        for k, dim in enumerate(var.type.dims):
            if dim.is_one or (known and dim.is_const):
                sizes.append(ir.Const(dim.const, INT))
                continue
            if known and dim.as_symbol is not None and self.is_known(dim.as_symbol):
                sizes.append(self.symbol(dim.as_symbol))
                continue
            size = self.b.let("dim", var, axis=k, name=dim.as_symbol or "size").op
            self.b.learn(size, dim)
            sizes.append(size)
        return tuple(sizes)
