"""Generated text as a module that runs: tracebacks and pdb show it, errors inside it name the user's line.

The text is registered with `linecache` under a file name of its own, made of the function's name and a hash of the text.
"""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from transpile.core.loc import Loc
from transpile.errors import position, source_line

_LINES: dict[str, Mapping[int, Loc]] = {}  # file name of generated text -> its line -> the user's
_LATER: dict[str, bytes] = {}  # the same, pickled, of text that came from the cache


def load(text: str, name: str, lines: Mapping[int, Loc], namespace: Mapping[str, Any] | None = None) -> Any:
    """The function ``name`` of the module ``text``; ``lines`` maps its lines to the user's."""
    return run(text, name, lines, namespace)[name]


def run(text: str, name: str, lines: Mapping[int, Loc], namespace: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The namespace of the module after it ran."""
    file = f"<transpile {name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    register(file, text, lines)
    found: dict[str, Any] = {"__name__": f"transpile.generated.{name}", "__file__": file, **(namespace or {})}
    exec(compile(text, file, "exec"), found)
    return found


def register(file: str, text: str, lines: Mapping[int, Loc]) -> None:
    """Makes the text known to tracebacks and its line map to `explain`."""
    # no mtime: linecache never drops the entry
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    _LINES[file] = lines


def register_later(file: str, lines: bytes) -> None:
    """The same for a file on disk, with the line map pickled: it is wanted only for an exception."""
    if file not in _LINES:
        _LATER[file] = lines


def _lines(file: str) -> Mapping[int, Loc] | None:
    if file in _LATER:
        _LINES[file] = pickle.loads(_LATER.pop(file))
    return _LINES.get(file)


def user_line(error: BaseException) -> Loc | None:
    """Where in the user's source an exception comes from that was raised inside generated code."""
    trace = error.__traceback__
    found = None
    while trace is not None:
        lines = _lines(trace.tb_frame.f_code.co_filename)
        if lines is not None:
            found = lines.get(trace.tb_lineno, found)
        trace = trace.tb_next
    return _site(error) if found is None else found


def _site(error: BaseException) -> Loc | None:
    """Where the message of a compiled exception is from."""
    number, errors = getattr(error, "site", None), sys.modules.get("transpile_runtime.compiled.errors")
    if errors is None or number not in errors.SITES:
        return None
    for part in errors.SITES[number][2:]:
        if isinstance(part, tuple) and part[0] in ("at", "line"):
            return Loc(*part[1:])
    return None


def explain(error: BaseException) -> None:
    """Adds the user's line to an exception that was raised inside generated code, once."""
    loc = user_line(error)
    if loc is None or not loc.line or getattr(error, "__transpile__", None):
        return
    note = f"{position(loc)}in the original source".rstrip()
    line = source_line(loc).strip()
    if line:
        note += f": {line}"
    with contextlib.suppress(AttributeError):
        error.__transpile__ = loc  # type: ignore[attr-defined]
    if sys.version_info >= (3, 11):
        error.add_note(note)
    elif len(error.args) == 1 and isinstance(error.args[0], str) and not isinstance(error, KeyError):
        error.args = (f"{error.args[0]}\n{note}",)
