"""`tp.random`: JAX's bits, interpreted and compiled; distributions; derivatives; files that are emitted; what is refused."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.special
from random_cases import ARRAYS, CASES, is_near, values
from random_values import VALUES
from scipy import stats

import transpile as tp
from transpile import random
from transpile_runtime import random as runtime

KEY = random.key(42)
NAMES = list(ARRAYS)


def _one_function(cases):
    """The cases as one function, whose results are in their order."""
    head = f"import numpy as np\nfrom transpile import random as r\ndef draws(k, {', '.join(NAMES)}):\n    return (\n"
    return tp.from_source(head + "".join(f"        {case},\n" for case in cases) + "    )\n")


def _wrong(found, wanted=VALUES):
    return [case for case in wanted if not is_near(case, np.asarray(found[case]), wanted[case])]


# ------------------------------------------------------------------------------------------------ as JAX draws


def test_first_of_the_issue():
    found = random.uniform(random.key(0), (3,), np.float32)
    np.testing.assert_array_equal(found, np.array([0.947667, 0.9785799, 0.33229148], np.float32))


def test_reference_values():
    assert list(VALUES) == CASES
    assert not _wrong(values(random, KEY))


def test_as_jax_here():
    jax = pytest.importorskip("jax")
    if not hasattr(jax.config, "jax_threefry_partitionable") or not jax.config.jax_threefry_partitionable:
        pytest.skip("this JAX has the older layout")
    before = jax.config.jax_enable_x64
    try:
        jax.config.update("jax_enable_x64", True)
        for seed in (0, 7, 2**33 + 1):
            assert not _wrong(values(random, random.key(seed)), values(jax.random, jax.random.PRNGKey(seed)))
        jax.config.update("jax_enable_x64", False)  # the same at the same dtype
        _compare_without_64_bits(jax)
    finally:
        jax.config.update("jax_enable_x64", before)


def _compare_without_64_bits(jax):
    key, ours = jax.random.PRNGKey(3), random.key(3)
    for dtype, draw in (("float32", "uniform"), ("uint32", "bits")):
        wanted = getattr(jax.random, draw)(key, (50,), dtype)
        np.testing.assert_array_equal(getattr(random, draw)(ours, (50,), dtype), wanted)
    np.testing.assert_array_equal(
        random.randint(ours, (50,), -3, 900, "int32"), jax.random.randint(key, (50,), -3, 900)
    )


def test_interpreted():
    draws = _one_function(CASES)
    scope = {}
    exec(tp.source(draws, KEY, *ARRAYS.values()), scope)
    assert not _wrong(dict(zip(CASES, scope["draws"](KEY, *ARRAYS.values()))))


@pytest.mark.numba
def test_compiled():
    """Sorting is compiled elsewhere: it is what takes long."""
    sorting = ("permutation", "choice(k, 10, (2", "choice(k, 4, (3", "choice(k, x", "cov")
    chosen = [case for case in CASES if not any(word in case for word in sorting)]
    found = dict(zip(chosen, tp.jit(_one_function(chosen))(KEY, *ARRAYS.values())))
    assert not _wrong(found, {case: VALUES[case] for case in chosen})


def test_keys_of_lanes():
    """Several keys give each what it alone would give: what a batched draw is."""
    keys = random.split(KEY, (2, 3))
    for draw in (runtime.split, runtime.bits, runtime.unit, runtime.normal):
        found = draw(keys, (4, 2))
        for i in np.ndindex(2, 3):
            np.testing.assert_array_equal(found[i], draw(keys[i], (4, 2)))
    a = np.linspace(0.2, 4.0, 30).reshape(2, 3, 5)
    numbers = np.arange(6).reshape(2, 3)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(runtime.log_gamma(keys, a)[i], runtime.log_gamma(keys[i], a[i]))
        np.testing.assert_array_equal(runtime.fold_in(keys, numbers)[i], runtime.fold_in(keys[i], numbers[i]))


@pytest.mark.numba
@pytest.mark.parametrize(
    "name, dtype", [(n, t) for n, ts in (("bits", "IQ"), ("unit", "fd"), ("normal", "fd")) for t in ts]
)
@pytest.mark.sampled(3)
def test_large_draws(name, dtype):
    """Compiled loops make the large ones."""
    from transpile_runtime.compiled import draws

    for keys, size in ((KEY, 100_001), *((random.split(KEY, (70, 10)), n) for n in (0, 1, 3, 300))):
        found = draws.filled(name, keys, (size,), np.dtype(dtype))
        wanted = getattr(runtime, name).__wrapped__(keys, size, dtype)
        if name == "normal":
            np.testing.assert_allclose(found, wanted, rtol=2e-6 if dtype == "f" else 4e-15, strict=True)
        else:
            np.testing.assert_array_equal(found, wanted, strict=True)


def test_many_begin_as_few():
    """Of few numbers each is made for itself."""
    for shape in ((), (1,), (5,), (2, 3)):
        n = int(np.prod(shape))
        for dtype in (np.uint32, np.uint64):
            np.testing.assert_array_equal(runtime.bits(KEY, shape, dtype).ravel(), runtime.bits(KEY, 1000, dtype)[:n])
        for dtype in (np.float32, np.float64):
            few, many = runtime.normal(KEY, shape, dtype), runtime.normal(KEY, 1000, dtype)[:n]
            np.testing.assert_array_equal(few.ravel(), many)
    numbers = np.array([0, -1, 7, 2**32 - 1, 2**40 + 3])
    many = runtime.fold_in(KEY, np.resize(numbers, 100))
    np.testing.assert_array_equal(runtime.fold_in(KEY, numbers), many[:5])
    np.testing.assert_array_equal([runtime.fold_in(KEY, n) for n in numbers], many[:5])


def test_normal_is_the_quantile():
    """From the one end to the other, tails too."""
    ends = 2.0 ** -np.arange(1, 53)
    u = np.concatenate([np.linspace(0, 1, 4000, endpoint=False), ends, 1 - ends, [0.075, 0.0749, 0.925, 0.9251]])
    for real, eps in ((np.float64, 4e-15), (np.float32, 2e-7)):
        bits = np.finfo(real).nmant
        own, low = (np.floor(u * 2.0**bits) / 2.0**bits).astype(real), 2.0 ** -(bits + 1)
        middle = own.astype(np.float64) + low / 2
        wanted = np.where(middle < 0.5, stats.norm.ppf(middle), -stats.norm.ppf(1 - own.astype(np.float64) - low / 2))
        np.testing.assert_allclose(runtime._quantile(own), wanted, rtol=eps, atol=eps)


def test_between_is_rounded_once():
    from fractions import Fraction

    u, rng = random.uniform(KEY, (300,)), np.random.default_rng(0)
    for low, high in rng.normal(size=(5, 2)) * 10.0 ** rng.integers(-3, 4, (5, 2)):
        low, high = min(low, high), max(low, high)
        exact = [float(Fraction(x) * Fraction(high - low) + Fraction(low)) for x in u.tolist()]
        np.testing.assert_array_equal(runtime.between(u, low, high), np.maximum(low, exact))


# ----------------------------------------------------------------------------------------------- distributions

N = 20_000
CONTINUOUS = {
    "uniform": (lambda k: random.uniform(k, (N,), minval=-1.0, maxval=3.0), stats.uniform(-1, 4)),
    "normal": (lambda k: random.normal(k, (N,)), stats.norm()),
    "normal32": (lambda k: random.normal(k, (N,), np.float32), stats.norm()),
    "gumbel": (lambda k: random.gumbel(k, (N,)), stats.gumbel_r()),
    "gumbel, high": (lambda k: random.gumbel(k, (N,), mode="high"), stats.gumbel_r()),
    "exponential": (lambda k: random.exponential(k, (N,)), stats.expon()),
    "laplace": (lambda k: random.laplace(k, (N,)), stats.laplace()),
    "logistic": (lambda k: random.logistic(k, (N,)), stats.logistic()),
    "truncated_normal": (lambda k: random.truncated_normal(k, -0.5, 2.0, (N,)), stats.truncnorm(-0.5, 2.0)),
    **{f"gamma {a}": (lambda k, a=a: random.gamma(k, a, (N,)), stats.gamma(a)) for a in (0.1, 0.7, 1.0, 2.5, 300.0)},
    "gamma32": (lambda k: random.gamma(k, 1.5, (N,), np.float32), stats.gamma(1.5)),
    "beta": (lambda k: random.beta(k, 0.5, 2.0, (N,)), stats.beta(0.5, 2.0)),
    "beta, large": (lambda k: random.beta(k, 40.0, 20.0, (N,)), stats.beta(40.0, 20.0)),
    "dirichlet": (lambda k: random.dirichlet(k, np.array([0.5, 1.0, 2.0]), (N,))[:, 1], stats.beta(1.0, 2.5)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    draw, wanted = CONTINUOUS[name]
    x = draw(random.key(11)).astype(np.float64)
    assert stats.kstest(x, wanted.cdf).pvalue > 1e-3
    error = wanted.std() / np.sqrt(N)
    assert abs(x.mean() - wanted.mean()) < 4 * error
    spread = np.mean((x - wanted.mean()) ** 2) / wanted.var() - 1
    assert abs(spread) < 4 * np.sqrt((wanted.stats("k") + 2) / N)


def test_discrete_distributions():
    k, p = random.key(5), np.array([0.1, 0.2, 0.3, 0.4])
    drawn = {
        "categorical": random.categorical(k, np.log(p), shape=(N,)),
        "choice": random.choice(k, 4, (N,), p=p),
        "bernoulli": random.bernoulli(k, 0.3, (N,)).astype(int),
        "bernoulli, high": random.bernoulli(k, 0.3, (N,), "high").astype(int),
        "randint": random.randint(k, (N,), 0, 7),
        "rademacher": (random.rademacher(k, (N,)) + 1) // 2,
        "permutation": np.array([random.permutation(one, 4)[0] for one in random.split(k, 2000)]),
    }
    share = {"categorical": p, "choice": p, "bernoulli": [0.7, 0.3], "bernoulli, high": [0.7, 0.3], "randint": [1 / 7] * 7,
             "rademacher": [0.5, 0.5], "permutation": [0.25] * 4}  # fmt: skip
    for name, x in drawn.items():
        counts = np.bincount(x, minlength=len(share[name]))
        assert stats.chisquare(counts, np.array(share[name]) * x.size).pvalue > 1e-3, name


def test_multivariate_normal():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    for method in ("cholesky", "eigh", "svd"):
        x = random.multivariate_normal(random.key(2), mean, cov, (N,), method=method)
        np.testing.assert_allclose(x.mean(0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(x.T), cov, atol=0.06)
    stacked = random.multivariate_normal(KEY, np.zeros((3, 1, 2)), np.broadcast_to(cov, (4, 2, 2)))
    assert stacked.shape == (3, 4, 2)


def test_draws_are_independent():
    first, second = random.split(random.key(9))
    x = [random.normal(k, (N,)) for k in (first, second, random.fold_in(first, 1), random.key(9))]
    assert np.max(np.abs(np.corrcoef(x) - np.eye(4))) < 4 / np.sqrt(N)


# ------------------------------------------------------------------------------------------------- derivatives


def differences(f, args, wrt):
    """Central differences in float64, of which draws are made: one gradient for each argument."""
    found = []
    for k in wrt:
        x = np.asarray(args[k], np.float64)
        slope = np.empty(x.shape)
        for i in np.ndindex(x.shape):
            moved = []
            for h in (1e-5, -1e-5):
                y = x.copy()
                y[i] += h
                moved.append(f(*args[:k], y[()], *args[k + 1 :]))
            slope[i] = (moved[0] - moved[1]) / 2e-5
        found.append(slope)
    return found


def reparametrised(mu, sigma, key):
    return np.mean(np.tanh(mu + sigma * random.normal(key, (5,))))


def bounds(low, high, key):
    return np.sum(random.uniform(key, (4,), minval=low, maxval=high) ** 2)


def truncated(low, high, key):
    return np.sum(random.truncated_normal(key, low, high, (4,)) ** 2)


def vectors(mean, root, key):
    return np.sum(np.cos(random.multivariate_normal(key, mean, root @ root.T, (3,))))


def shuffled(x, y, key):
    return np.sum(random.permutation(key, x) * y)


def walk(x, theta, key):
    for own in random.split(key, 6):
        x = x + theta * random.normal(own) * np.sqrt(1.0 + x * x)
    return x


def monte_carlo(theta, n, key):
    total = 0.0
    for i in range(n):
        total += np.mean(np.cos(theta * random.normal(random.fold_in(key, i), (3,))))
    return total / n


VECTORS = (np.array([0.5, -1.0]), np.array([[1.2, 0.0], [0.4, 0.7]]))
PROGRAMS = [
    (reparametrised, (0.3, 1.2), (0, 1)), (bounds, (-0.5, 1.5), (0, 1)), (truncated, (-1.0, 0.7), (0, 1)),
    (vectors, VECTORS, (0, 1)), (shuffled, (np.arange(5.0), np.arange(5.0) ** 2), (0, 1)), (walk, (0.1, 0.3), (0, 1)),
    (monte_carlo, (1.5, 4), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("f, args, wrt", PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_gradient(f, args, wrt):
    """A draw is the same in the function and in both sweeps."""
    wanted = differences(f, (*args, KEY), wrt)
    for mine in (tp.grad(f, wrt), tp.jacfwd(f, wrt)):
        for found, right in zip(mine(*args, KEY), wanted):
            np.testing.assert_allclose(found, right, rtol=1e-6, atol=1e-7)


@pytest.mark.numba
def test_compiled_gradients():
    for f, args, wrt in (PROGRAMS[0], PROGRAMS[5], PROGRAMS[6]):
        for found, right in zip(tp.jit(tp.grad(f, wrt))(*args, KEY), tp.grad(f, wrt)(*args, KEY)):
            np.testing.assert_allclose(found, right, rtol=1e-12)


def _slope(quantile, cdf, a, x):
    """How a quantile moves with the parameter, the number that it is the quantile of held."""
    h = 1e-5 * a
    return (quantile(cdf(x, a), a + h) - quantile(cdf(x, a), a - h)) / (2 * h)


@pytest.mark.parametrize("a", [0.05, 0.6, 1.0, 3.7, 60.0])
def test_gamma_is_differentiable_in_its_shape(a):
    shapes = np.full(20, a)
    x = random.gamma(KEY, shapes)
    found = np.diag(tp.jacfwd(lambda s: random.gamma(KEY, s))(shapes))
    np.testing.assert_allclose(tp.grad(lambda s: np.sum(random.gamma(KEY, s)))(shapes), found, rtol=1e-12)
    wanted = _slope(lambda p, s: stats.gamma.ppf(p, s), lambda x, s: stats.gamma.cdf(x, s), a, x)
    seen = x > 1e-200
    np.testing.assert_allclose(found[seen], wanted[seen], rtol=2e-5, atol=1e-9 * a)


@pytest.mark.numba
def test_gammas_at_the_ends():
    """No shape is too large to be drawn in the end."""
    a = np.array([0.0, np.inf, np.nan, -1.0, 5e-324, 1e308])
    wanted = [0.0, np.inf, np.nan, np.nan, 0.0]
    for draw in (random.gamma, tp.jit(lambda key, a: random.gamma(key, a))):
        found = draw(KEY, a)
        np.testing.assert_array_equal(found[:5], wanted)
        assert abs(found[5] / 1e308 - 1) < 1e-10


def test_tiny_gamma_has_the_slope_of_its_limit():
    """``log x = (log u + gammaln(a + 1)) / a`` where x is nothing beside 1."""
    a = np.full(8, 1e-4)
    y = runtime.log_gamma(KEY, a)
    assert np.all(y < -40)
    log_u = a * y - scipy.special.gammaln(a + 1)
    wanted = -log_u / a**2 + scipy.special.digamma(a + 1) / a - scipy.special.gammaln(a + 1) / a**2
    found = tp.grad(lambda s: np.sum(runtime.log_gamma(KEY, s)))(a)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_beta_and_dirichlet_are_differentiable():
    """Of independent variables the mean's derivative is the mean of the derivatives."""
    key, n = random.key(3), 4000
    found = tp.grad(lambda a, b: np.mean(random.beta(key, a, b, (n,))), (0, 1))(2.0, 3.0)
    np.testing.assert_allclose(found, [3 / 25, -2 / 25], atol=4e-3)
    alpha = np.array([0.5, 1.0, 2.5])
    found = tp.jacfwd(lambda s: np.mean(random.dirichlet(key, s, (n,)), axis=0))(alpha)
    np.testing.assert_allclose(found, (np.eye(3) * 4.0 - alpha[:, None]) / 16.0, atol=1e-2)


