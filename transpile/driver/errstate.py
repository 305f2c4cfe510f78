"""``np.errstate(divide="raise")`` and similar around a call: the derivative raises what the function would raise.

Generated code runs without NumPy's floating-point warnings, and compiled code has none. If the user asks NumPy to raise or to
call a function, the original function runs first, untransformed, on copies of the arguments; an exception ends the call. If
``value_and_grad`` meets a floating-point fault, the original function runs once more, so that it issues its own warnings.
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
except ImportError:  # not in this NumPy: np.geterr is called each time
    state = object

CALM = [
    object()
]  # the last NumPy state that raises nothing: comparing with it costs 30 ns, less than a call of `np.geterr`


def is_watched() -> bool:
    """True if NumPy is set to raise, or to call a function, at a floating-point fault."""
    now = state()
    if now is CALM[0]:
        return False
    if any(how in ("raise", "call") for how in np.geterr().values()):
        return True
    CALM[0] = now
    return False


def watched(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ordinary: Callable[..., Any]) -> Any:
    """The result of a call while NumPy is set to raise, or to call a function, at a floating-point fault: that of
    ``ordinary(args, kwargs)``.

    Before, the user's function runs on copies, so that its own faults raise; not if there is a `vmap`. A function that is only
    compiled is run uncompiled instead.
    """
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
    """For ``value_and_grad(f)`` of an untransformed ``f``, a function ``(args, kwargs)`` that runs ``f`` on copies only for the
    warnings that it issues; otherwise None."""
    level = level_of(target)
    if not (isinstance(level, Grad) and level.value and level_of(target.__wrapped__) is None):
        return None

    def warn(args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        given, named = copy.deepcopy((tuple(args), dict(kwargs)))
        with _silent(), contextlib.suppress(Exception):
            target.__wrapped__(*given, **named)

    return warn


_COLLECTED: list[Any] = [(object(), {})]  # the last NumPy state, and the settings that collect its faults


def collecting(faults: list[str]) -> Any:
    """A context, without warnings, in which the kinds of floating-point faults that NumPy is not set to ignore are appended to
    ``faults``."""
    now = state()
    last, settings = _COLLECTED[0]
    if now is not last:
        settings = {k: "ignore" if how == "ignore" else "call" for k, how in np.geterr().items()}
        _COLLECTED[0] = now, settings
    return np.errstate(call=lambda kind, flag: faults.append(kind), **settings)


class _Silent:
    """A standard output that drops what the current thread prints and passes on what others print."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.thread = stream, threading.get_ident()

    def write(self, text: str) -> Any:
        return len(text) if threading.get_ident() == self.thread else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """A context in which what the current thread prints to standard output is dropped."""
    before = sys.stdout
    sys.stdout = made = _Silent(before)
    try:
        yield
    finally:
        if sys.stdout is made:
            sys.stdout = before
        made.thread = 0  # whoever kept a reference prints to the stream again
