"""`tp.random` under `vmap`: each lane draws what its key alone draws, in one statement for all lanes."""

import ast
import subprocess
import sys

import numpy as np
import pytest

import transpile as tp
from transpile import random

KEY = random.key(7)
KEYS, A = random.split(KEY, 5), np.linspace(0.4, 2.0, 5)
GRID = random.split(KEY, (2, 5))
HEAD = """\
import numpy as np
from transpile import random as r
P, COV, X = np.array([0.1, 0.2, 0.3, 0.4]), np.array([[2.0, 0.3], [0.3, 1.0]]), np.arange(12.0).reshape(3, 4)
LOGITS = np.array([[0.1, -2.0, 0.7, 1.5], [0.0, 0.3, -0.2, -5.0]])
KEY = np.array([0, 42], np.uint32)
"""
# of the key k and the number a of a lane
SMOOTH = """
r.uniform(k, (4,), minval=-a, maxval=a)
r.uniform(KEY, (4,), minval=-a, maxval=a)
a * r.normal(k)
np.float32(a) * r.normal(k, (2, 3), np.float32)
a * r.normal(KEY, (3,))
r.permutation(k, X * a)
r.permutation(k, X * a, axis=1)
r.permutation(k, X * a, axis=1, independent=True)
r.choice(k, X * a, (2,), axis=1)
r.choice(k, X * a, (2,), False, axis=1)
r.truncated_normal(k, -a, a, (3,))
r.truncated_normal(k, -P * a, 2.0)
r.multivariate_normal(k, P[:2] * a, COV * a)
r.pareto(k, P + a)
r.rayleigh(k, P * a)
r.weibull_min(k, a, 1.0 + a, (3,))
r.multivariate_normal(k, P[:2], COV * a, (3,), method="eigh")
r.multivariate_normal(k, P[:2], COV * a, (3,), method="svd")
""".strip().splitlines()
IMPLICIT = """
r.gamma(k, a)
r.gamma(k, a, (3,))
r.gamma(k, P * a, (2, 4))
r.gamma(KEY, a, (3,))
r.loggamma(k, P * a)
r.chisquare(k, 4.0 * P + a)
r.t(k, 4.0 * P + a)
r.ball(k, 3, 1.0 + a, (2,))
r.beta(k, a, P)
r.dirichlet(k, P * a)
r.dirichlet(k, P * a, (3,))
""".strip().splitlines()
OTHERS = """
r.key(k[0])
r.fold_in(k, a > 0.5)
r.fold_in(k, 3)
r.fold_in(KEY, k[1])
r.split(k)
r.split(k, (2, 3))
r.bits(k, (3,), np.uint8)
r.bits(k, (2, 2))
r.uniform(k, (4,))
r.randint(k, (4,), 0, 10)
r.randint(k, (2, 3), np.array([0, 5, -3]), np.array([7, 12, 4]))
r.randint(k, (4,), -100, 100, np.int8)
r.bernoulli(k)
r.bernoulli(k, a / 3, (5,))
r.bernoulli(k, P * a / 3)
r.bernoulli(k, a / 3, (5,), "high")
r.categorical(k, LOGITS * a)
r.categorical(k, LOGITS * a, axis=0)
r.categorical(k, LOGITS, shape=(3, 2))
r.categorical(k, LOGITS * a, shape=(3, 2), replace=False)
r.choice(k, 10, (3,))
r.choice(k, 10, (3,), replace=False)
r.choice(k, 4, (3,), p=P)
r.choice(k, 4, (3,), False, P)
r.permutation(k, 6)
r.gumbel(k, (3,))
r.gumbel(k, (3,), mode="high")
r.exponential(k, (3,))
r.laplace(k, (3,), np.float32)
r.logistic(k, (3,))
r.rademacher(k, (4,))
r.cauchy(k, (3,))
r.maxwell(k, (3,), np.float32)
r.orthogonal(k, 2, (2,), None, 3)
r.geometric(k, a / 3, (3,), np.int32)
r.poisson(k, 50.0 * P * a, (2, 4), np.int32)
r.binomial(k, np.array([5, 40, 400, 1000]), P * a, None, np.float32)
""".strip().splitlines()
ALL = [*SMOOTH, *IMPLICIT, *OTHERS]


def of(cases):
    """One function of all cases."""
    return tp.from_source(f"{HEAD}def draws(k, a):\n    return (" + ",\n        ".join(cases) + ",)\n")


def total(cases):
    sums = " + ".join(f"np.sum(np.sin({case}))" for case in cases)
    return tp.from_source(f"{HEAD}def total(k, a):\n    return {sums}\n")


