"""A file that is parsed and never executed, as those see it who ask what its names and expressions mean.

`transpile.frontend.resolve.static.StaticModule` answers: what a name means asks what an expression means, and that asks for names
again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.resolve.bindings import Binding, StaticClass, StaticValue
from transpile.frontend.resolve.module_values import Entry
from transpile.frontend.sources.locate import Located, has_yield, position, refuse_coroutine

Position = tuple[int, int]  # line and column


def place_of(node: gast.AST) -> Position | None:
    """Where a node stands; None of one that stands nowhere."""
    return None if getattr(node, "lineno", None) is None else (node.lineno, node.col_offset)


class StaticFile(ABC):
    """The text of a file, and what was found in it so far."""

    def __init__(self, path: str, lines: list[str], tree: gast.Module) -> None:
        self.path, self.lines, self.tree = path, lines, tree
        self.entries: dict[str, Entry] = {}
        self.stars: list[gast.ImportFrom] = []
        self.classes: dict[str, Any] = {}
        self.customs: dict[str, Any] = {}  # the functions with derivatives of the file's own
        self.resolving: set[str] = set()
        self.before: Position | None = None  # of the statement whose value is asked for: it knows nothing of later ones

    def loc(self, node: gast.AST, function: str = "", caller: ir.Loc | None = None) -> ir.Loc:
        return position(node, self.path, self.lines, function, 0, caller)

    @property
    def scope(self) -> StaticScope:
        return StaticScope(self)

    @contextmanager
    def as_of(self, node: gast.AST) -> Iterator[None]:
        """Names stand for what they stood for where a statement of the module was run."""
        saved, self.before = self.before, place_of(node)
        try:
            yield
        finally:
            self.before = saved

    @abstractmethod
    def sibling(self, path: str) -> StaticFile:
        """Another file of the program."""

    @abstractmethod
    def lookup(self, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What a name of the module stands for; T405 if the module does not define it."""

    @abstractmethod
    def class_named(self, name: str) -> StaticClass | None:
        """The class of that name, ``Outer.Inner`` of one in another."""

    @abstractmethod
    def resolve(self, name: str, node: gast.expr, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What an expression at module level means; T406 at ``loc`` if that cannot be said without running it."""

    @abstractmethod
    def evaluate(self, node: gast.expr) -> Any:
        """The value of a literal expression."""

    @abstractmethod
    def kind_of(self, node: gast.FunctionDef | gast.Lambda) -> str:
        """What the decorators of a definition make of it."""


class StaticScope:
    """The names of a module that is not executed, then Python's builtins."""

    def __init__(self, module: StaticFile, located: Located | None = None) -> None:
        self.module, self.located = module, located

    def loc(self, node: gast.AST, caller: ir.Loc | None = None) -> ir.Loc:
        return self.module.loc(node, caller=caller) if self.located is None else self.located.loc(node, caller)

    def lookup(self, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What the name stands for; T405 if the module does not define it."""
        if name == "__class__" and self.located is not None:
            owner = self.module.class_named(_class_around(self.module.tree, self.located.node))
            if owner is not None:
                return StaticValue(owner)
        return self.module.lookup(name, loc)


def _class_around(tree: gast.AST, node: gast.AST, path: str = "") -> str:
    """The dotted name of the class in whose body a method stands; empty if there is none."""
    for stmt in getattr(tree, "body", ()):
        if stmt is node:
            return path
        if isinstance(stmt, gast.ClassDef) and (found := _class_around(stmt, node, f"{path}.{stmt.name}".lstrip("."))):
            return found
    return ""


@dataclass(frozen=True, eq=False)
class StaticFunction:
    """A function of a module that is not executed; ``args`` and ``kwargs`` are bound by ``functools.partial``.

    ``owner`` is the class that a method is asked for as a member of.
    """

    node: gast.FunctionDef | gast.Lambda
    module: StaticFile = field(repr=False)
    qualname: str
    args: tuple[Binding, ...] = ()
    kwargs: Mapping[str, Binding] = field(default_factory=dict)
    owner: StaticClass | None = None

    @property
    def __name__(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def located(self) -> Located:
        """The definition; T103 or T104 if it is async or a generator, T130 if decorators make it another function."""
        self.module.kind_of(self.node)
        located = Located(self.node, self.module.path, self.module.lines, self.qualname)
        refuse_coroutine(located, isinstance(self.node, gast.AsyncFunctionDef), has_yield(self.node))
        return located

    @property
    def scope(self) -> StaticScope:
        return StaticScope(self.module, Located(self.node, self.module.path, self.module.lines, self.qualname))

    def defaults(self) -> dict[str, Binding]:
        """The default values by parameter name: expressions of the module."""
        args = self.node.args
        positional = [*getattr(args, "posonlyargs", ()), *args.args]
        found = dict(zip([a.id for a in positional[len(positional) - len(args.defaults) :]], args.defaults))
        found |= {a.id: d for a, d in zip(args.kwonlyargs, args.kw_defaults) if d is not None}
        with self.module.as_of(self.node):
            return {name: self.module.resolve(name, node) for name, node in found.items()}

    @property
    def kind(self) -> str:
        """What its decorators make of it: ``static``, ``class``, ``property`` or ``plain``; T130 if that is not known."""
        return self.module.kind_of(self.node)
