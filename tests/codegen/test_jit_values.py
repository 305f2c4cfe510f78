"""Compiled arithmetic at the ends of its domain, for narrow types, and of matrices with NaN: what NumPy and Python give."""

import dataclasses
import math
import random
import warnings

import numpy as np
import pytest

import transpile as tp
from transpile.errors import TranspileError

pytestmark = pytest.mark.numba


def same(found, wanted):
    """Values, types and shapes of two tuples agree, entry by entry."""
    assert len(found) == len(wanted)
    for k, (f, w) in enumerate(zip(found, wanted)):
        assert type(f) is type(w) and np.shape(f) == np.shape(w), (k, type(f), type(w))
        assert np.result_type(f) == np.result_type(w), (k, np.result_type(f), np.result_type(w))
        np.testing.assert_allclose(f, w, rtol=1e-13 if np.result_type(w) != np.float32 else 1e-6, err_msg=str(k))


def check(f, *args):
    with np.errstate(all="ignore"):
        wanted = f(*args)
    same(tp.jit(f, cache=False)(*args), wanted)


ENDS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 2.5, -1e300])


def at_the_ends(x, y, n):
    return (
        np.sign(x), np.sign(-y), np.nan_to_num(y), np.nan_to_num(x), x // y[5], x // 2.0, np.divmod(x, 2.0)[0],
        np.ldexp(x, n), np.heaviside(x, 0.5), np.fmod(x, 2.0), x % 2.0,
    )  # fmt: skip


def test_infinite_and_huge_numbers():
    with np.errstate(over="ignore"):
        narrow = ENDS.astype(np.float32)
    check(at_the_ends, ENDS, narrow, np.full(7, 2**40))


def of_integers(a, b, k):
    return (
        np.fmod(a, b), np.lcm(a, b), np.left_shift(a, k), np.right_shift(a, k), np.reciprocal(3), a // b, a % b,
        np.isclose(a, -a), np.sign(a),
    )  # fmt: skip


def test_integers():
    a, b = np.array([7, -7, 2**62, -5]), np.array([-3, 3, -(2**62), 0])
    check(of_integers, a, b, np.array([-2, 70, 1, -1]))


def widened(x):
    wide = x.astype(np.float64)
    return wide * wide, np.float_power(x, x), float(x[0]) * float(x[0]), np.sum(x.astype(np.float64) ** 2)


def test_a_float32_that_is_widened():
    """Numba's ``float()`` of a float32 is a float32."""
    check(widened, np.array([0.1, 0.2, 0.3], np.float32))


def extremes(a, b, x):
    return max(a, b), max(b, a), min(a, b), min(b, a), max(x[0], x[1], x[2]), np.maximum(a, b)


def test_extremes_of_python_keep_what_cannot_be_compared():
    check(extremes, math.nan, 1.0, np.array([1.0, math.nan, 3.0]))


def test_round_of_a_python_float_is_exact():
    from transpile_runtime.compiled.scalars import round_to_python

    draw = random.Random(0)
    for _ in range(3000):
        digits = draw.randrange(0, 6)
        x = draw.choice([draw.uniform(-100, 100), draw.randrange(-3000, 3000) * 5 / 10 ** (digits + 1)])
        assert round_to_python(x, digits) == round(x, digits), (x, digits)
    f = tp.jit(lambda x: (round(x, 2), np.round(x, 2)), cache=False)
    assert f(2.675) == (2.67, np.round(2.675, 2))


def whole(x, k):
    if k == 0:
        return int(x)
    if k == 1:
        return math.floor(x)
    if k == 2:
        return round(x)
    if k == 3:
        return math.factorial(-3)
    if k == 4:
        return math.comb(-3, 2)
    return 3 << -int(x)


@pytest.mark.parametrize("k", range(6))
def test_numbers_that_are_not_there(k):
    f = WHOLE
    for x in (math.nan, math.inf) if k < 3 else (2.0,):
        with pytest.raises((ValueError, OverflowError)) as wanted:
            whole(x, k)
        with pytest.raises(wanted.type):
            f(x, k)


WHOLE = tp.jit(whole)


# ---------------------------------------------------------------------------------------------- linear algebra

ODD = {
    "nan": np.full((2, 2), np.nan),
    "nan below": [[2.0, 1.0], [np.nan, 2.0]],
    "nan above": [[2.0, np.nan], [1.0, 2.0]],
    "infinite": [[np.inf, 0.0], [0.0, 1.0]],
    "singular": [[0.0, 0.0], [0.0, 0.0]],
    "empty": np.zeros((0, 0)),
}
SQUARE = {
    "inv": np.linalg.inv,
    "solve": lambda a: np.linalg.solve(a, np.ones((a.shape[0], 2))),
    "det": np.linalg.det,
    "slogdet": lambda a: np.linalg.slogdet(a)[1],
    "cholesky": np.linalg.cholesky,
    "eigvalsh": np.linalg.eigvalsh,
    "pinv": np.linalg.pinv,
    "matrix_rank": np.linalg.matrix_rank,
}
COMPILED = {name: tp.jit(f) for name, f in SQUARE.items()}


def outcome(f, *args):
    try:
        with np.errstate(all="ignore"):
            return f(*args)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("which", ODD)
