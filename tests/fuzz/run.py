"""Random programs against differences: ``python tests/fuzz/run.py --count 200 --seed 0``.

Each seed is one program. A failing one is shrunk and printed, with the command that repeats it. The last lines report the
constructs, and the number of pairs of them, in the programs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from differences import Subject  # noqa: E402

from fuzz.check import Failure, Unfair, check, fair, limited, load  # noqa: E402
from fuzz.constructs import KINDS  # noqa: E402
from fuzz.generate import CONSTRUCTS, Source, generate  # noqa: E402
from fuzz.shrink import shrink  # noqa: E402

PATIENCE = 30  # seconds for one program; a shrunk `while` may not terminate
COMPILING = 300  # seconds for one program that is compiled


class TooLong(Exception):
    """A program does not terminate."""


@dataclass
class Tally:
    """The counts of a run."""

    programs: int = 0
    rejected: int = 0
    refused: int = 0
    constructs: Counter = field(default_factory=Counter)
    pairs: Counter = field(default_factory=Counter)
    kinds: Counter = field(default_factory=Counter)
    codes: Counter = field(default_factory=Counter)
    failures: dict[int, tuple[Failure, str]] = field(default_factory=dict)

    def add(self, source: Source) -> None:
        self.programs += 1
        held = [c for c in CONSTRUCTS if c in source.constructs]
        self.kinds.update(c for c in KINDS if c in source.constructs)
        self.constructs.update(held)
        self.pairs.update(combinations(held, 2))

    def missing(self) -> tuple[list[str], list[tuple[str, str]]]:
        """The constructs and the pairs that occur in no program."""
        return (
            [c for c in CONSTRUCTS if not self.constructs[c]],
            [p for p in combinations(CONSTRUCTS, 2) if not self.pairs[p]],
        )

    def summary(self) -> str:
        constructs, pairs = self.missing()
        total = len(CONSTRUCTS) * (len(CONSTRUCTS) - 1) // 2
        rare = ", ".join(
            f"{c} {n}" for c, n in sorted(self.constructs.items(), key=lambda item: (item[1], item[0]))[:6]
        )
        lines = [
            f"{self.programs} programs, {self.rejected} drafts rejected, {len(self.failures)} failures"
            + f", {self.refused} refused" * bool(self.refused),
            f"constructs made: {len(CONSTRUCTS) - len(constructs)} of {len(CONSTRUCTS)} (rarest: {rare})",
            f"pairs made: {total - len(pairs)} of {total}",
        ]
        if constructs:
            lines.append(f"not made: {', '.join(constructs)}")
        if pairs and len(pairs) <= 40:
            lines.append("pairs not made: " + ", ".join(f"{a}+{b}" for a, b in pairs))
        return "\n".join(lines)


def command(seed: int, options: dict[str, bool]) -> str:
    """The command that repeats a failing program."""
    chosen = "".join(f" --{name}" for name, value in options.items() if value)
    return f"python tests/fuzz/run.py --count 1 --seed {seed}{chosen}"


def draft(seed: int, folder: Path, tally: Tally, risky: bool = False, kinds: bool = False) -> tuple[Source, Subject]:
    """The first attempt of a seed that is a fair test, and its subject."""
    for attempt in range(50 if kinds else 20):
        source = generate(seed, attempt, risky, kinds)
        try:
            return source, limited(lambda: fair(load(source.text, f"fuzz_{seed}_{attempt}", folder)), PATIENCE, TooLong)
        except (Unfair, TooLong):
            tally.rejected += 1
    raise RuntimeError(f"no fair program for seed {seed}")


def try_seeds(
    seeds: Iterable[int],
    second: bool | None = None,
    compiled: bool = False,
    risky: bool = False,
    kinds: bool = False,
    small: bool = True,
    lanes: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> Tally:
    """Makes and checks the programs of the seeds. A risky program may be refused by a diagnostic; one of ``kinds`` too, and its
    compiled integers may overflow. ``second``: check second order; None: for each tenth program."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as temporary:
        for seed in seeds:
            source, subject = draft(seed, Path(temporary), tally, risky, kinds)
            tally.add(source)
            patience = COMPILING if compiled else 2 * PATIENCE if lanes else PATIENCE
            twice = seed % 10 == 0 if second is None else second
            failure = judge(lambda: check(subject, second=twice, compiled=compiled, lanes=lanes), patience)
            if failure is not None and may_be(failure, risky, kinds):
                tally.refused += 1
                tally.codes[failure.kind.removeprefix("TranspileError ")] += 1
            elif failure is not None:
                options = {
                    "second": twice and failure.stage == "second",
                    "compiled": compiled and "compiled" in failure.stage,
                    "lanes": lanes,
                }
                text = smallest(source.text, failure, Path(temporary), options) if small else source.text
                tally.failures[seed] = (failure, text)
                repeat = command(seed, {**options, "risky": risky, "kinds": kinds})
                report(
                    f"--- seed {seed}: {failure.stage}: {failure.kind}\n{failure.message}\n\n{text}\n\nrepeat: {repeat}\n"
                )
    return tally


