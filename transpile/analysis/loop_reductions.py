"""How a loop folds its carried values: a sum, a product, a maximum or a minimum that an iteration only updates and passes on.

    for i in range(n):
        total = total + x[i]              a sum
        if x[i] > 0.0:
            top = maximum(top, x[i])      a maximum

Chunks of such a loop may each start from a value of their own, and their results are folded afterwards. In Python,
``max(top, x)`` keeps ``top`` if ``x`` is NaN, ``max(x, top)`` does not: only the first is a fold.
"""

from __future__ import annotations

from dataclasses import dataclass

from transpile.core import nodes as ir
from transpile.core.walk import blocks, leaves, reads, uses
from transpile.ops.tables import record_of


@dataclass(frozen=True)
class Fold:
    """The primitive of a fold. ``py``: it has Python's meaning, where the order of operands counts."""

    prim: str
    py: bool = False


SUM = Fold("add")


def fold_of(loop: ir.For, k: int) -> Fold | None:
    """The `Fold` by which iterations update the loop's carried value number ``k``, a sum if it is never changed; None if an
    iteration uses the value in another way."""
    found = _Finder()
    if not found.passes(loop, k):
        return None
    return found.kind or SUM


def folds_of(loop: ir.For) -> tuple[Fold, ...] | None:
    """For each carried value the `Fold` by which iterations update it; None if an iteration uses one of them in another way.

    A value that is never changed counts as a sum, as does one from which iterations subtract.
    """
    found = [fold_of(loop, k) for k in range(len(loop.body.params))]
    return None if None in found else tuple([f for f in found if f is not None])


def held_by(loop: ir.For, k: int) -> set[ir.Var]:
    """The variables that hold the carried value number ``k``, or a partial fold of it, within an iteration, outside nested
    loops."""
    found = {loop.body.params[k]}
    _Finder().follow(loop.body, found)
    return found


class _Finder:
    def __init__(self) -> None:
        self.kind: Fold | None = None

    def passes(self, loop: ir.For, k: int) -> bool:
        """Whether an iteration only folds operands that do not depend on the carried value number ``k`` into it, and passes it
        on in its own place. Sets ``kind`` to the fold, which must be the same everywhere."""
        held = {loop.body.params[k]}
        if not self.follow(loop.body, held):
            return False
        rest = [op for j, op in enumerate(loop.body.yields) if j != k]
        return loop.body.yields[k] in held and not held & {loop.body.stop, *rest}

    def follow(self, block: ir.Block, held: set[ir.Var]) -> bool:
        """Whether the statements use the variables in ``held`` only to fold operands into them; the results of these folds are
        added to ``held``."""
        return all(self.step(stmt, held) for stmt in block.stmts)

    def step(self, stmt: ir.Stmt, held: set[ir.Var]) -> bool:
        """Whether one statement, with its nested blocks, uses the variables in ``held`` only to fold; adds to ``held``."""
        if isinstance(stmt, ir.Let) and record_of(stmt).folds:
            return self.let(stmt, held)
        if isinstance(stmt, ir.If) and stmt.test not in held:
            return self.branch(stmt, held)
        if isinstance(stmt, ir.For) and not held & {stmt.start, stmt.bound, stmt.step}:
            return self.loop(stmt, held)
        inside = (op for b in blocks(stmt) for op in (*uses(b), *leaves(b)))
        return not held & {*reads(stmt), *inside}

    def let(self, stmt: ir.Let, held: set[ir.Var]) -> bool:
        """Whether a *let* of a folding primitive reads no variable in ``held``, or folds one operand into one of them; adds its
        result to ``held`` then."""
        given = [op in held for op in stmt.args]
        if not any(given):
            return True
        record = record_of(stmt)
        kind, dtype = Fold(record.folds, bool(stmt.params.get("py"))), stmt.var.type.dtype
        if sum(given) > 1 or ((record.is_difference or (kind.py and stmt.var.type.is_float)) and not given[0]):
            return False
        if self.kind not in (None, kind) or stmt.args[given.index(True)].type.dtype != dtype:
            return False
        if dtype == "bool" and record.is_polynomial:
            return False
        self.kind = kind
        held.add(stmt.var)
        return True

    def branch(self, stmt: ir.If, held: set[ir.Var]) -> bool:
        """Whether both sides of a branch only fold; a result that holds the value on one side must hold it on both. Adds to
        ``held``."""
        sides = [(block, set(held)) for block in (stmt.then, stmt.orelse)]
        if not all(self.follow(block, own) for block, own in sides):
            return False
        held.update(*(own for _, own in sides))
        for j, result in enumerate(stmt.results):
            given = [block.yields[j] in own for block, own in sides]
            if any(given) and not all(given):
                return False
            if any(given):
                held.add(result)
        return True

    def loop(self, stmt: ir.For, held: set[ir.Var]) -> bool:
        """Whether a nested loop reads the variables in ``held`` only as initial values, each of which it only folds."""
        if held & set(uses(stmt.body)) or held & set(leaves(stmt.body)):
            return False
        for j, init in enumerate(stmt.inits):
            if init in held:
                if not self.passes(stmt, j):
                    return False
                if j < len(stmt.results):
                    held.add(stmt.results[j])
        return True
