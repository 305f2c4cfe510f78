"""What lanes know of each other: functions over the axis of a `transpile.vmap` that has a name (``axis_name``).

They are written in the function of one lane, with trees of arrays or numbers; T604 where no axis of that name is around, also in
a plain run, T605 where lanes come to them by different ways (a branch or a ``while`` that the data of a lane decide).
``axis_name`` may be a tuple of names: the lanes of all of these, those of the first name slowest. ``axis_index_groups`` can only be
None (T131).

Derivatives are those of the function of all lanes. A derivative that stands under the `vmap` (``vmap(grad(f), axis_name="i")``)
gives each lane the gradient of the sum of all lanes' results, as in JAX.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from transpile import tree
from transpile.base.axis_names import failed


def psum(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The sum of ``x`` over the lanes, the same in all of them; ``psum(1, name)`` is their number. Truth values are counted.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x / psum(x, "i"), axis_name="i")(np.array([1.0, 2.0, 5.0]))
    array([0.125, 0.25 , 0.625])
    """
    return tree.map(lambda leaf: over_lanes("psum", leaf, axis_name, axis_index_groups), x)


def pmean(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The mean of ``x`` over the lanes, the same in all of them.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x - pmean(x, "i"), axis_name="i")(np.array([1.0, 2.0, 6.0]))
    array([-2., -1.,  3.])
    """
    n = axis_size(axis_name)
    return tree.map(lambda leaf: over_lanes("psum", leaf, axis_name, axis_index_groups) / n, x)


def pmax(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The greatest ``x`` of all lanes, NaN if one is. Lanes that are equal share the derivative equally.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: np.exp(x - pmax(x, "i")), axis_name="i")(np.array([0.0, 1000.0]))
    array([0., 1.])
    """
    return tree.map(lambda leaf: over_lanes("pmax", leaf, axis_name, axis_index_groups), x)


def pmin(x: Any, axis_name: Hashable, *, axis_index_groups: None = None) -> Any:
    """The least ``x`` of all lanes, NaN if one is. Lanes that are equal share the derivative equally.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x == pmin(x, "i"), axis_name="i")(np.array([3.0, 1.0, 2.0]))
    array([False,  True, False])
    """
    return tree.map(lambda leaf: over_lanes("pmin", leaf, axis_name, axis_index_groups), x)


def all_gather(
    x: Any, axis_name: Hashable, *, axis_index_groups: None = None, axis: int = 0, tiled: bool = False
) -> Any:
    """The ``x`` of all lanes as one array, the same in all of them: with a new axis for the lanes at ``axis``, or ``tiled``: one
    behind the other along an axis that ``x`` has.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: all_gather(x, "i")[::-1], axis_name="i")(np.array([1.0, 2.0]))
    array([[2., 1.],
           [2., 1.]])
    """
    return tree.map(lambda leaf: gathered(leaf, axis_name, axis_index_groups, axis, tiled), x)


def psum_scatter(
    x: Any, axis_name: Hashable, *, scatter_dimension: int = 0, axis_index_groups: None = None, tiled: bool = False
) -> Any:
    """Of the sum of ``x`` over the lanes each lane's own part: along ``scatter_dimension``, which is as long as there are lanes and
    goes away (T203 if it is not), or ``tiled``: a multiple of it, of which each lane gets an equal share.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: psum_scatter(x, "i"), axis_name="i")(np.array([[1.0, 2.0], [10.0, 20.0]]))
    array([11., 22.])
    """
    return tree.map(lambda leaf: scattered(leaf, axis_name, axis_index_groups, scatter_dimension, tiled), x)


def ppermute(x: Any, axis_name: Hashable, perm: Sequence[tuple[int, int]]) -> Any:
    """What other lanes send: ``perm`` has pairs (source, target). A target gets the ``x`` of its source, others get zeros.

    Sources are different lanes, and so are targets: T605 where these are known numbers, else ValueError. All lanes have one
    ``perm``.

    >>> import numpy as np, transpile as tp
    >>> shift = lambda x: ppermute(x, "i", [(k, (k + 1) % 3) for k in range(3)])
    >>> tp.vmap(shift, axis_name="i")(np.array([1.0, 2.0, 3.0]))
    array([3., 1., 2.])
    """
    sources, targets = pairs(perm)
    return tree.map(lambda leaf: sent(leaf, axis_name, sources, targets), x)


def axis_index(axis_name: Hashable) -> Any:
    """The number of the lane, from 0.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: x * axis_index("i"), axis_name="i")(np.array([5.0, 5.0, 5.0]))
    array([ 0.,  5., 10.])
    """
    return lane_number(axis_name)


def axis_size(axis_name: Hashable) -> Any:
    """The number of lanes.

    >>> import numpy as np, transpile as tp
    >>> tp.vmap(lambda x: axis_size("i"), axis_name="i", out_axes=None)(np.zeros(4))
    4
    """
    return lane_count(axis_name)


# -------------------------------------- what the frontend answers in transformed code: `transpile.frontend.calls.collective_calls`


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
