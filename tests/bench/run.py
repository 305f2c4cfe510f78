"""``make bench``: value and gradient of the suites' problems by us, JAX, PyTorch and hand-written C, side by side.

Each problem is measured in a process of its own, pinned to one core; a peer that crashes it or takes too long is left out of a
second try, and the row says so. Rows are stored as they are measured, in ``tests/bench/results``: a suite can be run in parts,
and ``--table`` writes the tables and pictures from the stored rows.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from bench import environment, plot, store, suites, table  # noqa: E402
from bench.problem import SIZES, SUITES, Problem  # noqa: E402

STEPS = 6  # processes that one row may take
OWN = ("start", "warm up", "timing")  # steps in which a failure is no peer's fault


def measured(problem: Problem, options: argparse.Namespace) -> dict[str, Any]:
    """The row of a problem, from as many processes as needed: each leaves out the peers that crashed earlier ones."""
    skip: dict[str, str] = {}
    died: dict[str, str] = {}
    state: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        for _ in range(STEPS):
            ended = worker(problem, path, skip, options)
            state = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"doing": "start", "row": {}}
            path.unlink(missing_ok=True)
            step = state["doing"]
            if not step or step in died:  # finished, or the same step failed twice
                break
            (died if step in OWN else skip)[step] = ended
    row = {**_about(problem), "on": environment.measured_on(), "first": {}, "times": {}, "wrong": [], **state["row"]}
    row["notes"] = {**row.get("notes", {}), **skip, **(died if state["doing"] else {})}
    return row


def _about(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in ("name", "suite", "size", "wanted")}


def worker(problem: Problem, path: Path, skip: dict[str, str], options: argparse.Namespace) -> str:
    """Runs a measuring process; returns the reason if it failed."""
    command = [sys.executable, str(HERE / "measure.py"), problem.key, str(path), "--skip", json.dumps(skip)]
    command += ["--rounds", str(options.rounds)] + ["--quick"] * options.quick
    try:
        done = subprocess.run(command, timeout=options.limit, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        return f"no result in {options.limit:g} s"
    if done.returncode < 0:
        return f"the process died of {signal.Signals(-done.returncode).name}"
    return (done.stderr.strip().splitlines() or ["the process ended"])[-1][:300]


def chosen(options: argparse.Namespace) -> list[Problem]:
    return [
        problem
        for problem in suites.all_problems()
        if options.only.lower() in problem.name.lower()
        and options.suite in (None, problem.suite)
        and options.size in (None, problem.size)
        and not (options.missing and problem.key in store.load(problem.suite))
    ]


def with_bytecode() -> None:
    """Compiles our modules to bytecode, as an installer does for the peers: where Python may not write bytecode, each first
    call took a tenth of a second longer, for parsing."""
    for name in ("transpile", "transpile_runtime"):
        found = importlib.util.find_spec(name)
        for folder in found.submodule_search_locations or () if found is not None else ():
            compileall.compile_dir(folder, quiet=2)


def write_table() -> str:
    """The page, which it writes with the pictures from all stored rows."""
    rows = store.ordered(problem.key for problem in suites.all_problems())
    text = table.document(rows)
    (store.RESULTS / "latest.md").write_text(text, encoding="utf-8")
    for suite, title in table.TITLES.items():
        plot.draw([row for row in rows if row["suite"] == suite], title, store.RESULTS / f"{suite}.png")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="problems whose name holds this")
    parser.add_argument("--suite", choices=SUITES)
    parser.add_argument("--size", choices=SIZES)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="few and short rounds; nothing is stored")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a process may take")
    parser.add_argument(
        "--missing", action="store_true", help="only problems that have no stored row: goes on with a run"
    )
    parser.add_argument("--table", action="store_true", help="measure nothing, write the tables")
    options = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    with_bytecode()
    failed = False
    if not options.table:
        print("\n".join(table.table([], options.suite or "problems")), flush=True)
        for problem in chosen(options):
            row = measured(problem, options)
            print(table.line_of(row), flush=True)
            for peer, note in row["notes"].items():
                print(f"    {peer}: {note}", flush=True)
            failed = failed or "ours" in row["notes"]
            if not options.quick:
                store.save(row)
    if not options.quick:
        print("\n" + write_table())
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
