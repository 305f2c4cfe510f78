"""Generated text as a module that runs: tracebacks and pdb show it, errors inside it name the user's line.

The text is registered with `linecache` under a file name of its own, made of the function's name and a hash of the text.
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

_LINES: dict[str, Mapping[int, Loc]] = {}  # file name of generated text -> its line -> the user's
_RAISES: dict[str, Mapping[int, Raised]] = {}  # likewise -> what a line of it raises
_LATER: dict[str, bytes] = {}  # the same, pickled, of text that came from the cache


def load(
    text: str,
    name: str,
    lines: Mapping[int, Loc],
    namespace: Mapping[str, Any] | None = None,
    raises: Mapping[int, Raised] | None = None,
) -> Any:
    """The function ``name`` of the module ``text``; ``lines`` maps its lines to the user's, ``raises`` to what they raise."""
    file = f"<transpile {name} {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
    register(file, text, lines)
    _RAISES[file] = raises or {}
    found: dict[str, Any] = {"__name__": f"transpile.generated.{name}", "__file__": file, **(namespace or {})}
    exec(compile(text, file, "exec"), found)
    return found[name]


def register(file: str, text: str, lines: Mapping[int, Loc]) -> None:
    """Makes the text known to tracebacks and its line map to `transpile.driver.tracebacks`."""
    # no mtime: linecache never drops the entry
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    _LINES[file] = lines


def register_later(file: str, lines: bytes) -> None:
    """The same for a file on disk, with the line map pickled: it is wanted only for an exception."""
    if file not in _LINES:
        _LATER[file] = lines


def generated_lines(file: str) -> Mapping[int, Loc] | None:
    """For generated text the user's line of each of its lines; None for any other file."""
    if file in _LATER:
        _LINES[file] = pickle.loads(_LATER.pop(file))
    return _LINES.get(file)


def generated_raises(file: str) -> Mapping[int, Raised]:
    """For generated text what its lines raise."""
    return _RAISES.get(file, {})


def site_of(error: BaseException) -> Loc | None:
    """Where the message of a compiled exception is from."""
    number, errors = getattr(error, "site", None), sys.modules.get("transpile_runtime.compiled.errors")
    if errors is None or number not in errors.SITES:
        return None
    for part in errors.SITES[number][2:]:
        if isinstance(part, tuple) and part[0] in ("at", "line"):
            return Loc(*part[1:])
    return None
