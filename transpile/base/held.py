"""The functions that `vjp` and `linearize` give: of a derivative, with the primals that it is taken at."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar


class Held:
    """What `vjp` and `linearize` give, as a function that is transformed: ``fn(primals, ...)``, what it reads outside itself as it
    was. ``check`` raises where that cannot be; the argument, or, with ``several``, the tuple of arguments is ``like`` this."""

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