def test_tiny_parameters_of_beta_and_dirichlet():
    """Nearly all draws are 0 or 1: between ``e`` and ``1 - e`` lies a share of ``2 log(1 / e - 1) a b / (a + b)``. A draw of
    float32 is that of float64, rounded, and no parameter that a float32 holds is too small for it."""
    a, b, n = 1e-4, 2e-4, 200_000
    x = random.beta(random.key(0), a, b, (n,))
    share = 2 * np.log(999.0) * a * b / (a + b)
    between = np.sum((x > 1e-3) & (x < 1 - 1e-3))
    assert abs(between - n * share) < 4 * np.sqrt(n * share)
    assert abs(x.mean() - 1 / 3) < 4 * np.sqrt(2 / 9 / n)
    np.testing.assert_array_equal(random.beta(random.key(0), a, b, (n,), np.float32), x.astype(np.float32))
    for tiny in (1e-7, 1e-30, 1e-45):
        found = random.beta(KEY, tiny, 2 * tiny, (300,), np.float32)
        assert set(found) == {0.0, 1.0} and abs(found.mean() - 1 / 3) < 0.1
        slopes = tp.grad(lambda a, t=tiny: np.sum(random.beta(KEY, a, 2 * t, (300,))))(tiny)
        assert slopes == 0.0
        found = random.dirichlet(KEY, np.full(3, tiny), (300,), np.float32)
        np.testing.assert_array_equal(np.sort(found, axis=-1), [[0.0, 0.0, 1.0]] * 300)
        assert not np.any(tp.grad(lambda a: np.sum(random.dirichlet(KEY, a, (30,))[:, 0]))(np.full(3, tiny)))


