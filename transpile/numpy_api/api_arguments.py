"""Reads the arguments of NumPy calls: arrays and array-likes, axes, shapes, dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim, product
from transpile.core.types import Type, promote
from transpile.errors import RuleError
from transpile.ops.slicing import point


def array(b: Builder, value: Any) -> Expr:
    """An array argument: a (nested) list or tuple as a new array, an Expr unchanged, a number as a constant."""
    return from_nested(b, value) if isinstance(value, (list, tuple)) else b.expr(value)


def arrays(b: Builder, values: Any) -> list[Expr]:
    """A sequence of arrays as a list; an array gives its rows. T201 for a number, or if the number of rows is not known."""
    if isinstance(values, (list, tuple)):
        return [array(b, v) for v in values]
    x = b.expr(values)
    if not x.rank:
        raise RuleError("needs a sequence of arrays, not a number", "T201")
    if not x.dims[0].is_const:
        raise RuleError(f"needs a sequence of arrays of known length, not {x.type}", "T201", "use reshape")
    return [point(x, 0, k) for k in range(x.dims[0].const)]


def from_nested(b: Builder, nested: Any, dtype: str | None = None) -> Expr:
    """``np.array(nested, dtype)``: a new array from a (nested) list or tuple of Exprs and numbers. An Expr or a number itself
    is returned, cast if there is a ``dtype``, but not made an array."""
    if not isinstance(nested, (list, tuple)):
        x = b.expr(nested)
        return x if dtype is None else b.cast(x, dtype)
    if not nested:
        return b.let("empty", dims=(Dim(0),), dtype=dtype or "float64")
    parts = same_dtype(b, [from_nested(b, v, dtype) for v in nested])
    return stack(b, parts, 0, "T214")


def stack(b: Builder, parts: Sequence[Expr], axis: int, code: str = "T202") -> Expr:
    """``np.stack`` of arrays of one dtype; raises the error ``code`` unless they have one shape."""
    dims = parts[0].dims
    for x in parts[1:]:
        if x.rank != len(dims) or not all(b.same(p, q) for p, q in zip(x.dims, dims)):
            raise RuleError(f"arrays of shapes {shape_text(dims)} and {shape_text(x.dims)} cannot be stacked", code)
    return b.let("stack", *parts, axis=axis)


def same_dtype(b: Builder, parts: Sequence[Expr], weak: bool = False) -> list[Expr]:
    """The parts cast to their common dtype; Python numbers count as float64 or int64, as in ``np.asarray``, or with ``weak`` as
    numbers."""
    common = promote(*(p.type if weak else strong_type(p) for p in parts))
    made = [b.cast(p, common.dtype) for p in parts]
    others = b.other_dtypes(
        [p.op for p in parts], lambda types: promote(*(types if weak else [t.strong for t in types])).dtype
    )
    if others <= {common.dtype}:
        return [b.surely_of_dtype(x) for x in made] if others else made
    return [b.with_others(x, others) for x in made]


def numeric(b: Builder, *values: Any) -> list[Expr]:
    """A list of the arguments as arrays in their common dtype, to which Python's numbers count as float64 or int64: the
    operands of a product."""
    return same_dtype(b, [array(b, v) for v in values])


def floats(b: Builder, *values: Any) -> list[Expr]:
    """A list of the arguments as arrays in their common dtype, for linear algebra; integers and truth values become float64."""
    return [b.floating(p) for p in numeric(b, *values)]


def strong(x: Expr) -> Expr:
    """``x`` as a NumPy value: a Python scalar becomes a NumPy scalar."""
    return x.b.cast(x, strong_type(x))


def strong_type(x: Expr) -> Type:
    """The type that ``np.asarray`` gives to ``x``: not weak; a literal Python integer that fits only uint64 becomes uint64."""
    is_large = isinstance(x.op, ir.Const) and x.type.weak and x.type.is_int and 2**63 <= x.op.value < 2**64
    return Type("uint64") if is_large else x.type.strong


def shape_text(dims: Sequence[Dim]) -> str:
    inner = ", ".join(map(str, dims))
    return f"({inner},)" if len(dims) == 1 else f"({inner})"


# -------------------------------------------------------------------------------------------------------- axes


def axis_of(axis: Any, rank: int) -> int:
    """The number of an axis, counted from the front; T201 if it is no int, T208 if it is out of bounds."""
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise RuleError(f"an axis must be an integer, not {axis!r}", "T201", "convert it with int(...)")
    if not -rank <= axis < rank:
        raise RuleError(
            f"axis {axis} is out of bounds for an array of {rank} dimension{'' if rank == 1 else 's'}", "T208"
        )
    return int(axis) % rank


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """The axes of a reduction, sorted and counted from the front; ``axis`` is None (all), one axis, or several. T201 or T208 as
    in `axis_of`, T208 for repeated ones."""
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, (tuple, list)):
        axes = [axis_of(a, rank) for a in axis]
        if len(set(axes)) != len(axes):
            raise RuleError("duplicate value in 'axis'", "T208")
        return tuple(sorted(axes))
    return (axis_of(axis, rank),)


def one_of(what: str, name: str, value: Any, *allowed: Any) -> None:
    """Raises T131 unless the value of the argument ``name`` of ``what`` is among ``allowed``."""
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        raise RuleError(f"{what}: {name}={value!r} is not one of {listed}", "T131", f"write {name}={allowed[0]!r}")


def refuse_options(what: str, **given: tuple[Any, Any]) -> None:
    """Raises T131 for options that ``what`` does not support; each of ``given`` is a pair of its value and the only supported
    value."""
    for name, (value, fine) in given.items():
        if isinstance(value, Expr) or value != fine:
            shown = "" if isinstance(value, Expr) else f"={value!r}"
            hint = f"leave {name} out, or write {name}={fine!r}"
            raise RuleError(f"{what}: the argument {name}{shown} is not supported", "T131", hint)


def demand_integers(what: str, *values: Expr) -> None:
    """Raises T201 for floats, where NumPy raises, or truncates in one function and rounds in another; ``what`` names the value."""
    for x in values:
        if x.type.is_float:
            hint = "convert it with int(...) or .astype(int)"
            raise RuleError(f"{what} must be an integer, not {x.type}", "T201", hint)


def places_of(b: Builder, what: str, value: Any) -> Expr:
    """The argument of ``what`` as an array of indices: integers or booleans; T201 for floats, unless the array is empty."""
    found = array(b, value)
    if found.type.is_float and found.rank and found.dims[0] == Dim(0):
        return b.cast(found, "int64")
    if found.type.is_float:
        raise RuleError(f"{what} takes integers as indices, not {found.type}", "T201", "convert them with .astype(int)")
    return found


# --------------------------------------------------------------------------------------------- sizes and shapes


def size_of(b: Builder, value: Any) -> Dim:
    """An integer argument as a size; T201 if it is no integer, T203 if it is known to be negative."""
    x = b.expr(value)
    if x.dims or not (x.type.is_int or x.type.is_bool):
        raise RuleError(f"a size must be an integer, not {x.type}", "T201", "convert it with int(...)")
    found = b.form(x)
    if found.is_const and found.const < 0:
        raise RuleError(f"a size must not be negative, but {found} is", "T203", "correct the size")
    return found


def shape_of(b: Builder, shape: Any) -> tuple[Dim, ...]:
    """A shape argument, a number, a sequence of numbers or an array of known length, as sizes; T201 or T203 as in `size_of`."""
    if any(b.expr(s).type.is_bool for s in (shape if isinstance(shape, (list, tuple)) else (shape,))):
        raise RuleError("a size must be an integer, not a truth value", "T201", "convert it with int(...)")
    if not isinstance(shape, (list, tuple)):
        x = b.expr(shape)
        shape = held(b, x) if x.rank == 1 else (x,)
    return tuple(size_of(b, s) for s in shape)


def held(b: Builder, shape: Expr) -> list[Expr]:
    """The sizes in a vector of known length (else T203), one Expr each."""
    if not shape.dims[0].is_const:
        raise RuleError("the length of an array that holds a shape must be known", "T203", "pass a tuple")
    return [point(shape, 0, k) for k in range(shape.dims[0].const)]


def _factors(dim: Dim) -> tuple[int, list[Dim]]:
    """The constant factor of a size and a list of its other factors, with products taken apart."""
    if dim.is_const:
        return dim.const, []
    if dim.const == 0 and len(dim.terms) == 1:
        atom, coef = dim.terms[0]
        if atom.kind == "mul":
            first, second = (_factors(d) for d in atom.operands)
            return coef * first[0] * second[0], [*first[1], *second[1]]
        return coef, [Dim.atom(atom)]
    return 1, [dim]


def _taken_apart(dims: Sequence[Dim]) -> tuple[int, list[Dim]]:
    """The product of sizes, as its constant factor and a list of its other factors."""
    number, factors = 1, []
    for d in dims:
        n, rest = _factors(d)
        number *= n
        factors += rest
    return number, factors


def divide(total: Sequence[Dim], by: Sequence[Dim]) -> Dim:
    """The quotient of the products of two lists of sizes, ``total`` by ``by``: exact if their factors show that there is no
    remainder, else a floor division."""
    number, left = _taken_apart(total)
    divisor, down = _taken_apart(by)
    right: list[Dim] = []
    for d in down:
        left.remove(d) if d in left else right.append(d)
    if not right and divisor and number % divisor == 0:
        return product(left).times(number // divisor)
    whole, part = product(left).times(number), product(right).times(divisor)
    if part.is_const and part.const and all(c % part.const == 0 for c in (whole.const, *(c for _, c in whole.terms))):
        return Dim(whole.const // part.const, tuple((a, c // part.const) for a, c in whole.terms))
    return whole // part


def integer(value: Any) -> int | None:
    """The integer that an argument (an int, a literal or an Expr) is known to be when the function is lifted, else None."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value)
    op = getattr(value, "op", value)
    if isinstance(op, ir.Const) and isinstance(op.value, int):
        return int(op.value)
    form = value.b.form_of(op) if isinstance(value, Expr) else None
    return form.const if form is not None and form.is_const else None


