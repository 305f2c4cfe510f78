"""The walk over the rule tables, batched: every primitive with every example, each subset of its operands with lanes, beside the
lanes one by one; and so are its forward and its reverse derivative.

What NumPy computes element by element is the same to the bit; sums of products are within rounding.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from core_eval import evaluate
from rule_check import Program, active_args
from rule_points import POINTS
from test_rules import EXAMPLES, PRIMS, arguments, build_of, example, function_of, wrt
from verified import verify

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.errors import TranspileError
from transpile.ops.reduction import sample
from transpile.transform.batching import batch
from transpile.transform.jvp import jvp
from transpile.transform.vjp import vjp

LANES = (0, 1, 2, 7, 33)
VECTOR, GRID, TIES = sample(5)(), sample(3, 4)(), (np.array([2.0, 1.0, 2.0, 0.5]),)
TABLE = np.array([-1.0, 0.0, 0.5, 2.0])
BITS = (np.array([[True, False, False], [True, True, False]]),)
KEY = (np.array([7, 9], np.uint32),)


def _examples(*args: tuple[Any, ...], **params: Sequence[Any]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Each of the arguments with each choice of the parameters."""
    choices = [dict(zip(params, chosen)) for chosen in product(*params.values())]
    return [(a, choice) for a in args for choice in choices]


SIZES = [(), (3,), (2, 3)]
OF_OUR_OWN: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    **dict.fromkeys(
        ("all", "any", "count_nonzero"), _examples(BITS, axes=[(0,), (1,), (0, 1)], keepdims=[False, True])
    ),
    **dict.fromkeys(
        ("argmax", "argmin"),
        [
            *_examples(VECTOR, TIES, GRID, axis=[None], keepdims=[False]),
            *_examples(GRID, axis=[None, 0, 1], keepdims=[True, False]),
        ],
    ),
    "argsort": _examples(VECTOR, axis=[0], kind=["stable"]) + _examples(GRID, axis=[0, 1], kind=["stable"]),
    "argpartition": _examples(VECTOR, axis=[0], kth=[1]) + _examples(GRID, axis=[0, 1], kth=[1]),
    "searchsorted": _examples(*((TABLE, x) for (x,) in (VECTOR, GRID)), side=["left", "right"]),
    "digitize": _examples(*((x, TABLE) for (x,) in (VECTOR, GRID)), right=[False, True]),
    "lexsort": _examples((*TIES, *TIES)),
    "isin": _examples((np.array([[1, 2], [5, 4]]), np.array([2, 5, 7])), invert=[False, True]),
    "matrix_rank": _examples((np.eye(3),), (np.ones((2, 3, 3)),)),
    "random_split": _examples(KEY, dims=[tuple(map(Dim, s)) for s in SIZES]),
    "random_bits": _examples(KEY, dims=[tuple(map(Dim, s)) for s in SIZES], dtype=["uint32", "uint64"]),
    **dict.fromkeys(
        ("random_unit", "random_normal"),
        _examples(KEY, dims=[tuple(map(Dim, s)) for s in SIZES], dtype=["float64", "float32"]),
    ),
    "random_fold_in": _examples((*KEY, np.uint32(3))),
    "random_poisson": _examples(*((*KEY, np.linspace(0.3, 25.0, math.prod(s)).reshape(s)[()]) for s in SIZES)),
    "random_binomial": _examples(
        *((*KEY, np.full(s, 40.0)[()], np.linspace(0.1, 0.9, math.prod(s)).reshape(s)[()]) for s in SIZES)
    ),
    "random_log_gamma": _examples(*((*KEY, np.linspace(0.3, 2.5, math.prod(s)).reshape(s)[()]) for s in SIZES)),
}
ELEMENTWISE = [(name, -1) for name, p in PRIMS.items() if p.elementwise and name in POINTS]
WITHOUT = [(name, k) for name, p in PRIMS.items() for k in range(len(p.examples)) if p.is_zero]
OWN = [(name, k) for name, cases in OF_OUR_OWN.items() for k in range(len(cases))]
CASES = [*ELEMENTWISE, *EXAMPLES, *WITHOUT, *OWN]
ROUNDED = {
    "matmul",
    "tensordot",
    "einsum",
    "solve",
    "solve_triangular",
    "norm",
}  # sums that NumPy takes in another order for several lanes
SORTED = {"interp", "searchsorted", "digitize"}  # their tables stay in order
OTHER_SIZES = {("index", 2): "a slice whose bounds differ has another size in each lane"}


