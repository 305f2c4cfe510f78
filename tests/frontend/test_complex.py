"""Complex numbers are refused by name wherever one could come in: arguments, literals, dtypes, what stands outside, containers,
tangents and cotangents; by every transform, interpreted and compiled, and by a call that comes after ordinary ones."""

from __future__ import annotations

import dataclasses
import functools
import linecache
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

X = np.array([1.0, 2.0])
Z = X * 1j
NUMBERS = [1.0, 2j]
TABLE = {"a": Z}
SINGLE = np.complex64(2)


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


class Factor:
    k = 2j

    def times(self, x):
        return np.sum(x * self.k)


def plain(f):
    return Transformed(f, Level())


LEVELS = {
    "value": plain,
    "jit": tp.jit,
    "grad": tp.grad,
    "value_and_grad": tp.value_and_grad,
    "jacfwd": tp.jacfwd,
    "jacrev": tp.jacrev,
    "hessian": tp.hessian,
    "jit of grad": lambda f: tp.jit(tp.grad(f)),
    "grad of jit": lambda f: tp.grad(tp.jit(f)),
    "parallel": lambda f: tp.jit(f, parallel=True),
    "static": lambda f: tp.jit(f, static_argnums=0),
    "jvp": lambda f: lambda x: tp.jvp(f, (x,), (x,)),
    "vjp": lambda f: lambda x: tp.vjp(f, x)[1](1.0),
    "linearize": lambda f: lambda x: tp.linearize(f, x)[1](x),
    "hvp": lambda f: lambda x: tp.hvp(f, (x,), (x,)),
    "source": lambda f: lambda x: tp.source(tp.grad(f), x),
    "eval_shape": lambda f: lambda x: tp.eval_shape(f, x),
    "report": lambda f: lambda x: tp.report(tp.grad(f), x),
}
each_level = pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)


def refused(call, *args, codes=("T311",), **kwargs):
    with pytest.raises(tp.TranspileError) as caught:
        call(*args, **kwargs)
    assert caught.value.diagnostics[0].code in codes, str(caught.value)
    if caught.value.diagnostics[0].code == "T311":
        assert "complex" in str(caught.value)


def square(x):
    return np.sum(x * x)


def leaves(x):
    return 1.0


ARGUMENTS = [
    1j, Z, SINGLE, np.array(1j), [1j, 1.0], (Z, X), {"a": 1j}, Pair(1j, 1.0), [[Z]], np.array([[1j]])[::1, 0],
    np.clongdouble(1),
]  # fmt: skip


@each_level
def test_arguments(level):
    for argument in ARGUMENTS:
        is_static_array = level is LEVELS["static"]  # an array cannot be one, complex or not
        refused(level(leaves), argument, codes=("T311", "T409") if is_static_array else ("T311",))


LITERALS = [
    "x * 1j", "np.abs(x * (1 + 2j))", "np.array([1j, 2])", "np.full(2, 1j) * x", "np.where(x > 0, x, 1j)", "abs(3 + 4j) * x",
    "(2j).imag * x", "sum([1j, 2]) * x", "[1j][0] * x", "{'a': 1j}['a'] * x", "(lambda c=1j: c)() * x",
    "x + (1j if x[0] > 5 else 0)",
    "complex(1, 2) * x", "complex('1j') * x", "np.polyval([1j, 2], x)", "np.exp(1j * np.pi) * x", "str(1j) and x",
]  # fmt: skip
DTYPES = [
    "x.astype(complex)", "x.astype('complex64')", "x.astype(np.complex128)", "np.zeros(2, complex) + x",
    "np.zeros(2, dtype='c16') + x", "np.ones_like(x, dtype=complex)", "np.array(x, dtype=complex)", "np.asarray(x, complex)",
    "np.complex128(x[0])", "np.complex64(3.0) * x", "np.dtype(complex).type(1) * x", "np.sum(x, dtype=complex)",
    "np.mean(x, dtype='complex64')", "x.cumsum(dtype='D')", "np.eye(2, dtype=complex) @ x", "np.arange(2, dtype=complex) * x",
    "np.linspace(0, 1, 2, dtype=complex) * x", "np.empty(2, np.cdouble)", "np.csingle(1) * x", "np.clongdouble(1) * x",
    "np.full_like(x, 1, dtype=complex)", "np.add.reduce(x, dtype=complex)",
]  # fmt: skip
OUTSIDE = [
    "Z * x", "NUMBERS[1] * x", "TABLE['a'] * x", "SINGLE * x", "Factor().times(x)", "np.vdot(Z, x)", "np.zeros_like(Z)",
    "np.real(Z) * x", "np.iscomplexobj(Z) * x", "Factor.k * x",
]  # fmt: skip
CALLS = [
    "cmath.exp(1) * x", "cmath.sqrt(x[0])", "np.fft.fft(x)", "np.fft.rfft(x)", "np.real(np.fft.ifft(x))", "np.linalg.eig(x)",
    "np.emath.sqrt(x)", "np.roots(x)", "x.view(complex)", "complex(x[0], 1)",
]  # fmt: skip


