"""The nodes of the core language.

Every value is assigned once. Only buffers and stacks can be written. The primitive ``index`` reads a buffer and takes a
snapshot: its result is what the buffer held when the statement ran. Loops and branches list the values that they carry; in
array core, a buffer is never carried. A buffer that a loop rebinds (``u, v = v, u``) is carried as a value and copied into a
fresh buffer in the body; for printed code, `transpile.codegen.numpy.copy_elision` removes such copies where no one can tell.

Operands are `Var`, `Const` or `Undef`. `transpile.core.walk` lists the operands, definitions and nested blocks of each kind of
statement, so that substitution, liveness and cloning need no knowledge of single nodes.

There are two dialects, which `transpile.core.verify` checks: *array core* computes with whole arrays, *loop core* with scalars
and elements.
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
SYNTHETIC = ""  # the name of a value that the user did not name


class Var:
    """A value, assigned once; with ``buffer``, memory that may be written. Compared by identity."""

    __slots__ = ("buffer", "name", "type")

    def __init__(self, name: str, type: Type, buffer: bool = False) -> None:
        self.name = name  # the name in printed code if it is free: the user's own, or `SYNTHETIC`
        self.type = type
        self.buffer = buffer

    @property
    def label(self) -> str:
        """The name, or "t" for a variable without one; used to build other names."""
        return self.name or "t"

    def __repr__(self) -> str:
        return f"<{self.label}: {self.type}>"


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal: a Python bool, int or float of the given type. 0.0 and -0.0 are different constants."""

    value: Any
    type: Type

    if not TYPE_CHECKING:  # else mypy no longer narrows an operand found in a dict of variables to a variable

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
    """Whether the operand is a constant whose value is equal to ``value``, whatever its dtype."""
    return isinstance(op, Const) and op.value == value


# ---------------------------------------------------------------------------------------------------- places


@dataclass(frozen=True, slots=True)
class Point:
    """An integer scalar index; ``arg`` is the slot of its operand."""

    arg: int


@dataclass(frozen=True, slots=True)
class Slice:
    """``start:stop:step``: the slots of integer operands, None where one is omitted."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    @property
    def is_full(self) -> bool:
        return self.start is None and self.stop is None and self.step is None


@dataclass(frozen=True, slots=True)
class NewAxis:
    """``None`` in a subscript."""


@dataclass(frozen=True, slots=True)
class Gather:
    """An integer array index of any rank; several in one `Index` broadcast together as in NumPy."""

    arg: int


@dataclass(frozen=True, slots=True)
class Mask:
    """A boolean array index; it covers as many axes as the array has."""

    arg: int


Item = Point | Slice | NewAxis | Gather | Mask


@dataclass(frozen=True, slots=True)
class Index:
    """One NumPy subscript with the ellipsis expanded: every axis has an item. (In a `View`, trailing axes may have none.)"""

    items: tuple[Item, ...]

    @property
    def is_basic(self) -> bool:
        """Whether NumPy returns a view for it."""
        return not any(isinstance(i, (Gather, Mask)) for i in self.items)


@dataclass(frozen=True, slots=True)
class Permute:
    """``transpose(axes)``."""

    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """A reshape of contiguous memory, hence a view; ``args`` are the slots of the sizes."""

    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagonal:
    """The diagonal of the last two axes (``np.einsum('...ii->...i', x)``), as a place."""


Step = Index | Permute | Reshape | Diagonal
Path = tuple[Step, ...]  # the empty path is the whole buffer


# ------------------------------------------------------------------------------------------------ statements


@dataclass(slots=True)
class Let:
    """``var = prim(args)``, without side effects, though some primitives may raise. ``params`` holds compile-time values: an
    axis, a path, symbolic dims.

    ``reason``, here and in other statements, says why a transform inserted or kept the statement (`transpile.core.reasons`).
    """

    var: Var
    prim: str
    args: tuple[Operand, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    loc: Loc = NOWHERE
    reason: str = ""


@dataclass(slots=True)
class View(Let):
    """In loop core: ``var`` aliases the part of ``args[0]`` that ``step`` selects.

    The step is an `Index` of points and of slices of step 1, a `Permute` or a `Reshape`; its slots count the other ``args``,
    from 0.
    """

    step: Step = field(kw_only=True)

    @property
    def base(self) -> Operand:
        """The array that is viewed."""
        return self.args[0]

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of an `Index` step, one for each axis of the base: a full slice where the step has none."""
        assert isinstance(self.step, Index)
        return (*self.step.items, *(Slice(),) * (self.base.type.rank - len(self.step.items)))