def test_tiny_beta_has_the_slope_of_its_limit():
    """A logit ``log(u) / a - log(v) / b``, ``u`` and ``v`` held, as it is where both gamma variables are nothing beside 1."""
    a, b = np.full(20_000, 1e-3), np.full(20_000, 2e-3)
    x = random.beta(KEY, a, b)
    first, second = random.split(KEY)
    logs = random.loggamma(first, a), random.loggamma(second, b)
    seen = (x > 1e-6) & (x < 1 - 1e-6) & (logs[0] < -40) & (logs[1] < -40)
    assert seen.sum() > 50
    wanted = x * (1 - x) * (-logs[0] / a + scipy.special.digamma(a + 1) / a)
    found = tp.grad(lambda a: np.sum(random.beta(KEY, a, b)))(a)
    np.testing.assert_allclose(found[seen], wanted[seen], rtol=1e-9)
    assert np.all(np.isfinite(found))


def test_second_derivative_of_gamma():
    """Of the quantile, too: not of what the sampler happens to give."""
    a, h = np.array([0.4, 1.3, 5.0]), 2e-3
    share = stats.gamma.cdf(random.gamma(KEY, a), a)
    moved = [np.log(stats.gamma.ppf(share, a + k * h)) for k in (-1, 0, 1)]
    f = tp.grad(lambda s: np.sum(np.log(random.gamma(KEY, s))))
    wanted = (moved[0] - 2 * moved[1] + moved[2]) / h**2
    np.testing.assert_allclose(np.diag(tp.jacfwd(f)(a)), wanted, rtol=1e-3)


