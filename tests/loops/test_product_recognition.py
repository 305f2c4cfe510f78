"""Products that loops make bit by bit: what becomes a product of matrices, what must not, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import transpile as tp

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
rng = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(size=shape)


# ------------------------------------------------------------------------------------------------- what is called


def masked(a, b, c, offset, from_there, of_target):
    n, m = c.shape[0], c.shape[1] if of_target else a.shape[1]
    i, j = np.ogrid[:n, :m]
    mask = j >= i + offset if from_there else j < i + offset
    return c + 1.5 * (np.where(mask, a @ b, 0.0) if of_target else np.where(mask, a, 0.0) @ b)


@pytest.fixture(scope="module")
def part():
    from numba import njit

    from transpile_runtime.compiled import blas

    @njit
    def call(alpha, a, b, c, offset, from_there, of_target):
        blas.part(alpha, a, b, c, offset, from_there, of_target)

    return call


SIZES = ((0, 3, 4), (3, 0, 4), (5, 4, 0), (1, 1, 1), (7, 5, 6), (40, 90, 33), (100, 70, 35))


@pytest.mark.parametrize("from_there", (False, True))
@pytest.mark.parametrize("of_target", (False, True))
def test_a_part_of_a_product(part, from_there, of_target):
    for n, m, k in SIZES:
        for offset in (-50, -3, 0, 1, 2, 40, 120):
            for turned in range(8):
                a, b, c = (
                    normal(*size) if not turned >> bit & 1 else np.ascontiguousarray(normal(*size).T).T.copy("F")
                    for bit, size in enumerate(((n, k), (k, m), (n, m)))
                )
                wanted = masked(a, b, c, offset, from_there, of_target)
                part(1.5, a, b, c, offset, from_there, of_target)
                np.testing.assert_allclose(c, wanted, rtol=1e-11, atol=1e-11)


def test_what_is_left_out_is_not_multiplied_by_zero(part):
    for strided in (False, True):
        a, b, c = normal(50, 50), normal(50, 8), np.zeros((50, 8))
        b[49] = np.nan
        b[48, 3] = np.inf
        a[3, 7:] = np.nan
        if strided:
            b = np.repeat(b, 2, axis=1)[:, ::2]
        part(1.0, a, b, c, 0, False, False)
        wanted = np.stack([a[i, :i] @ b[:i] for i in range(50)])
        np.testing.assert_allclose(c, wanted)


# --------------------------------------------------------------------------------------------------- what becomes one


def dots(a, w):
    """A product by a vector in each trip, with the same matrix."""
    total = 0.0
    for i in range(a.shape[0]):
        total += np.sum(np.tanh(w @ a[i]))
    return total


def moments(a, b):
    """Outer products that are added up."""
    c = np.zeros((a.shape[1], b.shape[1]))
    for i in range(a.shape[0]):
        c += np.outer(a[i], b[i])
    return np.sum(c * c)


def scalars(a, b):
    """Three loops over numbers."""
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return np.sum(c * c)


def reordered(a, b):
    """The sum outside."""
    c = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                c[i, j] -= 2.0 * a[i, k] * b[k, j]
    return np.sum(c * c)


def lower(a, b):
    """Of one factor a triangle."""
    c = np.zeros_like(b)
    for i in range(a.shape[0]):
        c[i] = a[i, : i + 1] @ b[: i + 1]
    return np.sum(c * c)


def upper(a, b):
    """In place: what a trip reads is written later."""
    b = b.copy()
    for i in range(b.shape[0]):
        b[i] += a[i, i + 1 :] @ b[i + 1 :]
    return np.sum(b * b)


def half(a):
    """Of the result a triangle."""
    n = a.shape[0]
    c = np.zeros((n, n))
    for i in range(n):
        c[i, i:] = a[i:] @ a[i]
    return np.sum(c * c)


def scaled(a, b, s):
    """With factors of several kinds, added to what is there."""
    c = np.ones((a.shape[0], a.shape[0]))
    for i in range(a.shape[0]):
        c[i, : i + 1] *= s
        for k in range(a.shape[1]):
            c[i, : i + 1] += s * a[i, k] * b[: i + 1, k] + b[i, k] * a[: i + 1, k]
    return np.sum(c * c)


def several(a, b, c):
    """Numbers that are sums of two products, one of them taken away."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total += np.tanh(np.sum(a[i] * b[j] - 2.0 * c[i] * b[j] * c[i, 0]))
    return total


