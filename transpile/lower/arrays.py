"""Elementwise and structural primitives as element functions: which scalars make element ``idx`` of the result.

Each rule is called with the lowering and the statement and gives `Elements`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transpile.core.builder import Expr
from transpile.core.nodes import SYNTHETIC, Block, Const, If, Operand, Var
from transpile.core.types import INT, Type
from transpile.lower import effects
from transpile.lower.elements import Elements, is_one, read, stored, write
from transpile.lower.index_bounds import guarded, named
from transpile.lower.indices import broadcast_index, quick, regroup
from transpile.lower.lowering import Lowering
from transpile.lower.memory_layout import made_by, repeated, view_of
from transpile.lower.overflow import check_narrow
from transpile.lower.places import place_of
from transpile.lower.sums import peek
from transpile.lower.views import Uniform

Rule = Callable[["Lowering", Any], Elements]
DEEPEST = (
    100  # operations of one formula in one loop: it is no faster with more, and what emits them recurses over them
)


def elementwise(lw: Lowering, stmt: Any) -> Elements:
    """One scalar operation an element; operands have equal dims or are scalars."""
    operands = [lw.elements(a) for a in stmt.args]
    operands = [lw.in_memory(e, "part") if e.depth >= DEEPEST and e.rank else e for e in operands]
    shaped = max(operands, key=lambda e: e.rank)
    result = Type(stmt.var.type.dtype)
    # what carries the index must be of the result's sizes; an operand of sizes 1 beside larger ones was broadcast before

    def at(idx: Sequence[Expr]) -> Expr:
        args = [e.at(idx) if e.rank else e.at(()) for e in operands]
        return lw.compute(stmt.prim, args, result, stmt.params)

    made = made_by(lw, stmt.prim, operands)
    depth = 1 + max(e.depth for e in operands)
    found = Elements(shaped.sizes, result.dtype, at, cheap=False, unit=_unit(operands), made=made, depth=depth)
    return replace(found.also(*operands), cheap=False)


def _unit(operands: Sequence[Elements]) -> int | None:
    """The axis that is contiguous in most operands."""
    units = [e.unit for e in operands if e.rank and e.unit is not None]
    return max(set(units), key=lambda u: (units.count(u), u)) if units else None


def cast(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    result = Type(stmt.var.type.dtype)
    return replace(
        x, dtype=result.dtype, root=None, made=None, at=lambda idx: lw.compute("cast", [x.at(idx)], result, {})
    )


def copy(lw: Lowering, stmt: Any) -> Elements:
    return peek(lw, stmt.args[0]) or lw.elements(stmt.args[0])


def _full(lw: Lowering, stmt: Any) -> Elements:
    check_narrow(lw, stmt.args[0], stmt.var.type.dtype)
    value = lw.compute("cast", [lw.scalar(stmt.args[0])], Type(stmt.var.type.dtype), {})
    return Elements(lw.sizes(stmt.params["dims"]), stmt.var.type.dtype, lambda idx: value, made=Uniform(value))


def _empty(lw: Lowering, stmt: Any) -> Elements:
    sizes = lw.sizes(stmt.params["dims"])
    return (
        stored(lw.b, lw.memory(stmt.var.name, stmt.var.type.dtype, sizes), sizes)
        if not _is_alloc(stmt)
        else Elements(sizes, stmt.var.type.dtype, lambda idx: lw.b.expr(Const(0, INT)))
    )


def _is_alloc(stmt: Any) -> bool:
    return bool(stmt.var.buffer)


def _broadcast(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    dims = stmt.params["dims"]
    own = stmt.args[0].type.dims
    lead = len(dims) - len(own)
    sizes = tuple(
        x.sizes[k - lead] if k >= lead and not is_one(x.sizes[k - lead]) else lw.dim(d) for k, d in enumerate(dims)
    )
    if x.rank and any(not is_one(s) for s in x.sizes):
        x = lw.steady(x, _name(stmt.args[0]))
    elif not x.cheap or not x.rank:
        value = x.at([lw.b.expr(0)] * x.rank)  # one element, computed once
        return Elements(sizes, x.dtype, lambda idx: value, made=Uniform(value))
    unit = None if x.unit is None or is_one(x.sizes[x.unit]) else x.unit + lead
    made = repeated(x, lead)
    return replace(x, sizes=sizes, root=None, made=made, unit=unit, at=lambda idx: x.at(broadcast_index(lw, x, idx)))


def _stretch(lw: Lowering, stmt: Any) -> Elements:
    """An axis of 1, or of that size already: the last entry stands for all that follow."""
    x = lw.steady(lw.elements(stmt.args[0]), _name(stmt.args[0]))
    axis, b = stmt.params["axis"], lw.b
    size = lw.dim(stmt.params["dims"][axis])
    last = b.expr(x.sizes[axis]) - 1

    def at(idx: Sequence[Expr]) -> Expr:
        return x.at([b.elementwise("minimum", i, last, py=True) if k == axis else i for k, i in enumerate(idx)])

    sizes = (*x.sizes[:axis], size, *x.sizes[axis + 1 :])
    return replace(x, sizes=sizes, root=None, made=None, unit=None if x.unit == axis else x.unit, at=at)


def _transpose(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    axes = tuple(stmt.params["axes"])
    where = {a: k for k, a in enumerate(axes)}
    unit = None if x.unit is None else where[x.unit]
    view = view_of(x)
    made = None if view is None else view.permuted(axes)
    return replace(
        x,
        sizes=tuple(x.sizes[a] for a in axes),
        root=made.var if made is not None and made.is_whole else None,
        made=made,
        unit=unit,
        at=lambda idx: x.at([idx[where[a]] for a in range(len(axes))]),
    )


def _reshape(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    sizes = lw.sizes(stmt.params["dims"])
    if _only_ones(x.sizes, sizes):
        move = regroup(lw, x.sizes, sizes)
        kept = [k for k, s in enumerate(sizes) if not is_one(s)]
        unit = None
        if x.unit is not None and not is_one(x.sizes[x.unit]):
            unit = kept[[k for k, s in enumerate(x.sizes) if not is_one(s)].index(x.unit)]
        if x.root is None or not sizes:
            return replace(x, sizes=sizes, root=None, made=None, unit=unit, at=lambda idx: x.at(move(idx)))
    x = lw.rooted(x, _name(stmt.args[0]))
    assert x.root is not None
    if not sizes:
        root = x.root
        return Elements((), x.dtype, lambda idx: read(lw.b, root, [lw.b.expr(0)] * x.rank), deps=x.deps)
    view = lw.b.bind(_name(stmt.var), Type(x.dtype, stmt.var.type.dims), "view", (x.root, *sizes), {})
    return stored(lw.b, view, sizes, x.deps)


def _only_ones(old: Sequence[Operand], new: Sequence[Operand]) -> bool:
    """Whether the sizes differ only by axes of size 1."""
    a, c = ([s for s in sizes if not is_one(s)] for sizes in (old, new))
    return len(a) == len(c) and all(_same(s, t) for s, t in zip(a, c))


def _same(a: Operand, b: Operand) -> bool:
    if a == b:
        return True
    return isinstance(a, Var) and isinstance(b, Var) and a.form is not None and a.form == b.form


def _index(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    path = stmt.params["path"]
    if not path:
        return x
    place = place_of(lw, path, stmt.args[1:], x.sizes)
    _name_sizes(place.sizes, stmt.var.type.dims)
    if place.mask is not None:
        x = lw.steady(x, _name(stmt.args[0]))
        var = lw.memory(_name(stmt.var), x.dtype, place.sizes)
        place.each(lw, lambda here: write(lw.b, var, here, x.at(place.at(here))))
        return stored(lw.b, var, place.sizes)
    if _has_gather(path):
        x = lw.steady(x, _name(stmt.args[0]))
    unit = place.unit if x.unit == x.rank - 1 else None
    if place.identity:
        return x
    gathers = not place.cheap or _has_gather(path)
    return Elements(
        place.sizes,
        x.dtype,
        lambda idx: x.at(place.at(idx)),
        deps=x.deps | place.deps,
        cheap=x.cheap and not gathers,
        unit=unit,
        made=place.view(lw, view_of(x), (stmt.args[0], path, stmt.args[1:])),
    )


def _has_gather(path: Any) -> bool:
    return any(not step.is_basic for step in path if hasattr(step, "is_basic"))


def _name_sizes(sizes: Sequence[Operand], dims: Sequence[Any]) -> None:
    for size, dim in zip(sizes, dims):
        if isinstance(size, Var) and size.form is None:
            size.form = dim


# -------------------------------------------------------------------------------------------- joins and moves


def _concatenate(lw: Lowering, stmt: Any) -> Elements:
    """Each part is written behind the one before it."""
    b, axis = lw.b, stmt.params["axis"]
    parts = [lw.elements(a) for a in stmt.args]
    total = b.expr(0)
    starts = []
    for p in parts:
        starts.append(total)
        total = total + b.expr(p.sizes[axis])
    sizes = tuple(total.op if k == axis else s for k, s in enumerate(parts[0].sizes))
    var = lw.memory(_name(stmt.var), stmt.var.type.dtype, sizes)
    for p, start in zip(parts, starts):

        def put(idx: list[Expr], p: Elements = p, start: Expr = start) -> None:
            write(b, var, [start + i if k == axis else i for k, i in enumerate(idx)], p.at(idx))

        lw.nest(p.sizes, put)
    return stored(b, var, sizes)


def _stack(lw: Lowering, stmt: Any) -> Elements:
    b, axis = lw.b, stmt.params["axis"]
    parts = [lw.elements(a) for a in stmt.args]
    inner = parts[0].sizes
    sizes = (*inner[:axis], Const(len(parts), INT), *inner[axis:])
    var = lw.memory(_name(stmt.var), stmt.var.type.dtype, sizes)
    for n, p in enumerate(parts):

        def put(idx: list[Expr], n: int = n, p: Elements = p) -> None:
            write(b, var, [*idx[:axis], b.expr(n), *idx[axis:]], p.at(idx))

        lw.nest(inner, put)
    return stored(b, var, sizes)


def _moved(lw: Lowering, stmt: Any, sizes: Sequence[Operand], move: Callable[[Sequence[Expr]], list[Expr]]) -> Elements:
    """Every element is one of the operand's."""
    x = lw.steady(lw.elements(stmt.args[0]), _name(stmt.args[0]))
    return replace(x, sizes=tuple(sizes), root=None, made=None, at=lambda idx: x.at(move(idx)))


