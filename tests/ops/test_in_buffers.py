"""Each primitive as what a buffer begins with: its derivatives and its lanes are those of the value that it is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rule_check import active_args
from test_rules import wrt
from test_rules_batched import CASES, PRIMS, Case, made, run
from verified import verify

from transpile.core import nodes as ir
from transpile.transform.batching import batch
from transpile.transform.jvp import jvp
from transpile.transform.vjp import vjp


def in_buffer(fn: ir.Function, name: str) -> ir.Function | None:
    """The function with the first array that the primitive makes in a buffer; None if it makes none."""
    for at, s in enumerate(fn.body.stmts):
        if isinstance(s, ir.Let) and s.prim == name and s.var.type.kind == "array" and s.var.type.dims:
            buffer = ir.Var("buffer", s.var.type, buffer=True)
            begun = ir.Alloc(buffer, s.prim, s.args, s.params, s.loc)
            read = ir.Let(s.var, "index", (buffer,), {"path": ()}, s.loc)
            stmts = [*fn.body.stmts[:at], begun, read, *fn.body.stmts[at + 1 :]]
            return replace(fn, body=replace(fn.body, stmts=stmts))
    return None


def ones(values: Sequence[Any]) -> list[Any]:
    return [np.full(np.shape(v), 0.7, np.asarray(v).dtype)[()] for v in values]


def ways(
    case: Case, active: Sequence[int], values: Sequence[Any]
) -> list[tuple[Callable[[ir.Function], ir.Function], list[Any]]]:
    """What is done with the function, and the arguments of what comes of it."""
    args, results = case.args, len(values)
    found: list[tuple[Callable[[ir.Function], ir.Function], list[Any]]] = [(lambda f: f, args)]
    found += [(lambda f: batch(f, [0] * len(args), [0] * results), [np.stack([a, a]) for a in args])]
    if active and not PRIMS[case.name].is_zero and not PRIMS[case.name].is_refused:
        floats = [v for v in values if np.asarray(v).dtype.kind == "f"]
        found.append((lambda f: jvp(f, active, value=False), [*args, *ones([args[k] for k in active])]))
        found.append((lambda f: vjp(f, active, seeds=True), [*args, *ones(floats)]))
    return found


TRIED = [c for c in CASES if c[0] != "index"]  # a buffer begins with a copy of a part


@pytest.mark.parametrize(("name", "k"), TRIED)
@pytest.mark.sampled(6)
def test_as_elsewhere(name: str, k: int) -> None:
    case = Case(name, k)
    begun = in_buffer(case.fn, name)
    if begun is None:
        return  # a number, or several results
    args = made(name, k)[1]
    active = wrt(name, args) if k < 0 else active_args(args)
    for way, given in ways(case, active, run(case.fn, case.args)):
        try:
            plain = way(case.fn)
        except AssertionError:
            continue  # a seed for what has no derivative
        for got, wanted in zip(run(verify(way(verify(begun))), given), run(plain, given)):
            small = 1e-6 if np.asarray(wanted).dtype == np.float32 else 1e-11
            np.testing.assert_allclose(got, wanted, rtol=small, atol=small)
