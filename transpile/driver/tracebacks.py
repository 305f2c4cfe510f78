"""Tracebacks reduced to the user's frames and at most one frame of transpile.

An exception leaves transpile through a function that the user called, an *edge*. There the frames below are removed from the
traceback, except the user's own, and a frame of generated code is replaced by the user's line that it was generated from. With
``TRANSPILE_TRACEBACK=full`` nothing is removed.

>>> len(list(_entries(framed(ValueError("new")).__traceback__)))
0
"""

from __future__ import annotations

import _thread
import ast
import functools
import importlib.util
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any, TypeVar

from transpile.base.loader import generated_lines, site_of
from transpile.base.loc import Loc
from transpile.driver.what_raised import note
from transpile.errors import InternalError, TranspileError, source_line

F = TypeVar("F", bound=Callable[..., Any])

CAUGHT = (Exception, KeyboardInterrupt)
"""Exceptions whose traceback an edge reduces; those that end the process show none."""

__tracebackhide__ = True  # pytest leaves out the frames of this module


def edge(function: F) -> F:
    """The function as an edge: the traceback of an exception shows no frame of transpile but that of the call."""

    @functools.wraps(function)
    def edge(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except CAUGHT as failed:
            raise framed(failed)  # noqa: B904

    return edge  # type: ignore[return-value]


def framed(failed: BaseException) -> BaseException:
    """The same exception, with its traceback reduced below the frame that handles it; nothing changes for an internal error, or
    if ``TRANSPILE_TRACEBACK=full``."""
    if os.environ.get("TRANSPILE_TRACEBACK") == "full" or isinstance(failed, InternalError):
        return failed
    _forget_ours(failed)
    note(failed)
    if isinstance(failed, TranspileError):
        failed.__cause__ = None
    return failed.with_traceback(_joined(_shown(failed)))


def _forget_ours(failed: BaseException) -> None:
    """Drops from the start of the chain ``failed.__context__`` the exceptions that transpile itself caught; the first that it
    did not, and what that one has as its context, stay."""
    context = failed.__context__
    while context is not None and _is_ours(context.__traceback__):
        context = context.__context__
    if context is not failed.__context__:
        failed.__context__ = context


def _is_ours(trace: TracebackType | None) -> bool:
    return trace is not None and trace.tb_frame.f_code.co_filename.startswith(_ours())


def _shown(failed: BaseException) -> Iterator[TracebackType]:
    """Yields the traceback entries that remain, without the frame that handles the exception: the user's, and the user's lines
    for those of generated code."""
    was_generated = is_below_users = False
    for entry in list(_entries(failed.__traceback__))[1:]:
        file = entry.tb_frame.f_code.co_filename
        lines = generated_lines(file)
        if lines is not None:
            was_generated, is_below_users = True, False
            for at in _calls(lines.get(entry.tb_lineno)):
                yield _entry(at)
        elif file.startswith(_ours()):
            is_below_users = False
        elif is_below_users or not _is_library(file):
            is_below_users = True
            yield entry
    loc = site_of(failed)
    if loc is not None and not was_generated and not hasattr(failed, "__transpile__"):
        failed.__transpile__ = loc  # type: ignore[attr-defined]
        for at in _calls(loc):
            yield _entry(at)


def _calls(loc: Loc | None) -> list[Loc]:
    """The places of the calls that lead to ``loc``, outermost first, and ``loc`` itself."""
    found: list[Loc] = []
    at = loc
    while at is not None and at.line:
        found.insert(0, at)
        at = at.caller
    return found


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _joined(entries: Iterator[TracebackType]) -> TracebackType | None:
    trace = None
    for entry in reversed(list(entries)):
        trace = TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace


@functools.lru_cache(maxsize=256)
def _entry(loc: Loc) -> TracebackType:
    """A traceback entry at a place of the user's source, with the columns of the expression.

    It is made by raising in a separate thread: a frame keeps its callers alive, one of which holds the exception; and debuggers
    do not stop there.
    """
    code, done = _raising(loc), _thread.allocate_lock()
    found: list[Any] = []

    def make() -> None:
        try:
            exec(code, {"one": 1})
        except ZeroDivisionError as made:
            found.append(made.__traceback__)
        finally:
            done.release()

    done.acquire()
    try:
        _thread.start_new_thread(make, ())
    except RuntimeError:  # the interpreter is shutting down
        make()
    with done:
        entry = found.pop().tb_next
    return TracebackType(None, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)


def _raising(loc: Loc) -> CodeType:
    """The code of a module whose statement at this place of the source raises ZeroDivisionError."""
    line = source_line(loc)
    start = len(line[: max(loc.col - 1, 0)].encode())
    end = len(line.encode()) if loc.end_line > loc.line else len(line[: max(loc.end_col - 1, loc.col)].encode())
    place: dict[str, Any] = {"lineno": loc.line, "col_offset": start, "end_lineno": loc.line, "end_col_offset": end}
    one = ast.Name("one", ast.Load(), **place)  # a name, because Python would fold two constants
    statement = ast.Expr(ast.BinOp(one, ast.FloorDiv(), ast.Constant(0, **place), **place), **place)
    made = compile(ast.Module([statement], []), loc.file, "exec")
    name = loc.function or _function_at(loc)
    more: Any = {"co_qualname": name} if sys.version_info >= (3, 11) else {}
    return made.replace(co_name=name.rpartition(".")[2], **more)


def _function_at(loc: Loc) -> str:
    """The name of the innermost function that contains the line of ``loc``; "<module>" if there is none or the file cannot be
    parsed."""
    name = "<module>"
    try:
        tree = ast.parse("".join(linecache.getlines(loc.file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return name
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= loc.line <= (
            node.end_lineno or 0
        ):
            name = node.name
    return name


@functools.cache
def _ours() -> tuple[str, ...]:
    """The prefixes of the file names of transpile's own code, also of generated code."""
    import transpile_runtime

    folders = [Path(__file__).parents[1], *map(Path, transpile_runtime.__path__)]
    return (*(f"{folder}{os.sep}" for folder in folders), "<transpile ")


def _is_library(file: str) -> bool:
    """True for a file of Python's standard library, or of NumPy, SciPy, Numba, llvmlite or gast."""
    standard, others = _libraries()
    return file.startswith(("<frozen ", *others)) or file.startswith(standard) and "-packages" not in file


@functools.cache
def _libraries() -> tuple[str, tuple[str, ...]]:
    """The folder of Python's standard library, and the folders of NumPy, SciPy, Numba, llvmlite and gast that are installed."""
    known = map(importlib.util.find_spec, ("numpy", "scipy", "numba", "llvmlite", "gast"))
    folders = [Path(spec.origin).parent for spec in known if spec is not None and spec.origin]
    return f"{Path(os.__file__).parent}{os.sep}", tuple(f"{folder}{os.sep}" for folder in folders)
