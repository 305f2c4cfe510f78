"""Compiled code: the same results as NumPy where Numba alone has others, checks, errors, caching."""

import math
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import transpile as tp
from transpile.aggregates import flatten
from transpile.codegen.numba.differences import TABLE

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]
rng = np.random.default_rng(0)
PROGRAMS = {}


def program(*args):
    """Notes a function with arguments: `args` are called for fresh ones."""

    def add(f):
        PROGRAMS[f.__name__] = (f, args)
        return f

    return add


def same(got, wanted):
    a, tree = flatten(got)
    b, other = flatten(wanted)
    assert tree == other
    for x, y in zip(a, b):
        assert np.shape(x) == np.shape(y)
        assert np.result_type(x) == np.result_type(y), (np.result_type(x), np.result_type(y))
        np.testing.assert_allclose(x, y, rtol=1e-6 if np.result_type(y) == np.float32 else 1e-12, atol=1e-12)


F32 = rng.normal(size=(3, 4)).astype(np.float32)


@program(F32)
def float32_scalar(x):
    return x * 2.0 + 1, x[0, 0] * 0.5, np.sin(x) ** 2


@program(F32)
def float32_sum(x):
    return np.sum(x), np.sum(x, axis=0), np.mean(x, axis=1), np.std(x)


@program(np.array([2**31 - 1, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32))
def int_narrow(x, y):
    return x + y, x[1] * y[1]


@program(rng.normal(size=6))
def overlap_shift(x):
    x[1:] += x[:-1]
    x[:-2] = x[2:] * 2.0
    return x


@program(rng.normal(size=(3, 3)))
def overlap_transpose(a):
    a += a.T
    a[0] = a[:, 1]
    return a


@program(rng.normal(size=6))
def overlap_reverse(x):
    x[:] = x[::-1]
    x[::2] = x[1::2]
    return x


@program(np.zeros(3), np.array([0, 2, 0, 0]), np.arange(4.0))
def repeated_indices(x, k, v):
    y = x.copy()
    y[k] = v
    x[k] += v
    z = np.zeros(3)
    np.add.at(z, k, v)
    return x, y, z


@program(np.array([5, -7]), np.array([0, 2]))
def floordiv_zero(a, b):
    return a // b, a % b


@program(1.5, np.array([1.0, -2.0, 0.0]))
def division_zero(a, x):
    return a / x, x / x[2]


@program(-7, 3, np.array([-7.5, 7.5]), np.array([2.0, -2.0]))
def negative_mod(a, b, x, y):
    return a % b, a // b, x % y, x // y, np.fmod(x, y)


@program(np.array([2, 3, -2]), 3)
def int_power(x, n):
    return x**2, x**n, n**2


@program(rng.normal(size=3), True)
def maybe_unset(x, flag):
    total = 0.0
    for i in range(3):
        if x[i] > 0:
            last = x[i]
            total += last
    return total


@program(rng.normal(size=5), 3)
def index_unchecked(x, k):
    return x[k] + x[k - 1]


@program(rng.normal(size=(4, 5)), -2)
def negative_index(x, k):
    return x[k, -1] + x[-1][k] + x[k].sum()


@program(rng.normal(size=7), 3, 100, -3)
def slice_clipped(x, a, b, c):
    return x[a:b], x[c:], x[:c], x[::-2], x[b:a:-1], x[5:a], x[-100:2], x[a::c]


@program(rng.normal(size=(2, 3, 4)))
def axis_reductions(x):
    return (
        x.max(axis=0),
        np.min(x, axis=(0, 2)),
        np.prod(x, axis=-1),
        np.any(x > 0, axis=1),
        np.all(x > -1, axis=0),
        np.mean(x, axis=1),
        np.var(x, axis=2),
        np.std(x, axis=0, ddof=1),
        np.argmax(x, axis=1),
        np.cumprod(x, axis=1),
    )


@program(rng.normal(size=(3, 4)))
def keepdims(x):
    return x - x.mean(axis=1, keepdims=True), np.max(x, axis=0, keepdims=True), np.sum(x, keepdims=True)


@program(np.array([1.0, np.nan, 3.0]))
def nan_extrema(x):
    return np.max(x), np.minimum(x, 2.0), np.fmax(x, 2.0), np.nanmax(x), np.argmax(x), max(1.0, 2.0)


@program(np.zeros((0, 3)))
def empty_extrema(x):
    return np.max(x, axis=1), np.sum(x), np.sum(x, axis=0), np.prod(x)


@program(rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 4)))
def einsum(a, b, c):
    return np.einsum("ij,jk->ik", a, b), np.einsum("ij,jk,kl->il", a, b, c), np.einsum("ii->i", c), np.einsum("ij->", a)


