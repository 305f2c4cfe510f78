"""Whether the text at a function's place is the function that runs: compiled now, it gives the function's own code.

The file may have been edited since it was imported, or the function's code replaced. Only the statement of the module that the
definition stands in is compiled, and the module's imports, since Python calls a method of an imported name in another way; nothing
is run. What an import hook makes of a text (pytest's asserts, run-time type checkers) is asked of the hook.
"""

from __future__ import annotations
import __future__

import ast
import functools
import inspect
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from transpile.frontend.sources.spines import unnested

FUTURES = functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))
AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # cells of a notebook may


def is_written(fn: types.FunctionType, tree: ast.Module, node: ast.AST, text: str, shift: int) -> bool:
    """Whether a definition in the ``tree`` of a ``text``, whose line 1 is ``shift + 1`` of the file, is what the function runs."""
    own = fn.__code__
    statement = next(s for s in tree.body if first_line(s) <= node.lineno <= s.end_lineno and node in ast.walk(s))  # type: ignore
    if shift:
        if own.co_freevars:  # a block alone: the names of the function around it
            statement = _inside(statement, own.co_freevars)
        modules = [name for name in own.co_names if isinstance(fn.__globals__.get(name), types.ModuleType)]
        befores = [_imports_of(modules), _imports_of(own.co_names), ()]
    else:
        befores = [imports(tree), ()]  # notebooks compile each statement alone
    flags = own.co_flags & FUTURES
    if any(_is_among(own, _compiled(statement, before, own.co_filename, flags, text), shift) for before in befores):
        return True
    return _is_among(own, _by_hook(_Loader(fn), text, own.co_filename), shift)


def first_line(node: Any) -> int:
    """The line of the first decorator, which is where the code object says that the function begins."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


@functools.lru_cache(maxsize=64)
def imports(tree: ast.Module) -> tuple[ast.stmt, ...]:
    """The imports of the module itself, at any depth of its branches."""
    found: list[ast.stmt] = []
    stack: list[ast.AST] = [*reversed(tree.body)]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if getattr(node, "module", "") != "__future__":
                found.append(node)
        elif not isinstance(node, (ast.expr, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack += reversed(list(ast.iter_child_nodes(node)))
    return tuple(found)


def _imports_of(names: Sequence[str]) -> tuple[ast.stmt, ...]:
    return tuple(ast.parse("".join(f"import {name}\n" for name in names)).body)


def _is_among(own: types.CodeType, found: Sequence[types.CodeType], shift: int) -> bool:
    wanted = fingerprint(own)
    line = own.co_firstlineno - shift
    return any(c.co_name == own.co_name and c.co_firstlineno == line and fingerprint(c) == wanted for c in found)


@functools.lru_cache(maxsize=512)
def _compiled(
    statement: ast.stmt, before: tuple[ast.stmt, ...], file: str, flags: int, text: str
) -> tuple[types.CodeType, ...]:
    """The code objects of a statement of a module, behind others."""

    def compiled(what: Any) -> types.CodeType:
        found: types.CodeType = compile(what, file, "exec", flags=flags | AWAIT, dont_inherit=True)
        return found

    try:
        try:
            whole = compiled(ast.Module([*before, statement], []))
        except RecursionError:  # Python compiles deeper texts than trees
            only = _only(text, [*before, statement])
            whole = unnested(lambda: compiled(only))
    except (SyntaxError, ValueError):
        return ()
    return tuple(codes(whole))


def _only(text: str, statements: Sequence[ast.stmt]) -> str:
    """The text with the lines of these statements alone, where they stand."""
    kept = {k for s in statements for k in range(first_line(s), (s.end_lineno or s.lineno) + 1)}
    return "".join(line if k in kept else "\n" for k, line in enumerate(text.splitlines(keepends=True), 1))


def _inside(statement: ast.stmt, names: Sequence[str]) -> ast.stmt:
    """The statement in a function that has these names."""
    args = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    return ast.fix_missing_locations(ast.copy_location(_function(args, [statement]), statement))


def _function(args: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    more: dict[str, Any] = {"type_params": []} if sys.version_info >= (3, 12) else {}
    return ast.FunctionDef("around", args, body, [], **more)


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects in a code object."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from codes(const)


def fingerprint(code: types.CodeType) -> tuple[Any, ...]:
    """What a code object does, without where it stands."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    flags = code.co_flags & ~inspect.CO_NESTED
    return (
        code.co_code,
        tuple(map(_constant, code.co_consts)),
        *names,
        *counts,
        flags,
        getattr(code, "co_exceptiontable", b""),
    )


def _constant(value: Any) -> Any:
    """A constant with its type: 1, 1.0 and True differ."""
    if isinstance(value, types.CodeType):
        return fingerprint(value)
    if isinstance(value, (tuple, frozenset)):
        parts = [_constant(v) for v in value]
        return (type(value).__name__, *(sorted(parts, key=repr) if isinstance(value, frozenset) else parts))
    return (type(value).__name__, repr(value))


# ------------------------------------------------------------------------------------------------------------ import hooks


class _Loader:
    """The loader of a function's module, compared by identity."""

    def __init__(self, fn: types.FunctionType) -> None:
        found = fn.__globals__.get("__loader__")
        self.loader = getattr(fn.__globals__.get("__spec__"), "loader", found) or found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Loader) and other.loader is self.loader

    def __hash__(self) -> int:
        return id(self.loader)


@functools.lru_cache(maxsize=16)
def _by_hook(held: _Loader, text: str, file: str) -> tuple[types.CodeType, ...]:
    """The code objects that the loader of a module makes of its text, if it makes others than Python does."""
    loader: Any = held.loader
    module = type(loader).__module__
    try:
        if module == "_pytest.assertion.rewrite":
            return tuple(codes(_with_asserts_rewritten(loader, text, file)))
        if hasattr(loader, "source_to_code") and not module.startswith(("_frozen_importlib", "importlib")):
            return tuple(codes(loader.source_to_code(text.encode(), file)))
    except Exception:  # whatever a hook does with a text that is none for it
        return ()
    return ()


def _with_asserts_rewritten(loader: Any, text: str, file: str) -> types.CodeType:
    from _pytest.assertion.rewrite import rewrite_asserts

    tree = ast.parse(text.encode(), file)
    rewrite_asserts(tree, text.encode(), file, loader.config)
    return compile(tree, file, "exec", dont_inherit=True)
