"""Derivatives of each call of the tables, on arrays of several ranks and on what a slice leaves of them, which may be nothing:
forward against differences of NumPy's own function, reverse against forward, and the reverse sweep as loops, element by element,
where no memory is touched that is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
CONSTANT = "np.corrcoef(", "np.linalg.solve(a, a)"
"""Results that do not depend on a, of two entries or of any: rounding is compared with rounding."""
SQUARE = "np.linalg.svd(a)", "np.linalg.svd(a, 1)", "scipy.linalg.qr(a)"
"""Calls whose derivative is of square matrices: the shape is refused where the derivative is called."""


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
                loops(text, float_paths(wanted.value), x)
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


def loops(text: str, paths: list[str], x: np.ndarray) -> None:
    """The gradient of the sum of the result's floats, each with another weight."""
    terms = " + ".join(f"np.sum({p} * np.cos(np.arange(np.size({p}))).reshape(np.shape({p})))" for p in paths)
    weighted = tp.from_source(f"{text}\ndef weighted(x):\n    y = f(x)\n    return {terms}\n")
    loop_compare.Subject(tp.grad(weighted)).check((x,), STAGES)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_gradients_of_calls(part: int) -> None:
    mine = [call for call in texts()[part::PARTS] if not call.startswith((*APART, *CONSTANT, *SQUARE))]
    found = faults_of(mine, faults)
    assert len(mine) > 50 and not found, "\n".join(found)
