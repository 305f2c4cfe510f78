"""Compares one call of a function with `transpile.vmap` of it: the call is the first lane, others are near it and far from it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from lane_orders import order

import transpile as tp
from transpile.errors import TranspileError
from transpile.tree import leaves as leaves_of

from .judge import CALLS, Verdict, described, is_departure, outcome, positional

FACTORS = (1.0, 1.02, 0.6, 1.9)  # of the numbers of each lane
KINDS = ("all at once", "lane by lane", "gradient")


class LanesJudge:
    """Stands for a function in its examples."""

    def __init__(
        self, function: Callable[..., Any], say: Callable[[str, Verdict, str], None], compiles: bool = False
    ) -> None:
        self.function, self.say, self.calls = function, say, 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        given = positional(self.function, *copy.deepcopy((args, kwargs)))
        if self.calls <= CALLS and given is not None and any(map(_has_lanes, given)):
            text = f"{self.function.__name__}{given}"
            axes = tuple(0 if _has_lanes(a) else None for a in given)
            each = [tuple(_lane(a, k) if _has_lanes(a) else copy.deepcopy(a) for a in given) for k in FACTORS]
            whole = tuple(
                np.stack([np.asarray(one[k]) for one in each]) if axis == 0 else copy.deepcopy(given[k])
                for k, axis in enumerate(axes)
            )
            wanted = [outcome(self.function, copy.deepcopy(one), {}) for one in each]
            for by_lane, kind in enumerate(KINDS[:2]):
                with order(bool(by_lane)):
                    found = outcome(tp.vmap(self.function, in_axes=axes), copy.deepcopy(whole), {})
                self.say(kind, verdict(wanted, found, 1e-9), text)
            self.gradient(each, whole, axes, wanted, text)
        return self.function(*args, **kwargs)

    def gradient(self, each: list[tuple], whole: tuple, axes: tuple, wanted: list[Any], text: str) -> None:
        if not all(isinstance(y, (float, np.floating)) and math.isfinite(y) for y in wanted):
            return
        gradient = tp.grad(self.function, argnums=tuple(k for k, axis in enumerate(axes) if axis == 0))
        slopes = [outcome(gradient, copy.deepcopy(one), {}) for one in each]
        if any(isinstance(s, TranspileError) for s in slopes):
            return
        found = outcome(tp.vmap(gradient, in_axes=axes), copy.deepcopy(whole), {})
        least = 1e-14 * max(abs(y) for y in wanted) / min((abs(x) for one in each for x in _numbers(one)), default=1.0)
        self.say("gradient", verdict(slopes, found, 1e-7, least), text)


def _has_lanes(value: Any) -> bool:
    return (
        isinstance(value, float) and math.isfinite(value) or isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def _lane(value: Any, factor: float) -> Any:
    return value * factor


def _numbers(args: tuple) -> list[float]:
    """The numbers among the arguments that are not 0."""
    return [float(x) for a in args if _has_lanes(a) for x in np.ravel(a) if x]


def verdict(wanted: list[Any], found: Any, rtol: float, least: float = 0.0) -> Verdict:
    """Of all lanes beside what each of them gives; ``least``: what is left where terms of the function's size cancel."""
    if isinstance(found, TranspileError):
        return "refused", found.diagnostics[0].code
    first = next((y for y in wanted if isinstance(y, Exception)), None)
    if isinstance(found, Exception):
        if first is None:
            return "internal error", described(found)
        return (
            ("equal", "")
            if type(found) is type(first) or "complex" in str(first)
            else ("wrong value", f"{described(found)}, not {first!r}")
        )
    if first is not None and not is_departure(first, math.nan) and "complex" not in str(first):
        return "wrong value", f"no error, a lane raises {first!r}"[:160]
    leaves = leaves_of(found)
    for k, y in enumerate(wanted):
        if isinstance(y, Exception):
            continue
        lane = leaves_of(y)
        if len(lane) != len(leaves):
            return "wrong value", f"lane {k} has {len(lane)} results, not {len(leaves)}"
        for a, b in zip(lane, leaves):
            a, b = np.asarray(a), np.asarray(b)[k]
            if a.dtype.kind == "c":  # a negative number to a fraction is complex in Python, nan in NumPy
                a = np.full(a.shape, np.nan)
            scale = float(np.max(np.abs(a), initial=0, where=np.isfinite(a))) if a.dtype.kind == "f" else 0.0
            if a.shape != b.shape or not np.allclose(a, b, rtol=rtol, atol=rtol * scale + least, equal_nan=True):
                return "wrong value", f"lane {k}: {str(b)[:60]}, not {str(a)[:60]}"
    return ("as NumPy" if first is not None else "equal"), ""
