"""Random loop nests, optimised against interpreted: ``python tests/fuzz/run_nests.py --count 1000 --seed 0``.

Each seed is one program (`fuzz.nests`), called with ten variants of its arguments, and its gradient. A failing one is shrunk
and printed, with the command that repeats it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from loop_compare import Subject, Wrong  # noqa: E402
from loop_text import STAGES, outcome  # noqa: E402

import transpile as tp  # noqa: E402
from fuzz.check import Failure, kind_of, limited, load  # noqa: E402
from fuzz.nests import VARIANTS, generate  # noqa: E402
from fuzz.shrink import shrink  # noqa: E402

SECONDS = 1.0  # of computing, for one call; a wild number may be a trip count
DERIVED = STAGES[1:]  # a gradient runs at one of these stages


class TooLong(BaseException):
    """A call does not terminate. Not an `Exception`: it is no outcome of the program."""


def check(module: ModuleType, seed: int) -> Failure | None:
    """The first failure of a program: of its value with all variants of its arguments, then of its gradient."""
    stage = DERIVED[seed % len(DERIVED)]
    failure = run(Subject(module.program), module.program, module, STAGES)
    if failure is None and module.WRT:
        derived = tp.value_and_grad(module.program, argnums=module.WRT)
        failure = run(Subject(derived), derived, module, ("lowered", stage))
    return failure


def run(subject: Subject, plain: Any, module: ModuleType, stages: tuple[str, ...]) -> Failure | None:
    kind = "value" if plain is module.program else "gradient"
    is_unbound = False  # a name unbound in the loop body is refused even if the loop has no iterations
    for variant, name in enumerate(VARIANTS):
        args = module.args(variant)
        try:
            wanted = limited(lambda: outcome(plain, args), SECONDS, TooLong)
        except TooLong:
            continue
        is_unbound |= isinstance(wanted.error, NameError)
        try:
            limited(lambda: subject.check(args, stages, wanted), 20 * SECONDS, TooLong)
        except TooLong as e:
            if wanted.error is None:  # else the error may be in an unread value, with a long loop after it
                return Failure(kind, f"{name} too long", str(e))
        except Wrong as e:
            if not (is_unbound and e.kind == "refused"):
                return Failure(kind, f"{name} {e.kind}", str(e))
        except Exception as e:
            return Failure(kind, f"{name} {kind_of(e)}", f"{type(e).__name__}: {e}")
    return None


def try_seeds(seeds: Iterable[int], small: bool = True, report: Callable[[str], None] = print) -> tuple[int, Counter]:
    """The number of programs checked, and the failures by kind."""
    count, kinds = 0, Counter()  # type: ignore[var-annotated]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for seed in seeds:
            text = generate(seed)
            failure = check(load(text, f"nest_{seed}", folder), seed)
            sys.modules.pop(f"nest_{seed}", None)
            count += 1
            if failure is None:
                continue
            kinds[f"{failure.stage}: {failure.kind}"] += 1
            shown = smallest(text, failure, folder, seed) if small else text
            report(
                f"--- seed {seed}: {failure.stage}: {failure.kind}\n{failure.message}\n\n{shown}\n\n"
                f"repeat: python tests/fuzz/run_nests.py --count 1 --seed {seed}\n"
            )
    return count, kinds


def smallest(text: str, failure: Failure, folder: Path, seed: int) -> str:
    number = 0

    def fails(candidate: str) -> bool:
        nonlocal number
        number += 1
        name = f"smaller_nest_{seed}_{number}"
        try:
            return failure.is_like(limited(lambda: check(load(candidate, name, folder), seed), 20, TooLong))
        except (Exception, TooLong):
            return False
        finally:
            sys.modules.pop(name, None)

    return shrink(text, fails, tries=800)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--no-shrink", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    count, kinds = try_seeds(range(options.seed, options.seed + options.count), not options.no_shrink)
    print(f"{count} programs, {sum(kinds.values())} failures, {time.perf_counter() - start:.1f} s")
    for kind, n in kinds.most_common():
        print(f"{n:5d}  {kind}")
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
