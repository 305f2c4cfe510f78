"""Elements of records (`transpile.ops.element`) in all lanes of packets at once, by one or a few vector instructions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transpile.codegen.llvm.llvm_values import Packet
from transpile.codegen.llvm.operands import Operands
from transpile.codegen.llvm.scalar_instructions import COMPARE, FLOAT, INT, LOGIC, exact_flags
from transpile.ops.element import Apply, Arg, Choose, Element, Infix, Prefix


def at_once(written: Operands, node: Element, args: Sequence[Packet]) -> Packet | None:
    """The value of an element (``node``) for the packets ``args``, in all lanes; None if a part has no vector instruction.

    Then instructions for other parts may have been written.
    """
    match node:
        case Arg(k):
            return args[k]
        case Infix(sign, a, b):
            return _of(written, lambda given: _infix(written, sign, *given), (a, b), args)
        case Prefix(sign, a):
            return _of(written, lambda given: _prefix(written, sign, *given), (a,), args)
        case Choose(test, yes, no):
            return _of(written, lambda given: _choice(written, *given), (test, yes, no), args)
        case Apply(function, inner) if function in _FUNCTIONS:
            return _of(written, lambda given: _function(written, function, given), inner, args)
    return None


def _of(
    written: Operands,
    write: Callable[[list[Packet]], Packet | None],
    parts: Sequence[Element],
    args: Sequence[Packet],
) -> Packet | None:
    """What ``write`` gives for the values of ``parts``; None if it gives None or one of them has no vector instruction."""
    given = [at_once(written, p, args) for p in parts]
    return None if any(g is None for g in given) else write([g for g in given if g is not None])


def _infix(written: Operands, sign: str, a: Packet, b: Packet) -> Packet | None:
    """The packet of a binary operation; None unless both have one type and the sign is one instruction for it."""
    types, builder = written.types, written.builder
    if a.type != b.type:
        return None
    is_float, is_int = isinstance(a.type, types.Float), a.type == types.int64
    if sign in COMPARE and (is_float or is_int):
        compare = builder.icmp_signed if is_int else builder.fcmp_ordered if sign != "!=" else builder.fcmp_unordered
        return Packet(compare(sign, a.value, b.value), types.boolean)
    table = FLOAT if is_float else INT if is_int else LOGIC if a.type == types.boolean else {}
    if sign not in table:
        return None
    flags = exact_flags(written.context, sign, a.value, b.value)
    return Packet(getattr(builder, table[sign])(a.value, b.value, flags=flags), a.type)


def _prefix(written: Operands, sign: str, x: Packet) -> Packet | None:
    """The packet of ``not`` of booleans or ``-`` of floats; else None."""
    if sign == "not" and x.type == written.types.boolean:
        return Packet(written.builder.not_(x.value), x.type)
    if sign == "-" and isinstance(x.type, written.types.Float):
        return Packet(written.builder.fneg(x.value), x.type)
    return None


def _choice(written: Operands, test: Packet, yes: Packet, no: Packet) -> Packet | None:
    """The packet with the lanes of ``yes`` where ``test`` is set, else of ``no``; None if the types do not fit."""
    if test.type != written.types.boolean or yes.type != no.type:
        return None
    return Packet(written.builder.select(test.value, yes.value, no.value), yes.type)


# ------------------------------------------------------------------------------------------------ functions of floats


def _function(written: Operands, function: str, given: Sequence[Packet]) -> Packet | None:
    """The packet of a function in `_FUNCTIONS`; None unless all operands are floats of one type."""
    if not all(isinstance(x.type, written.types.Float) and x.type == given[0].type for x in given):
        return None
    return Packet(_FUNCTIONS[function](written, *(x.value for x in given)), given[0].type)


def _intrinsic(name: str) -> Callable[[Operands, Any], Any]:
    """A function that writes a call of the LLVM intrinsic of this name on one vector of floats, and gives its result."""

    def write(written: Operands, x: Any) -> Any:
        from llvmlite import ir as llvm

        whole = f"llvm.{name}.v{x.type.count}f{64 if isinstance(x.type.element, llvm.DoubleType) else 32}"
        type_ = llvm.FunctionType(x.type, [x.type])
        return written.builder.call(written.cgutils.get_or_insert_function(written.module, type_, whole), [x])

    return write


def _extreme(sign: str) -> Callable[[Operands, Any, Any], Any]:
    """A function that writes the larger (``sign`` ``>=``) or smaller (``<=``) of two vectors of floats, lane by lane.

    It is the first if that compares so with the second or is NaN, else the second: NaN in either gives NaN.
    """

    def write(written: Operands, a: Any, b: Any) -> Any:
        builder = written.builder
        is_first = builder.fcmp_ordered(sign, a, b)
        is_nan = builder.fcmp_unordered("!=", a, a)  # if the second is NaN, the comparison is false
        return builder.select(builder.or_(is_first, is_nan), a, b)

    return write


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "math.sqrt": _intrinsic("sqrt"),
    "math.fabs": _intrinsic("fabs"),
    "scalars.absolute": _intrinsic("fabs"),
    **{f"scalars.{name}": _intrinsic(name) for name in ("floor", "ceil", "trunc", "rint")},
    "scalars.maximum": _extreme(">="),
    "scalars.minimum": _extreme("<="),
}
"""The functions of elements that are vector instructions."""
