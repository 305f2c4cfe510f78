"""What is folded may have no elements: an extremum with an ``initial``, logsumexp. Against NumPy and SciPy."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from differences import same_tree
from fuzz.check import load

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

CALLS = (
    "np.max(x, ",
    "np.min(x, ",
    "np.nanmax(x, ",
    "np.nanmin(x, ",
    "np.maximum.reduce(x, ",
    "np.fmin.reduce(x, ",
    "x.max(",
)
FLOATS = ("0.5", "-np.inf", "np.inf", "np.nan", "k", "2")
SHAPES = ((0, 3), (3, 0), (2, 3))


def program(call: str, initials: tuple[str, ...], folder: Path) -> ModuleType:
    """One function that gives the folds along each axis, masked or not, from each initial number."""
    more = itertools.product((None, 0, 1), initials, ("", ", where=m"))
    folds = ",\n        ".join(f"{call}axis={axis}, initial={first}{mask})" for axis, first, mask in more)
    return load(
        f"import numpy as np\n\ndef found(x, k, m):\n    return (\n        {folds},\n    )\n", "folds", folder
    ).found


def arguments(shape: tuple[int, ...], dtype: str) -> tuple:
    mask = np.ones(shape, bool)
    mask[:1, 1:2] = False
    return (np.arange(float(np.prod(shape))).reshape(shape) - 2).astype(dtype), 3, mask


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("call", CALLS)
def test_an_extremum_begins_at_its_initial_number(call: str, dtype: str, tmp_path: Path) -> None:
    f = program(call, FLOATS if dtype.startswith("float") else ("k", "2"), tmp_path)
    check(f, [Transformed(f, Level())], dtype)


@pytest.mark.numba
@pytest.mark.parametrize("dtype", ["float32", pytest.param("int64", marks=pytest.mark.slow)])
def test_a_compiled_extremum_begins_at_its_initial_number(dtype: str, tmp_path: Path) -> None:
    for call in ("np.max(x, ", "np.nanmin(x, "):
        f = program(call, ("0.5", "np.inf", "np.nan") if dtype == "float32" else ("k",), tmp_path)
        check(f, [tp.jit(f)], dtype)


def check(f, transformed, dtype):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for shape in SHAPES:
            args = arguments(shape, dtype)
            for g in transformed:
                same_tree(g(*args), f(*args), f"{shape}", 0.0, 0.0)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_the_logarithm_of_no_sum_is_minus_infinity(axis, dtype):
    from scipy.special import logsumexp

    def total(x):
        return logsumexp(x, axis=axis)

    made = Transformed(total, Level())
    for shape in ((2, 0), (0, 3), (2, 3)):
        if axis in (None, (0, 1)) and 0 in shape:
            wanted = np.dtype("float32" if dtype == "float32" else float).type(
                -np.inf
            )  # SciPy 1.17 raises an IndexError
        else:
            wanted = total(np.ones(shape, dtype))
        same_tree(made(np.ones(shape, dtype)), wanted, f"{shape}", 1e-6, 1e-6)


def test_the_derivative_of_an_extremum_goes_to_where_it_came_from():
    def greatest(x, k):
        return np.sum(np.max(x, axis=1, initial=k) ** 2)

    x = np.array([[0.3, 1.2], [0.1, -0.4]])
    into, first = tp.grad(greatest, argnums=(0, 1))(x, 0.7)
    assert np.array_equal(into, [[0, 2.4], [0, 0]]) and first == 1.4
    into, first = tp.grad(greatest, argnums=(0, 1))(np.zeros((2, 0)), 0.7)
    assert into.shape == (2, 0) and first == 2.8


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 3)])
def test_the_logarithms_of_no_sums(shape):
    def sums(x):
        return np.logaddexp.reduce(x), np.logaddexp2.reduce(x, axis=1), np.logaddexp.reduce(x, axis=0, initial=0.5)

    x = np.ones(shape)
    same_tree(Transformed(sums, Level())(x), sums(x), f"{shape}", 1e-12, 1e-12)


EMPTY_AT_ONE = (
    "np.max(x[1:])",
    "np.min(x[1:].reshape(-1, 1), axis=0)[0]",
    "np.ptp(x[1:])",
    "v[np.argmax(x[1:])]",
    "max(x[1:])",
    "np.nanmin(x[:-1])",
)


@pytest.mark.numba
@pytest.mark.parametrize("call", EMPTY_AT_ONE)
def test_what_is_empty_where_a_size_is_one(call: str, tmp_path: Path) -> None:
    """A function is made anew for a size of one: there it is known that nothing is left."""
    f = load(f"import numpy as np\n\ndef found(x, v):\n    return {call}\n", "parts", tmp_path).found
    made = tp.jit(f)
    assert made(np.array([2.0, 1.0]), np.ones(3)) == f(np.array([2.0, 1.0]), np.ones(3))
    for g in (f, made):
        with pytest.raises(ValueError, match="empty|zero-size"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g(np.ones(1), np.ones(3))


@pytest.mark.parametrize("shape", [(0,), (2,), (5,), (0, 5), (5, 0), (2, 2)])
@pytest.mark.parametrize("call", ["np.partition(x, 3)", "np.argpartition(x, [-4, 1], axis=0)"])
def test_what_is_empty_has_no_places_to_ask_for(call: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    f = load(f"import numpy as np\n\ndef found(x):\n    return {call}\n", "parts", tmp_path).found
    x = np.arange(float(np.prod(shape))).reshape(shape)
    try:
        wanted = f(x)
    except ValueError:
        with pytest.raises(ValueError, match="out of bounds"):
            Transformed(f, Level())(x)
        return
    same_tree(Transformed(f, Level())(x), wanted, call, 0.0, 0.0)


@pytest.mark.parametrize("x", [[], [0.0, 1.0], [np.inf, -np.inf], [0.5, -2.0]])
def test_norms_of_negative_order(x: list[float], tmp_path: Path) -> None:
    calls = ", ".join(f"np.linalg.norm(x, {order})" for order in (-1, -2.5, 0.5, 3))
    f = load(f"import numpy as np\n\ndef found(x):\n    return {calls}\n", "parts", tmp_path).found
    with np.errstate(all="ignore"):
        same_tree(Transformed(f, Level())(np.array(x)), f(np.array(x)), "norms", 1e-15, 0.0)


@pytest.mark.numba
@pytest.mark.usefixtures("cache_directory")
@pytest.mark.parametrize("mode", ["wrap", "edge", "reflect", "symmetric", "mean"])
def test_nothing_is_there_to_pad_with(mode: str, tmp_path: Path) -> None:
    """Compiled code would read what is not its own; widths of 0 ask for nothing."""
    text = f"import numpy as np\n\ndef f(x, k):\n    return np.pad(x, ((0, 0), (k, 1)), mode={mode!r})\n"
    f = load(text, f"padded_{mode}", tmp_path).f
    compiled = tp.jit(f)
    for k in (0, 2):
        for shape in ((2, 0), (0, 0)):
            with pytest.raises(
                ValueError, match="can't extend empty axis 1 using modes other than 'constant' or 'empty'"
            ):
                compiled(np.ones(shape), k)
        for shape in ((0, 3), (2, 3)):
            np.testing.assert_array_equal(compiled(np.ones(shape), k), f(np.ones(shape), k))


@pytest.mark.parametrize("rows", ["k", "y.shape[0]", "y.shape[0] * y.shape[1]"])
@pytest.mark.parametrize("size", [0, 3])
def test_a_size_left_open_beside_none(rows: str, size: int) -> None:
    f = tp.from_source(f"import numpy as np\n\ndef f(x, y, k):\n    return x.reshape({rows}, -1) * 2.0\n")
    args = np.zeros(size), np.zeros((0, 2)), 0
    for function in (f, Transformed(f, Level()), tp.vmap(f, in_axes=(None, None, None), axis_size=2)):
        with pytest.raises((ValueError, tp.TranspileError), match="reshape|do not agree"):
            function(*args)
