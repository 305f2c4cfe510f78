"""What a name of the user's program stands for: the answers of a scope's ``lookup``.

``Known``        something of NumPy, SciPy, math or Python itself, by its dotted name
``User``         a Python function that is lifted where it is called
``StaticValue``  a value that is known when the function is transformed: None, a flag, a string, a dtype, a class, a
transform
``Captured``     arrays and numbers of globals, closures and objects: hidden arguments, read at each call
``Literal``      (static mode) a module constant that is a literal expression: copied into the program
``Module``       a module; ``attr`` gives what it holds
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gast

from transpile.core import nodes as ir


@dataclass(frozen=True)
class Known:
    """``name`` is canonical ("numpy.absolute" for ``np.abs``); ``aliases`` are all the names of the same object.

    ``value`` is that of a numeric constant such as ``math.pi``, else None.
    """

    name: str
    aliases: tuple[str, ...] = ()
    value: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The canonical name first, then the others: look a table up by each."""
        return (self.name, *(a for a in self.aliases if a != self.name))


@dataclass(frozen=True)
class User:
    """``target``: a live callable (`locate.unwrap` takes it apart) or a `StaticFunction`."""

    target: Any


@dataclass(frozen=True)
class StaticValue:
    """A value that is known now; its attributes may be looked up with `resolve.attribute`."""

    value: Any


# ------------------------------------------------------------------------------------------------------ captured


@dataclass(frozen=True, eq=False)
class Root:
    """Where reading a captured value begins. Two roots are equal if they read the same variable of the same holder."""

    name: str  # as the user wrote it
    kind: str  # global, cell, object
    holder: Any = field(repr=False)  # the namespace, the cell, the object itself

    def read(self) -> Any:
        return _READ[self.kind](self)

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, id(self.holder), self.name if self.kind == "global" else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Root) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


_READ: dict[str, Callable[[Root], Any]] = {
    "global": lambda root: root.holder[root.name],
    "cell": lambda root: root.holder.cell_contents,
    "object": lambda root: root.holder,
}


@dataclass(frozen=True)
class Captured:
    """A value outside the function, read anew at each call; ``steps`` are ("attr", name) or ("item", key).

    ``example`` is what it holds now: a number, an array, or a container with such leaves, whose parts are ``child``ren.
    """

    root: Root
    steps: tuple[tuple[str, Any], ...] = ()
    example: Any = field(default=None, compare=False, repr=False)

    def read(self) -> Any:
        value = self.root.read()
        for kind, key in self.steps:
            value = getattr(value, key) if kind == "attr" else value[key]
        return value

    def child(self, kind: str, key: Any) -> Captured:
        """The part of it under an attribute ("attr") or a key ("item")."""
        value = getattr(self.example, key) if kind == "attr" else self.example[key]
        return Captured(self.root, (*self.steps, (kind, key)), value)

    @property
    def path(self) -> str:
        """As Python text: ``config.weights[0]``."""
        return self.root.name + "".join(f".{key}" if kind == "attr" else f"[{key!r}]" for kind, key in self.steps)

    def __str__(self) -> str:
        return self.path


# -------------------------------------------------------------------------------------------- literals, modules


@dataclass(frozen=True, eq=False)
class Literal:
    """An expression of literals in a module that is not executed. Lift ``node`` in ``scope``, or take its ``value``."""

    node: gast.expr
    scope: Any = field(repr=False)
    name: str = ""

    @property
    def value(self) -> Any:
        """The Python or NumPy object that it means; only NumPy's and Python's own functions are run for it."""
        return self.scope.module.evaluate(self.node)

    @property
    def loc(self) -> ir.Loc:
        return self.scope.loc(self.node)


@dataclass(frozen=True)
class Module:
    """A module by its dotted name; ``members`` finds what it holds (None: one of those that are known by name)."""

    dotted: str
    members: Callable[[str, ir.Loc], Binding] = field(compare=False, repr=False)

    def attr(self, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What ``module.name`` is; T416 if it has no such name."""
        return self.members(name, loc)


@dataclass(frozen=True, eq=False)
class StaticClass:
    """A class of a module that is not executed. ``kind``: namedtuple, dataclass or class.

    ``fields``: (name, annotation or None, default or None) of a named tuple or dataclass; ``methods`` by name.
    """

    name: str
    kind: str
    fields: tuple[tuple[str, gast.expr | None, gast.expr | None], ...]
    methods: Mapping[str, Any] = field(default_factory=dict, repr=False)
    scope: Any = field(default=None, repr=False)
    node: Any = field(default=None, repr=False)
    bases: tuple[StaticClass | None, ...] = ()  # None: one that is not known

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def order(self) -> tuple[StaticClass, ...]:
        """The class and those that it comes from, each before its own bases."""
        found = [self, *(one for base in self.bases if base is not None for one in base.order)]
        return tuple(one for k, one in enumerate(found) if one not in found[k + 1 :])

    @property
    def is_frozen(self) -> bool:
        """Whether its decorator says ``frozen=True``."""
        given = [k for d in getattr(self.node, "decorator_list", ()) for k in getattr(d, "keywords", ())]
        return any(k.arg == "frozen" and getattr(k.value, "value", False) is True for k in given)

    @property
    def importable(self) -> str | None:
        """The name of the module that has the class, from the directory of its outermost package; None if no file has it."""
        path = Path(self.scope.module.path)
        if not path.is_file() or self.node not in self.scope.module.tree.body:
            return None
        names = [] if path.stem == "__init__" else [path.stem]
        folder = path.absolute().parent
        while (folder / "__init__.py").is_file():
            names.insert(0, folder.name)
            folder = folder.parent
        return ".".join(names)

    def constant(self, name: str) -> Binding | None:
        """What the body of the class, or of one that it derives from, binds the name to; None if it does not."""
        for one in (self, *self.bases):
            found = None if one is None else self._assigned(name) if one is self else one.constant(name)
            if found is not None:
                return found
        return None

    def _assigned(self, name: str) -> Binding | None:
        """What the last assignment of the name in its body binds it to."""
        for s in reversed(getattr(self.node, "body", [])):
            targets = s.targets if isinstance(s, gast.Assign) else [s.target] if isinstance(s, gast.AnnAssign) else []
            if any(isinstance(t, gast.Name) and t.id == name for t in targets) and s.value is not None:
                found: Binding = self.scope.module.resolve(f"{self.name}.{name}", s.value)
                return found
        return None


Binding = Known | User | StaticValue | Captured | Literal | Module
