"""Calls as users write them, end to end: keywords and positions of arguments, writes by function, methods of arrays and of
ufuncs, functions of `math`. Value, dtype and shape against NumPy, forward against differences, reverse against forward;
what NumPy computes without a warning, the derivatives compute without one.
"""

from __future__ import annotations

import importlib.util
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_cases import normal

import transpile as tp

X, Q = normal(3, 4), normal(4, 4) + 4 * np.eye(4)
FLOATS: dict[str, Any] = {
    "s": 0.7, "s2": 1.3, "x": X, "y": normal(3, 4, seed=2), "v": normal(5), "w": normal(3, seed=4), "w4": normal(4, seed=3),
    "t": normal(2, 3, 4), "q": Q, "pos": np.abs(X) + 0.2, "up": np.cumsum(np.abs(normal(6))) + 0.1, "f": X.astype(np.float32),
    "holes": np.where(np.arange(12).reshape(3, 4) % 5 == 2, np.nan, X), "tall": normal(5, 3), "wide": normal(3, 5),
}  # fmt: skip
CONSTANTS: dict[str, Any] = {
    "ints": np.arange(12, dtype=np.int32).reshape(3, 4), "mask": X > 0, "row": np.array([[0, 2, 1, 1]]),
    "k3": np.array([0, 2, 1]), "k2": np.array([1, 3]), "some": np.array([True, False, True]),
}  # fmt: skip

