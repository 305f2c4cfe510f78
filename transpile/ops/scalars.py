"""Scalar operations that only lowering and the loop passes emit; they have no derivatives.

They include overflow tests for Python's integers in 64 bits, and functions of integers whose float result is rounded only once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transpile.core.types import BOOL, FLOAT, INT, Type
from transpile.errors import RuleError
from transpile.ops import interval_arithmetic as intervals
from transpile.ops.element import ByType, Element, applied, infix
from transpile.ops.record import Op
from transpile.ops.traits import LESS, LESS_EQUAL, RELATIONS, Magnitude, Relation


def scalar(name: str, element: Element | ByType, result: Type, **more: Any) -> Op:
    """The record of a scalar operation of loop core, which ``element`` computes, with a result of this type."""
    return Op(name, lambda types, params: result, None, "scalar", element=element, **more)


def overflows(prim: str) -> Op:
    """The record of the test whether the integer result of the binary primitive ``prim`` exceeds 64 bits."""
    return scalar(f"overflows_{prim}", applied(f"intmath.overflows_{prim}", 2), BOOL, asks=prim)


def as_float(prim: str, operands: int) -> Op:
    """The record of the counting function ``prim`` with a result that is a float."""
    return scalar(
        f"{prim}_float", applied(f"intmath.{prim}_float", operands), FLOAT, raises=lambda types, values, result: True
    )


def exact(relation: Relation) -> Op:
    """The record of the comparison ``relation`` of an integer and a float that rounds neither."""
    return scalar(f"exact_{relation.name}", applied(f"intmath.exact_{relation.name}", 2), BOOL, in_floats=relation.name)


def _vector(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element:
    return applied(f"vector.{params['vector']}", len(types))


def _of_vector(types: Sequence[Type], params: Mapping[str, Any]) -> Type:
    """The type of a function of vectors: of its operands, or a test of all of them."""
    return BOOL if params["vector"] == "all_inside" else Type(types[0].dtype)


CODES = {"i": "int64", "u": "uint32", "U": "uint64", "f": "float32", "d": "float64", "b": "bool"}


def signature(text: str) -> Callable[[Sequence[Type], Mapping[str, Any]], Type]:
    """A type rule of a function of numbers from ``text``: a letter of `CODES` for each operand and for the result, "x" for any
    float and "n" for any number, the same in all places. A result "ii" is a tuple of two integers. The rule raises `RuleError`
    for other operands.

    >>> str(signature("ib->d")([INT, BOOL], {}))
    'float64'
    """
    operands, result = text.split("->")

    def rule(types: Sequence[Type], params: Mapping[str, Any]) -> Type:
        open_ = {t.dtype for t, code in zip(types, operands) if code in "xn"}
        fits = len(types) == len(operands) and all(t.dtype == CODES.get(c, t.dtype) for t, c in zip(types, operands))
        if not fits or len(open_) > 1 or "x" in operands and not open_ <= {"float32", "float64"}:
            raise RuleError(f"operands ({', '.join(t.dtype for t in types)}) for {text}")
        if result == "ii":
            return Type("int64", (), kind="tuple")
        return INT if result == "i" else Type(open_.pop() if result == "x" else CODES[result])

    return rule


def number(name: str, types: str, **more: Any) -> Op:
    """The record of a runtime function of numbers, under its own name, with its `signature`."""
    return Op(
        name, signature(types), None, "number", element=lambda types, result, params: applied(name, len(types)), work=20, **more
    )  # fmt: skip


def draw(name: str, types: str, filling: str = "") -> list[Op]:
    """A list of two records: the function that draws a random number from the distribution ``name``, and its version with
    vector instructions. ``filling`` is a field of the first."""
    in_vectors = f"vector.random_{name}"
    return [number(f"random.{name}", types, in_vectors=in_vectors, filling=filling), number(in_vectors, types)]


def _steps(types: Sequence[Type], values: Sequence[Any], result: Type) -> bool:
    """Whether a primitive with a step may raise: its last operand, the step, may be 0."""
    return not values[-1]


def _up_to(size: Any, *ends: Any) -> Any:
    return intervals.union((0, 0), size)


TABLE = [
    # the conjunction of two tests, without a branch
    scalar("both", infix("&"), BOOL, implies=lambda holds: ((0, True), (1, True)) if holds else ()),
    # for integers that are known not to be negative
    scalar("quick_div", infix("//"), INT, interval=intervals.quotient, magnitude=Magnitude(), division="//"),
    scalar("quick_mod", infix("%"), INT, interval=intervals.rest, magnitude=Magnitude(1), division="%", below=LESS),
    scalar("true_divide", applied("intmath.true_divide", 2), FLOAT, in_floats="div"),
    Op("vector", _of_vector, None, "scalar", element=_vector),  # params["vector"]: it has no scalar counterpart
    *map(overflows, "add sub mul pow left_shift gcd lcm comb perm".split()),
    *map(exact, RELATIONS),
    *(as_float(prim, k) for prim, k in (("factorial", 1), ("comb", 2), ("perm", 2))),
    number("arrays.arange_at", "xxx->x"),
    number("arrays.linspace_at", "xxxxb->x"),
    *(number(f"arrays.convolve_{mode}", "ii->ii") for mode in ("full", "same", "valid")),
    number("arrays.correlate_same", "ii->ii"),
    number("arrays.diagonal_size", "iii->i"),
    *(number(f"arrays.pad_{mode}", "ii->i") for mode in ("edge", "reflect", "symmetric", "wrap")),
    number("arrays.bound", "ii->i", interval=intervals.within, magnitude=Magnitude(1), below=LESS_EQUAL),
    number("arrays.wrap", "ii->i", interval=intervals.within, magnitude=Magnitude(1), below=LESS, division="%"),
    number("arrays.span", "iiibbi->ii", raises=_steps, interval=_up_to, magnitude=Magnitude()),
    number("arrays.steps", "nnn->i", raises=_steps),
    *draw("word", "uuii->u"),
    *draw("bits32", "uui->u"),
    *draw("bits64", "uui->U"),
    *draw("unit32", "uui->f"),
    *draw("unit64", "uui->d"),
    *draw("normal32", "uui->f", "random.normals32"),
    *draw("normal64", "uui->d", "random.normals"),
    number("random.log_gamma", "uuid->d"),
    number("random.poisson", "uuid->d"),
    number("random.binomial", "uuidd->d"),
]  # fmt: skip
