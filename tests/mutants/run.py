"""Plants faults in loop core, as many of each kind: ``python tests/mutants/run.py``; ``--count 60``, ``--kind "a check"`` (part of
a name), ``--write`` writes `results.md` with the shares and what survives, ``--show`` prints each fault that survives."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1]), str(HERE.parents[1] / "runtime")]

from core_reader import read  # noqa: E402
from core_runs import TooLong, Violation  # noqa: E402

from mutants.judge import SETS, TOLD, Mutant, Subject, mutants, outcomes, subjects  # noqa: E402
from mutants.kinds import KINDS  # noqa: E402
from transpile.core.dump import dump  # noqa: E402

LEAST = 0.9  # of the faults that change a value
VERDICTS = ("refused", "differs", "survives", "equal")


def pool(step: int = 1) -> list[Subject]:
    """The programs that run."""
    found = []
    for subject in subjects(0, step):
        try:
            outcomes(read(subject.text), subject.args)
            found.append(subject)
        except (Violation, TooLong, AssertionError) as e:
            print(f"left out: {subject.name} {subject.stage}: {type(e).__name__}: {str(e)[:200]}")
    return found


def share(tally: Counter[str]) -> float | None:
    """The share of the noticed among those that change a value; None if none does."""
    noticed = tally["refused"] + tally["differs"]
    return noticed / (noticed + tally["survives"]) if noticed + tally["survives"] else None


def row(kind: str, tally: Counter[str]) -> str:
    found = share(tally)
    return (
        f"| {kind} | "
        + " | ".join(str(tally[v]) for v in VERDICTS)
        + f" | {'' if found is None else f'{100 * found:.0f} %'} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="faults of each kind")
    parser.add_argument("--kind", default="", help="part of the names of kinds")
    parser.add_argument("--step", type=int, default=4, help="one program in so many")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true", help="print each fault that survives")
    parser.add_argument("--write", action="store_true", help="write results.md")
    options = parser.parse_args()
    start, programs = time.perf_counter(), pool(options.step)
    print(f"{len(programs)} programs, {time.perf_counter() - start:.0f} s", flush=True)
    tallies: dict[str, Counter[str]] = {}
    survivors: list[tuple[Mutant, str]] = []
    for kind in KINDS:
        if options.kind not in kind:
            continue
        tally = tallies[kind] = Counter()
        for mutant in mutants(kind, programs, options.count, options.seed):
            verdict, why = mutant.verdict()
            tally[verdict] += 1
            if verdict == "survives":
                survivors.append((mutant, why))
                if options.show:
                    print(f"--- {kind}: {mutant.subject.name} {mutant.subject.stage}, place {mutant.place}: {why}")
                    print(difference(mutant), flush=True)
        print(row(kind, tally), flush=True)
    few = [k for k, t in tallies.items() if (share(t) or 0.0) < LEAST]
    head = ["| fault | " + " | ".join(VERDICTS) + " | noticed |", "|---|" + "---:|" * 5]
    if options.write:
        lines = [
            f"- {m.kind}: `{m.subject.name}`, {m.subject.stage}, place {m.place}, draw {m.seed}" for m, _ in survivors
        ]
        text = "\n".join([*head, *(row(k, t) for k, t in tallies.items())])
        told = (
            "# Faults planted in loop core\n\n"
            + _ABOUT.format(options.count, TOLD, SETS)
            + f"\n\n{text}\n\nWhat survives:\n\n"
            + "\n".join(lines)
        )
        (HERE / "results.md").write_text(told + "\n", encoding="utf-8")
    print(
        f"{sum(t.total() for t in tallies.values())} faults, {len(survivors)} survive, {time.perf_counter() - start:.0f} s"
    )
    print(*(f"less than {LEAST:.0%}: {k}" for k in few), sep="\n")
    return bool(few)


_ABOUT = (
    "{} of each kind, in programs of the corpus: lowered, optimised, and with parallel loops. Refused: by the verifier.\n"
    "Differs: one of {} runs gives something else, with the program's own arguments and with others. Survives: only one of\n"
    "{} runs does. Equal: none of them differs. The last column is the share of those noticed among all but the equal ones.\n"
    "`python tests/mutants/run.py --write` makes this page."
)


def difference(mutant: Mutant) -> str:
    """The lines that the fault changes."""
    made = mutant.made()
    assert made is not None
    old, new = mutant.subject.text.splitlines(), dump(made).splitlines()
    gone, come = [line for line in old if line not in new], [line for line in new if line not in old]
    return "\n".join([*(f"- {line}" for line in gone[:4]), *(f"+ {line}" for line in come[:4])])


if __name__ == "__main__":
    sys.exit(main())
