"""Collectives over a named axis, beside lanes that are threads, differences of these, and JAX."""

from __future__ import annotations

import importlib.util
from types import FunctionType
from typing import Any

import lanes_in_threads as threads
import numpy as np
import pytest
from collective_cases import CASES, V, X
from differences import Subject, same
from lane_orders import order
from verified import verify

import transpile as tp
from transpile import lax
from transpile.aggregates import flatten
from transpile.base.axis_names import NamedAxis, binding
from transpile.core import nodes as ir
from transpile.core.walk import statements
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request
from transpile.ops.tables import prims
from transpile.tree import map as map_leaves

COLLECTIVES = {r.name for r in prims().values() if r.collective}
KINKS = {"ties"}  # where differences say nothing
NAN = {"with_nan"}


def floats(tree: Any) -> list[np.ndarray]:
    return [leaf for leaf in flatten(tree)[0] if np.asarray(leaf).dtype.kind == "f"]


def chosen(args: tuple) -> tuple[int, ...]:
    return tuple(k for k, a in enumerate(args) if floats(a))


def total(f: Any) -> Any:
    """The sum of all lanes' losses as a function of all lanes' arguments."""

    def run(*args: Any) -> float:
        return sum(np.sum(np.sin(3.0 * leaf)) for leaf in floats(f(*args)))

    return run


@pytest.mark.parametrize("compiled", [False, True], ids=["whole", "by_lane"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, compiled: bool) -> None:
    f, args, in_axes = CASES[name]
    wanted = threads.vmap(f, in_axes, "i")(*args)
    batched = tp.vmap(f, in_axes, axis_name="i")
    with order(compiled), np.errstate(all="ignore"):
        verify(lift(Request.of(args, {}), batched))
        found = batched(*args)
    leaves, others = flatten(found)[0], flatten(wanted)[0]
    assert len(leaves) == len(others)
    for a, b in zip(leaves, others):
        same(a, b, name, 1e-13)


@pytest.mark.parametrize("name", [n for n in CASES if n not in KINKS | NAN])
@pytest.mark.sampled(8)
def test_derivatives_of_all_lanes(name: str) -> None:
    """Over the vmap: forward and reverse, against differences of the threads."""
    f, args, in_axes = CASES[name]
    oracle, batched = threads.vmap(f, in_axes, "i"), tp.vmap(f, in_axes, axis_name="i")
    subject = Subject(oracle, lambda: args, chosen(args))
    _, tangent = tp.jvp(batched, args, subject.tangents)
    difference = subject.difference
    for a, b, e in zip(floats(tangent), difference.leaves, difference.errors):
        same(a, b, name, 1e-7, error=10 * e)
    value, pullback = tp.vjp(batched, *args)
    bars = pullback(subject.cotangent)
    forward = sum(np.sum(p * q) for p, q in zip(floats(subject.cotangent), floats(tangent)))
    reverse = sum(
        np.sum(p * q)
        for p, q in zip(floats([bars[k] for k in chosen(args)]), floats([subject.tangents[k] for k in chosen(args)]))
    )
    same(reverse, forward, name, 1e-10, 1.0)


@pytest.mark.parametrize("name", [n for n in CASES if n not in KINKS | NAN])
@pytest.mark.sampled(8)
def test_derivatives_of_a_lane(name: str) -> None:
    """Under the vmap: each lane has the gradient of the sum of all lanes' results; its tangent is that of the function of all."""
    f, args, in_axes = CASES[name]
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    moved = tuple(k for k in chosen(args) if axes[k] is not None)

    def of_lane(*args: Any) -> Any:
        return _sum(f(*args))

    subject = Subject(total(threads.vmap(f, in_axes, "i")), lambda: args, moved)
    gradient = tp.vmap(tp.grad(of_lane, moved), in_axes, axis_name="i")(*args)
    along = sum(np.sum(p * q) for p, q in zip(floats(gradient), floats([subject.tangents[k] for k in moved])))
    same(along, subject.difference.leaves[0], name, 1e-7, 1.0, error=10 * subject.difference.errors[0])

    def pushed(args: Any, tangents: Any) -> Any:
        return tp.jvp(f, args, tangents)[1]

    tangents = subject.tangents
    each = tp.vmap(pushed, (axes, axes), axis_name="i")(args, tangents)
    _, wanted = tp.jvp(tp.vmap(f, in_axes, axis_name="i"), args, tangents)
    for a, b in zip(floats(each), floats(wanted)):
        same(a, b, name, 1e-11)


def _sum(y: Any) -> Any:
    """The loss of one lane."""
    if isinstance(y, dict):
        return sum([np.sum(np.sin(3.0 * v)) for v in y.values()])
    if isinstance(y, tuple):
        return sum([np.sum(np.sin(3.0 * v)) for v in y])
    return np.sum(np.sin(3.0 * y))


def _compiled(name: str) -> None:
    f, args, in_axes = CASES[name]
    batched = tp.vmap(f, in_axes, axis_name="i")
    with np.errstate(all="ignore"):
        wanted, found = batched(*args), tp.jit(batched)(*args)
    for a, b in zip(flatten(found)[0], flatten(wanted)[0]):
        same(a, b, name, 1e-12)
    moved = tuple(k for k, a in enumerate(args) if floats(a) and in_axes in (0, (0,) * len(args)))
    if moved:
        gradient = tp.vmap(tp.grad(lambda *a: _sum(f(*a)), moved), in_axes, axis_name="i")
        for a, b in zip(flatten(tp.jit(gradient)(*args))[0], flatten(gradient(*args))[0]):
            same(a, b, name, 1e-11)


@pytest.mark.numba
@pytest.mark.parametrize("name", ["softmax_over_lanes", "chain", "each_its_loop", "permuted_by_data", "lanes_in_lanes"])
def test_compiled(name: str) -> None:
    _compiled(name)


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in NAN])
def test_all_compiled(name: str) -> None:
    _compiled(name)