def view(var: Var, base: Operand, step: Step, args: tuple[Operand, ...] = (), loc: Loc = NOWHERE) -> View:
    """A `View` of ``base``; ``args`` are the operands of ``step``."""
    return View(var, "view", (base, *args), {}, loc, step=step)


def reshape(rank: int) -> Reshape:
    """The `Reshape` step to ``rank`` axes, whose sizes are the operands 0, 1, ... of the path."""
    return Reshape(tuple(range(rank)))


Space = Literal["heap", "frame"]


@dataclass(slots=True)
class Alloc:
    """``var``, a buffer, is new memory that holds ``prim(args)``: ``copy``, ``full``, ``empty`` or any other primitive. In loop
    core it is ``empty``, and the operands are the sizes.

    ``space``: memory in the "frame" is gone when the function returns; its sizes are constants.
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
    """``buf[path] = value``; ``args`` are the operands of the path. With repeated indices the last write wins.

    ``value`` has the dims and dtype of the place; a constant fits any place of its dtype.
    """

    buf: Var
    path: Path
    args: tuple[Operand, ...]
    value: Operand
    loc: Loc = NOWHERE


@dataclass(slots=True)
class Add:
    """``buf[path] += value``; with repeated indices all contributions count."""

    buf: Var
    path: Path
    args: tuple[Operand, ...]
    value: Operand
    loc: Loc = NOWHERE


@dataclass(slots=True)
class PacketRead:
    """In loop core: ``var`` is a packet that holds one element of ``buf`` for each lane.

    If all subscripts are scalars, they are those of lane 0, and the lanes read consecutive elements along the last axis. If any
    subscript is a packet, each lane reads at its own subscripts. A lane whose ``mask`` is false reads nothing and holds 0.
    """

    var: Var
    buf: Var
    args: tuple[Operand, ...]
    mask: Operand | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class PacketStore:
    """In loop core: each lane of ``value`` is written where a `PacketRead` would read it. If two lanes write one element, the
    last one wins."""

    buf: Var
    args: tuple[Operand, ...]
    value: Operand
    mask: Operand | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class Block:
    """Statements with parameters (inputs) and yields (outputs). ``stop``, in the body of a loop, is a boolean operand that ends
    the loop after this iteration."""

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
JOINED = "joined"  # the combiner that folds the tests of many iterations: whether any of them holds


@dataclass(slots=True)
class For:
    """``index`` runs over ``range(start, bound, step)``, or over the same numbers from last to first (``backwards``). ``step``
    is a nonzero integer; it is a constant unless the user's step was not one.

    ``body.params`` are the carried values: ``inits`` in the first iteration, then ``body.yields``; ``results`` are their final
    values. ``trips``, if requested, is the number of iterations that ran; with ``body.stop`` it may be less than the length of
    the range.

    ``lanes`` marks a region of `transpile.transform.batching`: each iteration is one lane, and nothing is carried except, in a
    reverse sweep, sums.

    ``kind``: the iterations of a "parallel" loop run on several threads; those of a "vector" loop are vector lanes. Both count
    up by 1, a parallel loop from 0. (Other loops keep the user's bounds, so that a check names the first index that is out of
    range.) A vector loop may only combine each carried value with something in each iteration, by the primitive for it in
    ``combiners``; a parallel loop carries nothing.

    ``width``: the number of iterations that form one vector, if known; 1 means that the loop is too short for vectors.

    ``symbol``: the form that stands for the index in the dims of types in the body, if there is one.
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
    """``while test``: ``test`` is a block with parameters of its own that yields one boolean; ``body`` and ``trips`` are as in
    `For`."""

    inits: tuple[Operand, ...]
    test: Block
    body: Block
    results: tuple[Var, ...] = ()
    trips: Var | None = None
    loc: Loc = NOWHERE


