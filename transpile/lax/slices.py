"""Slices with dynamic positions: as in JAX, a slice that would reach out of the array is moved into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.lax import checks


def dynamic_slice(operand: Any, start_indices: Any, slice_sizes: Sequence[int]) -> Any:
    """A copy of the slice of ``operand`` with shape ``slice_sizes`` that begins at ``start_indices``.

    Both have one integer for each axis; a negative start counts from the end. A slice that would reach out of the array is
    moved into it. T203 if a size exceeds that of the array or the number of entries is wrong, T207 for a start that is not an
    integer.

    >>> dynamic_slice(np.arange(10), [8], [3])
    array([7, 8, 9])
    """
    starts = checks.starts("dynamic_slice", operand, start_indices, slice_sizes)
    return checks.part(operand, starts, slice_sizes)


def dynamic_update_slice(operand: Any, update: Any, start_indices: Any) -> Any:
    """A copy of ``operand`` in which ``update`` replaces the slice of its shape that begins at ``start_indices``.

    The slice is moved into the array as by `dynamic_slice`. T203 if the update has another rank or is larger, T201 if its dtype
    differs.

    >>> dynamic_update_slice(np.zeros(5), np.array([1.0, 2.0]), (4,))
    array([0., 0., 0., 1., 2.])
    """
    checks.same_dtype("dynamic_update_slice", operand, update)
    starts = checks.starts("dynamic_update_slice", operand, start_indices, np.shape(update))
    return checks.replaced(operand, starts, update)


def dynamic_index_in_dim(operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """The part of ``operand`` at ``index`` along ``axis``, a copy; the axis stays with size 1 if ``keepdims``, else it is
    removed.

    A negative index counts from the end; an index out of range is clipped. T207 if it is not an integer.

    >>> dynamic_index_in_dim(np.array([[1, 2], [3, 4]]), 7, keepdims=False)
    array([3, 4])
    """
    checks.integer("the index of dynamic_index_in_dim", index, "T207")
    n = np.shape(operand)[axis]
    k = np.clip(np.where(index < 0, index + n, index), 0, n - 1)
    found = np.take(operand, k, axis=axis)
    return np.expand_dims(found, axis) if keepdims else found


def dynamic_slice_in_dim(operand: Any, start_index: Any, slice_size: int, axis: int = 0) -> Any:
    """A copy of the slice of ``slice_size`` elements from ``start_index`` along ``axis``, whole along the others; see
    `dynamic_slice`.

    >>> dynamic_slice_in_dim(np.arange(6).reshape(2, 3), 5, 2, axis=1)
    array([[1, 2],
           [4, 5]])
    """
    starts, sizes = [0] * np.ndim(operand), list(np.shape(operand))
    starts[axis], sizes[axis] = start_index, slice_size
    return dynamic_slice(operand, starts, sizes)


def dynamic_update_slice_in_dim(operand: Any, update: Any, start_index: Any, axis: int) -> Any:
    """A copy of ``operand`` with ``update`` from ``start_index`` along ``axis``, from 0 along others: `dynamic_update_slice`.

    >>> dynamic_update_slice_in_dim(np.zeros(5), np.ones(2), 1, axis=0)
    array([0., 1., 1., 0., 0.])
    """
    starts = [0] * np.ndim(operand)
    starts[axis] = start_index
    return dynamic_update_slice(operand, update, starts)


def dynamic_update_index_in_dim(operand: Any, update: Any, index: Any, axis: int) -> Any:
    """A copy of ``operand`` with ``update`` at ``index`` along ``axis``; the update may lack this axis.

    >>> dynamic_update_index_in_dim(np.zeros((2, 3)), np.array([1.0, 2.0]), 1, axis=1)
    array([[0., 1., 0.],
           [0., 2., 0.]])
    """
    whole = np.expand_dims(update, axis) if np.ndim(update) < np.ndim(operand) else update
    return dynamic_update_slice_in_dim(operand, whole, index, axis)


def top_k(operand: Any, k: int) -> tuple[Any, Any]:
    """``(values, indices)`` of the ``k`` largest elements along the last axis, the largest first.

    Of equal elements the first comes first; NaN counts as the largest. T203 if the axis has fewer than ``k`` elements. The
    values are differentiable.

    >>> values, indices = top_k(np.array([3.0, 1.0, 4.0, 1.0, 5.0]), 2)
    >>> values, indices
    (array([5., 4.]), array([4, 2]))
    """
    n = checks.last_axis("top_k", operand)
    checks.at_most("top_k", k, n)
    ascending = np.argsort(np.flip(operand, -1), axis=-1, kind="stable")
    indices = (n - 1) - np.flip(ascending, -1)[..., :k]
    return np.take_along_axis(operand, indices, axis=-1), indices
