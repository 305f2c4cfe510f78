"""Functions with derivatives of their own in lanes: the function and its rule are batched, and no derivative is taken of the
batched function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from custom_cases import CASES, Case
from lane_orders import order
from verified import verify

import transpile as tp
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

WEIGHTS = np.array([0.7, -1.3, 0.4, 1.9, 0.2])
LANES = len(WEIGHTS)
EACH = [(name, axes) for name, case in CASES.items() for axes in case.axes]
IDS = ["-".join([name, *map(str, axes)]) for name, axes in EACH]


def given(case: Case, axes: Any) -> list[Any]:
    """The arguments of all lanes; what they share is that of the first."""
    return [a if axis == 0 else a[0] for a, axis in zip(case.args, axes)]


def lane(args: list[Any], axes: Any, j: int) -> list[Any]:
    return [a[j] if axis == 0 else a for a, axis in zip(args, axes)]


def rules(case: Case, args: list[Any], axes: Any) -> list[np.ndarray]:
    """The derivatives of all lanes by the rule, for each of ``wrt``."""
    each = [case.rule(*lane(args, axes, j)) for j in range(LANES)]
    return [np.array([np.broadcast_to(e[k], np.shape(lane(args, axes, 0)[i])) for e in each])
            for k, i in enumerate(case.wrt)]  # fmt: skip


def weighted(case: Case, axes: Any, found: list[np.ndarray]) -> list[np.ndarray]:
    """The gradient of a weighted sum over the lanes: what they share gets the sum."""
    out = []
    for i, g in zip(case.wrt, found):
        scaled = g * WEIGHTS.reshape(-1, *[1] * (g.ndim - 1))
        out.append(scaled if axes[i] == 0 else scaled.sum(0))
    return out


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def well_formed(f: Any, *args: Any) -> Any:
    verify(lift(Request.of(args, {}), f))
    return f(*args)


@pytest.mark.parametrize("by_lane", [False, True], ids=["whole", "by_lane"])
@pytest.mark.parametrize("name, axes", EACH, ids=IDS)
@pytest.mark.sampled(6)
def test_values_and_rules(name: str, axes: Any, by_lane: bool) -> None:
    case = CASES[name]
    args = given(case, axes)
    wanted = rules(case, args, axes)
    batched = tp.vmap(case.f, in_axes=axes)

    def total(*args: Any) -> Any:
        return np.sum(batched(*args) * WEIGHTS)

    with order(by_lane):
        close(well_formed(batched, *args), [case.f(*lane(args, axes, j)) for j in range(LANES)])
        under = well_formed(tp.vmap(tp.grad(case.f, case.wrt), in_axes=axes), *args)
        over = well_formed(tp.grad(total, case.wrt), *args)
    for found, want in zip(under, wanted, strict=True):
        close(found, want)
    for found, want in zip(over, weighted(case, axes, wanted), strict=True):
        close(found, want)


def test_what_is_whole_has_no_loop_over_lanes() -> None:
    """Neither the function nor its rule, also where the derivative is taken of the function of all lanes."""
    for name, axes in EACH:
        case = CASES[name]
        args = given(case, axes)
        batched = tp.vmap(case.f, in_axes=axes)
        texts = [tp.source(batched, *args), tp.source(tp.grad(lambda *a, f=batched: np.sum(f(*a)), case.wrt), *args)]
        by_lane = not case.whole and not (name == "nondiff" and axes[1] is None)
        assert [("for lane in" in text) for text in texts] == [by_lane] * 2, (name, axes, texts)


@pytest.mark.parametrize("name, axes", [(n, a) for n, a in EACH if CASES[n].forward])
@pytest.mark.sampled(8)
def test_forward(name: str, axes: Any) -> None:
    case = CASES[name]
    args = given(case, axes)
    dots = [np.random.default_rng(k).standard_normal(np.shape(args[i])) for k, i in enumerate(case.wrt)]

    batched, rest = tp.vmap(case.f, in_axes=axes), args[len(case.wrt) :]

    def f(*floats: Any) -> Any:
        return batched(*floats, *rest)

    value, tangent = tp.jvp(f, tuple(args[i] for i in case.wrt), tuple(dots))
    close(value, [case.f(*lane(args, axes, j)) for j in range(LANES)])
    each = rules(case, args, axes)
    wanted = [
        sum(np.sum(g[j] * (d[j] if axes[i] == 0 else d)) for g, d, i in zip(each, dots, case.wrt)) for j in range(LANES)
    ]
    close(tangent, wanted)


@pytest.mark.parametrize("by_lane", [False, True], ids=["whole", "by_lane"])
@pytest.mark.parametrize("name, axes", EACH, ids=IDS)
@pytest.mark.sampled(6)
def test_lanes_of_lanes(name: str, axes: Any, by_lane: bool) -> None:
    """What lanes share within differs outside, and the other way round."""
    case = CASES[name]
    outer = tuple(0 if k in case.wrt else None for k in range(len(axes)))
    args = [np.stack([a, 1.1 * a]) if o == 0 else a for a, o in zip(given(case, axes), outer)]

    def total(*args: Any) -> Any:
        return np.sum(tp.vmap(tp.vmap(case.f, in_axes=axes), in_axes=outer)(*args) * WEIGHTS)

    with order(by_lane):
        values = well_formed(tp.vmap(tp.vmap(case.f, in_axes=axes), in_axes=outer), *args)
        found = well_formed(tp.grad(total, case.wrt), *args)
    rows = [lane(args, outer, r) for r in range(2)]
    close(values, [[case.f(*lane(row, axes, j)) for j in range(LANES)] for row in rows])
    wanted = [weighted(case, axes, rules(case, row, axes)) for row in rows]
    for k, got in enumerate(found):
        close(got, [w[k] for w in wanted])


SECOND = ["jvp", "vjp", "nondiff", "chosen", "root", "root_by_lane", "solved"]


@pytest.mark.parametrize("name", SECOND)
def test_second_order(name: str) -> None:
    """The rules are differentiated in turn: over and under, as in one lane."""
    case = CASES[name]
    axes = case.axes[0]
    args = given(case, axes)
    first = case.wrt[0]

    def total(*args: Any) -> Any:
        return np.sum(tp.vmap(case.f, in_axes=axes)(*args) * WEIGHTS)

    twice = tp.jacrev(tp.grad(case.f, first), first)
    wanted = [twice(*lane(args, axes, j)) for j in range(LANES)]
    close(tp.vmap(twice, in_axes=axes)(*args), wanted)
    over = tp.jacrev(tp.grad(total, first), first)(*args)
    rank = args[first].ndim
    for j in range(LANES):
        for k in range(LANES):
            block = over[(j, *[slice(None)] * (rank - 1), k)]
            close(block, WEIGHTS[j] * np.asarray(wanted[j]) if j == k else np.zeros_like(block))


@pytest.mark.parametrize("lanes", [0, 1])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(8)
def test_few_lanes(name: str, lanes: int) -> None:
    case = CASES[name]
    axes = case.axes[0]
    args = [a[:lanes] for a in given(case, axes)]
    found = tp.vmap(tp.value_and_grad(case.f, case.wrt), in_axes=axes)(*args)
    over = tp.grad(lambda *a: np.sum(tp.vmap(case.f, in_axes=axes)(*a)), case.wrt)(*args)
    assert found[0].shape == (lanes,)
    for k, (under, got) in enumerate(zip(found[1], over)):
        assert under.shape == got.shape == args[case.wrt[k]].shape
        for j in range(lanes):
            close(under[j], case.rule(*lane(args, axes, j))[k])
            close(got[j], case.rule(*lane(args, axes, j))[k])


@pytest.mark.numba
@pytest.mark.parametrize("name", ["jvp", "nondiff", "chosen", "picked", "outside", "root_by_lane", "solved"])
@pytest.mark.sampled(3)
def test_compiled(name: str, cache_directory: Any) -> None:
    case = CASES[name]
    axes = case.axes[0]
    args = given(case, axes)
    wanted = rules(case, args, axes)
    batched = tp.vmap(case.f, in_axes=axes)
    under = tp.jit(tp.vmap(tp.grad(case.f, case.wrt), in_axes=axes))(*args)
    over = tp.jit(tp.grad(lambda *a: np.sum(batched(*a) * WEIGHTS), case.wrt))(*args)
    close(tp.jit(batched)(*args), [case.f(*lane(args, axes, j)) for j in range(LANES)])
    for got, want in zip(under, wanted, strict=True):
        close(got, want)
    for got, want in zip(over, weighted(case, axes, wanted), strict=True):
        close(got, want)
