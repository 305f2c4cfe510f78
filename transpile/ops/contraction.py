"""Products that contract axes: matmul, outer, tensordot, einsum, cross, convolve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.core.peephole import definition
from transpile.core.types import Type
from transpile.ops import language as m
from transpile.ops.join import several
from transpile.ops.lowering_kinds import Contraction, Convolution, CrossProduct
from transpile.ops.record import Op, Scatter
from transpile.ops.slicing import along, at_most, larger, new_axis, smaller, vector
from transpile.ops.spelling import Spelling, with_keywords
from transpile.ops.structural import unbroadcast
from transpile.ops.traits import Operator


def bilinear(prim: str) -> Any:
    """The forward rule of a primitive that is linear in each of its two operands; it gives None if neither has a tangent."""

    def jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
        x, z = args
        first = None if dots[0] is None else m.call(prim, dots[0], z, **params)
        second = None if dots[1] is None else m.call(prim, x, dots[1], **params)
        return second if first is None else first if second is None else first + second

    return jvp


def wide(shapes: Sequence[Sequence[Dim]]) -> tuple[Dim, ...]:
    """The broadcast of batch dims that are known to be compatible: in each place the first size that is not 1."""
    rank = max(len(s) for s in shapes)
    dims = [Dim(1)] * rank
    for shape in shapes:
        for k, d in enumerate(shape, rank - len(shape)):
            dims[k] = d if dims[k].is_one else dims[k]
    return tuple(dims)


# ----------------------------------------------------------------------------------------------------- matmul


def _matmul_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    x, y = types
    batch = wide((x.dims[:-2], y.dims[:-2]))
    rows = x.dims[-2:-1] if x.rank > 1 else ()
    columns = y.dims[-1:] if y.rank > 1 else ()
    return Type(x.dtype, (*batch, *rows, *columns))


def outer(x: Expr, y: Expr) -> Expr:
    """The outer product of two vectors; if all elements of one are known to equal one number, the broadcast product with that
    number."""
    dims = (*x.dims, *y.dims)
    if (c := number_of(x)) is not None:
        return m.broadcast(c * y, dims)
    if (c := number_of(y)) is not None:
        return m.broadcast(new_axis(c * x, 1), dims)
    return x.b.let("outer", x, y)


def number_of(x: Expr) -> Expr | None:
    """The number that all elements of an array equal, if known, else None; the adjoint of a summand is often such an array."""
    let = definition(x.b, x.op)
    if let is None or let.prim not in ("broadcast", "full") or let.args[0].type.dims:
        return None
    return x.b.expr(let.args[0])


def _summed(x: Expr, axis: int) -> Expr:
    """The sum over one axis; of a transposed matrix, the sum of the matrix itself over its other axis."""
    let = definition(x.b, x.op)
    if let is not None and let.prim == "transpose" and let.params["axes"] == (1, 0):
        return m.sum(x.b.expr(let.args[0]), (1 - axis,))
    return m.sum(x, (axis,))


def inner(x: Expr, y: Expr, keepdims: bool = False) -> Expr:
    """The inner products along the last axis, in the operands' dtype as in NumPy: narrow integers wrap, booleans are combined
    with "any"."""
    terms = x * y
    how = "any" if terms.type.is_bool else "sum"
    return x.b.cast(x.b.let(how, terms, axes=(terms.rank - 1,), keepdims=keepdims), terms.dtype)


def product(x: Expr, y: Expr) -> Expr:
    """The matrix product for an adjoint rule; up to rank 2, if all elements of one factor are known to equal one number, the
    other factor is summed instead."""
    if x.rank > 2 or y.rank > 2:
        return m.matmul(x, y)
    dims = (*x.dims[:-1], *y.dims[1:])
    if (c := number_of(x)) is not None:
        return m.broadcast(c * _summed(y, 0), dims)
    if (c := number_of(y)) is not None:
        total = c * _summed(x, x.rank - 1)
        return m.broadcast(new_axis(total, 1), dims) if x.rank == y.rank == 2 else m.broadcast(total, dims)
    return m.matmul(x, y)


def tensordot(x: Expr, y: Expr, axes: tuple[Sequence[int], Sequence[int]]) -> Expr:
    return x.b.let("tensordot", x, y, axes=(tuple(axes[0]), tuple(axes[1])))


def _matmul_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, y = args
    left = _matmul_left(x, y, z_bar) if wants[0] else None
    right = _matmul_right(x, y, z_bar) if wants[1] else None
    return left, right


def _matmul_left(x: Expr, y: Expr, z_bar: Expr) -> Expr:
    """The adjoint of ``x`` in ``x @ y``."""
    if y.rank == 1:
        if x.rank == 1:
            return z_bar * y
        return outer(z_bar, y) if x.rank == 2 else new_axis(z_bar, x.rank - 1) * y
    if x.rank == 1:
        if y.rank == 2:
            return product(y, z_bar)
        batch = range(y.rank - 2)
        return tensordot(y, z_bar, ((*batch, y.rank - 1), (*batch, y.rank - 2)))
    return unbroadcast(product(z_bar, m.swap_last(y)), x.dims)


def _matmul_right(x: Expr, y: Expr, z_bar: Expr) -> Expr:
    """The adjoint of ``y`` in ``x @ y``."""
    if x.rank == 1:
        if y.rank == 1:
            return z_bar * x
        if y.rank == 2:
            return outer(x, z_bar)
        return new_axis(x, 1) * new_axis(z_bar, y.rank - 2)
    if y.rank <= 2 and x.rank > 2:  # one matrix for the whole batch
        rows = tuple(range(x.rank - 1))
        return tensordot(x, z_bar, (rows, rows))
    if y.rank == 1:
        return product(m.swap_last(x), z_bar)
    return unbroadcast(product(m.swap_last(x), z_bar), y.dims)


def _outer_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, y = args
    return (product(z_bar, y) if wants[0] else None, product(x, z_bar) if wants[1] else None)


# -------------------------------------------------------------------------------------------------- tensordot


def _free(rank: int, axes: Sequence[int]) -> list[int]:
    return [k for k in range(rank) if k not in axes]


def _tensordot_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    x, y = types
    first, second = params["axes"]
    dims = [x.dims[k] for k in _free(x.rank, first)] + [y.dims[k] for k in _free(y.rank, second)]
    return Type(x.dtype, tuple(dims))


def _tensordot_spelling(params, types) -> str:  # type: ignore[no-untyped-def]
    first, second = params["axes"]
    count = len(first)
    if first == tuple(range(types[0].rank - count, types[0].rank)) and second == tuple(range(count)):
        return "np.tensordot({0}, {1})" if count == 2 else f"np.tensordot({{0}}, {{1}}, axes={count})"
    return f"np.tensordot({{0}}, {{1}}, axes=({list(first)}, {list(second)}))"


def _tensordot_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, y = args
    first, second = params["axes"]
    own, other = _free(x.rank, first), _free(y.rank, second)
    left = right = None
    if wants[0]:
        back = tensordot(z_bar, y, (range(len(own), len(own) + len(other)), other))
        left = m.transpose(back, _order([*own, *(first[k] for k in np.argsort(second))]))
    if wants[1]:
        back = tensordot(x, z_bar, (own, range(len(own))))
        right = m.transpose(back, _order([*(second[k] for k in np.argsort(first)), *other]))
    return left, right


def _order(where: Sequence[int]) -> list[int]:
    """The permutation that moves each axis ``k``, which now holds axis ``where[k]``, back to its place."""
    return [int(k) for k in np.argsort(where)]


# ----------------------------------------------------------------------------------------------------- einsum


def einsum(inputs: Sequence[str], output: str, operands: Sequence[Expr]) -> Expr:
    """`np.einsum` of the operands with the subscripts ``inputs`` and ``output``; scalar operands become factors and a single
    permuted operand a transpose."""
    scalars = [x for s, x in zip(inputs, operands) if not s]
    rest = [(s, x) for s, x in zip(inputs, operands) if s]
    if not rest:
        result = scalars.pop(0)
    elif len(rest) == 1 and sorted(rest[0][0]) == sorted(output):
        result = m.transpose(rest[0][1], [rest[0][0].index(c) for c in output])
    else:
        subscripts = f"{','.join(s for s, _ in rest)}->{output}"
        result = m.call("einsum", *(x for _, x in rest), subscripts=subscripts)
    for scalar in scalars:
        result = scalar * result
    return result


def _parts(params) -> tuple[list[str], str]:  # type: ignore[no-untyped-def]
    inputs, output = params["subscripts"].split("->")
    return inputs.split(","), output


def _einsum_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    inputs, output = _parts(params)
    sizes = {c: d for s, t in zip(inputs, types) for c, d in zip(s, t.dims)}
    return Type(types[0].dtype, tuple(sizes[c] for c in output))


def _einsum_jvp(y, args, dots, params) -> Any:  # type: ignore[no-untyped-def]
    inputs, output = _parts(params)
    total = None
    for k, dot in enumerate(dots):
        if dot is not None:
            part = einsum(inputs, output, [*args[:k], dot, *args[k + 1 :]])
            total = part if total is None else total + part
    return total


def _einsum_vjp(y, y_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    inputs, output = _parts(params)
    return tuple(_einsum_back(k, inputs, output, args, y_bar) if w else None for k, w in enumerate(wants))


def _einsum_back(k: int, inputs: list[str], output: str, args: Sequence[Expr], y_bar: Expr) -> Any:
    """The adjoint of operand ``k``: the ``einsum`` of ``y_bar`` and the other operands, broadcast along the letters that only
    ``k`` has, and placed on the diagonal where its letters repeat."""
    x = args[k]
    letters = "".join(dict.fromkeys(inputs[k]))
    others = [j for j in range(len(args)) if j != k]
    known = set(output).union(*(inputs[j] for j in others))
    kept = "".join(c for c in letters if c in known)
    found = einsum([output, *(inputs[j] for j in others)], kept, [y_bar, *(args[j] for j in others)])
    dims = [x.dims[inputs[k].index(c)] for c in letters]
    if kept != letters:
        found = m.expand(found, [j for j, c in enumerate(letters) if c not in known], dims)
    if letters == inputs[k]:
        return found
    places = [along(x.b, dims, letters.index(c)) for c in inputs[k]]
    return Scatter((ir.Index(tuple(ir.Gather(j) for j in range(x.rank))),), tuple(places), found)


# ------------------------------------------------------------------------------------------- cross, convolve


def _cross_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    return Type(types[0].dtype, wide([t.dims for t in types]))


def _cross_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    x, y = args
    left = unbroadcast(m.call("cross", y, z_bar), x.dims) if wants[0] else None
    right = unbroadcast(m.call("cross", z_bar, x), y.dims) if wants[1] else None
    return left, right


def convolved_size(n: Dim, k: Dim, mode: str) -> Dim:
    """The length of the convolution of vectors of lengths ``n`` and ``k`` in mode "full", "same" or "valid"."""
    if mode == "full":
        return n + k - 1
    return larger(n, k) if mode == "same" else larger(n, k) - smaller(n, k) + 1


def _convolve_type(types, params) -> Type:  # type: ignore[no-untyped-def]
    x, y = map(vector, types)
    return Type(x.dtype, params.get("dims") or (convolved_size(x.dims[0], y.dims[0], params["mode"]),))


def _middle(x: Expr, y: Expr, mode: str) -> Dim:
    """The offset of the result of mode "same" or "valid" in the full convolution, of which it is the middle part."""
    short = smaller(x.dims[0], y.dims[0])
    return short - 1 if mode == "valid" else (short - 1) // 2


def _whole(z_bar: Expr, x: Expr, y: Expr, before: Dim) -> Expr:
    """The adjoint of the full convolution, from the adjoint ``z_bar`` of the part that begins at ``before``: zeros elsewhere."""
    b: Builder = x.b
    full = x.dims[0] + y.dims[0] - 1
    after = full - before - z_bar.dims[0]
    if before == Dim(0) and after == Dim(0):
        return z_bar
    return b.let("pad", z_bar, b.dim(before), b.dim(after), mode="constant", dims=(full,))


def _convolve_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoints of both operands of a convolution, each the valid part of the convolution of the full adjoint with the other
    operand reversed. In mode "valid" with ``y`` not longer than ``x`` they are computed from ``z_bar`` itself."""
    x, y = args
    mode = params["mode"]
    if mode == "valid" and at_most(y.dims[0], x.dims[0]):
        left = _convolve(z_bar, _reversed(y), "full", x) if wants[0] else None
        return left, _convolve(_reversed(x), z_bar, "valid", y) if wants[1] else None
    whole = z_bar if mode == "full" else _whole(z_bar, x, y, _middle(x, y, mode))
    left = _convolve(whole, _reversed(y), "valid", x) if wants[0] else None
    right = _convolve(whole, _reversed(x), "valid", y) if wants[1] else None
    return left, right


