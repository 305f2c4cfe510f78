"""A sum that branches of a trip go on with, or drop, in every way: several trips at once give what one after the other gives."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from fuzz.check import load

import transpile as tp
from transpile.loops.unroll_and_jam_legality import AT_ONCE

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("cache_directory")]

TESTS = ("d", "p[0] > 0.0", "t > 0.0")  # known before the branches, the same in all trips, another one in each
THEN = ("s = u", "s = s + 1.0", "s = u + t\ns = s - 0.5")
ELSE = ("", "s = s - 2.0")
VARIANTS = tuple(product(THEN, ELSE))
NAMES = [f"s{k}" for k in range(len(VARIANTS))]


def indented(text: str, depth: int) -> str:
    return "".join(f"{' ' * 4 * depth}{line}\n" for line in text.splitlines())


def branch(outer: str, inner: str, then: str, orelse: str) -> str:
    body = f"if {outer}:\n    u = s + t\n    if {inner}:\n{indented(then, 2)}"
    return f"{body}    else:\n{indented(orelse, 2)}" if orelse else body


def program(outer: str, inner: str) -> str:
    """A function of all variants, each with a sum of its own."""
    lines = ["import numpy as np", "", "", "def program(x, y, p, q):", f"    {' = '.join(NAMES)} = 0.0"]
    lines += ["    for i in range(len(x)):", "        t = x[i]", "        for j in range(len(y)):"]
    lines += ["            t = t * y[j] + 0.1 * t * t", "        d = q[0] > 0.0"]
    for name, variant in zip(NAMES, VARIANTS):
        lines += [f"        s = {name}", indented(branch(outer, inner, *variant), 2).rstrip(), f"        {name} = s"]
    return "\n".join([*lines, f"    return {', '.join(NAMES)}", ""])


@pytest.mark.parametrize("outer", TESTS)
@pytest.mark.parametrize("inner", TESTS)
@pytest.mark.sampled(3)
def test_sums_that_branches_drop(outer: str, inner: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    f = load(program(outer, inner), f"sums_{TESTS.index(outer)}{TESTS.index(inner)}", tmp_path).program
    compiled = tp.jit(f)
    for n, a, b in product((2, 2 * AT_ONCE + 3), (1.0, -1.0), (1.0, -1.0)):
        args = rng.normal(size=n), rng.normal(size=5), np.array([a]), np.array([b])
        np.testing.assert_allclose(compiled(*args), f(*args), rtol=1e-12, atol=1e-12, err_msg=f"{n} {a} {b}")
