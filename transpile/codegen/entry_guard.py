"""The test at a kernel's entry: whether the call matches the types that the kernel was compiled for.

Another set of sizes equal to 1 needs another specialisation, and compiled code assumes that its arrays do not overlap. Inside
compiled code the test takes no measurable time; in Python it takes 30 ns for each array.
"""

from __future__ import annotations

from typing import NamedTuple


class Guard(NamedTuple):
    """What the test at entry requires: which sizes of each parameter are 1, and which pairs of parameters do not overlap.

    ``ones`` has a tuple of bools for each parameter, one for each axis, empty for a number; False requires a size other than 1.
    ``pairs`` are numbers of parameters.
    """

    ones: tuple[tuple[bool, ...], ...]
    pairs: tuple[tuple[int, int], ...]
