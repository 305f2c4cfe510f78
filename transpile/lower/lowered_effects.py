"""What compiled code raises and prints, as statements: each has its message (`transpile.analysis.messages`)."""

from __future__ import annotations

from dataclasses import replace

from transpile.analysis.messages import Parts, place, site
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
"""What `transpile_runtime.compiled.errors` can raise: each has its class there."""


def _raise(
    loc: ir.Loc, exception: str, parts: Parts, args: tuple[ir.Operand, ...], dtypes: tuple[str | None, ...] = ()
) -> ir.Effect:
    name = exception.rpartition(".")[2]
    if name not in CLASSES:
        raise error("T501", f"'{name}' cannot be raised by compiled code", loc, hint="raise a RuntimeError")
    known = any(isinstance(p, tuple) and p[0] == "at" for p in parts)
    line = (("line", loc.file, loc.line, loc.col),) if loc.file and not known else ()  # not part of the message
    entry = (name, dtypes, *parts, *line)
    params = {"class": f"{name}_", "site": site(entry), "entry": entry}
    return ir.Effect("raise", args, params, loc)


def in_range(loc: ir.Loc, at: Expr, size: Expr, given: Expr, low: bool) -> ir.Effect:
    """IndexError if ``at`` is not below ``size``, or, with ``low``, below 0; the message names what was given.

    A fourth operand, if there is one, says whether to ask at all (`transpile.loops.check_hoisting`).
    """
    parts = (*place(loc), "index ", 0, " is out of range for size ", 1)
    found = _raise(loc, "IndexError", parts, ())
    return replace(found, kind="check", args=(at.op, size.op, given.op), params={**found.params, "low": low})


def unless(loc: ir.Loc, test: Expr, exception: str, text: str) -> ir.Effect:
    """The exception where the test is true: a check of 1 < 1 that is only asked there."""
    found = _raise(loc, exception, (*place(loc), text), ())
    one = ir.Const(1, INT)
    params = {**found.params, "low": False, "question": True}
    return replace(found, kind="check", args=(one, one, one, test.op), params=params)


def wrong_mask(loc: ir.Loc, given: Expr, size: Expr) -> ir.Effect:
    parts = (*place(loc), "the mask has size ", 0, ", the array ", 1)
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def mismatch(loc: ir.Loc, given: Expr, size: Expr) -> ir.Effect:
    parts = (*place(loc), "index arrays of sizes ", 0, " and ", 1, " cannot be broadcast together")
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def in_size(loc: ir.Loc, value: Expr, parts: Parts = ("an array cannot have the size ", 0)) -> ir.Effect:
    """ValueError if a number that the user gave cannot be a size."""
    found = _raise(loc, "ValueError", (*place(loc), *parts), ())
    limit = ir.Const(LONGEST + 1, INT)
    return replace(found, kind="check", args=(value.op, limit, value.op), params={**found.params, "low": True})


def raise_value(loc: ir.Loc, text: str) -> ir.Effect:
    return _raise(loc, "ValueError", (*place(loc), text), ())


def too_deep(loc: ir.Loc) -> ir.Effect:
    return _raise(loc, "RecursionError", (*place(loc), "maximum recursion depth exceeded"), ())


def lower_effect(lw: Lowering, stmt: ir.Effect) -> None:
    """``raise`` and ``print``: the values that the text shows are passed on as they are, arrays in memory."""
    if "call" in stmt.params:
        hint = "call the function without jit: the derivative that is printed stops there too"
        raise error("T501", f"{stmt.params['call']}() cannot stop in compiled code", stmt.loc, hint)
    args = []
    for a in stmt.args:
        held = lw.held(a)
        if isinstance(held, Elements):
            held = lw.rooted(held, "shown").root if held.rank else held.at(()).op
        args.append(held)
    # Numba hands all numbers to Python as Python's own
    dtypes = tuple(None if a.type.weak or a.type.dims else a.type.dtype for a in stmt.args)
    dtypes = dtypes if any(dtypes) else ()
    if stmt.kind == "raise":
        lw.b.emit(_raise(stmt.loc, stmt.params["exception"], tuple(stmt.params["parts"]), tuple(args), dtypes))
        return
    entry = (None, dtypes, *stmt.params["parts"], stmt.params.get("sep", " "), stmt.params.get("end", "\n"))
    lw.b.emit(ir.Effect("print", tuple(args), {"site": site(entry), "entry": entry}, stmt.loc))
