"""What compiled code raises and prints: the message is a site of `runtime.compiled.errors`, found by a number.

A kernel raises ``errors.IndexError_(site, i, n)``; the class puts the message together when it is raised, so that no string
is compiled. A site's number is a hash of its message, so that texts that say the same are the same.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from transpile.core.builder import Expr
from transpile.core.nodes import Const, Effect, Loc, Operand
from transpile.core.types import FLOAT64 as _FLOAT
from transpile.errors import error
from transpile.lower.elements import Elements

if TYPE_CHECKING:
    from transpile.lower.lowering import Lowering

CLASSES = (
    "ArithmeticError AssertionError Exception FloatingPointError IndexError KeyError LookupError NotImplementedError "
    "OverflowError RuntimeError TypeError ValueError ZeroDivisionError"
).split()

Parts = tuple[Any, ...]


def site(parts: Parts) -> int:
    """The number of a message."""
    return int(hashlib.sha256(repr(parts).encode()).hexdigest()[:13], 16)


def _raise(loc: Loc, exception: str, parts: Parts, args: tuple[Operand, ...]) -> Effect:
    name = exception if exception in CLASSES else "RuntimeError"
    params = {"class": f"{name}_", "site": site((name, *parts)), "parts": parts, "exception": name}
    return Effect("raise", args, params, loc)


def place(loc: Loc) -> tuple[Any, ...]:
    """The part of a message that says the user's line; the path is shown relative to where the program runs."""
    return (("at", loc.file, loc.line, loc.col),) if loc.file else ()


def out_of_range(loc: Loc, given: Expr, size: Expr) -> Effect:
    """IndexError: what was given, and the size of the axis."""
    parts = (*place(loc), "index ", 0, " is out of range for size ", 1)
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def wrong_mask(loc: Loc, given: Expr, size: Expr) -> Effect:
    parts = (*place(loc), "the mask has size ", 0, ", the array ", 1)
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def mismatch(loc: Loc, given: Expr, size: Expr) -> Effect:
    parts = (*place(loc), "index arrays of sizes ", 0, " and ", 1, " cannot be broadcast together")
    return _raise(loc, "IndexError", parts, (given.op, size.op))


def raise_value(loc: Loc, text: str) -> Effect:
    return _raise(loc, "ValueError", (*place(loc), text), ())


def lower_effect(lw: Lowering, stmt: Effect) -> None:
    """``raise`` and ``print`` of scalars; of arrays, what Numba can pass on."""
    args = []
    for a in stmt.args:
        held = lw.held(a)
        if isinstance(held, Elements) and held.rank:
            held = lw.rooted(held, "shown").root
        elif isinstance(held, Elements):
            held = held.at(()).op
        args.append(held)
    if stmt.kind == "raise":
        if any(a.type.dims for a in args):
            raise error(
                "T501",
                "an array in the message of a 'raise' cannot be compiled",
                stmt.loc,
                hint="say its shape, or one entry",
            )
        lw.b.emit(_raise(stmt.loc, stmt.params["exception"], tuple(stmt.params["parts"]), tuple(args)))
        return
    if any(a.type.dims for a in args):
        raise error(
            "T501", "print of an array cannot be compiled", stmt.loc, hint="print one entry, or remove the print"
        )
    lines = (*stmt.params["parts"], stmt.params.get("sep", " "), stmt.params.get("end", "\n"))
    kinds = tuple("b" if a.type.is_bool else "i" if a.type.is_int else "f" for a in args)
    params = {"site": site(("print", lines, kinds)), "parts": lines, "kinds": kinds}
    numbers = tuple(lw.compute("cast", [lw.b.expr(a)], _FLOAT, {}).op for a in args)
    lw.b.emit(Effect("print", numbers or (Const(0.0, _FLOAT),), params, stmt.loc))


def sites(fn: Any) -> dict[int, Any]:
    """All messages of a lowered function: what `runtime.compiled.errors.SITES` must hold before it runs."""
    from transpile.core.walk import statements

    found: dict[int, Any] = {}
    for s in statements(fn.body):
        if isinstance(s, Effect):
            entry = (
                (s.params["exception"], *s.params["parts"])
                if s.kind == "raise"
                else ("print", s.params["parts"], s.params["kinds"])
            )
            found[s.params["site"]] = entry
    return found
