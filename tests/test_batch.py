"""Functions of all lanes beside the function of one, lane by lane."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from corpus import all_programs

import transpile as tp
from transpile import lifts
from transpile.api import Transformed
from transpile.levels import Level, level_of
from transpile.transform.batch import by_lane
from transpile.tree import ArgLeaf, flatten, map_leaves

PROGRAMS = {p.name: p for p in all_programs()}


class ByLane(Level):
    """All lanes of the arguments whose axis is a number; results have the lanes at ``out``."""

    __slots__ = ("axes", "out")
    suffix = "vmap"

    def __init__(self, axes: tuple[int | None, ...], out: int = 0) -> None:
        self.axes, self.out = axes, out


def _lift(level: ByLane, inner: Any, fn: Any, args: Any, kwargs: Any) -> Any:
    flat: list[int | None] = []

    def lane(leaf: ArgLeaf, axis: int | None) -> ArgLeaf:
        flat.append(axis)
        if axis is None:
            return leaf
        dims, example = leaf.type.dims, leaf.example
        one = None
        if example is not None:
            one = (
                np.take(example, 0, axis)
                if example.shape[axis]
                else np.ones(np.delete(example.shape, axis), example.dtype)
            )
        return ArgLeaf(leaf.type.with_dims(dims[:axis] + dims[axis + 1 :]), one)

    lanes = [
        lane(t, a) if isinstance(t, ArgLeaf) else map_leaves(t, lambda leaf, a=a: lane(leaf, a))
        for t, a in zip(args, level.axes)
    ]
    core = inner(fn, lanes, kwargs)
    axes = [*flat, *[None] * (len(core.params) - len(flat))]
    return by_lane(core, axes, [min(level.out, y.type.rank) for y in core.body.yields])


lifts._LIFTS[ByLane] = _lift


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


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str) -> None:
    program = PROGRAMS[name]
    axes, whole, each = stacked(program, 3)
    if set(axes) == {None}:
        pytest.skip("no floats")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [flatten(program.fn(*args))[0] for args in each]
        try:
            found, _ = flatten(Transformed(program.fn, ByLane(axes))(*whole))
        except tp.TranspileError as e:
            assert e.codes == ("T205",)
            assert "may differ between lanes" in str(e)
            return
    for j, lane in enumerate(wanted):
        assert len(found) == len(lane)
        for x, y in zip(found, lane):
            np.testing.assert_allclose(x[j], y, rtol=1e-12, atol=1e-14)


def weighted(x, w, k):
    total = 0.0
    while total < k:
        total += np.sum(x * w) ** 2 + 0.1
    return total, w * total


@pytest.mark.parametrize("axes, out", [((0, None, 0), 0), ((1, None, 0), 1), ((None, 0, 0), 1), ((1, 1, None), 0)])
@pytest.mark.parametrize("lanes", [0, 1, 2, 7])
def test_axes(axes: tuple[int | None, ...], out: int, lanes: int) -> None:
    rng = np.random.default_rng(0)

    def made(axis: int | None) -> np.ndarray:
        one = rng.uniform(0.1, 1.0, (lanes, 4))
        return one[0] if axis is None and lanes else np.ones(4) if axis is None else np.moveaxis(one, 0, axis)

    x, w = made(axes[0]), made(axes[1])
    k = rng.uniform(0.5, 2.0, lanes) if axes[2] == 0 else 1.5
    total, scaled = Transformed(weighted, ByLane(axes, out))(x, w, k)
    assert total.shape == (lanes,)
    assert scaled.shape == ((lanes, 4) if out == 0 else (4, lanes))
    for j in range(lanes):
        args = [v if a is None else np.take(v, j, a) for v, a in zip((x, w, k), axes)]
        one = weighted(*args)
        assert total[j] == one[0]
        np.testing.assert_array_equal(np.take(scaled, j, out), one[1])


def residual(e, m):
    x = m
    while abs(x - e * np.sin(x) - m) > 1e-12:
        x = x - (x - e * np.sin(x) - m) / (1.0 - e * np.cos(x))
    return x


def test_derivatives_over_and_under() -> None:
    """Each lane ends when it is done, in the gradient too."""
    e, m = np.array([0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    all_of = Transformed(residual, ByLane((0, 0)))
    under = Transformed(tp.grad(residual), ByLane((0, 0)))(e, m)
    wanted = [tp.grad(residual)(a, b) for a, b in zip(e, m)]
    np.testing.assert_allclose(under, wanted, rtol=1e-14)
    np.testing.assert_allclose(np.diag(tp.jacfwd(all_of)(e, m)), wanted, rtol=1e-14)
    np.testing.assert_allclose(np.diag(tp.jacrev(all_of)(e, m)), wanted, rtol=1e-14)
    assert isinstance(level_of(all_of), ByLane)


@pytest.mark.numba
def test_compiled(cache_directory: Any) -> None:
    e, m = np.array([0.1, 0.5, 0.9]), np.array([1.0, 2.0, 3.0])
    fast = tp.jit(Transformed(tp.grad(residual), ByLane((0, 0))))
    for _ in range(2):
        np.testing.assert_allclose(fast(e, m), [tp.grad(residual)(a, b) for a, b in zip(e, m)], rtol=1e-12)


def doubled_in_place(x, k):
    for i in range(len(x)):
        x[i] *= k
    return np.sum(x)


@pytest.mark.numba
@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_written_is_written_in_each_lane(cache_directory: Any, axis: int) -> None:
    x, k = np.arange(12.0).reshape(3, 4), np.array([2.0, 3.0, 5.0, 7.0])[: (3, 4)[axis]]
    wanted = x * np.expand_dims(k, 1 - axis)
    found = tp.jit(Transformed(doubled_in_place, ByLane((axis, 0))))(x, k)
    np.testing.assert_array_equal(x, wanted)
    np.testing.assert_allclose(found, wanted.sum(axis=1 - axis), rtol=1e-15)


def told(x, n):
    for k in range(n):
        print(k, x)
    if x > 1.0:
        raise ValueError(f"{x} is too large")
    return x * 2.0


def test_what_is_printed_and_raised_is_in_the_order_of_lanes(capsys: Any) -> None:
    g = Transformed(told, ByLane((0, None)))
    assert g(np.array([0.25, 0.5]), 2).tolist() == [0.5, 1.0]
    assert capsys.readouterr().out == "0 0.25\n1 0.25\n0 0.5\n1 0.5\n"
    with pytest.raises(ValueError, match="2.0 is too large"):
        g(np.array([0.5, 2.0, 3.0]), 1)
    assert capsys.readouterr().out == "0 0.5\n0 2.0\n"
