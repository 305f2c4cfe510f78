"""The doctests of other people's packages: ``python tests/wild/run.py`` (all), ``--sample 150``, ``--only fluids.core.Reynolds``,
``--lanes`` (under `transpile.vmap`).

Writes `results.md`: how many functions are right, refused (by code), wrong, or end the process; and each that is wrong.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from wild import collect, lanes, pool  # noqa: E402
from wild.judge import Judge, Verdict  # noqa: E402

PACKAGES = ("fluids", "chemicals", "ht")
KINDS = ("value", "gradient", "compiled gradient")
BAD = ("wrong value", "wrong gradient", "internal error", "crash", "time-out")
ORDER = (*reversed(BAD), "refused", "edge", "rounding", "as NumPy", "equal", "not called")


def judged(name: str, say: Callable[[pool.Record], None]) -> None:
    """Runs the examples of one function beside its transformed versions."""
    function = FUNCTIONS[name]

    def told(kind: str, verdict: Verdict, call: str) -> None:
        say({"kind": kind, "verdict": verdict[0], "detail": verdict[1], "call": call[:300]})

    beside = (lanes.LanesJudge if KINDS is lanes.KINDS else Judge)(function, told, COMPILES[0])
    if collect.examples_of(function):
        collect.run_examples(function, beside)
    else:
        collect.run_guesses(function, beside)


def lever(x: float, arms: list[float]) -> float:
    total = 0.0
    for k, arm in enumerate(arms):
        if arm > 0.5:
            total += math.sin(x * arm) / (k + 1)
    return total


def warm() -> None:
    """Imports in this process what transforming and compiling import, so that the forked ones need not."""
    Judge(lever, lambda kind, verdict, call: None, COMPILES[0])(0.7, [0.3, 0.9])


def worst(records: list[pool.Record], kind: str) -> pool.Record:
    """What is said of a function: the worst of its calls."""
    of_kind = [r for r in records if r["kind"] == kind]
    return min(
        of_kind, key=lambda r: ORDER.index(r["verdict"]), default={"verdict": "not called", "detail": "", "call": ""}
    )


def table(found: dict[str, tuple[list[pool.Record], str]]) -> str:
    """The results as Markdown."""
    columns = {kind: Counter(_cell(records, ended, kind) for records, ended in found.values()) for kind in KINDS}
    rows = sorted(
        {row for counts in columns.values() for row in counts}, key=lambda r: (-max(c[r] for c in columns.values()), r)
    )
    lines = ["| | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * len(KINDS)]
    lines += [f"| {row} | " + " | ".join(str(columns[k][row]) for k in KINDS) + " |" for row in rows]
    return "\n".join(lines)


def _cell(records: list[pool.Record], ended: str, kind: str) -> str:
    if ended:
        return ended if not any(r["kind"] == kind for r in records) else worst(records, kind)["verdict"]
    record = worst(records, kind)
    return f"refused {record['detail']}" if record["verdict"] == "refused" else record["verdict"]


def faults(found: dict[str, tuple[list[pool.Record], str]]) -> list[str]:
    """One line for each function that is not right and not refused."""
    lines = []
    for name, (records, ended) in found.items():
        if ended:
            lines.append(f"- `{name}`: {ended}")
        bad = [r for r in records if r["verdict"] in BAD]
        for kind in KINDS:
            first = next((r for r in bad if r["kind"] == kind), None)
            if first is not None:
                lines.append(f"- `{name}`: {kind}: {first['verdict']}: {first['detail']} at `{first['call']}`")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", help="one function, by full name, or what a name begins with")
    parser.add_argument(
        "--package", action="append", help=f"a package that is installed, instead of {', '.join(PACKAGES)}"
    )
    parser.add_argument(
        "--all", action="store_true", help="functions without examples too, with arguments that they may take"
    )
    parser.add_argument("--sample", type=int, help="so many functions, evenly from all")
    parser.add_argument("--interpreted", action="store_true", help="nothing is compiled: quicker")
    parser.add_argument("--lanes", action="store_true", help="vmap of each function, beside its lanes")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", action="store_true", help="write results.md")
    options = parser.parse_args()
    if options.lanes:
        global KINDS
        KINDS = lanes.KINDS
    for package in options.package or PACKAGES:
        FUNCTIONS.update(collect.functions_of(package, not options.all))
    names = list(FUNCTIONS)
    if options.only:
        names = [n for n in names if any(n.startswith(o) for o in options.only)]
    if options.sample:
        names = names[:: max(len(names) // options.sample, 1)]
    COMPILES[0] = not options.interpreted
    warm()
    start = time.perf_counter()
    found: dict[str, tuple[list[pool.Record], str]] = {}
    for name, records, ended in pool.run_all(names, judged, options.workers):
        found[name] = (records, ended)
        for line in faults({name: (records, ended)}):
            print(line, flush=True)
        if len(found) % 50 == 0:
            print(f"{len(found)} of {len(names)} functions, {time.perf_counter() - start:.0f} s", flush=True)
    text = f"{table(found)}\n\n{len(found)} of {len(FUNCTIONS)} functions, {sum(len(r) for r, _ in found.values())} comparisons.\n"
    print(text, f"{time.perf_counter() - start:.0f} s", sep="\n")
    wrong = faults(dict(sorted(found.items())))
    if options.write:
        (HERE / "results.md").write_text(
            f"# Other people's functions\n\n{text}\n" + "\n".join(wrong) + "\n" * bool(wrong)
        )
    return bool(wrong)


FUNCTIONS: dict[str, Callable[..., object]] = {}
COMPILES = [True]

if __name__ == "__main__":
    sys.exit(main())
