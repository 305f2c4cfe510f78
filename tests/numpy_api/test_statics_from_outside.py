"""Axes, shapes, positions, counts and orders, however they are given: as a literal, a number from outside of Python's or NumPy's,
an array of rank 0, a tuple of these, a list, an array of one axis, an argument. What NumPy takes gives NumPy's value.
"""

from __future__ import annotations

import linecache
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.special

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

X = np.arange(24.0).reshape(2, 3, 4) * 0.5 + 1.0

NUMBERS = """
1: np.sum(x, K); np.prod(x, K); np.max(x, K); np.var(x, K); np.std(x, ddof=K); np.all(x > 2, K); np.argmax(x, K); x.sum(K)
1: x.cumsum(K); np.squeeze(x[:, :1], axis=K)
1: np.cumprod(x, K); np.sort(x, K); np.argsort(x, K); np.partition(x, K, 0); np.partition(x, 1, K); np.flip(x, K); np.roll(x, K)
1: np.roll(x, K, 1); np.roll(x, 1, K); np.diff(x, K); np.diff(x, axis=K); np.gradient(x, axis=K); np.trapezoid(x, axis=K)
1: np.stack([x, x], K); np.concatenate([x, x], K); np.expand_dims(x, K); np.squeeze(x[:, :1], K); np.swapaxes(x, K, 0)
1: np.moveaxis(x, K, 0); np.rollaxis(x, K); np.repeat(x, 2, K); np.take(x, K); np.take(x, K, 1); np.take(x, [0, 1], K)
1: np.array_split(x, 2, K)[1]; np.delete(x, K); np.delete(x, K, 1); np.delete(x, 1, K); np.insert(x, K, 5.0)
1: np.insert(x, 1, 5.0, K); x.swapaxes(0, K)
1: np.eye(3, k=K); np.tri(3, k=K); np.tril(x, K); np.triu(x, K); np.diag(x[0, 0], K); np.diagonal(x, K); np.trace(x, K)
1: np.trace(x, 0, K, 2); np.rot90(x, K); np.tensordot(x, x[0].T, K); np.linalg.norm(x[0], K); np.linalg.norm(x, axis=K)
1: np.vecdot(x, x, axis=K); np.quantile(x, 0.3, K); np.median(x, K); np.round(x, K); np.unwrap(x, axis=K); np.average(x, K)
1: np.take_along_axis(x, x.astype(int) % 2, K); np.apply_along_axis(np.cumsum, K, x); np.ptp(x, K); np.nansum(x, K); np.nanmax(x, K)
1: np.count_nonzero(x > 2, K); np.add.reduce(x, K); np.add.accumulate(x, K); np.logaddexp.reduce(x, K); np.nanmedian(x, K)
1: scipy.special.logsumexp(x, K); scipy.special.softmax(x, K); x[K]; x[K:]; x[:K]; x[K, :, K]; [x[0], x[1]][K]; [x, x][:K][0]
1: x.at[K].set(0.0); x.at[:, K].add(1.0); x[0].transpose(K, 0); np.append(x, x, K); np.pad(x, ((0, 0), (K, 0), (0, 1)))
1: tp.lax.dynamic_slice(x, (0, K, 0), (1, 1, 1)); tp.lax.dynamic_slice_in_dim(x, 0, K, 1); np.cov(x[0], ddof=K); np.ix_([K], [0, 1])
1: np.argpartition(x[0, 0], K)[K]; np.split(x, 2)[K]; np.concatenate([x, x[:K]]); np.moveaxis(x, 0, K); np.swapaxes(x, 0, K)
-1: x[..., K]; (x[0], x[1])[K]; np.mean(x, axis=K); np.reshape(x, K); x.reshape(K); np.reshape(x, (2, K)); x.reshape(2, K)
-1: x.reshape((K, 2)); np.expand_dims(x, K); np.diff(x, axis=K); np.stack([x, x], K); np.flip(x, K); x[K:]; x[::K]; np.roll(x, K)
0: np.partition(x, 1, K); np.sum(x, K); np.cumsum(x, axis=K); x[K]; np.concatenate([x, x], K); np.linalg.norm(x[0, 0], K)
2: np.roll(x, K, 1); np.repeat(x, K); np.repeat(x, K, 1); np.tile(x, K); np.split(x, K)[1]; np.array_split(x, K)[1]; x[:, ::K]
2: np.arange(0, 6, K); np.pad(x[0, 0], K); np.broadcast_to(x, (K, 2, 3, 4)); np.cross(x[:, :, :3], x[:, :, 1:], axis=K)
2: np.searchsorted(x[0, 0], K); np.vsplit(x, K)[1]; np.clip(x, K, 9); np.percentile(x, K)
2: np.lib.stride_tricks.sliding_window_view(x[0, 0], K); np.argmax(x, K); np.linalg.norm(x[0], K); x**K; np.power(x, K)
3: np.zeros(K) + x[0, 0, 0]; np.full(K, 2.0); np.ones((K, 2)); np.arange(K); np.eye(K); np.identity(K); np.vander(x[0, 0], K)
3: np.hsplit(x[0].T, K)[0]; np.indices((2, K)); np.logspace(0, 1, K); np.linalg.matrix_power(x[0, :, :3], K); np.max(x, initial=K)
3: np.sum(x, initial=K); x * K; np.full((2, 2), K) * x[0, 0, 0]; np.linalg.norm(x[0, 0], K); np.linspace(0, 1, K); np.fill_diagonal
3: np.bincount(np.array([0, 1, 1]), minlength=K); np.unravel_index(K, (2, 3, 4)); np.resize(x, K); np.geomspace(1, 8, K)
24: np.reshape(x, K)
"""
SHAPES = """
(0, 2): np.sum(x, K); np.moveaxis(x, K, (1, 0)); np.expand_dims(x, K); np.squeeze(x[:1, :, :1], K); np.flip(x, K); np.max(x, K)
(1,): np.mean(x, axis=K); np.sum(x, K); np.flip(x, K); np.zeros(K); np.tile(x, K); np.broadcast_to(x[:1], (2, 3, 4)); x[K]
(4, 6): np.reshape(x, K); x.reshape(K)
(4, -1): np.reshape(x, K); x.reshape(K)
(2, 3): np.zeros(K); np.full(K, 2.0); np.ones(K); np.empty(K) * 0.0; np.indices(K); np.full_like(x, 1.0, shape=K)
(2, 3): np.zeros_like(x, shape=K); np.broadcast_shapes(K, (1, 1)); np.ones_like(x, shape=K)
(1, 0, 2): np.transpose(x, K); x.transpose(K)
(1, 2): np.tile(x, K); np.roll(x, K, (0, 1)); np.pad(x[0], K); np.rot90(x, 1, K); x[K]; np.reshape(x[0, 0, :2], K)
(2, 2, 3, 4): np.broadcast_to(x, K)
(5, 2): np.resize(x, K)
(0, 1): np.roll(x, (1, 2), K); np.linalg.norm(x, axis=K); np.tensordot(x, x, axes=(K, K)); np.delete(x, K, 2)
(0, 1): np.insert(x, K, 5.0, 2); x.max(K)
(0, 1): np.median(x, K); np.quantile(x, 0.5, K); np.add.reduce(x, K); np.gradient(x, axis=K); scipy.special.logsumexp(x, K)
(0, 1): np.average(x, K); np.std(x, K); np.fft.fftshift; np.count_nonzero(x > 2, K); np.var(x, axis=K); np.prod(x, K); x.mean(K)
(0, 1): x[:, K]; x.take(K, 2); [x[k] for k in K][0]; x.at[:, K].set(0.0); np.nanmean(x, K); scipy.special.softmax(x, K)
(1, 3): np.split(x[0, 0], K)[1]; np.array_split(x, K, 2)[2]; np.take(x, K); np.hsplit(x[0], K)[1]
(2, 3, 4): np.unravel_index(7, K); np.ravel_multi_index((1, 2, 3), K)
(1, 0, 2, 1): np.repeat(x[0, 0], K); x[0, 0][K]; x[..., K]
(1, 2, 3): tp.lax.dynamic_slice(x, (0, 0, 0), K)
(1, 1, 1): tp.lax.dynamic_slice(x, K, (1, 1, 1)); x[K]
"""
ORDERS = """
2.0: np.linalg.norm(x[0, 0], K); np.linalg.norm(x[0], K); np.linalg.norm(x, K, axis=1); np.trapezoid(x, dx=K)
2.0: np.linspace(0.0, K, 4); np.linalg.cond(x[0, :2, :2], K); np.linalg.matrix_norm(x, ord=K); x**K
0.5: np.linalg.norm(x[0, 0], K); np.quantile(x, K); np.std(x, ddof=K); np.full(3, K); np.linalg.norm(x, K, axis=1)
1.0: np.linalg.norm(x[0], K); np.std(x, ddof=K); np.linalg.norm(x[0, 0], K); np.linalg.cond(x[0, :2, :2], K)
3.5: np.linalg.vector_norm(x, ord=K); np.full((2, 2), K); np.clip(x, K, 5.0); np.max(x, initial=K); np.linalg.norm(x[0, 0], K)
np.inf: np.linalg.norm(x[0, 0], K); np.linalg.norm(x[0], K); np.linalg.vector_norm(x, ord=K); np.nan_to_num(x, posinf=K)
-np.inf: np.linalg.norm(x[0, 0], K); np.linalg.norm(x[0], K); np.linalg.vector_norm(x, ord=K)
"""
OF_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "number": lambda k: k,
    "int64": np.int64,
    "int32": np.int32,
    "rank 0": np.array,
    "rank 0 of int8": lambda k: np.array(k, np.int8),
}
OF_SHAPES: dict[str, Callable[[Any], Any]] = {
    "tuple": lambda k: k,
    "list": list,
    "tuple of int64": lambda k: tuple(map(np.int64, k)),
    "tuple of arrays of rank 0": lambda k: tuple(map(np.array, k)),
    "list of int32": lambda k: list(map(np.int32, k)),
    "array": np.array,
    "array of int32": lambda k: np.array(k, np.int32),
}
OF_ORDERS: dict[str, Callable[[Any], Any]] = {
    "number": lambda k: k, "float64": np.float64, "float32": np.float32, "rank 0": np.array,
}  # fmt: skip
WAYS = ("literal", "global", "closure", "part", "attribute", "default", "entry", "argument")
"""How the function gets it; ``part``: as an entry of a tuple from outside, ``entry``: of an array."""


