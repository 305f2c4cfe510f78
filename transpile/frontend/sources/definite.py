"""Definite assignment: which reads of local variables may come before any assignment, as Python's control flow has it.

Asked of a function before `exits.desugar`, because flags hide what ``break`` and ``return`` guarantee. Tests are
opaque but for ``while True`` and ``range(3)``; ``raise`` and ``assert False`` end a path. Calls are taken to return.

>>> fn = gast.parse('''
... def f(x, n):
...     for i in range(n):
...         y = x * i
...     while True:
...         z = x
...         if z > 0:
...             w = z
...             break
...     return y + z + w
... ''').body[0]
>>> [(name.id, name.lineno) for name in maybe_unassigned(fn)]
[('y', 10)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

from transpile.frontend.sources.leaving import is_true

State = frozenset[str] | None  # the names that surely have a value; None where control cannot be
_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def maybe_unassigned(fn: gast.FunctionDef | gast.Lambda) -> tuple[gast.Name, ...]:
    """The ``Name`` nodes of local variables that are read (or augmented) where they may have no value, in order."""
    if isinstance(fn, gast.Lambda):
        return ()
    flow = _Flow(local_names(fn))
    args = fn.args
    every = [*getattr(args, "posonlyargs", ()), *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    flow.block(fn.body, frozenset(a.id for a in every if a is not None))
    return tuple(flow.found)


def local_names(fn: gast.FunctionDef) -> frozenset[str]:
    """The names that the function's own statements bind, without its parameters."""
    names: set[str] = set()
    declared: set[str] = set()
    _bound(fn.body, names, declared)
    return frozenset(names - declared)


def _bound(nodes: Sequence[gast.AST], names: set[str], declared: set[str]) -> None:
    for node in nodes:
        match node:
            case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
                names.add(node.name)
                continue
            case gast.Lambda():
                continue
            case gast.Global() | gast.Nonlocal():
                declared.update(node.names)
            case gast.Name() if isinstance(node.ctx, (gast.Store, gast.Del)):
                names.add(node.id)
            case gast.Import() | gast.ImportFrom():
                names.update((a.asname or a.name).partition(".")[0] for a in node.names)
        if isinstance(node, _COMPREHENSIONS):  # its own targets are not ours, a walrus in it is
            names.update(n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr))
        else:
            _bound(list(gast.iter_child_nodes(node)), names, declared)


class _Loop:
    """The states in which ``break`` leaves a loop, joined, and those in which a trip ends otherwise."""

    def __init__(self) -> None:
        self.out: State = None
        self.again: State = None


