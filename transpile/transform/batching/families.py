"""How each family of primitives is batched: one rule for all of its members.

A rule takes an operation of one lane (`Made`) and the emitter, and returns the value for all lanes, lane axis in front. ``can``
of a family says whether there is a rule for these operands; if not, the statement runs lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim, product
from transpile.core.types import Type
from transpile.ops.contraction import inner
from transpile.ops.tables import record_of

Differs = Callable[[ir.Operand], bool]


@dataclass(frozen=True)
class Made:
    """The operation ``prim(args)`` of one lane, with its result type."""

    prim: str
    args: tuple[ir.Operand, ...]
    params: Mapping[str, Any]
    type: Type


class Emitter(Protocol):
    """The interface that rules emit with (`transpile.transform.batching.all_lanes`)."""

    b: Builder
    lanes: Dim

    def differs(self, op: ir.Operand) -> bool: ...
    def of(self, op: ir.Operand) -> ir.Operand: ...
    def whole(self, op: ir.Operand) -> ir.Operand: ...
    def batched(self, type_: Type) -> Type: ...


Rule = Callable[[Emitter, Made], ir.Operand]
Can = Callable[[Made, Differs], bool]


@dataclass(frozen=True)
class Family:
    """The rule of a family, and the test whether it can be used."""

    rule: Rule
    can: Can = lambda made, differs: True


def let(w: Emitter, made: Made, args: Sequence[ir.Operand], **params: Any) -> ir.Operand:
    """The result for all lanes of the primitive of ``made`` on the operands ``args``, emitted; ``params`` replace parameters of
    ``made``."""
    return w.b.bind("", w.batched(made.type), made.prim, tuple(args), {**made.params, **params})


def placed(w: Emitter, op: ir.Operand, items: Sequence[Any], dims: Sequence[Dim]) -> ir.Operand:
    """``op[items]``, a view with these ``dims``, emitted; ``op`` itself if all items are slices, which must be full."""
    if all(isinstance(i, ir.Slice) for i in items):
        return op
    params = {"path": (ir.Index(tuple(items)),), "dims": tuple(dims)}
    return w.b.bind("", op.type.with_dims(tuple(dims)), "index", (op,), params)


def lead(w: Emitter, op: ir.Operand, rank: int) -> ir.Operand:
    """``op``, a value for all lanes, with axes of size 1 inserted after the lane axis, so that ``rank`` axes follow it."""
    dims = op.type.dims
    missing = rank - (len(dims) - 1)
    items = [ir.Slice(), *[ir.NewAxis()] * missing, *[ir.Slice()] * (len(dims) - 1)]
    return placed(w, op, items, (dims[0], *[Dim(1)] * missing, *dims[1:]))


def transposed(w: Emitter, op: ir.Operand, axes: Sequence[int]) -> ir.Operand:
    """``np.transpose(op, axes)``, a view, emitted; ``op`` itself if the order stays the same."""
    axes = tuple(axes)
    if axes == tuple(range(len(axes))):
        return op
    type_ = op.type.with_dims(tuple(op.type.dims[a] for a in axes))
    return w.b.bind("", type_, "transpose", (op,), {"axes": axes})


# --------------------------------------------------------------------------------------------------- elementwise


def _elementwise(w: Emitter, made: Made) -> ir.Operand:
    """An elementwise primitive: operands that are no constants are broadcast to all lanes. Python's ``max`` and ``min`` become
    a ``where``."""
    b = w.b
    args = [op if isinstance(op, ir.Const) else w.whole(op) for op in made.args]
    if record_of(made).extreme and made.params.get("py"):
        x, y = args  # Python keeps the first operand if no comparison holds
        test = b.elementwise("greater" if record_of(made).extreme > 0 else "less", y, x)
        return b.elementwise("where", test, y, x).op
    kept = {k: v for k, v in made.params.items() if k not in ("via", "ufunc", "py", "whole")}
    if not args or all(isinstance(a, ir.Const) for a in args):
        raise AssertionError(made)
    return b.bind("", w.batched(made.type), made.prim, tuple(args), kept)


def _rounding(w: Emitter, made: Made) -> ir.Operand:
    """Python's rounding to an int, in all lanes: the rounding function of NumPy, then a cast."""
    return w.b.cast(w.b.elementwise(record_of(made).rounds, w.of(made.args[0])), made.type.dtype).op


# ------------------------------------------------------------------------------------------------ axes and shapes


