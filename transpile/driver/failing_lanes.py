"""Finds the lane that failed, because a statement that runs for all lanes at once fails for all of them.

A *raise* of the user's function names its lane (`transpile.transform.batching`). A bad index or a singular matrix does not, and
the first statement that fails need not be that of the lowest lane. So the lanes of a failed call are run one after the other
until one fails; its error is raised, with the lane. Nothing is printed meanwhile.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from transpile.aggregates import flatten, unflatten
from transpile.base.axes import of_arguments
from transpile.base.levels import Jit, Level, Vmap, level_of
from transpile.driver.what_raised import Said, in_lanes, note, said

Saying = Callable[[Exception, Sequence[Any], Mapping[str, Any]], Exception]
ERRORS = (ArithmeticError, AssertionError, LookupError, ValueError)


def of_lanes(target: Any) -> Saying | None:
    """The function that replaces the error of a call by the error of the lowest failing lane; None if ``target`` is not
    batched."""
    while isinstance(level := level_of(target), Jit):
        target = target.__wrapped__
    return _Lanes(level, target.__wrapped__, type(target)) if isinstance(level, Vmap) else None


class _Lanes:
    def __init__(self, level: Vmap, inner: Any, transformed: Callable[[Any, Level], Any]) -> None:
        self.level, self.inner, self.transformed = level, inner, transformed

    def __call__(self, failed: Exception, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Exception:
        if not isinstance(failed, ERRORS):
            return failed
        one = self.of_one_lane()
        with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for lane, (given, named) in enumerate(self.lanes(args, kwargs)):
                try:
                    one(*given, **named)
                except ERRORS as found:
                    return _better(failed, found, lane)
                except Exception:
                    break
        return failed

    def of_one_lane(self) -> Any:
        """The function of one lane, which runs generated code that is not compiled."""
        inner = self.inner
        while isinstance(level_of(inner), Jit):
            inner = inner.__wrapped__
        return inner if level_of(inner) is not None else self.transformed(inner, Level())

    def lanes(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yields ``(args, kwargs)`` of each lane in order; nothing if the arguments have different numbers of lanes."""
        leaves, tree = flatten((tuple(args), dict(kwargs)))
        axes = of_arguments(self.level.in_axes, [flatten(a)[1] for a in args])
        axes += [0] * (len(leaves) - len(axes))
        own = [None if axis is None else np.moveaxis(np.asarray(leaf), axis, 0) for leaf, axis in zip(leaves, axes)]
        counts = {len(leaf) for leaf in own if leaf is not None}
        if len(counts) > 1:
            return  # different numbers of lanes: that is the error itself
        for lane in range(counts.pop() if counts else self.level.axis_size or 0):
            yield unflatten(tree, [leaf if all_ is None else all_[lane] for leaf, all_ in zip(leaves, own)])


def _better(failed: Exception, found: Exception, lane: int) -> Exception:
    """The error ``found``, changed to end with its lane; ``failed`` instead if that has the same type and message, or if
    ``found`` is about sizes or has no text."""
    text = found.args[0] if len(found.args) == 1 and isinstance(found.args[0], str) else "" if not found.args else None
    known = said(found)
    if text is None or known.is_of_sizes:
        return failed
    lanes = (lane, *known.lanes)
    before = text[: len(text) - len(in_lanes(known.lanes))] if known.lanes else f"{text} ".lstrip()
    whole = f"{before}{in_lanes(lanes)}"
    if type(found) is type(failed) and failed.args == (whole,):
        return failed
    found.args = (whole,)
    note(found, Said(lanes=lanes))
    found.__suppress_context__ = True
    return found
