"""Matrices on which the linear algebra rules are checked: well conditioned, with well separated eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np


def _normal(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def several(*shapes: tuple[int, ...]) -> Any:
    """A function that returns a tuple of normally distributed arrays of these shapes."""
    return lambda: tuple(_normal(s, k) for k, s in enumerate(shapes))


def _regular(*shape: int) -> Any:
    """An array ``[*shape, n]`` of square matrices that are far from singular, where ``n`` is the last entry of ``shape``."""
    n = shape[-1]
    return _normal((*shape, n)) + 2.5 * np.eye(n)


def matrices() -> tuple[Any, ...]:
    return tuple((lambda shape=shape: (_regular(*shape),), {}) for shape in ((3,), (2, 3), (1,)))


def systems() -> tuple[Any, ...]:
    """Examples, each a function that returns a matrix and a right-hand side, and params: one vector, several, stacks that
    broadcast."""
    shapes = [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 3), (3, 2)), ((3,), (2, 3, 2))]
    return tuple((lambda a=a, b=b: (_regular(*a), _normal(b, 1)), {}) for a, b in shapes)


def definite(*shape: int) -> Any:
    """A function that returns a tuple of one array ``[*shape, n]`` of positive definite matrices, where ``n`` is the last of
    ``shape``."""

    def args() -> Any:
        x = _normal((*shape, shape[-1]))
        return (x @ np.swapaxes(x, -1, -2) + np.eye(shape[-1]),)

    return args


def symmetric(*shape: int) -> Any:
    def args() -> Any:
        x = _normal((*shape, shape[-1]))
        return (x + np.swapaxes(x, -1, -2),)

    return args