# ------------------------------------------------------------------------------------- shapes, emitted files


def shaped(key, x, n):
    return random.normal(key, x.shape), random.uniform(key, (n, 2), np.float32), random.split(key, n)


@pytest.mark.numba
def test_sizes_that_the_run_knows():
    compiled = tp.jit(shaped)
    for n in (0, 1, 3):
        x = np.ones((n, 4))
        for found, wanted in zip(compiled(KEY, x, n), shaped(KEY, x, n)):
            assert found.shape == wanted.shape and found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-14)
    for f in (shaped, compiled):
        with pytest.raises(ValueError, match="negative|cannot have the size -2"):
            f(KEY, np.ones((3, 4)), -2)


PROGRAM = """\
import numpy as np
import transpile as tp
import transpile.random as rnd
from transpile import random
from transpile.random import normal as gaussian

def loss(w, key, x):
    mask, noise = tp.random.split(rnd.fold_in(key, 3))
    kept = random.bernoulli(mask, 0.8, x.shape)
    return np.sum((np.where(kept, x, 0.0) @ (w + 0.1 * gaussian(noise, w.shape))) ** 2)
"""


SMALL = """\
from transpile.random import normal

def loss(w, key, x):
    return w @ (x.T @ normal(key, (2,))) ** 2
"""
EMITTED = [
    pytest.param(PROGRAM, [], marks=pytest.mark.slow),
    (PROGRAM, ["--standalone"]),
    pytest.param(SMALL, ["--jit", "--standalone"], marks=pytest.mark.numba),
]


