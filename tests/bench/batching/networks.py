"""Networks and a regression: gradients of each example, a step of training, a Hessian."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

import transpile as tp
from bench.batching.batched import batched
from bench.problem import Problem

LAYERS = (784, 128, 10)
RATE = 0.1


def cross_entropy(params, x, label):
    """Of one example under a network with one hidden layer."""
    first, second = params
    hidden = np.tanh(x @ first["w"] + first["b"])
    logits = hidden @ second["w"] + second["b"]
    return logsumexp(logits) - logits[label]


def training_step(params, xs, labels):
    """Gradient descent on the mean over the examples: the loss of an example is batched, the mean differentiated."""

    def loss(params):
        return np.mean(tp.vmap(cross_entropy, in_axes=(None, 0, 0))(params, xs, labels))

    value, gradient = tp.value_and_grad(loss)(params)
    return value, tp.tree.map(lambda w, g: w - RATE * g, params, gradient)


def network(examples: int) -> tuple:
    rng = np.random.default_rng(1)
    params = tuple(
        {"w": rng.normal(size=(n, m)) / np.sqrt(n), "b": rng.normal(size=m)} for n, m in zip(LAYERS, LAYERS[1:])
    )
    return params, rng.normal(size=(examples, LAYERS[0])), rng.integers(LAYERS[-1], size=examples)


def entropy_of_jax(params, x, label):
    import jax

    first, second = params
    hidden = jax.numpy.tanh(x @ first["w"] + first["b"])
    logits = hidden @ second["w"] + second["b"]
    return jax.scipy.special.logsumexp(logits) - logits[label]


def entropy_of_torch(params, x, label):
    import torch

    first, second = params
    hidden = torch.tanh(x @ first["w"] + first["b"])
    logits = hidden @ second["w"] + second["b"]
    return torch.logsumexp(logits, 0) - logits.gather(0, label[None])[0]  # the index of a lane is no Python number


def examples_of_jax() -> Callable:
    import jax

    return jax.jit(jax.vmap(jax.grad(entropy_of_jax), in_axes=(None, 0, 0)))


def examples_of_torch() -> Callable:
    import torch

    return torch.func.vmap(torch.func.grad(entropy_of_torch), in_dims=(None, 0, 0))


def step_of_jax() -> Callable:
    import jax

    def step(params, xs, labels):
        def loss(params):
            return jax.numpy.mean(jax.vmap(entropy_of_jax, in_axes=(None, 0, 0))(params, xs, labels))

        value, gradient = jax.value_and_grad(loss)(params)
        return value, jax.tree.map(lambda w, g: w - RATE * g, params, gradient)

    return jax.jit(step)


def step_of_torch() -> Callable:
    import torch

    def step(params, xs, labels):
        def loss(params):
            return torch.mean(torch.func.vmap(entropy_of_torch, in_dims=(None, 0, 0))(params, xs, labels))

        gradient, value = torch.func.grad_and_value(loss)(params)
        return value, torch.utils._pytree.tree_map(lambda w, g: w - RATE * g, params, gradient)

    return step


# ----------------------------------------------------------------------------------------------- a regression


def logistic(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def regression(n: int, d: int) -> tuple:
    rng = np.random.default_rng(2)
    return 0.3 * rng.normal(size=d), rng.normal(size=(n, d)), (rng.uniform(size=n) > 0.5) * 1.0


def logistic_of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def loss(w, x, y):
        z = x @ w
        return jnp.mean(jnp.logaddexp(0.0, z) - y * z)

    return jax.jit(jax.hessian(loss))


def logistic_of_torch() -> Callable:
    import torch

    def loss(w, x, y):
        z = x @ w
        return torch.mean(torch.nn.functional.softplus(z) - y * z)

    return torch.func.hessian(loss)


PROBLEMS: tuple[Problem, ...] = (
    batched(
        "per_example_gradients",
        cross_entropy,
        lambda f: tp.vmap(tp.grad(f), in_axes=(None, 0, 0)),
        lambda: network(256),
        examples_of_jax,
        examples_of_torch,
        "vmap(grad)",
    ),
    batched(
        "training_step",
        training_step,
        lambda f: f,
        lambda: network(128),
        step_of_jax,
        step_of_torch,
        "grad of vmap",
    ),
    batched(
        "logistic_hessian",
        logistic,
        tp.hessian,
        lambda: regression(1000, 50),
        logistic_of_jax,
        logistic_of_torch,
        "hessian",
    ),
)
