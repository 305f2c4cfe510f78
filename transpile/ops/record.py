"""The record of a primitive: one entry of the rule tables.

An elementwise primitive gives its partial derivatives once; the forward and the reverse rule follow from them. Every other
primitive gives ``jvp`` and ``vjp``. Zero, not differentiable and not written are three different things: a partial is a
function, `ZERO` (the derivative is zero wherever it exists), `REFUSED` or `UNWRITTEN` (asking for it is an error, code T3xx).

Conventions for rules (they take and return ``transpile.core.builder.Expr``; operators and `transpile.ops.language` build
these):

- ``partials[k](y, *args)``: d y / d args[k], with the result ``y`` and the operands at hand, all of equal dims.
- ``jvp(y, args, dots, params)``: the tangent of the result; ``dots[k]`` is None where the operand has no tangent. For a
  primitive with several results ``y`` is a tuple and a tuple (of Expr or None) is returned.
- ``vjp(y, y_bar, args, wants, params)``: for each operand None (no contribution), an Expr of the operand's dims, or a `Scatter`
  into a part of it. ``wants[k]`` says which are asked for. ``y_bar`` is a tuple with None where several results.
- ``type_rule(types, params)``: the result's type; raises `RuleError` with a message for the user.
- ``by_order``: the partials of Python's own ``max`` and ``min`` (``params["py"]``), which keep the first operand where no
  comparison holds.
- ``steep(*args)``: elementwise only: the mask of points where the slope in the first operand is infinite though the value is
  finite; None: nowhere.
- ``cost``: 0 free (a view, a shape), 1 cheap (arithmetic), 2 dear (transcendental, reduction), 3 very dear (products).
- ``linear``: the derivative reads no operand and no result, so nothing has to be recorded for it.
- ``hides``: derivatives stop here, though the value is passed on. ``constant(params)``: the number that replaces the primitive
  after the last derivative (`transpile.transform.chosen_values`); None: its first operand replaces it.
- ``square(params, *args)``: a smooth expression for the square of the result; the derivative of a square is taken from it
  (`transpile.transform.squares`). ``squares``: the primitive is the square of its operand.
- ``expansion(*args)``: the primitive in terms of others; this replaces it wherever it is differentiated, batched or printed
  (`transpile.simplify.expansion`).
- ``family``: how it is batched, one of `FAMILIES` (rules: `transpile.transform.batching.families`); the default for an
  elementwise primitive is "elementwise". ``together``: one call handles all lanes, whether several operands differ between
  lanes or one is shared.
- ``skips_nan``: NaN is left out of the result. ``place(let, are_equal)``: for a possible view, the steps of its path and their
  operands; None if it is no view. ``are_equal`` tells whether two sizes are equal.
- ``collective``: the kind of a collective, one of `COLLECTIVES`. ``over``: the reduction that folds an axis as the collective
  folds the lanes.
- ``view``: the memory of NumPy's result: "" is new memory, "writable" or "read_only" a view of the first operand ("alone":
  writable, if it is the only operand), "held" an item of a tuple.
- ``operator``, ``names``, ``math``, ``python``: the spelling as an operator of Python, the names of NumPy's functions, the
  spelling in `math` (a *let* with the param ``via="math"``) and as a builtin of Python (``py=True``). ``unlike_python``: on
  Python's numbers NumPy's function gives another result than the operator, or a value where the operator raises. ``as_calm``:
  the function of `math` raises only where functions that have it in their partial derivatives raise too.
- ``form``: a printed form that no template over operands can express (`transpile.ops.spelling.Form`). ``joins_lanes``: the
  printed call broadcasts the lanes of its operands against each other. ``total(types, values)``: on Python's numbers it neither
  raises nor warns; ``values`` are the known operands, else None.
- ``called``: the name for a variable that holds the result; ``said``: a prefix to the operand's name, as in ``exp_x``.
  ``why_refused``: the message and the hint where its derivative is `REFUSED`.
- ``lowering``: how it becomes loops and calls, one of the kinds of `transpile.ops.lowering_kinds`, each with a rule in
  `transpile.lower`; the default follows from the kind of the record.
- ``kind``: a key of `REQUIRED`, which lists the fields that a record of this kind must have; a missing one is an error when the
  tables are built.

`transpile.ops.algebra` has its properties as an operation on numbers, `transpile.ops.computation` how it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transpile.core.types import Type
from transpile.ops.algebra import Algebra
from transpile.ops.computation import Computation
from transpile.ops.lowering_kinds import BY_KIND, LoweringKind
from transpile.ops.spelling import Form
from transpile.ops.traits import Operator


class Marker:
    """A named constant that is not a function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ZERO = Marker("ZERO")  # differentiable almost everywhere, the derivative is zero