NOT_IN_JAX = set(
    "each_its_loop regions_around written until_all_are_done outer_axis_of_a_region permuted_by_data "
    "by_number recurrence overwritten_behind loops_before_and_behind numbered_by_data numbered_in_lanes_of_lanes "  # it traces
    "chain heat_with_halos numbers_in_numbers".split()  # its vmap wants whole permutations, and gathers along one axis
)


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
@pytest.mark.parametrize("name", [n for n in CASES if n not in NOT_IN_JAX])
def test_as_jax(name: str) -> None:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    f, args, in_axes = CASES[name]
    theirs = FunctionType(f.__code__, {**f.__globals__, "np": jnp, "lax": jax.lax, "tp": jax}, f.__name__)
    wanted = jax.vmap(theirs, in_axes, axis_name="i")(*args)
    with np.errstate(all="ignore"):
        found = tp.vmap(f, in_axes, axis_name="i")(*args)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted)):
        same(np.asarray(a, float), np.asarray(b, float), name, 1e-12)
    if name in KINKS | NAN or f is CASES["lanes_in_lanes"][0] or "pmax" in f.__code__.co_names or in_axes != 0:
        return  # JAX has no derivative of pmax
    moved = chosen(args)

    def loss(y: Any) -> Any:
        return sum(jnp.sum(jnp.sin(3.0 * v)) for v in jax.tree.leaves(y))

    each = jax.vmap(jax.grad(lambda *a: loss(theirs(*a)), moved), axis_name="i")(*args)
    mine = tp.vmap(tp.grad(lambda *a: _sum(f(*a)), moved), axis_name="i")(*args)
    for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(each)):
        same(a, np.asarray(b), name, 1e-11)


