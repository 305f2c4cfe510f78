"""Draws as expressions of a module ``r`` (ours, or `jax.random`), a key ``k``, NumPy and some arrays; and JAX's results for
them.

`JAX` is the version that printed the values in `random_values`; ``python tests/random_cases.py`` prints them anew if JAX is
installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ARRAYS: dict[str, Any] = {
    "logits": np.array([[0.1, -2.0, 0.7, 1.5], [0.0, 0.3, -0.2, -5.0]]),
    "x": np.arange(12.0).reshape(3, 4),
    "p": np.array([0.1, 0.2, 0.3, 0.4]),
    "cov": np.array([[2.0, 0.3], [0.3, 1.0]]),
}

EXACT = """
r.PRNGKey(-3)
r.PRNGKey(np.int32(-3))
r.PRNGKey(True)
r.fold_in(k, np.uint8(3))
r.split(k)
r.split(k, (2, 3))
r.fold_in(k, 7)
r.fold_in(k, 2**32 - 1)
r.bits(k)
r.bits(k, (5,), "uint8")
r.bits(k, (5,), "uint16")
r.bits(k, (2, 2), "uint32")
r.bits(k, (3,), "uint64")
r.uniform(k, (4,), "float64")
r.uniform(k, (4,), "float32")
r.uniform(k)
r.uniform(k, (9,), "float64", -0.3, 0.77)
r.uniform(k, (9,), "float32", -0.3, 0.77)
r.uniform(k, (5,), "float64", 1.1, 1e6)
r.uniform(k, (3, 4), "float64", x, 2.0 * x + 1.0)
r.uniform(k, (2,), "float64", 3.0, 2.0)
r.uniform(k, (3,), "float64", -1e308, 1e308)
r.uniform(k, (3,), "float32", 0.0, np.inf)
r.uniform(k, (3,), "float64", np.nan, 1.0)
r.bernoulli(k)
r.bernoulli(k, 0.3, (9,))
r.bernoulli(k, p)
r.bernoulli(k, 0.3, (9,), "high")
r.randint(k, (), 0, 1000)
r.randint(k, (9,), -7, 9)
r.randint(k, (4,), 3, 100, "int8")
r.randint(k, (4,), 3, 100, "uint8")
r.randint(k, (4,), 3, 100, "int16")
r.randint(k, (4,), 3, 100, "int32")
r.randint(k, (4,), 3, 100, "uint32")
r.randint(k, (4,), 3, 100, "uint64")
r.randint(k, (4,), -3, 9, "uint64")
r.randint(k, (3, 4), np.arange(4), 300, "uint8")
r.bernoulli(k, p, (3, 4), "high")
r.randint(k, (4,), -(2**62), 2**62 + 5)
r.randint(k, (4,), -(2**33), 2**33, "int32")
r.randint(k, (4,), -500, 500, "int8")
r.randint(k, (4,), -5, 2**31, "int32")
r.randint(k, (3,), 5, 5)
r.randint(k, (2, 2), np.array([[0], [10]]), np.array([5, 20]))
r.rademacher(k, (7,))
r.rademacher(k, (7,), "int32")
r.permutation(k, 9)
r.permutation(k, 1)
r.permutation(k, 1700)[:9]
r.permutation(k, x)
r.permutation(k, x, 1)
r.permutation(k, x, 1, True)
r.choice(k, 10, (5,))
r.choice(k, 10)
r.choice(k, 10, (2, 3), False)
r.choice(k, 4, (9,), p=p)
r.choice(k, 4, (3,), False, p)
r.choice(k, 4, (3,), p=np.array([1, 2, 3, 4]))
r.choice(k, x, (2, 2), axis=1)
r.choice(k, x, (2,), False)
r.choice(k, x, (2, 2), False, axis=1)
r.geometric(k, 0.3, (9,))
r.geometric(k, p)
r.geometric(k, p, (3, 4), "int32")
r.geometric(k, np.float32(0.01), (9,), "uint8")
r.geometric(k, 1.0, (3,))
r.categorical(k, logits)
r.categorical(k, logits[0])
r.categorical(k, logits, mode="high")
r.categorical(k, logits, shape=(3, 2))
r.categorical(k, logits, 0, (3, 4))
""".strip().splitlines()
NEAR = """
r.normal(k)
r.normal(k, (9,), "float64")
r.normal(k, (9,), "float32")
r.gumbel(k, (5,), "float64")
r.gumbel(k, (5,), "float32")
r.gumbel(k, (5,), "float64", "high")
r.gumbel(k, (2, 5), "float32", "high")
r.exponential(k, (5,))
r.laplace(k, (5,), "float64")
r.laplace(k, (5,), "float32")
r.logistic(k, (5,), "float64")
r.logistic(k, (5,), "float32")
r.truncated_normal(k, -1.0, 2.0, (5,), "float64")
r.truncated_normal(k, -1.0, 2.0, (5,), "float32")
r.truncated_normal(k, -p, 2.0)
r.multivariate_normal(k, p[:2], cov, (2,))
r.cauchy(k, (5,), "float64")
r.cauchy(k, (5,), "float32")
r.pareto(k, 2.5, (5,), "float64")
r.pareto(k, np.float32(2.5), (5,), "float32")
r.pareto(k, p)
r.rayleigh(k, p)
r.rayleigh(k, 2.0, (5,), "float32")
r.weibull_min(k, 2.0, 1.5, (5,))
r.weibull_min(k, np.float32(2.0), np.float32(0.5), (5,), "float32")
r.weibull_min(k, p, 1.5 * p)
r.maxwell(k, (5,), "float64")
r.maxwell(k, (2, 2), "float32")
r.orthogonal(k, 3)
r.orthogonal(k, 2, (2,), "float64", 4)
r.orthogonal(k, 4, m=2)
""".strip().splitlines()
CASES = [*EXACT, *NEAR]


def values(r: Any, key: Any) -> dict[str, np.ndarray]:
    """The values of all cases, with the functions of a module."""
    return {case: np.asarray(eval(case, {"r": r, "k": key, "np": np, **ARRAYS})) for case in CASES}


def is_near(case: str, found: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether two values are equal, or equal up to rounding where no more is promised."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if case in EXACT:
        return np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f")
    return np.allclose(found, wanted, rtol=0, atol=(1e-6 if wanted.dtype == np.float32 else 1e-13) * _size(wanted))


def _size(x: np.ndarray) -> float:
    return max(1.0, float(np.max(np.abs(x))))


def main() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    print('"""What JAX draws with the key 42: written by tests/random_cases.py."""\n')
    print("import numpy as np\nfrom numpy import inf, nan\n")
    print(f'JAX = "{jax.__version__}"\n# fmt: off\nVALUES = {{')
    for case, value in values(jax.random, jax.random.PRNGKey(42)).items():
        dtype = value.dtype.name.replace("bool", "bool_")
        print(f"    {case!r}: np.array({value.tolist()!r}, np.{dtype}),")
    print("}")


if __name__ == "__main__":
    main()
