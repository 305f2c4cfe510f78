"""NumPy calls that are about memory and identity: copies, conversions, views, and writes by function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.core.nodes import Diagonal, Index, NewAxis, Permute, Point, Reshape, Slice
from transpile.core.types import Type
from transpile.frontend import aliases, calls, memory, table_calls
from transpile.frontend.attributes import shape, size, type_of
from transpile.frontend.lifter import Lifter
from transpile.frontend.memory import READ_ONLY
from transpile.frontend.values import Array, Cell, Held, Ref, Scalar, Static, Tuple, View
from transpile.rules.api import entries

Args = list[Any]
Kwargs = dict[str, Any]
MAYBE_COPY = "a write through what may be a view or a copy, depending on the layout in memory, cannot be transformed"


# -------------------------------------------------------------------------------------------- copies, conversions


def copy(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.copy(x)``, ``x.copy()``: the same value in memory of its own."""
    if not args or not isinstance(args[0], (Array, Scalar)):
        return NotImplemented
    if isinstance(args[0], Scalar):
        return lx.value(lx.b.cast(args[0].op, args[0].op.type.strong))
    return _copied(lx, args[0], True)


def _copied(lx: Lifter, value: Array, contiguous: bool) -> Array:
    return memory.new_array(lx, memory.read(lx, value.cell), contiguous=contiguous)