SQUARES = lambda n: (normal(n, n), normal(n, n))  # noqa: E731
ONE = (
    (dots, lambda n: (normal(n, 6), normal(7, 6))),
    (moments, lambda n: (normal(n, 6), normal(n, 7))),
    (scalars, lambda n: (normal(5, n), normal(n, 7))),
    (reordered, lambda n: (normal(5, n), normal(n, 7))),
    (lower, SQUARES),
    (upper, SQUARES),
    (half, lambda n: (normal(n, 6),)),
    (scaled, lambda n: (normal(n, 6), normal(n, 6), 1.5)),
    (several, lambda n: (normal(n, 6), normal(7, 6), normal(n, 6))),
)


def check(fn: Callable, args: tuple) -> str:
    """The text of the compiled gradient, after its value and that of the function were compared with interpreted ones."""
    gradient = tp.value_and_grad(fn, argnums=tuple(range(len(args))))
    before = [np.copy(a) for a in args]
    compiled = tp.jit(gradient)
    (value, found), (wanted_value, wanted) = compiled(*args), gradient(*args)
    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
    np.testing.assert_allclose(tp.jit(fn)(*args), fn(*args), rtol=1e-12)
    for x, y in zip(found, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)
    for x, y in zip(args, before):
        np.testing.assert_array_equal(x, y)
    return tp.source(compiled, *args, stage="loops")


