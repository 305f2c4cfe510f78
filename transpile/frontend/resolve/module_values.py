"""How a module that is not executed gives its names their values: the statements at its top level, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast


@dataclass(frozen=True)
class Entry:
    """How a module gives a name its value. ``kind``: import, from, star, def, class, assign, changed."""

    kind: str
    node: gast.AST
    detail: Any = None


def collect(module: Any, stmts: Sequence[gast.stmt], certain: bool = True) -> None:
    for stmt in stmts:
        handler = _COLLECTORS.get(type(stmt))
        if handler is not None:
            handler(module, stmt, certain)


def _collect_import(module: Any, stmt: gast.Import, certain: bool) -> None:
    for alias in stmt.names:
        name = alias.asname or alias.name.partition(".")[0]
        module.entries[name] = Entry("import", stmt, alias.name if alias.asname else name)


def _collect_from(module: Any, stmt: gast.ImportFrom, certain: bool) -> None:
    for alias in stmt.names:
        if alias.name == "*":
            module.stars.append(stmt)
        else:
            module.entries[alias.asname or alias.name] = Entry("from", stmt, alias.name)


def _collect_def(module: Any, stmt: gast.FunctionDef | gast.ClassDef, certain: bool) -> None:
    kind = "class" if isinstance(stmt, gast.ClassDef) else "def"
    module.entries[stmt.name] = Entry(kind if certain else "changed", stmt, "defined under a condition")
    for node in gast.walk(stmt):
        if isinstance(node, gast.Global):
            for name in node.names:
                module.entries[name] = Entry("changed", stmt, f"written by {stmt.name!r}")


def _collect_assign(module: Any, stmt: gast.Assign | gast.AnnAssign | gast.AugAssign, certain: bool) -> None:
    targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
    if stmt.value is None:
        return
    changed = None if certain else "assigned under a condition or in a loop"
    if isinstance(stmt, gast.AugAssign):
        changed = "changed after it is assigned"
    for target in targets:
        _collect_target(module, target, stmt.value, stmt, changed)


def _collect_target(module: Any, target: gast.expr, value: Any, stmt: gast.stmt, changed: str | None) -> None:
    match target:
        case gast.Name():
            before = module.entries.get(target.id)
            if changed is None and before is not None and before.kind == "changed":
                changed = before.detail
            if changed is not None:
                module.entries[target.id] = Entry("changed", stmt, changed)
            else:
                module.entries[target.id] = Entry("assign", stmt, value)
        case gast.Tuple() | gast.List():
            values = value.elts if isinstance(value, (gast.Tuple, gast.List)) else []
            fits = len(values) == len(target.elts) and not any(isinstance(t, gast.Starred) for t in target.elts)
            for k, inner in enumerate(target.elts):
                if fits:
                    _collect_target(module, inner, values[k], stmt, changed)
                else:
                    _collect_target(module, getattr(inner, "value", inner), None, stmt, "unpacked from an expression")
        case gast.Subscript() | gast.Attribute():
            root = target
            while isinstance(root, (gast.Subscript, gast.Attribute)):
                root = root.value
            if isinstance(root, gast.Name):
                module.entries[root.id] = Entry("changed", stmt, "changed after it is assigned")


def _collect_call(module: Any, stmt: gast.Expr, certain: bool) -> None:
    """``GRID.append(1.0)``: a method that is called for its effect changes the constant."""
    match stmt.value:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) if attr not in ("defjvp", "defvjp"):
            before = module.entries.get(name)
            if before is not None and before.kind == "assign":
                module.entries[name] = Entry("changed", stmt, "changed after it is assigned")


def _collect_if(module: Any, stmt: gast.If, certain: bool) -> None:
    test = gast.unparse(stmt.test).strip()
    if test.startswith("__name__"):
        return
    if test.rpartition(".")[2] == "TYPE_CHECKING":
        collect(module, stmt.body, certain)
        collect(module, stmt.orelse, certain)
        return
    collect(module, stmt.body, False)
    collect(module, stmt.orelse, False)


def _collect_try(module: Any, stmt: gast.Try, certain: bool) -> None:
    collect(module, stmt.body, certain)  # the handlers are for where an import fails
    collect(module, stmt.orelse, certain)
    collect(module, stmt.finalbody, certain)


def _collect_loop(module: Any, stmt: Any, certain: bool) -> None:
    if isinstance(stmt, gast.For):
        _collect_target(module, stmt.target, None, stmt, "assigned in a loop")
    for item in getattr(stmt, "items", ()):
        if item.optional_vars is not None:
            _collect_target(module, item.optional_vars, None, stmt, "assigned by 'with'")
    collect(module, stmt.body, False)
    collect(module, getattr(stmt, "orelse", []), False)


_COLLECTORS: dict[type, Callable[..., None]] = {
    gast.Import: _collect_import,
    gast.ImportFrom: _collect_from,
    gast.FunctionDef: _collect_def,
    gast.AsyncFunctionDef: _collect_def,
    gast.ClassDef: _collect_def,
    gast.Assign: _collect_assign,
    gast.AnnAssign: _collect_assign,
    gast.AugAssign: _collect_assign,
    gast.Expr: _collect_call,
    gast.If: _collect_if,
    gast.Try: _collect_try,
    gast.For: _collect_loop,
    gast.While: _collect_loop,
    gast.With: _collect_loop,
}