def diagonal(k: Any) -> Any:
    """The number ``k`` of a diagonal, unchanged; T201 if it is no integer."""
    if isinstance(k, (Expr, bool)) or integer(k) is not None:
        return k
    raise RuleError(f"the number of a diagonal must be an integer, not {k!r}", "T201", "convert it with int(...)")


def known_integer(value: Any, what: str) -> int:
    """As `integer`, but T203 if the value is not known; ``what`` names it in the message."""
    found = integer(value)
    if found is None:
        raise RuleError(f"{what} must be known before the function runs", "T203", "write a number")
    return found


def is_one(b: Builder, dim: Dim, what: str, hint: str) -> bool:
    """True if a size is 1, where this decides the rank of the result; T210 (about ``what``, with ``hint``) if it is known at
    run time only."""
    found = b.decide(dim, Dim(1))
    if found is None:
        message = (
            f"{what}: the rank of the result depends on whether the size {dim} is 1, which is only known at run time"
        )
        raise RuleError(message, "T210", hint)
    return found


def must_agree(b: Builder, x: Expr, y: Expr, message: str) -> None:
    """Raises T202, with ``message``, for arrays of different shapes, where NumPy does not broadcast."""
    fits = x.rank == y.rank and all(d == e or b.same(d, e) for d, e in zip(x.dims, y.dims))
    if not fits:
        raise RuleError(f"{message}: {shape_text(x.dims)} and {shape_text(y.dims)}", "T202")


