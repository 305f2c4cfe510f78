"""Recursion over numbers, strings and flags that must be known, with containers handed along: programs made at random.

Each is one template with every part drawn: what is handed along (a list, a tuple, a dict, an array, nested pairs), what is known
besides the count (a second count, a flag, a string, a default), and how the calls follow (a loop over counts, two calls, calls by
way of another function). What Python computes is right. A failing test names the seed.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import Subject, check_jvp, check_value, check_vjp

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

# what is handed along -> its value, what it is read as for a count, and how a call may hand it on
HANDED: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "list": ([0.7, 1.2, 0.4, 0.9, 1.1, 0.6], "c[n - 1]", ("c", "c[::-1]", "[u * 0.9 for u in c]")),
    "tuple": ((0.7, 1.2, 0.4, 0.9, 1.1, 0.6), "c[n % 6]", ("c", "c[1:] + c[:1]")),
    "dict": ({"a": 0.7, "b": 1.2}, "c['a'] * n", ("c", "{'a': c['b'], 'b': c['a'] + 0.1}")),
    "array": (np.array([0.7, 1.2, 0.4, 0.9, 1.1, 0.6]), "c[n - 1]", ("c", "c[::-1]", "c * 0.9")),
    "pairs": (((0.7, 2.0), (1.2, 1.0), (0.4, 3.0)), "c[n % 3][0] * c[n % 3][1]", ("c", "c[1:] + c[:1]")),
    "lists": ([[0.7, 1.2], [0.4, 0.9]], "c[n % 2][0]", ("c", "[c[1], c[0]]")),
}
# what is known besides -> its first value, a base case, a factor, and what a call that takes m off the count gives for it
KNOWN: dict[str, tuple[str, str, str, str]] = {
    "none": ("0", "False", "1.0", "k"),
    "count": ("4", "k <= 0", "(1.0 + 0.1 * k)", "k - 1"),
    "flag": ("True", "False", "(1.5 if k else 0.5)", "not k"),
    "string": ("'abcd'", "k == ''", "(1.5 if k[0] == 'a' else 0.5)", "k[1:]"),
    "tuple": ("(2, 1, 3)", "False", "(0.5 * k[0])", "k[1:] + k[:1]"),
}
CALLS: dict[str, str] = {
    "loop": "    for i in range(1, n + 1):\n        t = t + {factor} * {read} * {first}(n - i, {rest})\n",
    "best": "    for i in range(1, n + 1):\n        t = max(t, {read} * i + {first}(n - i, {rest}))\n",
    "two": "    t = {read} * {first}(n - 1, {rest}) + {factor} * {second}(n - 2, {other})\n",
    "branch": "    if n % 2:\n        t = {read} + {first}(n - 1, {rest})\n"
    "    else:\n        t = {factor} * {second}(n - 2, {other})\n",
    "while": "    m = n\n    while m > 0:\n        m -= 2\n        t = t + {read} * {first}(m, {rest})\n",
}  # fmt: skip


def made(seed: int) -> tuple[str, tuple[Any, ...]]:
    """The text of a program, ``main``, and its arguments."""
    draw = random.Random(seed)
    value, read, handing = HANDED[draw.choice(list(HANDED))]
    start, base, factor, after = KNOWN[draw.choice(list(KNOWN))]
    count, is_mutual, by_name = draw.randint(2, 5), draw.random() < 0.4, draw.random() < 0.5
    defs = []
    for name, partner in (("f", "g"), ("g", "f")) if is_mutual else (("f", "f"),):
        names = {"first": partner, "second": draw.choice([name, partner])}
        rest, other = (
            f"{draw.choice(handing)}, x, {'k=' if by_name else ''}{draw.choice(('k', after))}" for _ in range(2)
        )
        calls = CALLS[draw.choice(list(CALLS))].format(**names, rest=rest, other=other, factor=factor, read=read)
        defs.append(
            f"def {name}(n, c, x, k={start}):\n"
            f"    if n <= 0 or {base}:\n        return {draw.choice(('x', '0.5', '1', 'x * x'))}\n"
            f"    t = {draw.choice(('0.0', 'x', '1'))}\n{calls}    return t\n"
        )
    return "\n\n".join([*defs, "def main(n, c, x):\n    return f(n, c, x)\n"]), (count, value, 0.8)


def loaded(text: str, name: str) -> Callable[..., Any]:
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace["main"]


def checked(seed: int, compiled: bool) -> None:
    text, args = made(seed)
    subject = Subject(loaded(text, f"recursion {seed}"), lambda: args, (1, 2))
    try:
        if compiled:
            check_value(subject, tp.jit(subject.f)(*args), "compiled")
            check_vjp(subject, tp.jvp, tp.vjp)
        else:
            check_value(subject, Transformed(subject.f, Level())(*args), "interpreted")
            check_jvp(subject, tp.jvp, differences="max(" not in text)
    except tp.TranspileError as error:
        if "while" not in text or "T210" not in str(error):
            raise
        pytest.skip("a count of a while loop is known to nobody, and an index of a list must be")
    except Exception as error:
        error.add_note(f"seed {seed}:\n{text}") if hasattr(error, "add_note") else print(f"seed {seed}:\n{text}")
        raise


@pytest.mark.parametrize("seed", [2, 3, 6, 21, 66])
def test_known_counts_and_containers(seed):
    checked(seed, compiled=False)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(120))
def test_more_known_counts_and_containers(seed):
    checked(seed, compiled=False)


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_known_counts_and_containers_compiled(seed):
    checked(seed, compiled=True)
