"""The cost of leaving out passes for a problem of the benchmark: ``python tests/audit/cost.py KEY FILE PASS ...`` writes it as
JSON.

Each problem has a process of its own, as in the benchmark. All variants are compiled, then called in turn, the unchanged one
twice in each round: the difference of its two times shows the noise of the machine.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent), str(HERE.parent.parent / "runtime")]

from bench import environment  # noqa: E402

if __name__ == "__main__":
    environment.pin()
    os.environ["TRANSPILE_CACHE_DIR"] = tempfile.mkdtemp()

import json  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from typing import Any  # noqa: E402

from bench import peers, suites  # noqa: E402
from bench.problem import Problem  # noqa: E402
from bench.timing import Pace, interleaved, timed  # noqa: E402

from audit.count import Changing  # noqa: E402
from transpile import api  # noqa: E402
from transpile.core.watch import left_out, watching  # noqa: E402

PACE = Pace(rounds=7, batch=0.005, budget=0.7)
AS_IT_IS, AGAIN = "as it is", "again"


def cost(problem: Problem, asked: Sequence[str]) -> dict[str, Any]:
    """The seconds of a call and of a first call, unchanged and without each pass in ``asked`` that changes something; or the
    reason why there are none."""
    peers.warm_up()
    watcher = Changing()
    with watching(watcher):
        peers.call_of("ours", problem)()
    calls: dict[str, Callable[[], Any]] = {}
    first: dict[str, float] = {}
    failed: dict[str, str] = {}
    for name in [AS_IT_IS, *(n for n in watcher.found if n in asked), AGAIN]:
        api._kept.cache_clear()
        with left_out(name.split(": ")[-1]):
            try:
                call = peers.call_of("ours", problem)
                first[name], _ = timed(call)
                calls[name] = call
            except Exception as e:
                failed[name] = f"{type(e).__name__}: {str(e).splitlines()[0][:100] if str(e) else ''}"
    times = {name: timing.median for name, timing in interleaved(calls, PACE).items()}
    return {"problem": problem.key, "times": times, "first": first, "failed": failed}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(cost(suites.find(sys.argv[1]), sys.argv[3:])), encoding="utf-8")
