"""Random numbers that are functions of a key, named and laid out as in ``jax.random``.

A key is an array ``uint32[2]``; to draw twice, split it. The same key gives the same numbers everywhere: in NumPy, in transformed
functions, compiled, and in JAX with its 64 bits: `bits`, `split`, `fold_in`, `uniform`, `randint`, `bernoulli` and `permutation` to
the last bit, `normal` up to rounding. Floats are float64 unless a dtype says otherwise, integers int64. A draw is pure: a reverse
sweep may make it again, and what is differentiable in its parameters has its derivative.

What goes in: a key, and what NumPy takes for shapes and numbers. What comes out: arrays of NumPy. What is here is plain Python over
`transpile_runtime.random`, which runs as it stands and which the frontend lifts like the user's own functions: it must not use what
the frontend does not know.

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
