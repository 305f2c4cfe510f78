"""Loops as lines: their heads, the values they carry, and their ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from transpile.codegen.expression_nodes import call, variable
from transpile.codegen.layout import Line
from transpile.codegen.numpy.expression_trees import Nested
from transpile.codegen.numpy.printed_blocks import Blocks, Handed
from transpile.codegen.numpy.printed_exits import Env, Flagged, Leave
from transpile.codegen.numpy.value_nodes import range_node
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, defines, statements


@dataclass(frozen=True)
class Tail:
    """The end of a loop's body: the values passed on, then the test that stops the loop.

    ``around``: a mask of the variables live throughout the loop; ``leave`` writes the exit, if it is not ``break``.
    """

    handed: list[Handed]
    around: int
    loc: ir.Loc
    leave: Leave | None = None  # writes the exit, if it is not ``break``


class Loops(Blocks):
    """Writes loops. ``keep``: values that the loop passes on; ``env``: maps a branch's results to their values on the side
    written."""

    def loop_for(self, stmt: ir.For, depth: int) -> None:
        """Writes a ``for`` loop with its carried values; an index that nothing reads is ``_``."""
        after = self.start(stmt, depth)
        span = range_node(self.expressions, stmt.start, stmt.bound, stmt.step)
        if stmt.backwards:
            span = call(ast.Name("reversed", ast.Load()), span)
        body = self.body(stmt, depth + 1)
        used = any(stmt.index in set(self.nested.reads(s)) for s in statements(stmt.body))
        used = (
            used
            or stmt.index in set(self.nested.ends(stmt.body))
            or any(stmt.index in set(self.nested.ends(b)) for s in statements(stmt.body) for b in blocks(s))
        )
        name = self.names[stmt.index] if used else "_"
        self.line(depth, f"for {name} in ", span, ":", loc=stmt.loc)
        self.lines += body or [Line(depth + 1, ("pass",))]
        self.finish(stmt, depth, after)

    def loop_while(self, stmt: ir.While, depth: int) -> None:
        """Writes a ``while`` loop; if the test needs statements, it is ``while True:`` with a ``break``."""
        after = self.start(stmt, depth)
        test = stmt.test.yields[0]
        if not stmt.test.stmts:
            self.line(depth, "while ", self.node(test), ":", loc=stmt.loc)
        else:
            self.line(depth, "while True:", loc=stmt.loc)
            self.block(stmt.test.stmts, depth + 1)
            self.line(depth + 1, "if ", self.negation(test), ":", loc=stmt.loc)
            self.line(depth + 2, "break")
        self.lines += self.body(stmt, depth + 1) or [Line(depth + 1, ("pass",))]
        self.finish(stmt, depth, after)

    def start(self, stmt: ir.For | ir.While, depth: int) -> int:
        """Writes the assignments of initial values; returns a mask of the variables live after the loop."""
        around = self.live.around[id(stmt)] | self.live.entry[id(stmt.body)]
        self.hand(self.pairs(stmt.body.params, stmt.inits, around), depth, stmt.loc, around)
        return self.live.after[id(stmt)]

    def finish(self, stmt: ir.For | ir.While, depth: int, after: int) -> None:
        """Writes the assignments of the loop's results that have other names than the carried values."""
        self.hand(self.pairs(stmt.results, stmt.body.params, after), depth, stmt.loc, after)

    def body(self, stmt: ir.For | ir.While, depth: int) -> list[Line]:
        """The lines of the body, including its end; they are not added to ``lines``."""
        around = self.live.around[id(stmt)] | self.live.entry[id(stmt.body)]
        handed = self.pairs(stmt.body.params, stmt.body.yields, around)
        tail = Tail(handed, around, stmt.loc, self.leaves.get(id(stmt)))
        keep = {v for p, v in zip(stmt.body.params, stmt.body.yields) if isinstance(v, ir.Var) and p not in self.unsaid}
        return self.captured(lambda: self.tail(stmt.body.stmts, stmt.body.stop, tail, depth, keep, {}))

    def tail(
        self, stmts: Sequence[ir.Stmt], stop: ir.Operand | None, tail: Tail, depth: int, keep: set[ir.Var], env: Env
    ) -> None:
        """Writes statements, the values that the loop passes on, and its end: ``break`` in the branch that decides ``stop``.

        A ``stop`` of None never ends the loop early.
        """
        last = stmts[-1] if stmts else None
        if isinstance(last, ir.If) and isinstance(stop, ir.Var) and stop in last.results:
            if tail.leave is not None and self.left_inside(stmts, last, stop, tail, depth, keep, env):
                return
            early, late = ([], tail.handed) if tail.leave is not None else self.split(tail.handed, last)
            rest = replace(tail, handed=late)
            if self.is_decided(last, stop, rest):
                self.block(stmts[:-1], depth)
                self.hand(early, depth, tail.loc, tail.around)
                self.deciding(last, stop, rest, depth, keep, env)
                return
        if tail.leave is not None and isinstance(last, (ir.For, ir.While)) and stop is not None:
            if self.flags.slot(last, stop) is not None and not self.nested.trees.get(stop):  # type: ignore[arg-type]
                self.leave_nested(last, tail.leave, env)
                stop = None
        self.block(stmts, depth)
        leaving = not isinstance(stop, ir.Const) or stop.value
        if tail.leave is not None and leaving and stop is not None:
            self.leaving(stop, tail, depth, env)
            if isinstance(stop, ir.Const):
                return
            stop = None
        self.hand(tail.handed, depth, tail.loc, tail.around)
        match stop:
            case None | ir.Const(value=False):
                return
            case ir.Const():
                self.line(depth, "break")
            case _:
                carried = [name for name, operand, _ in tail.handed if operand is stop]
                test = variable(carried[0]) if carried else self.node(stop)
                self.line(depth, "if ", test, ":", loc=tail.loc)
                self.line(depth + 1, "break")

    def leaving(self, stop: ir.Operand, tail: Tail, depth: int, env: Env) -> None:
        """Writes the exit of ``tail``, which is not ``break``, taken if ``stop`` holds; it is not tested if it is a constant.

        The exit reads values of this iteration, before any is passed on.
        """
        if not isinstance(stop, ir.Const):
            self.line(depth, "if ", self.node(stop), ":", loc=tail.loc)
            depth += 1
        assert tail.leave is not None
        tail.leave(depth, env)

    def leave_nested(self, loop: ir.For | ir.While, leave: Leave, env: Env) -> None:
        """Makes ``loop``, an inner loop whose flag stops the outer loop, leave both by ``leave``, the exit of the outer loop.

        Nothing is written yet; its flag is not printed.
        """
        slot = self.flags.slot(loop, loop.body.stop and loop.results[loop.body.yields.index(loop.body.stop)])
        assert slot is not None
        outer: dict[ir.Operand, ir.Operand] = dict(env)
        outer.update(zip(loop.results, loop.body.yields))
        self.leaves[id(loop)] = lambda depth, inner: leave(depth, {**outer, **inner})
        self.unsaid |= {loop.results[slot], loop.body.params[slot]}

    @staticmethod
    def with_results(env: Env, stmt: ir.If, side: ir.Block) -> Env:
        """``env`` with the results of a branch bound to the values of one side."""
        given: dict[ir.Operand, ir.Operand] = dict(env)
        given.update(zip(stmt.results, side.yields))
        return given

    def left_inside(
        self, stmts: Sequence[ir.Stmt], last: ir.If, stop: ir.Var, tail: Tail, depth: int, keep: set[ir.Var], env: Env
    ) -> bool:
        """Writes statements that end with an inner loop and the branch ``last`` on its flag, if that stops the outer loop too.

        Returns False, and writes nothing, if they do not.
        """
        flagged = self.flags.find(stmts[-2] if len(stmts) > 1 else None, last)
        if flagged is None or tail.leave is None:
            return False
        k = last.results.index(stop)
        ends = flagged.stopped.yields[k]
        if not isinstance(ends, ir.Const) or not ends.value:
            return False
        self.leave_nested(flagged.loop, tail.leave, self.with_results(env, last, flagged.stopped))
        self.block(stmts[:-1], depth)
        after = self.live.after[id(last)]
        handed = [h for h in self.pairs(last.results, flagged.ended.yields, after) if h[2] is not stop]
        inner = flagged.ended.yields[k]
        self.deciding_side(flagged.ended, handed, inner, tail, depth, keep, self.with_results(env, last, flagged.ended))
        return True

    def split(self, handed: list[Handed], stmt: ir.If) -> tuple[list[Handed], list[Handed]]:
        """A pair: the assignments that may be made before ``stmt``, and the rest; both in order."""
        touched = {self.names[v] for v in _touched(self.nested, stmt) if v in self.names}
        writes = any(isinstance(s, (ir.Store, ir.Add)) for b in blocks(stmt) for s in statements(b))
        early: list[Handed] = []
        late: list[Handed] = []
        for k, item in enumerate(handed):
            name, operand, _ = item
            reads = set(self.nested.leaves((operand,)))
            others = {
                self.names[v] for j, other in enumerate(handed) if j != k for v in self.nested.leaves((other[1],))
            }
            plain = operand not in self.nested.trees
            clear = name not in touched | others and not {self.names[v] for v in reads} & (
                touched | {h[0] for h in handed} - {name}
            )
            memory = writes and any(v.type.dims for v in reads)
            (late if plain or memory or not clear else early).append(item)
        return early, late

    def is_decided(self, stmt: ir.If, stop: ir.Var, tail: Tail) -> bool:
        """Whether ``break`` can be written into the sides of the branch: no value passed on before it changes the outcome of
        ``stop``."""
        if any(o in self.nested.trees for _, o, _ in tail.handed):
            return False
        k = stmt.results.index(stop)
        after = self.live.after[id(stmt)]
        for side in (stmt.then, stmt.orelse):
            inner = side.yields[k]
            if isinstance(inner, (ir.Const, ir.Undef)):
                continue
            handed = [*self.pairs(stmt.results, side.yields, after), *tail.handed]
            last = side.stmts[-1] if side.stmts else None
            nested = isinstance(last, ir.If) and inner in last.results
            if nested and not self.is_decided(last, inner, replace(tail, handed=handed)):  # type: ignore[arg-type]
                return False
            if not nested and {name for name, _, _ in handed} & {self.names[v] for v in self.nested.leaves((inner,))}:
                return False
        return True

    def deciding(self, stmt: ir.If, stop: ir.Var, tail: Tail, depth: int, keep: set[ir.Var], env: Env) -> None:
        """Writes the branch ``stmt``, whose result ``stop`` decides whether the loop ends, with the end of the body in each
        side."""
        k = stmt.results.index(stop)
        after = self.live.after[id(stmt)]
        if stop not in keep:
            after &= ~self.nested.aliases.numbers.bit(stop)
        written: list[list[Line]] = []
        ends: list[bool] = []
        for side in (stmt.then, stmt.orelse):
            handed, inner = self.pairs(stmt.results, side.yields, after), side.yields[k]
            here = self.with_results(env, stmt, side)
            # a flag that is passed on is also set where it is decided further inside
            more = keep | {y for r, y in zip(stmt.results, side.yields) if r in keep and isinstance(y, ir.Var)}
            written.append(self.captured(partial(self.deciding_side, side, handed, inner, tail, depth + 1, more, here)))
            ends.append(isinstance(inner, ir.Const) and bool(inner.value))
        self.decided(stmt, written, ends, depth)

    def deciding_side(
        self,
        side: ir.Block,
        handed: list[Handed],
        inner: ir.Operand,
        tail: Tail,
        depth: int,
        keep: set[ir.Var],
        env: Env,
    ) -> None:
        """Writes one side of a deciding branch with the end of the body: ``handed``, the loop's own assignments, and the exit.

        ``handed`` are the assignments of the side, ``inner`` the value of the flag on it.
        """
        if tail.leave is not None and isinstance(inner, ir.Const) and inner.value:
            self.block(side.stmts, depth)
            tail.leave(depth, env)
        elif handed and tail.handed:  # one after the other, not at once
            self.block(side.stmts, depth)
            if tail.leave is not None and not isinstance(inner, ir.Const):
                self.leaving(inner, tail, depth, env)
                inner = ir.Const(False, inner.type)
            self.hand(handed, depth, tail.loc, tail.around)
            self.tail([], inner, tail, depth, keep, env)
        else:
            self.tail(side.stmts, inner, replace(tail, handed=[*handed, *tail.handed]), depth, keep, env)

    def decided(self, stmt: ir.If, written: list[list[Line]], ends: list[bool], depth: int) -> None:
        """Writes a branch whose sides have the lines ``written``; ``ends``: for each, whether it always leaves the loop.

        After a side that does, the other one is not indented.
        """
        then, orelse = written
        if not then and not orelse:
            return
        if ends[1] and not ends[0] or not then:
            self.line(depth, "if ", self.negation(stmt.test), ":", loc=stmt.loc)
            then, orelse, ends = orelse, then, [ends[1], ends[0]]
        else:
            self.line(depth, "if ", self.node(stmt.test), ":", loc=stmt.loc)
        self.lines += then
        if ends[0]:
            self.lines += [replace(line, depth=line.depth - 1) for line in orelse]
        elif orelse:
            self.line(depth, "else:")
            self.lines += orelse

    def loop_else(self, flagged: Flagged, branch: ir.Stmt, depth: int) -> bool:
        """Writes ``for ...: ... else: ...`` for a loop with a flag and the branch on the flag, and returns True.

        False, and nothing is written, if the side for the stopped loop assigns something, or results would be set on both
        paths.
        """
        assert isinstance(branch, ir.If)
        after = self.live.after[id(branch)]
        if self.pairs(branch.results, flagged.stopped.yields, after):
            return False
        loop, slot = flagged.loop, flagged.slot
        self.unsaid |= {loop.results[slot], loop.body.params[slot]}
        handed = self.pairs(loop.results, loop.body.params, self.live.after[id(loop)])
        orelse = self.captured(lambda: self.side(branch, flagged.ended, depth + 1, after))
        if handed and orelse:  # the loop's results would have to be set on both paths
            self.unsaid -= {loop.results[slot], loop.body.params[slot]}
            return False
        self.statement([loop], 0, depth)
        if orelse:
            self.line(depth, "else:")
            self.lines += orelse
        return True


def _touched(nested: Nested, stmt: ir.Stmt) -> set[ir.Var]:
    """The variables that a statement, and the statements in it, read or set."""
    found = set(nested.reads(stmt))
    for block in blocks(stmt):
        found.update(nested.ends(block), defined(block))
        for inner in statements(block):
            found.update(nested.reads(inner), *(nested.ends(b) for b in blocks(inner)))
    return found.union(defines(stmt))
