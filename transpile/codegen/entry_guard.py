"""What a kernel asks before it does anything: whether the call is one that it was compiled for.

A size of 1 makes another specialisation, and compiled code takes its arrays for different ones. Inside compiled code such a test
takes no time that could be measured; in Python 30 ns for each array.
"""

from __future__ import annotations

from typing import NamedTuple


class Guard(NamedTuple):
    """For each parameter which of its sizes are 1 (none of a number), and the pairs that must not share memory."""

    ones: tuple[tuple[bool, ...], ...]
    pairs: tuple[tuple[int, int], ...]
