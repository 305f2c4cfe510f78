"""Items are made and read when their turn comes, operators in place read what their right side has written, and put back what
they changed: values and gradients beside the function itself."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import check_gradient, module_of, text_of

import transpile as tp
from transpile.errors import TranspileError

pytestmark = pytest.mark.sampled(6)

HEAD = '''"""Each function changes something while items are made of it."""
import functools
import itertools
import numpy as np

class Holder:
    def __init__(self, a):
        self.a = a

class Copying:
    def __init__(self, a):
        self.held, self.writes = a, 0
    @property
    def a(self):
        return self.held * 1.0
    @a.setter
    def a(self, value):
        self.held, self.writes = value, self.writes + 1
'''

ITEMS = (
    "enumerate(a)",
    "[(0, a[0]), (1, a[1]), (2, a[2])]",
    "zip(range(3), a)",
    "((k, a[k]) for k in range(3))",
    "map(lambda k: (k, a[k]), (0, 1, 2))",
    "filter(lambda pair: pair[0] < 3, enumerate(a))",
    "((k, a[k] * w) for k in range(3) for w in [1.0, 2.0])",
)
MADE = ("[x[0], x[1], x[2]]", "np.array([x[0], x[1], x[2]])")
TAKEN = (
    "r = [step(k, v) for k, v in {}]; return sum((1 + k) * v for k, v in enumerate(r))",
    "s = 0.0\nfor k, v in {}: s = 2 * s + step(k, v)\nreturn s",
    "return sum(step(k, v) for k, v in {})",
    "return functools.reduce(lambda s, p: 2 * s + step(*p), {}, 0.0)",
    "d = {{(k, j): step(k, v) for j, (k, v) in enumerate({})}}; return sum((1 + k) * v for (k, _), v in d.items())",
)
STEP = """
a, seen = {}, []
def step(k, v):
    seen.append(v)
    if k < 2: a[k + 1] += v * len(seen)
    return v * v
"""
WHILE_MADE = [STEP.format(made) + taken.format(items) for made in MADE for items in ITEMS for taken in TAKEN]

LATE = """
k = 1.0; items = filter(lambda v: v > k, [1.0, 2.0, 3.0]); k = 2.0; return sum(items) * x[0]

k, s = x[0], 0.0
for v in (k * u for u in [1, 2, 3]): s += v; k = k * 2
return s

log = []
def f(v): log.append(v); return v * len(log)
s = 0.0
for a in (f(u) for u in (f(w) for w in [x[0], x[1], x[2]])): log.append(a); s = 2 * s + a
return s

log = []
def f(v): log.append(v); return v * len(log)
def g(a, b): log.append(a); return a * len(log) + b
return functools.reduce(g, map(f, [x[0], x[1], x[2]]))

s = 0.0
for a, b in itertools.product([x[0], x[1]], repeat=2): s = 2 * s + a * b
return s + sum(a * b for a, b in itertools.combinations([x[0], x[1], x[2]], 2))
""".strip().split("\n\n")

PLACES = (
    "a[0:2]",
    "a[::-1]",
    "a[...]",
    "a[:]",
    "a[1]",
    "a[[0, 1]]",
    "a[a > 0]",
    "a",
    "m[0]",
    "m[:, 1]",
    "m[0, 1]",
    "m[1, ...]",
)
WRITES = """
a, m = x.copy(), np.outer(x, x)
def f(v):
    a[1] = v * 3.0
    a[0] = v * v
    m[:] = m * v
    return v
{} {} f(x[2])
return np.sum(a * np.arange(1.0, 5.0)) + np.sum(m * np.arange(16.0).reshape(4, 4))
"""
IN_PLACE = [WRITES.format(place, sign) for place in PLACES for sign in ("+=", "*=")]

PUT_BACK = """
h = {made}
def f():
    {place} = x * 5.0
    return 1.0
old = {place}
{place} += f()
return np.sum({place}) + 2.0 * np.sum(old)
"""
OBJECTS = [
    PUT_BACK.format(made=made, place=place)
    for made, place in (("[x * 1.0]", "h[0]"), ("{'a': x * 1.0}", "h['a']"), ("Holder(x * 1.0)", "h.a"))
] + [
    "h = k = x * 1.0\ndef f():\n    nonlocal h\n    h = x * 3.0\n    return 1.0\nh += f()\nreturn np.sum(h) + 10.0 * np.sum(k)",
    "h = Copying(x * 2.0); h.a += x; return np.sum(h.held) + h.writes",
    "h = Copying(x * 2.0); h.a *= x; h.a[0] = 9.0; return np.sum(h.held) + h.writes",
]

BODIES = WHILE_MADE + LATE + IN_PLACE + OBJECTS
X = np.array([0.9, 0.5, 0.7, -0.5])


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    return module_of(HEAD, BODIES, tmp_path_factory.mktemp("items"))


@pytest.mark.parametrize("k", range(len(BODIES)))
def test_as_python_does(programs, k):
    check_gradient(getattr(programs, f"f{k}"), X)


TWICE = """
it = filter(lambda v: v > 1, [1.0, 2.0, 3.0]); return sum(it) * x[0] + sum(it)

it = itertools.product([1.0, 2.0], [3.0, 4.0]); return sum(a * b for a, b in it) * x[0] + sum(a for a, b in it)

it = itertools.combinations([1.0, 2.0], 2); return len(list(it)) * x[0] + len(list(it))

it = map(lambda v: v * 2, [x[0], x[1]]); a, b = [1.0], [1.0]; a[1:] = it; b[1:] = it; return len(a) * x[0] + len(b)
""".strip().split("\n\n")


@pytest.mark.parametrize("body", TWICE)
def test_an_iterator_is_refused_the_second_time(body):
    with pytest.raises(TranspileError, match="T120.*used twice"):
        tp.grad(tp.from_source(text_of(body, HEAD)))(X.copy())
