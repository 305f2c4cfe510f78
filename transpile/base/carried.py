"""Functions that another process has sent by value: cloudpickle carries a function as its code alone, without its text.

A transformed function takes its texts along (`transpile.frontend.sources.texts_to_carry`); `take` makes them known in the process
that it comes to, and `texts` gives those that a function may be written in.
"""

from __future__ import annotations

import linecache
import os
import types
from collections.abc import Iterable, Iterator

DYNAMIC = "<dynamic-code>"  # the file that cloudpickle says

_taken: dict[tuple[str, str], None] = {}


def take(carried: Iterable[tuple[str, str]]) -> None:
    """Makes texts known that came from another process, each with the name of its file or cell."""
    for file, text in carried:
        _taken[file, text] = None
        if not linecache.getlines(file):  # diagnostics show its lines
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def texts(fn: types.FunctionType) -> Iterator[tuple[str, str]]:
    """The texts that a function may come from which was carried here, the latest first, and the names of their files."""
    yield from reversed(_taken)
    file = fn.__globals__.get("__file__")  # cloudpickle takes it along: the script, if it is the same machine
    if fn.__code__.co_filename == DYNAMIC and isinstance(file, str) and os.path.isfile(file):
        linecache.checkcache(file)
        yield file, "".join(linecache.getlines(file))


def is_by_value(frame: types.FrameType | None) -> bool:
    """Whether cloudpickle is at work, itself or a copy of it in another package: it looks for nothing in ``__main__``."""
    while frame is not None:
        pickler = frame.f_locals.get("self") if frame.f_code.co_name == "dump" else None
        if any(cls.__module__.endswith("cloudpickle") for cls in type(pickler).__mro__):
            return True
        frame = frame.f_back
    return False
