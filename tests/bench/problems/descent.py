"""Gradient descent with a step that grows and shrinks, until the gradient or the step is small: for particle and saddle.

A step that makes things better is taken, and after ten of them in a row the step is doubled; one that does not halves it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp

SMALL = 1e-5


def minimise(f, x):
    """Where ``f`` is smallest, by its gradient."""
    value, slope = tp.value_and_grad(f)(x)
    rate = SMALL
    count = 0
    while np.sqrt(np.sum(slope * slope)) > SMALL:
        if count == 10:
            rate = 2.0 * rate
            count = 0
        step = rate * slope
        if np.sqrt(np.sum(step * step)) <= SMALL:
            break
        new_value, new_slope = tp.value_and_grad(f)(x - step)
        if new_value < value:
            x = x - step
            value = new_value
            slope = new_slope
            count += 1
        else:
            rate = 0.5 * rate
            count = 0
    return x


def maximise(f, x):
    return minimise(lambda t: -f(t), x)


def jax_minimise(value_and_slope: Callable, x: Any) -> Any:
    """The same as a `lax.while_loop`, which JAX can differentiate only forward."""
    import jax
    import jax.numpy as jnp

    def goes_on(state):
        _, _, slope, _, _, done = state
        return (jnp.sqrt(jnp.sum(slope * slope)) > SMALL) & ~done

    def step(state):
        x, value, slope, rate, count, _ = state
        rate, count = jnp.where(count == 10, 2.0 * rate, rate), jnp.where(count == 10, 0, count)
        move = rate * slope
        done = jnp.sqrt(jnp.sum(move * move)) <= SMALL
        new = value_and_slope(x - move)
        better = (new[0] < value) & ~done
        pick = lambda a, b: jnp.where(better, a, b)  # noqa: E731
        return (
            pick(x - move, x),
            pick(new[0], value),
            pick(new[1], slope),
            pick(rate, 0.5 * rate),
            pick(count + 1, 0),
            done,
        )

    start = (x, *value_and_slope(x), SMALL, 0, False)
    return jax.lax.while_loop(goes_on, step, start)[0]


def torch_minimise(f: Callable, x: Any, again: bool = False) -> Any:
    """The same in eager PyTorch. ``again``: the result will be differentiated, so the graph of each gradient is kept."""
    import torch

    def value_and_slope(x):
        x = x if x.requires_grad else x.requires_grad_()
        value = f(x)
        return value, torch.autograd.grad(value, x, create_graph=again, allow_unused=True)[0]

    (value, slope), rate, count = value_and_slope(x), SMALL, 0
    while slope.norm().item() > SMALL:
        if count == 10:
            rate, count = 2.0 * rate, 0
        step = rate * slope
        if step.norm().item() <= SMALL:
            break
        moved = x - step if again else (x - step).detach()
        new_value, new_slope = value_and_slope(moved)
        if new_value.item() < value.item():
            x, value, slope, count = moved, new_value, new_slope, count + 1
        else:
            rate, count = 0.5 * rate, 0
    return x
