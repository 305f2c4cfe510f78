"""Layers of neural networks, channels last."""

from __future__ import annotations

import numpy as np
from corpus.program import normal

from bench.kernels2.kernel import Kernel


def relu(x):
    return np.maximum(x, 0.0)


def conv2d(x, weights):
    """Without padding, one position of the result after another."""
    size = weights.shape[0]
    height = x.shape[1] - size + 1
    width = x.shape[2] - size + 1
    out = np.empty((x.shape[0], height, width, weights.shape[3]))
    for i in range(height):
        for j in range(width):
            window = x[:, i : i + size, j : j + size, :, np.newaxis]
            out[:, i, j, :] = np.sum(window * weights[np.newaxis, :, :, :, :], axis=(1, 2, 3))
    return out


def conv2d_bias(x, weights, bias):
    return np.sum(conv2d(x, weights) + bias)


def conv2d_bias_args(batch: int, side: int, c_in: int, c_out: int, size: int) -> tuple:
    return normal(batch, side, side, c_in), normal(size, size, c_in, c_out, seed=1) / size, normal(c_out, seed=2)


def max_pool(x):
    """Of squares of four."""
    out = np.empty((x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]))
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            out[:, i, j, :] = np.max(x[:, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, :], axis=(1, 2))
    return out


def lenet(x, conv1, bias1, conv2, bias2, w1, b1, w2, b2, w3, b3):
    x = max_pool(relu(conv2d(x, conv1) + bias1))
    x = max_pool(relu(conv2d(x, conv2) + bias2))
    x = np.reshape(x, (x.shape[0], w1.shape[0]))
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return np.sum(x @ w3 + b3)


def lenet_args(batch: int, side: int, c1: int, c2: int, hidden: int) -> tuple:
    flat = (((side - 4) // 2 - 4) // 2) ** 2 * c2
    shapes = ((5, 5, 1, c1), (c1,), (5, 5, c1, c2), (c2,), (flat, hidden), (hidden,), (hidden, hidden), (hidden,))
    shapes += ((hidden, 10), (10,))
    weights = [normal(*s, seed=k) / np.sqrt(np.prod(s[:-1])) for k, s in enumerate(shapes)]
    return normal(batch, side, side, 1, seed=99), *weights


def mlp(x, targets, w1, b1, w2, b2, w3, b3):
    """Three layers; the cross-entropy, as a plain sum of the outputs is constant."""
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    x = x @ w3 + b3
    x = x - np.max(x, axis=-1, keepdims=True)
    return np.sum(targets * (np.log(np.sum(np.exp(x), axis=-1, keepdims=True)) - x))


def mlp_args(batch: int, c_in: int, s1: int, s2: int, s3: int) -> tuple:
    shapes = ((c_in, s1), (s1,), (s1, s2), (s2,), (s2, s3), (s3,))
    weights = [normal(*s, seed=k) / np.sqrt(s[0]) for k, s in enumerate(shapes)]
    return normal(batch, c_in, seed=98), np.eye(s3)[np.arange(batch) % s3], *weights


def batch_norm(x):
    mean = np.mean(x, axis=(0, 1, 2))
    var = np.var(x, axis=(0, 1, 2))
    return (x - mean) / np.sqrt(var + 1e-5)


def conv3x3(x, weights):
    """With a frame of zeros, one tap of the filter after another."""
    padded = np.zeros((x.shape[0], x.shape[1] + 2, x.shape[2] + 2, x.shape[3]))
    padded[:, 1:-1, 1:-1, :] = x
    out = np.zeros((x.shape[0], x.shape[1], x.shape[2], weights.shape[3]))
    for i in range(3):
        for j in range(3):
            out += padded[:, i : i + x.shape[1], j : j + x.shape[2], :] @ weights[i, j]
    return out


def resnet(x, weights1, weights2, weights3):
    """One block with a bottleneck."""
    y = relu(batch_norm(x @ weights1))
    y = relu(batch_norm(conv3x3(y, weights2)))
    return np.sum(relu(batch_norm(y @ weights3) + x))


def resnet_args(batch: int, side: int, wide: int, narrow: int) -> tuple:
    shapes = ((wide, narrow), (3, 3, narrow, narrow), (narrow, wide))
    weights = [normal(*s, seed=k) / np.sqrt(np.prod(s[:-1])) for k, s in enumerate(shapes)]
    return normal(batch, side, side, wide, seed=97), *weights


KERNELS = (
    Kernel(conv2d_bias, conv2d_bias_args, (2, 4, 2, 3, 2), (4, 32, 3, 16, 5)),
    Kernel(lenet, lenet_args, (2, 16, 2, 3, 4), (8, 28, 6, 16, 100), numba_ok=False),
    Kernel(mlp, mlp_args, (3, 4, 5, 6, 4), (64, 256, 512, 512, 10), numba_ok=False),
    Kernel(resnet, resnet_args, (2, 4, 3, 2), (4, 28, 64, 16), numba_ok=False),
)