# ------------------------------------------------------------------------------------------------------ dtypes


def dtype_of(dtype: Any, default: str) -> str:
    """The name of a dtype argument, such as "float32"; ``default`` if it is None."""
    return default if dtype is None else np.dtype(dtype).name


def cast_to(x: Expr, dtype: Any) -> Expr:
    """``x`` cast to a dtype argument; unchanged if it is None."""
    return x if dtype is None else x.b.cast(x, dtype_of(dtype, ""))


def into(value: Any, x: Expr) -> Expr:
    """``value`` in the dtype of the array ``x`` that it is put into. T205 where the array has another dtype on some path, to
    which NumPy would round it."""
    b = x.b
    v = array(b, value)
    dtypes = b.dtypes(x.op)
    if not all(np.can_cast(d, other, "safe") for d in b.dtypes(v.op) for other in dtypes[:-1]):
        text = f"a value of type {v.type} is put into an array of {' or '.join(dtypes)}, depending on the data"
        raise RuleError(text, "T205", "give the array one dtype on both paths")
    return b.cast(v, x.dtype)


def full(b: Builder, value: Any, dims: Sequence[Dim], dtype: str) -> Expr:
    """``np.full(dims, value, dtype)``; for rank 0 a NumPy scalar."""
    kind = np.dtype(dtype).kind
    if isinstance(value, (int, float, bool)):
        value = {"b": bool, "f": float}.get(kind, int)(value)
        value = ir.Const(value, Type(dtype)) if not dims else value
    if not dims:
        return b.cast(b.expr(value), dtype)
    return b.let("full", value, dims=tuple(dims), dtype=dtype)


def zeros_like(x: Expr) -> Expr:
    return full(x.b, 0, x.dims, x.dtype)
