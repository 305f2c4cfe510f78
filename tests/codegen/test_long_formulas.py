"""No pass recurses over the length of a formula: chains of thousands of terms, in every form that Python itself compiles."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level


def terms(n, form, join):
    return join.join(form.format(k=k, a=f"{1.0 / (k + 1) ** 2:.6f}", b=f"{(k % 7) / 10:.1f}") for k in range(n))


# the text of a body, of so many terms
FORMS = {
    "sum": lambda n: f"return {terms(n, 'x * {a}', ' + ')}",
    "difference": lambda n: f"y = np.sin(x)\n    return y - {terms(n, '{a} * y', ' - ')}",
    "product": lambda n: f"return {terms(n, '(1.0 + x * {a})', ' * ')}",
    "quotient": lambda n: f"return x / {terms(n, '(1.0 + x * {a})', ' / ')}",
    "mixed": lambda n: f"return x {terms(n, '+ {a} * x / 3.0 - {b}', ' ')}",
    "lines": lambda n: f"return (\n        {terms(n, 'x ** 2 * {a}', chr(10) + '        + ')}\n    )",
    "of calls": lambda n: f"return {terms(n, 'np.sin(x * {b}) * {a}', ' + ')}",
    "in an argument": lambda n: f"return np.tanh({terms(n, 'x * {a}', ' + ')})",
    "in a sum of parts": lambda n: f"y = ({terms(n // 2, 'x * {a}', ' + ')}) * ({terms(n // 2, 'x - {a}', ' + ')})\n    return y",
    "statements": lambda n: f"t = x\n    {terms(n, 't = t + x * {a}', chr(10) + '    ')}\n    return t",
    "in place": lambda n: f"t = x\n    {terms(n, 't += np.sin(x) * {a}', chr(10) + '    ')}\n    return t",
    "nested statements": lambda n: f"t = x\n    {terms(n, 't = np.sin(t) + {b}', chr(10) + '    ')}\n    return t",
    "and": lambda n: f"return x * 2.0 if {terms(n, 'x < {k} + 10.0', ' and ')} else x",
    "or": lambda n: f"if {terms(n, 'x > {k} + 10.0', ' or ')}:\n        return x\n    return x * 3.0",
    "value of or": lambda n: f"return 2.0 * x * ({terms(n, '(x > {k} + 10.0)', ' or ')} or 3.0)",
    "strings": lambda n: f"s = {terms(n, chr(39) + '{k}' + chr(39), ' + ')}\n    return x * len(s)",
    "lists": lambda n: f"s = {terms(n, '[x * {a}]', ' + ')}\n    return sum(s)",
    "display": lambda n: f"return sum([{terms(n, 'x * {a}', ', ')}])",
    "unknown sides": lambda n: f"return {terms(n, '(x * {a} if x > {b} else {a})', ' + ')}",
}  # fmt: skip


def made(form, n):
    text, file = f"def f(x):\n    {FORMS[form](n)}\n", f"<formula {form} {n}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


def check(value, gradient, f, x=0.7, h=1e-5):
    assert value(x) == pytest.approx(f(x), rel=1e-9)
    y, slope = gradient(x)
    assert y == pytest.approx(f(x), rel=1e-9)
    assert slope == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("form, n", [("sum", 350), ("and", 160), ("strings", 2000)])
def test_long(form, n):
    f = made(form, n)
    assert Transformed(f, Level())(0.7) == pytest.approx(f(0.7))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_longer(form):
    """As many terms as Python 3.11 compiles of the deepest form, from the bottom of its stack."""
    f = made(form, {"unknown sides": 400, "mixed": 900}.get(form, 2000))
    check(Transformed(f, Level()), tp.value_and_grad(f), f)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["statements", "and", "display", "in place"])
def test_longest(form):
    f = made(form, 5000)
    check(Transformed(f, Level()), tp.value_and_grad(f), f)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_compiled(form):
    f = made(form, 200 if form in ("unknown sides", "nested statements") else 500)
    check(tp.jit(f), tp.jit(tp.value_and_grad(f)), f)


@pytest.mark.slow
def test_a_formula_of_five_hundred_lines():
    import inspect

    iapws = pytest.importorskip("chemicals.iapws")
    f = inspect.unwrap(iapws.iapws95_d4Ar_ddelta2dtau2)
    assert Transformed(f, Level())(1.1, 0.9) == pytest.approx(f(1.1, 0.9), rel=1e-12)


DEEP = {
    "elif": "if x < 0.0:\n        y = 1.0\n"
    + "".join(f"    elif x < {k}.5:\n        y = {k}.0 * x\n" for k in range(600))
    + "    else:\n        y = x\n    return y",
    "if else": "return " + " else ".join(f"x * {k}.0 if x < {k}.5" for k in range(600)) + " else x",
    "minus": f"return {'-' * 600}x",
    "calls of methods": f"return np.array([x, x]){'.copy()' * 600}[0]",
    "powers": "return " + " ** ".join(["(x * 0.5)"] * 600),
    "comparisons": "return x * 2.0 if " + " < ".join(f"x + {k}" for k in range(600)) + " else x",
}


@pytest.mark.parametrize("form", DEEP)
def test_what_is_nested_too_deeply_is_refused(form):
    """Of such depth is what Python's own passes and the user's structure nest; shallower ones are transformed."""
    FORMS[form] = lambda n: DEEP[form]
    try:
        f = made(form, 0)
        with pytest.raises(tp.TranspileError, match="T135"):
            tp.jit(tp.grad(f))(0.7)
    finally:
        del FORMS[form]


CHAINS = {
    "elif": "def f(x):\n    y = x\n    if x > 200.0:\n        y = x * x\n{more}    return y\n",
    "if else": "def f(x):\n    return {more} x\n",
}


@pytest.mark.parametrize("form", ["elif", pytest.param("if else", marks=pytest.mark.slow)])
def test_more_branches_than_python_reads(form):
    """Python reads 99 levels of indentation: what would have more is refused at the user's line."""
    line = "    elif x > {a}.0:\n        y = x * {k}.0\n" if form == "elif" else "x * {k}.0 if x > {a}.0 else "

    def chain(n):
        return tp.from_source(CHAINS[form].format(more="".join(line.format(k=k, a=199 - k) for k in range(n))))

    few, many = chain(90), chain(104)
    assert tp.grad(few)(150.5) == 49.0 and many(150.5) == 49.0 * 150.5
    for use in (tp.grad(many), lambda x: tp.source(tp.grad(many), x)):
        with pytest.raises(tp.TranspileError, match="more than 99 levels of indentation") as refused:
            use(150.5)
        (found,) = refused.value.diagnostics
        assert found.code == "T135" and found.loc.line == (203 if form == "elif" else 2)