def table(text: str) -> list[tuple[str, str]]:
    lines = (line.split(": ", 1) for line in text.strip().splitlines())
    return [(call, value) for value, calls in lines for call in calls.split("; ") if "K" in call]


CALLS = [
    (*c, forms)
    for text, forms in ((NUMBERS, OF_NUMBERS), (SHAPES, OF_SHAPES), (ORDERS, OF_ORDERS))
    for c in table(text)
]
CASES = [(call, value, forms, form) for call, value, forms in CALLS for form in forms]


class Holder:
    """An object with an attribute."""

    def __init__(self, held: Any) -> None:
        self.held = held


def written(given: Any) -> str:
    """The value as it is written in Python."""
    if isinstance(given, (tuple, list)):
        inner = "".join(f"{written(v)}, " for v in given)
        return f"({inner})" if isinstance(given, tuple) else f"[{inner}]"
    if isinstance(given, (np.ndarray, np.generic)):
        inner = str(given.tolist()).replace("inf", "np.inf")
        name = given.dtype.name
        return f"np.array({inner}, np.{name})" if isinstance(given, np.ndarray) else f"np.{name}({inner})"
    return repr(given) if abs(given) != np.inf else f"{'-' * (given < 0)}np.inf"


def function(call: str, given: Any, way: str) -> Any:
    """The call as a function that gets the value in this way."""
    names = {
        "literal": written(given),
        "global": "GIVEN",
        "closure": "given",
        "part": "PARTS[0]",
        "attribute": "holder.held",
        "entry": "ROWS[1]",
    }
    name = names.get(way, "k")
    for before, after in (("(K", "("), (" K", " "), ("[K", "["), (":K", ":"), ("=K", "="), ("*K", "*")):
        call = call.replace(before, f"{after}{name}")
    parameters = {"default": "x, k=GIVEN", "argument": "x, k"}.get(way, "x")
    text = f"def maker(given):\n    def f({parameters}):\n        return {call}\n    return f\n"
    file = f"<{way} {given!r}: {call}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"np": np, "scipy": scipy, "tp": tp, "GIVEN": given, "PARTS": (given, 1.0), "holder": Holder(given)}
    space["ROWS"] = np.array([given, given])
    exec(compile(text, file, "exec"), space)
    return space["maker"](given)


