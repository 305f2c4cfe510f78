"""The imports of printed text, found in the nodes that are printed."""

from __future__ import annotations

import ast
import builtins
import math
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from transpile.aggregates import REGISTERED
from transpile.base import making
from transpile.base.content import is_compared_by_state, state
from transpile.codegen.expression_nodes import dotted
from transpile.codegen.import_statements import imported, imported_from
from transpile.codegen.templates import literal
from transpile.errors import error

ALIASES = {"np": "import numpy as np", "math": "import math", "numpy": "import numpy"}
COPIED = ["transpile_runtime", "random"]  # its functions may be copied into a text
OURS = ("transpile_runtime", "special")  # `special.f` in a spelling is `transpile_runtime.special.f`


class Imports:
    """Collects the imports of a text; without ``runtime`` nothing of `transpile_runtime` is imported but `random`."""

    def __init__(self, runtime: bool) -> None:
        self.runtime = runtime
        self.modules: set[str] = set()
        self.members: dict[str, set[str]] = {}  # module -> names imported from it
        self.classes: dict[str, Any] = {}
        self.builtins: set[str] = set()  # builtins that are used

    @property
    def names(self) -> set[str]:
        """The names that no variable may have: those of the imports, and builtins."""
        found = {m.split(".")[0] for m in self.modules}
        return found.union(*self.members.values(), self.classes, self.builtins)

    def parts(self, parts: Sequence[str | ast.expr]) -> Iterator[str | ast.expr]:
        """Yields the parts of a line as `visit` changes them; text is unchanged."""
        for part in parts:
            yield part if isinstance(part, str) else self.visit(part)

    def visit(self, node: Any) -> Any:
        """The node, changed in place, with members of `transpile_runtime` under their own names; records the modules it uses.

        A node that is a member itself is replaced by a name.
        """
        kind = type(node).__name__
        if kind == "Name":
            if getattr(node, "is_variable", False):
                return node
            if node.id in ALIASES:
                self.modules.add(node.id)
            elif node.id in vars(builtins):
                self.builtins.add(node.id)
        elif kind == "Attribute" and (path := _path(node)) is not None:
            if path[0] in OURS:
                return self.ours(path)
            if path[0] == "scipy":
                self.modules.add(".".join(path[:2]))
        for name, value in _fields(node):
            if isinstance(value, list):
                setattr(node, name, [self.visit(v) if hasattr(v, "_fields") else v for v in value])
            elif hasattr(value, "_fields"):
                setattr(node, name, self.visit(value))
        return node

    def ours(self, path: list[str]) -> ast.expr:
        """The name, as a node, of a member of `transpile_runtime`, which is imported; ValueError if it may not be.

        ``path``: its dotted name in parts.
        """
        if not self.runtime and path[:-1] != COPIED:
            raise ValueError(f"{'.'.join(path)} needs the package transpile_runtime")
        if path[0] != "transpile_runtime":
            path = ["transpile_runtime", *path]
        module, member = ".".join(path[:-1]), path[-1]
        self.members.setdefault(module, set()).add(member)
        return ast.Name(member, ast.Load())

    def cls(self, cls: Any) -> ast.expr:
        """The node of a result's class: imported if possible, else a name to be defined by the user of the text.

        T501 for a class that was not executed and that no text can import.
        """
        if isinstance(cls, type):
            return ast.Name(cls.__name__ if cls.__module__ == "builtins" else self.named(cls, cls.__name__), ast.Load())
        # a class of a module that was not executed: `transpile.frontend.resolve.bindings.StaticClass`
        name = cls.__name__
        if cls.importable is None:
            message = f"the generated text cannot import the class {name!r} of a result: it is not defined in a file"
            raise error("T501", message, hint="define the class at the top level of a file, or return a tuple or dict")
        self.members.setdefault(cls.importable, set()).add(name)
        return ast.Name(name, ast.Load())

    def named(self, value: Any, name: str, otherwise: str = "") -> str:
        """The name in the text of ``value``, a class or function called ``name``.

        It is imported if its module has it under its own name and no other import takes that name. Else the user of the text
        defines it, as ``otherwise`` if that is not empty.
        """
        module = value.__module__
        there = getattr(sys.modules.get(module), name, None) if module != "__main__" and name.isidentifier() else None
        if there is value and all(name not in names for m, names in self.members.items() if m != module):
            if name not in self.classes:
                self.members.setdefault(module, set()).add(name)
                return name
        return self.defined(value, otherwise or name)

    def defined(self, value: Any, name: str) -> str:
        """A free name like ``name`` for ``value``, noted in ``classes``: the user of the text must define it."""
        name = re.sub(r"\W", "_", name)
        while self.classes.get(name, value) is not value or any(name in names for names in self.members.values()):
            name += "_"
        self.classes[name] = value
        return name

    def of_class(self, cls: Any, which: str) -> ast.expr:
        """The node of a function with which a class was registered, "flatten" or "unflatten" as ``which`` says.

        It is imported if possible, else the user of the text defines it.
        """
        function = getattr(REGISTERED[cls], which)
        return ast.Name(self.named(function, getattr(function, "__name__", ""), f"{which}_{cls.__name__}"), ast.Load())

    def static(self, value: Any) -> ast.expr:
        """The node of ``value``, a static part of a result.

        It is a literal, an array, an object made from its fields, a member of NumPy or `math`, or else a name to be defined by
        the user of the text.
        """
        if value is None or type(value) in (bool, int, float, complex, str):
            return literal(value)
        if type(value) in (tuple, list):
            made = ast.Tuple if type(value) is tuple else ast.List
            return made([self.static(v) for v in value], ast.Load())
        if type(value) is dict:
            return ast.Dict([self.static(k) for k in value], [self.static(v) for v in value.values()])
        if type(value) is np.ndarray and value.dtype.kind in "biuf":
            name = "bool_" if value.dtype == bool else value.dtype.name
            entries = [self.static(value.tolist()), self.visit(dotted(f"np.{name}"))]
            return ast.Call(self.visit(dotted("np.array")), entries, [])
        if isinstance(value, type):
            return self.cls(value)
        if is_compared_by_state(type(value)):
            held = state(value)
            if making.is_made_by_keywords(type(value), held):
                return ast.Call(self.cls(type(value)), [], [ast.keyword(n, self.static(v)) for n, v in held.items()])
        name = getattr(value, "__name__", None) or type(value).__name__
        if getattr(np, name, None) is value:
            return self.visit(dotted(f"np.{name}"))
        if getattr(math, name, None) is value:
            return self.visit(dotted(f"math.{name}"))
        return ast.Name(self.defined(value, name), ast.Load())

    def groups(self) -> list[list[ast.stmt]]:
        """The import statements in groups, `math` first, then other modules, then members; empty groups are left out."""
        standard: list[ast.stmt] = [imported("math")] if "math" in self.modules else []
        other = [imported(m) for m in sorted(self.modules) if m not in ALIASES]
        if "np" in self.modules:
            other.insert(0, imported("numpy", "np"))
        members = [imported_from(m, *sorted(names)) for m, names in sorted(self.members.items())]
        return [g for g in (standard, other, members) if g]


def _fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yields the fields of a node that are not None, as pairs of name and value."""
    for name in getattr(node, "_fields", ()):
        value = getattr(node, name, None)
        if value is not None:
            yield name, value


def _path(node: Any) -> list[str] | None:
    """The names of ``a.b.c`` as a list; None for any other node."""
    names: list[str] = []
    while type(node).__name__ == "Attribute":
        names.append(node.attr)
        node = node.value
    if type(node).__name__ != "Name":
        return None
    return [node.id, *reversed(names)]