@program(rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5)), np.arange(6).reshape(2, 3))
def matmul_ranks(a, b, k):
    return a @ b, k @ k.T, np.dot(a[0], b), np.tensordot(a, b, axes=1), a[0, 0] @ b, np.inner(a[0], a[1])


@program(rng.normal(size=(9, 12)), rng.normal(size=(9, 5)))
def dot_layout(a, b):
    return a.T @ b, a[::2].T @ b[::2], (a[:, 1:] @ a[:, 1:].T)


@program(rng.normal(size=(3, 4)))
def mask_rank_two(x):
    y = x.copy()
    y[x > 0] = 7.0
    y[y < -1] *= 2.0
    return x[x > 0], y, np.sum(x[x < 0]), x[x[:, 0] > 0], np.where(x > 0, x, -x)


@program(rng.normal(size=(4, 5)), np.array([0, 3, -1]), np.array([1, 1, 4]))
def several_index_arrays(x, i, j):
    return x[i, j], x[i], x[:, j], x[i[:, None], j], x[i, 2], x[0, j]


@program(rng.normal(size=(2, 3)), rng.normal(size=3), 2.0)
def join_lists(a, v, s):
    return (
        np.concatenate([a, a * 2]),
        np.stack([v, v + 1], axis=1),
        np.array([s, 1.0]),
        np.vstack([a, v]),
        np.hstack([v, v]),
    )


@program(rng.normal(size=(3, 4)))
def reshape_view(x):
    return x.T.reshape(2, 6), x[:, ::2].ravel(), x.reshape(-1, 2).T, x[::-1].reshape(-1)


@program(rng.normal(size=3))
def broadcast_to(x):
    return np.broadcast_to(x, (2, 3)) + 1, x[:, None] * x, np.outer(x, x), np.tile(x, 2), np.repeat(x, 2), np.roll(x, 1)


@program(rng.normal(size=5))
def reversed_range(x):
    y = np.zeros(5)
    for i in reversed(range(5)):
        y[i] = x[i] + (y[i + 1] if i < 4 else 0.0)
    for i in range(4, -1, -2):
        y[i] *= 2.0
    return y


@program(2.0)
def messages(x):
    if x < 0:
        raise ValueError(f"x is {x:.3f}, not positive")
    assert x < 1000, f"{x} is large"
    return math.sqrt(x)


@program(np.array([0.5, 1.5, -2.5, 2.345]))
def rounding(x):
    return np.round(x), np.round(x, 2), np.floor(x), np.ceil(x), np.trunc(x), round(x[3])


@program(rng.normal(size=4), rng.normal(size=4), 3)
def swap_arrays(u, v, n):
    u, v = u.copy(), v.copy()
    for _ in range(n):
        u, v = v, u + v
        u[0] = 1.0
    return u, v


@program(np.array([-2.0, 0.5, np.nan, 9.0]), -1.0, 1.0)
def clip_order(x, low, high):
    return np.clip(x, low, high), np.clip(x, high, low)


STACK = rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)


@program(STACK, rng.normal(size=(2, 3, 2)))
def batched_linalg(a, b):
    s = a @ np.swapaxes(a, 1, 2)
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), np.linalg.cholesky(s), np.linalg.slogdet(a)[1]


@program(np.array([0.3, 1.7, 4.0]))
def special_functions(x):
    return special.gammaln(x), special.digamma(x), special.erf(x), special.expit(x), special.logsumexp(x)


@dataclass
class Point:
    x: float
    data: np.ndarray


@program({"a": (1.0, np.arange(3.0)), "p": Point(2.0, np.ones(2))}, [1.0, 2.0])
def trees(t, items):
    a, b = t["a"]
    return {"s": a + b[1], "p": Point(t["p"].x * 2, t["p"].data * items[1]), "n": None}


