"""Python's ``sum`` and ``math.prod`` of NumPy's numbers of every dtype, however they come: values and dtypes are Python's,
compiled, printed and batched. Narrow integers wrap round, as they do when they are added one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

DTYPES = "bool int8 uint8 int16 int32 uint32 int64 uint64 float32 float64".split()
USES = (
    "sum(x)", "sum(v for v in x)", "sum(v * 2 for v in x)", "sum([v + v for v in x])", "sum(list(x))", "sum(x, 5)", "sum(x, 1.5)",
    "sum(v * w for v in x for w in x)", "sum(v for v in x if v > 0)", "sum(y)", "sum(y, 3)", "sum(v for row in y for v in row)",
    "sum(sum(row) for row in y)", "sum(x[1:])", "sum((x[0], x[1]))", "math.prod(x)", "math.prod(v for v in x)", "sum(x > 0)",
    "math.prod(x, start=2)", "sum(v * i for i, v in enumerate(x))", "sum(v * w for v, w in zip(x, x))", "sum(map(abs, x))",
    "sum(x[i] for i in range(len(x)))", "sum(x) / len(x)", "np.uint8(7) + sum(x)", "sum(x.tolist())", "sum(np.int8(3) for v in x)",
    "sum(row.sum() for row in y)", "sum(i for i in range(len(x)))", "sum(int(v) for v in x)", "sum(y[:, 0])", "sum(reversed(x))",
)  # fmt: skip


def is_had(text: str, x: np.ndarray) -> bool:
    import math

    try:
        eval(text, {"np": np, "math": math, "x": x, "y": x.reshape(3, 1) * np.ones((1, 2), x.dtype)})
    except TypeError:
        return False
    return True


@pytest.mark.numba
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [pytest.param(d, marks=() if d == "uint8" else pytest.mark.slow) for d in DTYPES])
def test_sums(dtype: str, tmp_path: Path) -> None:
    x = np.array([1, 0, 1] if dtype == "bool" else [3, 100, 99], dtype)
    texts = [t for t in USES if is_had(t, x)]
    body = f"y = x.reshape(3, 1) * np.ones((1, 2), x.dtype)\nreturn [{', '.join(texts)}]"
    f = module_of("import math\nimport numpy as np\n", [body], tmp_path).f0
    wanted = f(x)
    printed: dict[str, Any] = {}
    exec(tp.source(f, x), printed)
    batched = [np.asarray(part)[0] for part in tp.vmap(f)(x[None])]
    for run, found in (("compiled", tp.jit(f)(x)), ("printed", printed["f0"](x)), ("batched", batched)):
        wrong = [(text, a, b) for text, a, b in zip(texts, found, wanted, strict=True) if not is_same(a, b)]
        assert not wrong, (run, wrong)


def is_same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.allclose(a, b, rtol=1e-6)
