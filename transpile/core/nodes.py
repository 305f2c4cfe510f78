"""The nodes of the core language.

Values are assigned once. Buffers are the only memory that may be written; a read of a buffer (prim ``index``) is a
snapshot: what the buffer held when the statement ran. Loops and branches list what they carry, and only values are
carried: a buffer that a loop rebinds (``u, v = v, u``) is carried as a value and copied into a fresh buffer in the body,
a copy that `render` elides where nobody can tell.

Operands are `Var`, `Const` or `Undef`. Every statement lists its operands in tuples, so that substitution, liveness and
cloning need no knowledge of single nodes: see `transpile.core.walk`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from transpile.base.loc import NOWHERE, Loc
from transpile.base.zeros import are_one
from transpile.core.dims import Dim
from transpile.core.taken import Taken
from transpile.core.types import Type

NOTHING = Taken()
SYNTHETIC = ""  # the name of a value that the user gave none


class Var:
    """A value, assigned once; or, with ``buffer``, memory that may be written. Compared by identity."""

    __slots__ = ("buffer", "name", "type")

    def __init__(self, name: str, type: Type, buffer: bool = False) -> None:
        self.name = name  # the name that the renderer gives if it can: the user's own, or `SYNTHETIC`
        self.type = type
        self.buffer = buffer

    @property
    def label(self) -> str:
        """The name, or what stands for none: a part of other names."""
        return self.name or "t"

    def __repr__(self) -> str:
        return f"<{self.label}: {self.type}>"


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal: a Python bool, int or float, or a static object such as a dtype in ``params``. Zero and minus zero are two."""

    value: Any
    type: Type

    if not TYPE_CHECKING:  # for mypy an operand that is in a dict of variables would no longer be one

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Const) and self.type == other.type and are_one(self.value, other.value)

        def __hash__(self) -> int:
            return hash((self.value, self.type))


@dataclass(frozen=True, slots=True)
class Undef:
    """No value: the other branch did not define it, or the loop has not run yet. Never read."""

    type: Type


Operand = Var | Const | Undef


def is_literal(op: Operand, value: object) -> bool:
    return isinstance(op, Const) and op.value == value


# ---------------------------------------------------------------------------------------------------- places


@dataclass(frozen=True, slots=True)
class Point:
    """An integer scalar index; ``arg`` is the slot of the operand."""

    arg: int


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``; slots of integer operands, or None where not given."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    @property
    def is_full(self) -> bool:
        return self.start is None and self.stop is None and self.step is None


@dataclass(frozen=True, slots=True)
class NewAxis:
    """``None`` in an index."""


@dataclass(frozen=True, slots=True)
class Gather:
    """An integer array index (any rank); several in one `Index` broadcast together as NumPy does."""

    arg: int


@dataclass(frozen=True, slots=True)
class Mask:
    """A boolean array index; it covers as many axes as it has."""

    arg: int


Item = Point | Slice | NewAxis | Gather | Mask


@dataclass(frozen=True, slots=True)
class Index:
    """One subscript as NumPy means it; the ellipsis is spelled out and every axis has an item."""

    items: tuple[Item, ...]

    @property
    def is_basic(self) -> bool:
        """Whether NumPy gives a view for it."""
        return not any(isinstance(i, (Gather, Mask)) for i in self.items)


@dataclass(frozen=True, slots=True)
class Permute:
    """``transpose(axes)``."""

    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """A reshape that is known to be a view (of contiguous memory); the operands are the sizes."""

    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagonal:
    """The diagonal of the last two axes (``np.einsum('...ii->...i', x)``), as a place."""


Step = Index | Permute | Reshape | Diagonal
Path = tuple[Step, ...]  # the empty path is the whole buffer


# ------------------------------------------------------------------------------------------------ statements


