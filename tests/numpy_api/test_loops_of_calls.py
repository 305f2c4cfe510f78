"""What is compiled of each call of the tables, run element by element: on arrays of several ranks and on what a slice leaves of
them, which may be nothing. No memory is touched that is not there, and the result is NumPy's, or an error as NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from loop_compare import Subject, Wrong
from loop_text import outcome
from shared_cases import LEFT_OUT, calls

import transpile as tp

CUTS = {  # what of the argument is taken, and shapes that leave several entries, one, or none
    "x * 1.0": ((3,), (1,), (2, 2), (2, 3), (1, 1), (2, 2, 3)),
    "x[1:]": ((1,), (2,), (3,)),
    "x[1:, 1:]": ((1, 1), (1, 3), (3, 1), (2, 3)),
    "x[1:, :, 1:]": ((1, 2, 2), (2, 2, 1), (2, 1, 3)),
}
STAGES = ("lowered", "optimised")
ELSEWHERE = "place( put( copyto fill_diagonal out= subok empty order= flags require memmap dtype= ndarray".split()
"""Calls that write into what they are given, or are about memory: their own tests have them."""
OTHER = {  # of what has no entries NumPy asks before it looks; a list for a tuple; see the README
    "a[[0]]", "np.digitize(a, a.shape)", "np.linalg.cond(a, 1)", "np.linalg.cond(a, -1)", "np.quantile(a, a)",
    "np.percentile(a, a)", "np.meshgrid(a, a, sparse=True, copy=False)", "np.meshgrid(a, a, copy=False)",
    "scipy.linalg.lu(a)", "scipy.linalg.svd(a)", "np.cov(a, a.shape)", "np.corrcoef(a, a.shape)",
}  # fmt: skip
PARTS = 16


def texts() -> list[str]:
    found = {call for call, wide in calls() if wide and call not in LEFT_OUT and not any(s in call for s in ELSEWHERE)}
    return sorted(c for c in found if not (c.startswith("scipy.linalg") and "," in c) and c not in OTHER)


def faults(call: str) -> Iterator[str]:
    for cut, shapes in CUTS.items():
        text = f"import numpy as np, scipy.linalg, scipy.special\n\ndef f(x):\n    a = {cut}\n    return {call}\n"
        names: dict = {}
        exec(text, names)
        subject = Subject(tp.from_source(text))
        for shape in shapes:
            x = np.random.default_rng(len(shape)).normal(size=shape) + 1.0
            wanted = outcome(names["f"], (x,))
            if isinstance(wanted.error, (TypeError, AttributeError, KeyError)):
                continue  # not what the call takes
            if wanted.error is None and not isinstance(wanted.value, (np.ndarray, np.generic, float, int, tuple, list)):
                continue
            try:
                subject.check((x,), STAGES, wanted)
            except Wrong as e:
                is_other = e.kind == "refused" or call.startswith(
                    "np.polyval"
                )  # of no coefficients NumPy has x's own type
                if not is_other:
                    yield f"{call} of {cut}, {shape}: {e}"
            except Exception as e:
                yield f"{call} of {cut}, {shape}: {e}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_loops_of_calls(part: int) -> None:
    mine = texts()[part::PARTS]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [fault for call in mine for fault in faults(call)]
    assert len(mine) > 100 and not found, "\n".join(found)
