"""Random draws as pure functions of a key, with the names and signatures of ``jax.random``.

A key is an array ``uint32[2]``, made by `key` from an integer; to draw more than once, `split` it. The generator is
Threefry-2x32. A key gives the same numbers in NumPy, in transformed and in compiled functions. JAX in 64-bit mode gives them
too: `bits`, `split`, `fold_in`, `uniform`, `randint`, `bernoulli` and `permutation` agree to the last bit, the other
distributions up to rounding, unless their docstring says otherwise. Results are NumPy arrays, of float64 or int64 unless
``dtype`` is given. Draws of real numbers are differentiable in their parameters; a reverse sweep may repeat a draw instead of
recording it. A shape is an int or a tuple. Invalid arguments raise ValueError, invalid types and dtypes TypeError.

>>> import numpy as np
>>> from transpile import random
>>> random.uniform(random.key(0), (3,), np.float32)
array([0.947667  , 0.9785799 , 0.33229148], dtype=float32)
>>> first, second = random.split(random.key(42))
>>> random.randint(first, (5,), 0, 10)
array([6, 6, 1, 6, 6])
"""

from transpile.random.continuous import (
    exponential,
    gumbel,
    laplace,
    logistic,
    multivariate_normal,
    normal,
    truncated_normal,
    uniform,
)
from transpile.random.counts import binomial, geometric, poisson
from transpile.random.discrete import bernoulli, categorical, choice, permutation, rademacher, randint
from transpile.random.gammas import ball, beta, chisquare, dirichlet, gamma, loggamma, t
from transpile.random.keys import PRNGKey, bits, fold_in, key, split
from transpile.random.quantiles import cauchy, maxwell, orthogonal, pareto, rayleigh, weibull_min

__all__ = [
    "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "dirichlet",
    "exponential", "fold_in", "gamma", "geometric", "gumbel", "key", "laplace", "loggamma", "logistic", "maxwell",
    "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson", "rademacher", "randint", "rayleigh",
    "split", "t", "truncated_normal", "uniform", "weibull_min",
]  # fmt: skip
