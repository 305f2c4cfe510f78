"""Times and ratios of a row. Times are minima; a peer with a wrong result has none."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from typing import Any

from bench.peers import RIVALS

Row = dict[str, Any]


def seconds(row: Row, peer: str, which: str = "minimum") -> float | None:
    """The time of a peer; None if it has none, or its result is wrong."""
    if peer not in row["times"] or peer in row.get("wrong", ()):
        return None
    return row["times"][peer][which]


def over(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


def best(row: Row, names: Iterable[str]) -> tuple[str, float] | None:
    """The fastest of these peers, with its time."""
    found = [(name, time) for name in names if (time := seconds(row, name)) is not None]
    return min(found, key=lambda pair: pair[1], default=None)


def to_best(row: Row) -> float | None:
    """Ours over the best of JAX and PyTorch."""
    rival = best(row, RIVALS)
    return over(seconds(row, "ours"), rival and rival[1])


def to_c(row: Row) -> float | None:
    """Ours over the C adjoint."""
    return over(seconds(row, "ours"), seconds(row, "c"))


def to_jax(row: Row) -> float | None:
    """Ours over JAX."""
    return over(seconds(row, "ours"), seconds(row, "jax"))


def to_function(row: Row) -> float | None:
    """Our gradient over the compiled function, the faster of ours and plain Numba's."""
    if row["wanted"] != "gradient":
        return None
    function = best(row, ("function", "numba"))
    return over(seconds(row, "ours"), function and function[1])


def function_to_best(row: Row) -> float | None:
    """Our compiled function over the faster of JAX's and plain Numba's."""
    other = best(row, ("numba", "jax function"))
    return over(seconds(row, "function"), other and other[1])


def compiling(row: Row, peer: str) -> float | None:
    """The seconds of the first call minus those of a usual call."""
    first, usual = row["first"].get(peer), row["times"].get(peer)
    return None if first is None else max(first - (usual["minimum"] if usual else 0.0), 0.0)


def mean(values: Iterable[float | None]) -> float | None:
    """The geometric mean of the values that are not None."""
    found = [value for value in values if value is not None and 0.0 < value < math.inf]
    return statistics.geometric_mean(found) if found else None
