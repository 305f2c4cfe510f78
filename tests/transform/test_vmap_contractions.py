"""Every contraction of every dtype under `vmap`, with each choice of the operands that differ, printed and compiled: values and
dtypes are those of a loop of lanes, which wrap round in narrow integers, and are truth values of truth values."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import module_of

import transpile as tp

DTYPES = "bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
SHAPES: dict[tuple[Any, ...], str] = {
    ((3,), (3,)): "x @ y; np.dot(x, y); np.inner(x, y); np.vdot(x, y); np.vecdot(x, y); np.tensordot(x, y, 1); np.outer(x, y); "
    "np.einsum('i,i', x, y); np.einsum('i,j->', x, y); np.einsum('i,i->i', x, y); np.kron(x, y); np.convolve(x, y); "
    "np.cross(x, y); np.correlate(x, y, 'full'); np.sum(x * y); np.prod(x + y); np.multiply.outer(x, y); "
    "np.linalg.vecdot(x, y); x.dot(y)",
    ((2, 3), (3,)): "x @ y; np.dot(x, y); np.inner(x, y); np.tensordot(x, y, 1); np.einsum('ij,j->i', x, y); np.vecdot(x, y); "
    "np.einsum('ij,j->', x, y); np.outer(x, y); np.matvec(x, y); np.trace(x) + np.sum(y); np.einsum('ij,j', x, y) @ x",
    ((3,), (3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, 1); np.einsum('i,ij->j', x, y); np.vecmat(x, y); np.trace(y) + x",
    ((2, 3), (3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, 1); np.tensordot(x, y, ((0, 1), (1, 0))); np.vdot(x, y); "
    "np.einsum('ij,jk->ik', x, y); np.einsum('ij,ji', x, y); np.kron(x, y); np.linalg.multi_dot([x, y, x]); np.trace(x @ y); "
    "np.linalg.matrix_power(x @ y, 2); np.inner(x, y.T); np.einsum('ij,jk->', x, y); np.einsum('ij,jk,kl->il', x, y, x)",
    ((2, 2, 3), (3,)): "x @ y; np.dot(x, y); np.inner(x, y); np.tensordot(x, y, 1); np.vecdot(x, y)",
    ((3,), (2, 3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, ((0,), (1,)))",
    ((2, 2, 3), (3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, 1); np.einsum('bij,jk->bik', x, y)",
    ((2, 3), (2, 3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, ((0, 1), (0, 1)))",
    ((2, 2, 3), (2, 3, 2)): "x @ y; np.dot(x, y); np.tensordot(x, y, ((2,), (1,))); np.einsum('bij,bjk->bik', x, y)",
}  # fmt: skip
MAPPED = ((0, 0), (0, None), (None, 0))


def operands(shapes: Sequence[tuple[int, ...]], dtype: str) -> list[np.ndarray]:
    """Two lanes each, of numbers whose products wrap round in the narrow dtypes."""
    rng = np.random.default_rng(3)
    big = {"float32": 1000.0, "float64": 1000.0}.get(dtype) or (1 if dtype == "bool" else np.iinfo(dtype).max)
    made = [rng.uniform(0, 1, size=(2, *s)) * float(big) for s in shapes]
    return [(m > 0.5 if dtype == "bool" else m.astype(dtype)) for m in made]


def cases() -> list[Any]:
    """The inner product of every dtype always, all else of one."""
    found = []
    for k, (shapes, dtype, mapped) in enumerate(itertools.product(SHAPES, DTYPES, MAPPED)):
        is_quick = (shapes == ((3,), (3,)) and mapped == (0, 0) and dtype in ("bool", "uint8", "int32")) or k % 97 == 5
        ranks = "_".join(str(len(s)) for s in shapes)
        name = f"{ranks}-{dtype}-{''.join('.' if m is None else 'l' for m in mapped)}"
        found.append(pytest.param(shapes, dtype, mapped, marks=() if is_quick else pytest.mark.slow, id=name))
    return found


@pytest.mark.numba
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("shapes", "dtype", "mapped"), cases())
def test_lanes_contract_as_numpy_does(shapes: Any, dtype: str, mapped: Any, tmp_path: Path) -> None:
    given = [a if m == 0 else a[0] for a, m in zip(operands(shapes, dtype), mapped)]
    lanes = [[a[k] if m == 0 else a for a, m in zip(given, mapped)] for k in range(2)]
    texts = [t.strip() for t in SHAPES[shapes].split(";") if is_had(t, lanes[0])]
    f = module_of("import numpy as np\n", [f"x, y = x\nreturn [{', '.join(texts)}]"], tmp_path).f0
    wanted = [f(lane) for lane in lanes]
    batched = tp.vmap(lambda x, y: f((x, y)), in_axes=mapped)
    for run, found in (("printed", batched(*given)), ("compiled", tp.jit(batched)(*given))):
        wrong = [(text, *pair) for k, text in enumerate(texts) for lane in range(2)
                 if not is_same(*(pair := (wanted[lane][k], found[k][lane])))]  # fmt: skip
        assert not wrong, f"{run}, {len(wrong)}: {wrong[:12]}"


def is_had(text: str, lane: list[np.ndarray]) -> bool:
    """Whether this NumPy has it, for this dtype."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(text.strip(), {"np": np, "x": lane[0], "y": lane[1]})
    except (TypeError, AttributeError, ValueError):
        return False
    return True


def is_same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    tol = {"float32": 1e-5, "float64": 1e-12}.get(str(a.dtype), 0.0)
    return a.dtype == b.dtype and a.shape == b.shape and np.allclose(a, b, rtol=tol, atol=0.0)
