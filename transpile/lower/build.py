"""From the text of a kernel to its callable: found on disk, or compiled by Numba from a real file in the cache directory."""

from __future__ import annotations

import ast
import re
import sys
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transpile.analysis.sites import place, site
from transpile.cache import kernels
from transpile.core.nodes import Loc
from transpile.errors import Diagnostic, TranspileError
from transpile.loader import register

Kinds = kernels.Kinds
Direct = Callable[[str], Any]  # of a name that no other function has


def build(
    name: str,
    text: str,
    lines: Mapping[int, Loc],
    kinds: Kinds,
    cache: bool,
    loc: Loc,
    direct: Direct | None = None,
    is_recursive: bool = False,
) -> Any:
    """The kernel of function ``name`` of a module text, for parameters of these kinds.

    It raises `transpile_runtime.compiled.again.Again` for arguments that are not. ``lines`` are the user's, ``loc`` is the
    function's. ``direct`` compiles the same without the text, if it can (`transpile.native`). Of text whose functions call
    themselves nothing is kept on disk: Numba reaches them by an address that it finds when it compiles.
    """
    from transpile_runtime.compiled import objects

    direct = direct if objects.is_known() else None
    stem = kernels.stem(name, text, kinds, direct is not None, lines)
    if cache:
        found = kernels.find(stem)
        if found is not None:
            return found
    path = kernels.text_file(stem, text) if cache else None
    file = path or f"<transpile jit {stem}>"
    register(file, text, lines)
    compiled = None
    if direct is not None:
        compiled = _directly(direct, f"{name}.{uuid.uuid4().hex}", text)
    if compiled is None:
        return _by_text(name, text, lines, kinds, stem, None if is_recursive else path, loc)
    return _kernel(name, text, lines, kinds, stem, path, compiled)


def _directly(direct: Direct, unique: str, text: str) -> Any:
    from transpile.native import Unsupported
    from transpile_runtime.compiled import pending
    from transpile_runtime.compiled.machine import constants_before_loops

    try:
        with constants_before_loops():
            compiled = direct(unique)
    except Unsupported:
        return None
    pending.add({**_sites(text), **compiled.metadata["sites"]})
    return compiled


def _by_text(
    name: str, text: str, lines: Mapping[int, Loc], kinds: Kinds, stem: str, path: str | None, loc: Loc
) -> Any:
    """The kernel as Numba's front end makes it of the text."""
    from transpile_runtime.compiled import objects, pending

    file = path or f"<transpile jit {stem}>"
    module = types.ModuleType(f"transpile_compiled_{stem}")
    module.__file__ = file
    exec(compile(text, file, "exec"), module.__dict__)
    dispatcher = getattr(module, name)
    if not objects.is_known():
        return _ordinary(module, dispatcher, kinds, lines, loc, path is not None)
    sys.modules[module.__name__] = module  # Numba finds a function that calls itself by the name of its module
    try:
        with _tidy(dispatcher, file, lines, loc) as sites:
            compiled = _compiled(dispatcher, kinds, lines, loc)
    finally:
        del sys.modules[module.__name__]
    pending.add(sites)
    compiled.metadata["sites"] = sites
    return _kernel(name, text, lines, kinds, stem, path, compiled)


@contextmanager
def _tidy(dispatcher: Any, file: str, lines: Mapping[int, Loc], loc: Loc) -> Iterator[dict[int, Any]]:
    """Compiles functions that give back what they hold where they fail; the messages that they have for that."""
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


def _kernel(
    name: str, text: str, lines: Mapping[int, Loc], kinds: Kinds, stem: str, path: str | None, compiled: Any
) -> Any:
    from transpile_runtime.compiled.kernel import Kernel

    kernel = Kernel(name, kinds, compiled.entry_point)
    kernel.returns = _returns(compiled.signature.return_type)
    if path is not None:
        kernel.stem = stem
        sites = {**_sites(text), **compiled.metadata.get("sites", {})}
        kernels.keep(kernel, compiled, sites, path, lines)
    return kernel


def _compiled(dispatcher: Any, kinds: Kinds, lines: Mapping[int, Loc], loc: Loc) -> Any:
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


def _returns(type_: Any) -> tuple[str, ...]:
    """The dtypes of what the function returns, "" for what is not a number."""
    from numba import types as numba_types

    several = isinstance(type_, numba_types.BaseTuple)
    found = tuple(type_) if several else () if type_ == numba_types.none else (type_,)
    numbers = (numba_types.Number, numba_types.Boolean)
    return tuple([str(t) if isinstance(t, numbers) else "" for t in found])


def _sites(text: str) -> dict[int, Any]:
    """The messages that the module text registers when it runs."""
    _, found, rest = text.partition("errors.SITES.update(")
    return ast.literal_eval(rest[: rest.index("\n})") + 2]) if found else {}


def _ordinary(
    module: types.ModuleType, dispatcher: Any, kinds: Kinds, lines: Mapping[int, Loc], loc: Loc, cache: bool
) -> Any:
    """The kernel as any Numba makes it, with Numba's own cache: for versions whose private names were not tried."""
    from transpile_runtime.compiled.again import Again
    from transpile_runtime.compiled.cache import keep

    if cache:
        sys.modules[module.__name__] = module  # Numba finds a function's globals by the name of its module
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


def _diagnose(failed: Exception, lines: Mapping[int, Loc], at: Loc) -> TranspileError:
    """Numba's error as a diagnostic at the user's line."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(failed))
    numbers = [int(n) for n in _LINE.findall(message)]
    first = getattr(getattr(failed, "loc", None), "line", None)
    numbers = ([first] if first else []) + numbers
    loc = next((lines[n] for n in numbers if n in lines), at)
    said = (line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Failed in"))
    note = f"Numba says: {next(said, '')[:200]}"
    return TranspileError(
        Diagnostic("T504", "Numba cannot compile what was generated for this line", loc, (note,),
                   "without jit the function runs; please report this")
    )  # fmt: skip
