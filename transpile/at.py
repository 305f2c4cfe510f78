"""Functional updates: ``at(x)[index].set(v)`` returns a new array, as ``x.at[index].set(v)`` does for arrays of JAX.

In transformed functions ``x.at[index]`` may be written too, and the update is in place if the old array is not read afterwards.

>>> x = np.arange(5.0)
>>> at(x)[2].add(10)
array([ 0.,  1., 12.,  3.,  4.])
>>> at(x)[[1, 1, -1]].multiply(3)
array([ 0.,  9.,  2.,  3., 12.])
>>> at(x)[20].set(10), at(x)[20].set(10, mode="clip")
(array([0., 1., 2., 3., 4.]), array([ 0.,  1.,  2.,  3., 10.]))
>>> float(at(x)[20].get()), float(at(x)[20].get(mode="fill", fill_value=-1))
(4.0, -1.0)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from transpile.errors import error
from transpile.in_range import Place
from transpile.numpy_api import library_at, update_methods

Mode: TypeAlias = Literal["promise_in_bounds", "clip", "drop", "fill"]


def at(x: ArrayLike) -> At:
    """An object whose ``at(x)[index]`` selects a part of ``x``; the methods of the part return an updated copy of ``x``.

    ``set(values)`` assigns ``values``; ``add subtract multiply divide power min max`` combine the elements with them (``mul``
    is ``multiply``), ``apply(func)`` replaces each element by ``func(element)``. With repeated indices every update is applied;
    of repeated ``set`` the last one counts. The result has the shape and dtype of ``x``, to which values are cast (``divide``
    of integers gives float64). ``get()`` returns the part.

    ``index`` is one that NumPy takes: integers, slices, None, ``...``, booleans, arrays of integers or booleans. An index out
    of range is not an error. With ``mode`` "clip" it stands for the nearest element; with "drop" or "fill" nothing is written
    there and ``get`` returns ``fill_value``, by default NaN, the least signed integer, the largest unsigned integer or True.
    The default "promise_in_bounds" clips reads and drops writes. With ``wrap_negative_indices=False`` negative indices are out
    of range. ``unique_indices`` promises that no index is repeated; ``indices_are_sorted`` has no effect.

    Raises `TranspileError` T131 for an unknown mode or a ``fill_value`` that is not a number, T207 for an invalid index. Names
    and options are those of ``jax.numpy.ndarray.at``.

    >>> import transpile as tp
    >>> tp.at([1.0, 2.0, 3.0])[1:].set([5.0, 6.0])
    array([1., 5., 6.])
    """
    return At(np.asarray(x))


class At:
    """``at(x)``: an array to be indexed; see `at`."""

    __slots__ = ("array",)

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __getitem__(self, index: Any) -> Part:
        return Part(self.array, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise error("T123", update_methods.ASSIGNED.format("at(x)"), hint=update_methods.ASSIGNED_HINT.format("at(x)"))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"at(x) has no attribute {name!r}: {update_methods.without_index('at(x)', name)}")


def _updating(name: str) -> Callable[..., NDArray[Any]]:
    """The method ``name`` of `Part`: it combines the part with values by the ufunc of that name in `update_methods.UFUNCS`."""

    def method(self: Part, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
               mode: Mode | None = None, wrap_negative_indices: bool = True) -> NDArray[Any]:  # fmt: skip
        given = values if np.isscalar(values) else np.asarray(values)
        return self._changed(update_methods.UFUNCS[name], (given,), mode, unique_indices, wrap_negative_indices)

    method.__name__, method.__qualname__ = name, f"Part.{name}"
    method.__doc__ = (
        f"`numpy.{update_methods.UFUNCS[name].__name__}` of the part and ``values`` in its place: see `at`."
    )
    return method


class Part:
    """``at(x)[index]``: see `at`."""

    __slots__ = ("array", "index")

    def __init__(self, array: NDArray[Any], index: Any) -> None:
        self.array, self.index = array, index

    def get(self, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: Mode | None = None,
            fill_value: Any = None, wrap_negative_indices: bool = True) -> Any:  # fmt: skip
        """A copy of the part; where the index is out of range, the nearest element, or ``fill_value`` in the modes "drop" and
        "fill"."""
        found = Place(self.array.shape, self.index, wrap_negative_indices)
        x = found.within(self.array)
        part = x[found.clipped]
        if not _is_dropping(mode, reading=True):
            return part.copy()
        fill = update_methods.default_fill(x.dtype) if fill_value is None else _number(fill_value)
        return np.where(found.inside_part(), part, np.asarray(fill).astype(x.dtype))[()]

    def set(self, values: ArrayLike, *, indices_are_sorted: bool = False, unique_indices: bool = False,
            mode: Mode | None = None, wrap_negative_indices: bool = True) -> NDArray[Any]:  # fmt: skip
        """A copy of the array with ``values`` in the place of the part; see `at`."""
        out = self.array.copy()
        found = Place(out.shape, self.index, wrap_negative_indices)
        inside: Any = found.inside if _is_dropping(mode) else True
        place = found.within(out)
        if np.ndim(inside):
            library_at.put_kept(place, found.clipped, found.arrays, _fitted(place, found, values), inside, found.axis)
        else:
            library_at.put(place, found.clipped, values, inside)
        return out

    add, subtract, multiply, mul = _updating("add"), _updating("subtract"), _updating("multiply"), _updating("mul")
    divide, power, min, max = _updating("divide"), _updating("power"), _updating("min"), _updating("max")

    def apply(self, func: Callable[[Any], Any], *, indices_are_sorted: bool = False, unique_indices: bool = False,
              mode: Mode | None = None, wrap_negative_indices: bool = True) -> NDArray[Any]:  # fmt: skip
        """A copy of the array with ``func(element)`` in the place of each element of the part; see `at`."""
        return self._changed(func, (), mode, unique_indices, wrap_negative_indices)

    def _changed(self, function: Any, values: tuple[Any, ...], mode: Any, unique: bool, wraps: bool) -> NDArray[Any]:
        """A copy of the array with ``function(part, *values)`` in the place of the part: at once for ``unique`` indices, else
        once for each index. It has the array's dtype, float64 if integers are divided."""
        of, divides = self.array.dtype, function is np.divide
        out = self.array.astype(update_methods.computed_in(of, values, divides))
        found = Place(out.shape, self.index, wraps)
        inside: Any = found.inside if _is_dropping(mode) else True
        place = found.within(out)
        if found.is_array:
            values = tuple(_fitted(place, found, v) for v in values)
        if not found.is_array:
            library_at.change(function, place, found.clipped, values, inside)
        elif unique and np.ndim(inside):
            library_at.change_kept(function, place, found.clipped, found.arrays, values, inside, found.axis)
        elif unique:
            library_at.change(function, place, found.clipped, values)
        else:
            _change_each(function, place, found, values, inside)
        return out if divides else out.astype(of, copy=False)

    def _assigned(self, value: Any) -> Any:
        raise error("T123", update_methods.ASSIGNED.format("at(x)"), hint=update_methods.ASSIGNED_HINT.format("at(x)"))

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ipow__ = _assigned

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"at(x)[index] has no method {name!r}: {update_methods.near(name)}")


