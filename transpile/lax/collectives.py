"""Collectives: operations over all lanes of a `transpile.vmap` whose axis has a name (``axis_name``).

They are called in the function of one lane, with trees of arrays or numbers. T604 if no enclosing `vmap` has an axis of that
name, also outside transformed functions; T605 if lanes reach the call by different paths (a branch or a ``while`` loop that
depends on the data of a lane). ``axis_name`` may be a tuple of names: the lanes of all these axes together, the first name
varying slowest. ``axis_index_groups`` can only be None (T131).

Derivatives are those of the batched function. A derivative inside the `vmap` (``vmap(grad(f), axis_name="i")``) gives each lane
the gradient of the sum of the results of all lanes, as in JAX.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from transpile import tree
from transpile.base.axis_names import failed


def psum(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The sum of ``x`` over all lanes, the same in every lane. ``psum(1, name)`` counts the lanes; booleans count as 0 and 1.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 2.0, 5.0]))
    array([0.125, 0.25 , 0.625])
    """
    return tree.map(lambda leaf: over_lanes("psum", leaf, axis_name, axis_index_groups), x)


def pmean(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The mean of ``x`` over all lanes, the same in every lane.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    n = axis_size(axis_name)
    return tree.map(lambda leaf: over_lanes("psum", leaf, axis_name, axis_index_groups) / n, x)


def pmax(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The maximum of ``x`` over all lanes, NaN if one is NaN. Lanes that attain it share the derivative equally.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: np.exp(x - pmax(x, "i")), axis_name="i")(np.array([0.0, 1000.0]))
    array([0., 1.])
    """
    return tree.map(lambda leaf: over_lanes("pmax", leaf, axis_name, axis_index_groups), x)


def pmin(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The minimum of ``x`` over all lanes, NaN if one is NaN. Lanes that attain it share the derivative equally.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x == pmin(x, "i"), axis_name="i")(np.array([3.0, 1.0, 2.0]))
    array([False,  True, False])
    """
    return tree.map(lambda leaf: over_lanes("pmin", leaf, axis_name, axis_index_groups), x)


def all_gather(
    x: Any, axis_name: Hashable, *, axis_index_groups: None = None, axis: int = 0, tiled: bool = False
) -> Any:
    """The values of ``x`` of all lanes in one array, the same in every lane.

    They are stacked along a new axis at ``axis`` or, with ``tiled``, concatenated along the existing ``axis``.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: all_gather(x, "i")[::-1], axis_name="i")(np.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 1.]])
    """
    return tree.map(lambda leaf: gathered(leaf, axis_name, axis_index_groups, axis, tiled), x)


def psum_scatter(
    x: Any, axis_name: Hashable, *, scatter_dimension: int = 0, axis_index_groups: None = None, tiled: bool = False
) -> Any:
    """The part of the sum of ``x`` over all lanes that belongs to this lane: entry ``axis_index`` along ``scatter_dimension``.

    The size of ``scatter_dimension`` is the number of lanes (T203), and the axis is removed; with ``tiled`` the size is a
    multiple, the axis stays, and each lane gets an equal share.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1.0, 2.0], [10.0, 20.0]]))
    array([11., 22.])
    """
    return tree.map(lambda leaf: scattered(leaf, axis_name, axis_index_groups, scatter_dimension, tiled), x)


def ppermute(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Any:
    """The ``x`` of the lane that sends to this one, by the pairs ``(source, target)`` of ``perm``; zeros if no lane does.

    Sources must differ from each other, and so must targets: T605 if ``perm`` is known when the function is transformed, else
    ValueError. ``perm`` is the same in all lanes.

    >>> import numpy as np, transpile as tp
    >>> shift = lambda x: ppermute(x, "i", [(k, (k + 1) % 3) for k in range(3)])
    >>> tp.vmap(shift, axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([3., 1., 2.])
    """
    sources, targets = pairs(perm)
    return tree.map(lambda leaf: sent(leaf, axis_name, sources, targets), x)


def axis_index(axis_name: Hashable) -> Any:
    """The index of this lane, from 0, along the axis of that name.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x * axis_index("i"), axis_name="i")(np.array([5.0, 5.0, 5.0]))
    array([ 0.,  5., 10.])
    """
    return lane_number(axis_name)


def axis_size(axis_name: Hashable) -> Any:
    """The number of lanes of the axis of that name, or of all axes of a tuple of names.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: axis_size("i"), axis_name="i", out_axes=None)(np.zeros(4))
    4
    """
    return lane_count(axis_name)


# ---------------------------------- replaced by the frontend in transformed code: `transpile.frontend.calls.collective_calls`


def over_lanes(prim: str, leaf: Any, axis_name: Any, groups: Any) -> Any:
    raise failed(axis_name)


def gathered(leaf: Any, axis_name: Any, groups: Any, axis: int, tiled: bool) -> Any:
    raise failed(axis_name)


def scattered(leaf: Any, axis_name: Any, groups: Any, axis: int, tiled: bool) -> Any:
    raise failed(axis_name)


def pairs(perm: Any) -> Any:
    return (), ()


def sent(leaf: Any, axis_name: Any, sources: Any, targets: Any) -> Any:
    raise failed(axis_name)


def lane_number(axis_name: Any) -> Any:
    raise failed(axis_name)


def lane_count(axis_name: Any) -> Any:
    raise failed(axis_name)