@pytest.mark.parametrize(("fn", "make"), ONE, ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.sampled(4)
def test_loops_become_products_of_matrices(fn, make):
    for n in (50, 5):
        text = check(fn, make(n))
        assert "blas.gemm" in text or "blas.part" in text, text
        assert "blas.gemv" not in text, text
    check(fn, make(1))


def one_stays(a, b):
    """Of the products that are added one is none of matrices: the other is not left out of the sum."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total += np.tanh(np.sum(a[i] * b[j] + a[i] * a[i]))
    return total


def test_sums_of_several_products():
    args = normal(9, 6), normal(7, 6), normal(9, 6)
    text = tp.source(tp.jit(several), *args, stage="loops")
    assert text.count("blas.gemm") == 2, text
    text = tp.source(tp.jit(one_stays), *args[:2], stage="loops")
    assert "blas.gemm" not in text, text
    check(one_stays, args[:2])


@pytest.mark.parametrize(("fn", "make"), ONE[:4], ids=lambda x: getattr(x, "__name__", ""))
def test_no_trips(fn, make):
    check(fn, make(0))


# ----------------------------------------------------------------------------------------------- what must stay as it is


def recurrence(a, x):
    """Each trip needs the one before."""
    for _ in range(6):
        x = np.tanh(a @ x)
    return np.sum(x)


def read_inside(a, b):
    """The sum is read while it is added up."""
    c = np.zeros((a.shape[1], b.shape[1]))
    total = 0.0
    for i in range(a.shape[0]):
        c += np.outer(a[i], b[i])
        total += c[0, 0] * c[1, 1]
    return total


def solved(a, b):
    """Rows that were computed before are factors: `upper` in the other order."""
    b = b.copy()
    for i in range(1, b.shape[0]):
        b[i] += 0.1 * (a[i, :i] @ b[:i])
    return np.sum(b * b)


def left_early(a, w):
    """The trips are not known."""
    total = 0.0
    for i in range(a.shape[0]):
        t = w @ a[i]
        total += np.sum(t)
        if total > 3.0:
            break
    return total


def overwritten(a, b):
    """A factor changes between the trips."""
    c = np.zeros((a.shape[1], b.shape[1]))
    w = a[0].copy()
    for i in range(a.shape[0]):
        c += np.outer(w, b[i])
        w = np.sin(w + a[i])
    return np.sum(c)


def checked(a, b, at):
    """A trip may raise before its product is made."""
    c = np.zeros((a.shape[1], b.shape[1]))
    for i in range(a.shape[0]):
        c += np.outer(a[i], b[at[i]])
    return np.sum(c * c)


SAME = (
    (recurrence, lambda: (normal(5, 5), normal(5))),
    (read_inside, lambda: (normal(8, 5), normal(8, 6))),
    (solved, lambda: (normal(6, 6), normal(6, 6))),
    (left_early, lambda: (normal(8, 5), normal(6, 5))),
)


@pytest.mark.parametrize(("fn", "make"), SAME, ids=lambda x: getattr(x, "__name__", ""))
def test_loops_that_stay(fn, make):
    args = make()
    check(fn, args)
    text = tp.source(tp.jit(fn), *args, stage="loops")
    assert "blas.gemm" not in text and "blas.part" not in text, text


def test_factors_that_change():
    check(overwritten, (normal(8, 5), normal(8, 6)))


def test_checks_come_first():
    a, b = normal(4, 3), normal(5, 3)
    compiled = tp.jit(checked)
    at = np.array([0, 4, 2, 0])
    np.testing.assert_allclose(compiled(a, b, at), checked(a, b, at))
    with pytest.raises(IndexError):
        compiled(a, b, np.array([0, 5, 2, 0]))


def columns(a, q):
    """Dots with the columns of an array of rows, which change afterwards."""
    a = a.copy()
    r = np.zeros(a.shape[1])
    for k in range(a.shape[1] - 1):
        r[k] = a[k, k] * 2.0
        for j in range(k + 1, a.shape[1]):
            r[j] = q @ a[:, j]
            a[:, j] -= q * r[j]
    return np.sum(a * a) + np.sum(r)


def columns_in_order(a, q):
    """As before, but a column depends on the one before it."""
    a = a.copy()
    for j in range(1, a.shape[1]):
        a[:, j] -= (q @ a[:, j]) * a[:, j - 1]
    return np.sum(a * a)


@pytest.mark.parametrize(
    ("fn", "calls"), ((columns, 1), (columns_in_order, 1)), ids=lambda x: getattr(x, "__name__", "")
)
def test_columns_are_read_by_rows(fn, calls):
    for n in (6, 1):
        args = (0.3 * normal(6, n), normal(6))
        check(fn, args)
        assert tp.source(tp.jit(fn), *args, stage="loops").count("blas.gemv") <= calls


def test_writes_go_before_loops_that_are_exchanged():
    text = tp.source(tp.jit(columns), 0.3 * normal(6, 5), normal(6), stage="loops")
    inner = text[text.index("blas.gemv") :].splitlines()
    at = next(k for k, line in enumerate(inner) if "] - " in line)
    assert inner[at - 1].strip().startswith("for j in range"), text  # along the rows


# --------------------------------------------------------------------------------------------------------- tiny ones


def turning(points, axes):
    """Products of matrices of known, tiny sizes."""
    total = 0.0
    for i in range(points.shape[0]):
        m = np.eye(3)
        for j in range(axes.shape[0]):
            m = m @ axes[j]
        total += np.sum((m @ points[i]) ** 2)
    return total


def test_tiny_products_are_written_out():
    args = (normal(5, 3), normal(4, 3, 3))
    assert "blas" not in check(turning, args)


# ----------------------------------------------------------------------------------------------------- what is recorded


def swept(a, b):
    """Rows that are read before they are written, in trips of two loops."""
    b = b.copy()
    for _ in range(2):
        for i in range(1, b.shape[0]):
            b[i] = b[i] * b[i - 1] + a[i, 0] * b[i] ** 2
    return np.sum(b)


def backwards(a, b):
    b = b.copy()
    for i in range(b.shape[0] - 2, -1, -1):
        b[i] = b[i] * b[i + 1] * a[i, i + 1]
    return np.sum(b * b)


def once_more(a, b):
    """A row that is read again after it was written."""
    b = b.copy()
    for i in range(b.shape[0]):
        b[i] = np.sin(b[i]) * a[i, 0]
        b[0] = b[i] * b[0]
    return np.sum(b * b)


@pytest.mark.parametrize("fn", (upper, solved, swept, backwards, once_more), ids=lambda f: f.__name__)
def test_what_is_read_from_the_argument(fn):
    a, b = normal(5, 5), normal(5, 4)
    da, db = normal(5, 5), normal(5, 4)
    along = tp.jvp(fn, (a, b), (da, db))[1]
    a_bar, b_bar = tp.grad(fn, argnums=(0, 1))(a, b)
    np.testing.assert_allclose(np.sum(a_bar * da) + np.sum(b_bar * db), along, rtol=1e-10)


@pytest.mark.parametrize("fn", (upper, backwards, swept, once_more), ids=lambda f: f.__name__)
def test_what_the_argument_still_holds_is_not_recorded(fn):
    text = tp.source(tp.grad(fn, argnums=(0, 1)), normal(6, 6), normal(6, 4))
    assert ("_tape" in text) == (fn in (swept, once_more)), (
        text
    )  # those read rows that were written before and are written later