def _change_each(function: Any, out: NDArray[Any], found: Place, values: tuple[Any, ...], inside: Any) -> None:
    """Applies ``function`` in ``out`` for every index in range (``inside``), repeated ones too: by ``function.at`` if it is a
    ufunc."""
    if not isinstance(function, np.ufunc):
        given = inside if np.ndim(inside) else None
        library_at.change_each(function, out, found.clipped, found.arrays, values, given, found.axis)
        return
    index = found.clipped
    if np.ndim(inside):
        index = library_at.kept(index, found.arrays, inside)
        values = tuple(library_at.kept_value(v, inside, found.axis) for v in values)
    function.at(out, index, *values)


def _fitted(out: NDArray[Any], found: Place, value: Any) -> Any:
    """The value broadcast to the shape of the part of ``out`` that ``found`` selects; a scalar unchanged."""
    return value if np.ndim(value) == 0 else np.broadcast_to(value, out[found.clipped].shape)


def _is_dropping(mode: Any, reading: bool = False) -> bool:
    """True if indices out of range are not clipped in this mode, for a read or a write; T131 for an unknown mode."""
    if mode is not None and mode not in update_methods.MODES:
        raise error("T131", update_methods.unknown_mode(mode), hint=update_methods.MODE_HINT)
    return update_methods.is_dropping(mode, reading)


def _number(fill: Any) -> Any:
    if np.ndim(fill) or np.asarray(fill).dtype.kind not in "biufc":
        raise error("T131", update_methods.no_number(repr(fill)), hint=update_methods.FILL_HINT)
    return fill
