"""Distributions made of uniform, normal and gamma numbers, and numbers of events: their shares beside SciPy's; their derivatives
beside differences of the quantile; the same bits plain, interpreted, compiled and in lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import transpile as tp
from transpile import random
from transpile_runtime import random as runtime

KEY, N = random.key(11), 20_000
CONTINUOUS: dict[str, Any] = {
    "cauchy": (lambda k: random.cauchy(k, (N,)), stats.cauchy()),
    "cauchy32": (lambda k: random.cauchy(k, (N,), np.float32), stats.cauchy()),
    "pareto": (lambda k: random.pareto(k, 2.5, (N,)), stats.pareto(2.5)),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (N,)), stats.rayleigh(scale=2.0)),
    "weibull_min": (lambda k: random.weibull_min(k, 2.0, 1.5, (N,)), stats.weibull_min(1.5, scale=2.0)),
    "maxwell": (lambda k: random.maxwell(k, (N,)), stats.maxwell()),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (N,)), stats.chi2(3.0)),
    "t": (lambda k: random.t(k, 2.5, (N,)), stats.t(2.5)),
    "t32": (lambda k: random.t(k, 2.5, (N,), np.float32), stats.t(2.5)),
    "loggamma": (lambda k: random.loggamma(k, 0.7, (N,)), stats.loggamma(0.7)),
    # the radius of a point, to the power of the dimension, is uniform; so is a coordinate of a ball of dimension 3, on its own law
    "ball": (lambda k: np.sum(random.ball(k, 3, shape=(N,)) ** 2, axis=-1) ** 1.5, stats.uniform()),
    "ball, 1": (lambda k: np.sum(np.abs(random.ball(k, 2, 1, (N,))), axis=-1) ** 2, stats.uniform()),
    "ball, side": (lambda k: random.ball(k, 3, shape=(N,))[:, 1], stats.beta(2.0, 2.0, loc=-1.0, scale=2.0)),
    "orthogonal": (lambda k: random.orthogonal(k, 3, (N // 10,))[:, 1, 2], stats.uniform(-1.0, 2.0)),
}
DISCRETE: dict[str, Any] = {
    **{f"poisson {m}": (lambda k, m=m: random.poisson(k, m, (N,)), stats.poisson(m)) for m in (0.01, 3.0, 9.99, 10.0, 31.0, 1e4)},
    "geometric": (lambda k: random.geometric(k, 0.2, (N,)), stats.geom(0.2)),
    **{
        f"binomial {n} {p}": (lambda k, n=n, p=p: random.binomial(k, n, p, (N,)), stats.binom(n, p))
        for n, p in ((1, 0.3), (12, 0.7), (20, 0.5), (40, 0.5), (1000, 0.003), (1000, 0.9), (100_000, 0.2))
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str) -> None:
    draw, wanted = CONTINUOUS[name]
    assert stats.kstest(draw(KEY).astype(np.float64), wanted.cdf).pvalue > 1e-3


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    """Counts of the values, those of the tails together; mean and variance."""
    draw, wanted = DISCRETE[name]
    x = draw(KEY).astype(np.int64)
    edges = np.unique(wanted.ppf(np.linspace(0.02, 0.98, 25)))
    share = np.diff(np.concatenate([[0.0], wanted.cdf(edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, x), minlength=len(share))
    seen = share * N > 5
    found, expected = (np.append(v[seen], v[~seen].sum()) for v in (counts, share * N))
    keep = expected > 0
    assert stats.chisquare(found[keep], expected[keep] * (found[keep].sum() / expected[keep].sum())).pvalue > 1e-3
    assert abs(x.mean() - wanted.mean()) < 4.5 * wanted.std() / np.sqrt(N)
    spread = np.mean((x - wanted.mean()) ** 2) / wanted.var() - 1
    assert abs(spread) < 4.5 * np.sqrt((float(wanted.stats("k")) + 2) / N)


def test_large_numbers_of_events() -> None:
    """Where a float's rounding would be as large as a spread, probabilities are still those of the distribution."""
    for mean in (1e9, 1e13, 1e15):
        x = (random.poisson(KEY, mean, (4000,)) - mean) / np.sqrt(mean)
        assert stats.kstest(x, stats.norm.cdf).pvalue > 1e-3
        x = (random.binomial(KEY, 4.0 * mean, 0.25, (4000,)) - mean) / np.sqrt(0.75 * mean)
        assert stats.kstest(x, stats.norm.cdf).pvalue > 1e-3