def same(found, wanted, cases=ALL):
    for case, got, right in zip(cases, found, wanted, strict=True):
        got, right = np.asarray(got), np.asarray(right)
        assert got.dtype == right.dtype and got.shape == right.shape, case
        if right.dtype.kind == "f":
            rtol = 4e-6 if right.dtype == np.float32 else 1e-12
            np.testing.assert_allclose(got, right, rtol=rtol, atol=rtol * 1e-3, err_msg=case)
        else:
            np.testing.assert_array_equal(got, right, err_msg=case)


def stacked(f, *lanes, axis=0):
    """The results of each lane, side by side."""
    return [np.stack(each, axis) for each in zip(*(f(*lane) for lane in zip(*lanes)))]


def test_every_function():
    assert {case.split("(")[0].rpartition("r.")[2] for case in ALL} >= set(random.__all__) - {"PRNGKey"}
    f = of(ALL)
    same(tp.vmap(f)(KEYS, A), stacked(f, KEYS, A))
    assert "for lane in" not in tp.source(tp.vmap(f), KEYS, A)


@pytest.mark.parametrize("axes, out", [((0, None), 0), ((None, 0), 0), ((1, 0), -1), ((-1, 0), 1)])
@pytest.mark.sampled(2)
def test_axes(axes, out):
    keys = KEYS[1] if axes[0] is None else np.moveaxis(KEYS, 0, axes[0])
    a = A[2] if axes[1] is None else A
    cases = [case for case in ALL if out < 1 or "(k)" not in case and case != "r.gamma(k, a)"]  # those have no axis 1
    f = of(cases)
    each = [KEYS[1]] * 5 if axes[0] is None else KEYS, [A[2]] * 5 if axes[1] is None else A
    same(tp.vmap(f, in_axes=axes, out_axes=out)(keys, a), stacked(f, *each, axis=out), cases)


def test_nested():
    f = of(ALL)
    rows = [stacked(f, keys, A) for keys in GRID]
    same(tp.vmap(tp.vmap(f), in_axes=(0, None))(GRID, A), [np.stack(each) for each in zip(*rows)])
    rows = [stacked(f, keys, [a] * 5) for keys, a in zip(GRID, A)]
    same(tp.vmap(tp.vmap(f, in_axes=(0, None)))(GRID, A[:2]), [np.stack(each) for each in zip(*rows)])
    rows = [stacked(f, [key] * 5, A) for key in KEYS]
    same(tp.vmap(tp.vmap(f, in_axes=(None, 0)), in_axes=(0, None))(KEYS, A), [np.stack(e) for e in zip(*rows)])


@pytest.mark.numba
@pytest.mark.slow
def test_compiled():
    f = of(ALL)
    wanted = stacked(f, KEYS, A)
    same(tp.jit(tp.vmap(f))(KEYS, A), wanted)
    for _, got in zip(ALL, tp.jit(tp.vmap(f))(KEYS[:0], A[:0])):
        assert got.shape[0] == 0


def test_gradients():
    """Of what is reparametrised, against differences; of what is implicit, lanes against one."""
    for cases, is_smooth in ((SMOOTH, True), (IMPLICIT, False)):
        f = total(cases)
        slope = tp.grad(f, 1)
        wanted = np.array([slope(k, a) for k, a in zip(KEYS, A)])
        if is_smooth:
            cases = [case for case in cases if "float32" not in case]
            f, h = total(cases), 1e-6
            slope = tp.grad(f, 1)
            wanted = np.array([slope(k, a) for k, a in zip(KEYS, A)])
            numeric = [(f(k, a + h) - f(k, a - h)) / (2 * h) for k, a in zip(KEYS, A)]
            np.testing.assert_allclose(wanted, numeric, rtol=1e-6)
        np.testing.assert_allclose(tp.vmap(slope)(KEYS, A), wanted, rtol=1e-12)
        np.testing.assert_allclose(tp.vmap(tp.jacfwd(f, 1))(KEYS, A), wanted, rtol=1e-12)
        lanes = tp.vmap(f)
        np.testing.assert_allclose(tp.grad(lambda a, g=lanes: np.sum(g(KEYS, a)))(A), wanted, rtol=1e-12)


# ---------------------------------------------------------------------------------------------------------- loops


def carried(k, a):
    for _ in range(3):
        k, own = random.split(k)
        a = a + 0.1 * random.normal(own) * a
    return a


def split_before(k, a):
    for own in random.split(k, 4):
        a = a * random.uniform(own, minval=0.5, maxval=1.5)
    return a


def folded(k, a):
    x = np.zeros(2)
    for i in range(4):
        x = np.tanh(x + a * random.normal(random.fold_in(k, i), (2,)))
    return np.sum(x)


