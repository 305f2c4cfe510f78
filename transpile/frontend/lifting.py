"""What is known while a function is lifted, and how that knowledge forks and comes together.

In: nothing but the builder. Out: `Lifting`, which is all that sizes and aliases ask for; `lifter.py` adds the language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import gast

from transpile.base import axis_names
from transpile.core import nodes as ir
from transpile.core.builder import Builder, NotANumber, NotReal
from transpile.core.dims import Dim
from transpile.errors import NO_COMPLEX, RuleError, TranspileError, error
from transpile.frontend.resolve.looks import Looks
from transpile.frontend.sources.origin import place_of_user
from transpile.frontend.state import Frame, State
from transpile.frontend.values.values import Cell
from transpile.ops.tables import prims

# from what lifts the function under a stack of transforms, the stack, and the trees of the arguments
Transforms: TypeAlias = "Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], ir.Function]"


class Stretches(Protocol):
    """What is asked of `transpile.frontend.values.stretching`."""

    def may_be_one(self, dim: Dim) -> bool: ...

    def is_given(self, dim: Dim) -> bool: ...

    def narrower(self, to: Dim) -> list[Dim]: ...


class Lifting:
    """What is known while one function is lifted, with all that it calls, into one core function."""

    stretching: Stretches

    def __init__(self, symbols: Any, mutable: bool = False) -> None:
        self.b = Builder(prims())
        self.symbols = symbols
        self.b.unify = lambda a, b: symbols.unify(self, a, b)
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
        self.params: dict[ir.Var, int] = {}
        self.given: dict[Cell, Any] = {}  # the trees of the arguments that are arrays and containers
        self.nameless: dict[
            ir.Var, str
        ] = {}  # parameters inside trees: named by the first name that the user gives them
        self.codes: dict[Any, Any] = {}
        self.transforms: Transforms | None = None  # how a stack of transforms is lifted
        self.outer: Lifting | None = None  # that of the function around, where a transform is called in it
        self.own_rules: tuple[Any, ...] = ()  # the custom_jvp and custom_vjp functions whose rules are being lifted
        self.sizes: Any = None  # transpile.frontend.resolve.closure_conversion.Sizes, where there is an outer lifter
        self.around: dict[Cell, Cell] = {}  # arrays of the lifter around -> those of this one
        self.read_around: dict[Any, Any] = {}  # names of the functions around that were read, and what they stood for
        self.hidden: dict[ir.Var, ir.Var] = {}  # variables of the lifter around -> the hidden parameters for them
        self.customs: list[Any] = []  # the functions with derivatives of their own whose rules are being lifted
        self.recalled: list[Any] = []  # those of them that their own rules call
        self.ruled: list[Any] = []  # the trees of the arguments of that whose rule is lifted; None: its function
        self.keeps = False  # a forward rule is being lifted: what it gives is for the backward rule
        self.first_capture = 0  # the number of the first hidden parameter
        self.captures: dict[ir.Var, Any] = {}  # the hidden parameters, and how they are read
        self.captured_values: dict[Any, Any] = {}
        self.captured_cells: dict[Cell, Any] = {}  # what captured arrays and containers hold
        self.looks: dict[Cell, Looks] = {}  # what was looked at of the dicts and lists among them
        self.axes = axis_names.bound()  # the axes of vmaps that have names here, the innermost last
        self.instances: dict[Cell, Any] = {}  # the instances of registered classes that stand outside
        self.fixed_values: dict[Any, Any] = {}  # what belongs to structures, by its content
        self.fixed_cells: dict[Cell, Any] = {}  # and of its arrays and containers the Python objects
        self.frozen: dict[Any, None] = {}  # captured numbers and arrays that must be known
        self.checked: dict[ir.Var, Any] = {}  # their parameters, and the values that they must have at each call
        self.examples: dict[ir.Var, Any] = {}  # arrays of integers that are arguments, as they are now
        self.known_arrays: dict[ir.Var, Any] = {}  # arrays whose entries are known, and what is one of these
        self.outer_states: list[State] = []  # the states around the one that is being changed
        self.errstate: dict[str, str] = {}  # what np.errstate was asked for, anywhere
        self.appended: dict[
            Cell, Any
        ] = {}  # what loops append to lists: transpile.frontend.control.dynamic_lists.Element
        self.loops: list[Any] = []  # the loops that are open: transpile.frontend.control.loop_fixpoint.Carrying
        # the place of all that is lifted: of a call whose body is none of the user's business
        self.pinned: ir.Loc | None = None
        self.certain: ir.Block | None = None  # where the body of a function of NumPy's begins: what runs for sure
        self.start = ir.NOWHERE  # where the function is defined: the place of what concerns the whole of it
        self.returned = ir.NOWHERE  # its last 'return'
        self.open_blocks: list[ir.Block] = []  # the blocks around the one that is being filled
        self.root: ir.Block = self.b.block
        self.kept: Any = None  # transpile.frontend.calls.recursion.Kept

    # ---- where we are

    def loc(self, node: gast.AST) -> ir.Loc:
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
        notes: tuple[str, ...] = (
            (", ".join(self.symbols.shapes),) if self.symbols.shapes and code in ("T202", "T203", "T207") else ()
        )
        message, unnamed = _UNNAMED.subn("?", message)
        notes += ("? is a size that is only known at run time",) * bool(unnamed)
        at = place_of_user(loc if loc.line else self.start)
        return error(code, _SYMBOL.sub(r"\1", message), at, hint, notes)

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
            raise self.error(e.code, e.message + sizes, node, e.hint or _USUAL.get(e.code, "")) from None
        except NotReal as e:
            raise self.error("T311", str(e), node, NO_COMPLEX) from None
        except NotANumber as e:
            raise self.error("T120", str(e), node, "pass a number or an array") from None

    def key(self, node: gast.AST) -> tuple[Any, ...]:
        """The same for a node and the chain of calls that leads to it, in every try."""
        return (id(node), self.frame.code, self.frame.caller, self.frame.depth)

    def turn(self, code: Any, caller: ir.Loc | None) -> tuple[Any, ...]:
        """Tells apart the runs of one place: iterations of unrolled loops, items of ``map``, operators of one sum."""
        count = self.frame.entered.get((code, caller), 0)
        self.frame.entered[code, caller] = count + 1
        return (self.frame.turns, self.turns, count)

    # ---- forks

    @contextmanager
    def into(self, block: ir.Block) -> Iterator[ir.Block]:
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


_USUAL = {
    "T131": "leave the argument out, or pass another value",
    "T201": "convert the argument: .astype(...), int(...) or float(...)",
    "T202": "reshape an argument, or add an axis with [:, None]",
    "T203": "pass an argument of another shape",
    "T207": "correct the index",
    "T208": "axes count from 0, or from -1 at the end",
    "T209": "use bool, or an integer or float dtype of 8 to 64 bits",
    "T214": "give all rows the same length",
}
"""The way out of what a rule refuses, where the rule has none."""

_UNNAMED = re.compile(r"(?<![\w.])size\.\d+")  # what `Builder.fresh_symbol` calls a size
_SYMBOL = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\.\d*(?=[\s,)\]*/+-]|$)")  # of an integer: its name, a dot, a number
