"""Abstract values: what an expression of the user's program is while it is lifted.

Numbers and arrays are core operands; all else is known now. `Scalar` is immutable and holds its operand; `Array` names a
*cell*, so that two names for one array see each other's writes; `Ref` names a cell that holds a list, a dict or an
instance. What a cell holds is a state (see `transpile.frontend.values.memory`), kept outside it so that branches can fork it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from transpile.base.zeros import are_one
from transpile.core import nodes as ir
from transpile.core.types import Type
from transpile.frontend.resolve.bindings import Known, User


class Cell:
    """The identity of an array or of a mutable container. ``contiguous``: known to be in C order (reshapes are views)."""

    __slots__ = ("appended", "contiguous", "flat", "mixed", "name", "param", "readonly")

    def __init__(self, name: str = "", contiguous: bool = False, readonly: str = "", param: int = -1) -> None:
        self.name = name
        self.contiguous = contiguous
        self.readonly = readonly  # why it must not be written, or ""
        self.param = param  # the number of the parameter that it is
        self.appended = False  # whether it stands in a list that grows in a loop
        self.flat = False  # x.flat: parts of it are copies
        self.mixed = False  # an array of rank 0 on one path, a number on another

    def __repr__(self) -> str:
        return f"<cell {self.name or hex(id(self))[-5:]}>"


# ------------------------------------------------------------------------------------------ what cells hold


@dataclass(frozen=True, slots=True)
class Held:
    """An array that nothing has written into: a value."""

    op: ir.Operand

    @property
    def type(self) -> Type:
        return self.op.type


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array that is written; ``snapshot`` is a read of the whole of it that still holds."""

    var: ir.Var
    snapshot: ir.Operand | None = None

    @property
    def type(self) -> Type:
        return self.var.type


@dataclass(frozen=True, slots=True)
class View:
    """A part of another cell (never itself a view). ``memo`` are reads that still hold: (what was read, the result)."""

    base: Cell
    path: ir.Path
    args: tuple[ir.Operand, ...]
    type: Type
    memo: tuple[ir.Operand, ir.Operand] | None = None


@dataclass(frozen=True, slots=True)
class Derived:
    """A view that is no place and may not be written: ``again(op)`` computes it from what ``source`` holds. ``memo`` as in
    `View`."""

    source: Cell
    again: Callable[[ir.Operand], ir.Operand]
    type: Type
    memo: tuple[ir.Operand, ir.Operand] | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """A list (keys is None), a dict, the fields of an instance of ``cls``, or the number in an array of rank 0."""

    kind: str  # list, dict, instance, grown, number; conflict: it cannot be read
    items: tuple[Any, ...]
    keys: tuple[Any, ...] | None = None
    cls: Any = None

    @property
    def op(self) -> ir.Operand:
        """Of an array of rank 0: what it holds."""
        return self.items[0].op

    @property
    def type(self) -> Type:
        return self.items[0].op.type


# ---------------------------------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or truth value."""

    op: ir.Operand

    @property
    def type(self) -> Type:
        return self.op.type


@dataclass(frozen=True, slots=True)
class Array:
    """An array. One of rank 0 that is no view is a cell that holds a number, carried and joined like the items of a list."""

    cell: Cell


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """Something that is known now: None, a string, a callable, a module, a dtype, a slice, a flag."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        if self.value is other.value:
            return True
        same = type(self.value) is type(other.value)
        if isinstance(self.value, User):  # each look-up of a name makes one
            return same and self.value.target is other.value.target
        return (
            same
            and isinstance(self.value, (str, bytes, int, float, tuple, frozenset, set, Known))
            and are_one(self.value, other.value)
        )

    def __hash__(self) -> int:
        return id(type(self.value))


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple, or a named tuple of class ``cls``."""

    items: tuple[Any, ...]
    cls: Any = None


@dataclass(frozen=True, slots=True)
class Ref:
    """A list, dict or instance: see `Items`."""

    cell: Cell


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function of the user's: its definition, the frame that it was defined in, and the values of its defaults."""

    code: Any  # transpile.frontend.sources.sources.Code
    frame: Any = None
    defaults: tuple[Any, ...] = ()
    kw_defaults: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bound:
    """A function with some arguments given: a method with its object, a ``functools.partial``."""

    function: Any
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Super:
    """``super()`` in a method of ``cls`` that runs for ``owner``."""

    cls: Any
    owner: Any


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an array or container of ours, not called yet."""

    owner: Any
    name: str


@dataclass(frozen=True, slots=True)
class RangeOf:
    """``range(start, stop, step)``."""

    start: ir.Operand
    stop: ir.Operand
    step: ir.Operand


@dataclass(frozen=True, slots=True)
class Iteration:
    """``zip``, ``enumerate``, ``reversed``, ``map``, ``product``: what is iterated together."""

    kind: str
    parts: tuple[Any, ...]
    cell: Cell | None = None  # of an iterator: who used it


@dataclass(frozen=True, slots=True, eq=False)
class Generator:
    """A generator expression, not run yet: its node, the frame that it stands in, and what it runs over, which is found where it
    is made."""

    node: Any
    frame: Any
    first: Any
    cell: Cell | None = None  # who used it


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A string with values in it that only the run knows: see `transpile.core.nodes.Parts`."""

    parts: tuple[Any, ...]
    ops: tuple[ir.Operand, ...]


@dataclass(frozen=True, slots=True)
class SliceOf:
    """``start:stop:step`` in a subscript; parts are values or None."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, slots=True)
class Updates:
    """``x.at``, and with an index ``x.at[index]``: see `transpile.at`."""

    owner: Array
    index: Any = None


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value that some path leaves unassigned. ``flag()`` is an operand that says whether it is assigned."""

    value: Any
    flag: Any
    why: str = "a branch"


@dataclass(frozen=True, slots=True)
class Conflict:
    """What two paths leave so different that it cannot be read: the diagnostic that a read gives."""

    code: str
    message: str
    hint: str = ""


NONE = Static(None)


def is_weak_const(op: ir.Operand) -> bool:
    """Whether an operand is a literal of Python."""
    return isinstance(op, ir.Const) and op.type.weak
