"""The functions that rules are written with: each emits a primitive into the builder of its operands.

>>> from transpile.core.builder import Builder
>>> from transpile.core.nodes import Var
>>> from transpile.core.types import FLOAT
>>> from transpile.ops.tables import prims
>>> b = Builder(prims())
>>> str(exp(b.expr(Var("x", FLOAT))).type)
'float'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.builder import Expr
from transpile.core.dims import Dim


def _builder(args: Sequence[Any]) -> Any:
    for a in args:
        if isinstance(a, Expr):
            return a.b
    raise TypeError("a rule's function needs at least one Expr")


@dataclass(frozen=True)
class Ratio:
    """The partial ``-value / by`` of a quotient, kept as a pair: the tangent or adjoint is divided by ``by`` before it is
    multiplied by ``value``, so that nothing underflows or overflows where the product does not."""

    value: Expr
    by: Expr

    @property
    def number(self) -> Expr:
        """The partial as one expression."""
        return -(self.value / self.by)


def _elementwise(prim: str) -> Callable[..., Expr]:
    def build(*args: Any, **params: Any) -> Expr:
        return _builder(args).elementwise(prim, *args, **params)

    build.__name__ = prim
    return build


exp, expm1, log, log1p, sqrt, sin, cos, tan = map(_elementwise, "exp expm1 log log1p sqrt sin cos tan".split())
sinh, cosh, tanh, absolute, sign, floor = map(_elementwise, "sinh cosh tanh absolute sign floor".split())
maximum, minimum, where, pow, isnan = map(_elementwise, "maximum minimum where pow isnan".split())
logical_and, logical_or, logical_not = map(_elementwise, "logical_and logical_or logical_not".split())


def elementwise(prim: str, *args: Any, **params: Any) -> Expr:
    """The result of the elementwise primitive ``prim``, emitted into the builder of the first operand that has one; operands
    are promoted and broadcast."""
    return _builder(args).elementwise(prim, *args, **params)


def chosen(x: Expr, value: float) -> Expr:
    """The number ``value``, which a derivative has by convention at ``x``, where it does not exist; its own derivative is
    NaN."""
    return elementwise("chosen", x, value=value)


def flat(x: Expr, value: float) -> Expr:
    """The number ``value`` in place of a function of ``x`` whose derivative is 0 by convention and whose second derivative is
    NaN."""
    return elementwise("flat", x, value=value)


def sloped(x: Expr, like: Expr) -> Expr:
    """``x`` with the derivative of ``like``; the two are equal."""
    return elementwise("sloped", x, like)


def call(prim: str, *args: Any, **params: Any) -> Expr:
    """The result of the primitive ``prim``, emitted into the builder of the first operand that has one; the operands are
    neither promoted nor broadcast."""
    return _builder(args).let(prim, *args, **params)


def sum(x: Expr, axes: Sequence[int] | None = None, keepdims: bool = False) -> Expr:
    """The sum over ``axes`` (None: all; negative ones count from the end)."""
    axes = tuple(range(x.rank)) if axes is None else tuple(sorted(a % x.rank for a in axes))
    return x.b.let("sum", x, axes=axes, keepdims=keepdims)


def broadcast(x: Expr, dims: Sequence[Dim]) -> Expr:
    return x.b.broadcast(x, tuple(dims))


def expand(x: Expr, axes: Sequence[int], dims: Sequence[Dim]) -> Expr:
    """The result ``x`` of a reduction over ``axes``, with or without these axes, broadcast to the original ``dims``."""
    if x.rank == 0 or x.rank == len(dims):
        return broadcast(x, dims)
    kept = tuple(Dim(1) if k in axes else d for k, d in enumerate(dims))
    return broadcast(reshape(x, kept), dims)


def reshape(x: Expr, dims: Sequence[Dim]) -> Expr:
    return x.b.let("reshape", x, dims=tuple(dims))


def transpose(x: Expr, axes: Sequence[int]) -> Expr:
    return x.b.let("transpose", x, axes=tuple(axes))


def swap_last(x: Expr) -> Expr:
    """``x`` with its last two axes swapped."""
    axes = list(range(x.rank))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return transpose(x, axes)


def matmul(x: Expr, y: Expr) -> Expr:
    return x.b.let("matmul", x, y)


def zeros(x: Expr) -> Expr:
    """Zeros with the dims and dtype of ``x``."""
    return x.b.let("full", 0.0, dims=x.dims, dtype=x.dtype)


def index(x: Expr, path: Any, *args: Any) -> Expr:
    return x.b.let("index", x, *args, path=path)


def size(x: Expr, axes: Sequence[int] | None = None) -> Expr:
    """The number of elements along ``axes`` (None: all), as an integer scalar."""
    return x.b.size([d for k, d in enumerate(x.dims) if axes is None or k in axes])