@pytest.mark.parametrize("program, options", EMITTED, ids=["runtime", "standalone", "jit, standalone"])
def test_emitted_file(tmp_path, program, options):
    """Names are resolved through imports; the file imports nothing of transpile, and nothing of ours if it stands alone."""
    (tmp_path / "prog.py").write_text(program)
    types = ["--arg", "w=float64[d]", "--arg", "x=float64[n,d]", "--arg", "key=uint32[2]"]
    command = [sys.executable, "-m", "transpile", "grad", "prog.py:loss", "--wrt", "w", *types, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("import ", "from "))]
    assert not [line for line in lines if "transpile" in line and ("--standalone" in options or "_runtime" not in line)]
    assert options != ["--standalone"] or not any(
        "import scipy" in s or "from scipy" in s for s in done.stdout.splitlines()
    )
    scope, model = {"__name__": "out"}, {}
    file = tmp_path / "out.py"
    file.write_text(done.stdout)
    exec(compile(done.stdout, str(file), "exec"), scope)
    exec(program, model)
    w, x = np.array([0.1, 0.2, 0.3]), np.arange(6.0).reshape(2, 3)
    wanted = differences(model["loss"], (w, KEY, x), (0,))[0]
    np.testing.assert_allclose(scope["loss_grad"](w, KEY, x), wanted, rtol=1e-6)


