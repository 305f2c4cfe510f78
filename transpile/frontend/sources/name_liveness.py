"""Which names are still read after each statement of a function body.

In: the body as `transpile.frontend.sources.structured_exits` leaves it (no ``break``, one ``return``). Out: `Liveness`: after
each statement, and at the head of each loop. What inner functions read is taken to be read always.

>>> import gast
>>> body = gast.parse("y = 1\\nz = y\\nw = z").body
>>> found = Liveness(body)
>>> sorted(found.after(body[0])), sorted(found.after(body[1]))
(['y'], ['z'])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gast

Names = frozenset[str]
NONE: Names = frozenset()


class Liveness:
    """The names that are live after each statement of a body."""

    def __init__(self, body: Sequence[gast.stmt]) -> None:
        self._after: dict[int, Names] = {}
        self._head: dict[int, Names] = {}
        self.always = frozenset(n for s in body for n in closure_reads(s))
        self._block(body, self.always)

    def after(self, stmt: gast.stmt) -> Names:
        """The names read after the statement."""
        return self._after.get(id(stmt), self.always)

    def head(self, loop: gast.stmt) -> Names:
        """The names read in the next trip of a loop or after it."""
        return self._head.get(id(loop), self.always)

    def _block(self, body: Sequence[gast.stmt], after: Names) -> Names:
        for stmt in reversed(body):
            self._after[id(stmt)] = after
            after = _RULES.get(type(stmt), _plain)(self, stmt, after)
        return after

    def _loop(self, stmt: Any, after: Names, reads: Names, stores: Names) -> Names:
        head = after | reads
        while True:
            wider = head | reads | (self._block(stmt.body, head) - stores)
            if wider == head:
                break
            head = wider
        self._head[id(stmt)] = head
        return head


def loads(node: gast.AST | None) -> Names:
    """The names that an expression or statement reads, inner functions included."""
    if node is None:
        return NONE
    return frozenset(n.id for n in gast.walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))


def stores(node: gast.AST) -> Names:
    """The names that a node assigns in its own scope."""
    return frozenset(assigned([node]))


def assigned(nodes: Sequence[gast.AST]) -> list[str]:
    """The names that statements assign in their own scope, in the order of the source."""
    found: dict[str, None] = {}

    def visit(node: gast.AST) -> None:
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            found[node.name] = None
            return
        if isinstance(node, gast.Lambda):
            return
        if isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del)):
            found[node.id] = None
        if isinstance(node, (gast.Import, gast.ImportFrom)):
            for alias in node.names:
                found[(alias.asname or alias.name).partition(".")[0]] = None
        if isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)):
            for inner in gast.walk(node):  # only := leaves a comprehension
                if isinstance(inner, gast.NamedExpr):
                    found[inner.target.id] = None
            return
        for child in gast.iter_child_nodes(node):
            visit(child)

    for node in nodes:
        visit(node)
    return list(found)


def rebound(nodes: Sequence[gast.AST]) -> frozenset[str]:
    """The names that statements assign other than by ``+=`` and its like, which write into an array."""
    plain: list[gast.AST] = []

    def visit(node: gast.AST) -> None:
        if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
            visit(node.value)
        elif isinstance(node, (gast.If, gast.For, gast.While, gast.With)):
            for child in gast.iter_child_nodes(node):
                visit(child)
        else:
            plain.append(node)

    for node in nodes:
        visit(node)
    return frozenset(assigned(plain))


def handed(nodes: Sequence[gast.AST]) -> frozenset[str]:
    """The names that are set to what a function gives that they are handed to (``u = step(u)``): it may be the same object."""
    found: set[str] = set()
    for node in nodes:
        for inner in gast.walk(node):
            match inner:
                case gast.Assign(targets=[gast.Name() as target], value=gast.Call(func=gast.Name(), args=args)):
                    if any(isinstance(a, gast.Name) and a.id == target.id for a in args):
                        found.add(target.id)
    return frozenset(found)


def closure_reads(node: gast.AST) -> Names:
    """What the inner functions and lambdas under a node read."""
    found: set[str] = set()
    for inner in gast.walk(node):
        if isinstance(inner, (gast.FunctionDef, gast.Lambda)):
            found |= loads(inner)
            found |= {n for s in gast.walk(inner) if isinstance(s, gast.Nonlocal) for n in s.names}
    return frozenset(found)


def _plain(self: Liveness, stmt: Any, after: Names) -> Names:
    return after | loads(stmt)


def _assign(self: Liveness, stmt: Any, after: Names) -> Names:
    killed = {t.id for t in stmt.targets if isinstance(t, gast.Name)}
    for target in stmt.targets:
        if isinstance(target, (gast.Tuple, gast.List)):
            killed |= stores(target)
    return (after - killed) | loads(stmt)


def _annotated(self: Liveness, stmt: Any, after: Names) -> Names:
    if stmt.value is None:
        return after
    killed = {stmt.target.id} if isinstance(stmt.target, gast.Name) else set()
    return (after - killed) | loads(stmt.value) | loads(stmt.target)


def _augmented(self: Liveness, stmt: Any, after: Names) -> Names:
    target = {stmt.target.id} if isinstance(stmt.target, gast.Name) else NONE
    return after | loads(stmt) | target


def _delete(self: Liveness, stmt: Any, after: Names) -> Names:
    return after | loads(stmt) | stores(stmt)  # a name is asked whether it has a value


def _if(self: Liveness, stmt: Any, after: Names) -> Names:
    return loads(stmt.test) | self._block(stmt.body, after) | self._block(stmt.orelse, after)


def _for(self: Liveness, stmt: Any, after: Names) -> Names:
    return self._loop(stmt, after, loads(stmt.target), stores(stmt.target)) | loads(stmt.iter)


def _while(self: Liveness, stmt: Any, after: Names) -> Names:
    return self._loop(stmt, after, loads(stmt.test), NONE)


def _with(self: Liveness, stmt: Any, after: Names) -> Names:
    inner = self._block(stmt.body, after)
    for item in stmt.items:
        inner |= loads(item.context_expr)
    return inner


def _leave(self: Liveness, stmt: Any, after: Names) -> Names:
    return loads(stmt) | self.always


_RULES: dict[type, Callable[[Liveness, Any, Names], Names]] = {
    gast.Assign: _assign,
    gast.AnnAssign: _annotated,
    gast.AugAssign: _augmented,
    gast.Delete: _delete,
    gast.If: _if,
    gast.For: _for,
    gast.While: _while,
    gast.With: _with,
    gast.Return: _leave,
    gast.Raise: _leave,
}