def until(k, a):
    while a < 4.0:
        k, own = random.split(k)
        a = a + random.exponential(own)
    return a


def chosen(k, a):
    first, second = random.split(k)
    return a * random.normal(first) if random.bernoulli(second) else a * random.gamma(first, 2.0)


LOOPS = [carried, split_before, folded, until, chosen]


@pytest.mark.parametrize("f", LOOPS)
def test_control(f):
    wanted = np.array([f(k, a) for k, a in zip(KEYS, A)])
    np.testing.assert_allclose(tp.vmap(f)(KEYS, A), wanted, rtol=1e-14)
    slope = tp.grad(f, 1)
    each = [slope(k, a) for k, a in zip(KEYS, A)]
    h = 1e-6
    differences = [(f(k, a + h) - f(k, a - h)) / (2 * h) for k, a in zip(KEYS, A)]
    np.testing.assert_allclose(each, differences, rtol=1e-6)
    np.testing.assert_allclose(tp.vmap(slope)(KEYS, A), each, rtol=1e-12)
    assert ("for lane in" in tp.source(tp.vmap(f), KEYS, A)) == (f in (until, chosen))


@pytest.mark.numba
@pytest.mark.parametrize("f", LOOPS)
@pytest.mark.sampled(2)
def test_compiled_control(f):
    """Draws of all lanes are one statement there too, but where lanes go ways of their own."""
    wanted = np.array([f(k, a) for k, a in zip(KEYS, A)])
    np.testing.assert_allclose(tp.jit(tp.vmap(f))(KEYS, A), wanted, rtol=1e-12)
    slope = tp.grad(f, 1)
    each = [slope(k, a) for k, a in zip(KEYS, A)]
    np.testing.assert_allclose(tp.jit(tp.vmap(slope))(KEYS, A), each, rtol=1e-11)


def noise(key, i, x):
    return x + random.normal(random.fold_in(key, i), (3,))


def test_the_text():
    text = tp.source(tp.vmap(noise, in_axes=(None, 0, None)), KEY, np.arange(4), 1.5)
    assert text.splitlines()[-1].startswith("    return x + normal(fold_in(key, i), 3)")


STATIC = """\
import numpy as np
import transpile as tp
from transpile import random
import transpile.random as jr
from transpile.random import normal as gaussian


def f(key: "uint32[2]", x: "float64[n]"):
    a, b = tp.random.split(key)
    return x + random.normal(a, x.shape) * jr.uniform(b, (), minval=0.5, maxval=2.0) + gaussian(jr.fold_in(a, 3))


def loss(w: "float64[n]", key: "uint32[2]"):
    total = 0.0
    for own in jr.split(key, 3):
        total += np.sum(np.sin(w * gaussian(own, w.shape))) * random.randint(own, (), 1, 9)
    return total
"""


@pytest.mark.parametrize(
    "options", [pytest.param([], marks=pytest.mark.slow), ["--standalone"]], ids=["runtime", "standalone"]
)
def test_emitted_files(tmp_path, options):
    """Each file gives what the function gives; one that stands alone has Threefry in it and imports NumPy only."""
    (tmp_path / "prog.py").write_text(STATIC)
    scopes = []
    for name, request in (("f", "vmap(f, in_axes=(0, None))"), ("loss", "vmap(grad(f), in_axes=(None, 0))")):
        command = [sys.executable, "-m", "transpile", "emit", f"prog.py:{name}", request, *options]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert not done.returncode, done.stderr
        roots = {
            a.name.split(".")[0] for n in ast.walk(ast.parse(done.stdout)) if isinstance(n, ast.Import) for a in n.names
        }
        roots |= {
            str(n.module).split(".")[0] for n in ast.walk(ast.parse(done.stdout)) if isinstance(n, ast.ImportFrom)
        }
        assert roots <= ({"numpy", "math"} if options else {"numpy", "math", "transpile_runtime"})
        scopes.append({"__name__": "out"})
        exec(done.stdout, scopes[-1])
    model = {}
    exec(STATIC, model)
    w, h = np.array([0.3, -0.7, 1.1]), 1e-6
    np.testing.assert_allclose(scopes[0]["f_vmap"](KEYS, w), [model["f"](k, w) for k in KEYS], rtol=1e-13)
    wanted = [[(model["loss"](w + d, k) - model["loss"](w - d, k)) / (2 * h) for d in h * np.eye(3)] for k in KEYS]
    np.testing.assert_allclose(scopes[1]["loss_grad_vmap"](w, KEYS), wanted, rtol=1e-6, atol=1e-7)