def _correlate_vjp(z, z_bar, args, wants, params) -> Any:  # type: ignore[no-untyped-def]
    """The adjoints of both operands of ``z[i] = sum(x[i + k] * y[k])``."""
    x, y = args
    mode = params["mode"]
    if mode == "valid" and at_most(y.dims[0], x.dims[0]):
        left = _convolve(z_bar, y, "full", x) if wants[0] else None
        return left, m.call("correlate", x, z_bar, mode="valid", dims=y.dims) if wants[1] else None
    before = Dim(0) if mode == "full" else _middle(x, y, mode)
    if mode == "same":  # NumPy swaps the operands if the second is longer, and reverses the result
        span = y.dims[0] - x.dims[0]
        is_longer = span.clip() - (span - 1).clip()
        odd = smaller(x.dims[0], y.dims[0]) - 1 - before.times(2)
        before = before + is_longer * odd
    whole = z_bar if mode == "full" else _whole(z_bar, x, y, before)
    left = _convolve(whole, y, "valid", x) if wants[0] else None
    return left, _reversed(_convolve(whole, _reversed(x), "valid", y)) if wants[1] else None


def _convolve(x: Expr, y: Expr, mode: str, like: Expr) -> Expr:
    """A convolution whose result is known to be as long as ``like``."""
    return x.b.let("convolve", x, y, mode=mode, dims=like.dims)


