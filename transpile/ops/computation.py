"""How a primitive is computed: its element, the runtime function it calls, its cost, and whether it can fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.types import Type
from transpile.ops.element import ByType, Element, Infix, Prefix, applied, is_instruction, parts
from transpile.ops.traits import Vector

DEAR = 20.0  # the cost of a function that gains from vectorisation, in units of one addition
Entry = str | Callable[[Mapping[str, Any], int], str]


@dataclass(frozen=True, kw_only=True)
class Computation:
    """How a primitive is computed; a default claims nothing.

    - ``element``: the expression of one element (`transpile.ops.element`), or a function of types that gives it; ``of_truths``:
      the element if all operands are booleans.
    - ``entry``: the function of `transpile_runtime.compiled` that is called, or a function of the params and the number of
      operands that gives its name. ``flags``: the params that it takes as booleans. ``factored``: the function that takes the
      LU factors of the matrix instead, for when several statements share them. ``triangles(params)``: for each result that is a
      matrix, True if it is lower triangular, False if upper, None if neither; systems with a triangular matrix are solved by
      substitution.
    - ``vector``: its version for vectors. ``in_vectors``: the scalar call that does the same with vector instructions.
      ``filling``: the call that fills memory with the random numbers of one key. ``in_lanes``: LLVM vectorises a loop that
      folds with it, though no algebraic property of the fold is known.
    - ``work``: its cost in a loop (`transpile.loops.schedule.cost_model`), in units of one addition.
    - ``raises(types, values, result)``: whether it may raise; ``values`` are the operands' numbers, None where known at run
      time only. ``quiet``: it never warns. ``inside``: for the others, an argument at which it does not warn.
    - ``fits``: how to test whether a result of Python's integers fits in 64 bits (`transpile.lower.overflow`). ``asks``: the
      primitive whose overflow it tests. ``wraps``: the runtime function that computes the wrapped result. ``in_floats``: the
      primitive that computes the same for integers that are held in floats.
    """

    element: Element | ByType | None = None
    of_truths: Element | None = None
    entry: Entry = ""
    flags: tuple[str, ...] = ()
    factored: str = ""
    triangles: Callable[[Mapping[str, Any]], tuple[bool | None, ...]] = lambda params: ()
    vector: Vector | None = None
    in_vectors: str = ""
    filling: str = ""
    in_lanes: bool = False
    work: float = 1
    raises: Any = None
    quiet: bool = False
    inside: float = 0.5
    fits: str = ""
    asks: str = ""
    wraps: str = ""
    in_floats: str = ""

    def element_of(self, types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element | None:
        """The expression of one element for operands of these types; the vector function named by ``params["vector"]``, if
        given. None if the primitive is not computed element by element."""
        if "vector" in params:
            return applied(f"vector.{params['vector']}", len(types))
        if self.of_truths is not None and all(t.is_bool for t in types):
            return self.of_truths
        return self.element(types, result, params) if callable(self.element) else self.element

    def entry_of(self, params: Mapping[str, Any], operands: int) -> str:
        """The name of the runtime function that is called, "" for none."""
        return self.entry(params, operands) if callable(self.entry) else self.entry

    @property
    def is_arithmetic(self) -> bool:
        """Whether the primitive is ``+``, ``-`` (binary or unary), ``*`` or ``/``."""
        return isinstance(self.element, (Infix, Prefix)) and self.element.sign in ("+", "-", "*", "/")

    @property
    def is_dear(self) -> bool:
        """Whether vectorisation speeds it up several times."""
        return self.vector is not None and not self.vector.alone

    @property
    def effort(self) -> float:
        """The cost of the primitive in a loop, in units of one addition."""
        return DEAR if self.is_dear else self.work

    @property
    def is_instruction(self) -> bool:
        """True if LLVM vectorises the element by itself; False if the element depends on the types."""
        return self.element is not None and not callable(self.element) and all(map(is_instruction, parts(self.element)))
