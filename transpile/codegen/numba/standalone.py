"""Copies the functions of `transpile_runtime.compiled` that a kernel calls into its text, for ``--standalone``.

    from transpile_runtime.compiled import blas            @njit(...)
                                           ->    def blas_gemv(alpha, a, x, beta, y): ...
    blas.gemv(1.0, x, w, 0.0, z)
                                                 blas_gemv(1.0, x, w, 0.0, z)

A definition stands before its first use, after all definitions that it refers to; its name is that of its module and its own.
The functions of `transpile_runtime.random` that a readable module imports are copied likewise, under the names that the module
uses.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path

from transpile.codegen.numba.loop_text import MODULES
from transpile.codegen.numba.numba_text import Module, printed
from transpile.codegen.rendered import Rendered
from transpile.core import nodes as ir
from transpile.errors import error

PACKAGE = "transpile_runtime.compiled"
READABLE = "transpile_runtime.random"
LEFT_OUT = ("compiled_if_large",)  # decorators that a copy omits
STARTED = ("symbols",)  # modules whose import has side effects
OPTIONS = {
    "njit": 'njit(error_model="numpy", fastmath={"contract"})',
    "inner": 'njit(error_model="numpy", fastmath={"contract"})',
    "apart": 'njit(error_model="numpy", fastmath={"contract"})',
    "fast": 'njit(error_model="numpy", fastmath={"contract", "reassoc"})',
    "exact": 'njit(error_model="numpy", fastmath=False)',
    "inlined": 'njit(error_model="numpy", fastmath={"contract"}, forceinline=True)',
}
"""Replacements for the decorators of the package."""


def inlined(module: Module, core: ir.Function) -> str:
    """The text of a module that includes copies of the functions of `transpile_runtime.compiled` which it calls.

    ``core`` is the function named in errors: T901 if something cannot be copied.
    """
    bundle = _Bundle(core)
    if module.messages:
        bundle.gather("errors", "SITES")
    for name, member in _calls(module.nodes()):
        bundle.gather(name, member)
    parts = [ast.unparse(ast.fix_missing_locations(s)) for s in bundle.statements]
    imports = _imports([*chain(*module.imports()), *bundle.imports])
    renaming = _Calls(bundle)
    rest = [replace(line, parts=tuple(map(renaming.part, line.parts))) for line in module.body()]
    return "\n\n\n".join([imports, *parts, printed(rest)[0]])


def copied(rendered: Rendered, core: ir.Function) -> str:
    """The readable text, including copies of the functions of `transpile_runtime.random` that it imports.

    Without such imports the text as it is. ``core`` is the function named in errors (T901).
    """
    names = sorted(rendered.members.get(READABLE, ()))
    if not names:
        return rendered.text
    bundle = _Bundle(core, "transpile_runtime", frozenset(names))
    for name in names:
        bundle.gather("random", name)
    parts = [ast.unparse(ast.fix_missing_locations(s)) for s in bundle.statements]
    own = [s for s in chain(*rendered.imports) if not (isinstance(s, ast.ImportFrom) and s.module == READABLE)]
    return "\n\n\n".join([_imports([*own, *bundle.imports]), *parts, rendered.body])


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yields the pairs (module, member) of all attributes of runtime modules among the nodes, such as ("scalars",
    "maximum")."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in MODULES:
            yield node.value.id, node.attr


class _Calls(ast.NodeTransformer):
    """Replaces ``scalars.maximum`` by the name of its copy, in nodes that it changes in place."""

    def __init__(self, bundle: _Bundle) -> None:
        self.bundle = bundle

    def part(self, part: str | ast.expr) -> str | ast.expr:
        """A part of a line with the names of copies; text is unchanged."""
        return part if isinstance(part, str) else self.visit(part)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if not isinstance(node.value, ast.Name) or node.value.id not in MODULES:
            return node
        found = self.bundle.copy_of(self.bundle.module(node.value.id), node.attr)
        return node if found is None else ast.Name(found, ast.Load())


def _own(module: str, name: str) -> str:
    """The name of a copy, ``module_name``; members of `errors` keep their names."""
    return name if module == "errors" else f"{module}_{name}"


def _hidden(module: str, name: str) -> str:
    """The name of a copy that only other copies call: ``_module_name``."""
    return f"_{module}_{name.lstrip('_')}"


# ------------------------------------------------------------------------------------------------------ modules


class _Module:
    """The definitions and imports at the top level of one module of a package, read from its source.

    ``external``: a name that an import outside the package binds, to the import statements.
    """

    def __init__(self, name: str, package: str) -> None:
        self.name = name
        self.tree = ast.parse((_folder(package) / f"{name}.py").read_text(encoding="utf-8"))
        self.definitions: dict[str, ast.stmt] = {}
        self.internal: dict[str, tuple[str, str]] = {}  # name here -> module and name there
        self.external: dict[str, list[ast.stmt]] = {}
        for s in self.tree.body:
            match s:
                case ast.FunctionDef() | ast.ClassDef():
                    self.definitions[s.name] = s
                case ast.Assign():
                    targets = [n for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
                    self.definitions.update((n.id, s) for n in targets)
                case ast.ImportFrom(module=str(source)) if source.startswith(f"{package}."):
                    there = source.removeprefix(f"{package}.")
                    self.internal.update((a.asname or a.name, (there, a.name)) for a in s.names)
                case ast.Import() | ast.ImportFrom():
                    for a in s.names:
                        self.external.setdefault((a.asname or a.name).split(".")[0], []).append(s)

    def started(self) -> list[ast.stmt]:
        """The calls that run when the module is imported and that a copy must have too; empty except for modules in
        `STARTED`."""
        calls = [s for s in self.tree.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
        return calls if self.name in STARTED else []  # type: ignore[return-value]


def _folder(package: str) -> Path:
    """The folder of an importable package."""
    file = import_module(package).__file__
    assert file is not None
    return Path(file).parent


class _Bundle:
    """Copied statements in an order in which they can run, and the imports they need.

    ``core``: the function named in errors; ``kept``: names that do not change, None if all copies get their module's prefix.
    """

    def __init__(self, core: ir.Function, package: str = PACKAGE, kept: Collection[str] | None = None) -> None:
        self.core, self.package, self.kept = core, package, kept
        self.modules: dict[str, _Module] = {}
        self.done: set[int] = set()
        self.statements: list[ast.stmt] = []
        self.imports: list[ast.stmt] = []

    def module(self, name: str) -> _Module:
        if name not in self.modules:
            self.modules[name] = _Module(name, self.package)
        return self.modules[name]

    def own(self, module: str, name: str) -> str:
        """The name that the copy of this member of ``module`` has in the text."""
        if self.kept is None:
            return _own(module, name)
        return name if name in self.kept else _hidden(module, name)

    def gather(self, module: str, name: str) -> None:
        """Adds the definition of a name of ``module``, after all definitions that it refers to; nothing if it was added before.

        T901 if there is no definition or it needs SciPy.
        """
        source = self.module(module)
        if name in source.internal:
            self.gather(*source.internal[name])
            return
        stmt = source.definitions.get(name)
        if stmt is None or _needs_scipy(stmt, name):
            raise error(
                "T901", f"--standalone: {module}.{name} needs the package 'transpile_runtime'", self.core.loc,
                "leave --standalone out",
            )  # fmt: skip
        self.add(source, stmt)
        for s in source.started():
            self.add(source, s)

    def add(self, source: _Module, stmt: ast.stmt) -> None:
        """Adds a statement of the module ``source``, with copies' names, after all that it refers to; nothing if it was added
        before."""
        if id(stmt) in self.done:
            return
        self.done.add(id(stmt))
        if isinstance(stmt, ast.FunctionDef):
            stmt.decorator_list = [_decorator(d) for d in stmt.decorator_list if not _is_left_out(d)]
        for name in _free(stmt):
            if name == "njit":  # Numba's own, in the decorators that replace ours
                continue
            if name in source.definitions or name in source.internal:
                self.gather(source.name, name)
            else:
                self.imports += source.external.get(name, ())
        self.statements.append(_Rename(self, source).visit(stmt))

    def copy_of(self, source: _Module, name: str) -> str | None:
        """The name in the bundle of a module's member, followed through imports within the package; None if it is not defined
        there."""
        while name in source.internal:
            there, name = source.internal[name]
            source = self.module(there)
        return self.own(source.name, name) if name in source.definitions else None


def _is_left_out(decorator: ast.expr) -> bool:
    """Whether a copy omits this decorator."""
    return isinstance(decorator, ast.Name) and decorator.id in LEFT_OUT


def _decorator(node: ast.expr) -> ast.expr:
    """The decorator of a copy: a new ``njit(...)`` node for one of the package's own, else ``node`` itself.

    A second argument of the decorator replaces the flags of fast arithmetic.
    """
    called = node.func if isinstance(node, ast.Call) else node
    if not isinstance(called, ast.Name) or called.id not in OPTIONS:
        return node
    found = ast.parse(OPTIONS[called.id], mode="eval").body
    if isinstance(node, ast.Call) and len(node.args) > 1:  # the flags of a separately compiled function
        flags = ast.unparse(node.args[1])
        text = '{"contract", "reassoc"}' if flags == "FAST" else flags
        assert isinstance(found, ast.Call)
        found.keywords[1].value = ast.parse(text, mode="eval").body
    return found


def _needs_scipy(stmt: ast.stmt, name: str) -> bool:
    """Whether the definition, of this name, calls a function of SciPy: its copy could not run without the runtime."""
    return any(isinstance(n, ast.Name) and n.id == "_wrap" for n in ast.walk(stmt)) or name == "digamma"


def _free(stmt: ast.stmt) -> list[str]:
    """The names that a definition reads from its module, or from builtins, in order, each once."""
    own = _local(stmt) if isinstance(stmt, ast.FunctionDef) else set()
    names = [n.id for n in ast.walk(stmt) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [n for n in dict.fromkeys(names) if n not in own]


def _local(function: ast.FunctionDef) -> set[str]:
    """The names that a function, or a function inside it, binds: parameters and assigned variables."""
    found = {a.arg for n in ast.walk(function) if isinstance(n, ast.arguments) for a in [*n.args, *n.kwonlyargs]}
    found |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    return found | {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


class _Rename(ast.NodeTransformer):
    """Replaces names of the module ``source`` by those of their copies, in place; local names and ``njit`` stay."""

    def __init__(self, bundle: _Bundle, source: _Module) -> None:
        self.bundle, self.source = bundle, source
        self.local: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        outer, self.local = self.local, self.local | _local(node)
        is_top = self.source.definitions.get(node.name) is node
        self.generic_visit(node)
        self.local = outer
        if is_top:
            node.name = self.bundle.own(self.source.name, node.name)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        if self.source.definitions.get(node.name) is node:
            node.name = self.bundle.own(self.source.name, node.name)
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id == "njit":
            return node
        found = None if node.id in self.local else self.bundle.copy_of(self.source, node.id)
        return node if found is None else ast.copy_location(ast.Name(found, node.ctx), node)


# ------------------------------------------------------------------------------------------------------ imports


def _imports(stmts: Sequence[ast.stmt]) -> str:
    """The text of the imports, each name once: those of the standard library, an empty line, the others."""
    whole: set[str] = set()
    parts: dict[str, set[str]] = {}
    for s in stmts:
        if isinstance(s, ast.Import):
            whole.update(f"import {_spelled(a)}" for a in s.names)
        elif isinstance(s, ast.ImportFrom) and s.module:
            parts.setdefault(s.module, set()).update(_spelled(a) for a in s.names)
    lines = [*sorted(whole), *(f"from {m} import {', '.join(sorted(names))}" for m, names in sorted(parts.items()))]
    groups = [
        [x for x in lines if (x.split()[1].split(".")[0] in sys.stdlib_module_names) == own] for own in (True, False)
    ]
    return "\n\n".join("\n".join(g) for g in groups if g)


def _spelled(alias: ast.alias) -> str:
    return alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