OUT = [
    "np.sum(x, 0, None, None, True)", "np.max(x, 0, None, True)", "x.var(1, None, None, 1)", "np.mean(x, 1, None, None, True)",
    "np.median(x, 0, None, False, True)", "a = np.zeros((3, 4)); np.clip(x, 0, 1, a); return a",
    "a = np.zeros(4); np.sum(x, 0, None, a); return a", "a = np.zeros(4); np.hypot.reduce(x, 0, None, a); return a",
    "np.log(x, out=np.zeros_like(x), where=x > 0)", "np.arccosh(x, out=np.zeros_like(x), where=x > 1)",
    "np.divide(x, ints, out=np.zeros_like(x), where=ints > 0)", "np.add(x, y, order='C')", "np.exp(x, where=True)",
    "s * np.sum(ints, initial=2.5)", "s * np.max(ints, initial=20.5)",
]  # fmt: skip
UFUNCS = [
    *(f"np.{u}.reduce(x, axis=1)" for u in "add multiply maximum minimum logaddexp logaddexp2 fmax fmin hypot subtract".split()),
    "np.logaddexp.reduce(x, axis=None)", "np.logaddexp.reduce(x, where=mask, initial=0.5)", "np.hypot.reduce(x, axis=(0, 1))",
    "np.add.reduce(x, 1, None, None, True)", "np.subtract.reduce([s, s2, 1.5])",
    *(f"np.{u}.accumulate(x, axis=1)" for u in "add multiply maximum logaddexp hypot divide".split()),
    "s * np.logical_and.accumulate(x > 0, axis=1)", *(f"np.{u}.reduceat(x, [0, 2, 1])" for u in "add multiply maximum".split()),
    *(f"a = pos * 1; np.{u}.at(a, (k3, k3), w * w + 1); return a" for u in "add subtract multiply divide maximum power".split()),
    "a = v * 1.0; np.multiply.at(a, [0, 0, 1, 2, 0], v); return a", "a = x * 1.0; np.square.at(a, (k3, k3)); return a",
    "np.subtract.outer(v, w)",
]  # fmt: skip
WRITES = [
    "np.put_along_axis(x, row, s, 0); return x", "a = x * 1; np.put(a, [0, -5], [s, s2]); return a",
    "a = x * 1; a.put([0, 1], s); return a", "a = x * 1; np.putmask(a, mask, y); return a",
    "a = x * 1; np.place(a, mask, [s, s2]); return a", "a = x * 1; np.copyto(a, y, where=x > 0); return a",
    "a = x * 1; np.fill_diagonal(a, s); return a", "a = v * 1; a.partition(2); return a",
    "a = x * 1; a.partition(1, axis=0); return a",
]  # fmt: skip
METHODS = [
    "x.compress(some, axis=0)", "t.transpose([1, 0, 2])", "x.reshape((6, -1), order='F')", "np.reshape(t, (4, 6), order='F')",
    "z = y * x; a = np.max(x, axis=0, keepdims=True); return np.squeeze(a, axis=0) * y",
    "np.array([e * e for e in x.flat])", "x.flat[2:5]", "v.tolist()[0] * f", "sorted([s2, s])[0] * f", "sum(t, x)",
]  # fmt: skip
KEYWORDS = [
    *(f"np.quantile(v, [0.02, 0.3, 0.97], method={m!r})" for m in (
        "hazen", "weibull", "median_unbiased", "normal_unbiased", "interpolated_inverted_cdf")),
    "np.nanquantile(holes, [0.3, 0.6], axis=0)", "np.interp(v, up, np.cos(up), period=s2)",
    "np.einsum(x, [0, 1], q, [1, 2], [0, 2])", "np.einsum(t, [Ellipsis, 1], q, [1, 2])", "np.einsum('ij,jk', x, q, dtype=float)",
    "np.cov(x, aweights=np.exp(w4))", "np.cov(x, fweights=[1, 2, 1, 1], ddof=0)", "np.polyint(v, 2, [s, s2])",
    "np.polyfit(up, np.cos(up), 2, w=np.sqrt(up))", "np.average(t, axis=(1, 0), weights=np.exp(t[:, :, 0].T))",
    *(f"np.pad(x, ((1, 2), (0, 1)), {m!r})" for m in ("maximum", "minimum", "mean")),
    "np.pad(x, 2, 'linear_ramp', end_values=(1, s))", "np.pad(x, 1, constant_values=(1, s))",
    "np.insert(v, [3, 1, -1], [s, s2, 0])", "np.insert(x, [0, 2], w4, axis=0)", "np.concatenate(t)", "np.stack(x, axis=1)",
    "np.unstack(t, axis=1)", "np.nanvar(holes, correction=1)", "np.nanstd(holes, where=mask)", "np.unwrap(v * 4)",
    "np.ptp(x, axis=0)", "np.ptp(t, (0, 2), keepdims=True)", "np.trapezoid(v)", "np.trapezoid(x, dx=s)",
    "np.trapezoid(x, w, axis=0)", "np.trapezoid(x, y)", "np.trapezoid(x, w4)", "np.trapezoid(t, w, axis=1)",
    "np.ediff1d(x)", "np.ediff1d(v, [s, s2], 0.5)",
    "np.append(v, [s, 2.5])", "np.append(x, w4[None], axis=0)", "np.append(x, v)", "np.select([mask, x > 0.5], [x, y], default=s)",
    "np.select([x > s], [1.5]) * x", "q[np.diag_indices(4)]", "np.linalg.multi_dot([x, q, w4])", "np.linalg.multi_dot([w, x, q])",
    "np.apply_along_axis(lambda r: r * r.sum(), 1, x)", "np.apply_over_axes(np.sum, t, (0, 2))", "np.vecmat(w, x)",
    "np.linalg.slogdet(q).logabsdet", "np.linalg.qr(tall).R", "np.linalg.svd(x, full_matrices=False).S",
    "np.linalg.eigh(q).eigenvalues", "np.linalg.pinv(q @ q.T, hermitian=True)", "scipy.linalg.solve(q, w4, assume_a='sym')",
    "scipy.linalg.solve(q @ q.T, w4, assume_a='pos', lower=True)", "scipy.linalg.lu(tall)", "scipy.linalg.lu(wide)",
    "math.dist(v, v * s)", "math.perm(5) * s",
]  # fmt: skip
SINGLE = ["np.maximum(f, s)", "np.copysign(f, 2)", "np.power(s, f)", "np.ldexp(f, 2)", "np.max(f)", "np.nanvar(f)"]