def _reversed(x: Expr) -> Expr:
    return m.call("flip", x, axes=(0,))


def _einsum_place(let: ir.Let, are_equal: Any) -> Any:
    """The path and (no) operands of a one-operand ``einsum`` that is a view (``ii->i``): diagonals of repeated letters, then a
    permutation. None if it sums."""
    letters, _, output = let.params["subscripts"].partition("->")
    if len(let.args) != 1 or set(letters) != set(output):
        return None
    steps: list[Any] = []
    for c in output:
        while letters.count(c) > 1:
            axes = [k for k, one in enumerate(letters) if one == c][:2]
            rest = [k for k in range(len(letters)) if k not in axes]
            steps += [ir.Permute((*rest, *axes)), ir.Diagonal()]
            letters = "".join(letters[k] for k in rest) + c
    steps.append(ir.Permute(tuple(letters.index(c) for c in output)))
    return tuple(s for s in steps if not isinstance(s, ir.Permute) or s.axes != tuple(range(len(s.axes)))), ()


# --------------------------------------------------------------------------------------------------- examples

_MATMULS = (
    ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3),
    (3, 4)),
    ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)), ((5, 1, 2, 3), (4, 3, 2)),
)  # fmt: skip
_TENSORDOTS = (
    ((2, 3), (3, 4), ((1,), (0,))), ((2, 3, 4), (4, 3, 5), ((1, 2), (1, 0))), ((2, 3), (4, 5), ((), ())),
    ((2, 3), (2, 3), ((0, 1), (0, 1))), ((3, 2, 4), (5, 4, 3), ((2, 0), (1, 2))),
)  # fmt: skip
_EINSUMS = (
    ("ij,jk->ik", (2, 3), (3, 4)), ("ii->", (3, 3)), ("ii->i", (3, 3)), ("ij->", (2, 3)), ("ij->ji", (2, 3)),
    ("i,j,k->ijk", (2,), (3,), (2,)), ("bij,bjk->bik", (2, 3, 2), (2, 2, 3)), ("ij,ij->i", (2, 3), (2, 3)),
    ("iij,j->i", (2, 2, 3), (3,)), ("ijk->j", (2, 3, 4)), ("ij,kl->", (2, 3), (2, 2)), ("i,ii,i->", (3,), (3, 3), (3,)),
)  # fmt: skip
_CONVOLUTIONS = [
    ((a,), (c,), mode)
    for a, c in ((5, 3), (3, 5), (4, 4), (6, 1), (5, 2), (2, 5))
    for mode in ("full", "same", "valid")
]

