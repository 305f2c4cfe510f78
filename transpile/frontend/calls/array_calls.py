"""NumPy calls that are about memory and identity: copies, conversions, views, and writes by function."""

from __future__ import annotations

from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import Type
from transpile.frontend.calls import building, table_calls
from transpile.frontend.control import carries, dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.attributes import shape, size, type_of
from transpile.frontend.values.operators import check_cast
from transpile.frontend.values.values import Array, Ref, Scalar, Static, Tuple
from transpile.numpy_api.api_arguments import axis_of

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
    wanted = building.static_argument(lx, "dtype", given.get("dtype", Static(None)), node) or "float64"
    order = lx.static(given["order"], "the argument 'order'", node) if "order" in given else "K"
    copied = "copy" not in given or lx.static(given["copy"], "the argument 'copy'", node)
    if isinstance(owner, Array) and copied and lx.operand(owner) in lx.b.others:
        return memory.new_array(lx, lx.b.surely_of_dtype(lx.b.cast(lx.array(owner), wanted)).op)
    if isinstance(owner, Array) and wanted == type_of(lx, owner).dtype:
        name = "numpy.array" if copied else "numpy.asarray"
        return table_calls.call(lx, name, [owner], {"order": Static(order)}, node)
    found = lx.b.surely_of_dtype(lx.b.cast(lx.array(owner), wanted))
    return memory.new_array(lx, found.op) if isinstance(owner, Array) and not found.dims else lx.value(found)


def scalar_type(lx: Lifter, cls: type, args: Args, node: Any) -> Any:
    """``np.float32(x)``."""
    dtype = np.dtype(cls).name
    if not args:
        return lx.value(lx.b.cast(0, dtype))
    x, dtype = lx.array(args[0]), building.dtype_name(lx, cls, node)
    is_number = not x.dims and not x.type.is_float and x.type.weak
    if is_number and np.dtype(dtype).kind in "iu" and not _holds(dtype, x.op):
        params = {"dtype": dtype, "weak": False, "explicit": True}  # a number of Python's does not wrap round
        return lx.value(Expr(lx.b, lx.b.bind(ir.SYNTHETIC, Type(dtype), "cast", (x.op,), params)))
    return lx.value(lx.b.surely_of_dtype(lx.b.cast(x, dtype)))


def _holds(dtype: str, number: ir.Operand) -> bool:
    """Whether an integer is known that the dtype has, or one that is refused when the code is made."""
    ends = np.iinfo(dtype)
    return isinstance(number, ir.Const) and (abs(number.value) < 2**31 or ends.min <= number.value <= ends.max)


# --------------------------------------------------------------------------------------------- writes by function


