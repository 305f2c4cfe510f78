"""Checks that the user's numbers can be sizes, before anything relies on them.

    np.zeros((a, b)), x.reshape((a, b)), np.tile(x, a)      0 <= a <= 2**48, and at most 2**59 elements in all

With these checks, the arithmetic of sizes and positions does not wrap, and an index that is less than a size is that of an
element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Atom, Dim
from transpile.core.types import FLOAT64
from transpile.lower.lowered_effects import in_size, raise_value
from transpile.lower.lowering import Lowering

MOST = 2.0**59  # elements of an array
FEW = 1000


def check_given(lw: Lowering, dims: Sequence[Dim], args: Sequence[Any] = ()) -> None:
    """Emits checks that raise ValueError if the user's numbers in the dims of a new array cannot be sizes.

    Dims of an array in scope need no check, nor do sizes of ``args``, the arrays that the new one is made from.
    """
    if dims in lw.shapes:
        return
    known = {a for arg in args if isinstance(arg, ir.Var) for d in arg.type.dims for a in _given(lw, d)}
    if all(a in known for d in dims for a in _given(lw, d)):
        return
    for dim in dims:
        if next(_given(lw, dim), None) is not None and (dim,) not in lw.shapes:
            lw.b.emit(in_size(lw.b.loc, Expr(lw.b, lw.dim(dim))))
    if len(dims) == 1 and _wraps_to_negative(lw, dims[0]):
        return
    total = reduce(mul, [_count(lw, d) for d in dims])
    too_many = ir.Block((), [raise_value(lw.b.loc, "array is too big")])
    lw.b.emit(ir.If((total > MOST).op, too_many, ir.Block(), (), lw.b.loc))


def _given(lw: Lowering, dim: Dim) -> Iterator[Atom]:
    """The user's numbers in a dimension, those of unknown sign, also in products; sizes of arrays, and numbers inside ``max(a,
    0)`` or a quotient, are left out."""
    for atom, _ in dim.terms:
        if atom.kind == "int" and atom.name not in lw.measured:
            yield atom
        elif atom.kind == "mul":
            for operand in atom.operands:
                yield from _given(lw, operand)


def _wraps_to_negative(lw: Lowering, dim: Dim) -> bool:
    """Whether the size is an integer of the user's plus or minus a few sizes: if such a sum wraps, it becomes negative, which
    is no size."""
    given = [factor for atom, factor in dim.terms if any(_given(lw, Dim.atom(atom)))]
    others = all(abs(factor) <= FEW and atom.kind != "mul" for atom, factor in dim.terms)
    return len(given) == 1 and abs(given[0]) == 1 and others and abs(dim.const) <= MOST


def _count(lw: Lowering, dim: Dim) -> Expr:
    """An upper bound of the magnitude of a size, and of all intermediate results, in float64, where nothing wraps."""
    b = lw.b
    parts = [b.expr(ir.Const(float(abs(dim.const)), FLOAT64))] if dim.const or not dim.terms else []
    for atom, factor in dim.terms:
        if atom.kind == "mul":
            one = reduce(mul, [_count(lw, d) for d in atom.operands])
        else:
            one = b.cast(Expr(b, lw.dim(Dim.atom(atom))), FLOAT64)
            one = one if atom.is_size else b.elementwise("absolute", one)
        parts.append(one if abs(factor) == 1 else one * float(abs(factor)))
    return reduce(add, parts)
