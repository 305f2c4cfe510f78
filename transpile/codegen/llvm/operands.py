"""Values of operands, and state shared by the functions of a module; used to write calls of kept functions, and threads."""

from __future__ import annotations

from itertools import count
from typing import Any

from transpile.codegen.llvm.frame_arrays import Small
from transpile.codegen.llvm.llvm_values import Array, Scalar, Unsupported, Value, scalar_type
from transpile.codegen.llvm.long_call_code import Watching
from transpile.codegen.llvm.stacks import Stack
from transpile.core import nodes as ir
from transpile.core.types import Type


class Operands(Watching):
    """Gives the values of operands, and holds the state of the function that is written."""

    def __init__(self, context: Any, typing: Any) -> None:
        super().__init__(context, typing)
        self.kept: dict[str, Any] = {}  # Numba's descriptions of the kept functions
        self.small = Small()
        self.read_somewhere: set[ir.Operand] = set()
        self.is_large = False  # whether less code is generated for the function
        self.apart: set[ir.Var] = set()  # indices of loops whose iterations access disjoint memory
        self.numbers = count()  # numbers for outlined loops
        self.starts_threads = False
        self.stacks: dict[ir.Var, Stack] = {}

    # ---- operands

    def value(self, op: ir.Operand) -> Value:
        """The value of an operand: that of a variable, a constant, or an arbitrary value for `Undef`."""
        if isinstance(op, ir.Var):
            return self.values[op]
        if isinstance(op, ir.Undef):
            return self.undefined(op.type)
        type_ = scalar_type(op.type)
        return self.constant(plain(op.value, op.type), type_)

    def scalar(self, op: ir.Operand) -> Scalar:
        """The value of an operand that is a number or a tuple; `Unsupported` for an array."""
        found = self.value(op)
        if not isinstance(found, Scalar):
            raise Unsupported(f"{op} is an array")
        return found

    def index(self, op: ir.Operand) -> Any:
        """The operand, a number, as an LLVM integer of a pointer's width."""
        return self.cast(self.scalar(op), self.types.intp).value

    def whole(self, op: ir.Operand) -> Array:
        """The value of an operand that is an array; `Unsupported` for a number."""
        found = self.value(op)
        if not isinstance(found, Array):
            raise Unsupported(f"{op} is no array")
        return found

    def undefined(self, type_: Type) -> Value:
        """A value of the type that is never read: 0, or an array without memory."""
        if type_.dims:
            return self.nothing(scalar_type(type_), len(type_.dims))
        return self.constant(plain(0, type_), scalar_type(type_))

    # ---- statements (`Statements`)

    def let(self, stmt: ir.Let) -> None:
        raise NotImplementedError

    def counted(self, stmt: ir.For) -> None:
        raise NotImplementedError


def plain(value: Any, type_: Type) -> Any:
    """The constant ``value`` as a bool, float or int of Python's, according to the dtype of the type."""
    return bool(value) if type_.is_bool else float(value) if type_.is_float else int(value)
