"""How a primitive of arrays becomes loops and calls: the kinds of which `transpile.lower` has one rule each.

What two primitives of a kind differ in stands in their records, so that a rule need not know which of them it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.ops.traits import Relation


@dataclass(frozen=True)
class LoweringKind:
    """A kind; a record has one, or `NOT_LOWERED`."""


class NotLowered(LoweringKind):
    """Other transforms, or printed text alone, know what it is: whoever compiles it refuses it."""


class Part(LoweringKind):
    """A part of the language itself: the walk over statements knows it."""


NOT_LOWERED = NotLowered()


# --------------------------------------------------------------------------------------------- elements, numbers


class Elementwise(LoweringKind):
    """One operation on numbers an element."""


class Cast(LoweringKind):
    """Each element in another dtype."""


class Same(LoweringKind):
    """The elements of its operand."""


class Filled(LoweringKind):
    """Its operand everywhere."""


class Unwritten(LoweringKind):
    """Memory that nobody has written."""


class Counted(LoweringKind):
    """Numbers a step apart from a start, up to an end: as `np.arange` has them."""


class Spaced(LoweringKind):
    """So many numbers between two: as `np.linspace` has them."""


@dataclass(frozen=True)
class Band(LoweringKind):
    """A matrix of 1 where ``relation`` holds of the column and of the row and ``params["k"]`` together, of 0 elsewhere."""

    relation: Relation


# ------------------------------------------------------------------------------------------- the operand's elements


class Broadcast(LoweringKind):
    """In sizes of which its own are the last, or 1."""


class Stretched(LoweringKind):
    """The last entry of an axis stands for all that follow."""


class Transposed(LoweringKind):
    """Axes in another order."""


class Reshaped(LoweringKind):
    """The same memory in other sizes."""


class Subscripted(LoweringKind):
    """The elements of a place."""


class TakenAlong(LoweringKind):
    """Along one axis those that an array of integers says."""


@dataclass(frozen=True)
class Joined(LoweringKind):
    """One behind the other, along an axis that they have or along a ``new_axis``."""

    new_axis: bool = False


class Reversed(LoweringKind):
    """Axes from their end."""


class Rotated(LoweringKind):
    """Axes so many places further, what leaves at the end comes in at the start."""


class Tiled(LoweringKind):
    """Axes again and again."""


class Repeated(LoweringKind):
    """Each entry of an axis so many times."""


class Padded(LoweringKind):
    """Numbers around it, as ``params["mode"]`` says."""


@dataclass(frozen=True)
class Triangle(LoweringKind):
    """Where ``relation`` holds of the column and of the row and ``params["k"]`` together; 0 elsewhere."""

    relation: Relation


class Diagonal(LoweringKind):
    """A diagonal of two axes, as the last one."""


class DiagonalMatrix(LoweringKind):
    """A matrix of zeros but for a diagonal."""


# --------------------------------------------------------------------------------------------------------- folds


class Fold(LoweringKind):
    """The fold of axes by the primitive that the record says (``fold``)."""


class Scan(LoweringKind):
    """Each element the fold of those up to it."""


@dataclass(frozen=True)
class Sum(LoweringKind):
    """The sum over axes of what each element contributes: itself, the ``square`` of it, whether it is not 0 (``truth``), itself
    where it is a ``number`` and not NaN. ``centred``: about the mean. ``mean``: divided by how many contribute; ``root``: the root
    of it."""

    of: str = ""
    centred: bool = False
    mean: bool = False
    root: bool = False


class DiagonalSum(LoweringKind):
    """The sum of the diagonal of a matrix."""


class OperandSum(LoweringKind):
    """The sum of its operands, which are numbers."""


class Position(LoweringKind):
    """Where the fold along an axis, or of all, found its result first."""


# ------------------------------------------------------------------------------------------------------ products


@dataclass(frozen=True)
class Contraction(LoweringKind):
    """A product of arrays, summed: ``letters(ranks, params)`` are the axes as `np.einsum` writes them. ``in_loops``: no call of
    BLAS is it."""

    letters: Callable[[Sequence[int], Mapping[str, Any]], str]
    in_loops: bool = False


class CrossProduct(LoweringKind):
    """Of vectors of 3 along the last axis."""


@dataclass(frozen=True)
class Convolution(LoweringKind):
    """Of two vectors; with the second one from its end if ``reversed``."""

    reversed: bool = False


# ---------------------------------------------------------------------------------------- calls of the runtime


class Rows(LoweringKind):
    """A call for all rows along an axis."""


@dataclass(frozen=True)
class CallEach(LoweringKind):
    """A call for each element of operand ``of``; it takes the other ones whole, in memory of these ``names``, ``ordered`` before
    that if it looks for what they hold."""

    names: tuple[str, ...]
    of: int = 0
    ordered: bool = False


@dataclass(frozen=True)
class CallWhole(LoweringKind):
    """A call that takes vectors and gives a new one: operands that are arrays in these ``dtypes`` ("": their own), under these
    ``names``, then those that are numbers, and the size ``params[size]``."""

    dtypes: tuple[str, ...]
    names: tuple[str, ...] = ("", "")
    size: str = ""


class LexicalOrder(LoweringKind):
    """The order by several keys, the last one first: a stable sort for each."""


class Unique(LoweringKind):
    """The values without those that are there already, and what else ``params`` ask for."""


class NonZero(LoweringKind):
    """Where elements are not 0: an array of places an axis."""


class Unravelled(LoweringKind):
    """The index on each axis of places in C order."""


class Matrices(LoweringKind):
    """A call for each matrix of a stack, for one result or several."""


@dataclass(frozen=True)
class System(LoweringKind):
    """A system of equations for each matrix of a stack. ``numbers``: the params that the call takes as floats, with what it gets
    where that is None."""

    numbers: tuple[tuple[str, float], ...] = ()


class Draw(LoweringKind):
    """Numbers of a key, each by its place."""


class SplitKeys(LoweringKind):
    """New keys of a key, each by its place."""


class FoldedIn(LoweringKind):
    """A new key of a key and an integer."""


class ShapedDraw(LoweringKind):
    """Numbers of a key, each by its place and operands of the shape of the draw."""


BY_KIND: Mapping[str, LoweringKind] = {
    "elementwise": Elementwise(),
    "fold": Fold(),
    "scan": Scan(),
    "rows": Rows(),
    "matrix": Matrices(),
    "draw": Draw(),
    "collective": NOT_LOWERED,
}
"""That of a record whose kind says it."""