@pytest.mark.parametrize("name", SQUARE)
@pytest.mark.sampled(8)
def test_matrices_that_are_not_finite(name, which):
    """Numba refuses them all."""
    if which == "infinite" and name in ("pinv", "matrix_rank"):
        return  # LinAlgError: there is no singular value decomposition
    if (which, name) == ("empty", "matrix_rank") and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        return  # that NumPy takes the maximum of nothing
    a = np.asarray(ODD[which], float)
    wanted, found = outcome(SQUARE[name], a), outcome(COMPILED[name], a)
    if isinstance(wanted, type):
        assert found is wanted
    else:
        np.testing.assert_array_equal(found, wanted)


def decompositions(tall, wide):
    return (
        *np.linalg.svd(tall), *np.linalg.svd(wide), *np.linalg.qr(tall), np.linalg.svd(tall[:0])[1],
        np.linalg.qr(tall[:0])[1], np.linalg.cholesky(tall.T @ tall, upper=True),
        np.repeat(tall, np.array([2, 0, 1]), axis=0),
    )  # fmt: skip


def test_decompositions():
    rng = np.random.default_rng(0)
    tall, wide = rng.normal(size=(3, 2)), rng.normal(size=(2, 3))
    wanted = decompositions(tall, wide)
    for f, w in zip(tp.jit(decompositions)(tall, wide), wanted):
        np.testing.assert_allclose(np.abs(f), np.abs(w), atol=1e-12)  # the signs of singular vectors are free


@pytest.mark.slow
def test_compiling_warns_of_nothing():
    """Numba says where a product is of arrays that it does not know as contiguous."""
    from numba import njit

    from transpile_runtime.compiled.exponential import expm

    found = np.empty((2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        njit(expm.py_func)(np.array([[0.0, 1.0], [0.0, 0.0]]), found)
    np.testing.assert_allclose(found, [[1.0, 1.0], [0.0, 1.0]])


# --------------------------------------------------------------------------- lists, dicts and objects of the caller


@dataclasses.dataclass
class Walk:
    time: float
    path: object


def sets_an_item(w):
    w.path[0] = 7.0
    return w.path[0] * 2


def sets_in_a_loop(w):
    for k in range(len(w.path)):
        w.path[k] = w.path[k] * 2
    return w.path[0]


def appends(w):
    w.path.append(w.time)
    return sum(w.path)


def appends_in_a_loop(w):
    for k in range(2):
        w.path.append(w.path[k])
    return sum(w.path)


def adds_in_place(w):
    path = w.path
    path += [w.time]
    return sum(path)


def deletes(w):
    del w.path[1:]
    return sum(w.path)


def sets_an_attribute(w):
    w.time += 1.0
    return w


@pytest.mark.parametrize(
    "f", [sets_an_item, sets_in_a_loop, appends, appends_in_a_loop, adds_in_place, deletes, sets_an_attribute]
)
def test_what_the_caller_would_not_see_is_refused(f):
    with pytest.raises(TranspileError, match="T123"):
        tp.jit(f)(Walk(1.0, [1.0, 2.0, 3.0]))
    given = Walk(1.0, [1.0, 2.0, 3.0])
    tp.vjp(f, given)  # a derivative changes nothing
    assert given == Walk(1.0, [1.0, 2.0, 3.0])


def changes_copies(w, **more):
    path, more["scale"] = list(w.path), 2.0
    path.append(w.time)
    del path[::2]
    return sum(path) * more["scale"]


def writes_an_array(w):
    w.path[1:] *= w.time
    return np.sum(w.path)


def test_copies_and_arrays_may_be_changed():
    assert tp.jit(changes_copies)(Walk(4.0, [1.0, 2.0, 3.0]), bias=1.0) == 12.0
    given = Walk(3.0, np.array([1.0, 2.0]))
    assert tp.jit(writes_an_array)(given) == 7.0
    assert given.path.tolist() == [1.0, 6.0]


# --------------------------------------------------------------------------------------------- the sign of a zero


def parts_of_numbers(a, b):
    return a % b, a // b, math.fmod(a, b), np.mod(a, b), np.floor_divide(a, b), *divmod(a, b)


def parts_of_arrays(a, b):
    return a % b, a // b, np.fmod(a, b), *np.divmod(a, b)


SIGNED = (0.0, -0.0, 4.0, -4.0, 1.5, -1.5, 1e300, 5e-324, math.inf, -math.inf, 2.0, -2.0, 3.0)


def test_the_sign_of_a_remainder_that_is_zero():
    fast, of_arrays = tp.jit(parts_of_numbers), tp.jit(parts_of_arrays)
    for a in SIGNED:
        for b in [b for b in SIGNED if b != 0.0]:
            if math.isfinite(a):
                assert list(map(repr, map(float, fast(a, b)))) == list(map(repr, map(float, parts_of_numbers(a, b)))), (
                    a,
                    b,
                )
            for dtype in (np.float64, np.float32):
                with np.errstate(all="ignore"):
                    x, y = np.full(5, a, dtype), np.full(5, b, dtype)
                    for found, wanted in zip(of_arrays(x, y), parts_of_arrays(x, y)):
                        np.testing.assert_array_equal(found, wanted)
                        signs = np.signbit(found) == np.signbit(wanted)
                        assert np.all(signs | np.isnan(wanted)), (a, b)
