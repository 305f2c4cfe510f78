"""What NumPy and Python raise for an argument that is out of range, or do with a negative one, where only the run knows it.

Every call with numbers that are too large, negative, 0 and just inside: the same value, the same kind of exception, or refused.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

CALLS = """
np.take(x, k)
np.take(x, k, mode="clip")
np.take(x, k, mode="wrap")
np.take(x, [0, k])
np.take_along_axis(x, np.array([0, k]), 0)
np.delete(x, k)
np.delete(x, [0, k])
np.delete(x, np.array([k]))
np.delete(A, k, axis=1)
np.insert(x, k, 1.0)
np.insert(x, [0, k], 1.0)
np.insert(A, k, 1.0, axis=0)
np.partition(x, k)
np.argpartition(x, k)
np.split(x, k)
np.repeat(x, k)
np.tile(x, k)
np.roll(x, k)
np.resize(x, k)
np.percentile(x, k * 30.0)
np.quantile(x, k * 0.3)
np.linspace(0.0, 1.0, k)
np.geomspace(float(k), 10.0, 3)
np.arange(0, 5, k)
np.eye(k)
np.zeros(k)
np.ones((2, k))
np.full(k, 2.0)
np.identity(k)
np.tri(k)
np.diag(x, k)
np.diagonal(A, k)
np.trace(A, k)
np.triu(A, k)
np.diff(x, k)
np.bincount(np.array([0, k]))
np.bincount(np.array([0, 1]), minlength=k)
np.choose(k, [x, x + 1])
np.choose(np.array([0, 1, k]), [x[:3], x[:3] + 1])
np.unravel_index(k, (2, 2))
np.ravel_multi_index((k, 0), (2, 2))
np.digitize(x, np.array([1.0, 0.0, k]))
np.histogram(x, bins=k)[0]
np.histogram(x, range=(2.0, float(k)))[0]
np.histogram(x, bins=[0.0, 2.0, float(k)])[0]
np.pad(x, k)
np.pad(x, (0, k), mode="edge")
np.pad(x[:k], 2, mode="wrap")
np.pad(x[:k], (0, 3), mode="reflect")
np.pad(x[:k], (2, 0), mode="symmetric")
np.pad(x[:k], 2, mode="maximum")
np.pad(x[:k], 2, mode="mean")
np.pad(x[:k], (k, 1), mode="linear_ramp")
np.pad(A[:, :k], ((0, 0), (1, 2)), mode="edge")
np.pad(A[:, :k], ((1, 2), (0, 0)), mode="wrap")
np.pad(A[:, :k], ((1, 2), (0, 0)), mode="minimum")
np.reshape(x, (k, -1))
np.reshape(x, (2, k))
np.reshape(x, np.array([2, k]))
x.reshape(np.array([k, 2]))
np.isin(x, k)
np.setdiff1d(x, k)
np.intersect1d(np.arange(5), k)
np.broadcast_to(x[:1], (k,))
np.linalg.matrix_power(A, k)
np.vander(x, k)
np.swapaxes(A, 0, k)
np.rot90(A, k)
np.convolve(x, x[:k])
np.interp(0.5, x[:k], x[:k])
np.trapezoid(x, x[:k])
np.cumsum(x)[k]
np.max(x[:k])
np.argmax(x[:k])
np.mean(x[:k])
np.std(x[:k])
np.ptp(x[:k])
np.percentile(x[:k], 50.0)
np.cov(A, ddof=k)
np.var(x, ddof=k)
np.clip(x, 1.0, float(k))
np.extract(x > 0, x[:k])
np.kron(x[:k], x)
np.dot(x[:k], x)
np.inner(x[:k], x)
np.vdot(x[:k], x)
np.outer(x[:k], x)
np.polyfit(x, x, k)
np.polyval(x[:k], 2.0)
np.roots(x[:k])
np.unwrap(x[:k])
np.gradient(x[:k])
np.gradient(x, edge_order=k)
np.ediff1d(x[:k])
np.lib.stride_tricks.sliding_window_view(x, k)
np.array([1.0, 2.0])[k]
[1.0, 2.0, 3.0][k]
(1.0, 2.0, 3.0)[k]
np.nanmax(x[:k])
np.nanargmin(x[:k])
np.average(x[:k])
np.logspace(0, 1, k)
np.geomspace(1, 10, k)
np.where(x[:k] > 0, x, 0.0)
np.stack([x, x[:k]])
np.concatenate([A, A[:, :k]])
np.vstack([x, x[:k]])
np.column_stack([x, x[:k]])
np.add.reduceat(x, [0, k])
np.minimum.reduce(x[:k])
np.add.reduce(x[:k])
np.multiply.reduce(x[:k])
np.fmod(x, k)
np.mod(np.array([5, 6]), k)
np.floor_divide(np.array([5, 6]), k)
np.left_shift(1, k)
np.power(np.array([2, 3]), k)
np.lcm(4, k)
np.gcd(4, k)
np.ldexp(1.5, k)
np.tensordot(A, A, k)
np.moveaxis(A, 0, k)
np.expand_dims(x, k)
np.squeeze(A, k)
np.sum(A, axis=k)
np.cumsum(A, axis=k)
np.sort(A, axis=k)
np.flip(A, axis=k)
np.take(A, 0, axis=k)
np.concatenate([A, A], axis=k)
np.stack([x, x], axis=k)
np.hsplit(A, k)
np.apply_along_axis(np.sum, k, A)
np.linalg.norm(x, k)
np.linalg.norm(A, k)
np.linalg.norm(A, axis=k)
np.linalg.solve(A, x[:k])
np.atleast_2d(x)[k]
x.item(k)
x.reshape(k, 2)
x.take(k)
x.repeat(k)
x.swapaxes(0, k)
A.diagonal(k)
A.trace(k)
A.sum(axis=k)
x.argsort()[k]
list(x)[k]
sum(x[k:]) / len(x[k:])
max(x[:k])
min([v for v in x[:k]])
math.factorial(k)
math.comb(5, k)
math.perm(5, k)
math.isqrt(k)
math.gcd(4, k)
math.sqrt(k)
math.log(k)
math.log2(k)
math.log(3, k)
math.gamma(k)
math.lgamma(k)
math.acos(k)
math.fmod(3.0, k)
math.remainder(3.0, k)
math.pow(0.0, k)
math.ldexp(1.5, k)
math.exp(k * 400.0)
1 << k
8 >> k
5 % k
5 // k
5 / k
divmod(5, k)
pow(2, k)
pow(2, 5, k)
0 ** k
round(2.567, k)
range(0, 10, k)[0]
range(k)[2]
"ab"[k]
"ab" * k
[1.0, 2.0] * k
list(range(k))
sum(range(k))
x[k:]
x[:k]
x[::k]
A[k]
A[:, k]
A[k, k]
x[[0, k]]
x[np.array([True, False, True])]
A[[0, 1], [k, 0]]
int("12"[k])
float(k) ** 0.5
float(k) ** k
chr(k)
np.fromiter((i for i in range(k)), float)
np.triu_indices(k)[0]
np.tril_indices(3, k)[0]
np.diag_indices(k)[0]
np.indices((k, 2))
np.ix_([0, k], [0, 1])[0]
np.meshgrid(x[:k], x)[0]
np.flatnonzero(x[:k])
np.argwhere(x[:k])
np.isin(x[:k], x)
np.unique(x[:k])
np.lexsort((x[:k], x))
np.nan_to_num(x[:k])
np.heaviside(x[:k], 0.5)
np.piecewise(x[:k], [x[:k] > 0], [1.0, 2.0])
np.select([x[:k] > 0], [x], 0.0)
np.einsum("i,i", x[:k], x)
np.einsum("ii", A[:, :k])
np.bartlett(k)
np.hanning(k)
np.kaiser(k, 1.0)
np.i0(x[:k])
np.sinc(k)
np.nextafter(1.0, k)
np.spacing(k)
np.frexp(k)
np.modf(k * 1.0)
np.searchsorted(x, 0.5, sorter=np.arange(k))
np.quantile(x, [0.5, k * 0.3])
np.nanpercentile(x, k * 30.0)
np.delete(x, x[:k] > 0.5)
np.average(x, weights=x * k)
np.average(A, axis=1, weights=x[:3] * k)
np.sum(x[:k], where=np.array([True, False, True, True]))
np.mean(A, axis=0, where=x[:k] > 0.5)
2 ** k
3 ** (k - 1)
"""
OTHER = {  # another error than Python's, or one where NumPy has a value: docs/limits.md
    "np.median(x[:k])", "np.mean(A, axis=0, where=x[:k] > 0.5)", "np.insert(x, [0, k], 1.0)", "np.delete(x, x[:k] > 0.5)",
    "np.sum(x[:k], where=np.array([True, False, True, True]))", "np.reshape(x, np.array([2, k]))", "x.reshape(np.array([k, 2]))",
}  # fmt: skip
COMPILED = {
    "np.tri(k)",
    "np.triu_indices(k)[0]",
    "np.diag_indices(k)[0]",
    "pow(2, k)",
    "2 ** k",
    "3 ** (k - 1)",
    "0 ** k",
    "np.reshape(x, (2, k))",
    "x.reshape(k, 2)",
}
FLOATS = ("math.", "sum(x[k:]) /", "5 / k", "float(k) **")  # of Python's, which count as NumPy's in compiled code
NUMBERS = (9, -9, 0, -1, 5, 2, 4, -5, 1)
NAMES = CALLS.strip().splitlines()
PARTS = 6


def outcome(f: Any, k: int) -> Any:
    """What a call gives, or the name of what it raises."""
    with np.errstate(all="ignore"):
        try:
            return f(np.linspace(0.1, 2.0, 4), np.arange(1.0, 7.0).reshape(2, 3) ** 2, k)
        except tp.TranspileError as e:
            return e
        except Exception as e:
            return type(e)


def agree(found: Any, wanted: Any) -> bool:
    try:
        return np.shape(found) == np.shape(wanted) and np.allclose(
            np.asarray(found, float), np.asarray(wanted, float), 1e-9, 1e-9, equal_nan=True
        )
    except (TypeError, ValueError):
        return repr(found) == repr(wanted)


def is_numpys(call: str, found: Any) -> bool:
    """Whether a float is what NumPy gives where Python raises or is complex."""
    if not call.startswith(FLOATS) or isinstance(found, type):
        return False
    return not np.isfinite(found) or call == "math.log(3, k)"  # over the infinity of log(0)


def compare(calls: list[str], folder: Path, compiled: bool = False) -> tuple[int, int]:
    """How many values agree, and how many are refused."""
    other = OTHER | COMPILED if compiled else OTHER
    text = "import math\n\nimport numpy as np\n"
    for j, call in enumerate(calls):
        text += f"\n\ndef f{j}(x, A, k):\n    return {call}\n"
    module = load(text, "domains", folder)
    values = refused = 0
    for j, call in enumerate(calls):
        function = getattr(module, f"f{j}")
        for k in NUMBERS:
            if compiled and "bins=k" in call and k == 9:
                continue  # a value on an edge, by rounding
            wanted = outcome(function, k)
            found = outcome(tp.jit(function) if compiled else Transformed(function, Level()), k)
            what = f"{call} with k = {k}: {found!r}, and Python's {wanted!r}"
            if isinstance(found, tp.TranspileError):
                refused += 1
            elif isinstance(wanted, type) and isinstance(found, type):
                assert wanted is found or call in other, what
            elif compiled and is_numpys(call, found):
                values += 1
            elif isinstance(wanted, type) or isinstance(found, type):
                assert isinstance(found, type) and call in other, what
            else:
                assert agree(found, wanted), what
                values += 1
    return values, refused


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.sampled(3)
def test_out_of_range(part, tmp_path):
    values, refused = compare(NAMES[part::PARTS], tmp_path)
    assert values > 2 * refused


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("part", range(4 * PARTS))
def test_out_of_range_compiled(part, tmp_path):
    assert compare(NAMES[part :: 4 * PARTS], tmp_path, compiled=True)[0]