class _Flow:
    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.found: dict[gast.Name, None] = {}
        self.loops: list[_Loop] = []

    # ---- statements: from the state before to the state after

    def block(self, stmts: Sequence[gast.stmt], state: State) -> State:
        for stmt in stmts:
            if state is None:
                return None
            state = _STATEMENTS.get(type(stmt), _Flow.other)(self, stmt, state)
        return state

    def other(self, stmt: gast.stmt, state: frozenset[str]) -> State:
        return self.children(stmt, state)

    def assign(self, stmt: gast.Assign | gast.AnnAssign, state: frozenset[str]) -> State:
        if stmt.value is None:
            return state
        state = self.expr(stmt.value, state)
        for target in stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]:
            state = self.target(target, state)
        return state

    def augment(self, stmt: gast.AugAssign, state: frozenset[str]) -> State:
        if isinstance(stmt.target, gast.Name):
            self.read(stmt.target, state)
        return self.target(stmt.target, self.expr(stmt.value, state))

    def branch(self, stmt: gast.If, state: frozenset[str]) -> State:
        yes, no = self.test(stmt.test, state)
        return meet(self.block(stmt.body, yes), self.block(stmt.orelse, no))

    def delete(self, stmt: gast.Delete, state: frozenset[str]) -> State:
        for target in stmt.targets:
            if isinstance(target, gast.Name):
                self.read(target, state)
            else:
                state = self.children(target, state)
        return state - deleted(stmt)

    def for_loop(self, stmt: gast.For, state: frozenset[str]) -> State:
        state = self.expr(stmt.iter, state) - deleted(stmt)
        loop = self.trip(stmt.body, self.target(stmt.target, state))
        ended = loop.again if has_trip(stmt.iter) else state
        return meet(loop.out, self.block(stmt.orelse, ended))

    def while_loop(self, stmt: gast.While, state: frozenset[str]) -> State:
        state -= deleted(stmt)
        yes, no = self.test(stmt.test, state)
        loop = self.trip(stmt.body, yes)
        return meet(loop.out, self.block(stmt.orelse, None if is_true(stmt.test) else no))

    def trip(self, body: Sequence[gast.stmt], state: State) -> _Loop:
        # what the body deletes is not known, so it only adds names: what is known when it begins is so when it begins again
        self.loops.append(_Loop())
        after = self.block(body, state)
        loop = self.loops.pop()
        loop.again = meet(loop.again, after)
        return loop

    def leave_loop(self, stmt: gast.Break, state: frozenset[str]) -> State:
        if self.loops:
            self.loops[-1].out = meet(self.loops[-1].out, state)
        return None

    def leave_trip(self, stmt: gast.Continue, state: frozenset[str]) -> State:
        if self.loops:
            self.loops[-1].again = meet(self.loops[-1].again, state)
        return None

    def leave(self, stmt: gast.stmt, state: frozenset[str]) -> State:
        self.children(stmt, state)
        return None

    def check(self, stmt: gast.Assert, state: frozenset[str]) -> State:
        yes, no = self.test(stmt.test, state)
        if stmt.msg is not None and no is not None:
            self.expr(stmt.msg, no)
        return yes

    def scoped(self, stmt: gast.With, state: frozenset[str]) -> State:
        for item in stmt.items:
            state = self.expr(item.context_expr, state)
            if item.optional_vars is not None:
                state = self.target(item.optional_vars, state)
        return self.block(stmt.body, state)

    def attempt(self, stmt: Any, state: frozenset[str]) -> State:
        after = self.block(stmt.orelse, self.block(stmt.body, state))
        for handler in stmt.handlers:
            after = meet(after, self.block(handler.body, state))
        final = self.block(stmt.finalbody, state)
        return None if after is None or final is None else after | final

    def define(self, stmt: gast.FunctionDef | gast.ClassDef, state: frozenset[str]) -> State:
        for decorator in stmt.decorator_list:
            state = self.expr(decorator, state)
        if not isinstance(stmt, gast.ClassDef):
            state = self.defaults(stmt, state)
        return state | {stmt.name}

    def defaults(self, node: gast.FunctionDef | gast.Lambda, state: frozenset[str]) -> frozenset[str]:
        """What is evaluated where a function is defined; its body is not."""
        for default in (*node.args.defaults, *node.args.kw_defaults):
            state = state if default is None else self.expr(default, state)
        return state

    def bring(self, stmt: gast.Import, state: frozenset[str]) -> State:
        return state | {(a.asname or a.name).partition(".")[0] for a in stmt.names}

    # ---- expressions

    def read(self, node: gast.Name, state: frozenset[str]) -> None:
        if node.id in self.names and node.id not in state:
            self.found[node] = None

    def target(self, node: gast.expr, state: frozenset[str]) -> frozenset[str]:
        match node:
            case gast.Name():
                return state | {node.id}
            case gast.Tuple() | gast.List():
                for element in node.elts:
                    state = self.target(element, state)
                return state
            case gast.Starred():
                return self.target(node.value, state)
        return self.children(node, state)

    def children(self, node: gast.AST, state: frozenset[str]) -> frozenset[str]:
        for child in gast.iter_child_nodes(node):
            if isinstance(child, (gast.expr, gast.Slice, gast.keyword)):
                state = self.expr(child, state)
        return state

    def expr(self, node: gast.AST, state: frozenset[str]) -> frozenset[str]:
        """The state after the expression is evaluated; reads in it are checked."""
        match node:
            case gast.Name():
                if isinstance(node.ctx, gast.Load):
                    self.read(node, state)
                return state
            case gast.NamedExpr():
                return self.expr(node.value, state) | {node.target.id}
            case gast.BoolOp() | gast.IfExp() | gast.Compare():
                yes, no = self.test(node, state)
                return _sure(meet(yes, no), state)
            case gast.Lambda():
                return self.defaults(node, state)
        if isinstance(node, _COMPREHENSIONS):
            return self.comprehension(node, state)
        return self.children(node, state)

    def comprehension(self, node: Any, state: frozenset[str]) -> frozenset[str]:
        after = self.expr(node.generators[0].iter, state)
        inner = after
        for k, generator in enumerate(node.generators):
            inner = inner if k == 0 else self.expr(generator.iter, inner)
            inner = self.target(generator.target, inner)
            for test in generator.ifs:
                inner = _sure(self.test(test, inner)[0], inner)
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                inner = self.expr(getattr(node, part), inner)
        return after

    def test(self, node: gast.expr, state: frozenset[str]) -> tuple[State, State]:
        """The states where the expression is true and where it is false."""
        match node:
            case gast.Constant():
                return (state, None) if node.value else (None, state)
            case gast.UnaryOp(op=gast.Not()):
                yes, no = self.test(node.operand, state)
                return no, yes
            case gast.BoolOp():
                return self.chain(node, state)
            case gast.Compare():
                return self.comparison(node, state)
            case gast.IfExp():
                yes, no = self.test(node.test, state)
                results = [self.test(n, s) for n, s in ((node.body, yes), (node.orelse, no)) if s is not None]
                return meet(*(r[0] for r in results)), meet(*(r[1] for r in results))
        after = self.expr(node, state)
        return after, after

    def comparison(self, node: gast.Compare, state: frozenset[str]) -> tuple[State, State]:
        """``a < b < c`` goes on to ``c`` only where ``a < b``."""
        whole = first = self.expr(node.comparators[0], self.expr(node.left, state))
        for later in node.comparators[1:]:
            whole = self.expr(later, whole)
        return whole, first

    def chain(self, node: gast.BoolOp, state: frozenset[str]) -> tuple[State, State]:
        """``and`` goes on where true and is false as soon as one is; ``or`` the other way round."""
        going: State = state
        left: State = None
        is_and = isinstance(node.op, gast.And)
        for value in node.values:
            if going is None:
                break
            yes, no = self.test(value, going)
            going, out = (yes, no) if is_and else (no, yes)
            left = meet(left, out)
        return (going, left) if is_and else (left, going)


