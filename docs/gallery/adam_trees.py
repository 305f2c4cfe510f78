"""Adam over trees: train a small network whose parameters are a list of named tuples.

A gradient has the structure of its argument, so an optimiser is a few calls of `tp.tree.map`. The whole
step, gradient and update, is one compiled function. The test checks the gradient with `tp.check_grads` and the
trained network against the curve that it learned.
"""

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import transpile as tp


class Layer(NamedTuple):
    weight: np.ndarray
    bias: np.ndarray


def network(layers, x):
    for layer in layers[:-1]:
        x = np.tanh(x @ layer.weight + layer.bias)
    return x @ layers[-1].weight + layers[-1].bias


def loss(layers, x, y):
    return np.mean((network(layers, x)[:, 0] - y) ** 2)


def adam(grad, params, first, second, step, rate):
    """One step of Kingma and Ba's method: new parameters and new moments."""
    first = tp.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grad)
    second = tp.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grad)
    one, two = 1.0 - 0.9**step, 1.0 - 0.999**step
    params = tp.tree.map(lambda p, m, v: p - rate * (m / one) / (np.sqrt(v / two) + 1e-8), params, first, second)
    return params, first, second


@tp.jit
def train(params, first, second, step, x, y):
    value, grad = tp.value_and_grad(loss)(params, x, y)
    return (value, *adam(grad, params, first, second, step, 0.01))


def start(sizes, rng):
    pairs = zip(sizes[:-1], sizes[1:], strict=True)
    return [Layer(rng.normal(size=(a, b)) / np.sqrt(a), np.zeros(b)) for a, b in pairs]


def main(sizes=(1, 12, 12, 1), steps=1500):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1.0, 1.0, size=(200, 1))
    y = np.sin(3.0 * np.pi * x[:, 0]) * x[:, 0] + 0.05 * rng.normal(size=200)
    initial = params = start(sizes, rng)
    first = second = tp.tree.map(np.zeros_like, params)
    history = np.zeros(steps)
    for k in range(steps):
        history[k], params, first, second = train(params, first, second, float(k + 1), x, y)
    grid = np.linspace(-1.0, 1.0, 200)
    found = network(params, grid[:, None])[:, 0]
    error = np.sqrt(np.mean((found - np.sin(3.0 * np.pi * grid) * grid) ** 2))
    print(f"loss {history[0]:.3f} at the start, {history[-1]:.4f} after {steps} steps; noise alone: {0.05**2:.4f}")
    print(f"error of the curve {error:.3f}")
    return {"x": x, "y": y, "initial": initial, "history": history, "grid": grid, "found": found, "error": error}


def draw(result):
    figure, axes = plt.subplots()
    axes.plot(result["x"][:, 0], result["y"], ".", label="data")
    axes.plot(result["grid"], result["found"], label="network")
    axes.set(xlabel="x", ylabel="y")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("adam_trees.png")