@dataclass(slots=True)
class Let:
    """``var = prim(args)``; pure. ``params`` is static: an axis, a path, symbolic dims.

    ``reason``, here and of other statements: why a transform has put it there, or left it (`transpile.core.reasons`).
    """

    var: Var
    prim: str
    args: tuple[Operand, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    loc: Loc = NOWHERE
    reason: str = ""


@dataclass(slots=True)
class View(Let):
    """Of the loop dialect: ``var`` is another name of memory, as ``step`` leads to it from the first of ``args``.

    The step is an `Index` of points and slices of step 1, a `Permute` or a `Reshape`; its slots count the other ``args``.
    """

    step: Step = field(kw_only=True)

    @property
    def base(self) -> Operand:
        """The memory that it is a view of."""
        return self.args[0]

    @property
    def items(self) -> tuple[Item, ...]:
        """Of an index: what it takes of each axis of the base."""
        assert isinstance(self.step, Index)
        return (*self.step.items, *(Slice(),) * (self.base.type.rank - len(self.step.items)))


def view(var: Var, base: Operand, step: Step, args: tuple[Operand, ...] = (), loc: Loc = NOWHERE) -> View:
    return View(var, "view", (base, *args), {}, loc, step=step)


def reshape(rank: int) -> Reshape:
    """To sizes that are all the operands."""
    return Reshape(tuple(range(rank)))


Space = Literal["heap", "frame"]


@dataclass(slots=True)
class Alloc:
    """``var`` (a buffer) is new memory that holds ``prim(args)``: ``copy``, ``full``, ``empty_like``, any prim.

    ``space``: where it lies. Memory of the "frame" is gone when the function returns; its sizes are numbers.
    """

    var: Var
    prim: str
    args: tuple[Operand, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    loc: Loc = NOWHERE
    reason: str = ""
    space: Space = "heap"


@dataclass(slots=True)
class Store:
    """``buf[path] = value``; ``args`` are the operands of the path. With repeated indices the last writer wins.

    ``value`` has exactly the type of the place (dims and dtype).
    """

    buf: Var
    path: Path
    args: tuple[Operand, ...]
    value: Operand
    loc: Loc = NOWHERE


@dataclass(slots=True)
class Add:
    """``buf[path] += value``; with repeated indices all count."""

    buf: Var
    path: Path
    args: tuple[Operand, ...]
    value: Operand
    loc: Loc = NOWHERE


@dataclass(slots=True)
class PacketRead:
    """Of the loop dialect: ``var``, a packet, is what its lanes read of ``buf``.

    Of subscripts that are numbers, they read elements that lie one after the other on the last axis, from there on; where one is a
    packet, each lane reads at its own. A lane that ``mask`` leaves out reads nothing, and holds 0.
    """

    var: Var
    buf: Var
    args: tuple[Operand, ...]
    mask: Operand | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class PacketStore:
    """Of the loop dialect: the lanes of ``value`` are written where a `PacketRead` would read; the last of two at a place wins."""

    buf: Var
    args: tuple[Operand, ...]
    value: Operand
    mask: Operand | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class Block:
    """Statements with parameters (what comes in) and yields (what goes out). ``stop``: in the body of a loop, a boolean
    operand that ends the loop after this trip."""

    params: tuple[Var, ...] = ()
    stmts: list[Stmt] = field(default_factory=list)
    yields: tuple[Operand, ...] = ()
    stop: Operand | None = None


@dataclass(slots=True)
class If:
    """``results = then.yields if test else orelse.yields``."""

    test: Operand
    then: Block
    orelse: Block
    results: tuple[Var, ...] = ()
    loc: Loc = NOWHERE


LoopKind = Literal["serial", "parallel", "vector"]
JOINED = "joined"  # the function of vectors that folds what many trips ask: whether one of them holds


@dataclass(slots=True)
class For:
    """``index`` runs over ``range(start, bound, step)``, or over the same numbers from last to first (``backwards``).

    ``body.params`` are the carried values, set by ``inits`` and then by ``body.yields``; ``results`` are their last
    values. ``trips``, if wanted, is the number of times the body ran (it differs from the range's length where
    ``body.stop`` is set). ``step`` is a nonzero integer; not a constant only if the user's was not. ``lanes``: a region of
    `transpile.transform.batching`, whose trips are lanes and carry nothing but, in a reverse sweep, sums.

    ``kind``: the trips of a "parallel" loop run on several threads, those of a "vector" loop are the lanes of vectors. Both count
    up by 1, a parallel one from 0. What a vector loop carries is only combined with something in each trip, by the primitives of
    ``combiners``, one for each value that is carried; a parallel loop carries nothing. ``width``: how many trips of a serial loop
    are one vector, where that is known: 1 of a loop that is too short for any. The others need not count from 0: a check names
    the first index that is out of range, and the text has the user's ends.

    ``symbol``: what stands for the index in the dims of the body's types, if anything does.
    """

    index: Var
    start: Operand
    bound: Operand
    step: Operand
    inits: tuple[Operand, ...]
    body: Block
    results: tuple[Var, ...] = ()
    trips: Var | None = None
    backwards: bool = False
    loc: Loc = NOWHERE
    lanes: bool = False
    kind: LoopKind = "serial"
    combiners: tuple[str, ...] = ()
    width: int | None = None
    reason: str = ""
    symbol: Dim | None = None


@dataclass(slots=True)
class While:
    """``while test``: ``test`` is a block of its own parameters that yields one boolean; ``body`` as in `For`."""

    inits: tuple[Operand, ...]
    test: Block
    body: Block
    results: tuple[Var, ...] = ()
    trips: Var | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class NewStack:
    """``var`` is an empty stack; its type's dtype and dims are those of the elements."""

    var: Var
    loc: Loc = NOWHERE
    reason: str = ""


@dataclass(slots=True)
class Push:
    """``stack.append(value)``; an array is pushed as a snapshot."""

    stack: Var
    value: Operand
    loc: Loc = NOWHERE


@dataclass(slots=True)
class Pop:
    """``var = stack.pop()``."""

    var: Var
    stack: Var
    loc: Loc = NOWHERE


Parts = tuple[Any, ...]
"""A message: text and slots of operands (ints, or ``(int, conversion, format)``); of lowered code also the user's line."""


@dataclass(slots=True)
class Effect:
    """What is ordered, never repeated, never removed: `Print`, `Raise`; and, of the loop dialect alone, `Check`, `BoundsCheck`."""

    loc: Loc = field(default=NOWHERE, kw_only=True)


@dataclass(slots=True)
class Print(Effect):
    """``print(...)``; ``parts`` has a message an argument. ``dtypes``: of a lowered one, those of numbers that are not Python's."""

    args: tuple[Operand, ...]
    parts: tuple[Parts, ...]
    sep: str = " "
    end: str = "\n"
    dtypes: tuple[str | None, ...] = ()


@dataclass(slots=True)
class Breakpoint(Print):
    """``breakpoint()``, which stops where a print would print."""


@dataclass(slots=True)
class Raise(Effect):
    """``raise exception(message)``.

    ``is_check``: it is not the user's, but a check. ``sizes_at``: of a check that sizes, its operands, agree, the place that its
    message begins with. ``lanes``: how many of the last operands are numbers of lanes, with which the message ends: the innermost
    comes first. ``dtypes``: as in `Print`.
    """

    args: tuple[Operand, ...]
    exception: str
    parts: Parts = ()
    is_check: bool = False
    sizes_at: str | None = None
    lanes: int = 0
    dtypes: tuple[str | None, ...] = ()


@dataclass(slots=True)
class Check(Effect):
    """Raises where ``test`` is true: a number does not fit."""

    test: Operand
    exception: str
    parts: Parts


@dataclass(slots=True)
class BoundsCheck(Effect):
    """Raises where ``at`` is not below ``size`` or, with ``low``, is below 0; only asked where ``guard`` holds, if there is one.

    The message names what was ``given``: slot 0, the size being slot 1.
    """

    at: Operand
    size: Operand
    given: Operand
    low: bool
    exception: str
    parts: Parts
    guard: Operand | None = None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What it reads."""
        return (self.at, self.size, self.given, *(() if self.guard is None else (self.guard,)))


@dataclass(slots=True)
class Custom:
    """A function with a derivative of the user's own (`transpile.transform.custom_rules`).

    ``rule`` is "jvp" or "vjp". For "jvp", ``derivative`` takes the arguments and a tangent for each floating-point one and gives
    the results and a tangent for each floating-point one. For "vjp", ``fn`` gives the results and then what the pullback wants to
    know (the call has those results too), and ``derivative`` takes those and a cotangent for each floating-point result and gives
    an adjoint for each floating-point argument. For "implicit" the call stays what gives the results: ``derivative`` takes the
    arguments, the ``outputs`` and a tangent for each floating-point argument, and gives one for each floating-point output;
    ``pullback``, if there is one, takes a cotangent for each of these instead, and gives the adjoints of the arguments (else the
    derivative is transposed). For "linear" (`transpile.transform.linear_rules`) the outputs solve an equation whose right-hand
    side is the first arguments, as many: ``derivative`` takes the arguments and the outputs, and gives the left-hand side, linear
    in the outputs; ``pullback``, if there is one, takes the arguments of a solution of the transposed equation, and gives it; of a
    ``symmetric`` equation it is ``fn``. "refused" has a rule that cannot be had: ``refusal`` says why, where a derivative is asked
    for. "again" is the call, in the rule of a function, of the function itself: its rule is that of the call around it.
    `expand_calls` puts the bodies in the place of what is left.
    """

    fn: Function
    rule: str
    derivative: Function
    outputs: int  # how many of the results are those of the user's function
    pullback: Function | None = None
    calls_itself: bool = False  # whether its own rule calls the function
    given: int | None = None  # how many of the arguments the user gives; what follows is read around the function
    symmetric: bool = False
    refusal: Exception | None = None
    again: bool = False  # whether it stands in its own rule, or its rule holds such a call


@dataclass(frozen=True, slots=True)
class Library:
    """A function of `transpile_runtime.compiled`, by its module and name. Of the loop dialect."""

    name: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A lowered function of the program, by its name there. Of the loop dialect."""

    name: str


class Routine:
    """A function of array core that is kept, since it calls itself (`transpile.core.functions`). Compared by identity.

    It is known by its signature before its body is there: ``fn`` is None while that is being made.
    """

    __slots__ = ("derivatives", "fn", "name", "origin", "params", "results")

    def __init__(self, name: str, params: Sequence[Var] = (), results: Sequence[Type] = ()) -> None:
        self.name = name
        self.params = tuple(
            params
        )  # the sizes in their types are symbols, in terms of which those of the results may be
        self.results = tuple(results)
        self.fn: Function | None = None
        self.derivatives: dict[Any, Routine] = {}  # what was asked for -> the routine
        self.origin: tuple[Routine, Any] | None = None  # of a derivative: whose it is, and what was asked for

    def __str__(self) -> str:
        return self.name

    @property
    def body(self) -> Function:
        assert self.fn is not None, f"{self.name} has no body yet"
        return self.fn


@dataclass(slots=True)
class Call:
    """``results = function(args)``. ``written``: the slots of the arguments that it fills.

    That of a routine computes values, as a *let* does: it writes nothing that is seen outside, and its results have memory of
    their own.
    """

    function: Custom | Routine | Library | Kept
    args: tuple[Operand, ...]
    results: tuple[Var, ...]
    written: tuple[int, ...] = ()
    loc: Loc = NOWHERE
    reason: str = ""

    @property
    def custom(self) -> Custom:
        """The function with a derivative of the user's own."""
        assert isinstance(self.function, Custom)
        return self.function

    @property
    def routine(self) -> Routine:
        """The kept function of array core."""
        assert isinstance(self.function, Routine)
        return self.function

    @property
    def var(self) -> Var:
        """The only result."""
        (found,) = self.results
        return found

    @property
    def library(self) -> str:
        """The name of a function of the runtime; empty for others."""
        return self.function.name if isinstance(self.function, Library) else ""


Stmt = Let | Alloc | Store | Add | If | For | While | NewStack | Push | Pop | Effect | Call | PacketRead | PacketStore


# -------------------------------------------------------------------------------------------------- functions


@dataclass(slots=True)
class Function:
    """A core function: leaves in, leaves out.

    ``body.yields`` are the results, each with memory of its own when the function returns. ``symbols`` gives for each
    symbol in the dims of its types the integer operand that holds its value: a parameter's dimension is a ``dim`` *let* at
    the top of the body (removed as dead where nothing needs it). A parameter with ``buffer`` is written in place, and
    the caller sees it.

    ``arg_tree`` says how the parameters are found in the Python arguments, ``out_tree`` how the results are put together
    (`transpile.aggregates`); ``static`` maps the names of arguments that are not leaves to what they were.
    """

    name: str
    params: tuple[Var, ...]
    body: Block
    symbols: dict[str, Operand]
    loc: Loc = NOWHERE
    arg_tree: Any = None
    out_tree: Any = None
    doc: str = ""
    captured: tuple[Any, ...] = ()  # one entry a hidden parameter (the last ones): how to read it at each call
    errstate: tuple[tuple[str, str], ...] = ()  # what the user's `with np.errstate(...)` asked for
    taken: Taken = NOTHING  # what the example decided of sizes: a call for which it is not so is lifted anew
    routine: Routine | None = None  # the kept function that it is, if it is one