def _axes(w: Emitter, made: Made) -> ir.Operand:
    """A primitive over the axes ``params["axes"]`` of one lane, each of which is one further for all lanes."""
    return let(w, made, [w.of(a) for a in made.args], axes=tuple(a + 1 for a in made.params["axes"]))


def _axis(w: Emitter, made: Made) -> ir.Operand:
    """A primitive along the axis ``params["axis"]`` of one lane, one further for all lanes; None means each lane flattened."""
    (x, *rest) = (w.of(a) for a in made.args)
    axis = made.params["axis"]
    if axis is None:
        rank = made.args[0].type.rank
        if rank != 1:
            dims = (w.lanes, *((w.b.canonical(product(made.args[0].type.dims)),) if rank else (Dim(1),)))
            x = w.b.bind("", x.type.with_dims(dims), "reshape", (x,), {"dims": dims})
        found = let(w, made, (x, *rest), axis=1, **({"keepdims": False} if "keepdims" in made.params else {}))
        return found
    return let(w, made, (x, *rest), axis=axis + 1)


def _can_axis(made: Made, differs: Differs) -> bool:
    """Whether only the first operand differs, except for a flattened array with ``keepdims``."""
    first = differs(made.args[0]) and not any(differs(a) for a in made.args[1:])
    return first and not (made.params.get("axis") is None and made.params.get("keepdims"))


def _only_first(made: Made, differs: Differs) -> bool:
    """Whether the first operand, and no other, differs between lanes."""
    return differs(made.args[0]) and not any(differs(a) for a in made.args[1:])


def _along(w: Emitter, made: Made) -> ir.Operand:
    """``take_along_axis``: both operands need a lane axis."""
    return let(w, made, [w.whole(a) for a in made.args], axis=made.params["axis"] + 1)


def _stacked(w: Emitter, made: Made) -> ir.Operand:
    """A primitive that broadcasts all leading axes against each other: all operands get the lane axis and the same rank."""
    rank = max(a.type.rank for a in made.args)
    return let(w, made, [lead(w, w.whole(a), rank) for a in made.args])


def _trailing(w: Emitter, made: Made) -> ir.Operand:
    """A primitive of trailing axes: NumPy's own form takes any leading axes, so the lane axis may stand in front."""
    return let(w, made, [w.of(a) for a in made.args])


def _broadcast(w: Emitter, made: Made) -> ir.Operand:
    dims = (w.lanes, *made.params["dims"])
    x = lead(w, w.of(made.args[0]), len(dims) - 1)
    if x.type.dims == dims:
        return x
    return w.b.bind("", x.type.with_dims(dims), "broadcast", (x,), {"dims": dims})


def _stretch(w: Emitter, made: Made) -> ir.Operand:
    dims = (w.lanes, *made.params["dims"])
    return let(w, made, [w.of(made.args[0])], axis=made.params["axis"] + 1, dims=dims)


def _of_dims(w: Emitter, made: Made) -> ir.Operand:
    return let(w, made, [w.of(a) for a in made.args], dims=(w.lanes, *made.params["dims"]))


def _transpose(w: Emitter, made: Made) -> ir.Operand:
    return transposed(w, w.of(made.args[0]), (0, *(a + 1 for a in made.params["axes"])))


def _repeat(w: Emitter, made: Made) -> ir.Operand:
    dims = (w.lanes, *made.params["dims"])
    return let(w, made, [w.of(a) for a in made.args], axis=made.params["axis"] + 1, dims=dims)


def _pad(w: Emitter, made: Made) -> ir.Operand:
    """``np.pad`` for all lanes: the lane axis gets no padding."""
    x, *rest = made.args
    zero = w.b.operand(0)
    return let(w, made, [w.of(x), zero, zero, *rest], dims=(w.lanes, *made.params["dims"]), even=False)


def _tile(w: Emitter, made: Made) -> ir.Operand:
    x, *counts = made.args
    one = w.b.operand(1)
    return let(w, made, [w.of(x), one, *counts], dims=(w.lanes, *made.params["dims"]))


def _diag(w: Emitter, made: Made) -> ir.Operand:
    """A matrix of zeros for each lane, with its diagonal, at ``params["offset"]``, written into it."""
    (x,), offset, b = made.args, made.params["offset"], w.b
    buf = b.alloc(
        made.prim, w.batched(made.type), "full", b.operand(0), dims=w.batched(made.type).dims, dtype=made.type.dtype
    )
    n = x.type.dims[0]
    places = b.let("arange", b.dim(n), dims=(n,), dtype="int64")
    rows, columns = places + max(-offset, 0), places + max(offset, 0)
    b.store(buf, (ir.Index((ir.Slice(), ir.Gather(0), ir.Gather(1))),), [rows.op, columns.op], w.of(x))
    return b.read(buf).op


