"""Variables that may share a name in the text: a loop's initial value and carried value, if nothing else reads the former.

total_2 = total                       for i in range(n):
for i in range(n):            ->          total = total + x[i]
    total_2 = total_2 + x[i]
"""

from __future__ import annotations

from collections import Counter

from transpile.core import nodes as ir
from transpile.core.walk import blocks, defines, uses


def shared_names(fn: ir.Function) -> dict[ir.Var, ir.Var]:
    """Maps each variable that takes another variable's name to the one whose name it takes; that one is no key."""
    found = _Names(fn)
    found.block(fn.body, set(fn.params))
    return {var: found.leader(var) for var in found.parent}


class _Names:
    """A union-find of variables that share a name: ``parent`` points towards the variable that gives it."""

    def __init__(self, fn: ir.Function) -> None:
        self.parent: dict[ir.Var, ir.Var] = {}
        self.count = Counter(o for o in uses(fn.body) if isinstance(o, ir.Var))

    def leader(self, var: ir.Var) -> ir.Var:
        """The variable whose name ``var`` has: itself if it takes no other's."""
        while var in self.parent:
            var = self.parent[var]
        return var

    def join(self, var: ir.Var, other: ir.Operand) -> None:
        """Gives ``var``, and all that share its name, the name of ``other``; nothing if that is no variable."""
        if isinstance(other, ir.Var) and self.leader(var) is not self.leader(other):
            self.parent[self.leader(var)] = self.leader(other)

    def block(self, block: ir.Block, own: set[ir.Var]) -> None:
        """Joins names within a block; ``own``: the variables that get a new value each time the block runs."""
        own = {*own, *block.params}
        for stmt in block.stmts:
            if isinstance(stmt, ir.If):
                self.branch(stmt, own)
            elif isinstance(stmt, (ir.For, ir.While)):
                self.loop(stmt, own)
            own.update(defines(stmt))

    def loop(self, stmt: ir.For | ir.While, own: set[ir.Var]) -> None:
        """Joins names in a loop: results take those of carried values, and these those of initial values read nowhere else.

        ``own`` as for `block`; nothing outside the loop's blocks counts as their own.
        """
        for param, init, result in zip(stmt.body.params, stmt.inits, stmt.results):
            self.join(result, param)
            if isinstance(stmt, ir.For) and isinstance(init, ir.Var) and init in own and self.count[init] == 1:
                self.join(param, init)
        for inner in blocks(stmt):
            self.block(inner, set())

    def branch(self, stmt: ir.If, own: set[ir.Var]) -> None:
        """Joins names within a branch; ``own`` is as for `block`.

        If each side is one loop, both may take over the same initial value. A result takes a name that both sides' values
        share.
        """
        sides = (stmt.then, stmt.orelse)
        for side in sides:
            self.block(side, own)
        lone = [s.stmts[0] if len(s.stmts) == 1 else None for s in sides]
        if not all(isinstance(loop, ir.For) for loop in lone):
            return
        one, two = lone
        assert isinstance(one, ir.For) and isinstance(two, ir.For)
        for k, init in enumerate(one.inits):
            if (
                isinstance(init, ir.Var)
                and init in own
                and k < len(two.inits)
                and two.inits[k] is init
                and self.count[init] == 2
            ):
                self.join(one.body.params[k], init)
                self.join(two.body.params[k], init)
        for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
            if (
                isinstance(a, ir.Var)
                and isinstance(b, ir.Var)
                and self.leader(a) is self.leader(b)
                and self.count[a] == 1
            ):
                self.join(result, a)
