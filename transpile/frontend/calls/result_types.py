"""What is known of a kept function where it is called: the types of its results, in terms of those of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import ANY, Dim
from transpile.core.functions import Routine
from transpile.core.integers import Integers
from transpile.core.types import Type, computes_alike, promote
from transpile.errors import error
from transpile.frontend.values.values import Cell
from transpile.ops.tables import prims

Axis = tuple[int, int]
"""Of which leaf of the arguments, and which of its axes."""

Pair = tuple[Axis, Axis]


@dataclass(frozen=True)
class Signature:
    """``results`` are those of ``out_tree``, then what the parameters ``written`` hold at the end.

    ``shared``: for each result of ``out_tree`` the parameters that it may be, -1 for what stands outside. ``hands_back``: whether a
    container that is returned may be one that was given. ``integers``: what is known of parameters that are such.
    """

    params: tuple[ir.Var, ...]
    results: tuple[Type, ...]
    out_tree: Any
    written: tuple[int, ...]
    shared: tuple[frozenset[int], ...]
    hands_back: bool = False
    integers: Mapping[ir.Operand, Dim] = field(default_factory=dict)


def signature_of(
    fn: ir.Function, written: Sequence[int], shared: Sequence[frozenset[int]], hands_back: bool
) -> Signature:
    """The signature of a function that was lifted: sizes are named by where they stand, so that two tries can be compared."""
    names: dict[str, Dim] = {}
    form_of = Integers(prims(), fn).of
    for k, param in enumerate(fn.params):
        for axis, dim in enumerate(param.type.dims):
            if dim.as_symbol is not None:
                names.setdefault(dim.as_symbol, Dim.symbol(f"{k}[{axis}]"))
        form = form_of(param)
        if form is not None and form.as_symbol is not None:
            names.setdefault(form.as_symbol, Dim.integer(f"{k}"))
    params: list[ir.Var] = []
    integers: dict[ir.Operand, Dim] = {}
    for param in fn.params:
        new = ir.Var(param.name, _typed(param.type, names))
        params.append(new)
        form = form_of(param)
        if form is not None:
            integers[new] = form.substitute(names.get)
    results = tuple(_typed(y.type, names) for y in fn.body.yields)
    return Signature(tuple(params), results, fn.out_tree, tuple(written), tuple(shared), hands_back, integers)


def _typed(type_: Type, names: dict[str, Dim]) -> Type:
    """The type in terms of the parameters' sizes; what is not is `ANY`."""
    dims = tuple(d.substitute(names.get) if all(s in names for s in d.symbols()) else ANY for d in type_.dims)
    return type_.with_dims(dims)


def joined(old: Signature | None, new: Signature) -> Signature | None:
    """What both say; None if the old one says as much as the new one."""
    if old is None:
        return new
    if old.out_tree != new.out_tree or len(old.results) != len(new.results) and old.written == new.written:
        raise error("T118", "the recursive function returns results of different structure",
                    hint="return the same structure on every path")  # fmt: skip
    if old.written != new.written:
        return new  # a parameter that is written: all calls must know it
    results = tuple(_join(a, b) for a, b in zip(old.results, new.results))
    shared = tuple(a | b for a, b in zip(old.shared, new.shared))
    hands_back = old.hands_back or new.hands_back
    settled = (shared, hands_back) == (old.shared, old.hands_back) and all(
        _agree(a, b) for a, b in zip(old.results, new.results)
    )
    return (
        None if settled else Signature(new.params, results, new.out_tree, new.written, shared, hands_back, new.integers)
    )


def _agree(assumed: Type, found: Type) -> bool:
    """Whether what was assumed of a result holds."""
    same = (assumed.dtype, assumed.weak, assumed.rank) == (found.dtype, found.weak, found.rank)
    return same and all(a in (b, ANY) for a, b in zip(assumed.dims, found.dims))


def _join(a: Type, b: Type) -> Type:
    if a.rank != b.rank:
        message = f"the recursive function returns an array of rank {a.rank} or of rank {b.rank}"
        raise error("T204", message, hint="return the same rank on every path")
    if not computes_alike(a, b) or (a.dims and a.dtype != b.dtype):
        raise error(
            "T205",
            f"the recursive function returns {a} or {b}",
            hint="return the same dtype on every path",
        )
    common = promote(a, b)
    return common.with_dims(tuple(d if d == e else ANY for d, e in zip(a.dims, b.dims))) if a.dims else common


@dataclass(eq=False)
class Found:
    """A routine that was lifted, and how it is called."""

    routine: Routine
    signature: Signature
    captured: list[Any] = field(
        default_factory=list
    )  # what its hidden parameters are read from, at the end of its parameters
    errstate: tuple[tuple[str, str], ...] = ()
    read: Sequence[Cell] = ()  # the arrays of the functions around that it reads
    names: Mapping[Any, Any] = field(default_factory=dict)  # of the functions around, and what they stood for
    trees: Mapping[str, Any] = field(default_factory=dict)  # of the arguments that it is for