def _flip(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    axes = stmt.params["axes"]
    tops = {k: lw.b.expr(x.sizes[k]) - 1 for k in axes}
    return replace(
        x, root=None, made=None, at=lambda idx: x.at([tops[k] - i if k in tops else i for k, i in enumerate(idx)])
    )


def _roll(lw: Lowering, stmt: Any) -> Elements:
    sizes = lw.elements(stmt.args[0]).sizes
    shifts = {k: _turn(lw, lw.scalar(a), sizes[k]) for k, a in zip(stmt.params["axes"], stmt.args[1:])}

    def move(idx: Sequence[Expr]) -> list[Expr]:
        return [_wrapped(lw, i - shifts[k], sizes[k]) if k in shifts else i for k, i in enumerate(idx)]

    return _moved(lw, stmt, sizes, move)


def _turn(lw: Lowering, shift: Expr, size: Operand) -> Expr:
    """How far to roll: a number that is known as it is, another one as what it comes to, from 0 to the size."""
    if isinstance(shift.op, Const):
        return shift
    return _wrapped(lw, shift, lw.b.bind(SYNTHETIC, INT, "maximum", (size, Const(1, INT)), {"py": True}))


def _wrapped(lw: Lowering, i: Expr, size: Operand) -> Expr:
    return Expr(lw.b, lw.b.bind(SYNTHETIC, INT, "call", (i.op, size), {"fn": "arrays.wrap"}))


def _tile(lw: Lowering, stmt: Any) -> Elements:
    inner = lw.elements(stmt.args[0]).sizes
    return _moved(
        lw,
        stmt,
        lw.sizes(stmt.params["dims"]),
        lambda idx: [quick(lw, "quick_mod", i, lw.b.expr(s)) for i, s in zip(idx, inner)],
    )


def _repeat(lw: Lowering, stmt: Any) -> Elements:
    axis, times = stmt.params["axis"], lw.scalar(stmt.args[1])
    return _moved(
        lw,
        stmt,
        lw.sizes(stmt.params["dims"]),
        lambda idx: [quick(lw, "quick_div", i, times) if k == axis else i for k, i in enumerate(idx)],
    )


def _pad(lw: Lowering, stmt: Any) -> Elements:
    b, mode = lw.b, stmt.params["mode"]
    x = lw.elements(stmt.args[0])
    before, after = ([lw.scalar(stmt.args[2 * k + side]) for k in range(x.rank)] for side in (1, 2))
    for width in (*before, *after):
        if not isinstance(width.op, Const) or width.op.value < 0:
            b.emit(effects.in_size(b.loc, width, ("arrays cannot be padded by ", 0)))
    sizes = lw.sizes(stmt.params["dims"])
    result = Type(stmt.var.type.dtype)
    if mode == "constant":
        value = lw.scalar(stmt.args[2 * x.rank + 1]) if len(stmt.args) > 2 * x.rank + 1 else b.expr(Const(0, result))
        value = lw.compute("cast", [value], result, {})
        var = lw.memory(_name(stmt.var), result.dtype, sizes)
        lw.nest(sizes, lambda idx: write(b, var, idx, value))
        lw.nest(x.sizes, lambda idx: write(b, var, [i + s for i, s in zip(idx, before)], x.at(idx)))
        return stored(b, var, sizes)

    def move(idx: Sequence[Expr]) -> list[Expr]:
        args = [(i - s, size) for i, s, size in zip(idx, before, x.sizes)]
        return [Expr(b, b.bind(SYNTHETIC, INT, "call", (i.op, size), {"fn": f"arrays.pad_{mode}"})) for i, size in args]

    return _moved(lw, stmt, sizes, move)


def _triangle(lower: bool) -> Rule:
    def rule(lw: Lowering, stmt: Any) -> Elements:
        x = lw.elements(stmt.args[0])
        zero = Const(0.0 if stmt.var.type.is_float else 0, Type(stmt.var.type.dtype))
        k = stmt.params["k"]

        def at(idx: Sequence[Expr]) -> Expr:
            i, j = idx[-2], idx[-1]
            keep = j <= i + k if lower else j >= i + k
            return _choose(lw, keep, lambda: x.at(idx), lw.b.expr(zero), stmt.var.type.dtype)

        return replace(x, root=None, made=None, cheap=False, at=at)

    return rule


def _choose(lw: Lowering, test: Expr, then: Callable[[], Expr], otherwise: Expr, dtype: str) -> Expr:
    """A value where a test holds; it is not computed elsewhere."""
    b = lw.b
    with b.into(Block()) as side:
        side.yields = (then().op,)
    result = Var(SYNTHETIC, Type(dtype))
    b.emit(If(test.op, side, Block((), [], (otherwise.op,)), (result,), b.loc))
    return b.expr(result)


def _diagonal(lw: Lowering, stmt: Any) -> Elements:
    x = lw.steady(lw.elements(stmt.args[0]), _name(stmt.args[0]))
    first, second = stmt.params["axes"]
    offset = stmt.params["offset"]
    b = lw.b
    m, n = b.expr(x.sizes[first]), b.expr(x.sizes[second])
    size = Expr(b, b.bind("size", INT, "call", (m.op, n.op, b.expr(offset).op), {"fn": "arrays.diagonal_size"}))
    if m.op == n.op and not offset:
        size = m
    rest = [k for k in range(x.rank) if k not in (first, second)]

    def at(idx: Sequence[Expr]) -> Expr:
        out: list[Any] = [None] * x.rank
        for k, i in zip(rest, idx):
            out[k] = i
        out[first] = idx[-1] + max(-offset, 0)
        out[second] = idx[-1] + max(offset, 0)
        return x.at(out)

    return replace(x, sizes=(*(x.sizes[k] for k in rest), size.op), root=None, made=None, unit=None, at=at)


def _diag(lw: Lowering, stmt: Any) -> Elements:
    x = lw.elements(stmt.args[0])
    b, offset = lw.b, stmt.params["offset"]
    size = (b.expr(x.sizes[0]) + abs(offset)).op
    var = lw.memory(_name(stmt.var), x.dtype, (size, size))
    zero = b.expr(Const(0.0 if stmt.var.type.is_float else 0, Type(x.dtype)))
    lw.nest((size, size), lambda idx: write(b, var, idx, zero))
    lw.nest(x.sizes, lambda idx: write(b, var, [idx[0] + max(-offset, 0), idx[0] + max(offset, 0)], x.at(idx)))
    return stored(b, var, (size, size))


# ------------------------------------------------------------------------------------------------- from nothing


def _arange(lw: Lowering, stmt: Any) -> Elements:
    b = lw.b
    result = Type(stmt.var.type.dtype)
    args = [lw.compute("cast", [lw.scalar(a)], result, {}) for a in stmt.args]
    start, step = (args[0] if len(args) > 1 else None), (args[2] if len(args) > 2 else None)
    if all(lw.is_known(s) for s in stmt.params["dims"][0].symbols()):
        sizes = lw.sizes(stmt.params["dims"])
    else:
        ends = (b.expr(Const(0, result)), args[0]) if len(args) == 1 else args[:2]
        by = b.expr(Const(1, result)) if step is None else step
        count = b.bind("size", INT, "call", (*(e.op for e in ends), by.op), {"fn": "arrays.steps"})
        count.form = stmt.var.type.dims[0]
        sizes = (count,)

    def at(idx: Sequence[Expr]) -> Expr:
        k = lw.compute("cast", [idx[0]], result, {})
        if result.is_float and start is not None:
            by = b.expr(Const(1.0, result)) if step is None else step
            return b.expr(b.bind(SYNTHETIC, result, "call", (start.op, by.op, k.op), {"fn": "arrays.arange_at"}))
        k = k if step is None else lw.compute("mul", [k, step], result, {})
        return k if start is None else lw.compute("add", [start, k], result, {})

    return Elements(sizes, result.dtype, at)


def _linspace(lw: Lowering, stmt: Any) -> Elements:
    b = lw.b
    result = Type(stmt.var.type.dtype)
    start, stop = (lw.compute("cast", [lw.scalar(a)], result, {}) for a in stmt.args[:2])
    parts = lw.scalar(stmt.args[2]) - (1 if stmt.params["endpoint"] else 0)
    shares = lw.compute("cast", [parts], result, {})

    def at(idx: Sequence[Expr]) -> Expr:
        k = lw.compute("cast", [idx[0]], result, {})
        last = idx[0].eq(parts) if stmt.params["endpoint"] else b.expr(Const(False, Type("bool")))
        args = (start.op, stop.op, shares.op, k.op, last.op)
        return b.expr(b.bind(SYNTHETIC, result, "call", args, {"fn": "arrays.linspace_at"}))

    return Elements(lw.sizes(stmt.params["dims"]), result.dtype, at, cheap=False)


def _positional(test: Callable[[Expr, Expr, int], Expr]) -> Rule:
    """A matrix of 1 where a test of its index holds."""

    def rule(lw: Lowering, stmt: Any) -> Elements:
        result = Type(stmt.var.type.dtype)
        k = stmt.params.get("k", 0)

        def at(idx: Sequence[Expr]) -> Expr:
            return lw.compute("cast", [test(idx[0], idx[1], k)], result, {})

        return Elements(lw.sizes(stmt.params["dims"]), result.dtype, at)

    return rule


def _take_along_axis(lw: Lowering, stmt: Any) -> Elements:
    axis = stmt.params["axis"]
    x = lw.steady(lw.elements(stmt.args[0]), _name(stmt.args[0]))
    places = lw.elements(stmt.args[1])
    sizes = lw.sizes(stmt.var.type.dims)

    def at(idx: Sequence[Expr]) -> Expr:
        b = lw.b
        k = places.at(broadcast_index(lw, places, idx))
        n = b.expr(x.sizes[axis])
        k = guarded(lw, named(lw, b.elementwise("where", k < 0, k + n, k), "at"), k, n)
        return x.at(broadcast_index(lw, replace(x, sizes=x.sizes), [k if a == axis else i for a, i in enumerate(idx)]))

    return replace(Elements(sizes, x.dtype, at).also(x, places), cheap=False)


def _name(op: Operand) -> str:
    return op.name if isinstance(op, Var) else SYNTHETIC


TABLE: dict[str, Rule] = {
    "cast": cast,
    "copy": copy,
    "identity": copy,
    "full": _full,
    "empty": _empty,
    "broadcast": _broadcast,
    "stretch": _stretch,
    "sized": copy,
    "transpose": _transpose,
    "reshape": _reshape,
    "index": _index,
    "concatenate": _concatenate,
    "stack": _stack,
    "flip": _flip,
    "roll": _roll,
    "tile": _tile,
    "repeat": _repeat,
    "pad": _pad,
    "tril": _triangle(True),
    "triu": _triangle(False),
    "diagonal": _diagonal,
    "diag": _diag,
    "arange": _arange,
    "linspace": _linspace,
    "eye": _positional(lambda i, j, k: j.eq(i + k)),
    "tri": _positional(lambda i, j, k: j <= i + k),
    "take_along_axis": _take_along_axis,
}
