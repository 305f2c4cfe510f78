"""The verifier: the invariants that every pass may rely on and must preserve. Tests run it after each pass, and so does
TRANSPILE_VERIFY=1.

Each function, in either dialect (`verify_array`, `verify_loops`):

- Every variable is defined once, before its uses, in an enclosing block; it is not visible outside the block that defines it.
- Types and kinds of operands, results, carried values and places agree.
- Only memory is written; each result has memory of its own.
- Each push pairs with one pop (`verify_stacks`); iterations that run concurrently write memory of their own (`verify_memory`).
- Symbols in types are bound (`verify_symbols`).

Each pass, by comparing its input with its output: no effect is repeated (`verify_effects`), everything recorded has a reason
(`verify_memory`), and loops read elements before they are overwritten (`transpile.analysis.overlaps`).

`InternalError` names the function, the pass, the statement and its line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any

from transpile.core import nodes as ir
from transpile.core.record_protocol import Records
from transpile.core.verify_array import ArrayForm
from transpile.core.verify_effects import repeated
from transpile.core.verify_loops import LoopForm
from transpile.core.verify_memory import apart, new_reasons, reasons
from transpile.core.verify_scopes import refuse
from transpile.core.verify_stacks import pair
from transpile.core.verify_symbols import bound
from transpile.core.walk import statements
from transpile.core.watch import Done

FORMS = {"array": ArrayForm, "loops": LoopForm}


def verify(fn: ir.Function, prims: Records, dialect: str = "array", after: str = "") -> ir.Function:
    """``fn`` itself if it is well formed in its dialect over these primitives; raises `InternalError` otherwise, which names
    the pass ``after``."""
    FORMS[dialect](fn, prims, after).function()
    pair(fn, after)
    apart(fn, dialect == "array", after)
    if dialect == "array":
        reasons(fn, after)
        bound(fn, after)
    return fn


class Verifying:
    """A watcher that verifies the output of each pass that changed something, and the properties that the pass requires and
    ensures. ``more`` are further checks, which need analyses."""

    def __init__(self, prims: Callable[[str], Records], *more: Callable[[Done], None]) -> None:
        self.prims, self.more = prims, more
        self.parts: tuple[int, ...] = ()  # those of the function that was verified last

    def __call__(self, done: Done) -> None:
        parts = _parts(done.new)
        if done.old is done.new and parts == self.parts:
            return
        verify(done.new, self.prims(done.dialect), done.dialect, done.name)  # also what a pass has changed in place
        self.parts = parts
        if done.old is done.new:
            return
        if done.old is not None and done.dialect == "array":
            repeated(done.old, done.new, done.name)
            new_reasons(done.old, done.new, done.name)
        for ask in self.more:
            ask(done)
        if done.step is not None and done.old is not None:
            for p in done.step.requires:
                if p.holds is not None and not p.holds(done.old):
                    refuse(done.old, "", f"{done.name} requires {p.name}: {p.says}")
            for p in done.step.ensures:
                if p.holds is not None and not p.holds(done.new):
                    refuse(done.new, done.name, f"it should have ensured {p.name}: {p.says}")


def _parts(fn: ir.Function) -> tuple[int, ...]:
    """The ids of the objects that a function consists of; they differ if a statement, or a field of one, is another object."""
    found = [id(fn), *(id(o) for o in fn.body.yields)]
    for stmt in statements(fn.body):
        kind: Any = type(stmt)
        found += [id(stmt), *(id(getattr(stmt, name)) for name in _fields(kind))]
    return tuple(found)


@cache
def _fields(cls: type) -> tuple[str, ...]:
    return tuple([f.name for f in fields(cls)])
