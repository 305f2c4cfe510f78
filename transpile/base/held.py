"""The functions that `vjp` and `linearize` return: a derivative at fixed primals."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar


class Held:
    """A function returned by `vjp` or `linearize`, which can be transformed itself: ``fn(primals, ...)`` with the captured
    values in ``held``.

    ``check()`` raises if captured values have changed so that ``fn`` is no longer valid. The argument, or with ``several`` the
    tuple of arguments, has the structure of ``like``.
    """

    __lifter_methods__: ClassVar = {"__call__": "transpile.base.held.Held.__call__"}

    def __init__(
        self, fn: Any, primals: Any, like: Any, held: dict[Any, Any], check: Any, several: bool = False
    ) -> None:
        self.fn, self.primals, self.like, self.held, self.check, self.several = fn, primals, like, held, check, several
        self.__name__ = "f_jvp" if several else "pullback"
        kind = inspect.Parameter.VAR_POSITIONAL if several else inspect.Parameter.POSITIONAL_OR_KEYWORD
        name = "tangents" if several else "cotangent"
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind)])

    def __call__(self, *args: Any) -> Any:
        return self.fn(self.primals, args if self.several else args[0])
