"""``np.errstate(divide="raise")`` and its like around a call: what the function would raise, its derivative raises too.

Generated code runs without NumPy's floating-point warnings, and compiled code knows none. Where the user asks for an exception, or
a call, the function itself runs first, as Python runs it, on copies of the arguments; what it raises ends the call. Where
``value_and_grad`` meets a fault, the function itself runs once more, and warns where it does by itself.
"""

from __future__ import annotations

import contextlib
import copy
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.base.levels import Grad, Pullback, Pushforward, Vmap, is_derivative, jit_level, level_of, peeled
from transpile.driver.shared_arguments import instead

try:
    from numpy._core.umath import _extobj_contextvar

    state: Callable[[], Any] = _extobj_contextvar.get
except ImportError:  # a NumPy that keeps it elsewhere: it is asked at each call
    state = object

CALM = [object()]  # the last state of NumPy that asks for no exception: a comparison costs 30 ns, `np.geterr` a call


def is_watched() -> bool:
    """Whether NumPy is asked to raise, or to call something, at a fault of floating-point arithmetic."""
    now = state()
    if now is CALM[0]:
        return False
    if any(how in ("raise", "call") for how in np.geterr().values()):
        return True
    CALM[0] = now
    return False


def watched(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ordinary: Callable[..., Any]) -> Any:
    """The call where it is: a function that is only compiled runs as Python runs it."""
    levels, function = peeled(target)
    if any(isinstance(level, Vmap) for level in levels):
        return ordinary(args, kwargs)  # the function of one lane has other arguments
    if jit_level(target) is not None and not is_derivative(target):
        return instead(target, args, kwargs)
    given, named = copy.deepcopy((tuple(args), dict(kwargs)))
    for level in levels:
        if isinstance(level, (Pushforward, Pullback)):
            (primals, _), named = (*given, *named.values()), {}
            given = tuple(primals)
    with _silent():
        function(*given, **named)
    return ordinary(args, kwargs)


def warning(target: Any) -> Callable[..., None] | None:
    """What lets the function itself say what it warns of: of ``value_and_grad(f)``, whose value is that of ``f``; else None."""
    level = level_of(target)
    if not (isinstance(level, Grad) and level.value and level_of(target.__wrapped__) is None):
        return None

    def warn(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        given, named = copy.deepcopy((tuple(args), dict(kwargs)))
        with _silent(), contextlib.suppress(Exception):
            target.__wrapped__(*given, **named)

    return warn


_COLLECTED: list[Any] = [(object(), {})]  # the last state of NumPy, and the settings that collect what it would say


def collecting(faults: list[str]) -> Any:
    """A context in which faults that NumPy would warn of, as it is set, are collected, and none is said."""
    now = state()
    last, settings = _COLLECTED[0]
    if now is not last:
        settings = {k: "ignore" if how == "ignore" else "call" for k, how in np.geterr().items()}
        _COLLECTED[0] = now, settings
    return np.errstate(call=lambda kind, flag: faults.append(kind), **settings)


class _Silent:
    """The standard output, of which one thread does not see what it prints: what others print arrives."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.thread = stream, threading.get_ident()

    def write(self, text: str) -> Any:
        return len(text) if threading.get_ident() == self.thread else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    before = sys.stdout
    sys.stdout = made = _Silent(before)
    try:
        yield
    finally:
        if sys.stdout is made:
            sys.stdout = before
        made.thread = 0  # of who has kept it: it is the stream again
