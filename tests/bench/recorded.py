"""The number of bytes that a gradient records: as `tp.report` predicts, and as its generated text uses them when it runs."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

import transpile as tp

IS_TAPE = re.compile(r"_tape(_\d+)?$")


class TooLong(BaseException):
    """The interpreted run exceeds its time."""


def recorded_bytes(gradient: Callable, args: tuple, seconds: float) -> int | None:
    """The number of bytes from `tp.report`; None if counting at run time would take longer than ``seconds``."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooLong

    handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return tp.report(gradient, *args).bytes
    except TooLong:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def measured_bytes(gradient: Callable, args: tuple) -> int:
    """The bytes in tape arrays and, at their highest, in stacks, during one interpreted run."""
    highest: dict[str, int] = {}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith("<transpile "):
            return None
        frame.f_trace_lines = any(IS_TAPE.search(n) for n in frame.f_code.co_varnames)
        for name, value in frame.f_locals.items():
            if IS_TAPE.search(name):
                highest[name] = max(highest.get(name, 0), size_of(value))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        gradient(*args)
    finally:
        sys.settrace(before)
    return sum(highest.values())


def size_of(value: Any) -> int:
    """The bytes of a tape: an array, or a list, whose numbers are assumed to have one size."""
    if isinstance(value, list):
        if value and isinstance(value[0], np.ndarray):
            return sum(v.nbytes for v in value)
        return len(value) * size_of(value[0]) if value else 0
    return np.asarray(value).nbytes
