"""Operations in loop templates: a sample in `make test`; all, and compiled by pairwise covering, in `make test-matrix`.

`TRANSPILE_MATRIX` names the folder where `make test-matrix` keeps what has passed, so that a run that was stopped goes on: one
file for each state of the sources, one line for each operation. `TRANSPILE_MATRIX_PART` is a part of all (`0/8`): what is compiled
stays in the memory of its process, 2 MB a case.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from functools import cache
from itertools import islice, product
from pathlib import Path
from zlib import crc32

import pytest

from matrix import cases
from matrix.check import ORDERS
from matrix.operations import Operation, operations
from matrix.plan import compiled_of
from matrix.refused import Found, refused
from matrix.run import compiled, interpreted, is_expected, report
from matrix.templates import TEMPLATES

ALL = os.environ.get("TRANSPILE_MATRIX", "")
OPERATIONS = operations()
PART, PARTS = (int(n) for n in os.environ.get("TRANSPILE_MATRIX_PART", "0/1").split("/"))
CHOSEN = OPERATIONS[PART::PARTS] if ALL else ()
SAMPLE = 97  # one operation in so many, each in one template
COMPILED = 241


@cache
def done() -> Path:
    """The file of the operations that have passed, for the sources as they are."""
    root = Path(__file__).parents[2]
    sums = hashlib.sha256()
    for folder in ("transpile", "runtime", "tests/matrix"):
        for path in sorted((root / folder).rglob("*.py")):
            sums.update(path.read_bytes())
    Path(ALL).mkdir(parents=True, exist_ok=True)
    return Path(ALL) / f"{sums.hexdigest()[:16]}.txt"


def has_passed(line: str) -> bool:
    return bool(ALL) and done().exists() and line in done().read_text().splitlines()


def judge(op: Operation, kind: str, found: list[Found]) -> None:
    """Fails with the commands that repeat what is wrong, or not refused as it was."""
    wrong = [report(op, f) for f in found if not is_expected(op, f)]
    assert not wrong, "\n".join(wrong)
    if ALL:
        tally = Counter(f[3].kind for f in found)
        with done().open("a") as file:
            file.write(f"{kind} {op.name}\n")
        with done().with_suffix(".counts").open("a") as file:
            file.write(f"{kind} {' '.join(f'{k}={n}' for k, n in tally.items())}\n")


def name_of(item: object) -> str:
    return item.name if isinstance(item, Operation) else str(item)


@pytest.mark.parametrize("op", CHOSEN, ids=name_of)
def test_interpreted(op: Operation) -> None:
    """Each template, each order."""
    if not has_passed(f"interpreted {op.name}"):
        judge(op, "interpreted", list(interpreted(op)))


@pytest.mark.numba
@pytest.mark.parametrize("op", CHOSEN, ids=name_of)
def test_compiled(op: Operation) -> None:
    """Each template, each order: not each of both."""
    if not has_passed(f"compiled {op.name}"):
        judge(op, "compiled", list(compiled(op)))


@pytest.mark.parametrize("op", () if ALL else OPERATIONS[::SAMPLE], ids=name_of)
def test_sample(op: Operation) -> None:
    judge(op, "sample", list(interpreted(op, (tuple(TEMPLATES)[crc32(op.name.encode()) % len(TEMPLATES)],))))


@pytest.mark.numba
@pytest.mark.parametrize("op", () if ALL else OPERATIONS[::COMPILED], ids=name_of)
def test_compiled_sample(op: Operation) -> None:
    judge(op, "compiled sample", list(islice(compiled(op), 1)))


def test_no_operation_without_a_case() -> None:
    """A new entry of the API tables is in the matrix, by itself or by a line of `cases`."""
    assert not cases.missing()


def test_what_is_refused_is_tried() -> None:
    """The table of refusals names cases of the matrix."""
    known = {text.partition("  # ")[0] for text, _ in cases.texts()} | set(cases.WRITES)
    for case in refused():
        way, template, order, name = case.split(" ", 3)
        assert way in ("interpreted", "compiled") and template in TEMPLATES and order in ORDERS and name in known, case


def test_pairs_are_covered() -> None:
    """Of operation and template, operation and order, template and order."""
    for op in OPERATIONS:
        chosen = compiled_of(op.name)
        assert {t for t, _ in chosen} == set(TEMPLATES) and {o for _, o in chosen} == set(ORDERS)
    assert {pair for op in OPERATIONS[:40] for pair in compiled_of(op.name)} == set(product(TEMPLATES, ORDERS))
