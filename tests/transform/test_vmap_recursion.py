"""Functions that call themselves, in lanes: one call for all of them where they go equally deep, else one call a lane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpus import recursion
from test_batch import order, stacked
from verified import verify

import transpile as tp
from transpile.core.functions import reached
from transpile.driver.lifted_request import lift
from transpile.driver.request import Request

RNG = np.random.default_rng(0)
A, M = RNG.uniform(0.5, 1.5, (5, 3)), RNG.standard_normal((4, 3, 3))
W = A[4]


def same(found: Any, wanted: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-13)


def text_of(f: Any, *args: Any) -> str:
    return tp.source(f, *args)


# ------------------------------------------------------------------------------------------------ equally deep


def det(a):
    if len(a) == 1:
        return a[0, 0]
    total = 0.0
    for j in range(len(a)):
        minor = np.concatenate((a[1:, :j], a[1:, j + 1 :]), axis=1)
        total += (-1.0) ** j * a[0, j] * det(minor)
    return total


DET = '''
import numpy as np


def det_vmap(a):
    """det of each lane: float64[batch], for a: float64[batch, n, d]."""
    batch = a.shape[0]
    n = a.shape[1]
    if n == 1:
        return a[:, 0, 0].copy()
    total = np.zeros(batch)
    for j in range(n):
        minor = np.concatenate((a[:, 1:, :j], a[:, 1:, j + 1 :]), axis=2)
        total += (-1.0)**j * a[:, 0, j] * det_vmap(minor)
    return total
'''


def test_it_reads_like_its_function() -> None:
    lines = text_of(tp.vmap(det), M).splitlines()
    code = [line.partition("  #")[0].rstrip() for line in lines if not line.strip().startswith("#")]
    assert code == DET.strip().splitlines()
    same(tp.vmap(det)(M), np.linalg.det(M))


def test_a_value_and_its_pullback_are_one_call_of_all_lanes() -> None:
    """So the depth is passed once."""
    text = text_of(tp.vmap(tp.grad(det)), M)
    assert "det_value_and_pullback_vmap(" in text and "det_vmap(" not in text and "for lane" not in text
    same(tp.vmap(tp.grad(det))(M), np.linalg.det(M)[:, None, None] * np.linalg.inv(M).swapaxes(1, 2))


def power(x, w, k):
    if k == 0:
        return np.sum(x * w)
    return power(x, w, k - 1) * x[0] + np.sin(np.sum(w))


def even(x, w, n):
    return x if n == 0 else odd(x * 0.5, w, n - 1)


def odd(x, w, n):
    return x * x if n == 0 else even(x, w, n - 1) * w + x


def halves(x, k):
    """Two results, one of them an array whose size only the run knows, and what it writes into."""
    y = x * 1.0
    if k == 0 or len(x) < 2:
        return y[::2], np.sum(x)
    y[0] = 2.0
    left, s = halves(y[: len(x) // 2], k - 1)
    right, t = halves(x[len(x) // 2 :], k - 1)
    return np.concatenate((left, right)), s * t


def of_halves(x, k):
    parts, s = halves(x, k)
    return np.sum(parts**2) * s


SHARED = [
    (power, (A, W, 3), (0, 1), (0, None, None)),
    (power, (W, A, 3), (0, 1), (None, 0, None)),
    (power, (A, A * 0.5, 2), (0, 1), (0, 0, None)),
    (even, (A[:, 0], 0.7, 5), (0, 1), (0, None, None)),
    (even, (0.7, A[:, 0], 5), (0, 1), (None, 0, None)),
    (of_halves, (np.tile(A, (1, 3)), 2), (0,), (0, None)),
]


@pytest.mark.parametrize("by_lane", [False, True], ids=["whole", "by_lane"])
@pytest.mark.parametrize("f, args, wrt, axes", SHARED, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.sampled(4)
def test_over_and_under(f: Any, args: Any, wrt: Any, axes: Any, by_lane: bool) -> None:
    lanes = [[a if k is None else a[j] for a, k in zip(args, axes)] for j in range(5)]
    weights = np.arange(1.0, 6.0)
    batched = tp.vmap(f, in_axes=axes)

    def total(*args: Any) -> Any:
        return np.sum(batched(*args) * weights)

    each = [tp.grad(f, wrt)(*lane) for lane in lanes]
    with order(by_lane):
        same(batched(*args), [f(*lane) for lane in lanes])
        under = tp.vmap(tp.grad(f, wrt), in_axes=axes)(*args)
        over = tp.grad(total, wrt)(*args)
        twice = tp.jacfwd(tp.grad(total, wrt[0]), wrt[0])(*args)
        pushed = tp.jvp(lambda *floats: batched(*floats, *args[len(wrt) :]),
                        tuple(args[k] for k in wrt), tuple(args[k] for k in wrt))[1]  # fmt: skip
        if not by_lane:
            assert "for lane" not in text_of(batched, *args) + text_of(tp.grad(total, wrt), *args)
    for k, i in enumerate(wrt):
        rows = np.array([e[k] for e in each])
        same(under[k], rows)
        scaled = rows * weights.reshape(-1, *[1] * (rows.ndim - 1))
        same(over[k], scaled if axes[i] == 0 else scaled.sum(0))
    same(pushed, [sum(np.sum(g * lane[i]) for g, i in zip(e, wrt)) for e, lane in zip(each, lanes)])
    # the second order against differences of the first
    step, first = 1e-6, wrt[0]
    direction = RNG.standard_normal(np.shape(args[first]))
    moved = [[a + sign * step * direction if k == first else a for k, a in enumerate(args)] for sign in (1.0, -1.0)]
    slopes = [tp.grad(total, first)(*m) for m in moved]
    rank = np.ndim(args[first])
    np.testing.assert_allclose(np.tensordot(twice, direction, rank), (slopes[0] - slopes[1]) / (2 * step),
                               rtol=1e-6, atol=1e-6)  # fmt: skip
    tp.check_grads(total, args, order=1)


def test_lanes_of_lanes() -> None:
    f = tp.vmap(tp.vmap(power, (0, None, None)), (None, 0, None))
    same(f(A, A, 3), [[power(a, w, 3) for a in A] for w in A])
    assert "for lane" not in text_of(f, A, A, 3) and "power_vmap_vmap" in text_of(f, A, A, 3)
    found = tp.grad(lambda a, w: np.sum(f(a, w, 3) * np.arange(5.0)), (0, 1))(A, A)
    each = [[tp.grad(power, (0, 1))(a, w, 3) for a in A] for w in A]
    same(found[0], [sum(k * row[k][0] for row in each) for k in range(5)])
    same(found[1], [sum(k * row[k][1] for k in range(5)) for row in each])


# ---------------------------------------------------------------------------------------------- of other depths


def halved(x, w):
    if x < 0.1:
        return x * w
    return halved(x * 0.5, w) + w


@pytest.mark.parametrize(
    "f, args, axes",
    [
        (even, (A[:, 0], 0.7, np.arange(5)), (0, None, 0)),
        (even, (0.6, 0.7, np.arange(5)), (None, None, 0)),
        (halved, (A[:, 0], 0.7), (0, None)),
        (halved, (A[:, 0], A[:, 1]), (0, 0)),
    ],
)
def test_each_lane_goes_as_deep_as_it_has_to(f: Any, args: Any, axes: Any) -> None:
    lanes = [[a if k is None else a[j] for a, k in zip(args, axes)] for j in range(5)]
    batched = tp.vmap(f, in_axes=axes)
    text = text_of(batched, *args)
    assert text.count("for lane in") == 1 and text.count(f"= {f.__name__}(") == 1
    same(batched(*args), [f(*lane) for lane in lanes])
    each = [tp.grad(f, (0, 1))(*lane) for lane in lanes]
    over = tp.grad(lambda x, w: np.sum(batched(x, w, *args[2:])), (0, 1))(*args[:2])
    for k in (0, 1):
        rows = np.array([e[k] for e in each])
        same(over[k], rows if axes[k] == 0 else rows.sum(0))


def test_a_depth_that_lanes_share_beside_a_branch_that_they_do_not() -> None:
    """The branch is a region of the function of all lanes."""

    def walk(x, k):
        if x > 1.0:
            x = x - 1.0
        if k == 0:
            return x
        return walk(x * 1.5, k - 1) * x

    x = A[:, 0]
    text = text_of(tp.vmap(walk, (0, None)), x, 3)
    assert "walk_vmap(" in text and "def walk(" not in text
    same(tp.vmap(walk, (0, None))(x, 3), [walk(v, 3) for v in x])
    same(tp.vmap(tp.grad(walk), (0, None))(x, 3), [tp.grad(walk)(v, 3) for v in x])


# ------------------------------------------------------------------------------------------------- the corpus


NUMBERS = [p for p in recursion.PROGRAMS if np.ndim(p.fn(*p.args())) == 0]  # what has a gradient


@pytest.mark.parametrize("by_lane", [False, True], ids=["whole", "by_lane"])
@pytest.mark.parametrize("program", NUMBERS, ids=lambda p: p.name)
@pytest.mark.sampled(8)
def test_derivatives_of_all_lanes(program: Any, by_lane: bool) -> None:
    axes, whole, each = stacked(program, 3)
    chosen = tuple(k for k in program.wrt if axes[k] == 0)
    if not chosen:
        pytest.skip("no floats")

    def total(*args: Any) -> Any:
        return np.sum(tp.vmap(program.fn, in_axes=axes)(*args) * np.array([1.0, -2.0, 3.0]))

    with order(by_lane):
        core = lift(Request.of(whole, {}), tp.grad(total, chosen))
        for routine in reached(core):
            verify(routine.body)
        verify(core)
        found = tp.grad(total, chosen)(*whole)
    for k, got in enumerate(found):
        for j, weight in enumerate((1.0, -2.0, 3.0)):
            same(got[j], weight * np.asarray(tp.grad(program.fn, chosen)(*each[j])[k]), rtol=1e-10)


@pytest.mark.parametrize("program", NUMBERS, ids=lambda p: p.name)
@pytest.mark.sampled(8)
def test_lanes_of_derivatives(program: Any) -> None:
    """Sizes that the function of one lane knows by two names (a cotangent has that of the result) have both in all lanes."""
    axes, whole, each = stacked(program, 3)
    chosen = tuple(k for k in program.wrt if axes[k] == 0)
    if not chosen:
        pytest.skip("no floats")
    under = tp.vmap(tp.grad(program.fn, chosen), in_axes=axes)
    core = lift(Request.of(whole, {}), under)
    for fn in (core, *(routine.body for routine in reached(core))):
        verify(fn)
    for k, got in enumerate(under(*whole)):
        for j in range(3):
            same(got[j], tp.grad(program.fn, chosen)(*each[j])[k], rtol=1e-10)


def parts(x, k):
    if k <= 0:
        return x[::2], x[1::2]
    a, b = parts(x + k, k - 1)
    return b * 2.0, a


def of_parts(x, k):
    a, b = parts(x, k)
    return np.sum(a * a) + np.sum(b)


@pytest.mark.numba
@pytest.mark.parametrize("deep", [2, np.array([1, 2, 3])], ids=["equally deep", "each as deep as it has to"])
def test_sizes_that_only_a_call_tells(cache_directory: Any, deep: Any) -> None:
    """Of several results, whose sizes lanes share, or have on their own: compiled, a call is a statement like others."""
    x, axes = RNG.normal(size=(3, 6)), (0, None if np.ndim(deep) == 0 else 0)
    wanted = [of_parts(row, int(k)) for row, k in zip(x, np.broadcast_to(deep, 3))]
    same(tp.jit(tp.vmap(of_parts, axes))(x, deep), wanted)
    same(tp.jit(tp.vmap(tp.grad(of_parts), axes))(x, deep), tp.vmap(tp.grad(of_parts), axes)(x, deep))
    same(tp.jit(tp.vmap(recursion.fourier))(x[:, :4], x[:, 2:]), [recursion.fourier(row[:4], row[2:]) for row in x])


@pytest.mark.numba
def test_compiled(cache_directory: Any) -> None:
    same(tp.jit(tp.vmap(det))(M), np.linalg.det(M))
    same(tp.jit(tp.vmap(tp.grad(det)))(M), tp.vmap(tp.grad(det))(M))
    args, axes = (A[:, 0], 0.7, np.arange(5)), (0, None, 0)
    same(tp.jit(tp.vmap(even, axes))(*args), tp.vmap(even, axes)(*args))
    total = tp.grad(lambda x, w: np.sum(tp.vmap(power, (0, None, None))(x, w, 3)), (0, 1))
    for found, wanted in zip(tp.jit(total)(A, W), total(A, W)):
        same(found, wanted)


# ------------------------------------------------------------------------------------------------ emitted files


MODULE = """
import numpy as np
import transpile as tp


