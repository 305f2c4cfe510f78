"""Functional updates: ``x.at[index].set(v)`` and ``at(x)[index].set(v)``, as `transpile.at` means them.

The result is a copy of the array that is written into: which copies are made is decided where the text is made, and of an array
that is read no more there is none. What is written is a plain definition (``numpy_api/library_at.py``), lifted like user code.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from transpile.core.dims import Dim
from transpile.core.types import Type
from transpile.frontend.calls import arity, clipping, library_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values import memory
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Array, Scalar, Static, Tuple, Updates
from transpile.numpy_api import update_methods

Kwargs = dict[str, Any]
NONE = Static(None)


def call(lx: Lifter, owner: Updates, name: str, args: list[Any], kwargs: Kwargs, node: Any) -> Any:
    """``x.at[index].name(...)``."""
    given = arity.bound(lx, f"at[...].{name}", update_methods.signature(name), args, kwargs, node)
    mode = lx.static(given.get("mode", NONE), "mode", node)
    if mode is not None and mode not in update_methods.MODES:
        raise lx.error("T131", update_methods.unknown_mode(mode), node, update_methods.MODE_HINT)
    wraps = lx.static(given.get("wrap_negative_indices", lx.const(True)), "wrap_negative_indices", node)
    unique = lx.static(given.get("unique_indices", lx.const(False)), "unique_indices", node)
    lx.static(given.get("indices_are_sorted", NONE), "indices_are_sorted", node)
    found = clipping.place(lx, memory.type_of(lx, owner.owner.cell).dims, owner.index, bool(wraps), node)
    drops = update_methods.is_dropping(mode, name == "get")
    if name == "get":
        return _get(lx, owner.owner, found, drops, given.get("fill_value", NONE), node)
    update = _Update(lx, found if drops else _within(found), bool(unique), node)
    if name == "set":
        return update.set(owner.owner, lx.value(lx.operand(given["values"], node)))
    if name == "apply":
        return update.change(owner.owner, given["func"], ())
    values = lx.value(lx.operand(given["values"], node))
    return update.change(owner.owner, Static(Known(f"numpy.{update_methods.UFUNCS[name].__name__}")), (values,))


def _within(found: clipping.Place) -> clipping.Place:
    """The place with what is out of range clipped."""
    return replace(found, index=found.clipped, inside=None)


# ---------------------------------------------------------------------------------------------------------- reads


def _get(lx: Lifter, owner: Array, found: clipping.Place, fills: bool, fill: Any, node: Any) -> Any:
    """``x.at[index].get()``."""
    if isinstance(fill, Static) and fill.value is None:
        fill = lx.const(update_methods.default_fill(np.dtype(memory.type_of(lx, owner.cell).dtype)))
    if not isinstance(fill, (Scalar, Array)) or lx.operand(fill).type.dims:
        raise lx.error("T131", update_methods.no_number(describe(lx, fill)), node, update_methods.FILL_HINT)
    owner = found.within(lx, owner)
    part = _copied(lx, lx.item(owner, found.clipped, node))
    if not fills or found.inside is None:
        return part
    x = lx.b.expr(lx.operand(part))
    filling = lx.b.cast(lx.b.cast(lx.operand(fill), x.dtype), x.type)
    if found.inside is not False and not x.dims:
        args = [owner, found.index, lx.value(filling), lx.value(found.inside)]
        return library_calls.call(lx, "library_at:get", args, {}, node)
    inside = lx.b.expr(False) if found.inside is False else _beside(lx, found)
    return lx.value(lx.b.elementwise("where", inside, x, filling))


def _copied(lx: Lifter, value: Any) -> Any:
    return memory.new_array(lx, memory.read(lx, value.cell)) if isinstance(value, Array) else value


def _beside(lx: Lifter, found: clipping.Place) -> Any:
    """What is in range, with an axis for each that the part has behind those of the arrays."""
    if not found.has_arrays or not found.behind:
        return found.inside
    return lx.b.let("reshape", found.inside, dims=(*found.inside.dims, *[Dim(1)] * found.behind))


# --------------------------------------------------------------------------------------------------------- writes


class _Update:
    """What writes into a copy of an array at a place."""

    def __init__(self, lx: Lifter, found: clipping.Place, unique: bool, node: Any) -> None:
        self.lx, self.found, self.unique, self.node = lx, found, unique, node

    def set(self, owner: Array, value: Any) -> Array:
        """The array with a value in the place of the part."""
        out, found = self._own(owner, memory.type_of(self.lx, owner.cell).dtype), self.found
        if found.inside is False:
            return out
        place = found.within(self.lx, out)
        if found.inside is None or not found.has_arrays:
            self._library("put", place, found.index, value, *([self._inside()] if not found.has_arrays else []))
        else:
            self._library(
                "put_kept", place, found.index, found.is_array, self._fitted(place, value), self._inside(), self._axis()
            )
        return out

    def change(self, owner: Array, function: Any, values: tuple[Any, ...]) -> Array:
        """The array with what a function makes of the part, and of values, in its place."""
        lx, found = self.lx, self.found
        name = function.value.name if isinstance(function, Static) and isinstance(function.value, Known) else ""
        divides = bool(values) and name == "numpy.divide"
        of = np.dtype(memory.type_of(lx, owner.cell).dtype)
        out = self._own(
            owner, update_methods.computed_in(of, [_example(lx.operand(v).type) for v in values], divides).name
        )
        if found.inside is not False:
            self._write(found.within(lx, out), function, name if values else "", values)
        if divides or memory.type_of(lx, out.cell).dtype == of.name:
            return out
        return memory.new_array(lx, lx.b.cast(memory.read(lx, out.cell), of.name).op, contiguous=True)

    def _write(self, out: Array, function: Any, name: str, values: tuple[Any, ...]) -> None:
        found, inside = self.found, self._inside()
        if not found.has_arrays:
            self._library("change", function, out, found.index, Tuple(values), inside)
        elif self.unique and found.inside is None:
            self._library("change", function, out, found.index, Tuple(values))
        elif name in ("numpy.add", "numpy.subtract"):
            self._add(out, name, values[0])
        elif self.unique:
            self._library(
                "change_kept", function, out, found.index, found.is_array, self._all(out, values), inside, self._axis()
            )
        else:
            self._library(
                "change_each", function, out, found.index, found.is_array, self._all(out, values), inside, self._axis()
            )

    def _add(self, out: Array, name: str, value: Any) -> None:
        """All entries count; of those out of range a zero that changes nothing, -0.0 not either."""
        lx, found = self.lx, self.found
        if found.inside is not None:
            x = lx.b.expr(lx.operand(value))
            nothing: Any = 0 if not x.type.is_float else -0.0 if name == "numpy.add" else 0.0
            value = lx.value(lx.b.elementwise("where", _beside(lx, found), x, nothing))
        lx.known_call(f"{name}.at", [out, found.clipped, value], {}, self.node)

    def _all(self, out: Array, values: tuple[Any, ...]) -> Tuple:
        return Tuple(tuple(self._fitted(out, v) for v in values))

    def _fitted(self, out: Array, value: Any) -> Any:
        """A value as large as the part; a number as it is."""
        lx = self.lx
        x = lx.b.expr(lx.operand(value))
        if not x.dims:
            return value
        dims = lx.operand(lx.item(out, self.found.clipped, self.node)).type.dims
        return lx.value(memory.fitted(lx, x, dims))

    def _own(self, owner: Array, dtype: str) -> Array:
        """A copy of the array, in a dtype."""
        lx = self.lx
        x = lx.b.cast(memory.read(lx, owner.cell), dtype)
        return memory.new_array(lx, x.op, owner.cell.name, contiguous=True)

    def _inside(self) -> Any:
        inside = self.found.inside
        if self.found.has_arrays:
            return NONE if inside is None else self.lx.value(inside)
        return self.lx.const(True) if inside is None else self.lx.value(inside)

    def _axis(self) -> Any:
        return self.lx.const(self.found.axis)

    def _library(self, name: str, *args: Any) -> None:
        library_calls.call(self.lx, f"library_at:{name}", list(args), {}, self.node)


def _example(of: Type) -> Any:
    """A number of a type, as NumPy promotes it."""
    return {"float64": 1.0, "int64": 1, "bool": True}[of.dtype] if of.weak else np.dtype(of.dtype)