def _repeat_each(w: Emitter, made: Made) -> ir.Operand:
    """``np.repeat`` with an array of counts, which lanes share: the repeated positions are computed once."""
    x, counts = made.args
    b = w.b
    numbers = b.let("arange", b.dim(x.type.dims[0]), dims=x.type.dims, dtype="int64")
    places = b.let(made.prim, numbers, counts, **made.params).op
    params = {"path": (ir.Index((ir.Slice(), ir.Gather(0))),), "dims": (w.lanes, *made.type.dims)}
    return b.bind("", w.batched(made.type), "index", (w.of(x), places), params)


def _full(w: Emitter, made: Made) -> ir.Operand:
    """The fill value of each lane, broadcast to the dims."""
    dims = (w.lanes, *made.params["dims"])
    x = lead(w, w.b.cast(w.of(made.args[0]), made.type.dtype).op, len(dims) - 1)
    return x if x.type.dims == dims else w.b.bind("", x.type.with_dims(dims), "broadcast", (x,), {"dims": dims})


def _same(w: Emitter, made: Made) -> ir.Operand:
    """The value for all lanes itself; if its sizes have other names there, the primitive applied to it, which gives it the new
    names."""
    x = w.of(made.args[0])
    return x if x.type.dims == w.batched(made.type).dims else let(w, made, [x])


def _cast(w: Emitter, made: Made) -> ir.Operand:
    return w.b.cast(w.of(made.args[0]), made.type.dtype).op


def _can_cast(made: Made, differs: Differs) -> bool:
    """True except for a cast of a uint64 to a Python int, which lanes hold in int64: each number must be checked to fit."""
    return not (made.type.weak and made.args[0].type.dtype == "uint64" and made.type.is_int)


def _join(w: Emitter, made: Made) -> ir.Operand:
    return let(w, made, [w.whole(a) for a in made.args], axis=made.params["axis"] + 1)


def _trace(w: Emitter, made: Made) -> ir.Operand:
    b, x = w.b, w.of(made.args[0])
    return b.let("sum", b.let("diagonal", x, axes=(1, 2), offset=0), axes=(1,), keepdims=False).op


def _query(w: Emitter, made: Made) -> ir.Operand:
    """A look-up for all lanes: only the first operand, the values looked up, has a lane axis."""
    return let(w, made, [w.of(a) for a in made.args])


def _searchsorted(w: Emitter, made: Made) -> ir.Operand:
    return let(w, made, [w.of(a) for a in made.args])


def _can_search(made: Made, differs: Differs) -> bool:
    """Whether the sorted array, the first operand, and all operands after the second are shared between lanes."""
    return not differs(made.args[0]) and not any(differs(a) for a in made.args[2:])


# ------------------------------------------------------------------------------------------------------- products


def _matmul(w: Emitter, made: Made) -> ir.Operand:
    """The product for all lanes: one product, or NumPy's own loop over the lanes if both sides differ."""
    x, y = made.args
    p, q = x.type.rank, y.type.rank
    if w.differs(x) and w.differs(y):
        if p == q == 1:
            return inner(w.b.expr(w.of(x)), w.b.expr(w.of(y))).op
        return _of_matrices(w, made, w.of(x), w.of(y), p, q)
    if w.differs(x):
        if q <= 2 and p <= 2:
            if p == 1 or q == 1 or made.prim != "matmul":
                return let(w, made, (w.of(x), y))  # (lanes, k) @ (k, n), (lanes, m, k) @ (k,), (lanes, k) @ (k,)
            return let(w, made, (w.of(x), y))
        if q <= 2 and p > 2:
            return let(w, made, (w.of(x), y))
        return _of_matrices(w, made, w.of(x), y, p, q)
    if p == 2 and q == 1:
        return let(w, made, (w.of(y), transposed(w, x, (1, 0))))  # W @ x of all lanes: X @ W.T
    if p == 1 and q == 1:
        return let(w, made, (w.of(y), x))
    if p <= 2 and q >= 2:
        return let(w, made, (x, w.of(y)))
    return _of_matrices(w, made, x, w.of(y), p, q)


