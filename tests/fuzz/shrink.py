"""Shrinks a failing program: removes statements, unwraps blocks, replaces expressions by parts, as long as it is a fair test
and fails in the same way."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

SIMPLE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant, ast.Name)


def shrink(text: str, fails: Callable[[str], bool], tries: int = 3000) -> str:
    """The smallest text found for which ``fails`` still holds."""
    tree = ast.parse(text)
    seen: set[str] = set()
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _variants(tree):
            candidate = ast.unparse(smaller)
            if candidate in seen:
                continue
            seen.add(candidate)
            tries -= 1
            if tries <= 0:
                break
            if fails(candidate):
                tree, progress = ast.parse(candidate), True
                break
    return ast.unparse(tree)


def _variants(tree: ast.Module) -> Iterator[ast.Module]:
    """Smaller programs, the smallest first."""
    for edit in (_blocks, _expressions):
        for change in edit(tree):
            yield change


def _blocks(tree: ast.Module) -> Iterator[ast.Module]:
    """Programs without one statement, or with a block in place of the statement that contains it."""
    for where, (owner, name, k) in enumerate(_places(tree)):
        statement = getattr(owner, name)[k]
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or name == "body" and _is_fixed(statement):
            continue
        for inner in ("", "body", "orelse"):
            if (
                inner
                and not (hasattr(statement, inner) and getattr(statement, inner))
                or isinstance(statement, ast.FunctionDef)
                and inner
            ):
                continue
            new = copy.deepcopy(tree)
            owner2, name2, k2 = list(_places(new))[where]
            block = getattr(owner2, name2)
            old = block[k2]
            replacement = list(getattr(old, inner)) if inner else []
            if inner and isinstance(old, ast.For):  # one iteration
                replacement = [_first_trip(old), *replacement]
            block[k2 : k2 + 1] = replacement
            if not block and name2 == "body":
                block.append(ast.Pass())
            yield ast.fix_missing_locations(new)


def _first_trip(loop: ast.For) -> ast.stmt:
    """An assignment of 0, the first value of a counter, to the loop variable."""
    return ast.Assign(targets=[loop.target], value=ast.Constant(0)) if isinstance(loop.target, ast.Name) else ast.Pass()


def _is_fixed(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.FunctionDef)
        and statement.name in ("program", "args")
        or (
            isinstance(statement, ast.Assign)
            and isinstance(statement.targets[0], ast.Name)
            and statement.targets[0].id == "WRT"
        )
    )


def _places(tree: ast.Module) -> list[tuple[ast.AST, str, int]]:
    """Every statement as owner, field and position; outer ones and later ones first."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list) and not (isinstance(node, ast.FunctionDef) and node.name == "args"):
                found += [(node, name, k) for k in reversed(range(len(block)))]
    return found


def _expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """Programs with one expression replaced by a part of it or by a number."""
    for where, node in enumerate(_values(tree)):
        for part in range(_parts(node) + 1):
            new = copy.deepcopy(tree)
            owner, name, k = list(_slots(new))[where]
            old = getattr(owner, name) if k is None else getattr(owner, name)[k]
            put = _children(old)[part] if part < _parts(node) else ast.Constant(0.5)
            if k is None:
                setattr(owner, name, put)
            else:
                getattr(owner, name)[k] = put
            yield ast.fix_missing_locations(new)


def _slots(tree: ast.Module) -> list[tuple[ast.AST, str, int | None]]:
    """The places of the expressions in ``program`` and its helpers."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name != "args":
            for node in ast.walk(function):
                for name, value in ast.iter_fields(node):
                    if name in ("targets", "target", "func", "args", "returns") and isinstance(
                        node, (ast.stmt, ast.arguments)
                    ):
                        continue
                    if _is_shrinkable(value) and name not in ("func", "target"):
                        found.append((node, name, None))
                    elif isinstance(value, list):
                        found += [(node, name, k) for k, v in enumerate(value) if _is_shrinkable(v)]
    return found


def _is_shrinkable(value: object) -> bool:
    return (
        isinstance(value, ast.expr)
        and not isinstance(value, (ast.Constant, ast.Name, ast.Slice))
        and not isinstance(getattr(value, "ctx", None), ast.Store)
    )


def _values(tree: ast.Module) -> list[ast.expr]:
    return [getattr(o, n) if k is None else getattr(o, n)[k] for o, n, k in _slots(tree)]


def _children(node: ast.AST) -> list[ast.expr]:
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr) and not isinstance(c, ast.Slice)]


def _parts(node: ast.AST) -> int:
    return len(_children(node))
