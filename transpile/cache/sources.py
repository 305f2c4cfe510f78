"""Whether a function runs what its source says: lifting reads the source, and a cache entry is found by what runs."""

from __future__ import annotations

import functools
import linecache
import types
from collections.abc import Iterator

from transpile.cache.likeness import code


def is_as_written(function: types.FunctionType) -> bool:
    """Whether the source at its place, compiled now, is the code of the function: the file may have been changed since it was
    imported, or the code since then."""
    own = function.__code__
    text = "".join(linecache.getlines(own.co_filename, function.__globals__))
    wanted = code(own)
    found = _codes(text, own.co_filename, own.co_flags & _FUTURES)
    return any(c.co_firstlineno == own.co_firstlineno and code(c) == wanted for c in found)


@functools.lru_cache(maxsize=16)
def _codes(text: str, file: str, flags: int) -> tuple[types.CodeType, ...]:
    """The code objects of a file; nothing is run."""
    try:
        whole = compile(text, file, "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError):
        return ()
    return tuple(_inside(whole))


def _inside(whole: types.CodeType) -> Iterator[types.CodeType]:
    for const in whole.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _inside(const)


def _future_flags() -> int:
    import __future__

    return functools.reduce(int.__or__, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


_FUTURES = _future_flags()