@program(np.asfortranarray(rng.normal(size=(3, 4))), rng.normal(size=(6, 4))[::2])
def layouts(a, b):
    a[0] += 1.0
    b *= 2.0
    return a + b


@program(np.array([True, False, True]), np.array([True, True, False]))
def bool_arithmetic(a, b):
    return a + b, a * b, a & b, a | b, a ^ b, ~a, np.sum(a), np.maximum(a, b)


@program(np.array([-1.0, -129.0, 3.7, -0.3]))
def unsigned_negative(a):
    out = np.zeros(4, np.uint16)
    out[:] = a
    return a.astype(np.uint32), a.astype(np.float32).astype(np.uint8), out


@program(10.0, 3)
def while_else_break(x, n):
    k = 0
    while x > 1.0:
        x = x / 2.0
        k += 1
        if k >= n:
            break
    else:
        k = -1
    return x, k


def fresh(args):
    return tuple(a.copy() if isinstance(a, np.ndarray) and a.flags.c_contiguous else a for a in args)


@pytest.mark.parametrize("row", TABLE, ids=lambda r: r.name)
@pytest.mark.sampled(4)
def test_difference(row):
    f, args = PROGRAMS[row.name]
    with np.errstate(all="ignore"):
        wanted_args = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in args]
        wanted = f(*wanted_args)
    mine = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in args]
    if row.name == "layouts":
        mine = [np.asfortranarray(args[0].copy()), rng.normal(size=(6, 4))[::2]]
        mine[1][...] = args[1]
    same(tp.jit(f)(*mine), wanted)
    same(mine, wanted_args)  # and the arguments are changed as the function changes them


def test_every_difference_has_a_program():
    assert {r.name for r in TABLE} == set(PROGRAMS)


# --------------------------------------------------------------------------------------------- checks and errors


def picks(x, k):
    y = x * 2.0
    return y[k]


def test_a_bad_index_names_line_and_values():
    f = tp.jit(picks)
    assert f(np.ones(3), -3) == 2.0
    for k in (3, -4, 10**12):
        with pytest.raises(IndexError) as e:
            f(np.ones(3), k)
        assert f"test_jit.py:{picks.__code__.co_firstlineno + 2}" in str(e.value)
        assert f"index {k} is out of range for size 3" in str(e.value)
        assert type(e.value) is IndexError


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x, k: x[k].sum(), (np.ones(3), np.array([0, 3]))),
        (lambda x, k: x[k].sum(), (np.ones(3), np.array([0, -4]))),
        (lambda x, k: x[k, 0], (np.ones((3, 0)), 0)),
        (lambda x, k: np.take_along_axis(x, k, axis=0).sum(), (np.ones(3), np.array([7]))),
    ],
)
def test_bad_indices(f, args):
    with pytest.raises(IndexError):
        tp.jit(f)(*args)


def fills(x, n):
    for i in range(n):
        x[i + 1] = x[i] * 2.0
    return x


def test_a_loop_beyond_the_end():
    x = np.ones(4)
    assert tp.jit(fills)(x, 3)[3] == 8.0
    with pytest.raises(IndexError):
        tp.jit(fills)(np.ones(4), 4)


def test_exceptions_of_the_user():
    f = tp.jit(messages)
    with pytest.raises(ValueError, match=r"x is -2.000, not positive"):
        f(-2.0)
    with pytest.raises(AssertionError, match="5000.0 is large"):
        f(5000.0)


def test_shapes_that_do_not_fit():
    f = tp.jit(lambda x, y: x + y)
    f(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match=r"y has shape \(4,\), expected \(3,\)"):
        f(np.ones(3), np.ones(4))


def prints(x, n):
    print("x is", x, f"and n = {n:03d}", sep=" | ")
    return x


def test_print(capfd):
    tp.jit(prints)(1.5, 7)
    assert capfd.readouterr().out == "x is | 1.5 | and n = 007\n"


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: tp.jit(picks, target="gpu"), "T505"),
        (lambda: tp.jit(lambda x: x + 1)(np.ones(2, dtype=np.float16)), "T502"),
    ],
)
def test_refusals(make, code):
    with pytest.raises(tp.TranspileError) as e:
        make()
    assert e.value.codes == (code,)


