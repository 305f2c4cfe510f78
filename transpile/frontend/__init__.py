"""From Python source to core.

In: a function (live, or of a file that is not executed) and the types of its arguments. Out: one core function, with all that it
calls lifted in place. Must not: run the user's code, print source, or know of derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transpile.frontend.restarts import NeedStatic
    from transpile.frontend.whole_lifter import lift

__all__ = ["NeedStatic", "lift"]


def __getattr__(name: str) -> Any:
    if name == "lift":
        from transpile.frontend.whole_lifter import lift

        return lift
    if name == "NeedStatic":
        from transpile.frontend.restarts import NeedStatic

        return NeedStatic
    raise AttributeError(name)
