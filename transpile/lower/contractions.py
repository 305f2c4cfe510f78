"""Products of two arrays as calls of BLAS: some letters become rows, columns and the sum, the others loops around the call.

    bij,bjk->bik   ->   for b: gemm(x[b], y[b]) into out[b]
    ntd,nth->dh    ->   gemm(x.reshape((n * t, d)).T, y.reshape((n * t, h)))

Operands are used in place; one is copied only if no call could take it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.lower.element_functions import Elements, is_one, read, write
from transpile.lower.lowering import Lowering
from transpile.lower.memory_layout import lying, number, operand, reshaped, scaled
from transpile.lower.memory_views import At, Range, View
from transpile.lower.runtime_calls import filled

SMALL = 4  # loops of known sizes up to this are unrolled by LLVM


@dataclass(frozen=True)
class Product:
    """``factor * einsum(letters, x, y)``: two views, the letters of their axes, and those of the result."""

    x: View
    y: View
    letters: tuple[str, str, str]
    axes: tuple[int, ...]  # axes of the result, for each of its letters; its other axes have size 1
    sizes: Mapping[str, ir.Operand]
    factor: Expr | None = None
    deps: frozenset[ir.Var] = frozenset()

    @property
    def summed(self) -> str:
        """The letters that are summed: first those of loops around the calls, last the letter that the calls sum over."""
        found = [c for c in self.letters[0] if c in self.letters[1] and c not in self.letters[2]]
        close = (_close(self.x, self.letters[0]), _close(self.y, self.letters[1]))
        return "".join(sorted(found, key=lambda c: (c == close[0], c == close[1])))

    def own(self, k: int) -> str:
        """The letters of the result that only operand ``k`` has, in the order of the result."""
        return "".join(c for c in self.letters[2] if c in self.letters[k] and c not in self.letters[1 - k])


def product(
    lw: Lowering, parts: Sequence[tuple[str, Elements]], output: str, axes: Sequence[int] | None = None
) -> Product | None:
    """The product of two arrays as calls; None if loops are better: no operand is a matrix, a matrix would first have to be
    computed, or the sizes are small.

    ``parts``: the letters of each array's axes, and the array; ``output``: the letters of the result; ``axes``: the axis of the
    result for each of these, if the result has more axes.
    """
    (first, x), (second, y) = (_without_ones(lw, s, e) for s, e in parts)
    both, dtype = {*first, *second}, x.dtype
    axes = tuple(a for c, a in zip(output, range(len(output)) if axes is None else axes) if c in both)
    output = "".join(c for c in output if c in both)
    if dtype != y.dtype or dtype not in ("float64", "float32") or any(len(set(s)) < len(s) for s in (first, second)):
        return None
    common = {*first} & {*second}
    if any(c not in output and c not in common for c in both) or common <= {*output}:
        return None
    sizes = {c: n for s, e in ((first, x), (second, y)) for c, n in zip(s, e.sizes)}
    own = [[c for c in s if c not in common] for s in (first, second)]
    if not (own[0] or own[1]) or _is_small(sizes, [*own[0], *own[1]], [c for c in common if c not in output]):
        return None
    views: list[View] = []
    for e, letters in ((x, own[0]), (y, own[1])):
        view = lying(e)
        if view is None:
            if letters and not (own[0] and own[1]):
                return None  # a product with a vector reads the matrix once: its elements are computed there
            view = lying(lw.in_memory(e, ""))
            assert view is not None
        views.append(view)
    factor = scaled(lw, views[0].factor, views[1].factor)
    triple = (first, second, output)
    found = Product(views[0].plain(), views[1].plain(), triple, axes, sizes, factor, x.deps | y.deps)
    return _prepared(lw, found, is_matrix=bool(own[0] and own[1]))


def _without_ones(lw: Lowering, letters: str, x: Elements) -> tuple[str, Elements]:
    """The letters and the array without its axes of size 1."""
    ones = [is_one(s) for s in x.sizes]
    if not any(ones):
        return letters, x
    kept = [k for k, one in enumerate(ones) if not one]
    zero = lw.b.expr(0)

    def at(idx: Sequence[Expr]) -> Expr:
        rest = iter(idx)
        return x.at([zero if one else next(rest) for one in ones])

    view = lying(x)
    made = None if view is None else view.indexed(lw.b, [At(zero.op) if one else None for one in ones])
    sizes = tuple(x.sizes[k] for k in kept)
    return "".join(letters[k] for k in kept), replace(x, sizes=sizes, root=None, made=made, unit=None, at=at)


def _is_small(sizes: Mapping[str, ir.Operand], own: Sequence[str], summed: Sequence[str]) -> bool:
    """Whether all sizes but one, or all if there are only two, are known to be at most `SMALL`; those of the letters in ``own``
    and ``summed`` count."""
    small = [isinstance(n, ir.Const) and n.value <= SMALL for n in (sizes[c] for c in (*own, *summed))]
    return len(small) - sum(small) <= (1 if len(small) > 2 else 0)


def _prepared(lw: Lowering, p: Product, is_matrix: bool) -> Product | None:
    """The product with operands whose slices a call can take. None if this requires a copy of a matrix in a product with a
    vector (``is_matrix`` False), which reads the matrix once."""
    x, y, output = p.letters
    summed = "".join(c for c in x if c in y and c not in output)
    if len(summed) > 1 and summed in y and summed in x and p.x.is_whole and p.y.is_whole:
        p = _merged(lw, p, [summed])
    for k in (0, 1):
        if p.own(k) and not _fits(p, k, _chosen(p, k)):
            if not is_matrix:
                return None
            last = _chosen(p, k) + p.summed[-1]
            order = "".join(c for c in p.letters[k] if c not in last) + last
            copy = _copied(lw, (p.x, p.y)[k], p.letters[k], order, p.sizes)
            if k == 0:
                p = replace(p, x=copy, letters=(order, p.letters[1], output))
            else:
                p = replace(p, y=copy, letters=(p.letters[0], order, output))
    return p


def _fits(p: Product, k: int, chosen: str) -> bool:
    """Whether slices of operand ``k`` along the chosen letter and the last summed one have a contiguous axis: either of the
    two."""
    return _close((p.x, p.y)[k], p.letters[k]) in (p.summed[-1], chosen)


def _close(view: View, letters: str) -> str:
    """The letter of the contiguous axis; "" if there is none."""
    return "" if view.close is None else letters[view.close]


def _chosen(p: Product, k: int, last: str | None = None) -> str:
    """The letter of operand ``k`` that becomes the rows or columns of the calls: preferably ``last``, the contiguous one in the
    result (None: its last letter), then the contiguous one in the operand."""
    own = p.own(k)
    wanted = (p.letters[2][-1] if last is None else last, _close((p.x, p.y)[k], p.letters[k]))
    return next((c for c in wanted if c and c in own), own[-1:])


def _copied(lw: Lowering, view: View, letters: str, order: str, sizes: Mapping[str, ir.Operand]) -> View:
    """A copy of the view with its axes, whose letters are ``letters``, in the order ``order``; the view itself if it is a whole
    variable in that order."""
    if order == letters and view.is_whole:
        return view
    wanted = tuple(sizes[c] for c in order)
    var = lw.memory("", view.var.type.dtype, wanted)

    def put(idx: list[Expr]) -> None:
        where = dict(zip(order, idx))
        write(lw.b, var, idx, read(lw.b, view.var, position(lw, view, [where[c] for c in letters])))

    lw.nest(wanted, put)
    return View(var, tuple(Range(None, s) for s in wanted), tuple(range(len(wanted))))


def position(lw: Lowering, view: View, idx: Sequence[Expr]) -> list[Expr]:
    """The index in the variable for the index ``idx`` in the view."""
    b, found = lw.b, []
    for axis, part in enumerate(view.parts):
        if isinstance(part, At):
            found.append(b.expr(part.index))
        else:
            here = idx[view.order.index(axis)]
            found.append(here if part.start is None else b.expr(part.start) + here)
    return found


# ------------------------------------------------------------------------------------------------------- letters


def _merged(lw: Lowering, p: Product, groups: Sequence[str]) -> Product:
    """The product with each group of letters, neighbours in memory, merged into the first letter of the group."""
    sizes = {**p.sizes, **{g[0]: _count(lw, [p.sizes[c] for c in g]) for g in groups}}
    x = _regrouped(lw, p.x, p.letters[0], groups, sizes)
    y = _regrouped(lw, p.y, p.letters[1], groups, sizes)
    first, second, output = (_fewer(s, groups) for s in p.letters)
    axes = tuple(a for c, a in zip(p.letters[2], p.axes) if c in output)
    return replace(p, x=x, y=y, letters=(first, second, output), axes=axes, sizes=sizes)


def _fewer(letters: str, groups: Sequence[str]) -> str:
    return "".join(c for c in letters if not any(c in g[1:] for g in groups))


def _regrouped(lw: Lowering, view: View, letters: str, groups: Sequence[str], sizes: Mapping[str, ir.Operand]) -> View:
    fewer = _fewer(letters, groups)
    return view if fewer == letters else reshaped(lw, view, [sizes[c] for c in fewer])


def _count(lw: Lowering, sizes: Sequence[ir.Operand]) -> ir.Operand:
    n = lw.b.expr(1)
    for s in sizes:
        n = n * lw.b.expr(s)
    return n.op


def _groups(p: Product, target: View) -> list[str]:
    """Letters of the result that can be merged into one: neighbours there, in whole operands of the product and in the
    target."""
    views = list(zip((p.x, p.y, target), p.letters))

    def go_together(pair: str) -> bool:
        return all(pair in s and v.is_whole for v, s in views if pair[0] in s or pair[1] in s)

    found: list[str] = []
    for pair in (a + b for a, b in zip(p.letters[2], p.letters[2][1:])):
        if go_together(pair):
            if found and found[-1][-1] == pair[0]:
                found[-1] += pair[1]
            else:
                found.append(pair)
    return found


# --------------------------------------------------------------------------------------------------------- calls


def emit(lw: Lowering, p: Product, target: View, beta: ir.Operand) -> None:
    """Emits ``target = p + beta * target`` for the product ``p``; the target is a view with the axes of the result."""
    zero = At(ir.Const(0, INT))
    target = target.indexed(lw.b, [None if k in p.axes else zero for k in range(len(target.order))])
    groups = _groups(p, target)
    if groups:
        whole, p = p, _merged(lw, p, groups)
        target = _regrouped(lw, target, whole.letters[2], groups, p.sizes)
    output = p.letters[2]
    last = _close(target, output)
    chosen = [_chosen(p, k, last) for k in (0, 1)]
    called = "".join(chosen)
    if len(called) == 2 and not (last in called and _fits(p, 0, chosen[0]) and _fits(p, 1, chosen[1])):
        _through_memory(lw, p, target, beta)
        return
    around = [c for c in output if c not in called]
    if len(p.summed) > 1:
        _scale(lw, target, [p.sizes[c] for c in output], beta)
        beta = number(lw, 1.0, target.var.type.dtype).op
        around += p.summed[:-1]

    def body(idx: list[Expr]) -> None:
        where = dict(zip(around, idx))

        def part(view: View, letters: str, wanted: str) -> ir.Operand:
            view = view.indexed(lw.b, [At(where[c].op) if c in where else None for c in letters])
            left = [c for c in letters if c not in where]
            return operand(lw, view.permuted([left.index(c) for c in wanted]))

        _call(lw, p, [c for c in output if c in called], part, target, beta)

    lw.nest([p.sizes[c] for c in around], body)


Part = Callable[[View, str, str], ir.Operand]


def _call(lw: Lowering, p: Product, called: Sequence[str], part: Part, target: View, beta: ir.Operand) -> None:
    """Emits one call that sums over the last summed letter: ``gemm`` if two letters of the result are ``called``, else
    ``gemv``.

    ``part(view, letters, wanted)`` gives the slice of a view for the call, with its axes in the order ``wanted``.
    """
    b, summed = lw.b, p.summed[-1]
    dtype = target.var.type.dtype
    factor = (number(lw, 1.0, dtype) if p.factor is None else p.factor).op
    if len(called) == 2:
        rows, columns = called
        first, second = (0, 1) if rows in p.letters[0] else (1, 0)
        wanted = {first: rows + summed, second: summed + columns}
    else:
        first, second = (0, 1) if called[0] in p.letters[0] else (1, 0)
        wanted = {first: called[0] + summed, second: summed}
    views = (p.x, p.y)
    args = [part(views[k], p.letters[k], wanted[k]) for k in (first, second)]
    into = part(target, p.letters[2], "".join(called))
    fn = "blas.gemm" if len(called) == 2 else "blas.gemv"
    filled(b, fn, (factor, *args, beta, into), (4,))


def _scale(lw: Lowering, target: View, sizes: Sequence[ir.Operand], beta: ir.Operand) -> None:
    """Emits loops that multiply the target, of these sizes, by ``beta``: nothing if that is 1, and without reading if it is
    0."""
    if isinstance(beta, ir.Const) and beta.value == 1:
        return
    b, dtype = lw.b, target.var.type.dtype

    def put(idx: list[Expr]) -> None:
        place = position(lw, target, idx)
        is_zero = isinstance(beta, ir.Const) and beta.value == 0
        write(b, target.var, place, number(lw, 0.0, dtype) if is_zero else b.expr(beta) * read(b, target.var, place))

    lw.nest(sizes, put)


def _through_memory(lw: Lowering, p: Product, target: View, beta: ir.Operand) -> None:
    """For a target none of whose slices has a contiguous axis: computes into new memory, then adds this to ``beta`` times the
    target by loops."""
    output = p.letters[2]
    called = _chosen(p, 0) + _chosen(p, 1)
    order = "".join(c for c in output if c not in called) + called
    sizes = [p.sizes[c] for c in order]
    var = lw.memory("", target.var.type.dtype, sizes)
    whole = View(var, tuple(Range(None, s) for s in sizes), tuple(range(len(sizes))))
    direct = replace(p, letters=(p.letters[0], p.letters[1], order), axes=tuple(range(len(order))))
    emit(lw, direct, whole, number(lw, 0.0, var.type.dtype).op)

    def put(idx: list[Expr]) -> None:
        where = dict(zip(order, idx))
        place = position(lw, target, [where[c] for c in output])
        value = read(lw.b, var, idx)
        if not (isinstance(beta, ir.Const) and beta.value == 0):
            old = read(lw.b, target.var, place)
            value = value + (old if isinstance(beta, ir.Const) and beta.value == 1 else lw.b.expr(beta) * old)
        write(lw.b, target.var, place, value)

    lw.nest(sizes, put)


__all__ = ["Product", "emit", "position", "product"]
