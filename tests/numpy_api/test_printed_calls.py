"""Each call of the tables as printed code, on arrays of several ranks and on what a slice leaves of them, beside NumPy itself: what
is compiled is compared with printed code where both raise (`loop_compare`), so that is compared here."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from differences import same_tree
from loop_text import outcome
from test_loops_of_calls import CUTS, texts

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

PARTS = 8
OF_NOTHING = (
    "np.average np.choose np.delete np.gradient np.linalg.cond np.linalg.norm np.median np.nanmedian np.nanpercentile "
    "np.nanquantile np.polyval np.resize np.take_along_axis scipy.linalg.pinv scipy.linalg.svdvals a.choose"
).split()
"""What differs where there are no entries (README, Limits), or from one version of NumPy and SciPy to the next."""
ELSEWHERE = (
    "np.fromiter(a, None)", "np.roll(a, a)", "np.where(a, None)", "np.histogram(a, a)", "np.gradient(a, a)",  # of nothing
    "np.polyadd(", "np.polysub(",  # of matrices NumPy adds rows of zeros
)  # fmt: skip


def faults(call: str) -> Iterator[str]:
    for cut, shapes in CUTS.items():
        text = f"import numpy as np, scipy.linalg, scipy.special\n\ndef f(x):\n    a = {cut}\n    return {call}\n"
        names: dict = {}
        exec(text, names)
        f = tp.from_source(text)
        for shape in shapes:
            x = np.random.default_rng(len(shape)).normal(size=shape) + 1.0
            if call.startswith(tuple(f"{name}(" for name in OF_NOTHING)) and not eval(cut, {"x": x}).size:
                continue
            wanted = outcome(names["f"], (x,))
            if isinstance(wanted.error, (TypeError, AttributeError, KeyError)):
                continue  # not what the call takes
            got = outcome(Transformed(f, Level()), (x,))
            if isinstance(got.error, tp.TranspileError):
                continue
            try:
                assert type(got.error) is type(wanted.error), f"{got.error!r}, expected {wanted.error!r}"
                if wanted.error is None:
                    same_tree(got.value, wanted.value, "value", 1e-9, 1e-9)
            except AssertionError as e:
                yield f"{call} of {cut}, {shape}: {e}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_printed_calls(part: int) -> None:
    mine = [call for call in texts()[part::PARTS] if not call.startswith(ELSEWHERE)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [fault for call in mine for fault in faults(call)]
    assert len(mine) > 200
    assert not found, "\n".join(found)
