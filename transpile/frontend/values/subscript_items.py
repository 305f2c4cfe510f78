"""The items of a subscript: one for each axis, and for each None.

Sequences of integers are arrays, the ellipsis is as many full slices as it stands for. One that stands for no axis stays where it
keeps index arrays apart: NumPy puts their axes in front then. A truth value is an array of indices into an axis of its own, of one
entry: ``x[True]`` is ``x[None][[0]]``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.frontend.lifter import Lifter
from transpile.frontend.values.convert import exprs
from transpile.frontend.values.values import RangeOf, Ref, SliceOf, Static, Tuple

ADVANCED = ("gather", "mask")
FULL = SliceOf(None, None, None)


@dataclass
class Expanded:
    """``parts``, for axes of ``dims``: operands, slices, and what is static. ``lead`` is the step to these axes where truth values
    have axes of their own; ``truths`` says which parts were those."""

    parts: list[Any]
    dims: tuple[Dim, ...]
    lead: ir.Path = ()
    truths: set[int] = field(default_factory=set)


def expanded(lx: Lifter, dims: tuple[Dim, ...], index: Any, node: Any = None) -> Expanded:
    """The items of a subscript of an array of these sizes."""
    parts = list(index.items) if isinstance(index, Tuple) else [index]
    ready = [_prepared(lx, p, node) for p in parts]
    covered = sum(consumes(p) for p in ready)
    if covered > len(dims):
        message = (
            f"too many indices: the array has {len(dims)} dimension{'s' * (len(dims) != 1)}, but {covered} were indexed"
        )
        raise lx.error("T207", message, node, "write at most one index for each axis")
    dots = [k for k, p in enumerate(ready) if is_ellipsis(p)]
    if len(dots) > 1:
        raise lx.error("T207", "an index can have only one ellipsis", node, "write ':' for the other axes")
    full: list[Any] = [FULL] * (len(dims) - covered)
    at = dots[0] if dots else len(ready)
    before, after = ready[:at], ready[at + 1 :]
    if not full and _are_apart(before, after):
        full = [ready[at]]
    return _with_truths(lx, Expanded([*before, *full, *after], dims))


def _are_apart(before: list[Any], after: list[Any]) -> bool:
    """Whether there are index arrays, and indices on both sides of an ellipsis."""
    kinds = [{kind(p) for p in side} for side in (before, after)]
    return all(k & {*ADVANCED, "truth", "point"} for k in kinds) and any(k & {*ADVANCED, "truth"} for k in kinds)


def _with_truths(lx: Lifter, found: Expanded) -> Expanded:
    """Truth values as arrays of indices, each into an axis of its own."""
    found.truths = {k for k, p in enumerate(found.parts) if kind(p) == "truth"}
    if not found.truths:
        return found
    axes, items, dims = iter(found.dims), [], []
    for k, part in enumerate(found.parts):
        new: list[ir.Item] = [ir.NewAxis()] if k in found.truths else [ir.Slice()] * consumes(part)
        items += new
        dims += [Dim(1) if isinstance(i, ir.NewAxis) else next(axes) for i in new]
    parts = [_one_entry(lx, p) if k in found.truths else p for k, p in enumerate(found.parts)]
    return Expanded(parts, tuple(dims), (ir.Index(tuple(items)),), found.truths)


def _one_entry(lx: Lifter, truth: ir.Operand) -> ir.Operand:
    """What a truth value takes of an axis of one entry: it, or nothing."""
    if isinstance(truth, ir.Const):
        return lx.b.let("full", 0, dims=(Dim(int(truth.value)),), dtype="int64").op
    return lx.b.let("reshape", truth, dims=(Dim(1),)).op


def is_ellipsis(part: Any) -> bool:
    return isinstance(part, Static) and part.value is Ellipsis


def _prepared(lx: Lifter, part: Any, node: Any) -> Any:
    """Sequences of integers become arrays of integers; numbers and arrays their operands."""
    if isinstance(part, Static) and isinstance(part.value, slice):
        return SliceOf(
            *(None if k is None else lx.const(k) for k in (part.value.start, part.value.stop, part.value.step))
        )
    if isinstance(part, (SliceOf, Static)):
        return part
    if isinstance(part, (Ref, Tuple, RangeOf)):
        nested = exprs(lx, part, node)
        if isinstance(nested, (list, tuple)) and not nested:
            return lx.b.let("full", 0, dims=(Dim(0),), dtype="int64").op
    op = lx.operand(part, node)
    if op.type.is_float:
        message = f"an index must be an integer, a truth value or a slice, not {op.type}"
        raise lx.error("T207", message, node, "convert it with int(...) or .astype(int)")
    return op


def consumes(part: Any) -> int:
    """How many axes an item covers."""
    if isinstance(part, Static):
        return 0
    if isinstance(part, SliceOf):
        return 1
    return len(part.type.dims) if part.type.is_bool else 1


def kind(part: Any) -> str:
    """What an item of a subscript is."""
    if isinstance(part, Static):
        return "newaxis" if part.value is None else "dots" if part.value is Ellipsis else "other"
    if isinstance(part, SliceOf):
        return "slice"
    if part.type.is_bool:
        return "mask" if part.type.dims else "truth"
    return "gather" if part.type.dims else "point"
