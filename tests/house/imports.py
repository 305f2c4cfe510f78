"""The imports of each module in a tree of files, including those inside functions and under ``TYPE_CHECKING``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "transpile"


@dataclass(frozen=True)
class Import:
    """An import; ``where`` is ``top`` (of the module), ``type`` (under ``TYPE_CHECKING``) or ``late`` (inside a function)."""

    module: str
    where: str
    line: int


@cache
def modules(root: Path = ROOT, package: str = PACKAGE) -> Mapping[str, Path]:
    """The files of a package's modules by dotted name."""
    found = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file, shared: do not change it."""
    return ast.parse(path.read_text())


@cache
def imports(root: Path = ROOT, package: str = PACKAGE) -> Mapping[str, tuple[Import, ...]]:
    """The imports of each module, of the package itself and of others."""
    known = modules(root, package)
    return {name: tuple(_imports(path, known)) for name, path in known.items()}


def _imports(path: Path, known: Mapping[str, Path]) -> Iterator[Import]:
    def walk(node: ast.AST, where: str) -> Iterator[Import]:
        for child in _statements(node):
            if isinstance(child, ast.ImportFrom):
                assert not child.level and child.module is not None, f"{path}:{child.lineno}: a relative import"
                for alias in child.names:
                    whole = f"{child.module}.{alias.name}"
                    yield Import(whole if whole in known else child.module, where, child.lineno)
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, where, child.lineno)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from walk(child, where if where == "type" else "late")
            elif isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
                yield from walk(child, "type")
            else:
                yield from walk(child, where)

    yield from walk(parsed(path), "top")


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("body", "orelse", "handlers", "finalbody", "cases"):
        yield from getattr(node, field, ())


def edges(root: Path = ROOT, package: str = PACKAGE) -> dict[str, set[str]]:
    """For each module of the package, the modules of the package that it imports."""
    known = modules(root, package)
    return {
        name: {i.module for i in found if i.module in known and i.module != name}
        for name, found in imports(root, package).items()
    }


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The sets of nodes that reach each other (Tarjan's strongly connected components), each sorted, the largest first."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        number[node] = lowest[node] = len(number)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == number[node]:
            members = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return sorted(found, key=lambda c: (-len(c), c))
