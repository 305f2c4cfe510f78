"""``python tests/bench/beside.py REVISION``: our times in another revision and in this tree, side by side.

Both run at once, each on a core of its own, and swap cores after each round: noise of the machine affects both. The fastest
round of a problem counts. Each tree uses its own suites; problems that only one tree has are left out.

Rows whose code for LLVM is identical are marked: their ratios show the noise of the measurement. (The runtime library that they
call, and the options for LLVM, may differ.)
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TREE = HERE.parent.parent
LOSS = 1.05  # a row with a larger ratio is named
Times = dict[str, dict[str, Any]]
"""For each problem: the seconds of the first call and of a later one, and a hash of the code for LLVM."""


# ------------------------------------------------------------------------------------------------------- one tree


def measure(tree: Path, core: int, size: str, only: str) -> Times:
    """The times of a tree, in this process, which must not have imported anything of it yet."""
    for folder in (tree / "runtime", tree, tree / "tests"):
        sys.path.insert(0, str(folder))
    from bench import environment

    environment.pin()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    import transpile
    from bench import peers, suites
    from bench.timing import Pace, interleaved, timed

    assert Path(transpile.__file__).is_relative_to(tree), transpile.__file__
    peers.warm_up()
    times: Times = {}
    for problem in suites.all_problems():
        if problem.size == size and only in problem.key:
            call = peers.call_of("ours", problem)
            with modules() as given:
                first, _ = timed(call)
            again = interleaved({"ours": call}, Pace(budget=1.0))["ours"]
            times[problem.key] = {"first": first, "again": again.median, "code": digest(given)}
    return times


@contextmanager
def modules() -> Iterator[list[Any]]:
    """A context that collects the modules handed to LLVM."""
    from numba.core.codegen import JITCodeLibrary

    taken = JITCodeLibrary.add_ir_module
    given: list[Any] = []

    def add_ir_module(library: Any, module: Any) -> None:
        given.append(module)
        taken(library, module)

    JITCodeLibrary.add_ir_module = add_ir_module
    try:
        yield given
    finally:
        JITCodeLibrary.add_ir_module = taken


_OWN = re.compile(r'ModuleID = "[^"]*\.[0-9a-f]{16,}"')  # the runtime library's have numbers, and are compiled once
_MEANINGLESS = (
    (re.compile(r'"[^"]*"'), ""),  # names, and their lengths
    (re.compile(r"\[\d+ x i8\](?=\* @| c$)", re.MULTILINE), ""),
    (re.compile(r"%\.\d+(\.\d+)?"), "%"),
    (re.compile(r"!\d+"), "!"),
    (re.compile(r"\b\d{12,}\b"), ""),  # the keys of messages, which depend on file paths
    (re.compile(r"\b(?:contract|reassoc|nsz|arcp|afn) "), ""),  # flags of an instruction are in no order
)


def digest(given: Sequence[Any]) -> str:
    """A hash of the code of a function, without its names."""
    texts = [text for text in map(str, given) if _OWN.search(text)]
    found = hashlib.sha256()
    for text in texts:
        for pattern, instead in _MEANINGLESS:
            text = pattern.sub(instead, text)
        found.update(text.encode())
    return found.hexdigest() if texts else ""


# ------------------------------------------------------------------------------------------------------ two trees


@contextmanager
def checked_out(revision: str) -> Iterator[Path]:
    """A context with the tree of a revision, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "tree"
        subprocess.run(
            ["git", "worktree", "add", "--detach", str(tree), revision], cwd=TREE, check=True, capture_output=True
        )
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=TREE, check=True)


