"""Numbers of uint64 that an int64 does not hold, wherever a number of Python's is made of them: what Python gives, or
OverflowError, compiled, batched, and both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

USES = (
    "int(k)", "k.item()", "float(int(k))", "k.item() * 2.0", "int(k) % 7", "int(k) + 1", "divmod(int(k), 3)[0]", "max(int(k), 3)",
    "1 if int(k) > 5 else 0", "round(k)", "np.array([int(k), 1])", "y[int(k)]", "y[k]", "float(k)", "k ^ np.uint64(5)",
    "len(y[:k])",     "y[k % np.uint64(3)]", "y[np.array([k % np.uint64(3)])]", "np.arange(int(k) % 4)[-1]", "k.astype(int)",
    "int(k >> np.uint64(1))",     "int(float(k)) % 5", "sum([int(k), 1])",
)  # fmt: skip
WRITES = ("y[k] = 9.0", "y[int(k)] += 1.0", "y[k:] = 7.0", "y[int(k) % 3] = 5.0", "y[0] = int(k)")
VALUES = (2, 2**63 - 1, 2**63, 2**63 + 11, 2**64 - 1)
with np.errstate(invalid="ignore"):
    CAST = np.array([2.0**63, 2.0**64]).astype(np.int64) % 5  # processors differ
WRAPPED = {  # in an interpreted batch a number of Python's is an element of an int64 array: docs/limits.md
    ("int(k) + 1", 2**63 - 1): -(2**63),
    ("sum([int(k), 1])", 2**63 - 1): -(2**63),
    **{("int(float(k)) % 5", v): CAST[int(v == 2**64 - 1)] for v in (2**63 - 1, 2**63, 2**63 + 11, 2**64 - 1)},
}
QUICK = ("int(k) % 7", "y[k]", "int(k >> np.uint64(1))")


def outcome(call: Any) -> Any:
    try:
        return np.array(call())
    except (OverflowError, IndexError) as error:
        return type(error)


@pytest.mark.numba
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "use", [pytest.param(u, marks=() if u in QUICK else pytest.mark.slow) for u in (*USES, *WRITES)]
)
def test_number_of_python(use: str, tmp_path: Path) -> None:
    end = f"{use}\nreturn y" if use in WRITES else f"return {use}"
    f = module_of("import numpy as np\n", [f"k, y = x, np.arange(3.0)\n{end}"], tmp_path).f0
    compiled, batched = tp.jit(f), tp.vmap(f)
    both = tp.jit(batched)
    for value in VALUES:
        k = np.uint64(value)
        wanted = outcome(lambda: f(k))
        for run, call in (
            ("compiled", lambda: compiled(k)),
            ("batched", lambda: batched(np.array([k]))[0]),
            ("both", lambda: both(np.array([k]))[0]),
        ):
            wraps = run == "batched" and (use, value) in WRAPPED
            check(run, value, outcome(call), np.array(WRAPPED[use, value]) if wraps else wanted)


def check(run: str, value: int, found: Any, wanted: Any) -> None:
    if isinstance(wanted, type):
        assert isinstance(found, type), (run, value, found, wanted)
    elif isinstance(found, type):
        assert value >= 2**63 - 1, (run, value, found, wanted)  # what 64 bits do not hold is refused
    else:
        assert np.array_equal(found.astype(object), wanted.astype(object)), (run, value, found, wanted)
