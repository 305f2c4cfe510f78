"""Every corpus program lifted as it is: the core is well formed and computes what the function computes."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np
import pytest
from core_eval import evaluate
from corpus import all_programs
from verified import verify

from transpile.aggregates import flatten, unflatten
from transpile.core import nodes as ir
from transpile.driver import lifts
from transpile.driver.lifted_request import typed
from transpile.driver.request import Request
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.whole_lifter import lift


def lifted(fn: Any, *args: Any, mutable: bool = False) -> tuple[ir.Function, list[Any]]:
    """The core function for these arguments, and its leaves; integers that must be known are."""
    request = Request.of(args, {})
    while True:
        dynamic = [k for k in range(len(request.leaves)) if k not in request.known]
        trees, named = typed(request)
        try:
            core = lift(fn, trees, named, mutable=mutable, transforms=lifts.lift)
        except NeedStatic as need:
            request.known.add(dynamic[need.leaf])
            continue
        hidden = [c.read() for c in core.captured]
        return verify(core), [*(request.leaves[k] for k in dynamic), *hidden]


def run(fn: Any, *args: Any, mutable: bool = False) -> Any:
    """What the lifted function computes."""
    core, leaves = lifted(fn, *args, mutable=mutable)
    return unflatten(core.out_tree, evaluate(core, *leaves))


def check(fn: Any, make: Any, tol: float = 1e-12) -> None:
    """The lifted function gives what the function gives, in structure, shapes, dtypes and numbers."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        want, tree = flatten(fn(*make()))
        got, other = flatten(run(fn, *make()))
    assert tree == other
    for a, b in zip(got, want):
        assert np.shape(a) == np.shape(b)
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=tol if np.asarray(b).dtype != np.float32 else 1e-5, atol=1e-300)


@pytest.mark.parametrize("program", all_programs(), ids=lambda p: p.name)
@pytest.mark.sampled(4)
def test_corpus(program):
    check(program.fn, program.args)