def _copyto(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if kwargs or len(args) != 2 or not isinstance(args[0], Array):
        return NotImplemented
    new = lx.operand(args[1], node)
    if not (new.type.weak and new.type.is_int):  # Python's integers go where they fit
        check_cast(lx, new, memory.read(lx, args[0].cell), "np.copyto", node)
    memory.write(lx, args[0].cell, (), (), new)
    return Static(None)


def _nan_to_num(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """``np.nan_to_num(x, copy=False)``: the array itself, written."""
    given = args[1] if len(args) > 1 else kwargs.get("copy", lx.const(True))
    if lx.static(given, "the argument 'copy'", node) or not args or not isinstance(args[0], Array):
        return NotImplemented
    rest = {k: v for k, v in kwargs.items() if k != "copy"}
    found = table_calls.call(lx, "numpy.nan_to_num", [args[0], lx.const(True), *args[2:]], rest, node)
    memory.write(lx, args[0].cell, (), (), lx.operand(found, node))
    return args[0] if type_of(lx, args[0]).dims else found


def _fill_diagonal(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    if not args or not isinstance(args[0], Array) or len(n := type_of(lx, args[0]).dims) != 2:
        raise lx.error("T131", "np.fill_diagonal is only supported for a matrix", node, "write a loop over the index")
    wrap = lx.static(args[2] if len(args) > 2 else kwargs.get("wrap", lx.const(False)), "the argument 'wrap'", node)
    value = args[1] if len(args) > 1 else kwargs.get("val")
    if wrap and not lx.b.same(*n):
        message = "np.fill_diagonal with wrap=True is only supported for a square matrix"
        raise lx.error("T131", message, node, "write a loop over the index")
    if value is None or not lx.b.surely(*n):
        return NotImplemented
    memory.write(lx, args[0].cell, (ir.Diagonal(),), (), lx.operand(value, node))
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


def _joined(name: str) -> Any:
    """``np.stack``, ``np.concatenate`` and their like, of a list that a loop has filled: it is an array already."""

    def call(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
        if name == "block" and args and _holds_tuple(lx, args[0]):
            raise lx.error("T131", "np.block takes lists, not tuples", node, "write [...] instead of (...)")
        if not (args and isinstance(args[0], Ref) and lx.state.cells[args[0].cell].kind == "grown"):
            return NotImplemented
        takes_axis = name in ("stack", "concatenate")
        given = dict(kwargs) if len(args) < 2 or not takes_axis else {"axis": args[1], **kwargs}
        if len(args) > 1 + takes_axis or given.keys() - ({"axis"} if takes_axis else ()):
            others = "arguments other than the list" + " and the axis" * takes_axis
            options = f"np.{name} of a list that a loop appends to does not support {others}"
            raise lx.error("T131", options, node, hint="make an array of it first: np.array(...)")
        is_nested = not isinstance(lx.state.cells[args[0].cell].cls.like, (Scalar, carries.ArrayOf))
        if name == "block" and is_nested:
            message = "np.block of a list that a loop appends lists or tuples to is not supported"
            raise lx.error("T131", message, node, "fill an array of known size instead")
        x = lx.array(args[0])
        if x.rank == 1:  # of others the shape is not known without an element, and reading them says so
            what = "stack" if name == "stack" else "concatenate"
            is_empty = lx.b.expr(dynamic_list_reads.length(lx, args[0]).op) < 1
            dynamic_list_reads.raise_if(lx, is_empty.op, "ValueError", f"need at least one array to {what}")
        axis = lx.static(given.get("axis", lx.const(0)), "the argument 'axis'", node)
        return _along(lx, name, lx.value(x, contiguous=True), axis, node)

    return call


def _holds_tuple(lx: Lifter, value: Any) -> bool:
    if isinstance(value, Ref) and lx.state.cells[value.cell].kind == "list":
        return any(_holds_tuple(lx, v) for v in lx.state.cells[value.cell].items)
    return isinstance(value, Tuple)


def _along(lx: Lifter, name: str, whole: Any, axis: int | None, node: Any) -> Any:
    """The elements, which are the rows of ``whole``, as ``name`` puts them together."""
    dims = type_of(lx, whole).dims
    rank = len(dims) - 1  # of an element
    if name == "vstack" and not rank:
        return lx.known_call("numpy.expand_dims", [whole, lx.const(1)], {}, node)
    if name == "stack" or (name == "vstack" and rank == 1) or (name in ("hstack", "block") and not rank):
        to = axis_of(axis, rank + 1)
        return lx.known_call("numpy.moveaxis", [whole, lx.const(0), lx.const(to)], {}, node) if to else whole
    if axis is None:
        return lx.known_call("numpy.ravel", [whole], {}, node)
    if not rank:
        raise lx.error("T131", "zero-dimensional arrays cannot be concatenated", node, "use np.stack or np.array")
    to = axis_of({"hstack": min(rank - 1, 1), "block": -1}.get(name, axis), rank)
    if to:
        whole = lx.known_call("numpy.moveaxis", [whole, lx.const(0), lx.const(to)], {}, node)
    dims = type_of(lx, whole).dims
    merged = (*dims[:to], dims[to] * dims[to + 1], *dims[to + 2 :])
    return lx.value(lx.b.let("reshape", lx.operand(whole, node), dims=merged), contiguous=True)


def _unstack(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    """The rows along an axis, as many as are known."""
    if len(args) != 1 or not isinstance(args[0], Array):
        return NotImplemented
    rows = lx.known_call("numpy.moveaxis", [args[0], kwargs.get("axis", lx.const(0)), lx.const(0)], {}, node)
    return Tuple(tuple(lx.unrolled(rows, node)))


TABLE: dict[str, Any] = {
    **{f"numpy.{name}": _joined(name) for name in ("stack", "concatenate", "hstack", "vstack", "row_stack", "block")},
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
