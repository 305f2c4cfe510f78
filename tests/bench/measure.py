"""Measures one problem in a process of its own: ``python measure.py KEY STATE [--quick]`` writes the result to the file STATE.

The file is written after every step and names the next one, so that the runner knows the step in which a process crashed or
exceeded its time.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from bench import environment  # noqa: E402

if __name__ == "__main__":
    environment.pin()

import argparse  # noqa: E402
import dataclasses  # noqa: E402
import json  # noqa: E402
import tempfile  # noqa: E402
import types  # noqa: E402
from collections.abc import Callable, Mapping  # noqa: E402
from typing import Any  # noqa: E402

import transpile as tp  # noqa: E402
from bench import compare, peers, suites  # noqa: E402
from bench.problem import Problem  # noqa: E402
from bench.recorded import recorded_bytes  # noqa: E402
from bench.timing import QUICK, Pace, interleaved, timed  # noqa: E402


class State:
    """The partial results of a row, kept in a file."""

    def __init__(self, problem: Problem, path: Path) -> None:
        self.path = path
        about = {name: getattr(problem, name) for name in ("name", "suite", "size", "wanted")}
        self.row: dict[str, Any] = {**about, "on": environment.measured_on(), "first": {}, "times": {}, "notes": {}}

    def doing(self, what: str) -> None:
        """Writes the partial results, with the name of the next step."""
        self.path.write_text(json.dumps({"doing": what, "row": self.row}), encoding="utf-8")


def measure(problem: Problem, pace: Pace, skip: Mapping[str, str], path: Path) -> dict[str, Any]:
    """The row of a problem. ``skip`` has the reasons for peers that are left out."""
    state = State(problem, path)
    row = state.row
    calls, results = prepared(problem, skip, state)
    for names in (peers.GRADIENTS + peers.INTERPRETED, peers.FUNCTIONS):
        for name, text in compare.odd_ones({n: results[n] for n in names if n in results}).items():
            row["notes"][name] = text
    state.doing("timing")
    for name, timing in interleaved(calls, pace).items():
        row["times"][name] = dataclasses.asdict(timing)
    row["wrong"] = [name for name in calls if name in row["notes"]]
    for name, step in (("transform", transform_time), ("bytes", tape_bytes)):
        if name in skip or "ours" not in calls:
            continue
        state.doing(name)
        try:
            row.update(step(problem, pace is QUICK))
        except Exception as e:
            row["notes"][name] = told(e)
    state.doing("nothing")
    return row


def prepared(
    problem: Problem, skip: Mapping[str, str], state: State
) -> tuple[dict[str, Callable[[], Any]], dict[str, Any]]:
    """Each peer's call, and the result of its first call; the row's notes say why a peer has none."""
    calls, results = {}, {}
    state.doing("warm up")
    peers.warm_up()
    for name in peers.taking_part(problem):
        if name in skip:
            state.row["notes"][name] = skip[name]
            continue
        state.doing(name)
        try:
            making, call = timed(lambda: peers.call_of(name, problem))
            first, results[name] = timed(call)
            calls[name] = call
            state.row["first"][name] = making + first
        except Exception as e:
            if name != "jax function" or problem.jax_function is not None:  # few problems have one
                state.row["notes"][name] = told(e)
    return calls, results


def told(e: Exception) -> str:
    """An error in one line."""
    lines = str(e).strip().splitlines() or [""]
    kind = "" if isinstance(e, (peers.Missing, tp.TranspileError)) else f"{type(e).__name__}: "
    return (kind + lines[0])[:300]


def transform_time(problem: Problem, quick: bool) -> dict[str, Any]:
    """The seconds to the text of the derivative, and its lines. The function is a fresh copy, which the frontend has not
    seen."""
    gradient = derivative(problem, fresh(problem.fn))
    if gradient is None:
        return {}
    seconds, text = timed(lambda: tp.source(gradient, *problem.args()))
    return {"transform": seconds, "lines": text.count("\n")}


def tape_bytes(problem: Problem, quick: bool) -> dict[str, Any]:
    """The number of bytes that the gradient records."""
    gradient = derivative(problem, problem.fn)
    return {} if gradient is None else {"bytes": recorded_bytes(gradient, problem.args(), 2.0 if quick else 20.0)}


def derivative(problem: Problem, fn: Callable) -> Callable | None:
    """The gradient, not compiled; None if the problem asks for something else."""
    return tp.value_and_grad(fn, argnums=problem.wrt) if problem.wanted == "gradient" else None


def fresh(fn: Callable) -> Callable:
    """A copy of a function that is in no cache."""
    new = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    new.__module__ = fn.__module__
    return new


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("key")
    parser.add_argument("state", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=Pace.rounds)
    parser.add_argument("--skip", type=json.loads, default={})
    options = parser.parse_args()
    pace = QUICK if options.quick else Pace(options.rounds)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRANSPILE_CACHE_DIR"] = cache
        row = measure(suites.find(options.key), pace, options.skip, options.state)
    options.state.write_text(json.dumps({"doing": "", "row": row}), encoding="utf-8")


if __name__ == "__main__":
    main()