def test_a_read_only_argument():
    x = np.ones(3)
    x.flags.writeable = False
    assert np.array_equal(tp.jit(lambda x: x * 2)(x), [2, 2, 2])

    def writes(x):
        x[0] = 5.0

    with pytest.raises(ValueError, match="read-only"):
        tp.jit(writes)(x)
    y = np.ones(3)
    tp.jit(writes)(y)
    assert y[0] == 5.0

    def writes_its_own(x):  # `s -=` may be a write into x, by its text alone
        low = np.zeros(3)
        for i in range(3):
            s = x[i]
            for k in range(i):
                s -= low[k] * x[k]
            low[i] = s
        return low

    assert np.array_equal(tp.jit(writes_its_own)(x), writes_its_own(x))


# -------------------------------------------------------------------------------------------------- derivatives


def recurrence(x, w):
    s = np.zeros(2)
    for i in range(len(x)):
        s = np.tanh(w @ s + x[i])
        if s[0] < 0:
            s[1] *= 0.5
    return np.sum(s * s)


def test_compiled_gradients_agree():
    x, w = rng.normal(size=(5, 2)), rng.normal(size=(2, 2))
    for f in (
        tp.value_and_grad(recurrence, argnums=(0, 1)),
        tp.jacfwd(recurrence, argnums=1),
        tp.grad(tp.grad(lambda t: t**4)),
    ):
        args = (x, w) if f.__name__ == "recurrence" else (1.5,)
        same(tp.jit(f)(*args), f(*args))
    kept = x.copy()
    tp.jit(tp.grad(recurrence))(x, w)
    assert np.array_equal(x, kept)


def test_a_gradient_of_a_compiled_function_is_compiled():
    inner = tp.jit(lambda x: np.sum(x**3))
    np.testing.assert_allclose(tp.grad(inner)(np.array([1.0, 2.0])), [3.0, 12.0])


def test_static_arguments():
    @tp.jit(static_argnums=1, static_argnames="mode")
    def f(x, n, mode="a"):
        for _ in range(n):
            x = x * 2.0 if mode == "a" else x + 1.0
        return x

    assert f(1.0, 3) == 8.0 and f(1.0, 3, mode="b") == 4.0 and f(1.0, 4) == 16.0
    assert "range(3)" in tp.source(f, 1.0, 3, stage="loops")

    @tp.jit(static_argnames=("p",))
    def g(x, p):
        return x**p

    assert g(3.0, 2.0) == 9.0 and g(3.0, p=3.0) == 27.0
    with pytest.raises(tp.TranspileError):
        g(3.0, np.ones(2))


def test_results_are_of_the_types_of_numpy():
    got = tp.jit(lambda x, t: (np.sum(x), t * 2, x[0], 3, True, None))(np.ones(2, dtype=np.float32), 1.5)
    assert [type(v) for v in got] == [np.float32, float, np.float32, int, bool, type(None)]


def test_the_cache_holds_across_processes(tmp_path):
    (tmp_path / "prog.py").write_text(
        "import sys, time\nimport numpy as np\nimport transpile as tp\n"
        "def f(x, k):\n    return np.sum(np.tanh(x)) + x[k]\n"
        "g = tp.jit(tp.value_and_grad(f))\n"
        "from numba.core.codegen import CPUCodeLibrary\n"
        "count = []\n"
        "original = CPUCodeLibrary.add_ir_module\n"
        "CPUCodeLibrary.add_ir_module = lambda *a: count.append(1) or original(*a)\n"
        "v, d = g(np.ones(3), 1)\n"
        "try:\n    g(np.ones(3), 9)\nexcept IndexError as e:\n    print(str(e).splitlines()[0].rpartition(':')[2])\n"
        "print(v, d, len(count))\n"
    )
    env = {**os.environ, "TRANSPILE_CACHE_DIR": str(tmp_path / "cache")}
    outs = [
        subprocess.run(
            [sys.executable, "prog.py"], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    first, second = (o.splitlines() for o in outs)
    assert first[0] == second[0] == " index 9 is out of range for size 3"
    assert first[1].rpartition(" ")[0] == second[1].rpartition(" ")[0]
    assert second[1].endswith(" 0") and not first[1].endswith(" 0")
