"""Products of NumPy, by dotted name: ``dot`` of any rank, ``matmul``, ``einsum``, ``tensordot``, ``kron``,
``cross``, ``convolve``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, axis_of, known_integer, numeric, one_of, shape_text
from transpile.numpy_api.entry_record import Entry
from transpile.numpy_api.numpy_rearrange import flip
from transpile.numpy_api.numpy_reduction import as_vector, ravel
from transpile.numpy_api.numpy_shape import moved, reshape
from transpile.ops import language as m
from transpile.ops.contraction import einsum, inner, outer, tensordot
from transpile.ops.slicing import at_least, point


def _agree(b: Builder, x: Expr, y: Expr, k: int, j: int, what: str) -> None:
    """Raises T202 if axis ``k`` of ``x`` and axis ``j`` of ``y``, which are contracted, differ in size; ``what`` names the
    operation."""
    if not (x.dims[k] == y.dims[j] or b.same(x.dims[k], y.dims[j])):
        message = f"{what} of shapes {shape_text(x.dims)} and {shape_text(y.dims)}: {x.dims[k]} is not {y.dims[j]}"
        raise RuleError(message, "T202", "transpose one of the two, or correct its size")


def matmul(b: Builder, x1: Any, x2: Any) -> Expr:
    """``x1 @ x2`` as an Expr; T202 for numbers and for sizes that do not fit."""
    x, y = numeric(b, x1, x2)
    if not x.rank or not y.rank:
        raise RuleError("matmul takes arrays, not numbers", "T202", "use *")
    _agree(b, x, y, -1, 0 if y.rank == 1 else -2, "the product")
    batch = b.broadcast_dims([x.dims[:-2], y.dims[:-2]])
    return b.let("matmul", *(b.stretched(v, (*batch, *v.dims[-2:])) if batch else v for v in (x, y)))


def _dot(build: Builder, a: Any, b: Any) -> Expr:
    """``np.dot``: a product with numbers, of the last axis with the only or the last but one otherwise."""
    x, y = numeric(build, a, b)
    if not x.rank or not y.rank:
        return build.elementwise("mul", x, y, strong=True)
    _agree(build, x, y, -1, 0 if y.rank == 1 else -2, "the product")
    if y.rank == 1 or (x.rank <= 2 and y.rank == 2) or y.rank == 2:
        return build.let("matmul", x, y)
    return tensordot(x, y, ((x.rank - 1,), (y.rank - 2,)))


def _inner(build: Builder, a: Any, b: Any) -> Expr:
    """``np.inner``: a product with numbers, of the last axes otherwise."""
    x, y = numeric(build, a, b)
    if not x.rank or not y.rank:
        return build.elementwise("mul", x, y, strong=True)
    _agree(build, x, y, -1, -1, "the inner product")
    if y.rank == 1:
        return build.let("matmul", x, y)
    if y.rank == 2 and x.rank <= 2:
        return build.let("matmul", x, m.swap_last(y))
    return tensordot(x, y, ((x.rank - 1,), (y.rank - 1,)))


def _outer(build: Builder, a: Any, b: Any) -> Expr:
    x, y = numeric(build, a, b)
    return outer(ravel(as_vector(x)), ravel(as_vector(y)))


def _outer_of_vectors(build: Builder, x1: Any, x2: Any) -> Expr:
    """``np.linalg.outer`` of the array API, which takes vectors only."""
    x, y = numeric(build, x1, x2)
    if x.rank != 1 or y.rank != 1:
        raise RuleError("Input arrays must be one-dimensional", "T202")
    return outer(x, y)


def _vdot(build: Builder, a: Any, b: Any) -> Expr:
    x, y = numeric(build, a, b)
    return _dot(build, ravel(x), ravel(y)) if x.rank or y.rank else _dot(build, x, y)


def _vecdot(b: Builder, x1: Any, x2: Any, axis: int = -1, keepdims: bool = False) -> Expr:
    x, y = (v if axis_of(axis, v.rank) == v.rank - 1 else moved(v, axis, -1) for v in numeric(b, x1, x2))
    _agree(b, x, y, -1, -1, "the inner product")
    found = inner(x, y, bool(keepdims))
    return moved(found, -1, axis) if keepdims and axis_of(axis, found.rank) != found.rank - 1 else found


def _tensordot(build: Builder, a: Any, b: Any, axes: Any = 2) -> Expr:
    """``np.tensordot``: ``axes`` is a known number, or a pair of axes or lists of axes."""
    x, y = numeric(build, a, b)
    if isinstance(axes, (tuple, list)):
        first, second = (list(s) if isinstance(s, (tuple, list)) else [s] for s in axes)
    else:
        count = known_integer(axes, "the axes of np.tensordot")
        first, second = list(range(x.rank - count, x.rank)), list(range(count))
    first, second = [axis_of(k, x.rank) for k in first], [axis_of(k, y.rank) for k in second]
    if len(first) != len(second):
        raise RuleError("shape-mismatch for sum", "T202")
    for k, j in zip(first, second):
        _agree(build, x, y, k, j, "tensordot")
    return tensordot(x, y, (first, second))


# ------------------------------------------------------------------------------------------------------- einsum

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum(b: Builder, *operands: Any, dtype: Any = None, casting: Any = "safe") -> Expr:
    """``np.einsum``: the operands are broadcast along letters for which one has size 1."""
    subscripts, operands = _with_letters(operands)
    given, xs = [array(b, x) for x in operands], numeric(b, *operands)
    xs = xs if dtype is None else [b.cast(x, dtype) for x in xs]
    for x in given:
        if not np.can_cast(x.type.strong.dtype, xs[0].dtype, casting):
            text = f"einsum: an operand of {x.type.strong.dtype} is not cast to {xs[0].dtype} with casting={casting!r}"
            raise RuleError(text, "T212", "write casting='same_kind' or casting='unsafe'")
    inputs, output = _explicit(subscripts.replace(" ", ""), xs)
    for s, x in zip(inputs, xs):
        if len(s) != x.rank:
            message = f"einsum: {s!r} has {len(s)} letters, but its operand has rank {x.rank}"
            raise RuleError(message, "T202", "write one letter for each axis")
    sizes = _sizes(b, inputs, xs)
    xs = [b.stretched(x, tuple(sizes[c] for c in s)) for s, x in zip(inputs, xs)]
    ready = [_without_ones(s, x, sizes) for s, x in zip(inputs, xs)]
    known = set("".join(s for s, _ in ready))
    kept = "".join(c for c in output if c in known)
    found = einsum([s for s, _ in ready], kept, [x for _, x in ready])
    return found if kept == output else reshape(found, [sizes[c] for c in output])


def _einsum_memory(bound: Mapping[str, Any]) -> str:
    """The memory of ``einsum`` (see `Entry`): "place", a view, if there is one operand and no sum, else "new"."""
    subscripts, operands = _with_letters(bound["operands"])
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    one = len(operands) == 1 and isinstance(operands[0], Expr)
    if not one or "->" not in subscripts:
        return "place" if one and len(set(inputs)) == len(inputs) else "new"
    return "place" if set(inputs) <= set(output) else "new"


def _with_letters(args: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The subscripts as one string, and the operands; the form ``einsum(a, [0, 1], b, [1, 2], [0, 2])`` is translated to
    letters."""
    if isinstance(args[0], str):
        return args[0], tuple(args[1:])

    def text(labels: Any) -> str:
        if not isinstance(labels, (list, tuple)):
            raise RuleError(
                "the subscripts of np.einsum must be known before the function runs", "T203", "write them as a string"
            )
        return "".join("..." if k is Ellipsis else _LETTERS[known_integer(k, "a label of np.einsum")] for k in labels)

    pairs, output = args[: len(args) // 2 * 2], args[len(args) // 2 * 2 :]
    left = ",".join(text(labels) for labels in pairs[1::2])
    return f"{left}->{text(output[0])}" if output else left, tuple(pairs[::2])


def _explicit(text: str, xs: Sequence[Expr]) -> tuple[list[str], str]:
    """The subscripts of each input, and of the output, from the ``text`` of an ``einsum``, with letters for the ellipsis.
    Without an arrow the output has the letters that occur once, sorted."""
    left, arrow, output = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(xs):
        message = f"einsum: {len(inputs)} subscripts for {len(xs)} operands"
        raise RuleError(message, "T202", "write one subscript for each operand, with commas between them")
    free = [c for c in _LETTERS if c not in text]
    widths = [x.rank - len(s.replace("...", "")) if "..." in s else 0 for s, x in zip(inputs, xs)]
    dots = "".join(free[: max(widths, default=0)])
    inputs = [s.replace("...", dots[len(dots) - w :]) for s, w in zip(inputs, widths)]
    if not arrow:
        letters = left.replace(",", "").replace("...", "")
        output = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    else:
        output = output.replace("...", dots)
    unknown = [c for c in output if not any(c in s for s in inputs)]
    if unknown or len(set(output)) != len(output):
        message = f"einsum: the output {output!r} does not fit the operands"
        raise RuleError(message, "T202", "use each letter of the operands at most once in the output")
    return inputs, output


def _sizes(b: Builder, inputs: Sequence[str], xs: Sequence[Expr]) -> dict[str, Dim]:
    """The size of each letter; T202 if the axes of one operand with a letter differ, or those of several cannot be
    broadcast."""
    sizes: dict[str, Dim] = {}
    for s, x in zip(inputs, xs):
        for c, d in zip(s, x.dims):
            first = x.dims[s.index(c)]  # axes of one operand must be equal, those of several are broadcast together
            if not b.same(first, d):
                raise RuleError(
                    f"einsum: the sizes {first} and {d} of {c!r} do not agree", "T202", "use another letter"
                )
            (sizes[c],) = b.broadcast_dims([(sizes.get(c, Dim(1)),), (d,)])
    return sizes


def _without_ones(subscripts: str, x: Expr, sizes: dict[str, Dim]) -> tuple[str, Expr]:
    """The subscripts and operand without axes of size 1 that meet a longer axis, so that no axis is left to broadcast."""
    drop = [k for k, (c, d) in enumerate(zip(subscripts, x.dims)) if d.is_one and not sizes[c].is_one]
    if not drop:
        return subscripts, x
    kept = [k for k in range(x.rank) if k not in drop]
    return "".join(subscripts[k] for k in kept), reshape(x, [x.dims[k] for k in kept])


# ----------------------------------------------------------------------------------------- kron, cross, convolve


def _kron(build: Builder, a: Any, b: Any) -> Expr:
    x, y = numeric(build, a, b)
    rank = max(x.rank, y.rank)
    if not rank:
        return build.elementwise("mul", x, y, strong=True)
    x, y = (reshape(v, [*([Dim(1)] * (rank - v.rank)), *v.dims]) if v.rank < rank else v for v in (x, y))
    spread = reshape(x, [d for n in x.dims for d in (n, Dim(1))]) * reshape(y, [d for n in y.dims for d in (Dim(1), n)])
    return reshape(spread, [n * k for n, k in zip(x.dims, y.dims)])


def _cross(build: Builder, a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Expr:
    """``np.cross`` of vectors of 3 numbers (else T202); ``axis`` stands for all three axes."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = numeric(build, a, b)
    x, y = moved(x, axisa, -1), moved(y, axisb, -1)
    for v in (x, y):
        if not (v.dims[-1] == Dim(3) or build.same(v.dims[-1], Dim(3))):
            raise RuleError(f"np.cross takes vectors of 3 numbers, not {v.type}", "T202")
    batch = build.broadcast_dims([x.dims[:-1], y.dims[:-1]])
    z = build.let("cross", *(build.stretched(v, (*batch, v.dims[-1])) if batch else v for v in (x, y)))
    return z if axis_of(axisc, z.rank) == z.rank - 1 else moved(z, -1, axisc)


def _convolve(b: Builder, a: Any, v: Any, mode: str = "full") -> Expr:
    x, y = (as_vector(e) for e in numeric(b, a, v))
    one_of("np.convolve", "mode", mode, "full", "same", "valid")
    for name, given in (("a", x), ("v", y)):
        at_least(b, given.dims[0], 1, f"{name} cannot be empty")
    return b.let("convolve", x, y, mode=mode)


def _correlate(b: Builder, a: Any, v: Any, mode: str = "valid") -> Expr:
    """``np.correlate``; T201 for numbers."""
    x, y = numeric(b, a, v)
    if not (x.rank and y.rank):
        raise RuleError("np.correlate takes arrays, not numbers", "T201")
    one_of("np.correlate", "mode", mode, "full", "same", "valid")
    for name, given in (("first", x), ("second", y)):
        at_least(b, given.dims[0], 1, f"{name} array argument cannot be empty")
    return b.let("correlate", x, y, mode=mode)


def _polyval(b: Builder, p: Any, x: Any) -> Expr:
    """``np.polyval``, highest coefficient first: by Horner's scheme if their number is known, else by a matrix of powers."""
    coefficients, at = numeric(b, p, x)
    if coefficients.rank != 1:
        raise RuleError(f"np.polyval takes a vector of coefficients, not {coefficients.type}", "T203")
    n = coefficients.dims[0]
    if n.is_const:
        total = point(coefficients, 0, 0) if n.const else b.expr(0.0)
        for k in range(1, n.const):
            total = total * at + point(coefficients, 0, k)
        return total if n.const > 1 else b.broadcast(total, at.dims)
    powers = flip(b.let("arange", b.dim(n), dims=(n,), dtype="int64"), (0,))
    wide = reshape(at, [*at.dims, Dim(1)])
    return b.let("matmul", b.elementwise("pow", wide, b.cast(powers, at.dtype)), coefficients)


_NUMPY: dict[str, Entry] = {
    "matmul": Entry(matmul),
    "dot": Entry(_dot),
    "inner": Entry(_inner),
    "outer": Entry(_outer, memory="C"),
    "linalg.outer": Entry(_outer_of_vectors),
    "linalg.matmul": Entry(matmul),
    "vdot": Entry(_vdot),
    "vecdot": Entry(_vecdot, static=("axis", "keepdims")),
    "linalg.vecdot": Entry(lambda b, x1, x2, *, axis=-1: _vecdot(b, x1, x2, axis), static=("axis",)),
    "matvec": Entry(lambda b, x1, x2: _matvec(b, x1, x2)),
    "tensordot": Entry(_tensordot, static=("axes",), memory="array"),
    "linalg.tensordot": Entry(_tensordot, static=("axes",), memory="array"),
    "einsum": Entry(_einsum, static=("dtype", "casting"), idle=("optimize",), memory=_einsum_memory),
    "kron": Entry(_kron),
    "cross": Entry(_cross, static=("axisa", "axisb", "axisc", "axis")),
    "linalg.cross": Entry(lambda b, x1, x2, axis=-1: _cross(b, x1, x2, axis=axis), static=("axis",)),
    "convolve": Entry(_convolve, static=("mode",)),
    "correlate": Entry(_correlate, static=("mode",)),
    "linalg.multi_dot": Entry(source="library_composites:multi_dot"),
    "polyval": Entry(_polyval),
}


def _matvec(b: Builder, x1: Any, x2: Any) -> Expr:
    x, y = numeric(b, x1, x2)
    if x.rank < 2 or not y.rank:
        raise RuleError("np.matvec takes matrices and vectors", "T202", "use np.vecdot or @")
    column = matmul(b, x, reshape(y, [*y.dims, Dim(1)]))
    return reshape(column, column.dims[:-1])


TABLE: dict[str, Entry] = {
    **{f"numpy.{name}": entry for name, entry in _NUMPY.items()},
    "operator.matmul": Entry(matmul),
}
