"""`Program`: the executable form of one specialisation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.base.captured import Stale
from transpile.core.taken import Taken
from transpile.driver.fast_path import Otherwise
from transpile.driver.what_raised import said


class Program:
    """A program, called with the arguments and the leaves of a call; ``front`` writes the function of its fast path."""

    kernel: Any = None
    examples: Sequence[Any] = ()  # the leaves of the first call
    taken = Taken()
    slots: Sequence[int] = ()  # for each parameter of the user, its leaf in the call

    writes = True  # a call may change its arguments
    said: Any = None  # of a batched function: finds the error of one lane (`transpile.driver.failing_lanes`)

    unchanged: Callable[[], bool] | None = None  # tests that what lifting read outside is unchanged
    outside: Callable[[], list[Any]] | None = None  # reads the captured values

    def __init__(self) -> None:
        self.fronts: dict[
            bool, Callable[..., Any] | None
        ] = {}  # fast paths written so far; True: for calls with keywords

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any], leaves: list[Any]) -> Any:
        raise NotImplementedError

    def misfits(self, leaves: Sequence[Any]) -> bool:
        """True if the sizes of these leaves contradict assumptions made from the first call's example, so that checks fail;
        False without assumptions."""
        if not self.taken.pairs:
            return False
        own = [np.shape(leaves[k]) for k in self.slots]
        return not self.taken.holds(own, [np.shape(v) for v in (self.outside() if self.outside is not None else ())])

    def failure(self, failed: Exception, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception:
        """The error to raise for ``failed``: that of the lowest failing lane, or ``failed`` itself if the function is not
        batched, may have changed its arguments, or the error is about sizes."""
        if self.said is None or self.writes or self.is_of_sizes(failed):
            return failed
        return self.said(failed, args, kwargs)

    def is_of_sizes(self, failed: Exception) -> bool:
        """True if the error says that sizes do not agree, which holds for all lanes alike."""
        return said(failed).is_of_sizes

    def _failed(self, scope: Any, count: int) -> str:
        """The text of the error to raise in a fast path with ``count`` arguments: a call of `failure`, or the name of the
        caught error if that would return it."""
        if self.said is None or self.writes:
            return "__error"
        given = "".join(f"__a{k}, " for k in range(count))
        return f"{scope.constant(self.failure)}(__error, ({given}), {{}})"

    def _other_sizes(self, scope: Any, leaves: Mapping[int, str]) -> list[str]:
        """The lines, inside an ``except``, that leave the fast path if a check failed because other sizes were assumed;
        ``leaves`` are the texts of the leaves."""
        given = "".join(f"{leaves.get(k)}, " for k in range(len(self.examples)))
        return [
            f"    if isinstance(__error, ValueError) and {scope.constant(self.misfits)}(({given})):",
            "        break",
        ]

    def holds(self) -> bool:
        """True if everything that lifting read outside is as it was when the program was built, and the captured values can be
        read."""
        try:
            if self.outside is not None:
                self.outside()
        except Stale:
            return False
        return self.unchanged is None or self.unchanged()

    def front(self, otherwise: Otherwise) -> Callable[..., Any] | None:
        """The function of the fast path, which calls ``otherwise`` for any other call; None if there is none, as here."""
        return None


def slim(value: Any) -> Any:
    """An array of the same dtype and shape without its memory: its elements are one, which is not set. Of rank 0 a copy; other
    values unchanged."""
    if type(value) is not np.ndarray:
        return value
    return np.broadcast_to(np.empty((), value.dtype), value.shape) if value.ndim else value.copy()
