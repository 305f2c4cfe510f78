"""Derivatives of each call of the tables, on arrays of several ranks and on what a slice leaves of them, which may be nothing:
forward against differences of NumPy's own function, reverse against forward, and the reverse sweep as loops, element by element,
where no memory is touched that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import loop_compare
import numpy as np
import pytest
from call_cases import APART, CUTS, arrays_of, faults_of, function_text, may_differ, own_outcome, texts
from differences import Subject, Unstable, check_jvp, check_vjp, floats
from scalarise import float_paths

import transpile as tp
from transpile.errors import TranspileError

PARTS = 32
STAGES = ("lowered", "optimised")


def faults(call: str) -> Iterator[str]:
    for cut, shapes in CUTS.items():
        text = function_text(call, cut)
        f = tp.from_source(text)
        for x in arrays_of(shapes):
            wanted = own_outcome(text, x, Exception)
            if wanted is None or not floats(wanted.value) or may_differ(call, cut, x):
                continue
            try:
                if all(np.all(np.isfinite(leaf)) for leaf in floats(wanted.value)):
                    derivatives(f, x)
                gradient(text, tuple(float_paths(wanted.value))).check((x,), STAGES)
            except (TranspileError, Unstable):
                continue
            except loop_compare.Wrong as e:
                if e.kind != "refused":
                    yield f"{call} of {cut}, {x.shape}: {e}"
            except Exception as e:
                yield f"{call} of {cut}, {x.shape}: {type(e).__name__} {e}"


def derivatives(f: Callable[..., Any], x: np.ndarray) -> None:
    subject = Subject(f, lambda: (x,))
    check_jvp(subject, tp.jvp)
    check_vjp(subject, tp.jvp, tp.vjp)


@lru_cache(maxsize=1)
def gradient(text: str, paths: tuple[str, ...]) -> loop_compare.Subject:
    """That of the sum of the result's floats, each with another weight, and of x: beside its ones what is zero may be rounded."""
    terms = [f"np.sum({p} * np.cos(np.arange(np.size({p}))).reshape(np.shape({p})))" for p in paths]
    total = " + ".join([*terms, "np.sum(x)"])
    return loop_compare.Subject(
        tp.grad(tp.from_source(f"{text}\ndef weighted(x):\n    y = f(x)\n    return {total}\n"))
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_of_calls(part: int) -> None:
    mine = [call for call in texts()[part::PARTS] if not call.startswith(APART)]
    found = faults_of(mine, faults)
    assert len(mine) > 50 and not found, "\n".join(found)