def _of_matrices(w: Emitter, made: Made, x: ir.Operand, y: ir.Operand, p: int, q: int) -> ir.Operand:
    """The product of ``x`` and ``y``, whose ranks in one lane are ``p`` and ``q``, as ``matmul`` with vectors as matrices of
    one row or column, so that all operands have the same number of axes; these extra axes are removed from the result."""
    rank = max(p, q, 2)
    a = _as_matrix(w, x, p, rank, w.differs(made.args[0]), row=True)
    c = _as_matrix(w, y, q, rank, w.differs(made.args[1]), row=False)
    found = w.b.let("matmul", a, c).op
    items: list[Any] = [ir.Slice()] * found.type.rank
    dims: list[Any] = list(found.type.dims)
    zeros: list[ir.Operand] = []
    for axis, vector in ((-2, p == 1), (-1, q == 1)):
        if vector:
            items[axis] = ir.Point(len(zeros))
            dims[axis] = None
            zeros.append(w.b.operand(0))
    if not zeros:
        return found
    kept = tuple(d for d in dims if d is not None)
    params = {"path": (ir.Index(tuple(items)),), "dims": kept}
    return w.b.bind("", found.type.with_dims(kept), "index", (found, *zeros), params)


def _as_matrix(w: Emitter, op: ir.Operand, rank: int, wanted: int, mapped: bool, row: bool) -> ir.Operand:
    """``op``, of this ``rank`` in one lane, as matrices with ``wanted`` axes: a vector becomes a row (``row``) or a column,
    axes of size 1 fill up. ``mapped``: it has a lane axis, which stays in front."""
    dims = op.type.dims
    own = list(dims[1:] if mapped else dims)
    items: list[Any] = [ir.Slice()] * rank
    if rank == 1:
        items.insert(0 if row else 1, ir.NewAxis())
        own.insert(0 if row else 1, Dim(1))
    missing = wanted - len(own)
    if mapped:
        items = [ir.Slice(), *[ir.NewAxis()] * missing, *items]
        own = [dims[0], *[Dim(1)] * missing, *own]
    return placed(w, op, items, own)


def _outer(w: Emitter, made: Made) -> ir.Operand:
    """The outer product of two vectors of each lane, as a product of a column and a row."""
    x, y = made.args
    dims = w.batched(made.type).dims
    row = lead(w, w.of(y), 2) if w.differs(y) else y
    b = w.b
    return b.elementwise("mul", b.broadcast(_column(w, w.of(x)), dims), b.broadcast(row, dims)).op


def _einsum(w: Emitter, made: Made) -> ir.Operand:
    """The same ``einsum`` with a new letter for the lane axis, in front of the operands that differ and of the result."""
    inputs, arrow, output = made.params["subscripts"].partition("->")
    lane = next(c for c in "bzyxwvutsrqponmlkjihgfedca" if c not in inputs + output)
    terms = [(lane + t if w.differs(a) else t) for t, a in zip(inputs.replace(" ", "").split(","), made.args)]
    return let(w, made, [w.of(a) for a in made.args], subscripts=f"{','.join(terms)}{arrow}{lane}{output.strip()}")


def _can_einsum(made: Made, differs: Differs) -> bool:
    text = made.params["subscripts"]
    return "..." not in text and "->" in text


def _tensordot(w: Emitter, made: Made) -> ir.Operand:
    """The product for all lanes: one product if only one side differs, else a product of matrices for each lane."""
    x, y = made.args
    first, second = made.params["axes"]
    if not w.differs(y):
        return let(w, made, (w.of(x), y), axes=(tuple(p + 1 for p in first), second))
    if not w.differs(x):
        rest, dims = x.type.rank - len(first), made.type.dims
        type_ = made.type.strong.with_dims((*dims[:rest], w.lanes, *dims[rest:]))
        axes = (first, tuple(q + 1 for q in second))
        found = w.b.bind("", type_, made.prim, (x, w.of(y)), {**made.params, "axes": axes})
        return transposed(w, found, (rest, *range(rest), *range(rest + 1, len(dims) + 1)))
    mine = [k for k in range(x.type.rank) if k not in first]
    theirs = [k for k in range(y.type.rank) if k not in second]
    rows, columns = [x.type.dims[k] for k in mine], [y.type.dims[k] for k in theirs]
    summed = [x.type.dims[k] for k in first]
    left = _flat(w, transposed(w, w.of(x), (0, *(k + 1 for k in (*mine, *first)))), rows, summed)
    right = _flat(w, transposed(w, w.of(y), (0, *(k + 1 for k in (*second, *theirs)))), summed, columns)
    product = w.b.let("matmul", left, right).op
    return _reshaped(w, product, (w.lanes, *rows, *columns))


