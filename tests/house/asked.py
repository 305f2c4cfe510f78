"""The fields of primitives' records that are read, and where; records are recognised by annotations and by the tables they come
from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from house.imports import modules, parsed

RECORDS = ("Op", "Op | None", "Record")  # annotations of records
CLASSES = ("Op", "Algebra", "Computation")
TABLES = ("prims", "records", "of_dialect")
NAMED = re.compile(r"\b(Op|Record|record_of|prims|records|of_dialect)\b")  # without these, a module has no record
OWN = {f"transpile.ops.{name}" for name in ("record", "algebra", "computation", "tables")}


def asked() -> set[str]:
    """The fields that code outside the records reads, or that a property of the record reads."""
    found: set[str] = set()
    for module, path in modules().items():
        if module in OWN or not module.startswith("transpile.ops."):
            if module in OWN or NAMED.search(path.read_text()):
                found |= asked_in(parsed(path))
    return found


def asked_in(tree: ast.Module) -> set[str]:
    """The fields that one module reads."""
    found = set(_Scope(tree).read())
    for node in ast.walk(tree):
        methods = [m for m in node.body if isinstance(m, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []
        for method in methods:
            found.update(_Scope(method, owner=node.name).read())
    return found


class _Scope:
    """A function, with its names for records and for tables of records."""

    def __init__(self, node: ast.AST, around: _Scope | None = None, owner: str = "") -> None:
        self.records: set[str] = set() if around is None else set(around.records)
        self.tables: set[str] = set() if around is None else set(around.tables)
        self.inner: list[ast.AST] = []
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            for arg in given:
                kind = ast.unparse(arg.annotation) if arg.annotation is not None else ""
                self.records.update([arg.arg] if kind in RECORDS else ())
                self.tables.update([arg.arg] if kind == "Mapping[str, Op]" else ())
            self.records.update([given[0].arg] if owner in CLASSES and given else ())
        self.nodes = list(self.below(node))
        for _ in range(2):  # twice, for names taken from names that are found later
            for one in self.nodes:
                self.learn(one)

    def below(self, node: ast.AST) -> Iterator[ast.AST]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.Lambda)):
                self.inner.append(child)
            else:
                yield child
                yield from self.below(child)

    def learn(self, node: ast.AST) -> None:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                self.records.update([name] if self.is_record(value) else ())
                self.tables.update([name] if self.is_table(value) else ())
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for name, value in zip(names, values):
                    self.records.update([_name(name)] if self.is_record(value) else ())
            case ast.For(target=ast.Name(id=name), iter=over) | ast.comprehension(target=ast.Name(id=name), iter=over):
                is_all = isinstance(over, ast.Call) and _name(over.func) == "values" and self.is_table(over.func.value)  # type: ignore[attr-defined]
                self.records.update([name] if is_all else ())

    def is_table(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            return _name(node.func) in TABLES
        return _name(node) in self.tables or _name(node) in ("prims", "_prims")

    def is_record(self, node: ast.AST) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.records
            case ast.Call(func=ast.Attribute(attr="get", value=table)) | ast.Subscript(value=table):
                return self.is_table(table)
            case ast.Call(func=function):
                return _name(function) == "record_of"
            case ast.IfExp(body=one, orelse=other):
                return self.is_record(one) or self.is_record(other)
            case ast.BoolOp(values=values):
                return any(map(self.is_record, values))
            case ast.NamedExpr(value=value):
                return self.is_record(value)
        return False

    def read(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and self.is_record(node.value):
                yield node.attr
        for one in self.inner:
            yield from _Scope(one, self).read()


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
