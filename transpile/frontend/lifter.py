"""The lifter: what is known while a function is lifted, and how that knowledge forks and comes together.

In: nothing but the builder. Out: `Lifter`, which the modules of this package take as their first argument (``lx``).
Expressions and statements are found in dispatch tables; a missing entry is the refusal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import gast
import numpy as np

from transpile import axis_names
from transpile.core.builder import Builder, Expr, NotANumber, NotReal
from transpile.core.nodes import NOWHERE, Block, Const, Function, Loc, Operand, Var
from transpile.errors import NO_COMPLEX, RuleError, TranspileError, error
from transpile.frontend import reads
from transpile.frontend.measured import Measured
from transpile.frontend.stretching import Stretching
from transpile.frontend.symbols import Restart
from transpile.frontend.values import Cell, Conflict, Scalar, Static
from transpile.rules.tables import prims


class Dead(Exception):
    """What follows is never reached: the user's program raised."""


class NeedStatic(Exception):
    """A value must be known when the function is transformed; ``leaf`` is the parameter leaf that it is computed from."""

    def __init__(self, leaf: int, why: TranspileError | None = None) -> None:
        super().__init__(leaf)
        self.leaf = leaf
        self.why = why


class NeedValue(Exception):
    """A value must be known now; ``sources`` are the variables that it is computed from."""

    def __init__(self, sources: tuple[Var, ...], why: TranspileError) -> None:
        super().__init__(sources)
        self.sources = sources
        self.why = why


class NeedBuffer(Exception):
    """A cell from outside a region is written inside it: it must be a buffer before the region begins."""

    def __init__(self, cell: Cell) -> None:
        super().__init__(cell)
        self.cell = cell


@dataclass(frozen=True, eq=False)
class Opposite:
    """The fact that an operand is false."""

    test: Operand


@dataclass(eq=False)
class Frame:
    """One run of a user's function, or of a comprehension: a scope of names."""

    code: Any  # transpile.frontend.sources.Code
    parent: Frame | None = None  # the scope around it in the source
    caller: Loc | None = None
    locals: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()  # names that are declared nonlocal
    depth: int = 0
    live: frozenset[str] | None = None  # the names that are still read after the statement that runs
    stmt: Any = None  # the statement that runs
    keep: bool = False  # a function that was defined in it may outlive it
    up: Frame | None = None  # the frame of the call
    result: Any = None  # what its return statement gave


@dataclass
class State:
    """What the names and the cells hold at one point of the program."""

    vars: dict[tuple[Frame, str], Any] = field(default_factory=dict)
    cells: dict[Cell, Any] = field(default_factory=dict)

    def fork(self) -> State:
        return State(dict(self.vars), dict(self.cells))


# from what lifts the function under a stack of transforms, the stack, and the trees of the arguments
Transforms: TypeAlias = "Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Function]"


