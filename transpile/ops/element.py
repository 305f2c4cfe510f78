"""How one element of an elementwise primitive is computed: a small tree over its operands.

Each target translates the tree: to Python text for Numba, to instructions for LLVM. ``Apply`` names a function of `math`, of
NumPy or of a module of `transpile_runtime.compiled`, which has NumPy's meaning where the machine's operation, or Numba's, has
another.

>>> infix("+")
Infix(sign='+', a=Arg(k=0), b=Arg(k=1))
>>> applied("math.exp", 1)
Apply(function='math.exp', args=(Arg(k=0),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from transpile.core.types import Type


@dataclass(frozen=True, slots=True)
class Arg:
    """An operand, by its number."""

    k: int


@dataclass(frozen=True, slots=True)
class Number:
    """A constant, from the primitive or from a param of the statement."""

    value: Any


@dataclass(frozen=True, slots=True)
class Infix:
    """A binary operation with the machine's meaning, such as ``a + b``; also ``and`` and ``or`` of booleans. ``//`` and ``%``
    are for integers that are not negative."""

    sign: str
    a: Element
    b: Element


@dataclass(frozen=True, slots=True)
class Prefix:
    """``-a``, ``~a``, ``not a``."""

    sign: str
    a: Element


@dataclass(frozen=True, slots=True)
class Choose:
    """``yes if test else no``, where both values are computed already."""

    test: Element
    yes: Element
    no: Element


@dataclass(frozen=True, slots=True)
class Apply:
    """``function(*args)``."""

    function: str
    args: tuple[Element, ...]


Element = Arg | Number | Infix | Prefix | Choose | Apply
ByType = Callable[[Sequence[Type], Type, Mapping[str, Any]], Element]
"""An element that depends on the types of the operands and of the result, and on params."""

SAME = Arg(0)
EITHER, BOTH = Infix("or", Arg(0), Arg(1)), Infix("and", Arg(0), Arg(1))
NOT = Prefix("not", Arg(0))


def slots(count: int) -> tuple[Element, ...]:
    """The first ``count`` operands, in order."""
    return tuple(Arg(k) for k in range(count))


def infix(sign: str) -> Infix:
    return Infix(sign, Arg(0), Arg(1))


def prefix(sign: str) -> Prefix:
    return Prefix(sign, Arg(0))


def applied(function: str, count: int, *more: Any) -> Apply:
    """The call of ``function`` with the first ``count`` operands; ``more`` are constants after them."""
    return Apply(function, (*slots(count), *map(Number, more)))


def with_params(function: str, count: int, *names: str) -> ByType:
    """A function of types and params: the call of ``function`` with the first ``count`` operands, and then those params of
    these names that are given."""
    return lambda types, result, params: applied(function, count, *(params[n] for n in names if n in params))


def by_kind(count: int, integers: str | Element, floats: str) -> ByType:
    """A function of types: the call of ``integers`` (or that element) for integer results, of ``floats`` for others; ``count``
    operands."""

    def element(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element:
        wanted = integers if result.is_int else floats
        return applied(wanted, count) if isinstance(wanted, str) else wanted

    return element


def by_sign(count: int, signed: str, unsigned: str) -> ByType:
    """A function of types: the call of ``signed`` for signed integer results, of ``unsigned`` for unsigned ones; ``count``
    operands."""
    return lambda types, result, params: applied(unsigned if result.dtype.startswith("u") else signed, count)


def as_python(count: int, name: str, integers: str = "", floats: str = "") -> ByType:
    """A function of types: the call of ``name``, with the suffix ``floats`` or ``integers`` by the kind of the result, and
    ``_python`` if the result is weak; this version raises where Python does."""

    def element(types: Sequence[Type], result: Type, params: Mapping[str, Any]) -> Element:
        ending = floats if result.is_float else integers
        return applied(f"{name}{ending}{'_python' if result.weak else ''}", count)

    return element


def is_instruction(element: Element) -> bool:
    """Whether the outermost operation is a machine operation that LLVM vectorises."""
    match element:
        case Infix(sign, _, _):
            return sign != "**"
        case Apply(function, _):
            return function in ("scalars.absolute", "math.fabs")
    return True


def parts(element: Element) -> Iterator[Element]:
    """The element and all its subexpressions."""
    yield element
    match element:
        case Infix(_, a, b):
            inner: tuple[Element, ...] = (a, b)
        case Prefix(_, a):
            inner = (a,)
        case Choose(test, yes, no):
            inner = (test, yes, no)
        case Apply(_, args):
            inner = args
        case _:
            inner = ()
    for one in inner:
        yield from parts(one)
