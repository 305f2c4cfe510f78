"""Products that contract, as loops: the axes of the result outside, the contracted ones inside, in memory order.

A product of two matrices is BLAS (`runtime.compiled.linalg.matmul`), which takes a transposed operand as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from transpile.core.builder import Expr
from transpile.core.nodes import SYNTHETIC, Const, Operand, Var
from transpile.core.types import INT, Type
from transpile.lower.elements import Elements, is_one, stored, write
from transpile.lower.folds import add_up, cast, number, op, wide

if TYPE_CHECKING:
    from transpile.lower.lowering import Lowering


def contract(lw: Lowering, parts: Sequence[tuple[str, Elements]], output: str, dtype: str, name: str) -> Elements:
    """``einsum``: each part with its letters."""
    steady = [(s, lw.steady(x, f"{name or 't'}_{k}")) for k, (s, x) in enumerate(parts)]
    sizes: dict[str, Operand] = {}
    for s, x in steady:
        for c, size in zip(s, x.sizes):
            if c not in sizes or is_one(sizes[c]):
                sizes[c] = size
    summed = [c for c in dict.fromkeys("".join(s for s, _ in steady)) if c not in output]
    letters = [*output, *summed]
    unit = _unit(steady, letters)

    def at(idx: Sequence[Expr]) -> Expr:
        where = dict(zip(letters, idx))
        value: Expr | None = None
        for s, x in steady:
            factor = x.at([lw.b.expr(0) if is_one(n) else where[c] for c, n in zip(s, x.sizes)])
            value = factor if value is None else op(lw, "mul", value, factor)
        assert value is not None
        return value

    whole = Elements(tuple(sizes[c] for c in letters), steady[0][1].dtype, at, cheap=False, unit=unit)
    whole = whole.also(*(x for _, x in steady))
    if not summed:
        return whole
    return add_up(lw, whole, tuple(range(len(output), len(letters))), False, dtype, name)


def _unit(parts: Sequence[tuple[str, Elements]], letters: Sequence[str]) -> int | None:
    """The letter that most parts have contiguous; of the largest part where they differ."""
    votes: dict[str, int] = {}
    for s, x in parts:
        if x.unit is not None and x.rank and s.count(s[x.unit]) == 1 and not is_one(x.sizes[x.unit]):
            votes[s[x.unit]] = votes.get(s[x.unit], 0) + x.rank
    if not votes:
        return None
    return list(letters).index(max(votes, key=lambda c: (votes[c], c)))


def _einsum(lw: Lowering, stmt: Any) -> Elements:
    inputs, output = stmt.params["subscripts"].split("->")
    operands = [lw.elements(a) for a in stmt.args]
    letters = inputs.split(",")
    if len(operands) == 2 and _is_matmul(letters, output):
        return blas(lw, operands[0], operands[1], stmt.var.name)
    return contract(lw, list(zip(letters, operands)), output, stmt.var.type.dtype, stmt.var.name)


def _is_matmul(letters: Sequence[str], output: str) -> bool:
    first, second = letters
    return (
        len(first) == len(second) == len(output) == 2
        and first[1] == second[0]
        and output == first[0] + second[1]
        and len({*first, *second}) == 3
    )


def _matmul(lw: Lowering, stmt: Any) -> Elements:
    x, y = (lw.elements(a) for a in stmt.args)
    name, dtype = stmt.var.name, stmt.var.type.dtype
    if x.rank == y.rank == 2:
        return blas(lw, x, y, name)
    batch = "abcdefgh"[: max(x.rank - 2, y.rank - 2, 0)]
    first = (batch[len(batch) - (x.rank - 2) :] if x.rank > 2 else "") + ("ik" if x.rank > 1 else "k")
    second = (batch[len(batch) - (y.rank - 2) :] if y.rank > 2 else "") + ("kj" if y.rank > 1 else "k")
    output = batch + ("i" if x.rank > 1 else "") + ("j" if y.rank > 1 else "")
    return contract(lw, [(first, x), (second, y)], output, dtype, name)


def blas(lw: Lowering, x: Elements, y: Elements, name: str) -> Elements:
    """The product of two matrices; of integers, and of anything tiny, as loops."""
    if x.dtype not in ("float64", "float32") or _is_small(x) and _is_small(y):
        return contract(lw, [("ik", x), ("kj", y)], "ij", x.dtype, name)
    a, c = (_matrix(lw, m, f"{name or 't'}_{k}") for k, m in enumerate((x, y)))
    sizes = (x.sizes[0], y.sizes[1])
    var = lw.memory(name, x.dtype, sizes)
    b = lw.b
    b.bind("done", INT, "call", (a, c, var), {"fn": "linalg.matmul", "into": 2})
    return stored(b, var, sizes)


def _is_small(x: Elements) -> bool:
    return all(isinstance(s, Const) and s.value <= 4 for s in x.sizes)


def _matrix(lw: Lowering, x: Elements, name: str) -> Operand:
    """The variable of a matrix, or the transpose of one: BLAS reads both as they lie."""
    if x.root is None and x.swapped is not None:
        return lw.b.bind(SYNTHETIC, Type(x.dtype, x.swapped.type.dims), "swap", (x.swapped,), {})
    return lw.rooted(x, name).root  # type: ignore[return-value]


def _tensordot(lw: Lowering, stmt: Any) -> Elements:
    x, y = (lw.elements(a) for a in stmt.args)
    first, second = stmt.params["axes"]
    letters = "abcdefghijklmnopqrstuvwxyz"
    left = list(letters[: x.rank])
    right = list(letters[x.rank : x.rank + y.rank])
    for a, c in zip(first, second):
        right[c] = left[a]
    output = [c for k, c in enumerate(left) if k not in first] + [c for k, c in enumerate(right) if k not in second]
    return contract(lw, [("".join(left), x), ("".join(right), y)], "".join(output), stmt.var.type.dtype, stmt.var.name)


def _outer(lw: Lowering, stmt: Any) -> Elements:
    x, y = (lw.elements(a) for a in stmt.args)
    return contract(lw, [("i", x), ("j", y)], "ij", stmt.var.type.dtype, stmt.var.name)


def _cross(lw: Lowering, stmt: Any) -> Elements:
    from transpile.lower.places import broadcast_index

    b = lw.b
    x, y = (lw.steady(lw.elements(a), f"{stmt.var.label}_{k}") for k, a in enumerate(stmt.args))
    dtype = stmt.var.type.dtype
    sizes = (*lw.sizes(stmt.var.type.dims[:-1]), Const(3, INT))
    var = lw.memory(stmt.var.name, dtype, sizes)

    def line(outer: list[Expr]) -> None:
        def get(e: Elements, k: int) -> Expr:
            return e.at(broadcast_index(lw, e, [*outer, b.expr(k)]))

        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            plus, minus = op(lw, "mul", get(x, i), get(y, j)), op(lw, "mul", get(x, j), get(y, i))
            write(b, var, [*outer, b.expr(k)], op(lw, "sub", plus, minus))

    lw.nest(sizes[:-1], line)
    return stored(b, var, sizes)


def _convolve(lw: Lowering, stmt: Any) -> Elements:
    b, mode, dtype = lw.b, stmt.params["mode"], stmt.var.type.dtype
    x, y = (lw.steady(lw.elements(a), f"{stmt.var.label}_{k}") for k, a in enumerate(stmt.args))
    n, m = b.expr(x.sizes[0]), b.expr(y.sizes[0])
    carried = wide(dtype)
    flipped = stmt.prim == "correlate"  # the convolution with the second reversed
    kind = f"{stmt.prim}_{mode}" if flipped and mode == "same" else f"convolve_{mode}"
    call = b.bind("bounds", Type("int64", (), kind="tuple"), "call", (n.op, m.op), {"fn": f"arrays.{kind}"})
    lead, size = (Expr(b, b.bind(w, INT, "item", (call,), {"k": k})) for k, w in enumerate(("lead", "size")))

    def at(idx: Sequence[Expr]) -> Expr:
        k = idx[0] + lead
        low = Expr(b, b.bind("low", INT, "call", ((k - m + 1).op, b.expr(0).op), {"fn": "max"}))
        high = Expr(b, b.bind("high", INT, "call", ((k + 1).op, n.op), {"fn": "min"}))

        def body(inner: list[Expr], values: list[Expr]) -> list[Expr]:
            i = inner[0] + low
            j = m - 1 - (k - i) if flipped else k - i
            return [op(lw, "add", values[0], cast(lw, op(lw, "mul", x.at([i]), y.at([j])), carried))]

        return cast(lw, lw.fold([(high - low).op], [number(lw, 0, carried)], body)[0], dtype)

    return Elements((size.op,), dtype, at, cheap=False, deps=x.deps | y.deps)


def _name(op: Operand) -> str:
    return op.name if isinstance(op, Var) else SYNTHETIC


TABLE: dict[str, Callable[[Lowering, Any], Elements]] = {
    "matmul": _matmul,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "outer": _outer,
    "cross": _cross,
    "convolve": _convolve,
    "correlate": _convolve,
}