def test_ends() -> None:
    lam = np.array([-1.0, np.nan, 0.0, np.inf, 1e25])
    np.testing.assert_array_equal(random.poisson(KEY, lam), [-1, -1, 0, 2**63 - 1024, 2**63 - 1024])
    np.testing.assert_array_equal(random.poisson(KEY, lam, None, np.uint8), [0, 0, 0, 255, 255])
    n, p = (
        np.array([-1.0, 5, 5, 5, np.inf, np.inf, 0, 3, 3]),
        np.array([0.5, -0.1, 1.1, np.nan, 0.3, 0.0, 0.1, 1.0, 0.0]),
    )
    np.testing.assert_array_equal(random.binomial(KEY, n, p), [np.nan] * 4 + [np.inf, 0, 0, 3, 0])
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(random.geometric(KEY, np.array([1.0, 1e-300]), None, np.int8), [1, 127])


def draws(k, a):
    return (
        random.poisson(k, a, (50,)), random.poisson(k, 40.0 * a, (50,), np.int32), random.binomial(k, 15, a / 4.0, (50,)),
        random.binomial(k, 900, a / 4.0, (50,), np.float32), random.geometric(k, a / 4.0, (50,)), random.cauchy(k, (9,)),
        random.pareto(k, a, (9,)), random.rayleigh(k, a, (9,)), random.weibull_min(k, a, 1.5, (9,)), random.maxwell(k, (9,)),
        random.chisquare(k, a, (9,)), random.t(k, a, (9,)), random.ball(k, 3, 1.0 + a, (4,)),
        random.beta(k, a, 1e-3, (9,)), random.loggamma(k, 1e-3 * a, (9,)),
    )  # fmt: skip


SLOW = (
    pytest.param("interpreted", marks=pytest.mark.slow),
    pytest.param("compiled", marks=[pytest.mark.numba, pytest.mark.slow]),
)


@pytest.mark.parametrize("transform", ["lanes", *SLOW])
def test_the_same_numbers(transform: str) -> None:
    """Integers to the last bit, floats up to the rounding of a logarithm."""
    keys, a = random.split(KEY, 4), np.array([0.3, 1.7, 2.5, 3.9])
    wanted = [draws(k, x) for k, x in zip(keys, a)]
    if transform == "lanes":
        found = list(zip(*(list(y) for y in tp.vmap(draws)(keys, a))))
    else:
        one = tp.jit(draws) if transform == "compiled" else tp.vmap(draws, in_axes=None, out_axes=None, axis_size=1)
        found = [one(k, x) for k, x in zip(keys, a)]
    for got, right in zip(found, wanted):
        for x, y in zip(got, right):
            assert x.dtype == y.dtype
            if x.dtype.kind == "i" or np.all(y == np.floor(y)):
                np.testing.assert_array_equal(x, y)
            else:
                np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-300)


# ---------------------------------------------------------------------------------------------------- derivatives

PARAMETERS: dict[str, Any] = {
    "pareto": (lambda a: random.pareto(KEY, a, (6,)), 2.5),
    "rayleigh": (lambda a: random.rayleigh(KEY, a, (6,)), 1.5),
    "weibull_min, scale": (lambda a: random.weibull_min(KEY, a, 1.5, (6,)), 2.0),
    "weibull_min, shape": (lambda a: random.weibull_min(KEY, 2.0, a, (6,)), 1.5),
}
IMPLICIT: dict[str, Any] = {
    "chisquare": (lambda a: random.chisquare(KEY, a, (6,)), 3.0, lambda a: stats.chi2(a)),
    "loggamma": (lambda a: random.loggamma(KEY, a, (6,)), 0.8, lambda a: stats.loggamma(a)),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_slopes_beside_differences(name: str) -> None:
    f, a = PARAMETERS[name]
    tp.check_grads(f, (a,), order=2)


@pytest.mark.parametrize("name", IMPLICIT)
def test_slopes_of_quantiles(name: str) -> None:
    """The number moves as the quantile does of the share that it had."""
    f, a, law = IMPLICIT[name]
    share, h = law(a).cdf(f(a)), 1e-5
    wanted = (law(a + h).ppf(share) - law(a - h).ppf(share)) / (2 * h)
    np.testing.assert_allclose(tp.jacfwd(f)(a), wanted, rtol=1e-5)
    np.testing.assert_allclose(tp.jacrev(f)(a), wanted, rtol=1e-5)


@pytest.mark.slow
def test_slopes_of_t_and_ball() -> None:
    """Of numbers with two random parts the mean's derivative is the mean of the derivatives."""
    found = tp.grad(lambda df: np.mean(random.t(KEY, df, (N,)) ** 2))(9.0)
    assert abs(found - (-2.0 / 49.0)) < 6e-3  # of df / (df - 2)
    found = tp.grad(lambda p: np.mean(np.abs(random.ball(KEY, 2, p, (N,)))))(2.0)
    h = 1e-4
    mean = [_mean_of_ball(2.0 + s * h) for s in (1, -1)]
    assert abs(found - (mean[0] - mean[1]) / (2 * h)) < 4e-3


def _mean_of_ball(p: float) -> float:
    """The mean of ``|x|`` over the points of a ball of dimension 2, by a sum over its side."""
    x = (np.arange(200_000) + 0.5) / 200_000
    height = (1 - x**p) ** (1 / p)
    return float(np.sum(x * height) / np.sum(height))


# ------------------------------------------------------------------------------------------- singular covariances

SINGULAR = {
    "one direction": np.outer([1.0, 2.0, -1.0], [1.0, 2.0, -1.0]),
    "two directions": np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 2.0]]),
    "nothing": np.zeros((3, 3)),
}


