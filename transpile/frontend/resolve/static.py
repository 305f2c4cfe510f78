"""Static mode: names of a source file that is parsed and never executed.

Imports of NumPy, SciPy, math and the like are taken by name; imports of sibling modules are parsed in turn. Module
constants are `Literal` if they are literal expressions; any other is refused (T406) where it is used, and only there.
"""

from __future__ import annotations

import ast
import builtins
import codecs
import difflib
import io
import os
import sys
import tokenize
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import gast

from transpile.base.jax_names import way_out
from transpile.base.levels import level_of
from transpile.core import nodes as ir
from transpile.custom import Custom
from transpile.errors import TranspileError, error
from transpile.frontend.resolve import literals, static_rules, static_transforms, static_values
from transpile.frontend.resolve.bindings import Binding, Module, StaticClass, StaticValue, User
from transpile.frontend.resolve.known import ROOTS, exists, known_path, static_constant
from transpile.frontend.resolve.module_values import Entry, collect
from transpile.frontend.resolve.static_file import StaticFile, StaticFunction, place_of
from transpile.frontend.sources.private_names import private
from transpile.frontend.sources.spines import to_gast, unnested


class StaticModule(StaticFile):
    """A parsed module. ``program`` holds all modules parsed so far by path, so that each is parsed once."""

    def __init__(self, path: str, text: str, program: dict[str, StaticModule] | None = None) -> None:
        self.program = program if program is not None else {}
        self.program[os.path.realpath(path)] = self
        if "\0" in text:
            at = ir.Loc(path, text[: text.index("\0")].count("\n") + 1)
            raise error("T403", "syntax error in the file: it has a null byte", at, "save it as text")
        try:
            tree = to_gast(unnested(lambda: ast.parse(text)))
        except SyntaxError as failed:
            at = ir.Loc(path, failed.lineno or 1, failed.offset or 0)
            raise error("T403", f"syntax error in the file: {failed.msg}", at, "correct the file") from None
        super().__init__(path, text.splitlines(keepends=True), tree)
        collect(self, self.tree.body)

    @staticmethod
    def read(path: str, program: dict[str, StaticModule] | None = None) -> StaticModule:
        """The module of a file; T413 if it cannot be read, T403 if it does not parse."""
        if program is not None and os.path.realpath(path) in program:
            return program[os.path.realpath(path)]
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError as failed:
            raise error("T413", f"cannot read {path!r}: {failed.strerror}", hint=_other_path(path)) from None
        return StaticModule(path, decoded(data, path), program)

    def function(self, name: str) -> StaticFunction:
        """The function of that name, ``method`` of a class as ``Class.method``; T404 if the file does not define it."""
        owner, _, method = name.rpartition(".")
        cls = self.class_named(owner) if owner else None
        own = private(method, owner.rpartition(".")[2])
        if cls is not None and own in cls.methods:
            return replace(cls.methods[own], owner=cls, qualname=name)
        found = self.entries.get(method)
        if found is not None and not owner:
            bound = self.scope.lookup(name)
            target = bound.target if isinstance(bound, User) else None
            target = target.__wrapped__ if isinstance(target, Custom) else target
            if isinstance(target, StaticFunction):
                return target
            if level_of(target) is not None:
                message = f"{name!r} is already a transformed function"
                hint = "name the function that it is made of, and write the transforms on the command line"
                raise error("T130", message, self.loc(found.node), hint)
            hint = "name one of its methods: CLASS.METHOD" if found.kind == "class" else "name a function of the file"
            raise error("T411", f"{name!r} is not a function", self.loc(found.node), hint)
        functions = [n for n, e in self.entries.items() if e.kind == "def"]
        if cls is not None:
            functions = [f"{owner}.{m}" for m in cls.methods]
        close = difflib.get_close_matches(name, functions, 1) or functions[:4]
        hint = f"it defines {', '.join(close)}" if close else "it defines no function"
        raise error("T404", f"{self.path} defines no function {name!r}", hint=hint)

    def class_named(self, name: str) -> StaticClass | None:
        """The class of that name, ``Outer.Inner`` of one in another, that the file defines or imports from beside it."""
        first, *rest = name.split(".")
        bound = self.scope.lookup(first) if first in self.entries or self.stars else None
        cls = bound.value if isinstance(bound, StaticValue) and isinstance(bound.value, StaticClass) else None
        for inner in rest:
            nodes = [
                s for s in getattr(cls and cls.node, "body", ()) if isinstance(s, gast.ClassDef) and s.name == inner
            ]
            cls = static_values.static_class(self, nodes[0]) if nodes else None
        return cls

    def lookup(self, name: str, loc: ir.Loc = ir.NOWHERE) -> Binding:
        """What the name stands for; T405 if the module does not define it."""
        entry = self.entries.get(name)
        if entry is not None and self.before is not None and (place_of(entry.node) or self.before) > self.before:
            return _resolve_changed(self, name, Entry("changed", entry.node, "assigned again after it is read"), loc)
        if entry is not None:
            return _RESOLVERS[entry.kind](self, name, entry, loc)
        for star in reversed(self.stars):
            found = _from_star(self, star, name, loc)
            if found is not None:
                return found
        if hasattr(builtins, name):
            return known_path(f"builtins.{name}")
        close = difflib.get_close_matches(name, self.entries, 1)
        hint = f"did you mean {close[0]!r}?" if close else "define it in the file, or pass it as an argument"
        raise error("T405", f"name {name!r} is not defined", loc, hint)

    def sibling(self, path: str) -> StaticModule:
        return StaticModule.read(path, self.program)

    def resolve(self, name: str, node: gast.expr, loc: ir.Loc = ir.NOWHERE) -> Binding:
        return static_values.resolve_value(self, name, node, loc)

    def evaluate(self, node: gast.expr) -> Any:
        try:
            return literals.evaluate(node, self.scope)
        except (TranspileError, RecursionError):
            raise
        except Exception as failed:
            text, said = gast.unparse(node).strip(), f"{type(failed).__name__}: {failed}"
            raise error("T406", f"{text!r} cannot be evaluated: {said}", self.loc(node)) from None

    def kind_of(self, node: gast.FunctionDef | gast.Lambda) -> str:
        return static_values.kind_of(self, node)