def written(body: str) -> Any:
    text, file = f"def f(x):\n    return {body}\n", f"<complex {body}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    import cmath

    namespace = {**globals(), "cmath": cmath}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("body", [*LITERALS, *DTYPES, *OUTSIDE])
def test_bodies(body):
    f = written(body)
    for level in (plain, tp.jit, tp.jacrev):
        refused(level(f), X)


@pytest.mark.parametrize("body", CALLS)
def test_functions_of_complex_numbers(body):
    refused(plain(written(body)), X, codes=("T130", "T121", "T311", "T402"))


PRIMALS = [(X, Z), (2.0, 1j), (np.float64(2), np.complex128(1)), (np.float32(2), np.complex64(1j)), (X, Z.astype("F"))]


@pytest.mark.parametrize("primal, other", PRIMALS)
def test_tangents_and_cotangents(primal, other):
    def f(x):
        return x * x

    codes = ("T309", "T311")
    refused(lambda: tp.jvp(f, (primal,), (other,)), codes=codes)
    refused(lambda: tp.hvp(square, (primal,), (other,)), codes=codes)
    refused(tp.jit(lambda r, c: tp.jvp(f, (r,), (c,))), primal, other, codes=codes)
    refused(tp.jit(lambda r, c: tp.vjp(f, r)[1](c)), primal, other, codes=codes)
    push, pull = tp.linearize(f, primal)[1], tp.vjp(f, primal)[1]
    for call in (push, pull):
        call(primal), call(primal)
        refused(call, other, codes=codes)


@pytest.mark.parametrize("primal, other", PRIMALS)
def test_calls_after_ordinary_ones(primal, other):
    for level in (plain, tp.jit, tp.grad, lambda f: tp.jit(tp.grad(f))):
        f = level(square)
        f(primal), f(primal), f(primal), f(x=primal), f(x=primal)
        refused(f, other)
        refused(f, x=other)


class _Holder:
    pass


HELD = _Holder()


def holding(x):
    return np.sum(x * HELD.w)


@pytest.mark.parametrize("other", [Z, 2j, SINGLE], ids=str)
def test_what_stands_outside_becomes_complex(other):
    for level in (plain, tp.jit, tp.grad, lambda f: tp.jit(tp.grad(f))):
        HELD.w = X
        f = level(holding)
        f(X), f(X), f(X)
        HELD.w = other
        refused(f, X)


def test_defaults_partials_and_methods():
    def first(x, c=1j):
        return np.sum(x * c)

    def second(x, *, c=Z):
        return np.sum(x * c)

    def third(x):
        return first(x)

    def typed(x, dtype=float):
        return np.sum(np.zeros(2, dtype) + x)

    for f in (
        first,
        second,
        third,
        functools.partial(first, c=SINGLE),
        functools.partial(typed, dtype=complex),
        Factor().times,
    ):
        refused(plain(f), X)
        refused(tp.grad(f), X)
    f = tp.grad(typed)
    f(X, float), f(X, float)
    refused(f, X, complex)


def test_rules_of_the_users_own():
    @tp.custom_jvp
    def f(x):
        return x * 2

    f.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * 1j))
    refused(lambda: tp.jvp(f, (X,), (X,)))


def test_a_result():
    refused(tp.jit(lambda x: (x, Z)), X)
    refused(tp.grad(lambda x: (np.sum(x), 1j), has_aux=True), X)


def root(x):
    return x**0.5 * 2.0


def test_a_power_of_a_negative_number():
    """Python gives a complex number where NumPy gives NaN; compiled code counts as NumPy does."""
    for level in (plain, tp.grad):
        assert np.isfinite(level(root)(4.0))
        refused(level(root), -4.0)
    assert np.isnan(tp.jit(root)(-4.0))