@pytest.mark.parametrize("lanes", [0, 1, 2, 7])
def test_numbers_of_lanes(lanes: int) -> None:
    x = np.linspace(0.5, 2.0, 2 * lanes).reshape(lanes, 2)
    found = tp.vmap(lambda v: v * lax.psum(v, "i") + lax.axis_index("i") / lax.axis_size("i"), axis_name="i")(x)
    same(found, x * x.sum(axis=0) + (np.arange(lanes) / max(lanes, 1))[:, None], "lanes", 1e-15)
    assert tp.vmap(lambda v: lax.all_gather(v, "i"), axis_name="i")(x).shape == (lanes, lanes, 2)


def test_the_number_of_lanes_by_axis_size() -> None:
    """No argument has lanes, or none that is read."""
    f = tp.vmap(lambda x: x * lax.psum(lax.axis_index("i"), "i"), in_axes=None, axis_name="i", axis_size=5)
    assert f(2.0).tolist() == [20.0] * 5
    unread = tp.vmap(lambda x: lax.all_gather(lax.axis_index("i"), "i"), axis_name="i")
    assert unread(np.zeros(3)).tolist() == [[0, 1, 2]] * 3


def test_sizes_that_are_those_of_the_lanes() -> None:
    """A size that is the number of lanes in the example, and in another call is not."""

    def f(x, y):
        return lax.all_gather(x, "i") @ y

    batched = tp.vmap(f, in_axes=(0, None), axis_name="i")
    assert batched(V, V).shape == (4,)
    with pytest.raises(ValueError, match="y has shape"):
        batched(V, V[:3])

    def square(m, x):
        return m * lax.axis_size("i") + x

    again = tp.vmap(square, in_axes=(None, 0), axis_name="i")
    for n, k in ((4, 4), (3, 4), (4, 2)):
        m, x = np.ones((n, k)), np.arange(float(k))
        same(again(m, x), k * m + x[:, None, None], "sizes", 1e-15)


def test_a_derivative_inside() -> None:
    """A function that is transformed inside reads the axis of the function around."""

    def f(x):
        return tp.grad(lambda v: lax.psum(v**3, "i") * x)(x)

    def f_written(x):
        return 3 * x**2 * np.sum(x)

    same(tp.vmap(f, axis_name="i")(V), f_written(V), "inside", 1e-13)

    def with_pullback(x):
        y, pull = tp.vjp(lambda v: v * lax.pmean(v, "i"), x)
        return y + pull(1.0)[0]

    same(tp.vmap(with_pullback, axis_name="i")(V), V * V.mean() + V.mean() + V.sum() / 4, "pullback", 1e-13)


def test_second_order() -> None:
    def f(x):
        return np.sum(np.sin(x) * lax.psum(x * x, "i") * lax.pmax(x, "i"))

    def of_all(x):
        return np.sum(tp.vmap(f, axis_name="i")(x))

    assert tp.check_grads(of_all, (X,), order=2) is None
    by_lane = tp.vmap(lambda x, v: tp.jvp(tp.grad(f), (x,), (v,))[1], axis_name="i")(X, X)
    same(by_lane, tp.hvp(of_all, (X,), (X,)), "second order", 1e-11)
    same(tp.vmap(tp.hessian(f), axis_name="i", in_axes=0)(X[:1]), tp.hessian(of_all)(X[:1])[:, :, 0], "one lane", 1e-11)


def test_each_primitive_is_in_a_case() -> None:
    found: set[str] = set()
    for f, args, in_axes in CASES.values():
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
        one = tuple(a if axis is None else map_leaves(lambda leaf: leaf[0], a) for a, axis in zip(args, axes))
        with binding(NamedAxis("i", 4)):
            lets = statements(lift(Request.of(one, {}), f).body)
        found |= {s.prim for s in lets if isinstance(s, ir.Let)} & COLLECTIVES
    assert found == COLLECTIVES


