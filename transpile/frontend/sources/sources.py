"""A function as the lifter runs it: structured body, names, liveness, and where its free names are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.sources import definite
from transpile.frontend.sources import name_liveness as liveness
from transpile.frontend.sources.structured_exits import Desugared, desugar


@dataclass(eq=False)
class Code:
    """A definition: of a function, a lambda or a comprehension. ``lookup(name, node)`` finds what is not a local name."""

    node: Any
    name: str
    locate: Callable[[gast.AST, ir.Loc | None], ir.Loc]
    lookup: Callable[[str], Any]
    unassigned: frozenset[int] | None = None  # the ids of reads that may find no value; None: not known
    inner: dict[int, Code] = field(default_factory=dict)  # one Code for each definition inside
    function: Any = (
        None  # what it is the code of: a function that runs, or this definition; two closures may share the ``node``
    )
    ours: bool = False  # of our own vocabulary (`transpile.lax`)
    named: bool = (
        True  # what its variables are called are names in what is printed: not in what is NumPy's (`known.COMPOSITES`)
    )

    def loc(self, node: gast.AST, caller: ir.Loc | None) -> ir.Loc:
        return self.locate(node, caller)

    @property
    def args(self) -> gast.arguments:
        return self.node.args

    @cached_property
    def desugared(self) -> Desugared | None:
        return desugar(self.node) if isinstance(self.node, gast.FunctionDef) else None

    @cached_property
    def body(self) -> list[gast.stmt]:
        if self.desugared is not None:
            return self.desugared.node.body
        if isinstance(self.node, gast.Lambda):
            return [gast.copy_location(gast.Return(value=self.node.body), self.node.body)]
        return []

    @property
    def flags(self) -> frozenset[str]:
        return self.desugared.flags if self.desugared is not None else frozenset()

    @cached_property
    def liveness(self) -> liveness.Liveness:
        return liveness.Liveness(self.body)

    @cached_property
    def declared(self) -> dict[str, str]:
        """The names declared ``global`` or ``nonlocal``."""
        found: dict[str, str] = {}
        for stmt in _own(self.body):
            if isinstance(stmt, gast.Global):
                found.update(dict.fromkeys(stmt.names, "global"))
            if isinstance(stmt, gast.Nonlocal):
                found.update(dict.fromkeys(stmt.names, "nonlocal"))
        return found

    @cached_property
    def locals(self) -> frozenset[str]:
        """The names of its own scope."""
        if isinstance(self.node, (gast.FunctionDef, gast.Lambda)):
            args = self.node.args
            stars = [a for a in (args.vararg, args.kwarg) if a is not None]
            params = [a.id for a in (*getattr(args, "posonlyargs", ()), *args.args, *args.kwonlyargs, *stars)]
            return (frozenset(params) | frozenset(liveness.assigned(self.body))) - frozenset(self.declared)
        return frozenset()

    def _locate_in(self, node: Any, name: str) -> Callable[[gast.AST, ir.Loc | None], ir.Loc]:
        """How nodes of a definition inside are located: their function is that definition. What is located at the call, as in our
        own vocabulary, stays there."""
        if not isinstance(node, (gast.FunctionDef, gast.Lambda)):
            return self.locate

        def locate(inner: gast.AST, caller: ir.Loc | None) -> ir.Loc:
            found = self.locate(inner, caller)
            return found if found is caller or not found.line else replace(found, function=name)

        return locate

    def inside(self, node: Any, name: str) -> Code:
        """The code of a definition inside this one."""
        found = self.inner.get(id(node))
        if found is None:
            found = Code(
                node,
                name,
                self._locate_in(node, name),
                self.lookup,
                named=self.named,
                function=(self.function, id(node)),
            )
            if isinstance(node, gast.FunctionDef):
                found.unassigned = maybe_unassigned(node)
            self.inner[id(node)] = found
        return found


def maybe_unassigned(node: gast.FunctionDef) -> frozenset[int]:
    """The ids of the reads that some path reaches without an assignment."""
    return frozenset(id(n) for n in definite.maybe_unassigned(node))


def _own(stmts: list[gast.stmt]) -> list[gast.AST]:
    found: list[gast.AST] = []
    stack: list[gast.AST] = list(reversed(stmts))
    while stack:
        node = stack.pop()
        found.append(node)
        if not isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef)):
            stack.extend(reversed(list(gast.iter_child_nodes(node))))
    return found
