"""The test at a kernel's entry: whether the call matches the types that the kernel was compiled for.

Another set of sizes equal to 1 needs another specialisation, and compiled code assumes that its arrays do not overlap. Inside
compiled code the test takes no measurable time; in Python it takes 30 ns for each array.
"""

from __future__ import annotations

from typing import NamedTuple


class Guard(NamedTuple):
    """Which sizes of each parameter are 1 (empty for a number), and the pairs of parameters that must not overlap."""

    ones: tuple[tuple[bool, ...], ...]
    pairs: tuple[tuple[int, int], ...]
