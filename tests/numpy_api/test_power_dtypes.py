"""Powers of every dtype to exponents of every kind: values and dtypes are NumPy's, compiled, batched and printed. NumPy takes
``x ** 2`` of an array of truth values for a square, of int8, and all other powers of them for integers of 64 bits."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

DTYPES = "bool int8 uint8 int16 int32 int64 uint64 float32 float64".split()
EXPONENTS = (
    "0 1 2 3 True 0.5 2.0 1.0 -1.0 3.0 np.int8(2) np.uint8(2) np.int64(2) np.float32(2) np.bool_(True) np.array(2) "
    "np.float64(0.5) x"
).split()
FORMS = ("x ** {e}", "np.power(x, {e})", "x[0] ** {e}", "pow(x, {e})", "np.array(x[0]) ** {e}", "x[:, None] ** {e}")


SQUARES = (np.ones(1, bool) ** 2.0).dtype == np.int8  # older NumPy: of truth values, whatever the type of the 2 is


def expressions(x: np.ndarray) -> list[str]:
    found = []
    for form, exponent in itertools.product(FORMS, EXPONENTS):
        text = form.format(e=exponent)
        try:
            if np.asarray(eval(text, {"np": np, "x": x})).dtype != np.float16 and not _is_older(x, text):
                found.append(text)
        except (TypeError, ValueError):
            pass
    return found


def _is_older(x: np.ndarray, text: str) -> bool:
    """Whether it is what the versions of NumPy differ in."""
    return (
        SQUARES and x.dtype == bool and re.search(r"(\*\*|pow\(x,) (2\.0|np\.(?!power)\w+\(2\))\)?$", text) is not None
    )


@pytest.mark.numba
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [pytest.param(d, marks=() if d == "bool" else pytest.mark.slow) for d in DTYPES])
def test_power(dtype: str, tmp_path: Path) -> None:
    x = np.array([1, 0, 1] if dtype == "bool" else [1, 2, 3], dtype)
    texts = expressions(x)
    f = module_of("import numpy as np\n", [f"return [{', '.join(texts)}]"], tmp_path).f0
    printed: dict[str, Any] = {}
    exec(tp.source(f, x), printed)
    wanted = f(x)
    batched = [np.asarray(part)[0] for part in tp.vmap(f)(x[None])]
    for run, found in (("compiled", tp.jit(f)(x)), ("printed", printed["f0"](x)), ("batched", batched)):
        for text, a, b in zip(texts, found, wanted, strict=True):
            a, b = np.asarray(a), np.asarray(b)
            assert a.dtype == b.dtype and np.allclose(a, b, rtol=1e-6), (run, text, a, b)
