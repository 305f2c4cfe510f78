"""What a call of loops must give: what the interpreted call gives, or raises."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from differences import is_single, same_tree
from loop_memory import Violation
from loop_text import STAGES, Loops, Outcome, outcome

import transpile as tp
from transpile.api import Transformed
from transpile.levels import Level, is_derivative, jit_level
from transpile.tree import flatten

EXACT = 1e-9


class Wrong(AssertionError):
    """The outcomes differ; ``kind`` says how."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind


class Subject:
    """A function, or a transformed one, called with arguments of several kinds: one `Loops` for each kind."""

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
        """Raises `Wrong` where a stage gives something else than the interpreted call."""
        wanted = outcome(self.target, args) if wanted is None else wanted
        loops = self.loops(args)
        for stage in stages:
            try:
                got = loops.run(stage, args)
            except Violation as e:
                raise Wrong(f"violation {stage}", str(e)) from None
            try:
                self.compare(stage, got, wanted, args)
            except Wrong:
                raise
            except AssertionError as e:
                raise Wrong(f"value {stage}", str(e)) from None

    def compare(self, stage: str, got: Outcome, wanted: Outcome, args: tuple[Any, ...]) -> None:
        if wanted.error is not None and got.error is None:
            if self.is_left_out(args):
                return
            raise Wrong(f"accepted {stage}", f"{got}, interpreted {wanted}")
        if got.error is not None:
            if wanted.error is None or type(got.error) is not type(wanted.error):
                raise Wrong(
                    f"error {stage}",
                    f"{got}, interpreted {wanted}\n{''.join(traceback.format_exception(got.error)[-2:])}",
                )
            if stage == "lowered" and not is_derivative(self.target):
                same_error(got.error, wanted.error)
                same_numbers(got.args, wanted.args, "arguments after the exception")
            return
        assert got.printed == wanted.printed, f"printed {got.printed!r}, interpreted {wanted.printed!r}"
        same_numbers((got.value, got.args), (wanted.value, wanted.args), "result and arguments")

    def is_left_out(self, args: tuple[Any, ...]) -> bool:
        """Whether the generated text does not raise either: nobody reads what would."""
        if is_derivative(self.target) or jit_level(self.target) is not None:
            return False
        return outcome(Transformed(self.target, Level()), args).error is None


def same_numbers(got: Any, wanted: Any, what: str) -> None:
    """Of one form, and equal but for rounding."""
    single = any(map(is_single, flatten((got, wanted))[0]))
    same_tree(got, wanted, what, 1e-4 if single else EXACT, 1e-2 if single else EXACT)


def same_error(got: Exception, wanted: Exception) -> None:
    """An index that is out of range: the line, the index and the size are the user's."""
    found = re.search(r":(\d+):\d+: index (-?\d+) is out of range for size (\d+)", str(got))
    said = re.search(r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)", str(wanted))
    if not isinstance(wanted, IndexError) or found is None or said is None:
        return
    line = traceback.extract_tb(wanted.__traceback__)[-1].lineno
    assert int(found[1]) == line, f"line {found[1]} is named, the error is in line {line}: {got}, interpreted {wanted}"
    assert found.groups()[1:] == said.groups(), f"{got}, interpreted {wanted}"


def gradient(f: Callable[..., Any], wrt: tuple[int, ...]) -> Any:
    return tp.value_and_grad(f, argnums=wrt)
