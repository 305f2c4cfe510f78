"""Runs a function of loop core: its text for Numba, without Numba, with every access of memory checked (`loop_memory`).

found = run(fn, {"x": np.arange(3.0), "n": 2})      `Ran`: results, the parameters that are written, or the error
found.agrees(run(other, args))                      whether two functions do the same
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import loop_memory
import numpy as np
from fuzz.check import limited
from loop_memory import Violation
from loop_text import made_of

from transpile.core import nodes as ir

PATIENCE = 5  # seconds of one run
ROUNDING = 1e-12


class TooLong(BaseException):
    """A run does not end."""


@dataclass(frozen=True)
class Ran:
    """What a run gave. ``error`` is the name of the exception's class and its message without a position; "" if none."""

    results: tuple[Any, ...]
    written: tuple[Any, ...]
    error: str = ""

    def agrees(self, other: Ran, rounding: float = ROUNDING) -> bool:
        """Whether both gave the same: values up to ``rounding``, in proportion to the largest; errors of one class."""
        if self.error.partition(":")[0] != other.error.partition(":")[0]:
            return False
        ours, theirs = (*self.results, *self.written), (*other.results, *other.written)
        return len(ours) == len(theirs) and all(_alike(a, b, rounding) for a, b in zip(ours, theirs))


def _alike(a: Any, b: Any, rounding: float) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    rounding = max(rounding, 8 * float(np.finfo(a.dtype).eps)) if rounding else 0.0
    scale = max((float(np.max(np.abs(v), initial=0.0, where=np.isfinite(v))) for v in (a, b)), default=0.0)
    return bool(np.allclose(a, b, rtol=rounding, atol=rounding * scale, equal_nan=True))


def run(fn: ir.Function, args: Mapping[str, Any]) -> Ran:
    """The outcome of a call with copies of the arguments, by name. `Violation` if it touches memory that is not its own, and
    `TooLong` if it does not end."""
    made = made_of(fn, "core")
    passed = []
    for p in fn.params:
        value = args[p.name]
        if p.type.dims:
            passed.append(loop_memory.given(np.array(value, p.type.dtype, order="C"), p.buffer))
        else:
            passed.append(np.dtype(p.type.dtype).type(value))
    error, found = "", None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = limited(lambda: made(*passed), PATIENCE, TooLong)
        except Exception as e:
            error = f"{type(e).__name__}: {_plain(str(e))}"
    results = () if error or not fn.body.yields else (found,) if len(fn.body.yields) == 1 else tuple(found)
    written = tuple(np.array(a.data) for p, a in zip(fn.params, passed) if p.buffer)
    return Ran(tuple(loop_memory.taken(r) for r in results), written, error)


def _plain(message: str) -> str:
    """The message without the place in front of it."""
    return re.sub(r"^\S+\.py:\d+(:\d+)?: ", "", message)


__all__ = ["Ran", "TooLong", "Violation", "run"]
