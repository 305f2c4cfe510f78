"""The structural primitives that core itself needs: index, broadcast, reshape, transpose, sum, full, copy, item, dim."""

from __future__ import annotations

import ast
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import BOOL, INT, Type
from transpile.ops import interval_arithmetic as intervals
from transpile.ops import language as m
from transpile.ops.element import SAME
from transpile.ops.lowering_kinds import (
    NOT_LOWERED,
    Broadcast,
    Filled,
    Part,
    Reshaped,
    Same,
    Stretched,
    Subscripted,
    Sum,
    Transposed,
    Unwritten,
)
from transpile.ops.record import ZERO, Op, Scatter
from transpile.ops.spelling import Form
from transpile.ops.traits import Magnitude

# ------------------------------------------------------------------------------------------------------ index


def _index_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    source = types[0]
    return Type(source.dtype, tuple(params["dims"])) if params["path"] else source


def _index_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    return None if dots[0] is None else m.call("index", dots[0], *args[1:], **params)


def _index_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    contribution = Scatter(params["path"], tuple(args[1:]), y_bar) if wants[0] else None
    return (contribution, *([None] * (len(args) - 1)))


# ------------------------------------------------------------------------------------- broadcast, reshape, sum


def _dims_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(types[0].dtype, tuple(params["dims"]))


def unbroadcast(x_bar: m.Expr, dims: tuple[Dim, ...]) -> m.Expr:
    """The adjoint of an operand with these dims that was broadcast: the sum over the axes that broadcasting added or stretched."""
    lead = x_bar.rank - len(dims)
    stretched = tuple(k + lead for k, d in enumerate(dims) if d.is_one and not x_bar.dims[k + lead].is_one)
    summed = m.sum(x_bar, (*range(lead), *stretched))
    return m.reshape(summed, dims) if stretched else summed


def _broadcast_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (unbroadcast(y_bar, args[0].dims) if wants[0] else None,)


def _stretch_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (shrunk(y_bar, params["axis"], args[0].dims[params["axis"]]),)


def _sized_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (y_bar.b.let("sized", y_bar, dims=args[0].dims) if wants[0] else None,)


def shrunk(x_bar: m.Expr, axis: int, size: Dim) -> m.Expr:
    """The adjoint of an operand that is broadcast along an axis if its size there is 1: ``x_bar`` summed along the axis (which
    is kept) if ``size`` is 1 at run time, else ``x_bar``."""
    b = x_bar.b
    dims = (*x_bar.dims[:axis], size, *x_bar.dims[axis + 1 :])
    summed, kept = ir.Block(), ir.Block()
    with b.into(summed):
        summed.yields = (b.let("sized", m.sum(x_bar, (axis,), keepdims=True), dims=dims).op,)
    with b.into(kept):
        kept.yields = (b.let("sized", x_bar, dims=dims).op,)
    test = b.dim(size).eq(1)
    result = ir.Var(ir.SYNTHETIC, x_bar.type.with_dims(dims))
    b.emit(ir.If(test.op, summed, kept, (result,), b.loc))
    return b.expr(result)


def _linear_jvp(prim: str) -> Any:
    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        return None if dots[0] is None else m.call(prim, dots[0], *args[1:], **params)

    return jvp


def _reshape_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (m.reshape(y_bar, args[0].dims) if wants[0] else None,)


def _transpose_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0].with_dims(tuple(types[0].dims[a] for a in params["axes"]))


def _transpose_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    inverse = [0] * len(params["axes"])
    for k, a in enumerate(params["axes"]):
        inverse[a] = k
    return (m.transpose(y_bar, inverse) if wants[0] else None,)


def reduced_dims(dims: tuple[Dim, ...], axes: tuple[int, ...], keepdims: bool) -> tuple[Dim, ...]:
    """The sizes left after a reduction over ``axes``, which have size 1 with ``keepdims``."""
    if keepdims:
        return tuple(Dim(1) if k in axes else d for k, d in enumerate(dims))
    return tuple(d for k, d in enumerate(dims) if k not in axes)


def _sum_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    (x,) = types
    dtype = x.dtype
    if x.is_bool or (x.is_int and dtype in ("int8", "int16", "int32")):
        dtype = "int64"
    elif dtype in ("uint8", "uint16", "uint32"):
        dtype = "uint64"
    return Type(dtype, reduced_dims(x.dims, params["axes"], params["keepdims"]))


def _sum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (m.expand(y_bar, params["axes"], args[0].dims) if wants[0] else None,)


# --------------------------------------------------------------------------------------------- full, copy, item


def _full_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(params.get("dtype") or types[0].dtype, tuple(params["dims"]))


def _full_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (m.sum(y_bar) if wants[0] else None,)


def _copy_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    return (y_bar if wants[0] else None,)


def _shape_differs(args, params, types) -> Any:  # type: ignore[no-untyped-def]
    return ast.Compare(_shape_of(args[:1], params, types), [ast.NotEq()], [_shape_tuple(args[1:], params, types)])


def _shape_of(args, params, types) -> Any:  # type: ignore[no-untyped-def]
    return ast.Attribute(args[0], "shape", ast.Load())


def _shape_tuple(args, params, types) -> Any:  # type: ignore[no-untyped-def]
    return ast.Tuple(list(args), ast.Load())


def _shape_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type("int64", (Dim(len(types)),))


def _item_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return types[0].items[params["k"]]


