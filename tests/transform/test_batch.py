"""Functions of all lanes beside the function of one, lane by lane."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from corpus import all_programs
from lane_orders import order
from verified import verify

import transpile as tp
from transpile.aggregates import flatten
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

PROGRAMS = {p.name: p for p in all_programs()}
REFUSED = {"indexing.mask_beside_indices", "cumulative.grouped_sum"}  # the size of a result is a lane's own


def in_orders(names: Any) -> Any:
    """Each program in one of the two orders, in turn; in the other one in the slow tests."""
    cases = [
        pytest.param(name, by_lane, id=f"{name}-{'by_lane' if by_lane else 'whole'}",
                     marks=[pytest.mark.slow] if (k % 2 == 0) == by_lane else [])
        for k, name in enumerate(names) for by_lane in (False, True)
    ]  # fmt: skip
    return pytest.mark.parametrize("name, by_lane", cases)


def stacked(program: Any, lanes: int) -> tuple[tuple[int | None, ...], list[Any], list[list[Any]]]:
    """The axes of the arguments, all lanes of them, and those of each lane: floats differ from lane to lane."""
    axes: list[int | None] = []
    whole: list[Any] = []
    each: list[list[Any]] = [[] for _ in range(lanes)]
    for k, a in enumerate(program.args()):
        is_mapped = isinstance(a, float) or (isinstance(a, np.ndarray) and a.dtype.kind == "f")
        axes.append(0 if is_mapped else None)
        if is_mapped:
            one = np.asarray(a)
            made = np.empty((lanes, *one.shape), one.dtype)
            for j in range(lanes):
                made[j] = one * (1 + 0.02 * j)
            whole.append(made)
        else:
            whole.append(a)
        for j in range(lanes):
            each[j].append(whole[-1][j].copy() if is_mapped else program.args()[k])
    return tuple(axes), whole, each


def assert_is_stacked(found: Any, each: list[Any], rtol: float, atol: float) -> None:
    leaves, _ = flatten(found)
    for j, lane in enumerate(each):
        wanted, _ = flatten(lane)
        assert len(leaves) == len(wanted)
        for x, y in zip(leaves, wanted):
            np.testing.assert_allclose(x[j], y, rtol=rtol, atol=atol)


@in_orders(PROGRAMS)
@pytest.mark.sampled(8)
def test_a_program(name: str, by_lane: bool) -> None:
    program = PROGRAMS[name]
    axes, whole, each = stacked(program, 3)
    if set(axes) == {None}:
        pytest.skip("no floats")
    batched = tp.vmap(program.fn, in_axes=axes)
    with np.errstate(all="ignore"), warnings.catch_warnings(), order(by_lane):
        warnings.simplefilter("ignore")
        wanted = [program.fn(*args) for args in each]
        if name in REFUSED:
            with pytest.raises(tp.TranspileError, match="may differ between lanes"):
                batched(*whole)
            return
        verify(lift(Request.of(whole, {}), batched))
        assert_is_stacked(batched(*whole), wanted, 1e-12, 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [0, 1, 7, 33])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_in_many_lanes(name: str, lanes: int) -> None:
    """The more there are, the further they are apart: they take other ways."""
    program = PROGRAMS[name]
    axes, whole, each = stacked(program, lanes)
    if set(axes) == {None} or name in REFUSED:
        pytest.skip("no floats, or refused")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = [program.fn(*args) for args in each]
        except (ValueError, IndexError, ZeroDivisionError, AssertionError):
            pytest.skip("not for all lanes")
        for by_lane in (False, True):
            with order(by_lane):
                found = tp.vmap(program.fn, in_axes=axes)(*[own(a) for a in whole])
            if lanes:
                assert_is_stacked(found, wanted, 1e-12, 1e-13)
            else:
                assert all(len(leaf) == 0 for leaf in flatten(found)[0])


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


@in_orders(n for n, p in PROGRAMS.items() if p.wrt)
@pytest.mark.sampled(8)
def test_the_gradient_of_a_program(name: str, by_lane: bool) -> None:
    program = PROGRAMS[name]
    axes, whole, each = stacked(program, 2)
    chosen = tuple(k for k, a in enumerate(axes) if a == 0)
    gradient = tp.grad(program.fn, chosen)
    with np.errstate(all="ignore"), warnings.catch_warnings(), order(by_lane):
        warnings.simplefilter("ignore")
        try:
            wanted = [gradient(*args) for args in each]
        except (tp.TranspileError, ValueError, IndexError, ZeroDivisionError) as refused:
            pytest.skip(f"no gradient: {type(refused).__name__}")
        batched = tp.vmap(gradient, in_axes=axes)
        assert_is_stacked(batched(*whole), wanted, 1e-10, 1e-12)


def weighted(x, w, k):
    total = 0.0
    while total < k:
        total += np.sum(x * w) ** 2 + 0.1
    return total, w * total


@pytest.mark.parametrize("axes, out", [((0, None, 0), 0), ((1, None, 0), 1), ((None, 0, 0), 1), ((1, 1, None), 0)])
@pytest.mark.parametrize("lanes", [0, 1, 2, 7, 33])
def test_axes(axes: tuple[int | None, ...], out: int, lanes: int) -> None:
    rng = np.random.default_rng(0)

    def made(axis: int | None) -> np.ndarray:
        one = rng.uniform(0.1, 1.0, (lanes, 4))
        return one[0] if axis is None and lanes else np.ones(4) if axis is None else np.moveaxis(one, 0, axis)

    x, w = made(axes[0]), made(axes[1])
    k = rng.uniform(0.5, 2.0, lanes) if axes[2] == 0 else 1.5
    total, scaled = tp.vmap(weighted, in_axes=axes, out_axes=(0, out))(x, w, k)
    assert total.shape == (lanes,)
    assert scaled.shape == ((lanes, 4) if out == 0 else (4, lanes))
    for j in range(lanes):
        args = [v if a is None else np.take(v, j, a) for v, a in zip((x, w, k), axes)]
        one = weighted(*args)
        np.testing.assert_allclose(total[j], one[0], rtol=1e-15)
        np.testing.assert_allclose(np.take(scaled, j, out), one[1], rtol=1e-15)


def residual(e, m):
    x = m
    while abs(x - e * np.sin(x) - m) > 1e-12:
        x = x - (x - e * np.sin(x) - m) / (1.0 - e * np.cos(x))
    return x


def test_derivatives_over_and_under() -> None:
    """Each lane ends when it is done, in the gradient too."""
    e, m = np.array([0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    all_of = tp.vmap(residual)
    under = tp.vmap(tp.grad(residual))(e, m)
    wanted = [tp.grad(residual)(a, b) for a, b in zip(e, m)]
    np.testing.assert_allclose(under, wanted, rtol=1e-14)
    np.testing.assert_allclose(np.diag(tp.jacfwd(all_of)(e, m)), wanted, rtol=1e-14)
    np.testing.assert_allclose(np.diag(tp.jacrev(all_of)(e, m)), wanted, rtol=1e-14)


@pytest.mark.numba
def test_compiled(cache_directory: Any) -> None:
    e, m = np.array([0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    fast = tp.jit(tp.vmap(tp.grad(residual)))
    for _ in range(2):
        np.testing.assert_allclose(fast(e, m), [tp.grad(residual)(a, b) for a, b in zip(e, m)], rtol=1e-12)


def doubled_in_place(x, k):
    for i in range(len(x)):
        x[i] *= k
    return np.sum(x)


@pytest.mark.numba
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("made", [tp.jit, lambda f: f], ids=["compiled", "interpreted"])
def test_what_is_written_is_written_in_each_lane(cache_directory: Any, axis: int, made: Any) -> None:
    x, k = np.arange(12.0).reshape(3, 4), np.array([2.0, 3.0, 5.0, 7.0])[: (3, 4)[axis]]
    wanted = x * np.expand_dims(k, 1 - axis)
    found = made(tp.vmap(doubled_in_place, in_axes=(axis, 0)))(x, k)
    np.testing.assert_array_equal(x, wanted)
    np.testing.assert_allclose(found, wanted.sum(axis=1 - axis), rtol=1e-15)


def told(x, n):
    for k in range(n):
        print(k, x)
    if x > 1.0:
        raise ValueError(f"{x} is too large")
    return x * 2.0


def test_what_is_printed_and_raised_is_in_the_order_of_lanes(capsys: Any) -> None:
    g = tp.vmap(told, in_axes=(0, None))
    assert g(np.array([0.25, 0.5]), 2).tolist() == [0.5, 1.0]
    assert capsys.readouterr().out == "0 0.25\n1 0.25\n0 0.5\n1 0.5\n"
    with pytest.raises(ValueError, match=r"2.0 is too large \(lane 1\)"):
        g(np.array([0.5, 2.0, 3.0]), 1)
    assert capsys.readouterr().out == "0 0.5\n0 2.0\n"


def windowed(x, i, j):
    """A size that all lanes share and that only the run knows."""
    y = x[i:j]
    if y[0] > 1.0:
        y = y * 2.0
    return y


@pytest.mark.numba
def test_a_size_of_the_run_that_lanes_share(cache_directory: Any) -> None:
    x = np.arange(12.0).reshape(3, 4)
    g = tp.vmap(windowed, in_axes=(0, None, None))
    for made in (g, tp.jit(g)):
        np.testing.assert_array_equal(made(x, 1, 3), [windowed(row, 1, 3) for row in x])


def masked_rows(a):
    """In its gradient the size of what the mask picks is that of two regions."""
    other = a
    d = np.mean(a, axis=0)
    a[d > 0.0] = d
    other += np.sin(a)
    return np.sum(a)


def returned_early(y):
    """What the loop leaves without a value is read by lane behind it."""
    for _ in range(0):
        return np.sum(y)
    assert y[1]
    return 0.5


@pytest.mark.parametrize("by_lane", [False, True])
def test_found_by_fuzz(by_lane: bool) -> None:
    a = np.random.default_rng(1).standard_normal((2, 3, 3))
    with order(by_lane):
        found = tp.vmap(tp.grad(masked_rows))(a.copy())
        twice = tp.vmap(tp.vmap(returned_early))(a)
    np.testing.assert_allclose(found, [tp.grad(masked_rows)(one) for one in a], rtol=1e-12)
    np.testing.assert_allclose(twice, [[returned_early(row) for row in one] for one in a], rtol=1e-12)


SOME = np.array([True, False, True])


def rows_filled(a):
    a[a[:, 0] > 0.0] = 0.5


def rows_filled_alike(a):
    a[SOME] = 0.5


def places_of_rows_filled(a):
    a[a[:, 0] > 0.0, 1] = 0.5


def columns_filled(a):
    a[:, a[0] > 0.0] = 0.5


def row_added_to(a):
    a[1, a[0] > 0.0] += 0.5


def signs_turned(a):
    a[a > 0.0] = -a[a > 0.0]


@pytest.mark.parametrize("by_lane", [False, True])
@pytest.mark.parametrize(
    "f", [rows_filled, rows_filled_alike, places_of_rows_filled, columns_filled, row_added_to, signs_turned]
)
def test_masks_of_each_lane(f: Any, by_lane: bool) -> None:
    a = np.random.default_rng(2).standard_normal((4, 3, 3))
    wanted = a.copy()
    for one in wanted:
        f(one)
    with order(by_lane):
        tp.vmap(f)(a)
    np.testing.assert_array_equal(a, wanted)


def counted(x, k):
    """Memory that all lanes fill alike, between what each of them prints."""
    seen = np.zeros(3)
    for i in range(k):
        seen[i] += i + 1.0
        print(i, x)
    return x * np.sum(seen)


def halved(x):
    print(x)
    while x > 1.0:
        x = x * 0.5
    y = np.sin(x)
    print(y > 0.9)
    return y


@pytest.mark.parametrize("by_lane", [False, True])
def test_memory_that_lanes_share_and_what_they_print_beside(by_lane: bool, capsys: Any) -> None:
    x = np.array([1.5, 2.5])
    with order(by_lane):
        assert tp.vmap(counted, (0, None))(x, 3).tolist() == [9.0, 15.0]
        assert capsys.readouterr().out == "0 1.5\n1 1.5\n2 1.5\n0 2.5\n1 2.5\n2 2.5\n"
        np.testing.assert_array_equal(tp.vmap(halved)(x), np.sin([0.75, 0.625]))
        assert capsys.readouterr().out == "1.5\nFalse\n2.5\nFalse\n"
