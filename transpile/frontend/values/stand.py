"""Functions of the lifter, where a Python object is asked for: what `grad` is given inside a transformed function."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from transpile.base.levels import Level, Stacked, peeled
from transpile.frontend.values.values import Closure, Static

_BY_POSITION = inspect.Parameter.POSITIONAL_OR_KEYWORD


class Stand:
    """A function or another static value of the lifter, where a Python object is asked for. ``lifter`` is whose it is."""

    __transpile_function__ = True

    def __init__(self, value: Any, lifter: Any) -> None:
        self.value, self.lifter = value, lifter
        code = value.code if isinstance(value, Closure) else None
        self.__name__ = self.__qualname__ = code.name if code is not None else "function"
        if code is not None:
            names = [a.id for a in (*getattr(code.args, "posonlyargs", ()), *code.args.args)]
            self.__signature__ = inspect.Signature([inspect.Parameter(n, _BY_POSITION) for n in names])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a function of the lifter is not called")


def opened(value: Static) -> tuple[list[Level], Stand] | None:
    """The transforms, the outermost first, and the function of the lifter under them; None of what has no such function."""
    levels, inner = peeled(value.value)
    return (levels, inner) if isinstance(inner, Stand) else None


def stacked(levels: Sequence[Level], function: Stand) -> Static:
    """The function under these transforms, the first of them outermost."""
    made: Any = function
    for level in reversed(levels):
        made = Stacked(made, level)
    return Static(made)
