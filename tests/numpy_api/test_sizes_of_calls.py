"""Each call of the tables in a function that has been called with other sizes before: where NumPy refuses the sizes the error is
one of Python's kind, and where only we do it is a diagnostic, not a word about the sizes that came first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from call_cases import arrays_of, faults_of, function_text, own_outcome, texts

import transpile as tp
from transpile.errors import TranspileError

PARTS = 4
SIZES = [(3,), (2,), (5,)], [(3, 3), (2, 3), (3, 2), (4, 4)]
OF_THREE = [
    *(f"a[{path}]" for path in ("m", "m, 0", "..., m", "m, None", "0, m", "m[::-1], m", "[0, 2]", "..., 2", "-3", "m, ..., m")),
    *(f"{f}([a, np.ones(3)])" for f in ("np.array", "np.stack", "np.concatenate", "np.vstack")), "a + np.ones(3)", "np.ones(3) @ a",
    *(f"np.{f}(m, a, 0.5)" for f in ("where", "compress", "extract")), "np.compress(m, a, axis=0)", "a.reshape(3, -1)",
    "[p * q + r for p, q, r in [a]][0]", "(lambda p, q, r: p * q + r)(*a)", "np.sum(a, where=m)", "a.repeat([1, 0, 2], axis=0)",
]  # fmt: skip
"""What asks for three entries, or four at least."""
PLANE = "np.cross("
"""Of vectors of two numbers, which NumPy takes but gives up."""


def faults(call: str) -> Iterator[str]:
    text = function_text(call).replace("    return", "    m = np.array([True, False, True])\n    return")
    for sizes in SIZES:
        f = tp.from_source(text)
        first, *later = arrays_of(sizes)
        taken = own_outcome(text, first)
        if taken is None or taken.error is not None or error_of(f, first) is not None:
            continue
        for x in later:
            wanted = own_outcome(text, x)
            if wanted is None:
                continue
            found = error_of(f, x)
            is_ours = isinstance(found, TranspileError)
            if wanted.error is not None and (found is None or is_ours):
                yield f"{call} of {x.shape} after {first.shape}: {found}, {wanted.error!r} in Python"
            if wanted.error is None and found is not None and not is_ours:
                yield f"{call} of {x.shape} after {first.shape}: {found!r}"


def error_of(f: object, x: np.ndarray) -> Exception | None:
    """What its derivative raises: of an interpreted call, whose function is kept from one to the next."""
    try:
        tp.jvp(f, (x,), (np.cos(x),))
    except Exception as e:
        return e
    return None


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.sampled(PARTS)
def test_sizes_of_calls(part: int) -> None:
    mine = [call for call in [*OF_THREE, *texts()][part::PARTS] if not call.startswith(PLANE)]
    found = faults_of(mine, faults)
    assert len(mine) > 50 and not found, "\n".join(found)
