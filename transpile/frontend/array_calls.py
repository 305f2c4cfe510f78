"""NumPy calls that are about memory and identity: copies, conversions, views, and writes by function."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.core.nodes import Diagonal
from transpile.frontend import calls, memory, table_calls
from transpile.frontend.attributes import shape, size, type_of
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import Array, Ref, Scalar, Static, Tuple
from transpile.rules.arguments import axis_of

Args = list[Any]
Kwargs = dict[str, Any]


# -------------------------------------------------------------------------------------------- copies, conversions


def copy(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``copy.copy(x)``, and ``copy.deepcopy``: the same value in memory of its own."""
    if not args or not isinstance(args[0], (Array, Scalar)):
        return NotImplemented
    if isinstance(args[0], Scalar):
        return args[0]
    return table_calls.call(lx, "numpy.copy", args, kwargs, node)


def astype(lx: Lifter, owner: Any, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``x.astype(dtype)``: cast, and a copy where ``copy=False`` does not say that the array itself will do."""
    names = ("dtype", "order", "casting", "subok", "copy")
    given = {**dict(zip(names, args)), **kwargs}
    wanted = table_calls.static_argument(lx, "dtype", given.get("dtype", Static(None)), node) or "float64"
    order = lx.static(given["order"], "the argument 'order'", node) if "order" in given else "K"
    copied = "copy" not in given or lx.static(given["copy"], "the argument 'copy'", node)
    if isinstance(owner, Array) and wanted == type_of(lx, owner).dtype:
        name = "numpy.array" if copied else "numpy.asarray"
        return table_calls.call(lx, name, [owner], {"order": Static(order)}, node)
    found = lx.b.cast(lx.array(owner), wanted)
    return memory.new_array(lx, found.op) if isinstance(owner, Array) and not found.dims else lx.value(found)


def scalar_type(lx: Lifter, cls: type, args: Args, node: Any) -> Any:
    """``np.float32(x)``."""
    dtype = np.dtype(cls).name
    if not args:
        return lx.value(lx.b.cast(0, dtype))
    return lx.value(lx.b.cast(lx.array(args[0]), table_calls.dtype_name(lx, cls, node)))


# --------------------------------------------------------------------------------------------- writes by function


def _copyto(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if kwargs or len(args) != 2 or not isinstance(args[0], Array):
        return NotImplemented
    memory.write(lx, args[0].cell, None, (), lx.operand(args[1], node))
    return Static(None)


def _nan_to_num(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.nan_to_num(x, copy=False)``: the array itself, written."""
    given = args[1] if len(args) > 1 else kwargs.get("copy", lx.const(True))
    if lx.static(given, "the argument 'copy'", node) or not args or not isinstance(args[0], Array):
        return NotImplemented
    rest = {k: v for k, v in kwargs.items() if k != "copy"}
    found = table_calls.call(lx, "numpy.nan_to_num", [args[0], lx.const(True), *args[2:]], rest, node)
    memory.write(lx, args[0].cell, None, (), lx.operand(found, node))
    return args[0] if type_of(lx, args[0]).dims else found


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
            return size(lx, dims[axis_of(lx.static(args[1], "an axis", node), len(dims))])
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
    """The rows along an axis, as many as are known."""
    if len(args) != 1 or not isinstance(args[0], Array):
        return NotImplemented
    from transpile.frontend import iteration

    rows = calls.known_call(lx, "numpy.moveaxis", [args[0], kwargs.get("axis", lx.const(0)), lx.const(0)], {}, node)
    return Tuple(tuple(iteration.unrolled(lx, rows, node)))


TABLE: dict[str, Any] = {
    "numpy.stack": _joined(False),
    "numpy.concatenate": _joined(True),
    "numpy.hstack": _joined(True),
    "numpy.vstack": _vstack,
    "numpy.unstack": _unstack,
    "copy.copy": copy,
    "copy.deepcopy": copy,
    "numpy.copyto": _copyto,
    "numpy.nan_to_num": _nan_to_num,
    "numpy.fill_diagonal": _fill_diagonal,
    "numpy.shape": _attribute("shape"),
    "numpy.ndim": _attribute("ndim"),
    "numpy.size": _attribute("size"),
}
