"""The runner of other people's doctests: what it says of functions that are known, and that a crash ends one function only."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

from wild import pool
from wild.judge import Judge, agrees, outcome, value_verdict
from wild.run import faults, table
from wild.slopes import disagreement


def cube(x: float, n: int = 3) -> float:
    """The n-th power.

    >>> cube(2.0)
    8.0
    >>> cube(1.5, n=2)
    2.25
    """
    return x**n


def tank(h: float) -> float:
    if h >= 2.0:
        return 3.0 * h - 2.0
    return h * h


def step(h: float) -> float:
    """A test that is just equal: what it then returns has another slope than both sides."""
    if h == 2.0:
        return 5.0 * h - 6.0
    return h * h


def refused(x: float) -> float:
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 0.0


def test_slopes_tell_errors_from_kinks() -> None:
    assert not disagreement(math.sin, 0.7, math.cos(0.7))
    assert disagreement(math.sin, 0.7, math.cos(0.7) * 1.01)
    for slope in (-1.0, 0.0, 1.0):
        assert not disagreement(abs, 0.0, slope)
    assert disagreement(abs, 0.0, 1.1)
    assert not disagreement(math.sqrt, 0.0, 7.0)  # there is nothing on one side
    assert disagreement(lambda x: 1e6 + x * x, 3.0, 5.0)
    assert disagreement(math.exp, 1.0, math.nan)


@pytest.mark.numba
def test_a_call_is_judged() -> None:
    said: list[tuple[str, tuple[str, str]]] = []
    judge = Judge(cube, lambda kind, verdict, call: said.append((kind, verdict)))
    assert judge(2.0) == 8.0 and judge(1.5, n=2) == 2.25
    assert said == [(kind, ("equal", "")) for kind in ("value", "gradient", "compiled gradient")] * 2
    said.clear()
    Judge(tank, lambda kind, verdict, call: said.append((kind, verdict)), compiles=False)(2.0)
    assert [v[0] for _, v in said] == ["equal", "equal"]  # what lies between the slopes of both sides
    said.clear()
    Judge(step, lambda kind, verdict, call: said.append((kind, verdict)), compiles=False)(2.0)
    assert [v[0] for _, v in said] == ["equal", "edge"]
    said.clear()
    Judge(refused, lambda kind, verdict, call: said.append((kind, verdict)))(2.0)
    assert [v for _, v in said] == [("refused", "T105")] * 2


def test_verdicts() -> None:
    error = outcome(cube, ("a",), {})
    assert isinstance(error, TypeError)
    assert value_verdict(1.0, 1.0 + 1e-12) == ("equal", "")
    assert value_verdict(1.0, 1.1)[0] == "wrong value"
    assert value_verdict(error, TypeError("else"))[0] == "equal"
    assert value_verdict(error, 1.0)[0] == "wrong value"
    assert value_verdict(error, KeyError("x"))[0] == value_verdict(1.0, KeyError("x"))[0] == "internal error"
    assert agrees({"a": [1.0, (2, None, "b")]}, {"a": [1.0, (2, None, "b")]}, 1e-9)
    assert not agrees([1.0, 2.0], [1.0, 2.1], 1e-9) and not agrees(1.0, "1.0", 1e-9) and not agrees(True, None, 1e-9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_what_ends_a_process_ends_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "SECONDS", 1)

    def run(name: str, say: Callable[[dict[str, Any]], None]) -> None:
        say({"kind": "value", "verdict": "equal", "detail": "", "call": name})
        if name == "crash":
            os.kill(os.getpid(), signal.SIGKILL)
        if name == "memory":
            say(
                {
                    "kind": "value",
                    "verdict": "equal" if not bytearray(8 * 1024**3) else "wrong value",
                    "detail": "",
                    "call": "",
                }
            )
        while name == "endless":
            pass

    found = {
        name: (records, ended)
        for name, records, ended in pool.run_all(["a", "crash", "endless", "memory", "b"], run, 2)
    }
    assert {name: ended for name, (_, ended) in found.items()} == {
        "a": "", "crash": "crash SIGKILL", "endless": "time-out", "memory": "crash exit 1", "b": "",
    }  # fmt: skip
    assert all(len(records) == 1 for records, _ in found.values())
    assert "| equal | 5 | 0 | 0 |" in table(found)
    assert sorted(faults(found)) == [
        "- `crash`: crash SIGKILL",
        "- `endless`: time-out",
        "- `memory`: crash exit 1",
    ]
