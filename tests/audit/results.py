"""The page of an audit, from its stored results."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from audit.programs import SUITES

MUST = frozenset(
    """lift, lowering, reverse mode, forward mode, batching, Jacobian by columns, Jacobian by rows, custom calls expanded,
    placeholders, placeholders for moves, placeholders for sizes, own memory, trip counts, items, checks of sizes said,
    size assumptions, value numbering, dead code""".replace("\n    ", " ").split(", ")
)
"""Passes without which no program is right, or other passes do not find their patterns."""

HEAD = """# Audit of the passes

`make audit` counts on how many programs a pass changes anything: of the corpus (function, gradient, pushforward, lanes), of the
benchmark (function and derivative, at the medium size), of the functions of fluids, chemicals and ht with an example, and of 500
random programs. Of passes that change few problems of the benchmark it measures what leaving them out costs where they change
something: time of the derivative, and of the first call (lift, transform, passes, LLVM), both as a multiple of what it is with the
pass, medians of interleaved rounds. *noise* is the same of two equal compilations.
"""


def found(keep: Path, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(keep.glob(f"{kind}-*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def passes_of(keep: Path, suite: str, name: str) -> set[str]:
    """The passes that change something in a program."""
    return {p for _, one in found(keep, f"count-{suite}") if one["name"] == name for p in one["passes"]}


def counts(keep: Path) -> dict[str, dict[str, list[str]]]:
    """For each pass and suite, the programs that it changes."""
    names: dict[str, dict[str, list[str]]] = {}
    for _, one in found(keep, "count"):
        for name in one["passes"]:
            names.setdefault(name, {s: [] for s in SUITES})[one["suite"]].append(one["name"])
    return names


def questioned(keep: Path, most: int) -> set[str]:
    """The passes to leave out: those that may be left out, and that change at most ``most`` problems."""
    return {
        name
        for name, programs in counts(keep).items()
        if name.split(": ")[1] not in MUST and 0 < len(programs["benchmark"]) <= most
    }


def page(keep: Path) -> str:
    costs = dict(found(keep, "cost"))
    total = {s: sum(1 for _ in keep.glob(f"count-{s}-*.json")) for s in SUITES}
    lines = [
        HEAD,
        "| pass | " + " | ".join(f"{s} ({total[s]})" for s in SUITES) + " | time without | first call without |",
    ]
    lines.append("|---|" + "---:|" * len(SUITES) + "---|---|")
    each = counts(keep)
    for name in sorted(each, key=lambda n: (n.split(":")[0], -sum(map(len, each[n].values())))):
        numbers = [str(len(each[name][s])) for s in SUITES]
        lines.append(
            f"| {name} | "
            + " | ".join(numbers)
            + f" | {_without(costs, name, 'times')} | {_without(costs, name, 'first')} |"
        )
    verdicts = (Path(__file__).parent / "verdicts.md").read_text(encoding="utf-8")
    return "\n".join([*lines, "", *_noise(costs), verdicts, "## Each problem", "", *_rows(costs)]) + "\n"


def _without(costs: dict[str, Any], name: str, what: str) -> str:
    ratios = [r for one in costs.values() if (r := _ratio(one, name, what)) is not None]
    if not ratios:
        return ""
    middle = math.exp(statistics.fmean(map(math.log, ratios)))
    return f"{middle:.2f} of {len(ratios)} (most {max(ratios):.2f})"


def _ratio(one: dict[str, Any], name: str, what: str) -> float | None:
    if name not in one[what]:
        return None
    usual = [one[what][k] for k in ("as it is", "again") if k in one[what]]
    return one[what][name] / math.exp(statistics.fmean(map(math.log, usual)))


def _noise(costs: dict[str, Any]) -> list[str]:
    apart = [one["times"]["again"] / one["times"]["as it is"] for one in costs.values() if "again" in one["times"]]
    if not apart:
        return []
    far = sorted(abs(math.log(r)) for r in apart)
    return [
        f"noise: half of {len(apart)} problems within {100 * far[len(far) // 2]:.1f} %, all within {100 * far[-1]:.1f} %.",
        "",
    ]


def _rows(costs: dict[str, Any]) -> list[str]:
    """One table row for each problem and pass."""
    lines = ["| problem | pass | time without | first call without |", "|---|---|---:|---:|"]
    for one in costs.values():
        for name in one["times"]:
            ratio, first = _ratio(one, name, "times"), _ratio(one, name, "first")
            if name not in ("as it is", "again"):
                lines.append(f"| {one['problem']} | {name} | {ratio:.2f} | {first:.2f} |")
        lines += [f"| {one['problem']} | {name} | {why} | |" for name, why in one["failed"].items()]
    return lines
