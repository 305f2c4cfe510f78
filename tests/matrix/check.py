"""Runs one operation in one template: interpreted with all derivatives, or one derivative of it compiled."""

from __future__ import annotations

import faulthandler
import os
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from differences import Subject, Unstable, check_jvp, check_second, check_value, check_vjp, copied, floats, same_tree
from fuzz.check import Unfair, limited, load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level
from transpile.errors import TranspileError

from .operations import Operation
from .templates import arguments, text_of

ORDERS = ("value", "gradient", "jvp", "second")
PATIENCE = 120  # seconds of one check


class TooLong(Exception):
    """A check does not terminate."""


@dataclass(frozen=True)
class Outcome:
    """The result of a check. ``kind``: equal, kink (there is no derivative to compare with), refused, wrong, error (an internal
    one), slow."""

    kind: str
    detail: str = ""

    @property
    def is_right(self) -> bool:
        return self.kind in ("equal", "kink", "refused")

    @property
    def code(self) -> str:
        """Why nothing is compared: `T206`, `T206+T210`, `kink`; "" if something is."""
        return (
            self.detail.partition(":")[0].replace(" ", "+")
            if self.kind == "refused"
            else "kink" * (self.kind == "kink")
        )


class Case:
    """An operation in a template."""

    def __init__(self, op: Operation, template: str) -> None:
        self.op, self.template = op, template
        self.text = text_of(op, template)

    @cached_property
    def module(self) -> Any:
        name = f"matrix_{abs(hash(self.op.name))}_{self.template}"
        return load(self.text, name, Path(_folder()))

    @cached_property
    def subject(self) -> Subject:
        values = [self.op.pool[n] for n in arguments(self.op)]
        s = Subject(self.module.program, lambda: copied(tuple(values)), range(len(self.op.floats)))
        if self.op.single:
            s.single, s.tol, s.exact = True, 1e-2, 1e-4
        if not all(np.all(np.isfinite(leaf)) for leaf in floats(s.value)):
            raise Unfair(f"its value is {s.value}")
        return s

    @cached_property
    def pushed(self) -> Any:
        """The value and its tangent; the gradient is compared with the tangent as well."""
        return tp.jvp(self.subject.f, self.subject.args(), copied(self.subject.tangents))

    def interpreted(self, order: str) -> Outcome:
        s = self.subject
        gradient = tp.grad(s.f, argnums=s.wrt)
        run: dict[str, Callable[[], Any]] = {
            "value": lambda: check_value(s, Transformed(s.f, Level())(*s.args()), "value"),
            "gradient": lambda: check_vjp(s, lambda *_: self.pushed, tp.vjp),
            "jvp": lambda: check_jvp(s, lambda *_: self.pushed, differences=self.op.smooth),
            "second": lambda: check_second(s, tp) if self.op.smooth else tp.jvp(gradient, s.args(), copied(s.tangents)),
        }
        return judged(run[order])

    def compiled(self, order: str) -> Outcome:
        """Compares the compiled call with the interpreted one, which is compared with differences elsewhere."""
        s, m = self.subject, self.module
        dots = [t for t in s.tangents[: len(self.op.floats)]]
        functions: dict[str, tuple[Any, tuple[Any, ...]]] = {
            "value": (m.program, ()),
            "gradient": (tp.grad(m.program, argnums=s.wrt), ()),
            "jvp": (m.forward, tuple(dots)),
            "second": (m.second, tuple(dots)),
        }
        f, more = functions[order]

        def run() -> None:
            args = (*s.args(), *copied(more))
            found = tp.jit(f)(*args)
            wanted = s.value if order == "value" else f(*s.args(), *copied(more))
            same_tree(found, wanted, f"compiled {order}", max(s.exact, 1e-6 if self.op.narrow else 1e-9), 1e-4)

        return judged(run)


@contextmanager
def heard() -> Iterator[int]:
    """A context that fails if anything, such as a message of LLVM, is written to the process's error stream; gives a descriptor
    of the stream."""
    errors = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield errors
        finally:
            os.dup2(errors, 2)
            os.close(errors)
        file.seek(0)
        said = file.read().decode(errors="replace")
        assert not said, f"said on the error stream: {said[:300]}"


def judged(run: Callable[[], Any]) -> Outcome:
    try:
        with warnings.catch_warnings(), heard() as errors:
            warnings.simplefilter("ignore")
            faulthandler.dump_traceback_later(
                2 * PATIENCE, exit=True, file=errors
            )  # compiled code does not see a signal
            limited(run, PATIENCE, TooLong)
    except TranspileError as e:
        return Outcome("refused", " ".join(d.code for d in e.diagnostics) + ": " + e.diagnostics[0].message)
    except Unstable as e:
        return Outcome("kink", str(e))
    except AssertionError as e:
        if is_internal(e):
            return Outcome("error", described(e))
        return Outcome("wrong", str(e))
    except TooLong as e:
        return Outcome("slow", str(e))
    except Exception as e:
        return Outcome("error", described(e))
    finally:
        faulthandler.cancel_dump_traceback_later()
    return Outcome("equal")


def is_internal(e: Exception) -> bool:
    """Whether an assertion in the compiler failed, rather than one of the comparison."""
    last = traceback.extract_tb(e.__traceback__)[-1]
    return "/tests/" not in last.filename.replace("\\", "/")


def described(e: Exception) -> str:
    last = traceback.extract_tb(e.__traceback__)[-1]
    where = "generated text" if last.filename.startswith("<") else f"{Path(last.filename).name} {last.name}"
    return f"{type(e).__name__} in {where}: {str(e)[:300]}"


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


def _folder() -> str:
    if not _FOLDERS:
        _FOLDERS.append(tempfile.TemporaryDirectory())
    return _FOLDERS[0].name