REFUSED = Marker("REFUSED")  # has no meaningful derivative: refuse
UNWRITTEN = Marker("UNWRITTEN")  # has a derivative, but no rule yet: refuse


@dataclass(frozen=True)
class Scatter:
    """An adjoint contribution to a part of an operand: ``operand_bar[path] += value``."""

    path: Any  # transpile.core.nodes.Path
    args: tuple[Any, ...]  # Exprs, the operands of the path
    value: Any  # Expr


FAMILIES = frozenset(
    # "lane" is computed lane by lane; "place" and "size" are parts of the language itself; a "collective" combines lanes
    "elementwise rounding axes axis along trailing broadcast stretch dims transpose repeat repeat_each pad tile diag full same "
    "cast join stacked trace query searched matmul outer einsum tensordot solve columns item draw place size collective "
    "lane".split()
)


COLLECTIVES = frozenset("folded gathered scattered permuted numbered".split())
"""What a lane gets from a collective: a fold over all lanes, or its part of one ("scattered"); the values of all lanes; the
value of another lane; its own number."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    "elementwise": ("render", "partials", "element", "family"),
    "scalar": ("element",),
    "number": ("element",),
    "statement": (),
    "entry": (),
    "fold": ("render", "jvp", "vjp", "family", "fold"),
    "scan": ("render", "jvp", "vjp", "family", "fold"),
    "map": ("render", "jvp", "vjp", "family", "lowering"),
    "product": ("render", "jvp", "vjp", "family", "lowering"),
    "rows": ("render", "jvp", "vjp", "family", "entry"),
    "matrix": ("render", "jvp", "vjp", "family", "entry"),
    "library": ("render", "jvp", "vjp", "family", "entry", "lowering"),
    "draw": ("render", "jvp", "vjp", "family", "entry"),
    "collective": ("jvp", "vjp", "family", "collective"),
    "structural": ("render", "family", "lowering"),
}
"""The fields that a record of each kind must have. ``elementwise``: each element of the result depends on the operands'
elements of the same index; ``scalar``: the same for numbers, made by lowering and never differentiated; ``fold``: axes are
folded; ``scan``: each element folds those before it; ``map``: elements move to other indices, or depend on their own index;
``product``: sums of products; ``rows``: a runtime call for the rows along an axis; ``matrix``: one for each matrix of a stack;
``library``: any other runtime call; ``number``: a runtime call from numbers to numbers; ``draw``: random numbers;
``collective``: combines lanes; ``structural``: part of core itself; ``statement``: no value is
computed; ``entry``: a function of the runtime, for the verifier."""


BY_EXPANSION = ("render", "jvp", "vjp", "family")
"""The fields that a primitive with an expansion need not have."""


@dataclass(frozen=True)
class Op(Algebra, Computation):
    """One primitive.

    ``render`` is its NumPy spelling: a template for ``str.format`` over the printed operands (``"np.tanh({0})"``), an operator
    (``"op:+"``), or a function of (printed operands as gast nodes, params, types).
    """

    name: str
    type_rule: Callable[[Sequence[Type], Mapping[str, Any]], Type]
    render: Any
    kind: str
    dtype_rule: str = "arith"  # elementwise only: how the operands' common dtype is found (transpile.core.promotion)
    partials: tuple[Any, ...] = ()
    by_order: tuple[Any, ...] = ()
    steep: Any = None
    jvp: Any = None
    vjp: Any = None
    cost: int = 1
    linear: bool = False
    expansion: Any = None
    family: str = ""
    lowering: LoweringKind | None = None
    together: bool = False
    skips_nan: bool = False
    hides: bool = False
    constant: Any = None
    square: Any = None
    squares: bool = False
    place: Any = None
    collective: str = ""
    over: str = ""
    view: str = ""
    operator: Operator | None = None
    names: tuple[str, ...] = ()
    math: str = ""
    python: str = ""
    unlike_python: bool = False
    as_calm: bool = False
    form: Form | None = None
    joins_lanes: bool = False
    total: Callable[[Sequence[Type], Sequence[Any]], bool] = lambda types, values: False
    said: str = ""
    called: str = ""
    why_refused: tuple[str, str] = ("", "")
    examples: tuple[Any, ...] = field(default=(), compare=False)  # for the rule walk: see tests/ops/test_rules.py

    def __post_init__(self) -> None:
        """Sets ``family`` of elementwise primitives and ``lowering`` by kind, if missing; ValueError for an unknown kind,
        family or collective, or if a field is missing that the kind needs."""
        if self.kind == "elementwise" and not self.family:
            object.__setattr__(self, "family", "elementwise")
        if self.lowering is None:
            object.__setattr__(self, "lowering", BY_KIND.get(self.kind))
        if self.kind not in REQUIRED:
            raise ValueError(f"primitive {self.name!r} is of no kind: {self.kind!r}")
        needed = [f for f in REQUIRED[self.kind] if self.expansion is None or f not in BY_EXPANSION]
        lacks = [f for f in needed if getattr(self, f) in (None, "", ())]
        if lacks:
            raise ValueError(f"primitive {self.name!r} of kind {self.kind!r} has no {', '.join(lacks)}")
        if self.family and self.family not in FAMILIES:
            raise ValueError(f"primitive {self.name!r} is of no family of batching: {self.family!r}")
        if self.collective and self.collective not in COLLECTIVES:
            raise ValueError(f"primitive {self.name!r} is no such collective: {self.collective!r}")

    @property
    def elementwise(self) -> bool:
        return self.kind == "elementwise"

    @property
    def is_own(self) -> bool:
        """Whether the result of the collective differs from lane to lane."""
        return self.collective in ("scattered", "permuted", "numbered")

    @property
    def is_call(self) -> bool:
        """Whether the primitive is a runtime call on numbers."""
        return self.kind == "number"

    @property
    def operands(self) -> int:
        """The number of operands of an elementwise primitive."""
        return len(self.partials)

    def partials_of(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        """The partials for a statement with these params: those of Python's ``max`` and ``min`` with ``py``."""
        return self.by_order if self.by_order and params.get("py") else self.partials

    def is_view(self, operands: int) -> bool:
        """Whether NumPy may return a view of the first operand, given the number of operands."""
        return self.view in ("writable", "read_only") or self.view == "alone" and operands == 1

    @property
    def is_fresh(self) -> bool:
        """Whether NumPy may return new memory."""
        return self.view in ("", "alone")

    @property
    def is_writable(self) -> bool:
        """Whether a view of a writable operand is writable."""
        return self.view in ("writable", "alone")

    @property
    def is_folding(self) -> bool:
        """Whether LLVM vectorises a loop that folds with it."""
        return bool(self.folds) or self.in_lanes

    @property
    def is_zero(self) -> bool:
        """True if every derivative is zero (the forward rule, for primitives that are not elementwise), so that asking for one
        is no error."""
        if self.elementwise:
            return all(p is ZERO for p in self.partials)
        return self.jvp is ZERO

    @property
    def is_refused(self) -> bool:
        return self.jvp is REFUSED or any(p is REFUSED for p in self.partials)
