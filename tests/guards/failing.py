"""Refuses memory to a compiled program: it is called once for each request for memory that it makes.

In one call only that request is refused, in another also all later ones. The call must raise MemoryError with the user's line
and the number of bytes, or return its result, and must leave no memory allocated.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from guards import memory

MOST = 40  # the most requests to refuse, for one call
_SAYS = re.compile(r"\.py:\d+:\d+: (unable to allocate \d+ bytes|out of memory)")


def calls(function: Callable[..., Any], args: tuple[Any, ...]) -> BaseException | None:
    """The exception of a call, without its traceback."""
    try:
        function(*args)
    except Exception as error:
        return error.with_traceback(None)
    return None


@contextmanager
def collected() -> Iterator[None]:
    """No object that refers to itself and is left over, such as the frames of a compilation, is given back meanwhile."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def problem(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str | None:
    """The problem with a compiled function; None if there is none."""
    for _ in range(2):  # compiles
        calls(function, make())
    with collected():
        return refusing(function, make)


def refusing(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str | None:
    """The problem with a function that is compiled, when its requests for memory are refused."""
    state = memory.STATE
    live, state[memory.COUNT], state[memory.FAILS] = state[memory.LIVE], 0, -1
    usual = calls(function, make())
    count = int(state[memory.COUNT])
    if state[memory.LIVE] != live:
        return f"{state[memory.LIVE] - live} pieces of memory are kept by a call that ends with {usual!r}"
    for ever in (0, 1):
        for k in range(0, count, max(count // MOST, 1)):
            args = make()
            state[memory.COUNT], state[memory.FAILS], state[memory.EVER] = 0, k, ever
            error = calls(function, args)
            state[memory.FAILS] = -1
            where = f"request {k} of {count}{' and all behind it' if ever else ''}"
            if error is not None and type(error) is not type(usual) and not isinstance(error, MemoryError):
                return f"{where} is refused: {error!r}"
            if isinstance(error, MemoryError) and not ever and usual is None and not _SAYS.search(str(error)):
                return f"{where} is refused, and no line is named: {error!r}"
            if state[memory.LIVE] != live:
                return f"{where} is refused: {state[memory.LIVE] - live} pieces of memory are kept, {error!r}"
    return None
