"""Compares a call of loops with the interpreted call: results, or errors."""

from __future__ import annotations

import re
import traceback
from collections.abc import Sequence
from typing import Any

from differences import is_single, same_tree
from loop_memory import Violation
from loop_text import STAGES, Loops, Outcome, outcome

from transpile.aggregates import flatten
from transpile.api import Transformed
from transpile.base.levels import Level, is_derivative, jit_level
from transpile.base.loader import generated_lines
from transpile.errors import TranspileError

EXACT = 1e-9


class Wrong(AssertionError):
    """The outcomes differ; ``kind`` says how."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Subject:
    """A function, or a transformed one, called with arguments of several types: one `Loops` for each type."""

    def __init__(self, target: Any) -> None:
        self.target = target
        self.kinds: list[Loops] = []

    def loops(self, args: tuple[Any, ...]) -> Loops:
        for found in self.kinds:
            if found.is_for(args):
                return found
        self.kinds.append(Loops(self.target, args))
        return self.kinds[-1]

    def check(self, args: tuple[Any, ...], stages: Sequence[str] = STAGES, wanted: Outcome | None = None) -> None:
        """Raises `Wrong` if the outcome of a stage differs from that of the interpreted call."""
        wanted = outcome(self.target, args) if wanted is None else wanted
        try:
            loops = self.loops(args)
        except TranspileError as e:
            if wanted.error is None:
                raise Wrong("refused", str(e)) from None
            return
        for stage in stages:
            try:
                got = loops.run(stage, args)
            except Violation as e:
                raise Wrong(f"violation {stage}", str(e)) from None
            try:
                self.compare(stage, got, wanted, loops, args)
            except Wrong:
                raise
            except AssertionError as e:
                raise Wrong(f"value {stage}", str(e)) from None

    def compare(self, stage: str, got: Outcome, wanted: Outcome, loops: Loops, args: tuple[Any, ...]) -> None:
        is_exact = stage == "lowered" and not is_derivative(self.target)
        other = None
        if not is_like(got.error, wanted.error, is_exact):
            other = self.generated(loops, args, wanted)
            wanted = other or wanted
        if not is_like(got.error, wanted.error, is_exact):
            trace = "".join(traceback.format_exception(got.error)[-2:]) if got.error else ""
            raise Wrong(f"error {stage}", f"{got}, interpreted {wanted}\n{trace}")
        if got.error is None:
            assert got.printed == wanted.printed, f"printed {got.printed!r}, interpreted {wanted.printed!r}"
            after = (
                got.args if other is not None else wanted.args
            )  # a transformed function leaves its arguments as they are
            same_numbers((got.value, got.args), (wanted.value, after), "result and arguments")

    def generated(self, loops: Loops, args: tuple[Any, ...], wanted: Outcome) -> Outcome | None:
        """The outcome of the generated text, run by Python. It skips values that nobody reads, and compares the sizes of
        arguments first, so whether it raises is the reference for loops. For a derivative that raises, it is the outcome of the
        function: the order of two errors may differ."""
        if is_derivative(self.target):
            return outcome(self.target.__wrapped__, args) if wanted.error is not None else None
        if jit_level(self.target) is not None:
            return None
        function = Transformed(self.target, Level())
        outcome(function, loops.args)  # this call generates the text
        return outcome(function, args)


def same_numbers(got: Any, wanted: Any, what: str) -> None:
    """Asserts that two values have one form, and are equal up to rounding."""
    single = any(map(is_single, flatten((got, wanted))[0]))
    same_tree(got, wanted, what, 1e-4 if single else EXACT, 1e-2 if single else EXACT)


def is_like(got: Exception | None, wanted: Exception | None, is_exact: bool) -> bool:
    """Whether both are None, or exceptions of one class; with ``is_exact`` they name the same index, size and user's line.
    Of several wrong indices, optimised loops may meet another one first."""
    if got is None or wanted is None:
        return got is wanted
    if "64 bits" in str(got) and "only integers" in str(wanted):
        return True  # NumPy's message for an index that exceeds its integers
    if not isinstance(wanted, type(got)):
        return False
    found = re.search(r":(\d+):\d+: index (-?\d+) is out of range for size (\d+)", str(got))
    said = re.search(r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)", str(wanted))
    if not is_exact or found is None or said is None:
        return True
    return int(found[1]) == _line(wanted) and found.groups()[1:] == said.groups()


def _line(error: BaseException) -> int | None:
    """The user's line: the last of the traceback, or the origin of the last line of generated text in it."""
    entries = traceback.extract_tb(error.__traceback__)
    for entry in reversed(entries):
        lines = generated_lines(entry.filename)
        if lines is not None and entry.lineno in lines:
            return lines[entry.lineno].line
    return entries[-1].lineno