def _flat(w: Emitter, op: ir.Operand, rows: Sequence[Dim], columns: Sequence[Dim]) -> ir.Operand:
    """``op``, a value for all lanes, reshaped to one matrix for each lane: the axes ``rows`` merged into one, the axes
    ``columns`` into the other."""
    return _reshaped(w, op, (w.lanes, w.b.canonical(product(rows)), w.b.canonical(product(columns))))


def _reshaped(w: Emitter, op: ir.Operand, dims: tuple[Dim, ...]) -> ir.Operand:
    """``op`` reshaped to ``dims``; ``op`` itself if it has them already."""
    return op if op.type.dims == dims else w.b.bind("", op.type.with_dims(dims), "reshape", (op,), {"dims": dims})


def _solve(w: Emitter, made: Made) -> ir.Operand:
    """A solve for all lanes. With leading axes NumPy takes the right side as a matrix, so a vector becomes a column. With one
    shared matrix, the right sides of all lanes are its columns."""
    a, y = made.args
    if y.type.rank == 1 and a.type.rank == 2 and not w.differs(a):
        columns = transposed(w, w.of(y), (1, 0))
        found = w.b.bind("", columns.type, made.prim, (a, columns), made.params)
        return transposed(w, found, (1, 0))
    if y.type.rank > 1:
        rank = max(a.type.rank, y.type.rank)
        return let(w, made, [lead(w, w.of(x), rank) if w.differs(x) else x for x in made.args])
    rank = a.type.rank
    matrix = w.of(a)
    column = _column(w, w.of(y))
    if w.differs(y):
        column = lead(w, column, rank)
    wide = w.batched(made.type).dims
    found = w.b.bind("", made.type.with_dims((*wide, Dim(1))), made.prim, (matrix, column), made.params)
    params = {"path": (ir.Index((*[ir.Slice()] * len(wide), ir.Point(0))),), "dims": wide}
    return w.b.bind("", made.type.with_dims(wide), "index", (found, w.b.operand(0)), params)


def _column(w: Emitter, op: ir.Operand) -> ir.Operand:
    dims = (*op.type.dims, Dim(1))
    return placed(w, op, [*[ir.Slice()] * op.type.rank, ir.NewAxis()], dims)


def _can_solve_columns(made: Made, differs: Differs) -> bool:
    """Whether the right sides of all lanes can be the columns of one matrix: they are vectors, and lanes share the matrix."""
    return made.args[1].type.rank == 1 and not differs(made.args[0])


def _item(w: Emitter, made: Made) -> ir.Operand:
    return let(w, made, [w.of(made.args[0])])


def _across(w: Emitter, made: Made) -> ir.Operand:
    """A collective over the axis of another `vmap`, of values that have this one's lane axis in front."""
    first, *rest = made.args
    at = {"at": made.params["at"] + 1} if "at" in made.params else {}
    return let(w, made, [w.of(first), *rest], **at)


def _draw(w: Emitter, made: Made) -> ir.Operand:
    """The draws of all lanes, each with its own key: shared keys and shared operands are broadcast to all lanes."""
    return let(w, made, [w.whole(a) for a in made.args])


FAMILIES: dict[str, Family] = {
    "elementwise": Family(_elementwise),
    "rounding": Family(_rounding),
    "axes": Family(_axes, _only_first),
    "axis": Family(_axis, _can_axis),
    "along": Family(_along),
    "trailing": Family(_trailing),
    "broadcast": Family(_broadcast),
    "stretch": Family(_stretch),
    "dims": Family(_of_dims),
    "transpose": Family(_transpose),
    "repeat": Family(_repeat, _only_first),
    "repeat_each": Family(_repeat_each, _only_first),
    "pad": Family(_pad, _only_first),
    "tile": Family(_tile, _only_first),
    "diag": Family(_diag),
    "stacked": Family(_stacked),
    "full": Family(_full),
    "same": Family(_same),
    "cast": Family(_cast, _can_cast),
    "join": Family(_join),
    "trace": Family(_trace, lambda made, differs: made.args[0].type.rank == 2),
    "query": Family(_query, _only_first),
    "searched": Family(_searchsorted, _can_search),
    "matmul": Family(_matmul),
    "outer": Family(_outer, lambda made, differs: all(a.type.rank == 1 for a in made.args)),
    "einsum": Family(_einsum, _can_einsum),
    "tensordot": Family(_tensordot),
    "solve": Family(_solve),
    "columns": Family(_solve, _can_solve_columns),
    "item": Family(_item),
    "collective": Family(_across, _only_first),
    "draw": Family(_draw),
}


__all__ = ["FAMILIES", "Emitter", "Expr", "Family", "Made"]