REFUSED = [
    ("T604", "no axis is named 'j'", lambda x: lax.psum(x, "j")),
    ("T604", "the names here are 'i'", lambda x: lax.axis_index("rows") * x),
    ("T604", "no axis is named", lambda x: lax.all_gather(x, ("i", "j"))),
    (
        "T605",
        "psum is in a branch or loop that lanes of the batch take differently",
        lambda x: lax.psum(x, "i") if x > 0.0 else x,
    ),
    ("T605", "must differ", lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)])),
    ("T605", "differs between lanes", lambda x: lax.ppermute(x, "i", np.array([[0, 1]]) * (x > 0.0))),
    ("T131", "not a list of pairs", lambda x: lax.ppermute(x, "i", [0, 1])),
    ("T131", "axis_index_groups", lambda x: lax.psum(x, "i", axis_index_groups=[[0, 1], [2, 3]])),
    ("T203", "axis 2", lambda x: lax.all_gather(x, "i", axis=2)),
    ("T203", "psum_scatter over", lambda x: lax.psum_scatter(np.ones(3) * x, "i")),
]


@pytest.mark.parametrize("code, text, f", REFUSED)
def test_refused(code: str, text: str, f: Any) -> None:
    with pytest.raises(tp.TranspileError, match=text) as caught:
        tp.vmap(f, axis_name="i")(V)
    (found,) = caught.value.diagnostics
    assert found.code == code and found.loc.line and found.hint


def test_a_plain_run_is_refused() -> None:
    for name in sorted(COLLECTIVES):
        options = {"ppermute": ([(0, 0)],)}.get(name, ())
        with pytest.raises(tp.TranspileError, match="no axis is named"):
            getattr(lax, name)(*(() if name == "axis_index" else (V,)), "i", *options)


def test_senders_that_only_the_run_knows() -> None:
    f = tp.vmap(lambda x, perm: lax.ppermute(x, "i", perm), in_axes=(0, None), axis_name="i")
    assert f(V, np.array([[1, 0]])).tolist() == [V[1], 0, 0, 0]
    with pytest.raises(ValueError, match="must differ"):
        f(V, np.array([[1, 0], [1, 2]]))
    with pytest.raises(IndexError):
        f(V, np.array([[1, 7]]))


def test_the_text_is_batched_numpy() -> None:
    text = tp.source(tp.vmap(lambda x: x / lax.psum(x, "i"), axis_name="i"), V)
    assert "return x / np.sum(x)" in text and "for" not in text.split('"""')[2]
    assert "float64[rows]" in tp.source(tp.vmap(lambda x: x / lax.psum(x, "rows"), axis_name="rows"), V)


@pytest.mark.parametrize("prim, fold", [(lax.pmax, np.max), (lax.pmin, np.min)])
def test_equal_lanes_share(prim: Any, fold: Any) -> None:
    """As the entries of an array do, in both modes."""
    x = np.array([[1.0, 2.0, np.nan], [1.0, 0.5, 2.0], [0.0, 2.0, 3.0], [1.0, 2.0, 1.0]])
    weights = np.arange(1.0, 4.0)

    def of_array(x):
        return np.sum(fold(x, axis=0) * weights)

    def of_lane(x):
        return np.sum(prim(x, "i") * weights) / lax.axis_size("i")

    same(tp.vmap(tp.grad(of_lane), axis_name="i")(x), tp.grad(of_array)(x), "reverse", 1e-14)
    x[0, 2] = 3.0
    pushed = tp.vmap(lambda x, v: tp.jvp(of_lane, (x,), (v,))[1], axis_name="i")(x, x + 1.0)
    same(pushed.sum(), tp.jvp(of_array, (x,), (x + 1.0,))[1], "forward", 1e-14)


def test_what_is_recorded_of_memory_that_has_changed_since() -> None:
    """A loop of its own length in each lane cannot be run again where what it reads has been overwritten."""

    def f(x):
        a = np.zeros(2)
        a[0] = x
        y = x
        while abs(y) > 0.3:
            y = y * 0.5 * np.cos(a[0] * y)
        s = lax.psum(y * y, "i")
        a[0] = s
        return y * a[0]

    oracle = threads.vmap(f, axis_name="i")
    same(tp.vmap(f, axis_name="i")(V), oracle(V), "values", 1e-14)
    subject = Subject(total(oracle), lambda: (V,))
    over = tp.grad(lambda x: np.sum(np.sin(3.0 * tp.vmap(f, axis_name="i")(x))))(V)
    same(
        over @ subject.tangents[0], subject.difference.leaves[0], "over", 1e-7, error=10 * subject.difference.errors[0]
    )
    with pytest.raises(tp.TranspileError, match="T605"):
        tp.vmap(tp.grad(f), axis_name="i")(V)