TABLE = [
    # index: the place `args[0][path]`; args[1:] are the operands of the path; params["dims"] are the dims of the result.
    Op("index", _index_type, "index", kind="structural", lowering=Subscripted(), form=Form.PLACE, exact=True, jvp=_index_jvp,
         vjp=_index_vjp, cost=0, linear=True, view="writable", family="place"),
    # broadcast to params["dims"]; the printer leaves it out wherever NumPy broadcasts by itself
    Op("broadcast", _dims_type, "broadcast", kind="structural", lowering=Broadcast(), form=Form.SPREAD, exact=True,
         jvp=_linear_jvp("broadcast"), vjp=_broadcast_vjp, cost=0, linear=True, view="read_only", family="broadcast"),
    # stretch: broadcasts params["axis"], which at run time has either its size in params["dims"] or size 1, to the former;
    # params["parts"]: if all these sizes occur among the operands of an elementwise primitive, these broadcast by themselves
    Op("stretch", _dims_type, "stretch", kind="structural", lowering=Stretched(), form=Form.SPREAD, exact=True,
         jvp=_linear_jvp("stretch"), vjp=_stretch_vjp, cost=0, linear=True, view="read_only", family="stretch"),
    # sized: the array itself with its sizes in another symbolic form; the two are equal at run time
    Op("sized", _dims_type, "{0}", kind="structural", lowering=Same(), exact=True, same=True, jvp=_linear_jvp("sized"),
         vjp=_sized_vjp, cost=0, linear=True, view="read_only", family="dims"),
    Op("reshape", _dims_type, "reshape", kind="structural", lowering=Reshaped(), form=Form.RESHAPED, exact=True,
         jvp=_linear_jvp("reshape"), vjp=_reshape_vjp, cost=0, linear=True, view="writable", family="dims"),
    Op("transpose", _transpose_type, "transpose", kind="structural", lowering=Transposed(), form=Form.TURNED, place=lambda let,
         are_equal: ((ir.Permute(tuple(let.params["axes"])),), ()), exact=True, jvp=_linear_jvp("transpose"), vjp=_transpose_vjp,
         cost=0, linear=True, view="writable", family="transpose"),
    Op("sum", _sum_type, "reduce:np.sum", kind="fold", lowering=Sum(), fold="add", of_one=True, plain=True, said="sum",
         called="total", jvp=_linear_jvp("sum"), vjp=_sum_vjp, cost=1, linear=True, family="axes"),
    # full: an array of params["dims"] and params["dtype"] that holds the scalar args[0] everywhere
    Op("full", _full_type, "full", kind="structural", lowering=Filled(), form=Form.FILLED, jvp=_linear_jvp("full"), vjp=_full_vjp,
         cost=1, linear=True, family="full"),
    Op("empty", lambda types, params: Type(params["dtype"], tuple(params["dims"])), "empty", kind="structural",
         lowering=Unwritten(), form=Form.UNWRITTEN, jvp=ZERO, vjp=ZERO, cost=1, linear=True, family="dims"),
    Op("copy", lambda types, params: types[0].strong, "np.array({0})", kind="structural", lowering=Same(), form=Form.COPIED,
         element=SAME, same=True, magnitude=Magnitude(), interval=intervals.as_it_is, jvp=_linear_jvp("copy"), vjp=_copy_vjp,
         cost=1, linear=True, family="same"),
    # identity: another name for the same value
    Op("identity", lambda types, params: types[0], "{0}", kind="structural", lowering=Same(), element=SAME, same=True,
         interval=intervals.as_it_is, vanishes=(0,), magnitude=Magnitude(), exact=True, jvp=_linear_jvp("identity"),
         vjp=_copy_vjp, cost=0, linear=True, view="writable", family="same"),
    # item: result params["k"] of a primitive with several results; `transpile.transform.sweep` has its adjoint
    Op("item", _item_type, "item", kind="structural", lowering=Part(), form=Form.ITEM, work=0, jvp=None, vjp=None, cost=0,
         linear=True, view="held", family="item"),
    # for checks of sizes in printed text (transpile.codegen.size_guards): x.shape != (n, d), x.shape, (n, d)
    Op("shape_differs", lambda types, params: BOOL, _shape_differs, kind="structural", lowering=NOT_LOWERED, jvp=ZERO, vjp=ZERO,
         cost=0, linear=True, family="lane"),
    Op("shape_of", _shape_type, _shape_of, kind="structural", lowering=NOT_LOWERED, jvp=ZERO, vjp=ZERO, cost=0, linear=True,
         family="lane"),
    Op("shape_tuple", _shape_type, _shape_tuple, kind="structural", lowering=NOT_LOWERED, jvp=ZERO, vjp=ZERO, cost=0, linear=True,
         family="lane"),
    # the trip count of a loop, where printed text needs it
    Op("range_length", lambda types, params: INT, "len(range({0}, {1}, {2}))", kind="structural", lowering=NOT_LOWERED,
         form=Form.LENGTH, jvp=ZERO, vjp=ZERO, linear=True, family="lane"),
    # dim: the run-time size of axis params["axis"]
    Op("dim", lambda types, params: INT, "{0}.shape[{axis}]", kind="structural", lowering=Part(), work=0, called="size", jvp=ZERO,
         vjp=ZERO, cost=0, linear=True, family="size"),
]  # fmt: skip
