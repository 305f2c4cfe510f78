"""``make audit``: for each optimising pass, the number of programs that it changes, and the cost of leaving it out.

``--count`` and ``--cost`` do one of the two; ``--suite`` and ``--only`` (part of a name) select programs. Passes that change
more than ``--most`` problems of the benchmark are counted, but left out only with ``--all``: their use is proven. Results are
stored in the folder ``--keep`` (`.pytest_cache/audit`), a file for each program or problem, so that a run continues where it
stopped; ``--write`` makes `results.md` from them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT), str(ROOT / "runtime")]

from bench.suites import all_problems  # noqa: E402

from audit import results  # noqa: E402
from audit.count import changing  # noqa: E402
from audit.programs import SIZE, SUITES, programs  # noqa: E402

PATIENCE = 900  # seconds for one problem with all its variants


def main() -> int:
    options = _options()
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.count or not options.cost:
        count(options)
    if options.cost or not options.count:
        cost(options)
    if options.write:
        (HERE / "results.md").write_text(results.page(options.keep), encoding="utf-8")
    return 0


def count(options: argparse.Namespace) -> None:
    for suite in options.suite or SUITES:
        start, found = time.time(), 0
        for program in programs(suite):
            path = options.keep / f"count-{suite}-{_plain(program.name)}.json"
            if options.only not in program.name or path.exists():
                continue
            passes, why = changing(program)
            path.write_text(json.dumps({"suite": suite, "name": program.name, "passes": passes, "why": why}))
            found += 1
        print(f"{suite}: {found} programs, {time.time() - start:.0f} s", flush=True)


def cost(options: argparse.Namespace) -> None:
    asked = results.questioned(options.keep, 10**6 if options.all else options.most)
    for problem in all_problems():
        path = options.keep / f"cost-{_plain(problem.key)}.json"
        changing = results.passes_of(options.keep, "benchmark", problem.key) & asked
        if problem.size != SIZE or options.only not in problem.key or path.exists() or not changing:
            continue
        start = time.time()
        command = [sys.executable, str(HERE / "cost.py"), problem.key, str(path), *sorted(changing)]
        try:
            subprocess.run(command, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            print(f"{problem.key}: too long", flush=True)
        print(f"{problem.key}: {time.time() - start:.0f} s", flush=True)


def _plain(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--suite", action="append", choices=SUITES)
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with this in their names")
    parser.add_argument("--keep", type=Path, default=ROOT / ".pytest_cache" / "audit", metavar="DIR")
    parser.add_argument("--most", type=int, default=20, metavar="N", help="problems that a questioned pass changes")
    parser.add_argument("--all", action="store_true", help="every pass is left out in its turn")
    parser.add_argument("--write", action="store_true", help="write results.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
