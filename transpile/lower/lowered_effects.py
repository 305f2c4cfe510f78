"""Exceptions and prints of compiled code, as statements with their messages (`transpile.analysis.messages`)."""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.messages import place
from transpile.analysis.value_ranges import LONGEST
from transpile.core import nodes as ir
from transpile.core.builder import Expr
from transpile.core.types import INT
from transpile.errors import error
from transpile.lower.element_functions import Elements
from transpile.lower.lowering import Lowering

CLASSES = """
    ArithmeticError AssertionError AttributeError BufferError ConnectionError DeprecationWarning EOFError Exception
    FileExistsError FileNotFoundError FloatingPointError FutureWarning ImportError IndexError KeyError LinAlgError
    LookupError MemoryError ModuleNotFoundError NameError NotImplementedError OSError OverflowError PermissionError
    RecursionError ReferenceError RuntimeError RuntimeWarning StopIteration SyntaxError SystemError TimeoutError
    TypeError UnboundLocalError UnicodeError UserWarning ValueError Warning ZeroDivisionError
""".split()
"""The exceptions that `transpile_runtime.compiled.errors` can raise."""


def _raise(
    loc: ir.Loc, exception: str, parts: ir.Parts, args: tuple[ir.Operand, ...], dtypes: tuple[str | None, ...] = ()
) -> ir.Raise:
    """The statement that raises the exception; T501 if compiled code cannot. ``parts`` and ``dtypes`` are those of `Raise`."""
    name = exception.rpartition(".")[2]
    if name not in CLASSES:
        hint = "raise a RuntimeError, or call the function without jit"
        raise error("T501", f"compiled code cannot raise {name!r}", loc, hint=hint)
    return ir.Raise(args, name, _with_line(loc, parts), dtypes=dtypes, loc=loc)


def _with_line(loc: ir.Loc, parts: ir.Parts) -> ir.Parts:
    """The message with the user's line, which its text does not show; unchanged if it has its place already or no file is
    known."""
    known = any(isinstance(p, tuple) and p[0] == "at" for p in parts)
    return (*parts, ("line", loc.file, loc.line, loc.col)) if loc.file and not known else parts


def in_range(loc: ir.Loc, at: Expr, size: Expr, given: Expr, low: bool) -> ir.BoundsCheck:
    """A check that raises IndexError if ``at`` is not below ``size`` or, with ``low``, is below 0; the message shows
    ``given``."""
    parts = _with_line(loc, (*place(loc), "index ", 0, " is out of range for size ", 1))
    return ir.BoundsCheck(at.op, size.op, given.op, low, "IndexError", parts, loc=loc)


def unless(loc: ir.Loc, test: Expr, exception: str, text: str) -> ir.Check:
    """A check that raises the exception if the test is true."""
    return ir.Check(test.op, exception, _with_line(loc, (*place(loc), text)), loc=loc)


def wrong_mask(loc: ir.Loc, given: Expr, size: Expr) -> ir.Raise:
    """The IndexError for a mask of another size (``given``) than its axis."""
    parts = (*place(loc), "the mask has size ", 0, ", the array ", 1)
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def mismatch(loc: ir.Loc, given: Expr, size: Expr) -> ir.Raise:
    """The IndexError for index arrays of the sizes ``given`` and ``size``, which do not broadcast together."""
    parts = (*place(loc), "index arrays of sizes ", 0, " and ", 1, " cannot be broadcast together")
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def in_size(loc: ir.Loc, value: Expr, parts: ir.Parts = ("an array cannot have the size ", 0)) -> ir.BoundsCheck:
    """A check that raises ValueError, with the message of ``parts``, if a number of the user's is below 0 or above `LONGEST`,
    and so cannot be a size."""
    shown = _with_line(loc, (*place(loc), *parts))
    return ir.BoundsCheck(value.op, ir.Const(LONGEST + 1, INT), value.op, True, "ValueError", shown, loc=loc)


def raise_value(loc: ir.Loc, text: str) -> ir.Raise:
    """The ValueError with this text."""
    return _raise(loc, "ValueError", (*place(loc), text), ())


def too_deep(loc: ir.Loc) -> ir.Raise:
    """The RecursionError of compiled code."""
    return _raise(loc, "RecursionError", (*place(loc), "maximum recursion depth exceeded"), ())


def lower_effect(lw: Lowering, stmt: ir.Print | ir.Raise) -> None:
    """Emits a ``raise`` or ``print`` with its operands lowered: arrays in memory, numbers unchanged. T501 for
    ``breakpoint()``."""
    if isinstance(stmt, ir.Breakpoint):
        hint = "call it without jit; breakpoint() also stops in the interpreted derivative"
        raise error("T501", "breakpoint() cannot stop in compiled code", stmt.loc, hint)
    args = []
    for a in stmt.args:
        held = lw.held(a)
        if isinstance(held, Elements):
            held = lw.rooted(held, "shown").root if held.rank else held.at(()).op
        args.append(held)
    # Numba passes all numbers to Python as Python numbers
    dtypes = tuple(None if a.type.weak or a.type.dims else a.type.dtype for a in stmt.args)
    dtypes = dtypes if any(dtypes) else ()
    if isinstance(stmt, ir.Raise):
        raised = _raise(stmt.loc, stmt.exception, stmt.parts, tuple(args), dtypes)
        lw.b.emit(replace(raised, sizes_at=stmt.sizes_at))
    else:
        lw.b.emit(replace(stmt, args=tuple(args), dtypes=dtypes))
