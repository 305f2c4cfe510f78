"""Functions with what is given to them, ranges, slices, methods, texts: carried by loops, joined where paths meet, and read after
what made them. Truth values that paths leave are Python's. Beside the function itself, with differences."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import module_of, text_of
from differences import gradient_by_differences

import transpile as tp
from transpile.errors import TranspileError

pytestmark = pytest.mark.sampled(6)

HEAD = '''"""A value is made in one place and used in another one."""
import functools
import numpy as np

def scaled(v, by=1.0):
    return v * by
'''

MAKES = {
    "lambda v, k=y: v * k": "g(x[0])",
    "lambda v, *, k=y: v * k": "g(x[1])",
    "functools.partial(scaled, by=y)": "g(x[0])",
    "functools.partial(lambda v, w, k=y: v * w * k, y)": "g(x[0])",
    "(x * y).sum": "g()",
    "slice(int(5 * y) - 3, int(y) + 3)": "np.sum(x[g] ** 2)",
    "range(int(10 * y + 0.3))": "sum(k * x[0] for k in g)",
    "{'a': y, 'b': x[0]}.items()": "sum(v * v for _, v in g)",
    "(1.0, [functools.partial(scaled, by=y)])": "g[1][0](x[0]) * g[0]",
}
PLACES = (
    "for i in range(len(x)):\n    y = x[i]\n    g = {make}\nreturn {use}",
    "i = 0\nwhile i < 3 and x[i] > 0.0:\n    y = x[i]\n    g = {make}\n    i += 1\nreturn {use}",
    "if x[1] > 0.0:\n    y = x[1]\n    g = {make}\ns = x[0]\nif x[1] > 0.0: s = {use}\nreturn s",
    "for y in ((x[0], x[1]) if x[2] > 5.0 else (x[1], x[2])): g = {make}\nreturn {use}",
    "g = None\nfor k in (0, 1):\n    y = x[k]\n    if k == 0 or x[0] > 5.0: g = {make}\nreturn {use}",
    "g = None\nfor k in (0, 1):\n    y = x[k]\n    if k == 0 or x[0] > 0.5: g = {make}\nreturn {use}",
)
CARRIED = [place.format(make=make, use=use) for make, use in MAKES.items() for place in PLACES]

TRIPS = """
s = 0.0
for r in (0, 1):
    for i in range(len(x)):
        if r == 1: s += g(x[i])
        g = lambda v, k=x[i]: v * k
return s

for i in range(len(x)): t = f'{i} {x[i] > 0}'
print(t)
return x[0]
""".strip().split("\n\n")

FLAGS = [f"{made}\nreturn (f + f) * x[0] + (f - True) * x[1] + (-f) * x[2] + (~f) * x[0] + f * x[1]" for made in (
    "f = x[0] > 0 and True", "f = True if x[0] > 0 else False", "f = False if x[0] > 0 else True", "f = not x[0] > 0",
    "f = False\nif x[0] > 0: f = True", "f = True\nfor v in x:\n    if v < 0: f = False; break",
    "f = False\nfor v in x: f = True if v > 0 else False", "f, _ = (True, 1) if x[3] > 0 else (False, 2)",
)[1:]]  # fmt: skip

# branches that may be printed as *and* or *or*: of a test of NumPy's or Python's, and what the other side is
SIDES = ("n > 1", "n > 9", "True", "False")
CONNECTIVES = [
    f"n = int(9 * x[0])\nf = {first} if {test} else {second}\nreturn (f + f) * x[0] + (f + 1 + f) * x[1] + f * x[2]"
    for test in ("x[0] > 0", "x[0] < 0", "n > 1", "n > 50")
    for first, second in [("True", one) for one in SIDES] + [(one, "False") for one in SIDES]
]

CONNECTIVES += [
    f"n = int(9 * x[0])\nreturn (({first} if x[0] {sign} 0 else {second}) + ({first} if x[1] {sign} 0 else {second})) * x[1] + x[0]"
    for first, second in (("True", "n > 9"), ("n > 1", "False"))
    for sign in "<>"
]

WALRUS = """
n, s = 5, 0.0
while (n := n - 1) > 0:
    s += x[0] * n
    if s > 5.0: break
return s * n

n, s = 5, 0.0
while (n := n - 1) > 0:
    s += x[0] * n
    if s > 50.0: break
else: s *= x[1]
return s * (n + 2)

n, s = 5, 0.0
while (n := n - 1) > 0:
    if s > 5.0: return s * n
    s += x[0] * n
else: return s * x[1]

s = 0.0
for i in range(3):
    n = 5
    while (n := n - 1) > 0:
        if n == i: continue
        s += x[0] * n
        if s > 20.0: break
    else:
        if i == 1: break
        s *= x[1]
else: s += 100
return s * (n + 1)

k, s = 0, 0.0
while (a := x[0] * k) < 3.0 and (b := a + 1) < 3.5: s += a * b; k += 1
return s + a + b

todo, s = [x[0], x[1], x[2]], 0.0
while len(todo) > 0 and (v := todo.pop()) > -100: s = 2 * s + v
return s

n = 3
def less(v): print(v); return v - 1
while (n := less(n)) > 0: pass
return x[0] * (n + 1)
""".strip().split("\n\n")

BODIES = CARRIED + TRIPS + FLAGS + CONNECTIVES + WALRUS
X = np.array([0.9, 0.5, 0.7, -0.5])


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return module_of(HEAD, BODIES, tmp_path_factory.mktemp("parts"))


@pytest.mark.parametrize("k", range(len(BODIES)))
def test_as_python_does(programs, k, capsys):
    f = getattr(programs, f"f{k}")
    slopes = gradient_by_differences(f, X, 1e-6)
    capsys.readouterr()
    wanted, printed = f(X.copy()), capsys.readouterr().out
    value, gradient = tp.value_and_grad(f)(X.copy())
    assert capsys.readouterr().out == printed
    assert value == pytest.approx(wanted)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)


LEFT = """
for i in range(len(x)): g = zip(x, x * i)
return sum(a * b for a, b in g)

for i in range(len(x)): g = [1.0, (v * i for v in x)]
return sum(g[1])

s = x[0]
if x[1] > 0: g = map(lambda v: v * 2, x)
if x[1] > 0: s = sum(g)
return s
""".strip().split("\n\n")


@pytest.mark.parametrize("body", LEFT)
def test_an_iterator_of_a_trip_or_a_branch_is_refused_after_it(body):
    with pytest.raises(TranspileError, match="T120.*is an iterator"):
        tp.grad(tp.from_source(text_of(body, HEAD)))(X.copy())
