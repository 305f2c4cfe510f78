"""Counts the passes that change anything in a program, through the hook through which all passes run."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout

import numpy as np
from fuzz.check import limited

from audit.programs import PATIENCE, Program
from transpile.core.watch import Done, watching


class TooLong(BaseException):
    """A program exceeded its time. It is no `Exception`, so that code that catches exceptions does not take it for its own."""


class Changing:
    """A watcher that collects the passes that have changed something."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def __call__(self, done: Done) -> None:
        name = f"{done.dialect}: {done.name}"
        if name not in self.found and done.old is not None and done.has_changed:
            self.found[name] = None


def changing(program: Program) -> tuple[list[str], str]:
    """The passes that change something in a program, and why it was not compiled completely, if so."""
    watcher = Changing()
    why = ""
    with watching(watcher), warnings.catch_warnings(), np.errstate(all="ignore"), redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            limited(program.compile, PATIENCE, TooLong)
        except TooLong:
            why = "too long"
        except Exception as e:
            why = type(e).__name__
    return list(watcher.found), why
