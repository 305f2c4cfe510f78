"""The lifter, which the modules of this package take as their first argument (``lx``).

What its parts need of parts that need them in turn (the value of an expression, a call, an item) they ask the lifter for: this
class says what can be asked, `transpile.frontend.whole_lifter` who answers. Expressions and statements are found in dispatch
tables; a missing entry is the refusal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import gast
import numpy as np

from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import DTYPES
from transpile.frontend.calls.result_types import Pair, Signature
from transpile.frontend.lifting import Lifting
from transpile.frontend.resolve import reads
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.sources.sources import Code
from transpile.frontend.state import Frame
from transpile.frontend.values.measured import Measured
from transpile.frontend.values.stretching import Stretching
from transpile.frontend.values.values import Array, Cell, Conflict, Generator, Ref, Scalar, Static

Args = list[Any]
Kwargs = dict[str, Any]


class Lifter(Lifting, ABC):
    """Lifts one function, with all that it calls, into one core function."""

    outer: Lifter | None
    stretching: Stretching

    def __init__(self, symbols: Any, mutable: bool = False) -> None:
        super().__init__(symbols, mutable)
        self.measured, self.stretching = Measured(self), Stretching(self)
        self.b.meet, self.b.parts, self.b.fits = self.stretching.meet, self.stretching.parts, self.stretching.fits

    # ---- the language, in two tables

    expressions: ClassVar[Mapping[type, Callable[[Lifter, Any], Any]]]
    statements: ClassVar[Mapping[type, Callable[[Lifter, Any], None]]]

    def expr(self, node: gast.AST) -> Any:
        """The value of an expression."""
        lift = self.expressions.get(type(node))
        if lift is None:
            raise self.error("T101", "this kind of expression is not supported", node, "write it another way")
        with self.at(node), self.rules(node):
            value = lift(self, node)
        if type(value) is Ref and value.cell in self.looks:
            self.looks[value.cell].others += 1
        return self.readable(value, node)

    def readable(self, value: Any, node: gast.AST) -> Any:
        """The value; refused if two paths left what cannot be read."""
        if isinstance(value, Conflict):
            raise self.error(value.code, value.message, node, value.hint)
        return value

    def block(self, stmts: list[gast.stmt]) -> None:
        """Lifts statements one after another."""
        for stmt in stmts:
            lift = self.statements.get(type(stmt))
            if lift is None:
                raise self.error("T101", "this kind of statement is not supported", stmt, "write it another way")
            frame = self.frame
            saved = frame.live, frame.stmt
            frame.live, frame.stmt = frame.code.liveness.after(stmt), stmt
            frame.entered.clear()
            try:
                with self.at(stmt), self.rules(stmt):
                    lift(self, stmt)
            finally:
                frame.live, frame.stmt = saved

    # ---- numbers and arrays

    @abstractmethod
    def operand(self, value: Any, node: Any = None) -> ir.Operand:
        """The core operand of a number or array; sequences of numbers become arrays."""

    def array(self, value: Any) -> Expr:
        return Expr(self.b, self.operand(value))

    def value(self, op: Any, **more: Any) -> Any:
        """The abstract value of an operand: a scalar, or a new array."""
        op = self.b.operand(op)
        return Scalar(op) if not op.type.dims else self.new_array(op, **more)

    @abstractmethod
    def new_array(
        self, op: ir.Operand, name: str = "", contiguous: bool = False, readonly: str = "", param: int = -1
    ) -> Array:
        """A new array that is a value."""

    def const(self, value: Any) -> Any:
        """The abstract value of a Python object."""
        is_numpy = isinstance(value, np.generic) and value.dtype.name in DTYPES
        if is_numpy or isinstance(value, (bool, int, float, complex, np.complexfloating)):
            with self.rules():
                return Scalar(self.b.operand(value))
        reads.note_content(value)
        return Static(value)

    @abstractmethod
    def structural(self, value: Any) -> Any:
        """The abstract value of a Python object that belongs to a structure: of another content it is another structure."""

    # ---- values that must be known now

    @abstractmethod
    def static(self, value: Any, what: str = "this value", node: Any = None) -> Any:
        """The Python object that a value is; refused if it is only known when the function runs."""

    @abstractmethod
    def need(self, op: ir.Operand, what: str, node: Any = None) -> NoReturn:
        """Asks for a value that only the run knows: by specialising on an argument, by unrolling a loop, or not at all."""

    # ---- calls

    @abstractmethod
    def apply(self, function: Any, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
        """The result of a call of any value."""

    @abstractmethod
    def known_call(self, name: str | Known, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
        """A call of something of NumPy, SciPy, math or Python, by its dotted name."""

    @abstractmethod
    def table_call(self, name: str, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
        """The same, of what stands in the tables of the rules."""

    @abstractmethod
    def user_call(self, target: Any, args: Args, kwargs: Kwargs, node: Any = None) -> Any:
        """A call of a Python function, live or static."""

    @abstractmethod
    def run(
        self,
        code: Code,
        parent: Frame | None,
        defaults: Mapping[str, Any],
        args: Args,
        kwargs: Kwargs,
        node: Any,
    ) -> Any:
        """The result of a function of the user's with these arguments."""

    @abstractmethod
    def outside(self, value: Any) -> Any:
        """The abstract value of an object that stands outside the function."""

    @abstractmethod
    def lift_inside(self, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mutable: bool) -> ir.Function:
        """The core function of a function that is transformed here, lifted by itself."""

    @abstractmethod
    def lift_body(
        self,
        code: Code,
        parent: Frame | None,
        trees: Mapping[str, Any],
        wish: Callable[[Pair], None],
    ) -> tuple[ir.Function | None, Signature | None, list[Cell], dict[Any, Any]]:
        """The core function of a kept function, and how it is called."""

    # ---- parts of values

    @abstractmethod
    def unrolled(self, value: Any, node: Any = None) -> list[Any]:
        """The items of an iterable whose length is known now."""

    @abstractmethod
    def generated(self, value: Generator, node: Any) -> Callable[[int], Any] | None:
        """The items of a generator expression by number (`transpile.frontend.control.live`); None where only the run knows how many
        there are."""

    @abstractmethod
    def sorted_items(self, value: Any, kwargs: Kwargs, node: Any) -> list[Any]:
        """The items of an iterable in order."""

    @abstractmethod
    def item(self, value: Any, index: Any, node: Any = None) -> Any:
        """``value[index]``."""

    @abstractmethod
    def attribute(self, value: Any, name: str, node: Any = None) -> Any:
        """``value.name``."""

    @abstractmethod
    def is_equal(self, a: Any, b: Any, node: Any) -> ir.Operand:
        """Whether two values are equal, as Python's ``==`` says."""
