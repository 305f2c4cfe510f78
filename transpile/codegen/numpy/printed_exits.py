"""Exits of loops as the user wrote them: ``return`` out of a loop, and ``else`` of a loop.

The frontend expresses both by a flag: the loop carries it, sets it where it stops, and a branch after the loop tests it.

    done = False                                              for i in range(n):
    for i in range(n):                                            if x[i] > limit:
        if x[i] > limit: result = x[i]; done = True; break   ->       return x[i]
    if not done: result = 0.0                                 return 0.0
    return result
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from transpile.codegen.numpy.expression_trees import Nested
from transpile.core import nodes as ir
from transpile.core.walk import blocks, statements
from transpile.ops.tables import record_of

Env = Mapping[ir.Operand, ir.Operand]  # a result of a branch -> its value on this side
Leave = Callable[[int, Env], None]  # writes the exit, at a depth


@dataclass(frozen=True)
class Flagged:
    """A loop and the branch after it that tests whether the loop was stopped."""

    loop: ir.For | ir.While
    slot: int  # the flag's position among the carried values
    stopped: ir.Block  # the side taken if the loop was stopped
    ended: ir.Block  # the side taken if the loop ran to its end


class Flags:
    """Finds the loops of a function whose flags need not be printed; ``reads`` counts the reads of each variable."""

    def __init__(self, nested: Nested) -> None:
        self.nested = nested
        self.reads: Counter[ir.Var] = Counter(nested.ends(nested.fn.body))
        for stmt in statements(nested.fn.body):
            self.reads.update(nested.reads(stmt))
            for block in blocks(stmt):
                self.reads.update(nested.ends(block))

    def find(self, loop: ir.Stmt | None, branch: ir.Stmt | None) -> Flagged | None:
        """The two statements as a loop with a flag, or None; nothing else may read the flag.

        None too unless the flag says exactly whether the loop was stopped, and the side for this has no statements.
        """
        if (
            not isinstance(loop, (ir.For, ir.While))
            or not isinstance(branch, ir.If)
            or not isinstance(branch.test, ir.Var)
        ):
            return None
        tree = self.nested.trees.get(branch.test)
        negated = isinstance(tree, ir.Let) and record_of(tree).is_negation
        flag = tree.args[0] if negated else branch.test  # type: ignore[union-attr]
        slot = self.slot(loop, flag)
        if slot is None or self.reads[flag] != 1:  # type: ignore[index]
            return None
        sides = (branch.orelse, branch.then) if negated else (branch.then, branch.orelse)
        return None if sides[0].stmts else Flagged(loop, slot, *sides)

    def slot(self, loop: ir.For | ir.While, flag: ir.Operand | None) -> int | None:
        """The position of the flag among the loop's results if it is True exactly if the loop was stopped; else None.

        None too if the loop itself reads the flag.
        """
        if flag not in loop.results:
            return None
        slot = loop.results.index(flag)
        start = loop.inits[slot]
        same = loop.body.stop is not None and loop.body.yields[slot] is loop.body.stop
        unread = not self.reads[loop.body.params[slot]]
        return slot if same and unread and isinstance(start, ir.Const) and not start.value else None

    def handed_out(self, loop: ir.For | ir.While, values: tuple[ir.Operand, ...]) -> set[ir.Var] | None:
        """The loop's results and params read by nothing but ``values``; None if ``values`` cannot be used inside the loop.

        They cannot if one is undefined, or an expression that reads results of the loop.
        """
        inside = {v: k for k, v in enumerate(loop.results)}
        count = Counter(values)
        only: set[ir.Var] = set()
        for value in values:
            if isinstance(value, ir.Undef):
                return None
            if value in self.nested.trees and any(v in inside for v in self.nested.leaves((value,))):
                return None
            if value in inside:
                param = loop.body.params[inside[value]]
                if self.reads[value] == count[value] and not self.reads[param]:
                    only |= {value, param}
        return only


def resolve(operand: ir.Operand, env: Env, nested: Nested) -> ir.Operand:
    """The operand as an exit inside the loop reads it: variables, also those inside an expression, are replaced by ``env``.

    A changed expression gets a new variable, and is added to the trees of ``nested``.
    """
    while operand in env:
        operand = env[operand]
    if not isinstance(operand, ir.Var) or operand not in nested.trees:
        return operand
    if not any(leaf in env for leaf in nested.leaves((operand,))):
        return operand

    def here(inner: ir.Operand) -> ir.Operand:
        return resolve(inner, env, nested)

    tree = nested.trees[operand]
    found = ir.Var(operand.name, operand.type)
    if isinstance(tree, ir.Let):
        nested.trees[found] = replace(tree, var=found, args=tuple(map(here, tree.args)))
    elif isinstance(tree, ir.Call):
        nested.trees[found] = replace(tree, results=(found,), args=tuple(map(here, tree.args)))
    else:
        sides = [replace(side, yields=tuple(map(here, side.yields))) for side in (tree.then, tree.orelse)]
        nested.trees[found] = replace(tree, test=here(tree.test), then=sides[0], orelse=sides[1], results=(found,))
    return found
