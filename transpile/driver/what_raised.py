"""What an exception says of sizes and lanes, from the statement that raised it. It goes with the exception where the frames of
generated code are left out of its traceback."""

from __future__ import annotations

import ast
from opcode import opmap
from types import FrameType, TracebackType
from typing import NamedTuple

from transpile.base.loader import generated_raises

RAISE = opmap["RAISE_VARARGS"]


class Said(NamedTuple):
    """Whether sizes do not agree, which is so in all lanes alike; the lanes that end the message, the outermost first."""

    is_of_sizes: bool = False
    lanes: tuple[int, ...] = ()


def said(failed: BaseException) -> Said:
    """What is said by the *raise* of generated text that has raised it; nothing, if something else has."""
    known: Said | None = getattr(failed, "__said__", None)
    at = last(failed)
    if known is not None or at is None or not is_raise(at):
        return known or Said()
    raised = generated_raises(at.tb_frame.f_code.co_filename).get(at.tb_lineno)
    if raised is None:
        return Said()
    return Said(raised.is_of_sizes, tuple(_value(node, at.tb_frame) for node in raised.lanes))


def note(failed: BaseException, found: Said | None = None) -> None:
    """Lets the exception say it from now on."""
    found = found or said(failed)
    if found != Said():
        failed.__said__ = found  # type: ignore[attr-defined]


def in_lanes(lanes: tuple[int, ...]) -> str:
    """The end of a message."""
    return f"(lane {', '.join(map(str, lanes))})" if lanes else ""


def last(failed: BaseException) -> TracebackType | None:
    """Where it was raised."""
    at = failed.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at


def is_raise(at: TracebackType) -> bool:
    """Whether a *raise* stands there: the instruction says so that was run. Frames that Numba makes up may have none."""
    code = at.tb_frame.f_code.co_code
    return 0 <= at.tb_lasti < len(code) and code[at.tb_lasti] == RAISE


def _value(node: ast.expr, frame: FrameType) -> int:
    """The number of a lane, which the message has shown."""
    code = compile(ast.fix_missing_locations(ast.Expression(node)), "<lane>", "eval")
    return int(eval(code, frame.f_globals, frame.f_locals))
