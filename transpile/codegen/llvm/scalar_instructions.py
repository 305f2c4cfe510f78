"""Scalar operations: how `transpile.codegen.numba.numba_scalars` spells a primitive is read and written as instructions.

What is a single instruction is written here; for all else the implementation that Numba has for the types is called.
"""

from __future__ import annotations

import ast
import importlib
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported, Value

_FLOAT = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_INT = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_LOGIC = {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"}
_COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.Invert: operator.invert, ast.USub: operator.neg,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
_MODULES = {"math": math, "np": np}
_BUILTINS: dict[str, Any] = {"max": max, "min": min, "float": float, "int": int, "bool": bool}


@lru_cache(maxsize=1024)
def parsed(template: str, count: int) -> ast.expr:
    """The template as a tree; the operands are the names ``a0``, ``a1``, …"""
    text = template.format(*(f"a{k}" for k in range(count)))
    return ast.parse(text, mode="eval").body


@lru_cache(maxsize=256)
def named(name: str) -> Any:
    """The function that generated text calls by a name."""
    module, _, attribute = name.rpartition(".")
    if not module:
        return _BUILTINS[name]
    owner = _MODULES.get(module) or importlib.import_module(f"transpile_runtime.compiled.{module}")
    return getattr(owner, attribute)


class Scalars:
    """Writes scalar operations with a builder of llvmlite, in a target context of Numba's."""

    def __init__(self, context: Any, typing: Any) -> None:
        from numba.core import types

        self.context, self.typing, self.types = context, typing, types
        self.builder: Any = None
        self.group: Any = None  # of the accesses of the loop that is written, if no two trips meet

    # ---- calls

    def call(self, target: Any, args: Sequence[Value]) -> Scalar:
        """The result of a function that Numba can call, as Numba finds it for the types of the arguments."""
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
        """The greatest or the smallest of integers."""
        if any(x.type != self.types.int64 for x in given):
            raise Unsupported(f"{target.__name__} of {[str(x.type) for x in given]}")
        found = given[0].value
        for x in given[1:]:
            test = self.builder.icmp_signed(">" if target is max else "<", x.value, found)
            found = self.builder.select(test, x.value, found)
        return Scalar(found, self.types.int64)

    def implementation(self, target: Any, types: tuple[Any, ...]) -> tuple[Any, Any]:
        """The signature of a function for arguments of these types, and what writes a call of it."""
        from transpile_runtime.compiled import registries

        # its module may have been imported just now, and what it does is declared when it is asked for; or it is none of the few
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
        raise NotImplementedError

    def constant(self, value: Any, type_: Any) -> Scalar:
        return Scalar(self.context.get_constant(type_, value), type_)

    def cast(self, x: Scalar, to: Any) -> Scalar:
        if x.type == to:
            return x
        return Scalar(self.context.cast(self.builder, x.value, x.type, to), to)

    def truth(self, x: Scalar) -> Any:
        """A boolean as LLVM tests it."""
        return self.cast(x, self.types.boolean).value

    # ---- expressions

    def expression(self, node: ast.expr, names: Mapping[str, Scalar], to: Any) -> Scalar:
        match node:
            case ast.Name(id=name):
                return names[name]
            case ast.Constant(value=value):
                return self.constant(value, self.typing.resolve_value_type(value))
            case ast.Call(func=ast.Attribute() | ast.Name() as function, args=args):
                given = [self.expression(a, names, to) for a in args]
                return self.call(named(ast.unparse(function)), given)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.expression(left, names, to), self.expression(right, names, to))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.comparison(op, self.expression(left, names, to), self.expression(right, names, to))
            case ast.BoolOp(op=op, values=values):
                tests = [self.truth(self.expression(v, names, to)) for v in values]
                join = self.builder.and_ if isinstance(op, ast.And) else self.builder.or_
                found = tests[0]
                for test in tests[1:]:
                    found = join(found, test)
                return Scalar(found, self.types.boolean)
            case ast.UnaryOp(op=ast.Not(), operand=x):
                return Scalar(self.builder.not_(self.truth(self.expression(x, names, to))), self.types.boolean)
            case ast.UnaryOp(op=op, operand=x):
                return self.unary(op, self.expression(x, names, to))
            case ast.IfExp(test=test, body=yes, orelse=no):
                first, second = (self.cast(self.expression(e, names, to), to) for e in (yes, no))
                return Scalar(
                    self.builder.select(self.truth(self.expression(test, names, to)), first.value, second.value), to
                )
        raise Unsupported(ast.unparse(node))

    def binary(self, op: ast.operator, a: Scalar, b: Scalar) -> Scalar:
        types, kind = self.types, type(op)
        if a.type == b.type:
            if kind in _FLOAT and isinstance(a.type, types.Float):
                return Scalar(getattr(self.builder, _FLOAT[kind])(a.value, b.value), a.type)
            if kind in _INT and a.type == types.int64:
                return Scalar(getattr(self.builder, _INT[kind])(a.value, b.value), a.type)
            if kind in _LOGIC and a.type == types.boolean:
                return Scalar(getattr(self.builder, _LOGIC[kind])(a.value, b.value), a.type)
        return self.call(_OPERATORS[kind], (a, b))

    def comparison(self, op: ast.cmpop, a: Scalar, b: Scalar) -> Scalar:
        types, sign = self.types, _COMPARE[type(op)]
        if a.type == b.type:
            if isinstance(a.type, types.Float):
                compare = self.builder.fcmp_unordered if sign == "!=" else self.builder.fcmp_ordered
                return Scalar(compare(sign, a.value, b.value), types.boolean)
            if a.type == types.int64:
                return Scalar(self.builder.icmp_signed(sign, a.value, b.value), types.boolean)
        return self.call(_OPERATORS[type(op)], (a, b))

    def unary(self, op: ast.unaryop, x: Scalar) -> Scalar:
        if isinstance(op, ast.USub):
            if isinstance(x.type, self.types.Float):
                return Scalar(self.builder.fneg(x.value), x.type)
            if x.type == self.types.int64:
                return Scalar(self.builder.neg(x.value), x.type)
        return self.call(_OPERATORS[type(op)], (x,))

    def quotient(self, prim: str, a: Scalar, b: Scalar) -> Scalar | None:
        """Of integers that are not negative, if they are divided by a number that is not 0."""
        divisor = getattr(b.value, "constant", None)
        if a.type != self.types.int64 or a.type != b.type or not isinstance(divisor, int) or divisor <= 0:
            return None
        divide = self.builder.udiv if prim == "quick_div" else self.builder.urem
        return Scalar(divide(a.value, b.value), a.type)
