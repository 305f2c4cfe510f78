"""Scalar operations: the element of a record (`transpile.ops.element`) as instructions.

Single instructions are written here; for any other operation Numba's implementation for the types is called.
"""

from __future__ import annotations

import importlib
import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported, Value
from transpile.ops.element import Apply, Arg, Choose, Element, Infix, Number, Prefix

FLOAT = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
INT = {"+": "add", "-": "sub", "*": "mul", "&": "and_", "|": "or_", "^": "xor"}
LOGIC = {"&": "and_", "|": "or_", "^": "xor", "and": "and_", "or": "or_"}
_PARTS = {"//": "udiv", "%": "urem"}  # for integers that are not negative
_OPERATORS: dict[str, Callable[..., Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
    "//": operator.floordiv, "%": operator.mod, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
COMPARE = ("<", "<=", ">", ">=", "==", "!=")
_UNARY: dict[str, Callable[..., Any]] = {"-": operator.neg, "~": operator.invert}
_OVERFLOWS = {f"intmath.overflows_{INT[sign]}": f"s{INT[sign]}_with_overflow" for sign in "+-*"}
_MODULES = {"math": math, "np": np}
_BUILTINS: dict[str, Any] = {"max": max, "min": min, "float": float, "int": int, "bool": bool}


@lru_cache(maxsize=256)
def named(name: str) -> Any:
    """The function or class that generated text calls by this name: a builtin, or a member of `math`, NumPy or a runtime
    module."""
    module, _, attribute = name.rpartition(".")
    if not module:
        return _BUILTINS[name]
    owner = _MODULES.get(module) or importlib.import_module(f"transpile_runtime.compiled.{module}")
    return getattr(owner, attribute)


def exact_flags(context: Any, sign: str, *operands: Any) -> tuple[str, ...]:
    """Flags for an instruction that must not be reassociated: the function's without "reassoc"; empty if the function's apply.

    A quotient times a factor keeps its order: LLVM would divide the product, which may overflow where the quotient does not
    (``t / (1 + t) * t``).
    """
    if sign != "*" or not any(getattr(x, "opname", "") == "fdiv" for x in operands):
        return ()
    return tuple([flag for flag in context.fastmath.flags if flag != "reassoc"])


class Scalars:
    """Writes scalar operations with an llvmlite builder, in a target context of Numba's; ``typing`` is Numba's typing
    context."""

    def __init__(self, context: Any, typing: Any) -> None:
        from numba.core import types

        self.context, self.typing, self.types = context, typing, types
        self.builder: Any = None
        self.group: Any = None  # access group of the current loop, if its iterations access disjoint memory

    # ---- calls

    def call(self, target: Any, args: Sequence[Value]) -> Scalar:
        """The result of a call of ``target``, a function that Numba can call, resolved by Numba for the argument types."""
        given = [self.struct(a) if isinstance(a, Array) else a for a in args]
        if target in (max, min):
            return self.extreme(target, given)
        signature, implementation = self.implementation(target, tuple([a.type for a in given]))
        values = [self.cast(a, wanted).value for a, wanted in zip(given, signature.args)]
        block = self.builder.block
        before = len(block.instructions)
        found = implementation(self.builder, values)
        if self.group is not None:
            for written in block.instructions[before:]:
                if written.opname == "call":
                    written.set_metadata("llvm.access.group", self.group)
        return Scalar(found, signature.return_type)

    def extreme(self, target: Any, given: Sequence[Scalar]) -> Scalar:
        """The maximum or minimum of int64 numbers, as ``target``, Python's ``max`` or ``min``, says; `Unsupported` for other
        types."""
        if any(x.type != self.types.int64 for x in given):
            raise Unsupported(f"{target.__name__} of {[str(x.type) for x in given]}")
        found = given[0].value
        for x in given[1:]:
            test = self.builder.icmp_signed(">" if target is max else "<", x.value, found)
            found = self.builder.select(test, x.value, found)
        return Scalar(found, self.types.int64)

    def implementation(self, target: Any, types: tuple[Any, ...]) -> tuple[Any, Any]:
        """A pair: Numba's signature of the function for these argument types, and a function that writes a call of it.

        `Unsupported` if Numba finds none.
        """
        from transpile_runtime.compiled import registries

        # its module may have just been imported, and declares its functions only on request; or it is not among the usual ones
        for prepare in (None, registries.some, registries.some, registries.all_):
            if prepare is not None:
                prepare(self.typing, self.context)
            try:
                function = self.typing.resolve_value_type(target)
                signature = self.typing.resolve_function_type(function, types, {})
                if signature is not None and len(signature.args) == len(types):
                    return signature, self.context.get_function(function, signature)
            except (ValueError, NotImplementedError):
                pass
        raise Unsupported(f"{target} of {[str(t) for t in types]}")

    def struct(self, array: Array) -> Scalar:
        """The array as a value of Numba's array type (`Arrays`)."""
        raise NotImplementedError

    def constant(self, value: Any, type_: Any) -> Scalar:
        return Scalar(self.context.get_constant(type_, value), type_)

    def cast(self, x: Scalar, to: Any) -> Scalar:
        """The number as Numba's type ``to``; the same object if it has that type."""
        if x.type == to:
            return x
        if x.type in self.types.real_domain and to in self.types.integer_domain:
            return self.truncated(x, to)
        return Scalar(self.context.cast(self.builder, x.value, x.type, to), to)

    def truncated(self, x: Scalar, to: Any) -> Scalar:
        """A float as an integer of the type ``to``, with C compilers' results where LLVM leaves them undefined.

        A narrow integer takes the low bits of a wider one; a negative number becomes unsigned by way of a signed integer.
        """
        if to.bitwidth < 64 and (not to.signed or to.bitwidth < 32):
            x = self.cast(x, self.types.int64 if not to.signed else self.types.int32)
        found = self.context.cast(self.builder, x.value, x.type, to)
        if x.type in self.types.real_domain and not to.signed:
            is_large = self.builder.fcmp_ordered(">=", x.value, self.constant(2.0**63, x.type).value)
            found = self.builder.select(is_large, found, self.cast(x, self.types.int64).value)
        return Scalar(found, to)

    def truth(self, x: Scalar) -> Any:
        """The value, cast to bool, as LLVM's bit."""
        return self.cast(x, self.types.boolean).value

    # ---- elements

    def element(self, node: Element, args: Sequence[Scalar], to: Any) -> Scalar:
        """The value of an element, in which operand ``k`` is ``args[k]``; ``to``: the type in which a choice is made."""
        match node:
            case Arg(k):
                return args[k]
            case Number(value):
                return self.constant(value, self.typing.resolve_value_type(value))
            case Apply(function, inner):
                given = [self.element(a, args, to) for a in inner]
                return self.overflow(function, given) if function in _OVERFLOWS else self.call(named(function), given)
            case Infix(sign, a, b):
                return self.infix(sign, self.element(a, args, to), self.element(b, args, to))
            case Prefix("not", a):
                return Scalar(self.builder.not_(self.truth(self.element(a, args, to))), self.types.boolean)
            case Prefix(sign, a):
                return self.prefix(sign, self.element(a, args, to))
            case Choose(test, yes, no):
                first, second = (self.cast(self.element(e, args, to), to) for e in (yes, no))
                chosen = self.builder.select(self.truth(self.element(test, args, to)), first.value, second.value)
                return Scalar(chosen, to)

    def infix(self, sign: str, a: Scalar, b: Scalar) -> Scalar:
        """The value of a binary operation: one instruction for two floats, int64 or bools, else Numba's, with promotion."""
        if sign in ("and", "or"):
            a, b = (Scalar(self.truth(x), self.types.boolean) for x in (a, b))
        if sign in COMPARE:
            return self.comparison(sign, a, b)
        types, write = self.types, None
        if a.type == b.type:
            if isinstance(a.type, types.Float):
                write = FLOAT.get(sign)
            elif a.type == types.int64:
                write = INT.get(sign) or (_PARTS.get(sign) if _is_positive(b) else None)
            elif a.type == types.boolean:
                write = LOGIC.get(sign)
        if write is not None:
            flags = exact_flags(self.context, sign, a.value, b.value)
            return Scalar(getattr(self.builder, write)(a.value, b.value, flags=flags), a.type)
        return self.call(_OPERATORS[sign], (a, b))

    def comparison(self, sign: str, a: Scalar, b: Scalar) -> Scalar:
        """The value of a comparison, a bool; NaN is unequal to everything."""
        types = self.types
        if a.type == b.type:
            if isinstance(a.type, types.Float):
                compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
                return Scalar(compare(sign, a.value, b.value), types.boolean)
            if a.type == types.int64:
                return Scalar(self.builder.icmp_signed(sign, a.value, b.value), types.boolean)
        return self.call(_OPERATORS[sign], (a, b))

    def prefix(self, sign: str, x: Scalar) -> Scalar:
        """The value of ``-x`` or ``~x``."""
        if sign == "-":
            if isinstance(x.type, self.types.Float):
                return Scalar(self.builder.fneg(x.value), x.type)
            if x.type == self.types.int64:
                return Scalar(self.builder.neg(x.value), x.type)
        return self.call(_UNARY[sign], (x,))

    def overflow(self, function: str, given: Sequence[Scalar]) -> Scalar:
        """The bool whether the sum, difference or product of int64 that ``function`` names does not fit in 64 bits.

        It is the machine's overflow flag; ``given`` are the two operands.
        """
        a, b = (self.cast(x, self.types.int64).value for x in given)
        both = getattr(self.builder, _OVERFLOWS[function])(a, b)
        return Scalar(self.builder.extract_value(both, 1), self.types.boolean)


def _is_positive(x: Scalar) -> bool:
    """Whether a scalar is known now to be an integer greater than 0."""
    value = getattr(x.value, "constant", None)
    return isinstance(value, int) and value > 0