def power(x: float, w: float, k: int):
    if k == 0:
        return x * w
    return power(x * w, w, k - 1) + x * x


@tp.custom_vjp
def soft(x: float):
    return np.log1p(np.exp(x))


soft.defvjp(lambda x: (soft(x), x), lambda x, y_bar: (3.0 * y_bar * x,))


def loss(x: float, k: int):
    return power(soft(x), 0.5, k)
"""


@pytest.mark.parametrize("options", [[], ["--standalone"]])
def test_an_emitted_file_runs(tmp_path: Any, monkeypatch: Any, options: list[str]) -> None:
    from transpile.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODULE)
    assert main(["vmap", "model.py:power", "--in-axes", "(0, None, None)", *options, "-o", "whole.py"]) == 0
    assert main(["vmap", "model.py:power", "--in-axes", "(0, None, 0)", *options, "-o", "lanes.py"]) == 0
    assert main(["emit", "model.py:loss", "vmap(grad(f), in_axes=(0, None))", *options, "-o", "slopes.py"]) == 0
    texts = {name: (tmp_path / f"{name}.py").read_text() for name in ("whole", "lanes", "slopes")}
    assert not any("import transpile\n" in text or "import transpile as" in text for text in texts.values())
    made: dict[str, dict[str, Any]] = {name: {} for name in texts}
    for name, text in texts.items():
        exec(text, made[name])
    namespace: dict[str, Any] = {}
    exec(MODULE, namespace)
    plain, x = namespace["power"], A[:, 0]
    same(made["whole"]["power_vmap"](x, 0.7, 3), [plain(v, 0.7, 3) for v in x])
    same(made["lanes"]["power_vmap"](x, 0.7, np.arange(5)), [plain(v, 0.7, k) for k, v in enumerate(x)])
    step = 1e-6
    y = np.log1p(np.exp(x))
    slopes = [3.0 * v * (plain(u + step, 0.5, 3) - plain(u - step, 0.5, 3)) / (2 * step) for u, v in zip(y, x)]
    same(made["slopes"]["loss_grad_vmap"](x, 3), slopes, rtol=1e-7)
