"""How an array primitive becomes loops and calls: the kinds for which `transpile.lower` has one rule each.

The record of a primitive holds the parameters that differ within a kind, so that a rule need not know which primitive it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.ops.traits import Relation


@dataclass(frozen=True)
class LoweringKind:
    """A kind of lowering; each record has one, or `NOT_LOWERED`."""


class NotLowered(LoweringKind):
    """Not compiled: only other transforms or the printer handle the primitive, and lowering refuses it."""


class Part(LoweringKind):
    """A part of the language itself, handled by the walk over statements."""


NOT_LOWERED = NotLowered()


# --------------------------------------------------------------------------------------------- elements, numbers


class Elementwise(LoweringKind):
    """One scalar operation for each element."""


class Cast(LoweringKind):
    """Each element converted to another dtype."""


class Same(LoweringKind):
    """The elements of the operand, unchanged."""


class Filled(LoweringKind):
    """The operand, a number, in every element."""


class Unwritten(LoweringKind):
    """Uninitialised memory."""


class Counted(LoweringKind):
    """Numbers at a constant step, from a start up to an end, as in `np.arange`."""


class Spaced(LoweringKind):
    """A given number of points between two ends, as in `np.linspace`."""


@dataclass(frozen=True)
class Band(LoweringKind):
    """A matrix that is 1 where ``relation`` holds between the column and the row plus ``params["k"]``, and 0 elsewhere."""

    relation: Relation


# ------------------------------------------------------------------------------------------- the operand's elements


class Broadcast(LoweringKind):
    """The operand broadcast to larger sizes, by NumPy's rule."""


class Stretched(LoweringKind):
    """The operand with one axis broadcast if its size is 1 at run time: indices beyond the end read the last element."""


class Transposed(LoweringKind):
    """The operand with permuted axes."""


class Reshaped(LoweringKind):
    """The same memory with other sizes."""


class Subscripted(LoweringKind):
    """The elements that a path of subscripts selects."""


class TakenAlong(LoweringKind):
    """The elements that an integer array selects along one axis (`np.take_along_axis`)."""


@dataclass(frozen=True)
class Joined(LoweringKind):
    """Operands one after the other, along an axis that they have, or along a ``new_axis``."""

    new_axis: bool = False


class Reversed(LoweringKind):
    """Axes in reverse order."""


class Rotated(LoweringKind):
    """Axes shifted cyclically (`np.roll`)."""


class Tiled(LoweringKind):
    """Axes repeated as a whole (`np.tile`)."""


class Repeated(LoweringKind):
    """Each entry of an axis repeated (`np.repeat`)."""


class Padded(LoweringKind):
    """The operand with elements added at both ends of its axes, as ``params["mode"]`` says (`np.pad`)."""


@dataclass(frozen=True)
class Triangle(LoweringKind):
    """The operand where ``relation`` holds between the column and the row plus ``params["k"]``, and 0 elsewhere."""

    relation: Relation


class Diagonal(LoweringKind):
    """A diagonal of two axes, as the last axis of the result."""


class DiagonalMatrix(LoweringKind):
    """A matrix with the operand on a diagonal and zeros elsewhere."""


# --------------------------------------------------------------------------------------------------------- folds


class Fold(LoweringKind):
    """Axes folded with the primitive that the record names (``fold``)."""


class Scan(LoweringKind):
    """Each element the fold of the elements up to it."""


@dataclass(frozen=True)
class Sum(LoweringKind):
    """A sum over axes of one term for each element: the element (``of`` is ""), its ``square``, its ``truth`` (whether it is
    not 0), or the ``number`` (0 for NaN). ``centred``: the mean is subtracted first. ``mean``: the sum is divided by the number
    of terms. ``root``: the square root is taken at the end."""

    of: str = ""
    centred: bool = False
    mean: bool = False
    root: bool = False


class DiagonalSum(LoweringKind):
    """The sum of the diagonal of a matrix."""


class OperandSum(LoweringKind):
    """The sum of the operands, which are numbers."""


class Position(LoweringKind):
    """The index at which a fold, along one axis or over all elements, first attains its result."""


# ------------------------------------------------------------------------------------------------------ products


@dataclass(frozen=True)
class Contraction(LoweringKind):
    """A sum of products of arrays; ``letters(ranks, params)`` gives its axes as `np.einsum` writes them. ``in_loops``: it
    always becomes loops, never a call of BLAS."""

    letters: Callable[[Sequence[int], Mapping[str, Any]], str]
    in_loops: bool = False


class CrossProduct(LoweringKind):
    """Cross products of vectors of length 3 along the last axis."""


@dataclass(frozen=True)
class Convolution(LoweringKind):
    """The convolution of two vectors; with the second one reversed if ``reversed``."""

    reversed: bool = False


# ---------------------------------------------------------------------------------------- calls of the runtime


class Rows(LoweringKind):
    """One call for all rows along an axis."""


@dataclass(frozen=True)
class CallEach(LoweringKind):
    """One call for each element of operand ``of``. The call gets the other operands whole, in buffers of these ``names``,
    sorted first if ``ordered``."""

    names: tuple[str, ...]
    of: int = 0
    ordered: bool = False


@dataclass(frozen=True)
class CallWhole(LoweringKind):
    """One call that takes vectors and returns a new one. It gets the array operands, in these ``dtypes`` ("": their own) and in
    buffers of these ``names``, then the operands that are numbers, then the size ``params[size]``."""

    dtypes: tuple[str, ...]
    names: tuple[str, ...] = ("", "")
    size: str = ""


class LexicalOrder(LoweringKind):
    """The permutation that sorts by several keys, the last one first: one stable sort for each key."""


class Unique(LoweringKind):
    """The sorted values without duplicates, and the further results that ``params`` ask for."""


class NonZero(LoweringKind):
    """The indices of the elements that are not 0: one array for each axis."""


class Unravelled(LoweringKind):
    """The index on each axis of positions in C order (`np.unravel_index`)."""


class Matrices(LoweringKind):
    """One call for each matrix of a stack, with one or several results."""


@dataclass(frozen=True)
class System(LoweringKind):
    """A linear system for each matrix of a stack. ``numbers``: the params that the call takes as floats, each with the value
    passed for None."""

    numbers: tuple[tuple[str, float], ...] = ()


class Draw(LoweringKind):
    """Random numbers of a key, each a function of the key and its position."""


class SplitKeys(LoweringKind):
    """New keys from a key, each a function of the key and its position."""


class FoldedIn(LoweringKind):
    """A new key from a key and an integer."""


class ShapedDraw(LoweringKind):
    """Random numbers of a key, each a function of the key, its position, and the elements there of further operands."""


BY_KIND: Mapping[str, LoweringKind] = {
    "elementwise": Elementwise(),
    "fold": Fold(),
    "scan": Scan(),
    "rows": Rows(),
    "matrix": Matrices(),
    "draw": Draw(),
    "collective": NOT_LOWERED,
}
"""The lowering of a record that names none, by the kind of the record."""