def deeper(x, n):
    if n == 0:
        return x
    return deeper(np.sin(x) + lax.pmean(x, "i"), n - 1)


def deeper_in_all(x, n):
    for _ in range(n):
        x = np.sin(x) + np.mean(x)
    return np.sum(np.sin(x))


@pytest.mark.parametrize("jit", [pytest.param(True, marks=pytest.mark.numba), False])
def test_functions_that_call_themselves(jit: bool) -> None:
    compiled = tp.jit if jit else lambda f: f
    wanted = tp.grad(deeper_in_all)(V, 3)
    over = tp.grad(lambda x: np.sum(np.sin(tp.vmap(deeper, (0, None), axis_name="i")(x, 3))))
    same(compiled(over)(V), wanted, "over", 1e-13)
    under = tp.vmap(tp.grad(lambda x, n: np.sin(deeper(x, n))), (0, None), axis_name="i")
    same(compiled(under)(V, 3), wanted, "under", 1e-13)
    if not jit:
        text = tp.source(tp.vmap(deeper, (0, None), axis_name="i"), V, 3)
        assert "np.sin(x) + np.sum(x) / m" in text and "for lane" not in text
        with pytest.raises(tp.TranspileError, match="T605"):
            tp.vmap(deeper, axis_name="i")(V, np.array([1, 2, 3, 4]))


@tp.custom_vjp
def tripled(x):
    return lax.psum(x * x, "i")


tripled.defvjp(lambda x: (lax.psum(x * x, "i"), x), lambda x, bar: (3.0 * x * lax.psum(bar, "i"),))


@tp.custom_jvp
def pushed(x):
    return 2.0 * lax.pmax(x, "i")


@pushed.defjvp
def _(primals, tangents):
    return pushed(*primals), 5.0 * lax.psum(tangents[0], "i")


@pytest.mark.parametrize("jit", [pytest.param(True, marks=pytest.mark.numba), False])
def test_rules_of_the_users_own(jit: bool) -> None:
    """Rules that are not those of the function, so that a derivative of it would be seen."""
    compiled = tp.jit if jit else lambda f: f
    for f, value, wanted in (
        (lambda x: tripled(x) * x, V * np.sum(V * V), 3.0 * V * np.sum(V) + np.sum(V * V)),
        (lambda x: pushed(x) * x, 2.0 * V * np.max(V), 2.0 * np.max(V) + 5.0 * np.sum(V)),
    ):
        batched = tp.vmap(f, axis_name="i")
        same(batched(V), value, "value", 1e-14)
        same(compiled(tp.grad(lambda x: np.sum(batched(x))))(V), wanted + np.zeros(4), "over", 1e-13)
        same(compiled(tp.vmap(tp.grad(f), axis_name="i"))(V), wanted + np.zeros(4), "under", 1e-13)
    same(tp.vmap(lambda a, x: pushed(a) * x, (None, 0), axis_name="i")(2.0, V), 4.0 * V, "of what lanes share", 1e-14)


def shrunk(y):
    if abs(y) < 0.2:
        print("done")
        return y
    return shrunk(0.5 * y)


def test_what_prints_by_a_call_is_not_run_again() -> None:
    def f(x):
        y = x
        while abs(y) > 0.3:
            y = y * 0.5 * np.cos(y) + 0.0 * shrunk(y)
        return y * lax.psum(y * y, "i")

    with pytest.raises(tp.TranspileError, match="T605"):
        tp.vmap(tp.grad(f), axis_name="i")(V)
