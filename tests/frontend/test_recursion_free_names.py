"""What a function that calls itself reads of the function around is what it is at each call; what it is given with a function
tells its calls apart; what it would set of outside is refused."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import check_gradient, text_of

import transpile as tp
from transpile.errors import TranspileError

pytestmark = pytest.mark.sampled(5)

X = np.array([0.7, -1.3, 2.1])

# what a name of the function around is first, what becomes of it, and how it is used
CHANGES = {
    "number": ("k = 2.0", "k = 3.0", "v * k"),
    "string": ("k = 'a'", "k = 'b'", "(v if k == 'a' else v * v)"),
    "flag": ("k = True", "k = False", "(v if k else v * v)"),
    "data": ("k = x[1]", "k = 3.0", "v * k"),
    "item": ("k = {'a': 2.0}", "k['a'] = 3.0", "v * k['a']"),
    "list": ("k = [2.0]", "k.append(3.0)", "v * sum(k)"),
    "lambda": ("k = lambda v: v * 2", "k = lambda v: v * 5", "k(v)"),
    "default": ("k = lambda v, q=2.0: v * q", "k = lambda v, q=5.0: v * q", "k(v)"),
    "free name": ("q = 2.0\ndef k(v): return v * q", "q = 5.0", "k(v)"),
    "deeper": ("q = 2.0\ndef k(v, m=2): return v * q if m <= 0 else k(v * 0.5, m - 1)", "q = 5.0", "k(v, n)"),
    "nothing": ("k = 2.0", "k = 2.0", "v * k"),
}
SELF = "def rec(n, v): return {use} if n <= 0 else rec(n - 1, v * 0.5)"
OTHER = """
def rec(n, v): return {use} if n <= 0 else other(n - 1, v * 0.5)
def other(n, v): return {use} + v if n <= 0 else rec(n - 1, v * 0.5)
"""
CALLED = (
    "n = int(x[2])\n{first}\n{rec}\na = rec(n, x[0])\n{then}\nb = rec(n, x[1])\n{first}\nreturn a + b + rec(n, x[0])"
)
AROUND = [
    CALLED.format(first=first, then=then, rec=rec.format(use=use))
    for first, then, use in CHANGES.values()
    for rec in (SELF, OTHER)
]
GIVEN = """
n, s = int(x[2]), 0.0
def rec(g, n, v): return g(v) if n <= 0 else rec(g, n - 1, v * 0.5)
for k in (2.0, 3.0, 2.0): s += rec({}, n, x[0])
return s
"""
FUNCTIONS = (
    "lambda v: v * k", "lambda v, q=k: v * q", "lambda v, *, q=k: v * q", "partial(scaled, by=k)",
    "partial(scaled, by=k * x[1])", "partial(lambda q, v: q * v, k)", "lambda v, q=x[1] * k: v * q",
    "partial(lambda q, v: q * v, k * x[1])", "partial(lambda q, v: q[0] * v, x * k)", "partial(partial(scaled), by=k)",
)  # fmt: skip
HANDED = [GIVEN.format(g) for g in FUNCTIONS]

BODIES = AROUND + HANDED
HEAD = "from functools import partial\ndef scaled(v, by=1.0):\n    return v * by\n"


def made(body: str):
    text = text_of(body, HEAD)
    names: dict = {}
    exec(text, names)
    return names["f"], tp.from_source(text)


@pytest.mark.parametrize("body", BODIES)
def test_as_python_does(body):
    python, f = made(body)
    check_gradient(f, X, python)


SETS = """
n, k = int(x[2]), 1.0
def bump():
    nonlocal k
    k = k * 2
def rec(n, v):
    if n <= 0: return v
    bump()
    return rec(n - 1, v * 0.5)
return rec(n, x[0]) * k

k = 1.0
def bump():
    nonlocal k
    k += 1.0
def g(v):
    bump()
    return v * v * k
return tp.grad(g)(x[0]) * k
""".strip().split("\n\n")


@pytest.mark.parametrize("body", SETS)
def test_a_name_of_the_function_around_is_not_set(body):
    f = tp.from_source(text_of(body, "import transpile as tp\n" + HEAD))
    with pytest.raises(TranspileError, match="T107"):
        tp.grad(f)(X.copy())


def test_other_functions_in_every_call_are_refused():
    _, f = made("def rec(g, n, v):\n    if n <= 0: return g(v)\n    return rec(partial(scaled, by=n * 1.0), n - 1, v)\n"
                "return rec(partial(scaled, by=2.0), int(x[2]), x[0])")  # fmt: skip
    with pytest.raises(TranspileError, match="T115"):
        tp.grad(f)(X.copy())


TEXTS = {
    "return x[0] if f'{x[0]}' == '0.7' else x[1]": "comparison",
    "return x[0] if f'{x[0]}' in ['0.7'] else x[1]": "comparison",
    "return x[0] if 'a' in f'{x[0]}' else x[1]": "'in' is not supported",
    "t = f'{x[0]}'; print(f'{t:>10}'); return x[0]": "width",
    "t = str(x[0]); print(f'{t!r}'); return x[0]": "quoted",
    "t = str(x[0]); print([t]); return x[0]": "quoted",
    "print(f'{x.shape!s:>8}'); return x[0]": "width",
    "print(f'{[x[0], 1.0]!s:>8}'); return x[0]": "width",
}


@pytest.mark.parametrize("body", TEXTS)
def test_a_text_that_depends_on_the_data_is_not_taken_for_a_known_one(body):
    with pytest.raises(TranspileError, match=f"depends on the data.*{TEXTS[body]}|{TEXTS[body]}.*depends on the data"):
        tp.grad(made(body)[1])(X.copy())


def test_pairs_with_equal_first_parts_are_told_apart_by_the_others():
    python, f = made("r = sorted([(1, x[0]), (1.0, x[1]), (True, x[2])]); return r[0][1] + 2 * r[1][1] + 3 * r[2][1]")
    assert tp.value_and_grad(f)(X.copy())[0] == pytest.approx(python(X.copy()))


def test_a_keyword_given_twice_is_refused():
    with pytest.raises(TranspileError, match="multiple values"):
        tp.grad(made("d = {'by': x[0]}; return scaled(1.0, **d, by=x[1])")[1])(X.copy())
