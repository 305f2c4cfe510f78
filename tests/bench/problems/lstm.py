"""LSTM with diagonal weights, predicting the next character of a text (the LSTM of ADBench)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.idioms import jax_gradient, torch_gradient
from bench.native import at, function
from bench.problem import Problem


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def lstm(main, extra, state, sequence):
    layers = len(main) // 2
    b = len(sequence[0])
    hidden = state[0::2].copy()
    cell = state[1::2].copy()
    total = 0.0
    for t in range(len(sequence) - 1):
        x = sequence[t] * extra[0]
        for i in range(layers):
            weight = main[2 * i]
            bias = main[2 * i + 1]
            forget = sigmoid(x * weight[:b] + bias[:b])
            ingate = sigmoid(hidden[i] * weight[b : 2 * b] + bias[b : 2 * b])
            outgate = sigmoid(x * weight[2 * b : 3 * b] + bias[2 * b : 3 * b])
            change = np.tanh(hidden[i] * weight[3 * b :] + bias[3 * b :])
            cell[i] = cell[i] * forget + ingate * change
            hidden[i] = outgate * np.tanh(cell[i])
            x = hidden[i]
        prediction = x * extra[1] + extra[2]
        normalised = prediction - np.log(np.sum(np.exp(prediction)) + 2.0)
        total += np.sum(sequence[t + 1] * normalised)
    return -total / ((len(sequence) - 1) * b)


def layer(xp: Any, sigmoid: Callable, weight: Any, bias: Any, hidden: Any, cell: Any, x: Any) -> Any:
    """The new hidden state and cell, in a library with NumPy's function names; weights are of shape (4, b)."""
    forget = sigmoid(x * weight[0] + bias[0])
    ingate = sigmoid(hidden * weight[1] + bias[1])
    outgate = sigmoid(x * weight[2] + bias[2])
    change = xp.tanh(hidden * weight[3] + bias[3])
    cell = cell * forget + ingate * change
    return outgate * xp.tanh(cell), cell


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def value(main, extra, state, sequence):
        layers, b = len(main) // 2, sequence.shape[1]
        weights = main.reshape(layers, 2, 4, b)

        def step(carry, pair):
            now, following = pair
            x, new = now * extra[0], []
            for i, (hidden, cell) in enumerate(carry):
                x, cell = layer(jnp, jax.nn.sigmoid, weights[i, 0], weights[i, 1], hidden, cell, x)
                new.append((x, cell))
            prediction = x * extra[1] + extra[2]
            normalised = prediction - jnp.log(jnp.sum(jnp.exp(prediction)) + 2.0)
            return new, jnp.sum(following * normalised)

        start = [(state[2 * i], state[2 * i + 1]) for i in range(layers)]
        totals = jax.lax.scan(step, start, (sequence[:-1], sequence[1:]))[1]
        return -jnp.sum(totals) / ((len(sequence) - 1) * b)

    return jax_gradient(value, (0, 1))


def of_torch() -> Callable:
    import torch

    def value(main, extra, state, sequence):
        layers, b = len(main) // 2, sequence.shape[1]
        weights = [[half.unbind(0) for half in pair.unbind(0)] for pair in main.reshape(layers, 2, 4, b).unbind(0)]
        states = [(state[2 * i], state[2 * i + 1]) for i in range(layers)]
        inputs, outputs = (sequence[:-1] * extra[0]).unbind(0), []
        for x in inputs:
            for i, (weight, bias) in enumerate(weights):
                states[i] = layer(torch, torch.sigmoid, weight, bias, *states[i], x)
                x = states[i][0]
            outputs.append(x)
        prediction = torch.stack(outputs) * extra[1] + extra[2]
        normalised = prediction - torch.log(torch.exp(prediction).sum(1, keepdim=True) + 2.0)
        return -torch.sum(sequence[1:] * normalised) / ((len(sequence) - 1) * b)

    return torch_gradient(value, (0, 1))


def of_c() -> Callable:
    call = function("lstm", "iiipppppp")

    def value_and_gradient(main, extra, state, sequence):
        layers, (count, b) = len(main) // 2, sequence.shape
        bars = np.zeros_like(main), np.zeros_like(extra)
        value = call(layers, count, b, at(main), at(extra), at(state), at(sequence), *(at(bar) for bar in bars))
        return value, bars

    return value_and_gradient


def arguments(layers: int, count: int, b: int = 14) -> tuple:
    rng = np.random.default_rng(6)
    main, extra, state = (rng.normal(scale=0.5, size=shape) for shape in ((2 * layers, 4 * b), (3, b), (2 * layers, b)))
    return main, extra, state, np.eye(b)[rng.integers(b, size=count)]


PROBLEMS = tuple(
    Problem(
        "lstm",
        "problems",
        size,
        lstm,
        lambda shape=shape: arguments(*shape),
        (0, 1),
        jax=of_jax,
        torch=of_torch,
        c=of_c,
    )
    for size, shape in (("small", (1, 16)), ("medium", (2, 1_024)), ("large", (4, 4_096)))
)
