"""Layers of neural networks, channels last, in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax


def conv(x, weights, padding="VALID"):
    return lax.conv_general_dilated(x, weights, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv2d_bias(x, weights, bias):
    return jnp.sum(conv(x, weights) + bias)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def lenet(x, conv1, bias1, conv2, bias2, w1, b1, w2, b2, w3, b3):
    x = max_pool(jax.nn.relu(conv(x, conv1) + bias1))
    x = max_pool(jax.nn.relu(conv(x, conv2) + bias2))
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ w1 + b1)
    x = jax.nn.relu(x @ w2 + b2)
    return jnp.sum(x @ w3 + b3)


def mlp(x, targets, w1, b1, w2, b2, w3, b3):
    x = jax.nn.relu(x @ w1 + b1)
    x = jax.nn.relu(x @ w2 + b2)
    return -jnp.sum(targets * jax.nn.log_softmax(x @ w3 + b3, axis=-1))


def batch_norm(x):
    mean, var = jnp.mean(x, axis=(0, 1, 2)), jnp.var(x, axis=(0, 1, 2))
    return (x - mean) / jnp.sqrt(var + 1e-5)


def resnet(x, weights1, weights2, weights3):
    y = jax.nn.relu(batch_norm(x @ weights1))
    y = jax.nn.relu(batch_norm(conv(y, weights2, "SAME")))
    return jnp.sum(jax.nn.relu(batch_norm(y @ weights3) + x))
