"""Generated text as a module that runs: tracebacks and pdb show it, and its errors name the user's line.

The text is registered with `linecache` under its own file name, made from the function's name and a hash of the text.
"""

from __future__ import annotations

import hashlib
import linecache
import pickle
import sys
from collections.abc import Mapping
from typing import Any

from transpile.base.loc import Loc
from transpile.base.raised import Raised

_LINES: dict[str, Mapping[int, Loc]] = {}  # file name of generated text -> its line -> the user's line
_RAISES: dict[str, Mapping[int, Raised]] = {}  # file name of generated text -> its line -> the error raised there
_LATER: dict[str, bytes] = {}  # the entries of _LINES for text from the cache, pickled


def load(
    text: str,
    name: str,
    lines: Mapping[int, Loc],
    namespace: Mapping[str, Any] | None = None,
    raises: Mapping[int, Raised] | None = None,
) -> Any:
    """The function ``name`` of the module ``text``, which is executed with ``namespace`` as further globals. ``lines`` maps its
    lines to the user's, ``raises`` to the errors raised there."""
    file = f"<transpile {name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    register(file, text, lines)
    _RAISES[file] = raises or {}
    found: dict[str, Any] = {"__name__": f"transpile.generated.{name}", "__file__": file, **(namespace or {})}
    exec(compile(text, file, "exec"), found)
    return found[name]


def register(file: str, text: str, lines: Mapping[int, Loc]) -> None:
    """Registers the text for tracebacks, and its line map for `transpile.driver.tracebacks`."""
    # no mtime: linecache never drops the entry
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    _LINES[file] = lines


def register_later(file: str, lines: bytes) -> None:
    """As `register`, for a file on disk with its pickled line map, which is loaded when an exception needs it; nothing if it is
    registered."""
    if file not in _LINES:
        _LATER[file] = lines


def generated_lines(file: str) -> Mapping[int, Loc] | None:
    """For generated text, the user's line for each of its lines; None for any other file."""
    if file in _LATER:
        _LINES[file] = pickle.loads(_LATER.pop(file))
    return _LINES.get(file)


def generated_raises(file: str) -> Mapping[int, Raised]:
    """For generated text, the errors that its lines raise, by line; empty for any other file."""
    return _RAISES.get(file, {})


def site_of(error: BaseException) -> Loc | None:
    """The user's line (`Loc`) that the message of a compiled exception names; None for other exceptions, and if it names
    none."""
    number, errors = getattr(error, "site", None), sys.modules.get("transpile_runtime.compiled.errors")
    if errors is None or number not in errors.SITES:
        return None
    for part in errors.SITES[number][2:]:
        if isinstance(part, tuple) and part[0] in ("at", "line"):
            return Loc(*part[1:])
    return None
