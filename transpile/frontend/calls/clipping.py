"""What of a subscript lies in the array, where what is out of range is no error: of ``x.at[index]``.

Numbers and arrays of numbers may be out of range; slices and masks never are. A loop's index that is known to be in range is not
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.dims import Dim
from transpile.core.places import is_nonnegative
from transpile.core.types import INT
from transpile.frontend.lifter import Lifter
from transpile.frontend.values import memory
from transpile.frontend.values.subscript_items import consumes, expanded, is_ellipsis, kind
from transpile.frontend.values.values import Array, SliceOf, Static, Tuple


@dataclass
class Place:
    """A subscript with an item for each axis, as it is (``index``) and within the array (``clipped``).

    ``inside`` says what is in range: None where that is known, False where nothing is, else a truth value or, of arrays, which have
    one shape, an array of them. ``is_array`` says which items are arrays, ``axis`` where their axes stand in the part, and
    ``behind`` how many others it has behind them. ``lead`` is the step to what it is a place in, if that is not the array itself.
    """

    index: Tuple
    clipped: Tuple
    inside: Any
    is_array: Tuple
    axis: int = 0
    behind: int = 0
    lead: ir.Path = ()

    def within(self, lx: Lifter, owner: Array) -> Array:
        """What of an array it is a place in: the array, or a view of it."""
        return memory.part(lx, owner.cell, self.lead) if self.lead else owner

    @property
    def has_arrays(self) -> bool:
        return any(item.op.value for item in self.is_array.items)


def place(lx: Lifter, dims: tuple[Dim, ...], index: Any, wraps: bool, node: Any) -> Place:
    """The place that a subscript means in an array of these sizes."""
    maker = _Maker(lx, wraps, node)
    found = expanded(lx, dims, index, node)
    kinds = [kind(p) for p in found.parts]
    numbers = any(k in ("gather", "point") for k in kinds)
    axis = 0
    for k, part in enumerate(found.parts):
        if kinds[k] == "mask" and numbers:
            maker.mask(part, found.dims[axis : axis + len(part.type.dims)])
        elif kinds[k] in ("gather", "point") and k not in found.truths:
            maker.number(part, found.dims[axis])
        else:
            maker.other(part)
        axis += consumes(part)
    return maker.done(found.lead)


class _Maker:
    """Collects the items of a place."""

    def __init__(self, lx: Lifter, wraps: bool, node: Any) -> None:
        self.lx, self.wraps, self.node = lx, wraps, node
        self.index: list[Any] = []  # operands, slices and None
        self.clipped: list[Any] = []
        self.tests: list[Expr] = []
        self.is_never = False

    def other(self, part: Any) -> None:
        """A slice, None, or a mask alone."""
        self.index.append(part)
        self.clipped.append(part)

    def mask(self, op: ir.Operand, dims: tuple[Dim, ...]) -> None:
        """A mask beside numbers: the places where it holds."""
        for given, n in zip(op.type.dims, dims):
            if not self.lx.b.same(given, n):
                text = f"a mask of size {given} does not fit an axis of size {n}"
                raise self.lx.error("T207", text, self.node, "make the mask from the array that it indexes")
        found = self.lx.known_call("numpy.nonzero", [self.lx.value(op)], {}, self.node)
        for item in found.items:
            self.other(self.lx.operand(item))

    def number(self, op: ir.Operand, n: Dim) -> None:
        """An integer, or an array of integers."""
        b = self.lx.b
        x = b.expr(op) if op.type.dtype == "int64" else b.cast(op, INT if not op.type.dims else "int64")
        least = Dim(0) - n if self.wraps else Dim(0)
        low, high = self._is_above(x.op, least), self._is_below(x.op, n)
        self.index.append(x.op)
        if False in (low, high):
            self.is_never = True
            self.clipped.append(b.operand(least.const if low is False else n.const - 1))
            return
        if low is None:
            self.tests.append(b.elementwise("less_equal", self._least(n), x))
        if high is None:
            self.tests.append(x < b.dim(n))
        self.clipped.append(self._clipped(x, n, low is None, high is None))

    def _least(self, n: Dim) -> Any:
        """The least number that is in range."""
        return -self.lx.b.dim(n) if self.wraps else 0

    def _clipped(self, x: Expr, n: Dim, low: bool, high: bool) -> ir.Operand:
        b, py = self.lx.b, x.type.weak
        if low and high and not py:
            return b.elementwise("clip", x, self._least(n), b.dim(n - 1)).op
        if low:
            x = b.elementwise("maximum", x, self._least(n), **_PYTHON[py])
        return (b.elementwise("minimum", x, b.dim(n - 1), **_PYTHON[py]) if high else x).op

    def _is_above(self, op: ir.Operand, least: Dim) -> bool | None:
        """Whether a number is at least ``least``; None: only the run knows."""
        if isinstance(op, ir.Const) and op.value == -1 and self.wraps:
            return True  # of an empty array it is an error
        return self._is_order(self.lx.b.form_of(op), least)

    def _is_below(self, op: ir.Operand, n: Dim) -> bool | None:
        if isinstance(op, ir.Const) and op.value == 0:
            return True
        form = self.lx.b.form_of(op)
        return None if form is None else self._is_order(n - 1, form)

    def _is_order(self, high: Dim | None, low: Dim) -> bool | None:
        """Whether ``high`` is at least ``low``."""
        if high is None:
            return None
        symbols = self.lx.symbols
        gap = symbols.resolve(high - low)
        if is_nonnegative(symbols.least(gap)):
            return True
        return False if gap.is_const else None

    def done(self, lead: ir.Path) -> Place:
        """The place, its arrays in one shape."""
        lx, b = self.lx, self.lx.b
        is_array = [_is_array(p) for p in self.index]
        inside: Any = None
        for test in self.tests:
            inside = test if inside is None else inside & test
        if any(is_array):
            self.index, self.clipped = self._met(self.index), self._met(self.clipped)
            # a number beside arrays is looked up wherever they are
            self.index = [p if _is_array(p) else q for p, q in zip(self.index, self.clipped)]
        shape = next((b.expr(p).dims for p in self.index if _is_array(p)), None)
        if self.is_never:
            inside = False
        elif inside is not None and shape is not None:
            inside = b.broadcast(b.stretched(inside, shape), shape)
        found = Place(self._tuple(self.index), self._tuple(self.clipped), inside, Tuple(tuple(map(lx.const, is_array))))
        found.lead = lead
        if shape is not None:
            where = [k for k, p in enumerate(self.index) if not isinstance(p, (SliceOf, Static))]
            others = sum(not is_ellipsis(p) for p in self.index) - len(where)
            found.axis = where[0] if where[-1] - where[0] == len(where) - 1 else 0
            found.behind = others - found.axis
        return found

    def _met(self, items: list[Any]) -> list[Any]:
        """The items with the arrays among them broadcast to one shape."""
        b = self.lx.b
        with self.lx.rules(self.node):
            shape = b.broadcast_dims([p.type.dims for p in items if _is_array(p)])
            return [b.broadcast(b.stretched(b.expr(p), shape), shape).op if _is_array(p) else p for p in items]

    def _tuple(self, items: list[Any]) -> Tuple:
        return Tuple(tuple(p if isinstance(p, (SliceOf, Static)) else self.lx.value(p) for p in items))


_PYTHON: dict[bool, Any] = {True: {"py": True}, False: {}}  # min and max of Python's integers are Python's


def _is_array(item: Any) -> bool:
    """Whether an item is an array of numbers."""
    return isinstance(item, (ir.Var, ir.Const)) and bool(item.type.dims) and not item.type.is_bool
