"""Interleaved rounds: each call in turn, again and again, so that noise of the machine affects all of them alike.

The processor time of all threads of the process is measured: on one core of an idle machine it equals clock time, and on a busy
machine it excludes the time of other processes.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

clock = time.process_time
FEW = 8  # calls in a batch


@dataclass(frozen=True)
class Pace:
    """The time limits for a row."""

    rounds: int = 9
    batch: float = 0.02  # seconds that one timing takes at least
    budget: float = 6.0  # seconds for each call in all, unless one call takes longer


QUICK = Pace(rounds=3, batch=0.002, budget=2.0)


@dataclass(frozen=True)
class Timing:
    """The seconds of a call, and the number of timings."""

    minimum: float
    median: float
    rounds: int


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = clock()
    result = call()
    return clock() - start, result


def interleaved(calls: Mapping[str, Callable[[], Any]], pace: Pace) -> dict[str, Timing]:
    """The times of each call. All calls have been made once before, so nothing is compiled here."""
    counts: dict[str, int] = {}
    times: dict[str, list[float]] = {}
    for name, call in calls.items():
        counts[name], once = _count(call, pace.batch)
        times[name] = [once] if once > pace.budget else []
    for _ in range(pace.rounds):
        for name, call in calls.items():
            if counts[name] * sum(times[name]) < pace.budget:
                times[name].append(_batch(call, counts[name]))
    return {name: Timing(min(found), statistics.median(found), len(found)) for name, found in times.items()}


def _count(call: Callable[[], Any], batch: float) -> tuple[int, float]:
    """The number of calls that fill a batch, and the seconds of a call; a quick call is tried in longer and longer runs."""
    count = 1
    while True:
        once = _batch(call, count)
        if count * once >= batch / 4 or count > 1_000_000:
            return max(1, math.ceil(batch / max(once, 1e-9))), once
        count *= 8


def _batch(call: Callable[[], Any], count: int) -> float:
    if count < FEW:  # one untimed call absorbs the effects of the previous call on caches and memory
        call()
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count
