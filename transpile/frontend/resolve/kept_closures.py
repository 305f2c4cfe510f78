"""What kept functions read of outside: hidden parameters, which each call inside hands on as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.functions import Routine, invoked, is_kept
from transpile.core.walk import statements
from transpile.frontend.calls.result_types import Found


def hand_on(found: Found, inner: Sequence[Found]) -> None:
    """Completes the calls of a routine in its own body and in the routines ``inner`` that were lifted in the course of it.

    Those get the hidden parameters, too, and so do their calls. A routine's parameters then are ordinary ones.
    """
    routine, fn = found.routine, found.routine.body
    hidden = fn.params[len(fn.params) - len(fn.captured) :]
    routine.fn = replace(fn, captured=())
    if not hidden:
        return
    reaching = _reaching(routine, inner)
    targets = {routine, *(f.routine for f in reaching)}
    _complete(routine.body, targets, hidden)
    for other in reaching:
        own = tuple(_anew(v, routine.name) for v in hidden)
        body = other.routine.body
        other.routine.fn = replace(body, params=(*body.params, *own))
        other.routine.params = (*other.routine.params, *(_anew(v, routine.name) for v in hidden))
        other.captured = [*other.captured, *found.captured]
        other.signature = replace(other.signature, params=other.routine.params)
        _complete(other.routine.body, targets, own)


def _reaching(routine: Routine, inner: Sequence[Found]) -> list[Found]:
    """Those of which a call may come to the routine."""
    reached: set[Routine] = {routine}
    found: list[Found] = []
    rest = list(dict.fromkeys(inner))
    while True:
        more = [f for f in rest if f not in found and any(r in reached for r in invoked(f.routine.body.body))]
        if not more:
            return found
        found += more
        reached.update(f.routine for f in more)


def _complete(fn: ir.Function, targets: set[Routine], hidden: Sequence[ir.Var]) -> None:
    for stmt in statements(fn.body):
        if is_kept(stmt) and stmt.routine in targets:
            stmt.args = (*stmt.args, *hidden)


def _anew(var: ir.Var, of: str) -> ir.Var:
    """The parameter once more, its sizes symbols of their own."""
    dims = tuple(d if d.is_const else Dim.symbol(f"{var.label}.{of}.{k}") for k, d in enumerate(var.type.dims))
    return ir.Var(var.name, var.type.with_dims(dims) if dims else var.type)