def decoded(data: bytes, path: str) -> str:
    """The text of a source file, as Python reads it; T413 with the position of the first byte that is no part of a text."""
    encoding = "utf-8"
    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError as failed:
        if not failed.msg.startswith("invalid"):  # that is a byte in the first two lines, found below
            raise error("T413", f"cannot read {path!r}: {failed.msg}", ir.Loc(path, 1), "save it as UTF-8") from None
    if data.startswith(codecs.BOM_UTF8):
        data, encoding = data[len(codecs.BOM_UTF8) :], "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as failed:
        line = data.rfind(b"\n", 0, failed.start) + 1
        at = ir.Loc(
            path, data.count(b"\n", 0, line) + 1, len(data[line : failed.start].decode(encoding, "replace")) + 1
        )
        hint = "save it as UTF-8, or name its encoding in the first line: '# -*- coding: latin-1 -*-'"
        raise error(
            "T413", f"cannot read {path!r}: byte 0x{data[failed.start]:02x} is not {encoding}", at, hint
        ) from None
    except LookupError as failed:
        raise error("T413", f"cannot read {path!r}: {failed}", ir.Loc(path, 1), "save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


# ----------------------------------------------------------------------------------------------- resolving


def _other_path(path: str) -> str:
    """The hint for a file that cannot be read: one in its folder with nearly its name."""
    folder, name = os.path.split(path)
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    close = difflib.get_close_matches(name, [n for n in names if n.endswith(".py")], 1)
    return f"did you mean {os.path.join(folder, close[0])!r}?" if close else "correct the path"


def known_module(dotted: str) -> Module:
    """A module of a known root, by name alone."""

    def members(name: str, loc: ir.Loc) -> Binding:
        return _known_member(dotted, name, loc)

    return Module(dotted, members)


def _known_member(dotted: str, name: str, loc: ir.Loc) -> Binding:
    whole = f"{dotted}.{name}"
    if dotted == "scipy.constants":
        import_module(dotted)  # numbers, and nothing beside them
    if exists(whole) is False:
        hint = way_out(dotted, name, getattr(sys.modules.get(dotted), "__all__", ()))
        raise error("T416", f"module {dotted!r} has no attribute {name!r}", loc, hint)
    constant = static_constant(whole)
    if constant is not None:
        return StaticValue(constant[0])
    return known_module(whole) if whole in _SUBMODULES else known_path(whole)


_SUBMODULES = frozenset(
    "numpy.linalg numpy.fft numpy.random numpy.typing numpy.lib numpy.lib.stride_tricks scipy.special scipy.linalg"
    " scipy.optimize scipy.constants scipy.stats scipy.integrate scipy.sparse scipy.interpolate collections.abc"
    " transpile.lax transpile.tree transpile.random".split()
)


def static_module(module: StaticFile, dotted: str, level: int, loc: ir.Loc) -> Module:
    """The module that an import names: known by its root, or a sibling, parsed; T410 if it is neither."""
    if level == 0 and dotted.partition(".")[0] in ROOTS:
        return known_module(dotted)
    path = find_sibling(module.path, dotted, level)
    if path is None:
        raise error(
            "T410", f"module {'.' * level + dotted!r} is not NumPy, SciPy or math, and not a file beside this one", loc,
            hint="pass the values from it as arguments, or call transpile.source in a running program",
        )  # fmt: skip
    if os.path.isdir(path):
        return Module(dotted, lambda name, where: static_module(module, f"{dotted}.{name}".lstrip("."), level, where))
    sibling = module.sibling(path)
    package = os.path.basename(path) == "__init__.py"

    def members(name: str, where: ir.Loc) -> Binding:
        if package and name not in sibling.entries and find_sibling(path, name, 1) is not None:
            return static_module(sibling, name, 1, where)
        return sibling.scope.lookup(name, where)

    return Module(dotted, members)


def find_sibling(path: str, dotted: str, level: int) -> str | None:
    """The file of a module that is imported from the file at ``path``; nothing outside its package and directory."""
    here = os.path.dirname(os.path.abspath(path))
    roots = [here]
    if level:
        for _ in range(level - 1):
            roots = [os.path.dirname(roots[0])]
    else:
        while os.path.exists(os.path.join(roots[-1], "__init__.py")):
            roots.append(os.path.dirname(roots[-1]))
    for root in roots:
        base = os.path.join(root, *[p for p in dotted.split(".") if p])
        for candidate in (f"{base}.py", os.path.join(base, "__init__.py")):
            if os.path.isfile(candidate):
                return candidate
        if os.path.isdir(base):
            return base
    return None


def _resolve_import(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    return static_module(module, entry.detail, 0, module.loc(entry.node))


def _resolve_from(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    stmt = entry.node
    where = module.loc(stmt)
    source = static_module(module, stmt.module or "", stmt.level or 0, where)
    return source.attr(entry.detail, where)


def _from_star(module: StaticModule, stmt: gast.ImportFrom, name: str, loc: ir.Loc) -> Binding | None:
    source = static_module(module, stmt.module or "", stmt.level or 0, module.loc(stmt))
    if (stmt.level or 0) == 0 and stmt.module.partition(".")[0] in ROOTS:
        return source.attr(name, loc) if exists(f"{stmt.module}.{name}") else None
    try:
        return source.attr(name, loc)
    except TranspileError as failed:
        if failed.codes == ("T405",):
            return None
        raise


def _resolve_def(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    return User(static_transforms.decorated(StaticFunction(entry.node, module, name)))


def _resolve_changed(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    raise error(
        "T406", f"the module constant {name!r} is not a literal: it is {entry.detail}",
        loc if loc.line else module.loc(entry.node), hint=f"pass {name!r} as an argument",
    )  # fmt: skip


def _resolve_class(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    if name not in module.classes:
        module.classes[name] = static_values.static_class(module, entry.node)
        static_rules.register(module, module.classes[name])
    return StaticValue(module.classes[name])


def _resolve_assign(module: StaticModule, name: str, entry: Entry, loc: ir.Loc) -> Binding:
    if name in module.resolving:
        return _resolve_changed(module, name, Entry("changed", entry.node, "defined by its own earlier value"), loc)
    module.resolving.add(name)
    try:
        with module.as_of(entry.node):
            return module.resolve(name, entry.detail, loc)
    finally:
        module.resolving.discard(name)


_RESOLVERS: dict[str, Callable[[StaticModule, str, Entry, ir.Loc], Binding]] = {
    "import": _resolve_import,
    "from": _resolve_from,
    "def": _resolve_def,
    "class": _resolve_class,
    "assign": _resolve_assign,
    "changed": _resolve_changed,
}
