"""The stages of a call: printed source, loops for Numba, LLVM's code before optimisation, values."""

from __future__ import annotations

import hashlib
import io
import random
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

import transpile as tp
from oracle.places import ROOT
from oracle.subjects import Call, Subject
from oracle.unoptimised import NUMBA, unoptimised
from oracle.values import described

STAGES = ("source", "loops", "ir", "values")
OF_ENVIRONMENT = ("loops", "ir")  # depend on the processor and on the versions of the libraries below
SUFFIX = {"source": "py", "loops": "py", "ir": "ll", "values": "txt"}


def made(subject: Subject, stages: tuple[str, ...]) -> dict[str, Any]:
    """The output of each stage for the subject: a text, for values the result of `described`, or a `Refused`."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        call = _tried(subject.call)
        if isinstance(call, Refused):
            return dict.fromkeys(stages, call)
        found = {stage: _tried(lambda stage=stage: MAKERS[stage](call)) for stage in stages}
    return {stage: one for stage, one in found.items() if one is not None}


def _tried(make: Callable[[], Any]) -> Any:
    """The result, or the exception that the compiler or the program raised; random numbers do not depend on earlier calls."""
    np.random.seed(0)
    random.seed(0)
    try:
        with redirect_stdout(io.StringIO()):
            return make()
    except Exception as failed:
        return Refused(failed)


class Refused(str):
    """An exception, as text."""

    def __new__(cls, failed: Exception) -> Refused:
        text = str(failed) if isinstance(failed, tp.TranspileError) else f"{type(failed).__name__}: {failed}"
        return super().__new__(cls, _anywhere(text))


def _anywhere(text: str) -> str:
    """The text without the path of this checkout."""
    return text.replace(f"{ROOT}/", "")


def _source(call: Call) -> str:
    return _anywhere(tp.source(call.target, *call.args()))


def _loops(call: Call) -> str:
    return _anywhere(tp.source(call.compiled, *call.args(), stage="loops"))


def _ir(call: Call) -> str:
    return _anywhere(unoptimised(call.compiled, call.args()))


def _values(call: Call) -> Any:
    if call.interpreted is None:
        return None
    args, printed = call.args(), io.StringIO()
    before = described(args) if call.writes else None
    with redirect_stdout(printed):
        result = call.interpreted(*args)
    found = {"result": described(result)}
    if call.writes and described(args) != before:
        found["arguments"] = described(args)
    if printed.getvalue():
        found["printed"] = printed.getvalue()
    return found


MAKERS = {"source": _source, "loops": _loops, "ir": _ir, "values": _values}


def record(stage: str, one: Any) -> Any:
    """The frozen form of a stage: a hash of a text, the values, or the full text of an exception."""
    if isinstance(one, Refused):
        return {"raised": str(one)}
    if stage == "values":
        return one
    through = "numba " if one.startswith(NUMBA) else ""
    return through + hashlib.sha256(one.encode()).hexdigest()[:12]


def written(one: Any) -> str:
    """A stage's full text, for a file."""
    import json

    return f"{one}\n" if isinstance(one, str) else json.dumps(one, indent=1, sort_keys=True) + "\n"
