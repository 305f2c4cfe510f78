"""How a module that is not executed gives its names their values: the statements at its top level, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from transpile.frontend.resolve.known import ROOTS


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
        if not isinstance(stmt, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            _collect_effects(module, stmt)


def _collect_import(module: Any, stmt: gast.Import, certain: bool) -> None:
    for alias in stmt.names:
        name = alias.asname or alias.name.partition(".")[0]
        _imported(module, name, Entry("import", stmt, alias.name if alias.asname else name), certain)


def _collect_from(module: Any, stmt: gast.ImportFrom, certain: bool) -> None:
    for alias in stmt.names:
        if alias.name == "*":
            module.stars.append(stmt)
        else:
            _imported(module, alias.asname or alias.name, Entry("from", stmt, alias.name), certain)


def _imported(module: Any, name: str, entry: Entry, certain: bool) -> None:
    """What is imported; of two by a condition it is not known which, unless they have one name where they come from."""
    before = module.entries.get(name)
    if not certain and before is not None and (before.kind, before.detail) != (entry.kind, entry.detail):
        entry = Entry("changed", entry.node, "imported under a condition")
    module.entries[name] = entry


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
                _change(module, root.id, stmt)


def _collect_call(module: Any, stmt: gast.Expr, certain: bool) -> None:
    """``GRID.append(1.0)``: a method that is called for its effect changes the constant."""
    match stmt.value:
        case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr=attr)) if attr not in ("defjvp", "defvjp"):
            before = module.entries.get(name)
            if before is not None and before.kind == "assign":
                _change(module, name, stmt)


_METHODS = frozenset(
    "append extend insert pop popitem remove clear sort reverse update setdefault add discard fill put resize partition "
    "itemset appendleft popleft rotate".split()
)
_FUNCTIONS = frozenset(
    "shuffle fill_diagonal copyto put place putmask put_along_axis heapify heappush heappop insort insort_left insort_right "
    "setattr delattr".split()
)
"""What changes the object that it is a method of, or its first argument."""


def _collect_effects(module: Any, stmt: gast.stmt) -> None:
    """Names that the expressions of a statement change: the statements inside of it are collected one by one."""
    rest: list[gast.AST] = [stmt]
    while rest:
        node = rest.pop()
        rest += [n for n in gast.iter_child_nodes(node) if not isinstance(n, (gast.stmt, gast.Lambda))]
        match node:
            case gast.NamedExpr():
                module.entries[node.target.id] = Entry("changed", stmt, "assigned in an expression")
            case gast.Name(ctx=gast.Del()):
                module.entries[node.id] = Entry("changed", stmt, "deleted")
            case gast.Subscript(ctx=gast.Del()) | gast.Attribute(ctx=gast.Del()):
                _change_of(module, node, stmt)
            case gast.Call(func=gast.Attribute(attr=attr)) if attr in _METHODS:
                _change_of(module, node.func.value, stmt)
        if isinstance(node, gast.Call) and _last(node.func) in _FUNCTIONS and node.args:
            _change_of(module, node.args[0], stmt)


def _last(function: gast.expr) -> str:
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _change_of(module: Any, node: gast.expr, stmt: gast.stmt) -> None:
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    if isinstance(node, gast.Name):
        _change(module, node.id, stmt)


def _change(module: Any, name: str, stmt: gast.stmt) -> None:
    """A constant is changed, and so are those that may be the same object, or have it in them."""
    rest = [name]
    while rest:
        one = rest.pop()
        entry = module.entries.get(one)
        if entry is None or entry.kind == "changed" or _is_of_a_library(entry):
            continue
        module.entries[one] = Entry("changed", stmt, "changed after it is assigned")
        others = [(n, e.detail) for n, e in module.entries.items() if e.kind == "assign"]
        rest += _parts(entry.detail) if entry.kind == "assign" else []
        rest += [n for n, value in others if value is entry.detail or one in _parts(value)]


def _is_of_a_library(entry: Entry) -> bool:
    """``sys.path.insert(...)``: what is changed there is nothing that is read by name."""
    module = entry.detail if entry.kind == "import" else getattr(entry.node, "module", None)
    return entry.kind in ("import", "from") and str(module).partition(".")[0] in ROOTS


def _parts(value: Any) -> list[str]:
    """The names whose objects a value is, or holds."""
    match value:
        case gast.Name():
            return [value.id]
        case gast.List() | gast.Tuple():
            return [n for v in value.elts for n in _parts(v)]
        case gast.Dict():
            return [n for v in value.values for n in _parts(v)]
    return []


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
    collect(module, stmt.body, certain)
    collect(module, stmt.orelse, certain)
    for inner in (s for handler in stmt.handlers for s in handler.body):  # they are for where an import fails
        if isinstance(inner, (gast.Assign, gast.AnnAssign, gast.AugAssign)):
            _collect_either(module, inner)
    collect(module, stmt.finalbody, certain)


def _collect_either(module: Any, stmt: gast.Assign | gast.AnnAssign | gast.AugAssign) -> None:
    """A name that is assigned where something failed: of what is imported, what took its place is passed over."""
    for target in stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]:
        before = module.entries.get(target.id) if isinstance(target, gast.Name) else None
        if before is None or before.kind not in ("import", "from"):
            _collect_target(module, target, None, stmt, "assigned in an 'except'")


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
