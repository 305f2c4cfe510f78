"""Arguments given by name, by default and by stars, where the text has a variable of the name of an argument that nobody reads or
that is a container: the argument keeps its name, and gets what the caller gave."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
import pytest

import transpile as tp
from transpile.aggregates import flatten, unflatten
from transpile.api import Transformed
from transpile.base.levels import Level

G = 3.0


class Two(NamedTuple):
    p: float
    q: float


def set_where_none(a, b, D=None):
    if D is None:
        D = a * b
    return D * D + a


def set_over_a_string(a, b, flag="x"):
    flag = a + b
    return flag * flag


def containers_set(p, s):
    p = p["a"]
    q = s[0] * p
    s = q * s[1]
    return p * q * s


def containers_swapped(d, e):
    d, e = e["d"], d["d"]
    return d * e * e


def deep_containers(t, x):
    (x_, t), t_ = t
    return x * t * t_ * x_


def stars(a, *args, k=2.0, **kw):
    args = a * args[0]
    kw = kw["z"] * args
    k = k * a
    return args + kw * k


def named_tuple(nt, nothing=None, *, mode="a", w=2.0):
    nt = nt.p * nt.q * w
    return nt * nt


def named_as_modules(x, np=None, math=None, exp="e"):
    from numpy import exp as e

    return x**2 * G * e(x)


def named_as_the_function(x, named_as_the_function=None, named_as_the_function_grad="s"):
    named_as_the_function = x * x
    return named_as_the_function * x


def named_as_what_is_outside(x, G=None, n=3):
    G = x * n
    return G * outer(x)


def outer(x):
    return x * G


def underscores(x, y_=None, y=2.0, *, y__=None):
    y_ = x * y
    y__ = y_ * y
    return y_ * y__


def named_as_a_kept_function(x, kept=None, n=3):
    return rec(x, n)


def rec(x, n, kept=None):
    return x if n == 0 else x * rec(x, n - 1)


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (set_where_none, (2.0,), {"b": 3.0}),
    (set_where_none, (2.0, 3.0), {"D": None}),
    (set_where_none, (2.0, 3.0), {"D": 4.0}),
    (set_where_none, (), {"b": 2.0, "a": 3.0, "D": None}),
    (set_over_a_string, (2.0,), {"flag": "z", "b": 1.0}),
    (containers_set, ({"a": 2.0},), {"s": (3.0, 4.0)}),
    (containers_set, (), {"s": [3.0, 4.0], "p": {"a": 2.0}}),
    (containers_swapped, (), {"e": {"d": 3.0}, "d": {"d": 2.0}}),
    (deep_containers, (), {"x": 4.0, "t": ((1.5, 2.0), 3.0)}),
    (stars, (2.0, 3.0), {"z": 4.0, "k": 5.0}),
    (stars, (2.0, 3.0, 4.0), {"k": 1.5, "z": 2.0, "other": None}),
    (named_tuple, (Two(2.0, 3.0),), {"nothing": None, "mode": "b", "w": 1.0}),
    (named_tuple, (), {"mode": "b", "nt": Two(1.0, 2.0)}),
    (named_as_modules, (1.0,), {"math": None, "np": "q", "exp": None}),
    (named_as_the_function, (2.0,), {"named_as_the_function_grad": "x", "named_as_the_function": None}),
    (named_as_what_is_outside, (2.0,), {"n": 2, "G": "a"}),
    (underscores, (2.0,), {"y_": None, "y": 3.0, "y__": None}),
    (underscores, (2.0, None), {"y__": "a"}),
    (named_as_a_kept_function, (1.5,), {"kept": None, "n": 2}),
    (named_as_a_kept_function, (1.5,), {"kept": "rec", "n": 2}),
]
each = pytest.mark.parametrize("f, args, kwargs", CALLS, ids=lambda v: getattr(v, "__name__", ""))


def active(args, kwargs):
    """The positions and the names of what is all floats."""

    def is_active(value):
        leaves = flatten(value)[0]
        return bool(leaves) and all(isinstance(leaf, float) for leaf in leaves)

    return tuple(k for k, v in enumerate(args) if is_active(v)), tuple(n for n, v in kwargs.items() if is_active(v))


def differences(f, args, kwargs):
    found = []
    for at in [part for parts in active(args, kwargs) for part in parts]:
        leaves, tree = flatten(args[at] if isinstance(at, int) else kwargs[at])
        for k, leaf in enumerate(leaves):

            def value(x, at=at, leaves=leaves, tree=tree, k=k):
                moved = unflatten(tree, [*leaves[:k], x, *leaves[k + 1 :]])
                given = [moved if at == j else a for j, a in enumerate(args)]
                return f(*given, **{n: moved if at == n else a for n, a in kwargs.items()})

            found.append((value(leaf + 1e-5) - value(leaf - 1e-5)) / 2e-5)
    return found


@each
def test_interpreted(f, args, kwargs):
    numbers, names = active(args, kwargs)
    value = Transformed(f, Level())
    gradient = tp.value_and_grad(f, argnums=numbers or None, argnames=names or None)
    for _ in range(3):  # the third goes the short way
        assert value(*args, **kwargs) == pytest.approx(f(*args, **kwargs))
        y, found = gradient(*args, **kwargs)
        assert y == pytest.approx(f(*args, **kwargs))
        np.testing.assert_allclose(flatten(found)[0], differences(f, args, kwargs), rtol=1e-6)


@pytest.mark.slow
@each
def test_compiled(f, args, kwargs):
    numbers, names = active(args, kwargs)
    value, gradient = tp.jit(f), tp.jit(tp.grad(f, argnums=numbers or None, argnames=names or None))
    for _ in range(3):
        assert value(*args, **kwargs) == pytest.approx(f(*args, **kwargs))
        np.testing.assert_allclose(flatten(gradient(*args, **kwargs))[0], differences(f, args, kwargs), rtol=1e-6)


@each
def test_the_text_takes_what_was_given(f, args, kwargs):
    """A call of the printed function with the same names, but for those that are its modules' and functions' own."""
    numbers, names = active(args, kwargs)
    gradient = tp.grad(f, argnums=numbers or None, argnames=names or None)
    namespace: dict[str, Any] = {"Two": Two}
    exec(tp.source(gradient, *args, **kwargs), namespace)
    parameters = inspect.signature(namespace[f"{f.__name__}_grad"]).parameters
    stars_ = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert all(n in parameters or stars_ or n == "np" or "_grad" in n for n in kwargs)