def of_lane(value: Any, j: int, is_rolled: bool) -> Any:
    """What lane ``j`` has in the place of ``value``: other points, in another order; or, of matrices, a multiple."""
    x = np.asarray(value)
    if x.dtype == np.uint32 and x.ndim:  # a key
        return x + np.uint32(j)
    if x.dtype.kind == "f" and not is_rolled:
        return (x * (1 - 0.01 * j)).astype(x.dtype)[()]
    if x.ndim == 0 and x.dtype.kind in "iu":
        return (x - (is_rolled and j % 2 and x > 0)).astype(x.dtype)[()]
    return np.roll(x, j)[()] if x.ndim else x[()]


def made(name: str, k: int) -> tuple[Any, Sequence[Any]]:
    """The builder of an example and its arguments."""
    if name in OF_OUR_OWN:
        args, params = OF_OUR_OWN[name][k]
        return lambda b, *xs: b.let(name, *xs, **params), args
    return (build_of(name), arguments(name)[0]) if k < 0 else example(name, k)


class Case:
    """A function of one primitive, and lanes of its operands."""

    def __init__(self, name: str, k: int, derivative: str = "") -> None:
        self.name = name
        build, args = made(name, k)
        self.args = list(args)
        program = Program(build, self.args)
        self.fn = function_of(program)
        if derivative:
            values = [v for v, o in zip(program.value(), program.outs) if o.type.is_float]
            active = wrt(name, args) if k < 0 else active_args(args)
            rng = np.random.default_rng(1)
            forward = derivative == "jvp"
            self.fn = jvp(self.fn, active, value=False) if forward else vjp(self.fn, active, seeds=True)
            like = [args[j] for j in active] if forward else values
            self.args += [np.asarray(rng.standard_normal(np.shape(v)), np.asarray(v).dtype)[()] for v in like]
        self.is_rounded = bool(derivative) or name in ROUNDED

    def subsets(self) -> Iterator[tuple[int, ...]]:
        """Which operands have lanes: of many all, each alone, and all but one."""
        n = len(self.args)
        for count in range(1, n + 1) if n <= 3 else (1, n - 1, n):
            yield from combinations(range(n), count)

    @cached_property
    def lane_results(self) -> dict[tuple[int, ...], tuple[list[list[Any]], list[Any]]]:
        return {}

    def lanes(self, subset: tuple[int, ...], count: int) -> tuple[list[list[Any]], list[Any]]:
        """The operands of each lane and its results. Where operands that are rolled do not fit one another, multiples."""
        if subset not in self.lane_results:
            for is_rolled in (False,) if self.name in SORTED else (True, False):
                each = [
                    [of_lane(a, j, is_rolled) if k in subset else a for k, a in enumerate(self.args)]
                    for j in range(count)
                ]
                try:
                    results = [run(self.fn, e) for e in each]
                except (np.linalg.LinAlgError, AssertionError, ValueError):
                    assert is_rolled
                    continue
                self.lane_results[subset] = each, results
                break
        return self.lane_results[subset]

    def check(self, counts: Sequence[int], orders: Sequence[bool]) -> None:
        ranks = [np.ndim(a) for a in self.args]
        for number, subset in enumerate(self.subsets()):
            axes = [(number + k) % (r + 1) if k in subset else None for k, r in enumerate(ranks)]
            outs = [number % (y.type.rank + 1) for y in self.fn.body.yields]
            each, results = self.lanes(subset, max(counts))
            for by_lane in orders:
                done = batch(self.fn, axes, outs, together=by_lane)
                verify(done)
                for lanes in counts:
                    found = run(done, self.whole(each[:lanes], axes))
                    for q, (got, out) in enumerate(zip(found, outs)):
                        wanted = stacked([r[q] for r in results[:lanes]], results[0][q], out)
                        self.same(got, wanted, f"{self.name} of {lanes} lanes, axes {axes}, by lane: {by_lane}")

    def whole(self, each: Sequence[Sequence[Any]], axes: Sequence[int | None]) -> list[Any]:
        return [
            a if axis is None else stacked([e[k] for e in each], a, axis)
            for k, (a, axis) in enumerate(zip(self.args, axes))
        ]

    def same(self, got: Any, wanted: np.ndarray, what: str) -> None:
        got = np.asarray(got)
        assert got.dtype == wanted.dtype, what
        if self.is_rounded and got.dtype.kind == "f":
            assert got.shape == wanted.shape, what
            scale = float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-300))
            np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=32 * np.finfo(got.dtype).eps * scale, err_msg=what)
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=what, strict=True)


