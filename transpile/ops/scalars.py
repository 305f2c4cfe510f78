"""Scalar operations that only lowering and the loop passes emit; they have no derivatives.

They include overflow tests for Python's integers in 64 bits, and functions of integers whose float result is rounded only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.ops import interval_arithmetic as intervals
from transpile.ops.element import ByType, Element, applied, infix
from transpile.ops.record import Op
from transpile.ops.traits import LESS, LESS_EQUAL, RELATIONS, Magnitude, Relation


def scalar(name: str, element: Element | ByType, result: Type, **more: Any) -> Op:
    """The record of a scalar operation."""
    return Op(name, lambda types, params: result, None, "scalar", element=element, **more)


def overflows(prim: str) -> Op:
    """The record of the test whether the integer result of a primitive exceeds 64 bits."""
    return scalar(f"overflows_{prim}", applied(f"intmath.overflows_{prim}", 2), BOOL, asks=prim)


def as_float(prim: str, operands: int) -> Op:
    """The record of a counting function whose result is a float."""
    return scalar(
        f"{prim}_float", applied(f"intmath.{prim}_float", operands), FLOAT, raises=lambda types, values, result: True
    )


def exact(relation: Relation) -> Op:
    """The record of a comparison of an integer and a float that rounds neither."""
    return scalar(f"exact_{relation.name}", applied(f"intmath.exact_{relation.name}", 2), BOOL, in_floats=relation.name)


def _vector(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element:
    return applied(f"vector.{params['vector']}", len(types))


def number(name: str, **more: Any) -> Op:
    """The record of a runtime function of numbers, under its own name; a function with two results returns a tuple."""
    return Op(
        name, lambda types, params: INT, None, "number", element=lambda types, result, params: applied(name, len(types)), work=20,
        **more,
    )  # fmt: skip


def draw(name: str, filling: str = "") -> list[Op]:
    """The records of a function that draws a random number, and of its version with vector instructions."""
    in_vectors = f"vector.random_{name}"
    return [number(f"random.{name}", in_vectors=in_vectors, filling=filling), number(in_vectors)]


def _steps(types: Sequence[Type], values: Sequence[Any], result: Type) -> bool:
    """Whether it may raise: with a step that may be 0."""
    return not values[-1]


TABLE = [
    # the conjunction of two tests, without a branch
    scalar("both", infix("&"), BOOL, implies=lambda holds: ((0, True), (1, True)) if holds else ()),
    # for integers that are known not to be negative
    scalar("quick_div", infix("//"), INT, interval=intervals.quotient, magnitude=Magnitude(), division="//"),
    scalar("quick_mod", infix("%"), INT, interval=intervals.rest, magnitude=Magnitude(1), division="%", below=LESS),
    scalar("true_divide", applied("intmath.true_divide", 2), FLOAT, in_floats="div"),
    scalar("vector", _vector, FLOAT),  # a function of vectors without a scalar counterpart: params["vector"]
    *map(overflows, "add sub mul pow left_shift gcd lcm comb perm".split()),
    *map(exact, RELATIONS),
    *(as_float(prim, k) for prim, k in (("factorial", 1), ("comb", 2), ("perm", 2))),
    *map(number, """arrays.arange_at arrays.convolve_full arrays.convolve_same arrays.convolve_valid
         arrays.correlate_same arrays.diagonal_size arrays.linspace_at arrays.pad_edge arrays.pad_reflect arrays.pad_symmetric
         arrays.pad_wrap""".split()),
    number("arrays.bound", interval=intervals.within, magnitude=Magnitude(1), below=LESS_EQUAL),
    number("arrays.wrap", interval=intervals.within, magnitude=Magnitude(1), below=LESS, division="%"),
    number("arrays.span", raises=_steps, interval=lambda size, *ends: intervals.union((0, 0), size), magnitude=Magnitude()),
    number("arrays.steps", raises=_steps),
    *(record for name in "word bits32 bits64 unit32 unit64".split() for record in draw(name)),
    *draw("normal32", "random.normals32"),
    *draw("normal64", "random.normals"),
    number("random.log_gamma"),
    number("random.poisson"),
    number("random.binomial"),
]  # fmt: skip
