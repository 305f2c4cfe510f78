"""Parts of arrays whose places are data: they are moved into the array, as in JAX, where NumPy would raise or give less."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.lax import checks


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """The part of ``operand`` of ``slice_sizes`` that begins at ``start_indices``: one integer for each axis, a negative one
    counts from the end. A part that would reach out of the array is moved into it. T203 where a size is larger than the array's,
    or there are not as many as axes.

    >>> dynamic_slice(np.arange(10), [8], [3])
    array([7, 8, 9])
    """
    starts = checks.starts("dynamic_slice", operand, start_indices, slice_sizes)
    return checks.part(operand, starts, slice_sizes)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """A copy of ``operand`` with ``update`` in the place that begins at ``start_indices``, moved into the array as
    `dynamic_slice` does. T203 where the update has another rank or is larger, T201 where its dtype differs.

    >>> dynamic_update_slice(np.zeros(5), np.array([1.0, 2.0]), (4,))
    array([0., 0., 0., 1., 2.])
    """
    checks.same_dtype("dynamic_update_slice", operand, update)
    starts = checks.starts("dynamic_update_slice", operand, start_indices, np.shape(update))
    return checks.replaced(operand, starts, update)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The part of ``operand`` at ``index`` along an axis, which stays as one of size 1 if ``keepdims``; the index is moved into
    the array as by `dynamic_slice`.

    >>> dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 7, keepdims=False)
    array([3, 4])
    """
    checks.integer("the index of dynamic_index_in_dim", index, "T207")
    n = np.shape(operand)[axis]
    k = np.clip(np.where(index < 0, index + n, index), 0, n - 1)
    found = np.take(operand, k, axis=axis)
    return np.expand_dims(found, axis) if keepdims else found


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """`dynamic_slice` along one axis, all of the others.

    >>> dynamic_slice_in_dim(np.arange(6).reshape(2, 3), 5, 2, axis=1)
    array([[1, 2],
           [4, 5]])
    """
    starts, sizes = [0] * np.ndim(operand), list(np.shape(operand))
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """`dynamic_update_slice` whose place along one axis is given; along the others it begins at 0.

    >>> dynamic_update_slice_in_dim(np.zeros(5), np.ones(2), 1, axis=0)
    array([0., 1., 1., 0., 0.])
    """
    starts = [0] * np.ndim(operand)
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """A copy of ``operand`` with ``update``, which may lack the axis, at ``index`` along it.

    >>> dynamic_update_index_in_dim(np.zeros((2, 3)), np.array([1.0, 2.0]), 1, axis=1)
    array([[0., 1., 0.],
           [0., 2., 0.]])
    """
    whole = np.expand_dims(update, axis) if np.ndim(update) < np.ndim(operand) else update
    return dynamic_update_slice_in_dim(operand, whole, index, axis)


def top_k(operand: Any, k: int) -> tuple[Any, Any]:
    """The ``k`` largest elements along the last axis, the largest first, and their indices; of equal ones the first comes first.
    NaN is larger than all. T203 where the axis is shorter. The derivative goes through the values.

    >>> values, indices = top_k(np.array([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    >>> values, indices
    (array([5., 4.]), array([4, 2]))
    """
    n = checks.last_axis("top_k", operand)
    checks.at_most("top_k", k, n)
    ascending = np.argsort(np.flip(operand, -1), axis=-1, kind="stable")
    indices = (n - 1) - np.flip(ascending, -1)[..., :k]
    return np.take_along_axis(operand, indices, axis=-1), indices
