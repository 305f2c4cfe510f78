"""A read of a name that may have no value is seen wherever it stands: compiled code has no names, and would read anything."""

from __future__ import annotations

import gast
import numpy as np
import pytest

import transpile as tp
from transpile.frontend.sources.definite import maybe_unassigned

pytestmark = pytest.mark.sampled(5)

READS = """
z = y
z = x[y:]
z = x[:y]
z = x[::y]
z = x[0, y:, None]
x[y:] = 1.0
x[y] += 1.0
x[0] = y
z = lambda v, k=y: v * k
z = lambda v, *, k=y: v * k
z = f"{y}"
z = f"{x:{y}}"
z = x.sum(axis=y)
z = f(*y, **y)
z = [*y]
z = {**y}
z = {y: 1}
z = (v for v in y)
z = [v * y for v in x]
z = [v for v in x if v > y]
z = [w for v in x for w in y]
z = {v: y for v in x}
z = y if x else 1
z = 1 if y else x
z = x and y
z = x < 1 < y
z = not y
z = (w := y)
z = y.a
y.a = 1
y += 1
assert y
assert x, y
return y
raise y
del y
print(y)
for v in y: pass
for v in range(3): z = y
while y: pass
with y: pass
if y: pass
def g(v, k=y): return v
def g(v, *, k=y): return v
@y
def g(v): return v
""".strip().replace("\n@y\n", "\n@y ").split("\n")  # fmt: skip

# names that a test binds, or does not
BOUND = {
    "x < 1 < (y := 2)": True, "x < (y := 2) < 1": False, "x and (y := 2)": True, "(y := x) and 1": False,
    "x or (y := 2)": True, "(y := 2) if x else 1": True, "[v for v in x if (y := v)]": True, "x < (y := 1)": False,
    "f((y := 1), x)": False, "x[(y := 1):]": False, "lambda k=(y := 1): k": False,
}  # fmt: skip


def found(text: str) -> list[str]:
    return [name.id for name in maybe_unassigned(gast.parse(text).body[0])]


@pytest.mark.parametrize("line", READS)
def test_a_read_is_seen(line):
    body = line.replace("@y def", "@y\n    def")
    assert "y" in found(f"def f(x):\n    if x:\n        y = 1\n    {body}\n")
    assert "y" not in found(f"def f(x):\n    if x:\n        y = 1\n    else:\n        y = 2\n    {body}\n")


@pytest.mark.parametrize("test", BOUND)
def test_what_a_test_binds(test):
    assert ("y" in found(f"def f(x):\n    z = {test}\n    return y\n")) == BOUND[test]


def part_of_no_size(x):
    if x[0] > 5.0:
        y = 1
    return np.sum(x[y:])


def end_of_a_chain(x):
    if x[0] < x[1] < (y := 5.0 * x[2]):
        pass
    return y * x[0]


@pytest.mark.numba
@pytest.mark.parametrize("f", [part_of_no_size, end_of_a_chain])
def test_compiled(f):
    for call in (f, tp.grad(f), tp.jit(tp.grad(f))):
        with pytest.raises(UnboundLocalError):
            call(np.array([0.7, -1.3, 2.1]))
