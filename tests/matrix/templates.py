"""The loop templates: programs around an operation, in which its argument is carried.

The carried argument keeps its shape and stays close to its value, since many operations are defined on a part of the line only:
it is scaled by a factor near 1 that depends on the results.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .operations import Operation

Lines = list[str]


def indent(lines: Lines, by: int = 1) -> Lines:
    return ["    " * by + line for line in lines]


def step(op: Operation) -> Lines:
    """The operation, a number from its results, and the carried argument scaled by it."""
    single = np.asarray(op.pool[op.carried]).dtype == np.float32  # a float64 factor would widen it
    factor = f"{'np.float32' * single}(1.0 + 0.01 * part)"
    return [*op.lines, f"part = {op.measure}", f"{op.carried} = {op.carried} * {factor}"]


def end(op: Operation) -> str:
    return f"np.sum(np.sin({op.carried}))"


def carried(op: Operation) -> Lines:
    """The operation in a loop; the last results are read after it."""
    return ["for trip in range(3):", *indent(step(op)), f"return {end(op)} + {op.measure}"]


def nested(op: Operation) -> Lines:
    """The operation in nested loops, of which data end the inner one."""
    return [
        "total = 0.0",
        "for outer in range(2):",
        "    for inner in range(4):",
        *indent(step(op), 2),
        "        total = total + 1.0 + 0.05 * np.tanh(part)",
        "        if total > 1.85:",
        "            break",
        "    total = total * 0.3",
        f"return total + {end(op)}",
    ]


def until(op: Operation) -> Lines:
    """The operation in a ``while`` loop from which the function returns."""
    return [
        "level = 0.0",
        "while level < 9.5:",
        *indent(step(op)),
        "    level = level + 1.0 + 0.05 * np.tanh(part)",
        "    if level > 2.5:",
        f"        return part * {end(op)}",
        f"return {end(op)}",
    ]


def called(op: Operation) -> Lines:
    """The operation in a function that a loop calls."""
    return [
        "total = 0.0",
        "for trip in range(2):",
        f"    {op.carried}, part = step({', '.join(arguments(op))})",
        "    total += part",
        f"return total + {end(op)}",
    ]


def branch(op: Operation) -> Lines:
    """The operation in a branch whose test reads the carried argument."""
    return [
        "total = 0.0",
        "for trip in range(3):",
        f"    if trip + 0.001 * np.sum(np.cos({op.carried})) > 0.5:",
        *indent(step(op), 2),
        "        total = total + part",
        "    else:",
        f"        {op.carried} = {op.carried} * 0.99",
        f"return total + {end(op)}",
    ]


TEMPLATES: dict[str, Callable[[Operation], Lines]] = {
    "carried": carried, "nested": nested, "until": until, "called": called, "branch": branch,
}  # fmt: skip


def arguments(op: Operation) -> list[str]:
    return [*op.floats, *op.constants]


def text_of(op: Operation, template: str) -> str:
    """The module: ``program``, and functions of the user's own that differentiate it, so that they can be compiled."""
    names = arguments(op)
    dots = [f"{n}_v" for n in op.floats]
    all_, own = ", ".join(names), ", ".join(dots)
    tangents = ", ".join([*dots, *op.constants])
    count = len(op.floats)
    lines = [
        "import math",
        "import operator",
        "",
        "import numpy as np",
        "import scipy.linalg",
        "import scipy.special",
        "",
    ]
    lines += ["import transpile as tp", "", ""]
    if template == "called":
        lines += [f"def step({all_}):", *indent(step(op)), f"    return {op.carried}, part", "", ""]
    lines += [f"def program({all_}):", *indent(TEMPLATES[template](op)), "", ""]
    lines += [f"def forward({all_}, {own}):", f"    return tp.jvp(program, ({all_},), ({tangents},))", "", ""]
    lines += [f"def second({all_}, {own}):"]
    lines += [f"    return tp.jvp(tp.grad(program, argnums={tuple(range(count))}), ({all_},), ({tangents},))", ""]
    return "\n".join(lines)
