"""The cases in which nothing is compared, from `refused.txt`: a new one fails, and a missing one asks for a new table.

``python tests/matrix/run.py --write`` writes it, for the selected operations, templates and orders.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .check import Outcome
from .operations import Operation

Found = tuple[str, str, bool, Outcome]  # template, order, whether it is compiled, the outcome
TABLE = Path(__file__).with_name("refused.txt")


def case_of(op: Operation, found: Found) -> str:
    template, order, is_compiled, _ = found
    return f"{'compiled' if is_compiled else 'interpreted'} {template} {order} {op.name}"


@cache
def refused() -> dict[str, str]:
    """Case -> its codes, for each refused case; "kink" for those without a derivative to compare with."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {case: code for code, case in (line.split(maxsplit=1) for line in lines)}


def surprise(op: Operation, found: Found) -> str:
    """How a case differs from the table, in words; "" if it does not."""
    code, known = found[3].code, refused().get(case_of(op, found), "")
    if code == known or not found[3].is_right:
        return ""
    return f"{code or 'equal'}, and {known or 'equal'} in the table (--write)"


def write(tried: Iterable[tuple[Operation, Found]]) -> None:
    """Updates the table with the outcomes of these cases."""
    new = dict(refused())
    for op, found in tried:
        new.pop(case_of(op, found), None)
        if found[3].code:
            new[case_of(op, found)] = found[3].code
    text = "".join(f"{code} {case}\n" for case, code in sorted(new.items()))
    TABLE.write_text(text, encoding="utf-8")
    refused.cache_clear()
