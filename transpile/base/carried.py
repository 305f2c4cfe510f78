"""Functions that another process sent by value: cloudpickle carries a function's code, but not its source text.

A transformed function carries its texts itself (`transpile.frontend.sources.texts_to_carry`); `take` registers them in the
receiving process, and `texts` lists those in which a function may be defined.
"""

from __future__ import annotations

import linecache
import os
import types
from collections.abc import Iterable, Iterator

DYNAMIC = "<dynamic-code>"  # cloudpickle's file name for code

_taken: dict[tuple[str, str], None] = {}


def take(carried: Iterable[tuple[str, str]]) -> None:
    """Registers pairs (file or cell name, text) from another process, also with `linecache` unless it has lines for that
    name."""
    for file, text in carried:
        _taken[file, text] = None
        if not linecache.getlines(file):  # diagnostics read its lines there
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def texts(fn: types.FunctionType) -> Iterator[tuple[str, str]]:
    """The pairs (file name, text) in which a carried function may be defined: those that were taken, the latest first, and
    last, if its code has cloudpickle's file name, the file that its globals name as ``__file__``, if it exists here."""
    yield from reversed(_taken)
    file = fn.__globals__.get("__file__")  # cloudpickle carries it: the script, if it is the same machine
    if fn.__code__.co_filename == DYNAMIC and isinstance(file, str) and os.path.isfile(file):
        linecache.checkcache(file)
        yield file, "".join(linecache.getlines(file))


def is_by_value(frame: types.FrameType | None) -> bool:
    """True if ``frame`` or a caller of it is a method ``dump`` of cloudpickle, or of a copy of it in another package; such a
    pickler finds nothing by name in ``__main__``."""
    while frame is not None:
        pickler = frame.f_locals.get("self") if frame.f_code.co_name == "dump" else None
        if any(cls.__module__.endswith("cloudpickle") for cls in type(pickler).__mro__):
            return True
        frame = frame.f_back
    return False
