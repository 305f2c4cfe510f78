"""Compiles the text of a kernel by Numba's front end; Numba's errors become diagnostics at the user's lines."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transpile.analysis.messages import place, site
from transpile.core import nodes as ir
from transpile.errors import Diagnostic, TranspileError

Kinds = tuple[tuple[str, int], ...]  # dtype and rank of each parameter
Lines = Mapping[int, ir.Loc]


def loaded(text: str, file: str, stem: str) -> types.ModuleType:
    """The module of the Python source ``text``, after it has run; it is not in ``sys.modules``.

    ``file`` is the name of the text in tracebacks, ``stem`` makes the module's name unique.
    """
    module = types.ModuleType(f"transpile_compiled_{stem}")
    module.__file__ = file
    exec(compile(text, file, "exec"), module.__dict__)
    return module


def compiled(module: types.ModuleType, name: str, kinds: Kinds, lines: Lines, loc: ir.Loc) -> Any:
    """Function ``name`` of the module, compiled for parameters of these ``kinds``: Numba's compile result.

    It releases its memory if it fails; the messages of these failures are in its metadata, as "sites", and in `pending`.
    ``lines``: line of the text to the user's location, ``loc``: the location for other lines. T504 if Numba fails.
    """
    from transpile_runtime.compiled import pending

    dispatcher, file = getattr(module, name), module.__file__
    assert file is not None
    sys.modules[module.__name__] = module  # Numba looks up a recursive function by the name of its module
    try:
        with _tidy(dispatcher, file, lines, loc) as sites:
            found = _compiled(dispatcher, kinds, lines, loc)
    finally:
        del sys.modules[module.__name__]
    pending.add(sites)
    found.metadata["sites"] = sites
    return found


@contextmanager
def _tidy(dispatcher: Any, file: str, lines: Lines, loc: ir.Loc) -> Iterator[dict[int, Any]]:
    """A context in which the functions of ``file`` are compiled such that they release their memory if they fail.

    Gives a dict of the messages of these failures, by number, which is filled while functions are compiled.
    """
    from transpile_runtime.compiled import tidy

    sites: dict[int, Any] = {}

    def number(line: int) -> int:
        entry = ("MemoryError", (), *place(lines.get(line, loc)), "out of memory")
        sites[site(entry)] = entry
        return site(entry)

    dispatcher._compiler.pipeline_class = tidy.Tidy
    tidy.LINES[file] = number
    try:
        yield sites
    finally:
        del tidy.LINES[file]


def _compiled(dispatcher: Any, kinds: Kinds, lines: Lines, loc: ir.Loc) -> Any:
    """Compiles the function that ``dispatcher`` holds for these ``kinds`` and gives its compile result; T504 if Numba fails."""
    from transpile_runtime.compiled.kernel import numba_type
    from transpile_runtime.compiled.machine import constants_before_loops

    wanted = tuple(numba_type(*kind) for kind in kinds)
    try:
        with constants_before_loops():
            dispatcher.compile(wanted)
    except TranspileError:
        raise
    except Exception as failed:
        raise _diagnose(failed, lines, loc) from failed
    return dispatcher.overloads[wanted]


def ordinary(module: types.ModuleType, name: str, kinds: Kinds, lines: Lines, loc: ir.Loc, cache: bool) -> Any:
    """The kernel, a Python function, compiled without private names of Numba, for versions of Numba that were not tried.

    A call with other types raises `Again`. With ``cache`` the machine code is in Numba's own cache.
    """
    from transpile_runtime.compiled.again import Again
    from transpile_runtime.compiled.cache import keep

    dispatcher = getattr(module, name)
    if cache:
        sys.modules[module.__name__] = module  # Numba looks up a function's globals by the name of its module
        keep(dispatcher)
    _compiled(dispatcher, kinds, lines, loc)
    dispatcher.disable_compile()

    def kernel(*values: Any) -> Any:
        try:
            return dispatcher(*values)
        except TypeError as error:
            if hasattr(error, "site"):
                raise
        raise Again

    kernel.returns, kernel.stem = (), None  # type: ignore[attr-defined]
    return kernel


# ------------------------------------------------------------------------------------------------- diagnostics

_LINE = re.compile(r'File "[^"]*", line (\d+)')


def _diagnose(failed: Exception, lines: Lines, at: ir.Loc) -> TranspileError:
    """Numba's error as T504 at the user's line: the first line of the text named by the error that has a location, else
    ``at``."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(failed))
    numbers = [int(n) for n in _LINE.findall(message)]
    first = getattr(getattr(failed, "loc", None), "line", None)
    numbers = ([first] if first else []) + numbers
    loc = next((lines[n] for n in numbers if n in lines), at)
    said = (line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Failed in"))
    note = f"Numba says: {next(said, '')[:200]}"
    return TranspileError(
        Diagnostic("T504", "Numba cannot compile the code that was generated for this line", loc, (note,),
                   "call the function without jit, and please report this")
    )  # fmt: skip
