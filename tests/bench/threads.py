"""``parallel=True``: gradients on two cores beside the same on one, by the clock.

``python tests/bench/threads.py`` runs the largest size of each problem, each in a process of its own,
in interleaved rounds; BLAS has one thread in both. Where no loop could be cut, the row says so. It needs two cores that are free.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import geometric_mean

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]
TABLE = HERE / "results" / "threads.md"
AIM = 1.7


def measure(key: str, rounds: int) -> dict[str, float]:
    """Milliseconds a call, the least of the rounds, and how many loops run in parallel."""
    import transpile as tp
    from bench import suites

    problem = next(p for p in suites.all_problems() if p.key == key)
    gradient = tp.value_and_grad(problem.fn, argnums=problem.wrt)
    args = problem.args()
    calls = {"one": tp.jit(gradient, cache=False), "two": tp.jit(gradient, cache=False, parallel=True)}
    found = {"loops": tp.source(calls["two"], *args, stage="loops").count("prange(")}
    if not found["loops"]:
        return found
    least: dict[str, float] = {}
    for call in calls.values():
        call(*args)
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call(*args)
            least[name] = min(least.get(name, math.inf), time.perf_counter() - start)
    return {**found, **{name: 1e3 * seconds for name, seconds in least.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="names, with commas between them")
    parser.add_argument("--key", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.key:
        print(json.dumps(measure(options.key, options.rounds)))
        return
    from bench import environment, suites

    chosen = {}
    for p in suites.all_problems():  # the last size of each, which is the largest
        if p.wanted == "gradient" and (not options.only or p.name in options.only.split(",")):
            chosen[p.suite, p.name] = p.key
    rows, ratios = [], []
    for (_, name), key in chosen.items():
        command = [sys.executable, __file__, "--key", key, "--rounds", str(options.rounds)]
        env = {**os.environ, "NUMBA_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env)
            found = json.loads(done.stdout.splitlines()[-1])
        except (subprocess.TimeoutExpired, ValueError, IndexError):
            rows.append(f"| {name} | – | – | – | not measured |")
            continue
        if "two" not in found:
            rows.append(f"| {name} | – | – | – | no loop is cut |")
            continue
        ratios.append(found["one"] / found["two"])
        rows.append(f"| {name} | {found['one']:.2f} | {found['two']:.2f} | {ratios[-1]:.2f} | {found['loops']:.0f} |")
        print(rows[-1], flush=True)
    text = "\n".join(
        [
            "# Two cores",
            "",
            f"Measured on {environment.processor()}; two cores; {environment.versions()}.",
            "",
            "Milliseconds a value and gradient, by the clock, the least of interleaved rounds.",
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