def _array(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.array(x, dtype)`` of an array: a copy."""
    return _converted(lx, args, kwargs, node, lambda value: _copied(lx, value, False))


def _asarray(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.asarray(x, dtype)`` of an array: the array itself, if the dtype is right."""
    return _converted(lx, args, kwargs, node, lambda value: value)


def _contiguous(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return _converted(lx, args, kwargs, node, lambda value: value if value.cell.contiguous else _maybe(lx, value))


def _maybe(lx: Lifter, value: Array) -> Array:
    made = memory.new_array(lx, memory.read(lx, value.cell), contiguous=True, readonly=MAYBE_COPY)
    aliases.may_be(lx, made.cell, (memory.root(lx, value.cell),))
    return made


def _converted(lx: Lifter, args: Args, kwargs: Kwargs, node: Any, same: Any) -> Any:
    if not args or not isinstance(args[0], (Array, Scalar)) or set(kwargs) - {"dtype", "copy", "order", "ndmin"}:
        return NotImplemented
    value = args[0]
    dtype = kwargs.get("dtype", args[1] if len(args) > 1 else None)
    held = type_of(lx, value)
    if kwargs.get("ndmin") is not None:
        return NotImplemented
    if dtype is None or (isinstance(dtype, Static) and dtype.value is None):
        wanted = held.dtype
    else:
        wanted = table_calls.static_argument(lx, "dtype", dtype, node)
    if isinstance(value, Scalar):
        return lx.value(lx.b.cast(value.op, wanted))
    if wanted == held.dtype:
        return same(value)
    return lx.value(lx.b.cast(lx.array(value), wanted))


def astype(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``x.astype(dtype)``: a copy, cast."""
    dtype = args[0] if args else kwargs.get("dtype", Static(None))
    wanted = table_calls.static_argument(lx, "dtype", dtype, node)
    if isinstance(owner, Array) and wanted == type_of(lx, owner).dtype:
        return _copied(lx, owner, False)
    return lx.value(lx.b.cast(lx.array(owner), wanted))


def scalar_type(lx: Lifter, cls: type, args: Args, node: Any) -> Any:
    """``np.float32(x)``."""
    dtype = np.dtype(cls).name
    if not args:
        return lx.value(lx.b.cast(0, dtype))
    return lx.value(lx.b.cast(lx.array(args[0]), table_calls.dtype_name(lx, cls, node)))


# --------------------------------------------------------------------------------------------------------- views


def transpose(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value = args[0]
    if not isinstance(value, Array):
        return NotImplemented
    rank = len(type_of(lx, value).dims)
    given = args[1] if len(args) > 1 else kwargs.get("axes")
    axes = None if given is None else lx.static(given, "the argument 'axes'", node)
    axes = (axes,) if isinstance(axes, int) else axes
    axes = tuple(range(rank))[::-1] if axes is None else tuple(_axis(lx, a, rank, node) for a in axes)
    if sorted(axes) != list(range(rank)):
        raise lx.error("T208", f"axes {axes} do not match an array of {rank} dimensions", node)
    return memory.view(lx, value.cell, Permute(axes))


def _axis(lx: Lifter, axis: Any, rank: int, node: Any) -> int:
    if not isinstance(axis, (int, np.integer)) or not -rank <= axis < rank:
        plural = "" if rank == 1 else "s"
        raise lx.error("T208", f"axis {axis} is out of bounds for an array of {rank} dimension{plural}", node)
    return int(axis) % rank


def swapaxes(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    value = args[0]
    if not isinstance(value, Array):
        return NotImplemented
    rank = len(type_of(lx, value).dims)
    given = [*args[1:], *(kwargs[k] for k in ("axis1", "axis2") if k in kwargs)]
    first, second = (_axis(lx, lx.static(a, "an axis", node), rank, node) for a in given)
    axes = list(range(rank))
    axes[first], axes[second] = axes[second], axes[first]
    return memory.view(lx, value.cell, Permute(tuple(axes)))


def _moveaxis(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not isinstance(args[0], Array) or len(args) != 3:
        return NotImplemented
    rank = len(type_of(lx, args[0]).dims)
    source, target = (_axes(lx, a, rank, node) for a in args[1:])
    axes = [k for k in range(rank) if k not in source]
    for to, come in sorted(zip(target, source)):
        axes.insert(to, come)
    return memory.view(lx, args[0].cell, Permute(tuple(axes)))


def _axes(lx: Lifter, value: Any, rank: int, node: Any) -> list[int]:
    found = lx.static(value, "an axis", node)
    return [_axis(lx, a, rank, node) for a in (found if isinstance(found, (tuple, list)) else [found])]


def _expand_dims(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not isinstance(args[0], Array):
        return NotImplemented
    rank = len(type_of(lx, args[0]).dims)
    given = lx.static(args[1] if len(args) > 1 else kwargs["axis"], "the argument 'axis'", node)
    wanted = given if isinstance(given, (tuple, list)) else [given]
    new = {_axis(lx, a, rank + len(wanted), node) for a in wanted}
    if len(new) < len(wanted):
        raise lx.error("T208", f"the axes {given} name one twice", node)
    return memory.view(
        lx, args[0].cell, Index(tuple(NewAxis() if k in new else Slice() for k in range(rank + len(wanted))))
    )


def reshaped(lx: Lifter, owner: Any, name: str, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``reshape``, ``ravel``, ``squeeze``: a view where the layout is known, else a value that must not be written."""
    if not isinstance(owner, Array):
        return NotImplemented
    entry = entries()[name]
    value = table_calls.build(lx, name, entry, [owner, *args], kwargs, node)
    dims = value.dims
    base, path, _ = memory.place(lx, owner.cell, None, ())
    if owner.cell.contiguous and not path:
        if not dims:
            return lx.value(value)
        part = Cell(contiguous=True)
        ops = tuple(lx.b.dim(d).op for d in dims)
        source = lx.state.cells[base]
        memo = (source.op, value.op) if isinstance(source, Held) else None
        lx.state.cells[part] = View(base, (Reshape(tuple(range(len(ops)))),), ops, Type(value.dtype, dims), memo)
        return Array(part)
    if name == "numpy.squeeze":
        return _squeezed(lx, owner, dims)
    if not dims:
        return lx.value(value)
    made = memory.new_array(lx, value.op, readonly=MAYBE_COPY)
    aliases.may_be(lx, made.cell, (base,))
    return made


def _squeezed(lx: Lifter, owner: Array, dims: Sequence[Any]) -> Any:
    """A view that leaves out axes of size 1."""
    if len(dims) == len(type_of(lx, owner).dims):
        return owner
    items: list[Any] = []
    left = [lx.symbols.resolve(d) for d in dims]
    for d in type_of(lx, owner).dims:
        if left and lx.symbols.resolve(d) == left[0]:
            items.append(Slice())
            left.pop(0)
        else:
            items.append(Point(0))
    assert not left, (type_of(lx, owner).dims, dims)
    return memory.view(lx, owner.cell, Index(tuple(items)), (lx.b.operand(0),))


def _by_name(name: str) -> Any:
    return lambda lx, args, kwargs, node: (
        reshaped(lx, args[0], name, args[1:], kwargs, node) if args and isinstance(args[0], Array) else NotImplemented
    )


def _diag(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """A new matrix of a vector; of a matrix, a view."""
    if args and isinstance(args[0], Array) and len(type_of(lx, args[0]).dims) == 1:
        return NotImplemented
    return _shared("numpy.diag")(lx, args, kwargs, node)


def _diagonal(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if len(args) != 1 or kwargs or not isinstance(args[0], Array):
        return NotImplemented
    dims = type_of(lx, args[0]).dims
    if len(dims) != 2:
        return NotImplemented
    if lx.b.surely(*dims):
        found = memory.view(lx, args[0].cell, Diagonal())
        found.cell.readonly = READ_ONLY
        return found
    value = table_calls.build(lx, "numpy.diagonal", entries()["numpy.diagonal"], args, {}, node)
    base, _, _ = memory.place(lx, args[0].cell, None, ())
    made = memory.new_array(lx, value.op, readonly=READ_ONLY)
    aliases.may_be(lx, made.cell, (base,))
    return made


def _shared(name: str) -> Any:
    """A function that may give a view: what it gives must not be written, nor what it was given while that is read."""

    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        result = table_calls.call(lx, name, args, kwargs, node)
        roots = [memory.root(lx, c) for a in args for c in aliases.cells_of(lx, a)]
        for cell in aliases.cells_of(lx, result):
            if cell not in roots:
                cell.readonly = MAYBE_COPY
                aliases.may_be(lx, cell, tuple(roots))
        return result

    return call


# --------------------------------------------------------------------------------------------- writes by function


def _copyto(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if kwargs or len(args) != 2 or not isinstance(args[0], Array):
        return NotImplemented
    memory.write(lx, args[0].cell, None, (), lx.operand(args[1], node))
    return Static(None)


def _fill_diagonal(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args or not isinstance(args[0], Array) or len(n := type_of(lx, args[0]).dims) != 2:
        raise lx.error("T131", "np.fill_diagonal takes a matrix here", node)
    wrap = lx.static(args[2] if len(args) > 2 else kwargs.get("wrap", lx.const(False)), "the argument 'wrap'", node)
    value = args[1] if len(args) > 1 else kwargs.get("val")
    if wrap and not lx.b.same(*n):
        raise lx.error("T131", "np.fill_diagonal with wrap=True takes a square matrix here", node)
    if value is None or not lx.b.surely(*n):
        return NotImplemented
    memory.write(lx, args[0].cell, Diagonal(), (), lx.operand(value, node))
    return Static(None)


def _attribute(name: str) -> Any:
    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        if kwargs or len(args) > 2 or not isinstance(args[0], (Array, Scalar)):
            return NotImplemented
        if name == "shape":
            return shape(lx, args[0])
        if name == "ndim":
            return lx.const(len(type_of(lx, args[0]).dims))
        dims = type_of(lx, args[0]).dims
        if len(args) == 2:
            return size(lx, dims[_axis(lx, lx.static(args[1], "an axis", node), len(dims), node)])
        return Scalar(lx.b.size(dims).op)

    return call


def _joined(flat: bool) -> Any:
    """``np.stack``, ``np.concatenate`` and their like, of a list that a loop has filled: it is an array already."""

    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        if not (args and isinstance(args[0], Ref) and lx.state.cells[args[0].cell].kind == "grown"):
            return NotImplemented
        x = lx.array(args[0])
        axis = lx.static(args[1] if len(args) > 1 else kwargs.get("axis", lx.const(0)), "the argument 'axis'", node)
        whole = lx.value(x, contiguous=True)
        if not flat:
            if axis == 0:
                return whole
            return calls.known_call(lx, "numpy.moveaxis", [whole, lx.const(0), lx.const(axis)], {}, node)
        if axis != 0 or x.rank < 2:
            raise lx.error("T131", "a list that a loop appends to can be joined along the first axis only", node)
        first = x.dims[0] * x.dims[1]
        return lx.value(lx.b.let("reshape", x, dims=(first, *x.dims[2:])), contiguous=True)

    return call


def _vstack(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    stacked = _joined(False)(lx, args, kwargs, node)
    if stacked is NotImplemented or len(type_of(lx, stacked).dims) < 3:
        return stacked
    return _joined(True)(lx, args, kwargs, node)


def _unstack(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if len(args) != 1 or not isinstance(args[0], Array):
        return NotImplemented
    from transpile.frontend import iteration

    rows = _moveaxis(lx, [args[0], kwargs.get("axis", lx.const(0)), lx.const(0)], {}, node)
    return Tuple(tuple(iteration.unrolled(lx, rows, node)))


TABLE: dict[str, Any] = {
    "numpy.unstack": _unstack,
    "numpy.stack": _joined(False),
    "numpy.concatenate": _joined(True),
    "numpy.hstack": _joined(True),
    "numpy.vstack": _vstack,
    "numpy.array": _array,
    "numpy.copy": copy,
    "copy.copy": copy,
    "copy.deepcopy": copy,
    "numpy.asarray": _asarray,
    "numpy.asanyarray": _asarray,
    "numpy.ascontiguousarray": _contiguous,
    "numpy.transpose": transpose,
    "numpy.permute_dims": transpose,
    "numpy.swapaxes": swapaxes,
    "numpy.moveaxis": _moveaxis,
    "numpy.expand_dims": _expand_dims,
    "numpy.reshape": _by_name("numpy.reshape"),
    "numpy.ravel": _by_name("numpy.ravel"),
    "numpy.squeeze": _by_name("numpy.squeeze"),
    "numpy.diag": _diag,
    "numpy.diagonal": _diagonal,
    "numpy.copyto": _copyto,
    "numpy.fill_diagonal": _fill_diagonal,
    "numpy.shape": _attribute("shape"),
    "numpy.ndim": _attribute("ndim"),
    "numpy.size": _attribute("size"),
    **{
        f"numpy.{n}": _shared(f"numpy.{n}")
        for n in (
            "split array_split hsplit vsplit dsplit flip fliplr flipud rot90 broadcast_to broadcast_arrays atleast_1d "
            "atleast_2d atleast_3d rollaxis real"
        ).split()
    },
}