# -------------------------------------------------------------------------------------------------- mistakes

MISTAKES = [
    ("random.normal(np.zeros(2))", TypeError, "T201", "not float64"),
    ("random.normal(0)", TypeError, "T201", "a key must be an array"),
    ("random.normal(np.zeros(3, np.uint32))", TypeError, "T201", "a key must be an array"),
    ("random.normal(random.split(key))", TypeError, "T201", "expected one key"),
    ("random.normal(key, (-1,))", ValueError, "T203", "negative"),
    ("random.uniform(key, (2,), np.int64)", TypeError, "T209", "float64 or float32"),
    ("random.bits(key, (2,), np.int32)", TypeError, "T201", "unsigned"),
    ("random.randint(key, (2,), 0.0, 5)", TypeError, "T201", "integers"),
    ("random.randint(key, (2,), 0, 5, np.float32)", TypeError, "T201", "integer dtype"),
    ("random.bernoulli(key, 1)", TypeError, "T201", "a probability must be a float"),
    (
        "random.choice(key, 3, (2,), p=np.array([0.5, 0.5]))",
        ValueError,
        "T131",
        "p must have one probability for each element",
    ),
    ("random.choice(key, 3, (4,), replace=False)", ValueError, "T131", "cannot draw 4 of 3 without replacement"),
    ("random.choice(key, 0, (4,))", ValueError, "T131", "cannot choose from an empty array"),
    ("random.permutation(key, np.ones((2, 2)), 2)", ValueError, "T131", "axis 2 is out of bounds"),
    ("random.permutation(key, 5, 1)", ValueError, "T131", "axis 1 is out of bounds"),
    ("random.randint(key, (2,), np.arange(6).reshape(3, 2), 9)", ValueError, "T202", "axis remapping"),
    ("random.bernoulli(key, np.full((3, 2), 0.5), (2,))", ValueError, "T202", "axis remapping"),
    ("random.gamma(key, 2.0, (2,), np.int32)", TypeError, "T201", "float64 or float32"),
    ("random.fold_in(key, 1.5)", TypeError, "T201", "integer"),
    ("random.gumbel(key, (2,), mode='fine')", ValueError, "T131", "'low' or 'high'"),
    ("random.key(1.5)", TypeError, "T201", "a seed must be an integer"),
    ("random.multivariate_normal(key, np.zeros(2), np.eye(2), method='qr')", ValueError, "T131", "'cholesky'"),
]


@pytest.mark.parametrize("text, error, code, message", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistakes(text, error, code, message):
    """The same is wrong before the run and in it."""
    f = tp.from_source(
        f"import numpy as np\nfrom transpile import random\ndef f(x, key):\n    return np.sum(x * {text})\n"
    )
    with pytest.raises(error, match=message):
        f(1.5, KEY)
    with pytest.raises(tp.TranspileError, match=message) as failed:
        tp.grad(f)(1.5, KEY)
    assert failed.value.codes == (code,)
    assert failed.value.diagnostics[0].loc.line == 4
