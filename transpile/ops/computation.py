"""How a primitive is computed: its elements, the function of the runtime that is called, what it costs, whether it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.types import Type
from transpile.ops.element import ByType, Element, Infix, Prefix, applied, is_instruction, parts
from transpile.ops.traits import Vector

DEAR = 20.0  # what a function costs that gains by vectors, where a sum of numbers is 1
Entry = str | Callable[[Mapping[str, Any], int], str]


@dataclass(frozen=True, kw_only=True)
class Computation:
    """
    - ``element``: how one element is computed (`transpile.ops.element`), or a function of types that gives it; ``of_truths`` is
      that of operands that are all truth values.
    - ``entry``: the function of `transpile_runtime.compiled` that is called, or a function of params and of how many operands
      there are that gives its name; ``flags``: the params that it takes as truth values; ``factored``: the function that takes
      the factors of the matrix in its place, where several statements share them; ``triangles(params)``: of each result that is a
      matrix, whether it is a lower triangle (False: an upper one; None: none), so that a system with it is solved by substitution.
    - ``vector``: what computes it in vectors; ``in_vectors``: which call of numbers does the same with the instructions of a
      vector; ``filling``: which call fills memory with such numbers of one key; ``in_lanes``: LLVM makes lanes of a loop that folds
      with it, though nothing else is known of the fold.
    - ``work``: what it costs in a loop (`transpile.loops.schedule.cost_model`), where a sum is 1.
    - ``raises(types, values, result)``: whether it may raise; ``values`` are the operands' numbers, None where the run tells.
      ``quiet``: it never warns; of others ``inside`` is an argument where it does not.
    - ``fits``: how it is asked whether a result of Python's integers fits into 64 bits (`transpile.lower.overflow`); ``asks``: of
      which primitive it asks that; ``wraps``: the function of the runtime that wraps there. ``in_floats``: what does the same of
      integers that floats hold.
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
        """How one element is computed of operands of these types; None where this is no matter of elements."""
        if "vector" in params:
            return applied(f"vector.{params['vector']}", len(types))
        if self.of_truths is not None and all(t.is_bool for t in types):
            return self.of_truths
        return self.element(types, result, params) if callable(self.element) else self.element

    def entry_of(self, params: Mapping[str, Any], operands: int) -> str:
        """The function of the runtime that is called."""
        return self.entry(params, operands) if callable(self.entry) else self.entry

    @property
    def is_arithmetic(self) -> bool:
        """Whether it is one of the four operations of a machine, or the opposite."""
        return isinstance(self.element, (Infix, Prefix)) and self.element.sign in ("+", "-", "*", "/")

    @property
    def is_dear(self) -> bool:
        """Whether it gains several times its own time by vectors."""
        return self.vector is not None and not self.vector.alone

    @property
    def effort(self) -> float:
        """What it costs in a loop, where a sum is 1."""
        return DEAR if self.is_dear else self.work

    @property
    def is_instruction(self) -> bool:
        """Whether LLVM makes vectors of it by itself."""
        return self.element is not None and not callable(self.element) and all(map(is_instruction, parts(self.element)))
