"""Finds loops whose ends may be so far apart that the length of their range does not fit into 64 bits.

for i in range(p, q):                 Numba counts q - p iterations: for p = 2, q = -2 ** 63 this wraps to a large number
"""

from __future__ import annotations

from transpile.core import nodes as ir
from transpile.loops.interval_analysis import Ranges
from transpile.ops.interval_arithmetic import FULL


class Lengths(Ranges):
    """Value ranges of a function that also collect these loops: ``long`` has the ``id`` of each."""

    def __init__(self, fn: ir.Function) -> None:
        self.long: set[int] = set()
        super().__init__(fn)

    def loop(self, stmt: ir.For) -> None:
        """Decides anew whether the loop is one of ``long``, from the ranges of its ends so far, and continues with its body."""
        start, bound = self.of(stmt.start), self.of(stmt.bound)
        is_upwards = isinstance(stmt.step, ir.Const) and stmt.step.value > 0
        least, most = bound[0] - start[1], bound[1] - start[0]
        self.long.discard(id(stmt))
        if most > FULL[1] or least < FULL[0] + (not is_upwards):  # a range that counts down negates the difference
            self.long.add(id(stmt))
        super().loop(stmt)
