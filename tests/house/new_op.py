"""The skeleton of a new primitive: ``make new-op NAME=dawsn`` for a function of `scipy.special`, ``KIND=fold`` for any other.

A function of `scipy.special` gets its record, its entry in `numpy_api`, its machine code and points for the rule tests; only
the derivative is left to write. For another kind the record is printed, with its required fields.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBERS = {1: "ONE", 2: "TWO", 3: "THREE"}
POINTS = {1: "_ANY", 2: "_POSITIVE_PAIRS"}
LEFT = """{name} is a primitive. What is left:
- transpile/ops/special.py: its partial derivatives, in the place of UNWRITTEN: functions of the result and the operands; `ZERO`
  where it has none; the special values and their source in the docstring of the module
- tests/rule_points.py: points inside its domain, if those are not; `HARD` and `SPECIAL` ones
- tests/corpus/special.py: a program that calls it
- pytest -q tests/ops tests/numpy_api -k {name}
"""


class Refused(Exception):
    """The skeleton cannot be made; the message says why."""


def of_special(name: str, root: Path = ROOT) -> str:
    """Writes the skeleton of a function of `scipy.special`, and returns the remaining steps."""
    import scipy.special

    function = getattr(scipy.special, name, None)
    if getattr(function, "nout", 0) != 1 or function.nin not in NUMBERS:
        raise Refused(f"scipy.special has no function {name!r} of one to three numbers that gives one")
    count = function.nin
    record = root / "transpile/ops/special.py"
    if f'special("{name}"' in record.read_text():
        raise Refused(f"{name!r} is a primitive already")
    partials = ", ".join(["UNWRITTEN"] * count)
    after(record, "OTHERS: list[Op] = [\n", f'    special("{name}", {partials}),\n')
    into_words(root / "transpile/numpy_api/scipy_special.py", f"{NUMBERS[count]} = ", name)
    into_words(root / "runtime/transpile_runtime/compiled/special.py", f"_{NUMBERS[count]} = ", name)
    if count in POINTS:
        into_words(root / "tests/rule_points.py", f"{POINTS[count]} = ", name)
    else:
        after(root / "tests/rule_points.py", '    "betainc": SHAPES,\n', f'    "{name}": SHAPES,\n')
    return LEFT.format(name=name)


def of_kind(name: str, kind: str) -> str:
    """The record of another kind, with its required fields."""
    sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]
    from transpile.ops.record import REQUIRED

    if kind not in REQUIRED:
        raise Refused(f"there is no kind {kind!r}: one of {', '.join(REQUIRED)}")
    fields = "\n".join(f"    {field}=...," for field in REQUIRED[kind])
    return f'Op(\n    "{name}",\n    type_rule,\n    kind="{kind}",\n{fields}\n    examples=...,\n)'


def after(path: Path, line: str, new: str) -> None:
    text = path.read_text().replace(line.replace("\n", "]\n"), f"{line}]\n")  # the list is empty
    if text.count(line) != 1:
        raise Refused(f"{path.name} has no place for it: {line.strip()!r}")
    path.write_text(text.replace(line, line + new))


def into_words(path: Path, begins: str, name: str) -> None:
    """Appends a word to a list that is written as text: ``begins "a b c".split()``."""
    text = path.read_text()
    at = text.find(f"\n{begins}")
    end = text.find(".split()", at)
    quote = max(text.rfind('"', 0, end), 0)
    while text[quote - 1] == '"':
        quote -= 1
    if at < 0 or end < 0:
        raise Refused(f"{path.name} has no list {begins!r}")
    path.write_text(f"{text[:quote]} {name}{text[quote:]}")


def main() -> int:
    name, kind = (*sys.argv[1:], "")[:2]
    try:
        print(of_kind(name, kind) if kind else of_special(name))
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
