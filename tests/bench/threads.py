"""``parallel=True``: derivatives on two cores compared with the same on one, by the clock.

``python tests/bench/threads.py`` runs the largest size of each problem, each in a process of its own, in interleaved rounds;
BLAS has one thread in both. If no loop could be cut, the row says so. Two cores must be free: ``--urgent`` asks the system for
the highest priority (Linux, with permission). A sum of an array that is in no cache, and a pass that writes another one, show
how much faster two cores read and write memory than one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import geometric_mean

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from bench.problem import Problem  # noqa: E402

TABLE = HERE / "results" / "threads.md"
AIM = 1.7
CUT = re.compile(r"prange\(|# on threads")


def measure(key: str, rounds: int) -> dict[str, float]:
    """The milliseconds of a call, the least of the rounds, and the number of parallel loops."""
    import transpile as tp
    from bench import suites

    problem = next(p for p in suites.all_problems() if p.key == key)
    args = problem.args()
    calls = {"one": compiled(problem, False), "two": compiled(problem, True)}
    found = {"loops": len(CUT.findall(tp.source(calls["two"], *args, stage="loops")))}
    if not found["loops"]:
        return found
    return {**found, **least_of(calls, args, rounds)}


def compiled(problem: Problem, parallel: bool) -> Callable:
    """The function that computes value and derivative, as the suite's own benchmark has it."""
    import transpile as tp

    if problem.ours is None:
        return tp.jit(tp.value_and_grad(problem.fn, argnums=problem.wrt), cache=False, parallel=parallel)
    original = tp.jit
    tp.jit = lambda f, **options: original(f, **{**options, "parallel": parallel})
    try:
        return problem.ours()
    finally:
        tp.jit = original


def least_of(calls: Mapping[str, Callable], args: tuple, rounds: int) -> dict[str, float]:
    least: dict[str, float] = {}
    for call in calls.values():
        call(*args)
    for thread in os.listdir("/proc/self/task") if "BENCH_URGENT" in os.environ else ():
        os.sched_setscheduler(int(thread), os.SCHED_RR, os.sched_param(1))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call(*args)
            least[name] = min(least.get(name, math.inf), time.perf_counter() - start)
    return {name: 1e3 * seconds for name, seconds in least.items()}


def total(x):
    return np.sum(x)


def doubled(x):
    return 2.0 * x


MEMORY = {"sum of an array": total, "array written": doubled}


def measure_memory(name: str, rounds: int) -> dict[str, float]:
    """The same for a plain pass over 256 MB."""
    import transpile as tp

    calls = {"one": tp.jit(MEMORY[name], cache=False), "two": tp.jit(MEMORY[name], cache=False, parallel=True)}
    x = np.ones(32_000_000)
    return {"loops": len(CUT.findall(tp.source(calls["two"], x, stage="loops"))), **least_of(calls, (x,), rounds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--urgent", action="store_true", help="before all else on this machine")
    parser.add_argument("--key", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.key:
        found = (measure_memory if options.key in MEMORY else measure)(options.key, options.rounds)
        print(json.dumps(found))
        return
    from bench import environment, suites

    chosen = {}
    for p in suites.all_problems():  # the last size of each problem is the largest
        if not options.only or p.name in options.only.split(","):
            chosen[p.suite, p.name] = p.key
    if not options.only:
        chosen |= {("memory", name): name for name in MEMORY}
    rows, ratios = [], []
    for (suite, name), key in chosen.items():
        command = [sys.executable, __file__, "--key", key, "--rounds", str(options.rounds)]
        env = {**os.environ, "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        env |= {"BENCH_URGENT": "1"} if options.urgent else {}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
            found = json.loads(done.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError):
            rows.append(f"| {name} | – | – | – | not measured |")
            continue
        if "two" not in found:
            rows.append(f"| {name} | – | – | – | no loop is cut |")
            continue
        ratio = found["one"] / found["two"]
        ratios += [ratio] if suite != "memory" else []
        rows.append(f"| {name} | {found['one']:.2f} | {found['two']:.2f} | {ratio:.2f} | {found['loops']:.0f} |")
        print(rows[-1], flush=True)
    text = "\n".join(
        [
            "# Two cores",
            "",
            f"Measured on {environment.processor()}; two cores; {environment.versions()}.",
            "",
            "Milliseconds a value and derivative, by the clock, the least of interleaved rounds.",
            "",
            "| problem | one core | `parallel=True`, two | factor | parallel loops |",
            "|---|---:|---:|---:|---|",
            *rows,
            "",
            f"Geometric mean of {len(ratios)}: {geometric_mean(ratios or [1.0]):.2f}; "
            f"{sum(r >= AIM for r in ratios)} reach {AIM}.",
        ]
    )
    TABLE.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