# ------------------------------------------------------------------------------------------- axes, as einsum writes them

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _matmul_letters(ranks: Sequence[int], params: Mapping[str, Any]) -> str:
    """The einsum subscripts of a matrix product of operands of these two ranks."""
    batches = [max(r - 2, 0) for r in ranks]
    batch = "abcdefgh"[: max(batches)]
    first, second = (batch[len(batch) - n :] for n in batches)
    rows, columns = (letter if r > 1 else "" for letter, r in zip("ij", ranks))
    return f"{first}{rows}k,{second}k{columns}->{batch}{rows}{columns}"


def _tensordot_letters(ranks: Sequence[int], params: Mapping[str, Any]) -> str:
    """The einsum subscripts of a ``tensordot`` over ``params["axes"]`` of operands of these two ranks."""
    first, second = params["axes"]
    left, right = list(_LETTERS[: ranks[0]]), list(_LETTERS[ranks[0] : sum(ranks)])
    for a, c in zip(first, second):
        right[c] = left[a]
    kept = [*(c for k, c in enumerate(left) if k not in first), *(c for k, c in enumerate(right) if k not in second)]
    return f"{''.join(left)},{''.join(right)}->{''.join(kept)}"


TABLE = [
    Op("matmul", _matmul_type, "op:@", kind="product", lowering=Contraction(_matmul_letters), together=True,
         operator=Operator("@", "MatMult", "matmul"), called="product", jvp=bilinear("matmul"), vjp=_matmul_vjp, cost=3,
         examples=tuple((several(*shapes), {}) for shapes in _MATMULS), family="matmul"),
    Op("outer", lambda types, params: Type(types[0].dtype, types[0].dims + types[1].dims), "np.outer({0}, {1})",
         kind="product", lowering=Contraction(lambda ranks, params: "i,j->ij", in_loops=True), jvp=bilinear("outer"),
         vjp=_outer_vjp, cost=1, examples=((several((3,), (2,)), {}),), family="outer"),
    Op("tensordot", _tensordot_type, Spelling(_tensordot_spelling), kind="product", lowering=Contraction(_tensordot_letters),
         together=True, jvp=bilinear("tensordot"), vjp=_tensordot_vjp, cost=3, examples=tuple((several(x, y),
         {"axes": axes}) for x, y, axes in _TENSORDOTS), family="tensordot"),
    # einsum: params["subscripts"] is explicit: letters only, with "->"; no axis of size 1 meets a longer one
    Op("einsum", _einsum_type, Spelling(lambda params,
         types: f"np.einsum({params['subscripts']!r}, " + ", ".join(f"{{{k}}}" for k in range(len(types))) + ")"), kind="product",
         lowering=Contraction(lambda ranks, params: params["subscripts"]), place=_einsum_place, view="alone", together=True,
         jvp=_einsum_jvp, vjp=_einsum_vjp, cost=3, examples=tuple((several(*s), {"subscripts": text}) for text, *s in _EINSUMS),
         family="einsum"),
    # cross: vectors of 3 along the last axis
    Op("cross", _cross_type, "np.cross({0}, {1})", kind="product", lowering=CrossProduct(), jvp=bilinear("cross"), vjp=_cross_vjp,
         cost=1, examples=((several((3,), (3,)), {}), (several((4, 3), (3,)), {}), (several((2, 1, 3), (4, 3)), {})),
         family="stacked"),
    Op("convolve", _convolve_type, with_keywords("np.convolve({0}, {1})", mode="full"), kind="product", lowering=Convolution(),
         entry=lambda params, n: f"arrays.convolve_{params['mode']}",
         jvp=bilinear("convolve"), vjp=_convolve_vjp, cost=3,
         examples=tuple((several(x, y), {"mode": mode}) for x, y, mode in _CONVOLUTIONS), family="lane"),
    Op("correlate", _convolve_type, with_keywords("np.correlate({0}, {1})", mode="valid"), kind="product",
         lowering=Convolution(reversed=True),
         entry=lambda params, n: f"arrays.{'correlate_same' if params['mode'] == 'same' else 'convolve_' + params['mode']}",
         jvp=bilinear("correlate"), vjp=_correlate_vjp, cost=3, examples=tuple((several(x, y), {"mode": mode}) for x, y,
         mode in _CONVOLUTIONS), family="lane"),
]  # fmt: skip
