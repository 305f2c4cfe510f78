"""How many bytes a gradient records: its generated text is run with tapes that count."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import transpile as tp

IS_TAPE = re.compile(r"_(tape|stack)\d*$")


def recorded_bytes(text: str, kernel: Any, gradient: Callable) -> int | None:
    """Bytes in arrays that are tapes and in stacks at their highest, in one interpreted run; by `tp.report` where there is one."""
    if hasattr(tp, "report"):
        return getattr(tp.report(gradient, *kernel.args()), "bytes", None)
    highest: dict[str, int] = {}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith("<transpile "):
            return None
        frame.f_trace_lines = (
            any("_stack" in n or "_tape" in n for n in frame.f_code.co_varnames) and "append" in frame.f_code.co_names
        )
        for name, value in frame.f_locals.items():
            if IS_TAPE.search(name):
                highest[name] = max(highest.get(name, 0), size_of(value))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        gradient(*kernel.args())
    finally:
        sys.settrace(before)
    return sum(highest.values())


def size_of(value: Any) -> int:
    """Bytes of a tape: an array, or a list, whose items are taken to be of one size."""
    if isinstance(value, list):
        return len(value) * size_of(value[0]) if value else 0
    return value.nbytes if isinstance(value, np.ndarray) else 8
