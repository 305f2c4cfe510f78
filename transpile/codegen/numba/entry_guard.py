"""What a kernel asks before it does anything: whether the call is one that it was compiled for.

A size of 1 makes another specialisation, and compiled code takes its arrays for different ones. Inside compiled code such a test
takes no time that could be measured; in Python 30 ns for each array.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transpile.core import nodes as ir


class Guard(NamedTuple):
    """For each parameter which of its sizes are 1 (none of a number), and the pairs that must not share memory."""

    ones: tuple[tuple[bool, ...], ...]
    pairs: tuple[tuple[int, int], ...]


def guarded(text: str, lines: Mapping[int, ir.Loc], name: str, guard: Guard) -> tuple[str, dict[int, ir.Loc]]:
    """The module text with the tests at the top of function ``name``, and the line map that goes with it."""
    rows = text.split("\n")
    at = next(k for k, row in enumerate(rows) if row.startswith(f"def {name}("))
    parameters = [p.strip() for p in rows[at].partition("(")[2].rpartition(")")[0].split(",") if p.strip()]
    has_again = re.search(r"^from transpile_runtime\.compiled import .*\bagain\b", text, re.MULTILINE) is not None
    again, entry = "again" if has_again else _free("again", text), _free("entry", text)
    tests = [
        *_sizes(parameters, guard.ones),
        *(f"{entry}.share({parameters[k]}, {parameters[j]})" for k, j in guard.pairs),
    ]
    if not tests:
        return text, dict(lines)
    body = [f"    if {test}:\n        raise {again}.Again" for test in _joined(tests)]
    imports = [] if has_again else [f"from transpile_runtime.compiled import again as {again}"]
    if guard.pairs:
        imports.append(f"from transpile_runtime.compiled import entry as {entry}")
    top = rows.index("from numba import njit") + 1
    out = "\n".join([*rows[:top], *imports, *rows[top : at + 1], *body, *rows[at + 1 :]])
    shift = len(imports)
    below = shift + 2 * len(body)
    return out, {(k + shift if k <= at + 1 else k + below): loc for k, loc in lines.items()}


def _sizes(parameters: Sequence[str], ones: Sequence[Sequence[bool]]) -> list[str]:
    return [
        f"{name}.shape[{axis}] {'!=' if one else '=='} 1"
        for name, sizes in zip(parameters, ones)
        for axis, one in enumerate(sizes)
    ]


def _joined(tests: Sequence[str], most: int = 8) -> list[str]:
    """A few tests in each line."""
    return [" or ".join(tests[k : k + most]) for k in range(0, len(tests), most)]


def _free(name: str, text: str) -> str:
    while re.search(rf"\b{name}\b", text):
        name += "_"
    return name
