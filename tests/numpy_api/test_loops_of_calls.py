"""What is compiled of each call of the tables, run element by element: on arrays of several ranks and on what a slice leaves of
them, which may be nothing. No memory is touched that is not there, and the result is NumPy's, or an error as NumPy's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from call_cases import CUTS, arrays_of, faults_of, function_text, is_of_arrays, own_outcome, texts
from loop_compare import Subject, Wrong

import transpile as tp

STAGES = ("lowered", "optimised")
PARTS = 16


def faults(call: str) -> Iterator[str]:
    for cut, shapes in CUTS.items():
        text = function_text(call, cut)
        subject = Subject(tp.from_source(text))
        for x in arrays_of(shapes):
            wanted = own_outcome(text, x)
            if wanted is None or not is_of_arrays(wanted):
                continue
            try:
                subject.check((x,), STAGES, wanted)
            except Wrong as e:
                # of no coefficients polyval has x's own type in NumPy
                if e.kind != "refused" and not call.startswith("np.polyval"):
                    yield f"{call} of {cut}, {x.shape}: {e}"
            except Exception as e:
                yield f"{call} of {cut}, {x.shape}: {e}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_loops_of_calls(part: int) -> None:
    mine = texts()[part::PARTS]
    found = faults_of(mine, faults)
    assert len(mine) > 100 and not found, "\n".join(found)