def round_of(trees: Sequence[Path], cores: Sequence[int], libraries: str, options: argparse.Namespace) -> list[Times]:
    """The times of each tree on its core, measured at once if there are several cores.

    The compiled functions of the runtime are kept from round to round, in a new cache: some run faster in the process that
    compiled them than in later ones (`np.linalg.solve` of small matrices by 6 %).
    """
    command = [
        sys.executable,
        "-W",
        "ignore",
        str(Path(__file__)),
        "--size",
        options.size,
        "--only",
        options.only,
        "--measure",
    ]
    found = []
    with tempfile.TemporaryDirectory() as cache:
        running = []
        for tree, core in zip(trees, cores):
            kept = {"TRANSPILE_CACHE_DIR": f"{cache}/{len(running)}", "NUMBA_CACHE_DIR": f"{libraries}/{len(running)}"}
            process = subprocess.Popen(
                [*command, str(tree), str(core)], stdout=subprocess.PIPE, text=True, env={**os.environ, **kept}
            )
            running.append(process)
            if len({*cores}) == 1:
                process.wait()
        for process in running:
            text, _ = process.communicate()
            if process.returncode:
                raise SystemExit(f"a process ended with {process.returncode}")
            found.append(json.loads(text.splitlines()[-1]))
    return found


def best(rounds: Sequence[Times]) -> Times:
    """The fastest of several rounds, for each problem."""
    return {
        key: {**one, **{k: min(r[key][k] for r in rounds) for k in ("first", "again")}}
        for key, one in rounds[0].items()
    }


def table(before: Times, after: Times) -> str:
    """The table of rows, the slowest first, and the geometric means."""
    keys = [k for k in before if k in after]
    ratios = {what: {k: after[k][what] / before[k][what] for k in keys} for what in ("again", "first")}
    same = {k for k in keys if before[k]["code"] and before[k]["code"] == after[k]["code"]}
    lines = [
        "| problem | before, ms | after, ms | ratio | first call: before, s | after, s | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for k in sorted(keys, key=lambda k: -ratios["again"][k]):
        x, y, name = before[k], after[k], k + " (same code)" * (k in same)
        mark = "**" * (ratios["again"][k] > LOSS)
        lines.append(
            f"| {name} | {1e3 * x['again']:.4g} | {1e3 * y['again']:.4g} | {mark}{ratios['again'][k]:.2f}{mark}"
            f" | {x['first']:.2f} | {y['first']:.2f} | {ratios['first'][k]:.2f} |"
        )
    means = {what: statistics.geometric_mean(r.values()) for what, r in ratios.items()}
    sums = [sum(t[k]["first"] for k in keys) for t in (before, after)]
    lines += ["", f"Geometric means: a call {means['again']:.3f}, the first call {means['first']:.3f};"]
    lines += [f"all first calls together {sums[0]:.1f} s before, {sums[1]:.1f} s after."]
    if same:
        of_nothing = [ratios["again"][k] for k in same]
        lines += [
            f"Of {len(keys)} rows {len(same)} have the same code: their ratios are {min(of_nothing):.2f} to {max(of_nothing):.2f}."
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision", nargs="?", help="what this tree is compared with")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--size", default="medium")
    parser.add_argument("--only", default="", help="problems whose key holds this")
    parser.add_argument("--measure", nargs=2, metavar=("TREE", "CORE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        tree, core = options.measure
        print(json.dumps(measure(Path(tree), int(core), options.size, options.only)))
        return
    if not options.revision:
        parser.error("say with which revision to compare")
    cores = sorted(os.sched_getaffinity(0))[-2:] if hasattr(os, "sched_getaffinity") else [0]
    with checked_out(options.revision) as other, tempfile.TemporaryDirectory() as libraries:
        trees = [other, TREE]
        for tree in trees:
            for package in ("transpile", "runtime"):
                compileall.compile_dir(str(tree / package), quiet=2)
        rounds: list[list[Times]] = []
        for k in range(options.rounds):
            pair = [cores[k % len(cores)], cores[(k + 1) % len(cores)]]
            rounds.append(round_of(trees, pair, libraries, options))
    print(table(*(best([r[side] for r in rounds]) for side in (0, 1))))


if __name__ == "__main__":
    main()