def has_trip(iterated: gast.expr) -> bool:
    """Whether a loop over the expression surely has a trip: a nonempty literal, ``range(3)``."""
    match iterated:
        case gast.Tuple() | gast.List():
            return any(not isinstance(e, gast.Starred) for e in iterated.elts)
        case gast.Call(func=gast.Name(id="range")) if not iterated.keywords:
            numbers = [a.value for a in iterated.args if isinstance(a, gast.Constant) and type(a.value) is int]
            return 0 < len(numbers) == len(iterated.args) < 3 and len(range(*numbers)) > 0
    return False


def deleted(stmt: gast.stmt) -> frozenset[str]:
    """The names that a ``del`` in the statement removes."""
    return frozenset(n.id for n in gast.walk(stmt) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Del))


def meet(*states: State) -> State:
    """What is sure on every path that gets here."""
    reached = [s for s in states if s is not None]
    return frozenset.intersection(*reached) if reached else None


def _sure(state: State, otherwise: frozenset[str]) -> frozenset[str]:
    return otherwise if state is None else state


_STATEMENTS: dict[type, Callable[..., State]] = {
    gast.Assign: _Flow.assign,
    gast.AnnAssign: _Flow.assign,
    gast.AugAssign: _Flow.augment,
    gast.If: _Flow.branch,
    gast.For: _Flow.for_loop,
    gast.While: _Flow.while_loop,
    gast.Break: _Flow.leave_loop,
    gast.Continue: _Flow.leave_trip,
    gast.Return: _Flow.leave,
    gast.Raise: _Flow.leave,
    gast.Assert: _Flow.check,
    gast.Delete: _Flow.delete,
    gast.With: _Flow.scoped,
    gast.Try: _Flow.attempt,
    gast.FunctionDef: _Flow.define,
    gast.AsyncFunctionDef: _Flow.define,
    gast.ClassDef: _Flow.define,
    gast.Import: _Flow.bring,
    gast.ImportFrom: _Flow.bring,
}
