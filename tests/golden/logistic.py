"""The example of the README and its variants: what their gradients look like is part of the interface."""

import numpy as np


def loss(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def loss_sum(w, x, y):
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def loss_weighted(w, x, y, weights):
    z = x @ w
    return np.sum(weights * (np.logaddexp(0.0, z) - y * z)) / np.sum(weights)


def loss_ridge(w, x, y, strength):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.5 * strength * np.sum(w**2)


def loss_axis(w, x, y):
    z = np.sum(x * w, axis=1)
    return np.mean(np.logaddexp(0.0, z) - y * z)


def loss_matrix(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def loss_softmax(w, x, y):
    z = x @ w
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - np.sum(y * z, axis=1))


def loss_intercept(w, b, x, y):
    z = x @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z)


def loss_loop(w, x, y):
    total = 0.0
    for i in range(len(y)):
        z = np.dot(x[i], w)
        total += np.logaddexp(0.0, z) - y[i] * z
    return total / len(y)


def loss_scalars(w, x, y):
    total = 0.0
    for i in range(x.shape[0]):
        z = 0.0
        for j in range(x.shape[1]):
            z += x[i, j] * w[j]
        total += np.log1p(np.exp(z)) - y[i] * z
    return total


def loss_squares(w, x, y):
    r = x @ w - y
    return 0.5 * np.sum(r**2)


def loss_tree(params, x, y):
    z = np.tanh(x @ params["w1"] + params["b1"]) @ params["w2"]
    return np.mean((z - y) ** 2)