@dataclass(slots=True)
class NewStack:
    """``var`` is an empty stack; the dtype and dims of its type are those of the elements."""

    var: Var
    loc: Loc = NOWHERE
    reason: str = ""


@dataclass(slots=True)
class Push:
    """``stack.append(value)``; an array is copied."""

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
"""A message: text and slots of operands (ints, or ``(int, conversion, format)``); in lowered code also the user's line."""


@dataclass(slots=True)
class Effect:
    """A side effect: `Print` and `Raise`, and in loop core `Check` and `BoundsCheck`. Passes keep the order of effects; they
    never remove or repeat a print or an exception that the user's code raises."""

    loc: Loc = field(default=NOWHERE, kw_only=True)


@dataclass(slots=True)
class Print(Effect):
    """``print(...)``; ``parts`` has one message for each argument of the user's call. ``dtypes``, in loop core: for each
    operand the dtype of a NumPy scalar, None for a Python number or an array."""

    args: tuple[Operand, ...]
    parts: tuple[Parts, ...]
    sep: str = " "
    end: str = "\n"
    dtypes: tuple[str | None, ...] = ()


@dataclass(slots=True)
class Breakpoint(Print):
    """``breakpoint()``: stops where a `Print` would print."""


@dataclass(slots=True)
class Raise(Effect):
    """``raise exception(message)``.

    ``is_check``: the compiler inserted it; it is not the user's. ``sizes_at``: set if it says that sizes disagree; the
    beginning of the message, which names the place. ``lanes``: the number of trailing operands that are lane numbers, innermost
    first; the message ends with them. ``dtypes``: as in `Print`.
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
    """In loop core: raises ``exception`` if ``test`` is true, for example because an integer overflows."""

    test: Operand
    exception: str
    parts: Parts


@dataclass(slots=True)
class BoundsCheck(Effect):
    """In loop core: raises ``exception`` unless ``at < size`` and, with ``low``, ``0 <= at``. With a ``guard``, it checks only
    where the guard is true.

    The message shows ``given``, the user's subscript, as slot 0, and the size as slot 1.
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
        """The operands that it reads: ``at``, ``size``, ``given``, and the guard if it has one."""
        return (self.at, self.size, self.given, *(() if self.guard is None else (self.guard,)))


@dataclass(slots=True)
class Custom:
    """A function with a derivative that the user defined (`transpile.transform.custom_rules`).

    ``fn`` is the function; ``rule`` says what ``derivative`` and ``pullback`` are:

    - "jvp": ``derivative`` takes the arguments and a tangent for each floating-point argument; it returns the results and a
      tangent for each floating-point result.
    - "vjp": ``fn`` returns the results and then the values that the pullback needs, which are results of the call too.
      ``derivative`` takes these values and a cotangent for each floating-point result; it returns an adjoint for each
      floating-point argument.
    - "implicit": the call itself still computes the results. ``derivative`` takes the arguments, the ``outputs`` and a tangent
      for each floating-point argument; it returns a tangent for each floating-point output. ``pullback``, if given, takes
      cotangents of the outputs in place of the tangents and returns the adjoints of the arguments; without it, ``derivative``
      is transposed.
    - "linear" (`transpile.transform.linear_rules`): the outputs solve a linear equation. Its right-hand side is the first
      arguments, as many as there are outputs. ``derivative`` takes the arguments and the outputs and returns the left-hand
      side. ``pullback``, if given, takes the arguments of a solution of the transposed equation and returns that solution; for
      a ``symmetric`` equation it is ``fn``.
    - "refused": the rule could not be built; ``refusal`` is the exception, raised when a derivative is requested.
    - "again": a call of the function inside its own rule; it takes the rule of the call around it.

    `expand_calls` inlines ``fn`` in all remaining calls.
    """

    fn: Function
    rule: str
    derivative: Function
    outputs: int  # the number of results that the user's function returns
    pullback: Function | None = None
    calls_itself: bool = False  # whether its own rule calls the function
    given: int | None = None  # the number of arguments in the user's call; further arguments are captured values
    symmetric: bool = False
    refusal: Exception | None = None
    again: bool = False  # whether the call stands in its own rule, or its rule contains such a call