def may_be(failure: Failure, risky: bool, kinds: bool) -> bool:
    """Whether a failure is a refusal that is allowed for the program."""
    if kinds:
        return failure.kind.startswith("TranspileError") or (
            failure.stage == "compiled" and failure.kind.startswith("OverflowError")
        )
    if risky:
        return failure.kind.startswith("TranspileError T12")
    return (
        failure.kind == "TranspileError T123"
    )  # the loop variable over rows may alias a written array that a closure captures


def judge(run: Callable[[], Failure | None], seconds: int = PATIENCE) -> Failure | None:
    try:
        return limited(run, seconds, TooLong)
    except TooLong as e:
        return Failure("time", "TooLong", str(e))


def smallest(text: str, failure: Failure, folder: Path, options: dict[str, bool]) -> str:
    """The shrunk program."""
    count = 0

    def fails(candidate: str) -> bool:
        nonlocal count
        count += 1
        try:
            subject = limited(lambda: fair(load(candidate, f"smaller_{count}", folder)), 2, TooLong)
            return failure.is_like(judge(lambda: check(subject, **options)))
        except Exception:  # a shrunk program may fail in any way
            return False
        finally:
            sys.modules.pop(f"smaller_{count}", None)

    return shrink(text, fails)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", "--first", type=int, default=0, help="the first seed")
    parser.add_argument("--second", action="store_true", help="second order of all programs, not of each tenth")
    parser.add_argument("--compiled", action="store_true", help="compiled code too")
    parser.add_argument(
        "--risky", action="store_true", help="what shares memory depends on what runs: right or refused"
    )
    parser.add_argument(
        "--kinds", action="store_true", help="programs of the kinds that faults were of: right or refused"
    )
    parser.add_argument("--lanes", action="store_true", help="under vmap, and vmap with derivatives, instead")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the programs")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    if options.show:
        for seed in seeds:
            print(generate(seed, risky=options.risky, kinds=options.kinds).text)
    start = time.perf_counter()
    tally = try_seeds(
        seeds,
        options.second or None,
        options.compiled,
        options.risky,
        options.kinds,
        not options.no_shrink,
        options.lanes,
        report=lambda text: print(text, flush=True),
    )
    print(tally.summary())
    kinds = Counter(f"{f.stage}: {f.kind}" for f, _ in tally.failures.values())
    for kind, n in kinds.most_common():
        print(f"{n:5d}  {kind}")
    if tally.codes:
        print("refused: " + ", ".join(f"{code} {n}" for code, n in tally.codes.most_common()))
    seconds = time.perf_counter() - start
    print(f"{seconds:.1f} s, {seconds / max(tally.programs, 1):.2f} s a program")
    return bool(tally.failures)


if __name__ == "__main__":
    sys.exit(main())
