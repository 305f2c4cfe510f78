"""Loops over the rows of arrays: `scan`, `map`, and `associative_scan` for associative operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from transpile import tree
from transpile.lax import checks


def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> tuple[Any, Any]:
    """``(carry, ys)`` after ``carry, y = f(carry, x)`` for each row ``x`` of ``xs``, starting with ``carry = init``.

    ``xs`` is a tree of arrays with the same number of rows (T203), or None with a ``length``. The carry keeps its structure
    (T119), shapes and dtypes (T206); a Python number may take another type. ``y`` is a tree or None; each of its leaves
    becomes an array in ``ys`` with one row for each row of ``xs``. With ``reverse`` the rows are taken from the last to the
    first; row ``k`` of ``ys`` still belongs to row ``k`` of ``xs``. ``unroll``, a boolean or a nonnegative integer (T131), has
    no effect.

    >>> scan(lambda total, x: (total + x, total), 0.0, np.array([1.0, 2.0, 3.0]))
    (np.float64(6.0), array([0., 1., 3.]))
    >>> scan(lambda c, _: (2 * c, {"c": c}), 1, None, length=4)
    (16, {'c': array([1, 2, 4, 8])})
    """
    checks.unrolled("scan", unroll)
    n = checks.length("scan", xs, length)
    if checks.is_nothing(n):
        last, y = checks.pair(f(checks.now(init), tree.map(_any_row, xs)))
        checks.carried("scan", init, last)
        return init, tree.map(_no_rows, y)
    carry = init
    ys = []
    for k in range(n):
        new, y = checks.pair(f(carry, checks.row(xs, n - 1 - k if reverse else k)))
        carry = checks.carried("scan", carry, new)
        ys.append(checks.now(y))
    return carry, checks.stacked(ys, reverse)


def _any_row(x: Any) -> Any:
    """Zeros with the shape and dtype of a row of ``x``, an array without rows: the body runs on them for the type of its
    result."""
    return np.zeros((1, *np.shape(x)[1:]), x.dtype)[0]


def _no_rows(y: Any) -> Any:
    return np.zeros((0, *np.shape(y)), np.result_type(y))


def map(f: Callable[[Any], Any], xs: Any, *, batch_size: int | None = None) -> Any:
    """The stacked results of ``f(x)`` for each row ``x`` of ``xs``: each leaf is an array with one row for each row of ``xs``.

    ``xs`` is a tree of arrays with the same number of rows (T203). ``batch_size``, a nonnegative integer (T131), has no effect:
    a compiled loop needs no batches.

    >>> map(lambda row: np.sum(row**2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([ 5., 25.])
    """
    if batch_size is not None:
        checks.unrolled("map", batch_size, "batch_size")
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """All partial results ``fn(... fn(fn(x[0], x[1]), x[2]) ..., x[k])`` along an axis, for an associative ``fn``.

    ``elems`` is a tree of arrays of the same size along ``axis`` (T203); the result has its structure, shapes and dtypes.
    ``fn(a, b)`` takes two trees of slices of them, of any common size along that axis, and returns one (structure: T119; shapes
    and dtypes: T206). The ``n`` elements take about ``2 log2(n)`` calls, which process about ``2 n`` elements together (R. P.
    Brent and H. T. Kung, "A Regular Layout for Parallel Adders", 1982). ``reverse`` begins at the end.

    >>> associative_scan(np.add, np.arange(6))
    array([ 0,  1,  3,  6, 10, 15])
    >>> associative_scan(np.maximum, np.array([[3, 1, 2], [0, 5, 4]]), reverse=True, axis=1)
    array([[3, 2, 2],
           [5, 5, 4]])
    """
    leaves, shape = tree.flatten(elems)
    n = checks.length("associative_scan", [np.moveaxis(x, axis, 0) for x in leaves], None)
    done = [np.array(np.flip(x, axis) if reverse else x) for x in leaves]
    d = 1
    while 2 * d <= n:
        _combine(fn, shape, done, axis, d, d - 1, n)
        d *= 2
    while d > 1:
        d //= 2
        _combine(fn, shape, done, axis, d, 2 * d - 1, n)
    return shape.unflatten([np.flip(x, axis) if reverse else x for x in done])


def _combine(fn: Any, shape: Any, done: Any, axis: int, d: int, start: int, n: int) -> None:
    """Sets ``x[i + d] = fn(x[i], x[i + d])`` for each ``i`` of ``range(start, n - d, 2 * d)``, in place in the leaves ``done``
    and by one call of ``fn``."""
    left = [x[checks.along(axis, start, n - d, 2 * d)] for x in done]
    right = [x[checks.along(axis, start + d, n, 2 * d)] for x in done]
    checks.equally_long(left, right)
    found = fn(shape.unflatten(left), shape.unflatten(right))
    checks.carried("associative_scan", shape.unflatten(right), found)
    for x, y in zip(done, tree.leaves(found)):
        x[checks.along(axis, start + d, n, 2 * d)] = y