@dataclass(frozen=True, slots=True)
class Library:
    """In loop core: a function of `transpile_runtime.compiled`, named "module.function"."""

    name: str


@dataclass(frozen=True, slots=True)
class Kept:
    """In loop core: a lowered function of the program, by its name."""

    name: str


class Routine:
    """A function of array core that is not inlined because it calls itself (`transpile.core.functions`). Compared by identity.

    It has a signature before it has a body: ``fn`` is None while the body is built.
    """

    __slots__ = ("derivatives", "fn", "name", "origin", "params", "results")

    def __init__(self, name: str, params: Sequence[Var] = (), results: Sequence[Type] = ()) -> None:
        self.name = name
        self.params = tuple(params)  # the sizes in their types are symbols; sizes of results may be forms of these
        self.results = tuple(results)
        self.fn: Function | None = None
        self.derivatives: dict[Any, Routine] = {}  # request -> the routine of that derivative
        self.origin: tuple[Routine, Any] | None = (
            None  # of a derivative: the routine that is differentiated, and the request
        )

    def __str__(self) -> str:
        return self.name

    @property
    def body(self) -> Function:
        assert self.fn is not None, f"{self.name} has no body yet"
        return self.fn


@dataclass(slots=True)
class Call:
    """``results = function(args)``. ``written``, in loop core: the slots of the arguments that the function fills.

    A call of a routine only computes values, as a *let* does: it writes nothing that is visible outside, and its results have
    memory of their own.
    """

    function: Custom | Routine | Library | Kept
    args: tuple[Operand, ...]
    results: tuple[Var, ...]
    written: tuple[int, ...] = ()
    loc: Loc = NOWHERE
    reason: str = ""

    @property
    def custom(self) -> Custom:
        """The called function with a derivative of the user's own; AssertionError for other calls."""
        assert isinstance(self.function, Custom)
        return self.function

    @property
    def routine(self) -> Routine:
        """The called routine of array core; AssertionError for other calls."""
        assert isinstance(self.function, Routine)
        return self.function

    @property
    def var(self) -> Var:
        """The result of a call that has exactly one."""
        (found,) = self.results
        return found

    @property
    def library(self) -> str:
        """The name of the runtime function that is called; empty for other calls."""
        return self.function.name if isinstance(self.function, Library) else ""


Stmt = Let | Alloc | Store | Add | If | For | While | NewStack | Push | Pop | Effect | Call | PacketRead | PacketStore


# -------------------------------------------------------------------------------------------------- functions


@dataclass(slots=True)
class Function:
    """A core function: leaves in, leaves out.

    ``body.yields`` are the results; each has memory of its own when the function returns. ``symbols`` maps each symbol in the
    dims of its types to the integer operand that holds its value. The size of a parameter is a ``dim`` *let* at the top of the
    body, which is removed if nothing needs it. A parameter with ``buffer`` is written in place, visibly to the caller.

    ``arg_tree`` says where the parameters stand in the Python arguments, ``out_tree`` how the results form the Python result
    (`transpile.aggregates`).
    """

    name: str
    params: tuple[Var, ...]
    body: Block
    symbols: dict[str, Operand]
    loc: Loc = NOWHERE
    arg_tree: Any = None
    out_tree: Any = None
    doc: str = ""
    captured: tuple[Any, ...] = ()  # for each hidden parameter (the last ones): how to read its value at a call
    errstate: tuple[tuple[str, str], ...] = ()  # the settings of the user's `with np.errstate(...)`
    taken: Taken = NOTHING  # facts on the sizes of the example arguments; a call that differs is lifted again
    routine: Routine | None = None  # the routine whose body this is, if any

    @property
    def title(self) -> str:
        """Its name in messages: a lambda has the name that Python gives it."""
        is_lambda = self.loc.function.endswith("<lambda>") and self.name.startswith("function")
        return f"<lambda>{self.name.removeprefix('function')}" if is_lambda else self.name
