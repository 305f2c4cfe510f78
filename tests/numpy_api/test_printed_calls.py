"""Each call of the tables as printed code, on arrays of several ranks and on what a slice leaves of them, beside NumPy itself: what
is compiled is compared with printed code where both raise (`loop_compare`), so that is compared here."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from call_cases import APART, CUTS, arrays_of, faults_of, function_text, may_differ, own_outcome, texts
from differences import same_tree
from loop_text import outcome

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

PARTS = 8


def faults(call: str) -> Iterator[str]:
    for cut, shapes in CUTS.items():
        text = function_text(call, cut)
        f = tp.from_source(text)
        for x in arrays_of(shapes):
            if may_differ(call, cut, x):
                continue
            wanted = own_outcome(text, x)
            got = outcome(Transformed(f, Level()), (x,))
            if wanted is None or isinstance(got.error, tp.TranspileError):
                continue
            try:
                assert type(got.error) is type(wanted.error), f"{got.error!r}, expected {wanted.error!r}"
                if wanted.error is None:
                    same_tree(got.value, wanted.value, "value", 1e-9, 1e-9)
            except AssertionError as e:
                yield f"{call} of {cut}, {x.shape}: {e}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_printed_calls(part: int) -> None:
    mine = [call for call in texts()[part::PARTS] if not call.startswith(APART)]
    found = faults_of(mine, faults)
    assert len(mine) > 200 and not found, "\n".join(found)