@pytest.fixture
def function(request: Any, tmp_path: Path) -> Iterator[tuple[Any, list[Any]]]:
    """The function of a text and its arguments: the arrays of floats that it names."""
    lines = text.split("; ") if "return" in (text := request.param) else [f"return {text}"]
    names = [n for n in FLOATS if any(n in _names(line) for line in lines)]
    source = "import math\nimport numpy as np\nimport scipy.linalg\n\n\ndef f(" + ", ".join(names) + "):\n"
    path = tmp_path / "calls.py"
    path.write_text(source + "".join(f"    {line}\n" for line in lines))
    spec = importlib.util.spec_from_file_location("calls", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(CONSTANTS)
    spec.loader.exec_module(module)
    yield module.f, [FLOATS[n] for n in names]


def _names(line: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def leaves(value: Any) -> list[Any]:
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, (tuple, list)) else [value]


def copied(args: list[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def like(seed: int, values: list[Any]) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(np.shape(v)).astype(np.asarray(v).dtype)[()] if np.ndim(v) or hasattr(v, "dtype") else 0.3
            for v in values]  # fmt: skip


@pytest.mark.parametrize("function", [*OUT, *UFUNCS, *WRITES, *METHODS, *KEYWORDS, *SINGLE], indirect=True)
@pytest.mark.sampled(3)
def test_call(function: tuple[Any, list[Any]]) -> None:
    f, args = function
    dots = like(1, args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = leaves(f(*copied(args)))
        value, tangent = tp.jvp(f, tuple(copied(args)), tuple(dots))
        found, pullback = tp.vjp(f, *copied(args))
        bars = like(2, wanted)
        grads = pullback(_rebuilt(found, iter(bars)))
    for got in (leaves(value), leaves(found)):
        for g, w in zip(got, wanted, strict=True):
            assert np.shape(g) == np.shape(w)
            assert getattr(g, "dtype", None) == getattr(w, "dtype", None)
            np.testing.assert_allclose(g, w, rtol=1e-6 if np.asarray(w).dtype == np.float32 else 1e-12, atol=1e-12)
    for g, a in zip(grads, args, strict=True):
        assert np.shape(g) == np.shape(a) and np.asarray(g).dtype == np.asarray(a).dtype
    left = sum(np.sum(np.asarray(d, float) * g) for d, g in zip(dots, grads))
    right = sum(np.sum(np.asarray(b, float) * d) for b, d in zip(bars, leaves(tangent)))
    single = any(np.asarray(a).dtype == np.float32 for a in args)
    np.testing.assert_allclose(left, right, rtol=1e-4 if single else 1e-9)
    if not single:
        for got, slope in zip(leaves(tangent), _slopes(f, args, dots), strict=True):
            np.testing.assert_allclose(got, slope, rtol=2e-6, atol=2e-7)


def _rebuilt(value: Any, bars: Iterator[Any]) -> Any:
    if isinstance(value, (tuple, list)):
        parts = [_rebuilt(v, bars) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return next(bars)


def _slopes(f: Any, args: list[Any], dots: list[Any]) -> list[Any]:
    def at(h: float) -> list[Any]:
        return [np.asarray(v, float) for v in leaves(f(*[a + h * d for a, d in zip(args, dots)]))]

    near, far = ([(a - b) / (2 * h) for a, b in zip(at(h), at(-h))] for h in (2e-5, 4e-5))
    return [(4 * a - b) / 3 for a, b in zip(near, far)]


MISSING = ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian", "nanprod"]


@pytest.mark.parametrize(
    "function",
    [f"np.{n}((holes - s * y) ** 2)" for n in MISSING] + ["np.nan_to_num((holes - s * y) ** 2)"],
    indirect=True,
)
def test_what_is_missing_brings_in_no_nan(function: tuple[Any, list[Any]]) -> None:
    f, args = function
    k = next(k for k, a in enumerate(args) if isinstance(a, float))

    def g(s: float) -> Any:
        return np.sum(f(*args[:k], s, *args[k + 1 :]))

    bars = tp.vjp(f, *args)[1](np.ones_like(f(*args)))
    np.testing.assert_allclose(bars[k], (g(0.7 + 1e-6) - g(0.7 - 1e-6)) / 2e-6, rtol=1e-6)


def test_derivatives_of_math_are_infinite_at_the_end_of_a_domain(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import math\n\n\ndef f(x):\n    return math.asin(x)\n\n\ndef g(x):\n    return math.cbrt(x)\n")
    spec = importlib.util.spec_from_file_location("ends", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in (float, np.float64):
            assert tp.grad(module.f)(x(1.0)) == np.inf
            if hasattr(math, "cbrt"):
                assert tp.grad(module.g)(x(0.0)) == np.inf


def test_derivatives_of_math_are_said_in_math(tmp_path: Path) -> None:
    path = tmp_path / "wave.py"
    path.write_text("import math\n\n\ndef f(x):\n    return math.sin(x) * math.log(x)\n")
    spec = importlib.util.spec_from_file_location("wave", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = tp.source(tp.grad(module.f), 0.5)
    assert "math.cos(x)" in text and "numpy" not in text
    with pytest.raises(ValueError):  # as the function does
        tp.grad(module.f)(0.0)
