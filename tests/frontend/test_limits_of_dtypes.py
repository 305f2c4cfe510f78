"""``np.iinfo`` and ``np.finfo`` of every dtype, however it is named, are what NumPy says; ``np.seterr`` leaves the process as
it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

HEAD = "import numpy as np\n\nINFO = np.iinfo(np.int32)\nOF_FLOAT = np.finfo(np.float32)\n\n"
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32".split()
TEXTS = [
    *(f"np.iinfo({name}).{field}" for d in INTEGERS for field in ("max", "min", "bits") for name in (f"np.{d}", f"'{d}'")),
    *(f"np.finfo(np.{d}).{f}" for d in ("float32", "float64") for f in "max min eps tiny bits resolution smallest_normal".split()),
    "INFO.max", "INFO.min", "OF_FLOAT.eps", "np.finfo(x.dtype).eps", "np.iinfo(n.dtype).max", "np.finfo(x[0]).tiny",
    "np.iinfo(n[0]).min", "np.iinfo(int).max % 7", "x / np.iinfo(np.int32).max", "np.iinfo(np.uint8).max + n", "np.finfo(1.0).eps",
    "np.iinfo(np.int8).kind == 'i'", "np.iinfo(np.int16).dtype.itemsize", "np.iinfo(np.uint64).max * 1.0",
]  # fmt: skip


@pytest.mark.numba
def test_limits(tmp_path: Path) -> None:
    f = module_of(HEAD, [f"n = np.arange(3, dtype=np.int16)\nreturn [{', '.join(TEXTS)}]"], tmp_path).f0
    x = np.ones(3)
    for run, found in (("compiled", tp.jit(f)(x)), ("batched", [a[0] for a in tp.vmap(f)(x[None])])):
        for text, a, b in zip(TEXTS, found, f(x), strict=True):
            assert np.array_equal(a, b) and np.asarray(a).dtype == np.asarray(b).dtype, (run, text, a, b)


@pytest.mark.parametrize(
    "body",
    ["old = np.seterr(over='ignore')\ny = np.exp(x)\nnp.seterr(**old)\nreturn y",
     "np.seterr('ignore')\nreturn np.exp(x)",
     "s = np.geterr()\nnp.seterr(all='ignore')\ny = np.exp(x)\nnp.seterr(over=s['over'], divide=s['divide'])\nreturn y"],
)  # fmt: skip
def test_reactions_to_errors(body: str, tmp_path: Path) -> None:
    f = module_of(HEAD, [body], tmp_path).f0
    before = np.geterr()
    assert tp.jit(f)(2.0) == pytest.approx(np.exp(2.0))
    assert tp.grad(f)(2.0) == pytest.approx(np.exp(2.0))
    assert np.geterr() == before


@pytest.mark.parametrize(
    ("body", "code"),
    [("np.seterr(over='raise')\nreturn x", "T106"), ("np.seterr(beyond='ignore')\nreturn x", "T132"),
     ("old = np.seterr(over='ignore')\nreturn x if old['over'] == 'warn' else 2.0 * x", "T120"),
     ("np.set_printoptions(precision=3)\nreturn x", "T130"), ("return np.sum(np.load('nowhere.npy')) + x", "T130")],
)  # fmt: skip
def test_what_reaches_outside(body: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(tp.TranspileError, match=code):
        tp.jit(module_of(HEAD, [body], tmp_path).f0)(1.0)
