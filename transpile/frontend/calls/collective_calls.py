"""The collectives of `transpile.lax.collectives` in transformed code: primitives of a lane, whose last operand is their axis.

The axis of a `vmap` is a hidden parameter of the function that is lifted under it; a function that is transformed or kept inside
gets it from the function around, like all that it reads there.
"""

from __future__ import annotations

from typing import Any

from transpile.base import axis_names
from transpile.base.axis_names import NamedAxis
from transpile.core import nodes as ir
from transpile.core.dims import Dim, product
from transpile.core.types import Type
from transpile.frontend.control import dynamic_list_reads
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import closure_conversion, statics
from transpile.frontend.values import attributes
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Scalar, Static, Tuple

Args = list[Any]
Kwargs = dict[str, Any]

APART = "all sources must differ, and all targets must differ"
PAIRS = "write pairs (source, target) of batch indices: [(0, 1), (1, 0)]"


def operand(lx: Lifter, axis: NamedAxis) -> ir.Var:
    """The hidden parameter for an axis."""
    outer = lx.outer
    if outer is not None and axis in outer.axes:
        found = closure_conversion.hidden(lx, operand(outer, axis), axis.label)
        assert isinstance(found, ir.Var)
        return found
    for var, read in lx.captures.items():
        if read is axis:
            return var
    number = lx.first_capture + len(lx.captures)
    if axis.fixed:
        dim = Dim(axis.size or 0)
    else:
        dim = lx.symbols.argument(axis, number, 0, axis.size, 1)
        lx.symbols.operand(lx, dim)
        for name in dim.symbols():
            lx.symbols.names.setdefault(name, axis.label)
    var = ir.Var(f"{axis.label}_lanes", Type("int64", (dim,)))
    lx.captures[var] = axis
    return var


def _axes(lx: Lifter, axis_name: Any, groups: Any, node: Any) -> list[ir.Var]:
    """The axes that are meant, the first one slowest."""
    if groups is not None and not (isinstance(groups, Static) and groups.value is None):
        hint = "name two axes, of two nested vmaps: psum(x, ('group', 'member'))"
        raise lx.error("T131", "axis_index_groups is not supported", node, hint)
    given = lx.static(axis_name, "the name of an axis", node)
    found: list[ir.Var] = []
    for name in given if isinstance(given, (tuple, list)) else (given,):
        axis = next((a for a in reversed(lx.axes) if a.name == name), None)
        if axis is None:
            message, hint = axis_names.unbound(name, lx.axes)
            raise lx.error("T604", message, node, hint)
        found.append(operand(lx, axis))
    return found


