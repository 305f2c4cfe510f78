"""``make oracle``: compares the compiler's outputs for every program with those in ``tests/oracle/frozen``.

``--write`` freezes; the commit then says why texts or values differ. To see how a text has changed, not only that it has, dump
both checkouts: ``run.py --dump A`` in one, ``run.py --against A`` in the other shows the first lines that differ, and so does
``diff -r`` of two dumps. ``--only`` (part of a name, may be repeated), ``--stage`` (likewise) and ``--part`` select less: two
processes with ``--part 1/2`` and ``--part 2/2`` share the work.

A full run takes eight minutes on one core (789 programs, 2960 calls, 490 s). Comments and messages name lines of the programs:
a line inserted into a file of the corpus changes the texts of all programs below it.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import os
import sys
import time
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")  # the same sums in every run

HERE = Path(__file__).resolve().parent
sys.path[:0] = [
    str(HERE.parent),
    str(HERE.parent / "transform"),
    str(HERE.parent.parent),
    str(HERE.parent.parent / "runtime"),
]

from oracle import places  # noqa: E402

if __name__ == "__main__":
    given = os.getcwd()
    places.enter()

from oracle import stages, store  # noqa: E402
from oracle.subjects import Subject, subjects  # noqa: E402

LINES = 12  # the most lines shown of a difference


def main() -> int:
    options = _options()
    chosen, is_whole = _chosen(options)
    asked = tuple(s for s in stages.STAGES if not options.stage or s in options.stage)
    apart = () if options.write or store.same_environment(options.frozen) else stages.OF_ENVIRONMENT
    if {*apart} & {*asked}:
        print(f"{' and '.join(apart)} are not compared: they were frozen in another environment", flush=True)
        asked = asked if options.dump or options.against else tuple(s for s in asked if s not in apart)
    start, used = time.time(), time.process_time()
    found = _made(chosen, asked, options)
    programs = len({(s.suite, s.program) for s in chosen})
    took = f"{time.time() - start:.0f} s, {time.process_time() - used:.0f} s of a core"
    print(f"{programs} programs, {len(chosen)} calls, {took}", flush=True)
    if options.write:
        store.write(found, is_whole, options.frozen)
        return 0
    wanted = store.without(store.frozen(options.frozen), apart)
    changes = list(store.changes(store.without(found, apart), wanted, is_whole))
    for suite, program, transform, stage, how in changes:
        print(f"{suite}/{program} {transform} {stage}: " + how.replace("\n", "\n    "))
    print(f"{len(changes)} changes" if changes else "as it is frozen")
    return min(len(changes), 1)


def _chosen(options: argparse.Namespace) -> tuple[list[Subject], bool]:
    """The selected subjects, and whether they are all."""
    part, parts = map(int, options.part.split("/"))
    turns = itertools.cycle(range(1, parts + 1))

    def is_mine(suite: str, program: str) -> bool:
        named = not options.only or any(text in f"{suite}/{program}" for text in options.only)
        return named and next(turns) == part

    chosen = subjects(is_mine)
    return chosen[:: -1 if options.backwards else 1], not options.only and parts == 1 and not options.stage


def _made(chosen: list[Subject], asked: tuple[str, ...], options: argparse.Namespace) -> store.Records:
    """The records; full texts are dumped, or compared with those of another checkout, as they are produced."""
    found: store.Records = {}
    for subject in chosen:
        begun = time.process_time()
        texts = stages.made(subject, asked)
        record = {stage: stages.record(stage, one) for stage, one in texts.items()}
        found.setdefault(subject.suite, {}).setdefault(subject.program, {})[subject.transform] = record
        for stage, one in texts.items():
            name = Path(subject.suite, f"{subject.program}.{subject.transform}.{stage}.{stages.SUFFIX[stage]}")
            if options.dump:
                (options.dump / name).parent.mkdir(parents=True, exist_ok=True)
                (options.dump / name).write_text(stages.written(one), encoding="utf-8")
            if options.against:
                _show(options.against / name, stages.written(one))
        if time.process_time() - begun > options.slow:
            took = time.process_time() - begun
            print(f"{subject.suite}/{subject.program} {subject.transform}: {took:.1f} s", flush=True)
    return found


def _show(path: Path, text: str) -> None:
    """Prints the first lines in which a text differs from that of another checkout."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(old.splitlines(), text.splitlines(), str(path), "now", n=2, lineterm="")
    for _, line in zip(range(LINES if old != text else 0), lines):
        print(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="freeze what is found")
    parser.add_argument("--only", action="append", default=[], metavar="TEXT", help="programs with this in their names")
    parser.add_argument("--stage", action="append", default=[], choices=stages.STAGES)
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N parts of the programs")
    parser.add_argument("--dump", type=_path, metavar="DIR", help="write all texts there")
    parser.add_argument("--against", type=_path, metavar="DIR", help="show differences from a dump")
    parser.add_argument("--frozen", type=_path, default=store.FROZEN, metavar="DIR", help="what to compare with")
    parser.add_argument("--backwards", action="store_true", help="the last program first: the order must not matter")
    parser.add_argument("--slow", type=float, default=10.0, metavar="S", help="name calls that take this many seconds")
    return parser.parse_args()


def _path(text: str) -> Path:
    """A path relative to the folder where the command was given."""
    return Path(given, text)


if __name__ == "__main__":
    sys.exit(main())
