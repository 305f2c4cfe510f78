"""The faults, each one slip that an author of the compiler could make."""

from __future__ import annotations

from dataclasses import dataclass

QUICK = ("tests/test_reverse.py", "tests/test_golden.py", "tests/test_corpus.py", "tests/fuzz/test_fuzz.py")


@dataclass(frozen=True)
class Fault:
    """``old`` stands exactly once in ``file``; ``new`` takes its place. ``tests``: the pytest arguments to try first."""

    name: str
    file: str
    old: str
    new: str
    about: str
    tests: tuple[str, ...] = ()


FAULTS: tuple[Fault, ...] = ()