def stacked(each: Sequence[Any], like: Any, axis: int) -> np.ndarray:
    one = np.asarray(like)
    if not each:
        return np.empty((*one.shape[:axis], 0, *one.shape[axis:]), one.dtype)
    return np.stack([np.asarray(e) for e in each], axis)


def run(fn: ir.Function, args: Sequence[Any]) -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return evaluate(fn, *[a.copy() if isinstance(a, np.ndarray) else a for a in args])


@pytest.mark.parametrize(("name", "k"), [c for c in CASES if c not in OTHER_SIZES])
def test_values(name: str, k: int) -> None:
    Case(name, k).check((2, 0), (False,))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), [c for c in CASES if c not in OTHER_SIZES])
def test_values_of_more_lanes_and_lane_by_lane(name: str, k: int) -> None:
    Case(name, k).check(LANES, (False, True))


@pytest.mark.parametrize(("name", "k"), OTHER_SIZES)
def test_sizes_that_differ_are_refused(name: str, k: int) -> None:
    case = Case(name, k)
    for subset in case.subsets():
        axes = [0 if j in subset else None for j in range(len(case.args))]
        if subset != (0,):  # which is no size
            with pytest.raises(TranspileError, match="may differ between lanes"):
                batch(case.fn, axes, [0])


DERIVED = [c for c in CASES if not PRIMS[c[0]].is_zero and not PRIMS[c[0]].is_refused and c not in OTHER_SIZES]


@pytest.mark.slow
@pytest.mark.parametrize("derivative", ["jvp", "vjp"])
@pytest.mark.parametrize(("name", "k"), DERIVED)
def test_derivatives(name: str, k: int, derivative: str) -> None:
    Case(name, k, derivative).check((3, 0), (False, True))


# ------------------------------------------------------------------------------------------------ lanes are apart


def _has_floats(case: tuple[str, int]) -> bool:
    return case not in OTHER_SIZES and any(np.asarray(a).dtype.kind == "f" for a in made(*case)[1])


WITH_FLOATS = [c for c in CASES if _has_floats(c)]


@pytest.mark.parametrize("by_lane", [False, True])
@pytest.mark.parametrize(("name", "k"), WITH_FLOATS)
def test_a_lane_of_nan_is_alone(name: str, k: int, by_lane: bool) -> None:
    """What a lane has does not change what other lanes get, to the bit."""
    case = Case(name, k)
    subset = tuple(j for j, a in enumerate(case.args) if np.asarray(a).dtype.kind == "f")
    axes = [0 if j in subset else None for j in range(len(case.args))]
    each, _ = case.lanes(subset, 5)
    done = batch(case.fn, axes, [0] * len(case.fn.body.yields), together=by_lane)
    wanted = run(done, case.whole(each, axes))
    each[2] = [np.full_like(a, np.nan) if j in subset else a for j, a in enumerate(each[2])]
    try:
        found = run(done, case.whole(each, axes))
    except (np.linalg.LinAlgError, ValueError) as refused:
        with pytest.raises(type(refused)):
            run(case.fn, each[2])
        return
    for got, clean in zip(found, wanted):
        np.testing.assert_array_equal(np.delete(got, 2, 0), np.delete(clean, 2, 0))


# ------------------------------------------------------------------------------------------------------- compiled

FEW = [("tanh", -1), ("cumsum", 0), ("matmul", 1), ("sort", 0), ("index", 5)]
FREE = {"eigh", "svd", "qr"}  # the signs of their vectors
COMPILED = [c for c in CASES if c not in OTHER_SIZES and c[0] not in FREE]


@pytest.mark.numba
@pytest.mark.parametrize(("name", "k"), [pytest.param(*c, marks=[pytest.mark.slow] * (c not in FEW)) for c in COMPILED])
def test_compiled(name: str, k: int) -> None:
    from transpile.driver.backend import Options, compile_core

    case = Case(name, k)
    case.is_rounded = True
    subset = tuple(range(len(case.args)))
    axes = [k % (np.ndim(a) + 1) for k, a in enumerate(case.args)]
    outs = [y.type.rank for y in case.fn.body.yields]
    each, results = case.lanes(subset, 5)
    for by_lane in (True, False):
        kernel = compile_core(batch(case.fn, axes, outs, together=by_lane), Options(), cache=False)
        for lanes in (5, 0):
            found = kernel(*case.whole(each[:lanes], axes))
            for q, (got, out) in enumerate(zip(found if isinstance(found, tuple) else (found,), outs)):
                wanted = stacked([r[q] for r in results[:lanes]], results[0][q], out)
                case.same(got, wanted, f"{name} compiled, by lane: {by_lane}")