def difference(call: str, value: str, forms: Any, form: str, way: str, run: Any = None) -> str | None:
    """What is wrong with a call, if anything."""
    given = forms[form](eval(value, {"np": np}))
    f = function(call, given, way)
    args = (X.copy(), given) if way == "argument" else (X.copy(),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = f(*args) if ".at[" not in call else None
        except (NameError, SyntaxError):
            raise
        except Exception:
            return None
        what = f"{call} of {value} as {form}, {way}"
        try:
            found = (Transformed(f, Level()) if run is None else run(f))(*args)
        except Exception as e:
            if way == "argument" and getattr(e, "codes", ()) == (
                "T210",
            ):  # of arguments only integers are taken for known
                return None
            return f"{what}: {type(e).__name__}: {str(e).splitlines()[0]}"
    if wanted is None:
        return None
    if isinstance(wanted, (tuple, list)) != isinstance(found, (tuple, list)):
        return f"{what}: {found!r}, not {wanted!r}"
    pairs = list(zip(found, wanted)) if isinstance(wanted, (tuple, list)) else [(found, wanted)]
    for a, b in pairs:
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype or not np.allclose(a, b, rtol=1e-12):
            return f"{what}: {a.dtype} {a}, not {b.dtype} {b}"
    return None


Case = tuple[str, str, Any, str, str]


def wrong(cases: list[Case]) -> list[str]:
    found = [difference(*case) for case in cases]
    return [text for text in found if text is not None]


def every(way: str) -> list[Case]:
    return [(*case, way) for case in CASES]


@pytest.mark.parametrize("way", WAYS)
def test_some_calls(way):
    several = random.Random(way).sample(every(way), 40)
    assert not wrong(several)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_every_call(way):
    assert not wrong(every(way))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_compiled_calls(seed):
    several = random.Random(seed).sample([case for way in ("global", "part") for case in every(way)], 40)
    found = [difference(*case, run=tp.jit) for case in several]
    assert not [text for text in found if text is not None]


# ------------------------------------------------------------------------------------- what changes after the first call


class Outside:
    """What the functions below read; `test_what_changes` changes it."""

    power: Any = 2.0
    order: Any = np.array([2, 0, 1])
    axis: Any = np.int64(1)
    axes: Any = (np.array(0),)
    window: Any = slice(np.array(1), np.array(3))
    size: Any = -1
    shape: Any = np.array([2, -1])


def norm(x):
    return np.linalg.norm(x[0], Outside.power)


def permuted(x):
    parts = [x[0], x[1], x[2]]
    parts = [parts[k] for k in Outside.order]
    return parts[0] + parts[1] * 10.0 + parts[2] * 100.0


def summed(x):
    return np.sum(x, Outside.axes) * Outside.axis


def small(x):
    return np.max(x.astype(np.int8), Outside.axis) * Outside.axis


def part(x):
    return x[Outside.window]


def reshaped(x):
    return x.reshape(2, Outside.size)


def held_shape(x):
    return x.reshape(Outside.shape)


CHANGES: list[dict[str, Any]] = [
    {},
    {"power": 3.0, "order": [1, 2, 0], "axis": np.int64(0), "axes": 1, "window": 0, "size": 6, "shape": [3, 4]},
    {"order": np.array([0, 1, 0], np.int32), "power": np.inf, "size": -1, "shape": np.array([12]), "axes": (0, 1)},
    {
        "axis": 0,
        "axes": (np.array(1),),
        "window": slice(0, np.array(2)),
        "shape": np.array([4, -1]),
        "power": np.float32(0.5),
    },
]


def changed(name: str, value: Any) -> None:
    """What stands there is another; an array that gets a list or a number holds it from now on."""
    held = getattr(Outside, name)
    if isinstance(held, np.ndarray) and isinstance(value, list):
        held[...] = value
    elif isinstance(value, int) and isinstance(held, (tuple, slice)):
        (held[0] if isinstance(held, tuple) else held.start)[...] = value
    else:
        setattr(Outside, name, value)


FUNCTIONS = (norm, permuted, summed, small, part, reshaped, held_shape)


@pytest.mark.parametrize(
    ("transform", "functions"),
    [
        (lambda f: Transformed(f, Level()), FUNCTIONS),
        (tp.jit, (permuted, reshaped)),
        pytest.param(tp.jit, FUNCTIONS, marks=pytest.mark.slow),
    ],
    ids=["interpreted", "compiled", "all compiled"],
)
def test_what_changes(transform, functions):
    """What was built into the text is looked at in each call: also what an array holds, and whether a size is -1."""
    x = np.arange(12.0).reshape(3, 4) + 1.0
    runs = [transform(f) for f in functions]
    before = {
        k: v.copy() if isinstance(v, np.ndarray) else v for k, v in vars(Outside).items() if not k.startswith("_")
    }
    before |= {"axes": (np.array(0),), "window": slice(np.array(1), np.array(3))}
    try:
        for change in CHANGES:
            for name, value in change.items():
                changed(name, value)
            for f, run in zip(functions, runs):
                for _ in range(2):
                    found, wanted = run(x), f(x)
                    np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=f"{f.__name__} after {change}")
                    assert np.shape(found) == np.shape(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype
    finally:
        for name, value in before.items():
            setattr(Outside, name, value)
