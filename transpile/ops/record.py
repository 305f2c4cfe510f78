"""What a primitive is: one entry of the rule tables.

An elementwise primitive gives its partial derivatives once; the forward and the reverse rule follow from them. Every
other primitive gives ``jvp`` and ``vjp``. Zero, not differentiable and not written are three different things: a partial
is a function, `ZERO` (the derivative is zero wherever it exists) or `REFUSED` (asking for it is an error, code T3xx).

Conventions for rules (``transpile.core.builder.Expr`` is the currency, operators and `transpile.ops.language` build):

- ``partials[k](y, *args)``: d y / d args[k], with the result ``y`` and the operands at hand, all of equal dims.
- ``jvp(y, args, dots, params)``: the tangent of the result; ``dots[k]`` is None where the operand has no tangent. For
  a primitive with several results ``y`` is a tuple and a tuple (of Expr or None) is returned.
- ``vjp(y, y_bar, args, wants, params)``: for each operand None (no contribution), an Expr of the operand's dims, or a
  `Scatter` into a part of it. ``wants[k]`` says which are asked for. ``y_bar`` is a tuple with None where several results.
- ``type_rule(types, params)``: the result's type; raises `RuleError` with a message for the user.
- ``by_order``: the partials of Python's own ``max`` and ``min`` (``params["py"]``), which keep the first where no comparison holds.
- ``steep(*args)``: elementwise only, where the slope in the first operand is infinite though the value is not; None: nowhere.
- ``cost``: 0 free (a view, a shape), 1 cheap (arithmetic), 2 dear (transcendental, reduction), 3 very dear (products).
- ``linear``: the derivative reads no operand and no result, so nothing has to be recorded for it.
- ``fresh``: the NumPy expression always gives new memory.
- ``family``: how it is batched, one of `FAMILIES` (their rules: `transpile.transform.batching.families`); that of an
  elementwise one is its own unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transpile.core.types import Type


class Marker:
    """A named constant that is not a function."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ZERO = Marker("ZERO")  # differentiable almost everywhere, the derivative is zero
REFUSED = Marker("REFUSED")  # has no derivative that means anything: refuse
UNWRITTEN = Marker("UNWRITTEN")  # has one, for which there is no rule yet: refuse


@dataclass(frozen=True)
class Scatter:
    """An adjoint contribution to a part of an operand: ``operand_bar[path] += value``."""

    path: Any  # transpile.core.nodes.Path
    args: tuple[Any, ...]  # Exprs, the operands of the path
    value: Any  # Expr


FAMILIES = frozenset(
    # with "lane" it is computed lane by lane; "place", "size" and "call" are parts of the language itself, and a "collective" is
    # what lanes know of each other
    "elementwise rounding axes axis along trailing broadcast stretch dims transpose repeat repeat_each pad tile diag full same "
    "cast join stacked trace query searched matmul outer einsum tensordot solve columns item draw place size call collective "
    "lane".split()
)


@dataclass(frozen=True)
class Prim:
    """One primitive. ``render`` is its NumPy spelling: a template for ``str.format`` over the printed operands
    (``"np.tanh({0})"``), an operator (``"op:+"``), or a function of (printed operands as gast nodes, params, types)."""

    name: str
    type_rule: Callable[[Sequence[Type], Mapping[str, Any]], Type]
    render: Any
    elementwise: bool = False
    dtype_rule: str = "arith"  # elementwise only: how the operands' common dtype is found (transpile.core.promotion)
    partials: tuple[Any, ...] = ()
    by_order: tuple[Any, ...] = ()
    steep: Any = None
    jvp: Any = None
    vjp: Any = None
    cost: int = 1
    linear: bool = False
    fresh: bool = True
    family: str = ""
    examples: tuple[Any, ...] = field(default=(), compare=False)  # for the rule walk: see tests/ops/test_rules.py

    def __post_init__(self) -> None:
        if self.elementwise and not self.family:
            object.__setattr__(self, "family", "elementwise")
        if self.family not in FAMILIES:
            raise ValueError(f"primitive {self.name!r} is of no family of batching: {self.family!r}")

    def partials_of(self, params: Mapping[str, Any]) -> tuple[Any, ...]:
        return self.by_order if self.by_order and params.get("py") else self.partials

    @property
    def is_zero(self) -> bool:
        """Whether no operand ever gets a derivative, without that being an error."""
        if self.elementwise:
            return all(p is ZERO for p in self.partials)
        return self.jvp is ZERO

    @property
    def is_refused(self) -> bool:
        return self.jvp is REFUSED or any(p is REFUSED for p in self.partials)
