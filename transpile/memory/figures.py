"""What a report says, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transpile.memory.formula import Formula
from transpile.memory.peak import Peak
from transpile.memory.records import Recorded, Unrecorded


@dataclass(frozen=True)
class Figures:
    """The figures of a derivative for the arguments of a call.

    ``recorded`` are the tapes and stacks; ``bytes`` and ``formula`` are what they take together, each where it is largest. ``kept``
    are arrays of the function that the reverse sweep reads where they stand. ``not_recorded`` are loops that run again or
    forward and backward at once, and values that are computed again. ``peak`` is the most that is alive at once in the
    interpreted derivative, ``compiled_peak`` in the compiled one (None where it cannot be read off its loops), both with the
    results and without the arguments; of two branches the larger counts. ``known`` are the sizes that the arguments have,
    ``measured`` the counts that only a run tells. A number of bytes is None where nothing tells it, as the peaks are where
    functions call themselves.
    """

    name: str
    signature: str
    file: str
    recorded: tuple[Recorded, ...]
    kept: tuple[Recorded, ...]
    not_recorded: tuple[Unrecorded, ...]
    bytes: int | None
    formula: Formula
    results: int
    result_bytes: int | None
    peak: Peak | None
    compiled_peak: Peak | None
    known: Mapping[str, int]
    measured: Mapping[str, int]
