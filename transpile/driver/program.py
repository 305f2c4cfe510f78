"""What a specialisation runs as."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.base.captured import Stale
from transpile.core.taken import Taken
from transpile.driver.fast_path import Otherwise
from transpile.driver.what_raised import said


class Program:
    """Called with the arguments and the leaves of a call. ``front`` writes the function of a repeated call, if there can be one."""

    kernel: Any = None
    examples: Sequence[Any] = ()  # the leaves of the first call
    taken = Taken()
    slots: Sequence[int] = ()  # for each parameter that is the user's, the leaf of the call that it is

    writes = True  # whether a call may leave something in its arguments
    said: Any = None  # for a function of all lanes what gives the error of one (`transpile.driver.failing_lanes`)

    unchanged: Callable[[], bool] | None = None  # whether what lifting read outside means what it meant
    outside: Callable[[], list[Any]] | None = None  # reads the captured values

    def __init__(self) -> None:
        self.fronts: dict[bool, Callable[..., Any] | None] = {}  # as written; with True for calls with names

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        raise NotImplementedError

    def misfits(self, leaves: Sequence[Any]) -> bool:
        """Whether these are sizes of which something else was taken where the example decided: the function's own checks fail."""
        if not self.taken.pairs:
            return False
        own = [np.shape(leaves[k]) for k in self.slots]
        return not self.taken.holds(own, [np.shape(v) for v in (self.outside() if self.outside is not None else ())])

    def failure(self, failed: Exception, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception:
        """The error that is raised for one of a call: not another where the arguments are no more what they were."""
        if self.said is None or self.writes or self.is_of_sizes(failed):
            return failed
        return self.said(failed, args, kwargs)

    def is_of_sizes(self, failed: Exception) -> bool:
        """Whether it says that sizes do not agree, which is so in all lanes alike."""
        return said(failed).is_of_sizes

    def _failed(self, scope: Any, count: int) -> str:
        """The text of the error that is raised in the function of a repeated call with so many arguments."""
        if self.said is None or self.writes:
            return "__error"
        given = "".join(f"__a{k}, " for k in range(count))
        return f"{scope.constant(self.failure)}(__error, ({given}), {{}})"

    def _other_sizes(self, scope: Any, leaves: Mapping[int, str]) -> list[str]:
        """The lines that leave the function of a repeated call where its checks fail because other sizes were taken."""
        given = "".join(f"{leaves.get(k)}, " for k in range(len(self.examples)))
        return [
            f"    if isinstance(__error, ValueError) and {scope.constant(self.misfits)}(({given})):",
            "        break",
        ]

    def holds(self) -> bool:
        """Whether what stands outside is what the program was built for."""
        try:
            if self.outside is not None:
                self.outside()
        except Stale:
            return False
        return self.unchanged is None or self.unchanged()

    def front(self, otherwise: Otherwise) -> Callable[..., Any] | None:
        """The function of a repeated call, for what is done where a call is not such a one."""
        return None


def slim(value: Any) -> Any:
    """An array that stands for another where its class, dtype and sizes are asked for, without its memory."""
    if type(value) is not np.ndarray:
        return value
    return np.broadcast_to(np.empty((), value.dtype), value.shape) if value.ndim else value.copy()