class Lifter:
    """Lifts one function, with all that it calls, into one core function."""

    def __init__(self, symbols: Any, mutable: bool = False) -> None:
        self.b = Builder(prims())
        self.symbols = symbols
        self.b.unify = lambda a, b: symbols.unify(self, a, b)
        self.measured, self.stretching = Measured(self), Stretching(self)
        self.b.meet, self.b.parts, self.b.fits = self.stretching.meet, self.stretching.parts, self.stretching.fits
        self.b.decide = lambda a, b, noted=True: symbols.decide(self, a, b, noted)
        self.b.least = symbols.least
        self.b.canonical = symbols.resolve
        self.mutable = mutable
        self.state = State()
        self.frame: Frame = Frame(None)
        self.regions: list[frozenset[Cell]] = []  # the cells that each open loop body or branch found when it began
        self.facts: list[Any] = []  # what is known here: operands that are true, an `Opposite` of one that is false
        self.aliases: dict[Cell, dict[Cell, None]] = {}
        self.writes: dict[Cell, int] = {}  # how often arrays and containers were written so far
        self.turns: tuple[int, ...] = ()  # the numbers of the trips of the unrolled loops around
        self.memo: dict[Any, Any] = {}  # what a region learnt when it was lifted before
        self.written: dict[int, None] = {}  # the numbers of parameters that are written (mutable)
        self.params: dict[Var, int] = {}
        self.given: dict[Cell, Any] = {}  # the trees of the arguments that are arrays and containers
        self.nameless: dict[Var, str] = {}  # parameters inside trees: named by the first name that the user gives them
        self.codes: dict[Any, Any] = {}
        self.transforms: Transforms | None = None  # how a stack of transforms is lifted
        self.outer: Lifter | None = None  # that of the function around, where a transform is called in it
        self.own_rules: tuple[Any, ...] = ()  # the custom_jvp and custom_vjp functions whose rules are being lifted
        self.sizes: Any = None  # transpile.frontend.nested.Sizes, where there is an outer lifter
        self.around: dict[Cell, Cell] = {}  # arrays of the lifter around -> those of this one
        self.hidden: dict[Var, Var] = {}  # variables of the lifter around -> the hidden parameters for them
        self.customs: list[Any] = []  # the functions with derivatives of their own whose rules are being lifted
        self.first_capture = 0  # the number of the first hidden parameter
        self.captures: dict[Var, Any] = {}  # the hidden parameters, and how they are read
        self.captured_values: dict[Any, Any] = {}
        self.captured_cells: dict[Cell, Any] = {}  # what captured arrays and containers hold
        self.axes = axis_names.bound()  # the axes of vmaps that have names here, the innermost last
        self.frozen: dict[Any, None] = {}  # captured integers that must be known
        self.checked: dict[Var, int] = {}  # their parameters, and the values that they must have at each call
        self.outer_states: list[State] = []  # the states around the one that is being changed
        self.errstate: dict[str, str] = {}  # what np.errstate was asked for, anywhere
        self.appended: dict[Cell, Any] = {}  # what loops append to lists: transpile.frontend.growing.Element
        self.loops: list[Any] = []  # the loops that are open: transpile.frontend.carrying.Carrying
        # the place of all that is lifted: of a call whose body is none of the user's business
        self.pinned: Loc | None = None
        self.start = NOWHERE  # where the function is defined: the place of what concerns the whole of it
        self.returned = NOWHERE  # its last 'return'
        self.open_blocks: list[Block] = []  # the blocks around the one that is being filled
        self.root: Block = self.b.block
        self.kept: Any = None  # transpile.frontend.routines.Kept

    # ---- where we are

    def loc(self, node: gast.AST) -> Loc:
        return self.pinned or self.frame.code.loc(node, self.frame.caller)

    @contextmanager
    def at(self, node: gast.AST) -> Iterator[None]:
        if getattr(node, "lineno", None) is None:
            yield
            return
        with self.b.at(self.loc(node)):
            yield

    def error(self, code: str, message: str, node: Any = None, hint: str = "") -> TranspileError:
        """The diagnostic, to be raised."""
        loc = self.loc(node) if node is not None else self.b.loc
        notes = (", ".join(self.symbols.shapes),) if self.symbols.shapes and code in ("T202", "T203", "T207") else ()
        return error(code, _SYMBOL.sub(r"\1", message), loc if loc.line else self.start, hint, notes)

    @contextmanager
    def rules(self, node: Any = None) -> Iterator[None]:
        """Turns what a rule says into a diagnostic at the user's code."""
        try:
            yield
        except RuleError as e:
            sizes = (
                f" ({', '.join(self.symbols.apart)})"
                if e.code in ("T202", "T203", "T207") and self.symbols.apart
                else ""
            )
            raise self.error(e.code, e.message + sizes, node, e.hint) from None
        except NotReal as e:
            raise self.error("T311", str(e), node, NO_COMPLEX) from None
        except NotANumber as e:
            raise self.error("T120", str(e), node) from None

    def key(self, node: gast.AST) -> tuple[Any, ...]:
        """The same for a node and the chain of calls that leads to it, in every try."""
        return (id(node), self.frame.code, self.frame.caller, self.frame.depth)

    # ---- forks

    @contextmanager
    def into(self, block: Block) -> Iterator[Block]:
        """Emits into ``block`` for a while."""
        self.open_blocks.append(self.b.block)
        try:
            with self.b.into(block):
                yield block
        finally:
            self.open_blocks.pop()

    @contextmanager
    def forked(self, state: State) -> Iterator[State]:
        saved, self.state = self.state, state
        self.outer_states.append(saved)
        facts = len(self.facts)
        try:
            yield state
        finally:
            self.outer_states.pop()
            self.state = saved
            del self.facts[facts:]

    @contextmanager
    def region(self) -> Iterator[None]:
        self.regions.append(frozenset(self.state.cells))
        try:
            yield
        finally:
            self.regions.pop()

    # ---- values that must be known now

    def static(self, value: Any, what: str = "this value", node: Any = None) -> Any:
        """The Python object that a value is; refused if it is only known when the function runs."""
        from transpile.frontend import statics

        return statics.python(self, value, what, node)

    def need(self, op: Operand, what: str, node: Any = None) -> NoReturn:
        """Asks for a value that only the run knows: by specialising on an argument, by unrolling a loop, or not at all."""
        from transpile.frontend import statics

        statics.need(self, op, what, node)

    # ---- dispatch

    def expr(self, node: gast.AST) -> Any:
        """The value of an expression."""
        from transpile.frontend.expressions import EXPRESSIONS

        lift = EXPRESSIONS.get(type(node))
        if lift is None:
            raise self.error("T101", f"{type(node).__name__} expressions cannot be transformed", node)
        with self.at(node), self.rules(node):
            value = lift(self, node)
        return self.readable(value, node)

    def readable(self, value: Any, node: gast.AST) -> Any:
        """The value; refused if two paths left what cannot be read."""
        if isinstance(value, Conflict):
            raise self.error(value.code, value.message, node, value.hint)
        return value

    def block(self, stmts: list[gast.stmt]) -> None:
        """Lifts statements one after another."""
        from transpile.frontend.statements import STATEMENTS

        for stmt in stmts:
            lift = STATEMENTS.get(type(stmt))
            if lift is None:
                raise self.error("T101", f"{type(stmt).__name__} statements cannot be transformed", stmt)
            frame = self.frame
            saved = frame.live, frame.stmt
            frame.live, frame.stmt = frame.code.liveness.after(stmt), stmt
            try:
                with self.at(stmt), self.rules(stmt):
                    lift(self, stmt)
            finally:
                frame.live, frame.stmt = saved

    # ---- operands

    def operand(self, value: Any, node: Any = None) -> Operand:
        """The core operand of a number or array; sequences of numbers become arrays."""
        from transpile.frontend import convert

        return convert.operand(self, value, node)

    def array(self, value: Any) -> Expr:
        return Expr(self.b, self.operand(value))

    def value(self, op: Any, **more: Any) -> Any:
        """The abstract value of an operand: a scalar, or a new array."""
        from transpile.frontend import memory

        op = self.b.operand(op)
        return Scalar(op) if not op.type.dims else memory.new_array(self, op, **more)

    def const(self, value: Any) -> Any:
        """The abstract value of a Python object."""
        if isinstance(value, (bool, int, float, complex, np.complexfloating)):
            with self.rules():
                return Scalar(self.b.operand(value))
        reads.note_content(value)
        return Static(value)


_SYMBOL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\.\d*(?=[\s,)\]*/+-]|$)")  # of an integer: its name, a dot, a number


def is_const(op: Any) -> bool:
    return isinstance(op, Const)


__all__ = [
    "NOWHERE",
    "Dead",
    "Frame",
    "Lifter",
    "NeedBuffer",
    "NeedStatic",
    "NeedValue",
    "Opposite",
    "Restart",
    "State",
]
