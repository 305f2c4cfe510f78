"""Facts about an exception, sizes and lanes, from the generated statement that raised it.

They are stored on the exception, because the frames of generated code are removed from its traceback.
"""

from __future__ import annotations

import ast
from opcode import opmap
from types import FrameType, TracebackType
from typing import NamedTuple

from transpile.base.loader import generated_raises

RAISE = opmap["RAISE_VARARGS"]


class Said(NamedTuple):
    """``is_of_sizes``: sizes do not agree, in all lanes alike. ``lanes``: those that end the message, the outermost first."""

    is_of_sizes: bool = False
    lanes: tuple[int, ...] = ()


def said(failed: BaseException) -> Said:
    """The facts stored on the exception, else those of the generated *raise* statement that raised it; empty if something else
    raised it."""
    known: Said | None = getattr(failed, "__said__", None)
    at = last(failed)
    if known is not None or at is None or not is_raise(at):
        return known or Said()
    raised = generated_raises(at.tb_frame.f_code.co_filename).get(at.tb_lineno)
    if raised is None:
        return Said()
    return Said(raised.is_of_sizes, tuple(_value(node, at.tb_frame) for node in raised.lanes))


def note(failed: BaseException, found: Said | None = None) -> None:
    """Stores the facts on the exception: ``found``, or those that can be read from the exception itself; nothing if they are
    empty."""
    found = found or said(failed)
    if found != Said():
        failed.__said__ = found  # type: ignore[attr-defined]


def in_lanes(lanes: tuple[int, ...]) -> str:
    """The end of a message: ``(lane 3, 1)``, empty without lanes."""
    return f"(lane {', '.join(map(str, lanes))})" if lanes else ""


def last(failed: BaseException) -> TracebackType | None:
    """The last traceback entry of the exception, where it was raised; None if it was never raised."""
    at = failed.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at


def is_raise(at: TracebackType) -> bool:
    """True if the instruction at this traceback entry is a *raise*; frames made up by Numba may have no instruction."""
    code = at.tb_frame.f_code.co_code
    return 0 <= at.tb_lasti < len(code) and code[at.tb_lasti] == RAISE


def _value(node: ast.expr, frame: FrameType) -> int:
    """The number of a lane: the value of the expression ``node`` in the frame that raised."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<lane>", "eval")
    return int(eval(code, frame.f_globals, frame.f_locals))
