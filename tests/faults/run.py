"""``make test-faults``: plants each fault of `faults` in a copy of the tree and runs quick tests there, which must fail.

The working tree is not touched. Without a fault the same tests must pass. A fault whose old text does not occur exactly once in
its file is an error: the list is out of date.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent)]

from faults.faults import FAULTS, QUICK, Fault  # noqa: E402

PATIENCE = 600  # seconds for one fault
COPIED = ("transpile", "runtime", "tests", "pyproject.toml")


@dataclass(frozen=True)
class Outcome:
    """The result of the tests for one fault. ``verdict``: caught, missed, stale."""

    fault: Fault | None
    verdict: str
    detail: str
    seconds: float


def copy_tree(where: Path) -> None:
    """Copies the compiler and its tests, without build products."""
    leave = shutil.ignore_patterns("__pycache__", "*.pyc", ".*", "results")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, where / name, ignore=leave)
        elif source.exists():
            shutil.copy(source, where / name)


def run_tests(where: Path, selection: tuple[str, ...]) -> subprocess.CompletedProcess:
    """Runs the quick tests in a copy, up to the first failure."""
    env = {**os.environ, "PYTHONPATH": f"{where}{os.pathsep}{where / 'tests'}", "PYTHONDONTWRITEBYTECODE": "1"}
    env["TRANSPILE_SAMPLES"] = "all"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow and not numba",
        *selection,
    ]
    return subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)


def plant(fault: Fault | None, where: Path) -> Outcome:
    """Applies a fault in a copy, runs the tests, and reverts it."""
    start = time.perf_counter()
    if fault is None:
        return judge(None, where, (QUICK,), start)
    path = where / fault.file
    original = path.read_text(encoding="utf-8") if path.exists() else ""
    if original.count(fault.old) != 1:
        return Outcome(fault, "stale", f"{fault.file} holds the old text {original.count(fault.old)} times", 0.0)
    path.write_text(original.replace(fault.old, fault.new), encoding="utf-8")
    try:
        # the closest tests first, then all
        return judge(fault, where, (fault.tests, QUICK) if fault.tests else (QUICK,), start)
    finally:
        path.write_text(original, encoding="utf-8")


def judge(fault: Fault | None, where: Path, selections: tuple[tuple[str, ...], ...], start: float) -> Outcome:
    for selection in selections:
        try:
            run = run_tests(where, selection)
        except subprocess.TimeoutExpired:
            return Outcome(fault, "caught", "the tests do not end", time.perf_counter() - start)
        if run.returncode == 1:
            first = next((line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
            return Outcome(fault, "caught", first[:150], time.perf_counter() - start)
        if run.returncode not in (0, 5):  # 5: nothing selected
            detail = (run.stdout + run.stderr).strip().splitlines()
            return Outcome(
                fault,
                "caught",
                f"pytest ended with {run.returncode}: {detail[-1] if detail else ''}",
                time.perf_counter() - start,
            )
    return Outcome(fault, "missed", "all tests pass", time.perf_counter() - start)


def check_copy(where: Path) -> None:
    """Checks that the tests in a copy import the copy."""
    env = {**os.environ, "PYTHONPATH": str(where)}
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import transpile, transpile_runtime as r; print(transpile.__file__, r.__file__, sep='\\n')",
        ],
        cwd=where,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")[:2]
    assert all(f.startswith(str(where)) for f in found), f"the copy's tests would run {found}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="faults whose name holds this")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every N-th fault, from the K-th on")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="say which are stale, run nothing")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    faults = [f for f in FAULTS if options.only in f.name][part - 1 :: parts]
    if options.list:
        stale = [f for f in faults if (ROOT / f.file).read_text(encoding="utf-8").count(f.old) != 1]
        print(f"{len(faults)} faults, {len(stale)} stale", *(f"  {f.name}: {f.file}" for f in stale), sep="\n")
        return bool(stale)
    with tempfile.TemporaryDirectory() as temporary:
        copies: Queue[Path] = Queue()
        for k in range(options.workers):
            where = Path(temporary) / f"copy{k}"
            copy_tree(where)
            copies.put(where)
        check_copy(copies.queue[0])

        def one(fault: Fault | None) -> Outcome:
            where = copies.get()
            try:
                return plant(fault, where)
            finally:
                copies.put(where)

        healthy = one(None)
        if healthy.verdict != "missed":
            print(f"the tests fail without a fault: {healthy.detail}")
            return 2
        print(f"without a fault: all tests pass, {healthy.seconds:.0f} s", flush=True)
        outcomes = []
        with ThreadPoolExecutor(options.workers) as pool:
            for outcome in pool.map(one, faults):
                outcomes.append(outcome)
                assert outcome.fault is not None
                print(
                    f"{outcome.verdict:7s} {outcome.seconds:5.0f} s  {outcome.fault.name}: {outcome.fault.about}\n"
                    f"                 {outcome.detail}",
                    flush=True,
                )
    caught = sum(o.verdict == "caught" for o in outcomes)
    print(f"{caught} of {len(outcomes)} faults caught")
    return caught != len(outcomes)


if __name__ == "__main__":
    sys.exit(main())
