"""Statements as lines: blocks, loops, branches, and what they hand on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from transpile.core.nodes import (
    NOWHERE, Add, Alloc, Block, Const, Effect, For, If, Let, Loc, NewStack, Operand, Pop, Push, Stmt, Store,
    Undef, Var, While,
)
from transpile.core.walk import blocks, defined, defines, statements
from transpile.render.effects import effect_lines
from transpile.render.exits import Env, Flagged, Flags, Leave
from transpile.render.expressions import Expressions, call, negated, range_node
from transpile.render.layout import Line
from transpile.render.liveness import Liveness
from transpile.render.nesting import Nested
from transpile.render.printer import flat
from transpile.render.updates import Updates

Handed = tuple[str, Operand, Var]  # the name that is assigned, the value, the variable


@dataclass(frozen=True)
class _Tail:
    """What comes at the end of the body of a loop: what is handed on, then the test for its end."""

    handed: list[Handed]
    around: int
    loc: Loc
    leave: Leave | None = None  # how the loop is left where it is stopped, if not by ``break``


class Writer:
    """Writes the body of one function; ``lines`` is what it wrote."""

    def __init__(self, nested: Nested, names: dict[Var, str]) -> None:
        self.nested, self.names = nested, names
        self.expressions = Expressions(nested, names)
        self.live = Liveness(nested.fn, nested.aliases.numbers, nested.reads, nested.ends)
        self.updates = Updates(nested, self.expressions, names, self.live)
        self.lines: list[Line] = []
        self.items = _item_groups(nested)
        self.flags = Flags(nested)
        self.unsaid: set[Var] = set()  # flags that the text does without
        self.leaves: dict[int, Leave] = {}  # id of a loop -> how it is left where it is stopped
        self.kept: list[Stmt] = []  # statements made here: facts are found by id, so they must not go away

    # ---- lines

    def line(self, depth: int, *parts: str | ast.expr, loc: Loc = NOWHERE) -> None:
        self.lines.append(Line(depth, parts, loc))

    def node(self, operand: Operand) -> ast.expr:
        return self.expressions.operand(operand)

    def block(self, stmts: Sequence[Stmt], depth: int) -> None:
        at = 0
        while at < len(stmts):
            sizes = self.sizes(stmts, at)
            if len(sizes) > 1:
                targets = ", ".join(self.names[s.var] for s in sizes)
                shape = ast.Attribute(self.node(sizes[0].args[0]), "shape", ast.Load())
                self.line(depth, f"{targets} = ", shape)
                at += len(sizes)
                continue
            flagged = self.flags.find(stmts[at], stmts[at + 1] if at + 1 < len(stmts) else None)
            if flagged is not None and self.loop_else(flagged, stmts[at + 1], depth):
                at += 2
                continue
            _STATEMENTS[type(stmts[at])](self, stmts[at], depth)
            at += 1

    def loop_else(self, flagged: Flagged, branch: Stmt, depth: int) -> bool:
        """``for ...: ... else: ...``; False if the side for the stopped loop does something."""
        assert isinstance(branch, If)
        after = self.live.after[id(branch)]
        if self.pairs(branch.results, flagged.stopped.yields, after):
            return False
        loop, slot = flagged.loop, flagged.slot
        self.unsaid |= {loop.results[slot], loop.body.params[slot]}
        handed = self.pairs(loop.results, loop.body.params, self.live.after[id(loop)])
        orelse = self.captured(lambda: self.side(branch, flagged.ended, depth + 1, after))
        if handed and orelse:  # what the loop hands on would have to be set on both ways
            self.unsaid -= {loop.results[slot], loop.body.params[slot]}
            return False
        _STATEMENTS[type(loop)](self, loop, depth)
        if orelse:
            self.line(depth, "else:")
            self.lines += orelse
        return True

    def sizes(self, stmts: Sequence[Stmt], at: int) -> list[Let]:
        """The *lets* from ``at`` on that take all sizes of one array, in their order."""
        found: list[Let] = []
        for stmt in stmts[at:]:
            if not isinstance(stmt, Let) or stmt.prim != "dim" or stmt.params["axis"] != len(found):
                break
            if found and stmt.args != found[0].args:
                break
            found.append(stmt)
        return found if found and len(found) == found[0].args[0].type.rank else []

    def assign(self, name: str, operand: Operand, var: Var, depth: int, loc: Loc, live: int) -> None:
        """``name = operand``, or an update of the variable in place."""
        tree = self.nested.trees.get(operand) if isinstance(operand, Var) else None
        if isinstance(tree, Let):
            loc = tree.loc if tree.loc.line else loc
            if self.update(name, tree, depth, loc, live):
                return
        self.line(depth, f"{name} = ", self.expressions.operand(operand, True), loc=loc)

    def update(self, name: str, let: Let, depth: int, loc: Loc, live: int) -> bool:
        found = self.updates.rebinding(name, let, live)
        if found is not None:
            self.line(depth, f"{name} {found[0]} ", found[1], loc=loc)
        return found is not None

    def hand(self, handed: Sequence[Handed], depth: int, loc: Loc, live: int) -> None:
        """Assignments that happen at once: in an order in which none overwrites what another reads, or as one statement."""
        todo = list(handed)
        while todo:
            reads = [{self.names[v] for v in self.nested.leaves((o,))} for _, o, _ in todo]
            free = next(
                (k for k, (name, _, _) in enumerate(todo) if not any(name in r for j, r in enumerate(reads) if j != k)), None
            )
            if free is None:
                left = ", ".join(name for name, _, _ in todo)
                right = ast.Tuple([self.expressions.operand(o, True) for _, o, _ in todo], ast.Load())
                self.line(depth, f"{left} = ", *_bare(right), loc=loc)
                return
            name, operand, var = todo.pop(free)
            self.assign(name, operand, var, depth, loc, live)

    def pairs(self, targets: Sequence[Var], sources: Sequence[Operand], wanted: int) -> list[Handed]:
        """What has to be assigned: not what shares the variable, is undefined, or is not needed."""
        found: list[Handed] = []
        for target, source in zip(targets, sources):
            if isinstance(source, Undef) or target in self.nested.trees or target in self.unsaid:
                continue
            if not wanted >> self.nested.aliases.numbers.number(target) & 1:
                continue
            name = self.names[target]
            if isinstance(source, Var) and source not in self.nested.trees and self.names[source] == name:
                continue
            found.append((name, source, target))
        return found

    # ---- branches

    def branch(self, stmt: If, depth: int, word: str = "if") -> None:
        after = self.live.after[id(stmt)]
        stmt = self.turned(stmt, after)
        then = self.captured(lambda: self.side(stmt, stmt.then, depth + 1, after))
        inner = stmt.orelse.stmts
        if then:
            is_check = all(isinstance(s, Effect) and s.kind == "raise" for s in stmt.then.stmts) and not then[0].comment
            self.lines.append(Line(depth, (f"{word} ", self.node(stmt.test), ":"), stmt.loc, comment=not is_check))
            self.lines += then
            if len(inner) == 1 and isinstance(inner[0], If) and not self.pairs(stmt.results, stmt.orelse.yields, after):
                self.branch(inner[0], depth, "elif")
                return
        orelse = self.captured(lambda: self.side(stmt, stmt.orelse, depth + 1, after))
        if not orelse:
            return
        if then:
            self.line(depth, "else:")
        else:
            self.line(depth, f"{word} ", self.negation(stmt.test), ":", loc=stmt.loc)
        self.lines += orelse

    def turned(self, stmt: If, after: int) -> If:
        """``if not c: a else: b`` as ``if c: b else: a``."""
        tree = self.nested.trees.get(stmt.test) if isinstance(stmt.test, Var) else None
        if not isinstance(tree, Let) or tree.prim != "logical_not":
            return stmt
        if not all(side.stmts or self.pairs(stmt.results, side.yields, after) for side in (stmt.then, stmt.orelse)):
            return stmt
        new = replace(stmt, test=tree.args[0], then=stmt.orelse, orelse=stmt.then)
        self.live.after[id(new)] = after
        self.kept.append(new)
        return new

    def side(self, stmt: If, side: Block, depth: int, after: int) -> None:
        self.block(side.stmts, depth)
        self.hand(self.pairs(stmt.results, side.yields, after), depth, stmt.loc, after)

    def captured(self, write: Callable[[], None]) -> list[Line]:
        """The lines that ``write`` writes, not written."""
        saved, self.lines = self.lines, []
        write()
        written, self.lines = self.lines, saved
        return written

    def negation(self, test: Operand) -> ast.expr:
        tree = self.nested.trees.get(test) if isinstance(test, Var) else None
        exact = isinstance(tree, Let) and all(not a.type.is_float for a in tree.args)
        return negated(self.node(test), exact)

    # ---- loops

    def loop_for(self, stmt: For, depth: int) -> None:
        after = self.start(stmt, depth)
        span = range_node(self.expressions, stmt.start, stmt.bound, stmt.step)
        if stmt.backwards:
            span = call(ast.Name("reversed", ast.Load()), span)
        body = self.body(stmt, depth + 1)
        used = any(stmt.index in set(self.nested.reads(s)) for s in statements(stmt.body))
        used = used or stmt.index in set(self.nested.ends(stmt.body)) or any(
            stmt.index in set(self.nested.ends(b)) for s in statements(stmt.body) for b in blocks(s)
        )
        name = self.names[stmt.index] if used else "_"
        self.line(depth, f"for {name} in ", span, ":", loc=stmt.loc)
        self.lines += body or [Line(depth + 1, ("pass",))]
        self.finish(stmt, depth, after)

    def loop_while(self, stmt: While, depth: int) -> None:
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

    def start(self, stmt: For | While, depth: int) -> int:
        around = self.live.around[id(stmt)] | self.live.entry[id(stmt.body)]
        self.hand(self.pairs(stmt.body.params, stmt.inits, around), depth, stmt.loc, around)
        return self.live.after[id(stmt)]

    def finish(self, stmt: For | While, depth: int, after: int) -> None:
        self.hand(self.pairs(stmt.results, stmt.body.params, after), depth, stmt.loc, after)

    def body(self, stmt: For | While, depth: int) -> list[Line]:
        """The lines of the body, its end included."""
        around = self.live.around[id(stmt)] | self.live.entry[id(stmt.body)]
        handed = self.pairs(stmt.body.params, stmt.body.yields, around)
        tail = _Tail(handed, around, stmt.loc, self.leaves.get(id(stmt)))
        keep = {v for p, v in zip(stmt.body.params, stmt.body.yields) if isinstance(v, Var) and p not in self.unsaid}
        return self.captured(lambda: self.tail(stmt.body.stmts, stmt.body.stop, tail, depth, keep, {}))

    def tail(
        self, stmts: Sequence[Stmt], stop: Operand | None, tail: _Tail, depth: int, keep: set[Var], env: Env
    ) -> None:
        """Statements, what the loop hands on, and its end: as ``break`` where it was decided."""
        last = stmts[-1] if stmts else None
        if isinstance(last, If) and isinstance(stop, Var) and stop in last.results:
            if tail.leave is not None and self.left_inside(stmts, last, stop, tail, depth, keep, env):
                return
            early, late = ([], tail.handed) if tail.leave is not None else self.split(tail.handed, last)
            rest = replace(tail, handed=late)
            if self.is_decided(last, stop, rest):
                self.block(stmts[:-1], depth)
                self.hand(early, depth, tail.loc, tail.around)
                self.deciding(last, stop, rest, depth, keep, env)
                return
        if tail.leave is not None and isinstance(last, (For, While)) and stop is not None:
            if self.flags.slot(last, stop) is not None and not self.nested.trees.get(stop):  # type: ignore[arg-type]
                self.leave_nested(last, tail.leave, env)
                stop = None
        self.block(stmts, depth)
        leaving = not isinstance(stop, Const) or stop.value
        if tail.leave is not None and leaving and stop is not None:
            self.leaving(stop, tail, depth, env)
            if isinstance(stop, Const):
                return
            stop = None
        self.hand(tail.handed, depth, tail.loc, tail.around)
        match stop:
            case None | Const(value=False):
                return
            case Const():
                self.line(depth, "break")
            case _:
                carried = [name for name, operand, _ in tail.handed if operand is stop]
                test = ast.Name(carried[0], ast.Load()) if carried else self.node(stop)
                self.line(depth, "if ", test, ":", loc=tail.loc)
                self.line(depth + 1, "break")

    def leaving(self, stop: Operand, tail: _Tail, depth: int, env: Env) -> None:
        """The exit that is no ``break``: it reads what the trip computed, before anything is handed on."""
        if not isinstance(stop, Const):
            self.line(depth, "if ", self.node(stop), ":", loc=tail.loc)
            depth += 1
        assert tail.leave is not None
        tail.leave(depth, env)

    def leave_nested(self, loop: For | While, leave: Leave, env: Env) -> None:
        """An inner loop whose stop is that of the loop around is left in the same way."""
        slot = self.flags.slot(loop, loop.body.stop and loop.results[loop.body.yields.index(loop.body.stop)])
        assert slot is not None
        outer = dict(env)
        outer.update(zip(loop.results, loop.body.yields))
        self.leaves[id(loop)] = lambda depth, inner: leave(depth, {**outer, **inner})
        self.unsaid |= {loop.results[slot], loop.body.params[slot]}

    def left_inside(
        self, stmts: Sequence[Stmt], last: If, stop: Var, tail: _Tail, depth: int, keep: set[Var], env: Env
    ) -> bool:
        """An inner loop with a flag, tested by the last branch, that ends the loop around as well."""
        flagged = self.flags.find(stmts[-2] if len(stmts) > 1 else None, last)
        if flagged is None or tail.leave is None:
            return False
        k = last.results.index(stop)
        ends = flagged.stopped.yields[k]
        if not isinstance(ends, Const) or not ends.value:
            return False
        self.leave_nested(flagged.loop, tail.leave, {**env, **dict(zip(last.results, flagged.stopped.yields))})
        self.block(stmts[:-1], depth)
        given = dict(zip(last.results, flagged.ended.yields))
        after = self.live.after[id(last)]
        handed = [h for h in self.pairs(last.results, flagged.ended.yields, after) if h[2] is not stop]
        inner = flagged.ended.yields[k]
        self.deciding_side(flagged.ended, handed, inner, tail, depth, keep, {**env, **given})
        return True

    def split(self, handed: list[Handed], stmt: If) -> tuple[list[Handed], list[Handed]]:
        """What is handed on that may as well be set before ``stmt``, and the rest."""
        touched = {self.names[v] for v in _touched(self.nested, stmt) if v in self.names}
        writes = any(isinstance(s, (Store, Add)) for b in blocks(stmt) for s in statements(b))
        early: list[Handed] = []
        late: list[Handed] = []
        for k, item in enumerate(handed):
            name, operand, _ = item
            reads = set(self.nested.leaves((operand,)))
            others = {self.names[v] for j, other in enumerate(handed) if j != k for v in self.nested.leaves((other[1],))}
            plain = operand not in self.nested.trees
            clear = name not in touched | others and not {self.names[v] for v in reads} & (touched | {h[0] for h in handed} - {name})
            memory = writes and any(v.type.dims for v in reads)
            (late if plain or memory or not clear else early).append(item)
        return early, late

    def is_decided(self, stmt: If, stop: Var, tail: _Tail) -> bool:
        """Whether the end of the loop can be written into the branches: what decides it still holds when all is handed on."""
        if any(o in self.nested.trees for _, o, _ in tail.handed):
            return False
        k = stmt.results.index(stop)
        after = self.live.after[id(stmt)]
        for side in (stmt.then, stmt.orelse):
            inner = side.yields[k]
            if isinstance(inner, (Const, Undef)):
                continue
            handed = [*self.pairs(stmt.results, side.yields, after), *tail.handed]
            last = side.stmts[-1] if side.stmts else None
            nested = isinstance(last, If) and inner in last.results
            if nested and not self.is_decided(last, inner, replace(tail, handed=handed)):  # type: ignore[arg-type]
                return False
            if not nested and {name for name, _, _ in handed} & {self.names[v] for v in self.nested.leaves((inner,))}:
                return False
        return True

    def deciding(self, stmt: If, stop: Var, tail: _Tail, depth: int, keep: set[Var], env: Env) -> None:
        """The branch in which the end of a loop is decided."""
        k = stmt.results.index(stop)
        after = self.live.after[id(stmt)]
        if stop not in keep:
            after &= ~self.nested.aliases.numbers.bit(stop)
        written: list[list[Line]] = []
        ends: list[bool] = []
        for side in (stmt.then, stmt.orelse):
            handed, inner = self.pairs(stmt.results, side.yields, after), side.yields[k]
            here = {**env, **dict(zip(stmt.results, side.yields))}
            written.append(self.captured(lambda: self.deciding_side(side, handed, inner, tail, depth + 1, keep, here)))
            ends.append(isinstance(inner, Const) and bool(inner.value))
        self.decided(stmt, written, ends, depth)

    def deciding_side(
        self, side: Block, handed: list[Handed], inner: Operand, tail: _Tail, depth: int, keep: set[Var], env: Env
    ) -> None:
        if tail.leave is not None and isinstance(inner, Const) and inner.value:
            self.block(side.stmts, depth)
            tail.leave(depth, env)
        elif handed and tail.handed:  # one after the other, not at once
            self.block(side.stmts, depth)
            if tail.leave is not None and not isinstance(inner, Const):
                self.leaving(inner, tail, depth, env)
                inner = Const(False, inner.type)
            self.hand(handed, depth, tail.loc, tail.around)
            self.tail([], inner, tail, depth, keep, env)
        else:
            self.tail(side.stmts, inner, replace(tail, handed=[*handed, *tail.handed]), depth, keep, env)

    def decided(self, stmt: If, written: list[list[Line]], ends: list[bool], depth: int) -> None:
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


def _bare(node: ast.Tuple) -> list[str | ast.expr]:
    """The elements of a tuple without parentheses around."""
    parts: list[str | ast.expr] = []
    for k, element in enumerate(node.elts):
        parts += [", ", element] if k else [element]
    return parts


def _touched(nested: Nested, stmt: Stmt) -> set[Var]:
    """The variables that a statement and what is in it reads or sets."""
    found = set(nested.reads(stmt))
    for block in blocks(stmt):
        found.update(nested.ends(block), defined(block))
        for inner in statements(block):
            found.update(nested.reads(inner), *(nested.ends(b) for b in blocks(inner)))
    return found.union(defines(stmt))


def _item_groups(nested: Nested) -> dict[Var, list[Let]]:
    """For each result of a primitive with several: the *lets* that take it apart."""
    groups: dict[Var, list[Let]] = {}
    for stmt in statements(nested.fn.body):
        if isinstance(stmt, Let) and stmt.prim == "item" and isinstance(stmt.args[0], Var):
            groups.setdefault(stmt.args[0], []).append(stmt)
    return groups


# ---------------------------------------------------------------------------------------------- simple statements


def _let(w: Writer, stmt: Let, depth: int) -> None:
    if stmt.var.type.kind == "tuple":
        return _unpack(w, stmt, depth)
    if stmt.prim == "item":
        return None
    name = w.names[stmt.var]
    same = stmt.prim == "copy" or (stmt.prim == "index" and not stmt.params["path"])
    if same and not stmt.var.type.dims and w.updates.is_name(stmt.args[0], name):
        return None
    if not w.update(name, stmt, depth, stmt.loc, w.live.after[id(stmt)]):
        w.line(depth, f"{name} = ", w.expressions.let(stmt), loc=NOWHERE if stmt.prim == "dim" else stmt.loc)
    return None


def _unpack(w: Writer, stmt: Let, depth: int) -> None:
    items = w.items.get(stmt.var, [])
    names = ["_"] * len(stmt.var.type.items)
    for item in items:
        names[item.params["k"]] = w.names[item.var]
    target = ", ".join(names) + ("," if len(names) == 1 else "")
    w.line(depth, f"{target} = ", w.expressions.let(stmt), loc=stmt.loc)


def _alloc(w: Writer, stmt: Alloc, depth: int) -> None:
    let = Let(stmt.var, stmt.prim, stmt.args, stmt.params, stmt.loc)
    w.line(depth, f"{w.names[stmt.var]} = ", w.expressions.let(let), loc=stmt.loc)


def _store(w: Writer, stmt: Store, depth: int) -> None:
    if stmt.path or not w.updates.is_name(stmt.value, w.names[stmt.buf]):
        w.line(depth, *w.updates.store(stmt), loc=stmt.loc)


def _add(w: Writer, stmt: Add, depth: int) -> None:
    w.line(depth, *w.updates.add(stmt), loc=stmt.loc)


def _push(w: Writer, stmt: Push, depth: int) -> None:
    append = ast.Attribute(w.expressions.name(stmt.stack), "append", ast.Load())
    w.line(depth, call(append, w.node(stmt.value)), loc=stmt.loc)


def _effect(w: Writer, stmt: Effect, depth: int) -> None:
    said = any(isinstance(p, str) and f":{stmt.loc.line}:" in p for p in stmt.params["parts"])  # the message names the line
    for parts in effect_lines(stmt, [w.node(a) for a in stmt.args]):
        w.lines.append(Line(depth, parts, stmt.loc, comment=not said))


_STATEMENTS: dict[type, Callable[[Writer, Stmt, int], None]] = {
    Let: _let,
    Alloc: _alloc,
    Store: _store,
    Add: _add,
    If: Writer.branch,
    For: Writer.loop_for,
    While: Writer.loop_while,
    NewStack: lambda w, s, depth: w.line(depth, f"{w.names[s.var]} = []", loc=s.loc),
    Push: _push,
    Pop: lambda w, s, depth: w.line(depth, f"{w.names[s.var]} = {w.names[s.stack]}.pop()", loc=s.loc),
    Effect: _effect,
}  # type: ignore[dict-item]

__all__ = ["Writer", "flat"]
