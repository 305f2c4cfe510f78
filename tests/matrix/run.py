"""Operations in loop templates: ``python tests/matrix/run.py "np.cumsum(v)" --template nested --order gradient --compiled``.

Without a name, all operations. ``--first N --count M`` selects a part, ``--show`` prints the programs and their derivatives,
``--write`` records the refused cases in `refused.txt`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "numpy_api"), str(HERE.parent.parent)]

from matrix import refused  # noqa: E402
from matrix.check import ORDERS, Case, Outcome  # noqa: E402
from matrix.operations import Operation, operations  # noqa: E402
from matrix.plan import compiled_of  # noqa: E402
from matrix.refused import Found  # noqa: E402
from matrix.templates import TEMPLATES  # noqa: E402


def command(op: Operation, template: str, order: str, compiled: bool) -> str:
    """The command that repeats one case."""
    name = op.name.replace('"', '\\"')
    return f'python tests/matrix/run.py "{name}" --template {template} --order {order}' + " --compiled" * compiled


def interpreted(
    op: Operation, templates: tuple[str, ...] = tuple(TEMPLATES), orders: tuple[str, ...] = ORDERS
) -> Iterator[Found]:
    """All templates and orders of an operation; a refused template is tried only once."""
    for template in templates:
        case = Case(op, template)
        for order in orders:
            found = case.interpreted(order)
            yield template, order, False, found
            if found.kind == "refused" and order == "value":
                break


def compiled(op: Operation) -> Iterator[Found]:
    for template, order in compiled_of(op.name):
        yield template, order, True, Case(op, template).compiled(order)


def guarded(cases: Iterator[Found], op: Operation) -> Iterator[Found]:
    try:
        yield from cases
    except Exception as e:
        yield "?", "value", False, Outcome("unfair", f"{type(e).__name__}: {e}")


def report(op: Operation, found: Found) -> str:
    template, order, is_compiled, outcome = found
    kind = refused.surprise(op, found) or outcome.kind
    return f"--- {op.name}: {kind}: {outcome.detail}\nrepeat: {command(op, template, order, is_compiled)}"


def is_expected(op: Operation, found: Found) -> bool:
    """Whether the case equals its reference, or is refused as the table says."""
    return found[3].is_right and not refused.surprise(op, found)


def summary(folder: Path) -> str:
    """The counts of `test_matrix` for the last tested sources: operations, and cases by outcome."""
    file = max(folder.glob("*.counts"), key=lambda f: f.stat().st_mtime, default=None)
    if file is None:
        return "no operation has passed"
    done: Counter[str] = Counter()
    cases: dict[str, Counter[str]] = {}
    for line in file.read_text().splitlines():
        kind, *counts = line.split()
        done[kind] += 1
        for count in counts:
            name, _, number = count.partition("=")
            cases.setdefault(kind, Counter())[name] += int(number)
    return "\n".join(
        f"{kind}: {n} operations of {len(operations())}: " + ", ".join(f"{k} {c}" for k, c in cases[kind].most_common())
        for kind, n in done.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", help="the operation, as its text stands in the tables")
    parser.add_argument("--template", choices=TEMPLATES)
    parser.add_argument("--order", choices=ORDERS)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**6)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="renew the table of what is refused, for what is tried")
    parser.add_argument("--show", action="store_true", help="print the program and the derivative")
    parser.add_argument(
        "--counts", type=Path, help="print what `make test-matrix` counted in this folder, and nothing else"
    )
    options = parser.parse_args()
    if options.counts:
        print(summary(options.counts))
        return 0
    chosen = [op for op in operations() if op.name == (options.name or op.name)]
    chosen = chosen[options.first : options.first + options.count : options.step]
    templates = (options.template,) if options.template else tuple(TEMPLATES)
    orders = (options.order,) if options.order else ORDERS
    tally: Counter[str] = Counter()
    tried: list[tuple[Operation, Found]] = []
    start, bad = time.perf_counter(), 0
    for op in chosen:
        if options.show:
            for template in templates:
                print(Case(op, template).text)
        if options.compiled and not (options.template or options.order):
            cases = compiled(op)
        elif options.compiled:
            cases = ((t, o, True, Case(op, t).compiled(o)) for t in templates for o in orders)
        else:
            cases = interpreted(op, templates, orders)
        for found in guarded(cases, op):
            outcome = found[3]
            tally[f"{outcome.kind} {outcome.detail.split(':')[0]}" if outcome.kind == "refused" else outcome.kind] += 1
            tried.append((op, found))
            is_good = outcome.is_right if options.write else is_expected(op, found)
            bad += not is_good
            if not is_good or (outcome.kind == "refused" and options.name):
                print(report(op, found), flush=True)
    if options.write:
        refused.write(tried)
    print(", ".join(f"{kind} {n}" for kind, n in tally.most_common()))
    print(f"{len(chosen)} operations, {sum(tally.values())} cases, {bad} wrong, {time.perf_counter() - start:.1f} s")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