@pytest.mark.parametrize("name", SINGULAR)
@pytest.mark.parametrize("method", ["svd", "eigh"])
def test_singular_covariances(name: str, method: str) -> None:
    """A numerical eigenvalue a little below 0 is 0: the draws lie where the distribution does, and none is NaN."""
    cov, mean = SINGULAR[name], np.array([1.0, -2.0, 0.5])
    x = random.multivariate_normal(KEY, mean, cov, (N,), method=method)
    assert np.all(np.isfinite(x))
    np.testing.assert_allclose(np.cov(x.T), cov, atol=0.15)
    values, vectors = np.linalg.eigh(cov)
    np.testing.assert_allclose((x - mean) @ vectors[:, values < 1e-9], 0.0, atol=1e-6)
    lanes = tp.vmap(lambda k: random.multivariate_normal(k, mean, cov, (3,), method=method))(random.split(KEY, 2))
    wanted = [random.multivariate_normal(k, mean, cov, (3,), method=method) for k in random.split(KEY, 2)]
    np.testing.assert_allclose(lanes, wanted, atol=1e-7)
    slope = tp.grad(lambda m: np.sum(random.multivariate_normal(KEY, m, cov, (3,), method=method)))(mean)
    np.testing.assert_allclose(slope, [3.0, 3.0, 3.0])


def test_what_is_no_covariance() -> None:
    assert np.all(
        np.isnan(random.multivariate_normal(KEY, np.zeros(2), np.array([[1.0, 2.0], [2.0, 1.0]]), method="eigh"))
    )


MISTAKES = [
    ("random.poisson(key, 2.0, (2,), np.float32)", TypeError, "T201", "the dtype of poisson must be an integer dtype"),
    (
        "random.geometric(key, 0.5, (2,), np.float32)",
        TypeError,
        "T201",
        "the dtype of geometric must be an integer dtype",
    ),
    ("random.binomial(key, 5, 0.5, (2,), np.int64)", TypeError, "T201", "float64 or float32"),
    ("random.chisquare(key, 2.0, (2,), np.int64)", TypeError, "T201", "float64 or float32"),
    ("random.cauchy(key, (2,), np.int64)", TypeError, "T209", "float64 or float32"),
    ("random.t(np.zeros(2), 3.0)", TypeError, "T201", "a key must be"),
]


@pytest.mark.parametrize("text, error, code, message", MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistakes(text: str, error: Any, code: str, message: str) -> None:
    f = tp.from_source(
        f"import numpy as np\nfrom transpile import random\ndef f(x, key):\n    return np.sum(x * {text})\n"
    )
    with pytest.raises(error, match=message):
        f(1.5, KEY)
    with pytest.raises(tp.TranspileError, match=message) as failed:
        tp.grad(f)(1.5, KEY)
    assert failed.value.codes == (code,)


def test_runtime_counts_of_keys() -> None:
    keys, a = random.split(KEY, (2, 3)), np.linspace(0.5, 60.0, 30).reshape(2, 3, 5)
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(runtime.poisson(keys, a)[i], runtime.poisson(keys[i], a[i]))
        np.testing.assert_array_equal(
            runtime.binomial(keys, 2.0 * a, a / 99)[i], runtime.binomial(keys[i], 2.0 * a[i], a[i] / 99)
        )