def _over_lanes(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    prim, leaf, axis_name, groups = args
    axes = _axes(lx, axis_name, groups, node)
    x = lx.array(leaf)
    for axis in reversed(axes):
        with lx.rules(node):
            x = lx.b.let(prim.value, x, axis)
    return lx.value(x.op)


def _at(lx: Lifter, axis: Any, rank: int, node: Any) -> int:
    """Which of the axes of an array."""
    k = lx.static(axis, "the number of an axis", node)
    if not isinstance(k, int) or isinstance(k, bool) or not -rank <= k < rank:
        hint = "axes count from 0, or from -1 at the end"
        raise lx.error("T203", f"axis {k!r} is out of range for an array of rank {rank}", node, hint)
    return k % rank


def _gathered(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    leaf, axis_name, groups, at, tiled = args
    axes = _axes(lx, axis_name, groups, node)
    x = lx.array(leaf)
    along = bool(lx.static(tiled, "the argument 'tiled'", node))
    k = _at(lx, at, x.rank + (not along), node)
    dims = x.dims
    for axis in reversed(axes):
        x = lx.b.let("all_gather", x, axis, at=k)
    if len(axes) + along == 1:
        return lx.value(x.op)
    lanes = product([a.type.dims[0] for a in axes])
    merged = lanes * dims[k] if along else lanes
    shape = (*dims[:k], merged, *dims[k + along :])
    return _reshaped(lx, lx.value(x.op), shape, node)


def _reshaped(lx: Lifter, value: Any, shape: tuple[Dim, ...], node: Any) -> Any:
    sizes = Tuple(tuple(attributes.size(lx, d) for d in shape))
    return lx.known_call("numpy.reshape", [value, sizes], {}, node)


def _scattered(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    leaf, axis_name, groups, at, tiled = args
    axes = _axes(lx, axis_name, groups, node)
    x = lx.array(leaf)
    k = _at(lx, at, x.rank, node)
    lanes = [a.type.dims[0] for a in axes]
    along = bool(lx.static(tiled, "the argument 'tiled'", node))
    if along or len(axes) > 1:
        rest = (_share(lx, x.dims[k], product(lanes), node),) if along else ()
        x = lx.array(_reshaped(lx, lx.value(x.op), (*x.dims[:k], *lanes, *rest, *x.dims[k + 1 :]), node))
    for axis, n in zip(axes, lanes):
        if not lx.b.same(x.dims[k], n):
            message = f"psum_scatter over a batch of {n}, but the array has size {x.dims[k]} along axis {k}"
            raise lx.error(
                "T203", message, node, "pass an array with the size of the batch along this axis, or tiled=True"
            )
        x = lx.b.let("psum_scatter", x, axis, at=k)
    return lx.value(x.op)


def _share(lx: Lifter, size: Dim, lanes: Dim, node: Any) -> Dim:
    """The size of a lane's share of an axis."""
    return lx.b.form(lx.b.dim(size) // lx.b.dim(lanes))


def _pairs(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    (perm,) = args
    if statics.is_known(lx, perm):
        known = statics.known(lx, perm)
        try:
            pairs = [(int(s), int(t)) for s, t in known]
        except (TypeError, ValueError):
            raise lx.error("T131", f"perm is {describe(lx, perm)}, not a list of pairs", node, PAIRS) from None
        sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
        if len(set(sources)) < len(pairs) or len(set(targets)) < len(pairs) or min((*sources, *targets), default=0) < 0:
            hint = "to send one value to several lanes, use all_gather"
            raise lx.error("T605", f"perm is {known!r}: {APART}", node, hint)
        return Tuple(tuple(lx.value(_numbers(lx, v)) for v in (sources, targets)))
    found = lx.array(lx.known_call("numpy.array", [perm], {}, node))
    if found.rank != 2 or not found.type.is_int or not lx.b.same(found.dims[1], Dim(2)):
        raise lx.error("T131", f"perm is {describe(lx, perm)}, not a list of pairs", node, PAIRS)
    columns = []
    for k in range(2):
        column = lx.value(found.op)
        column = lx.known_call("numpy.take", [column, lx.const(k)], {"axis": lx.const(1)}, node)
        once = lx.known_call("numpy.unique", [column], {}, node)
        sizes = [lx.b.dim(attributes.type_of(lx, v).dims[0]).op for v in (once, column)]
        dynamic_list_reads.raise_if(lx, lx.b.elementwise("less", *sizes).op, "ValueError", f"ppermute: {APART}")
        columns.append(column)
    return Tuple(tuple(columns))


def _numbers(lx: Lifter, numbers: list[int]) -> Any:
    return lx.operand(lx.known_call("numpy.array", [lx.const(tuple(numbers))], {"dtype": lx.const("int64")}))


def _sent(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    leaf, axis_name, sources, targets = args
    axes = _axes(lx, axis_name, None, node)
    if len(axes) != 1:
        raise lx.error("T131", "ppermute over several axes is not supported", node, "permute over one axis at a time")
    return lx.value(lx.b.let("ppermute", lx.array(leaf), lx.array(sources), lx.array(targets), axes[0]).op)


def _lane_number(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    total = None
    for axis in _axes(lx, args[0], None, node):
        own = lx.b.let("axis_index", axis)
        total = own if total is None else total * lx.b.dim(axis.type.dims[0]) + own
    return lx.const(0) if total is None else Scalar(total.op)


def _lane_count(lx: Lifter, args: Args, kwargs: Kwargs, node: Any) -> Any:
    return attributes.size(lx, product([a.type.dims[0] for a in _axes(lx, args[0], None, node)]))


TABLE: dict[str, Any] = {
    f"transpile.lax.collectives.{name}": rule
    for name, rule in {
        "over_lanes": _over_lanes, "gathered": _gathered, "scattered": _scattered, "pairs": _pairs, "sent": _sent,
        "lane_number": _lane_number, "lane_count": _lane_count,
    }.items()
}  # fmt: skip
