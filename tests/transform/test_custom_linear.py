"""A `custom_jvp` rule is transposed in reverse mode: one that is not linear in its tangents is refused, in every use, and never
gives its derivative at zero; a linear one is not refused, however it is written."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp

X = np.array([0.5, 2.0, 3.0])


def ruled(function, rule):
    made = tp.custom_jvp(function)
    made.defjvp(rule)
    return made


def squares(x):
    return np.sum(x * x)


def in_a_loop(primals, tangents):
    (x,), (d,) = primals, tangents
    out = 0.0
    for i in range(len(d)):
        out = out + d[i] * d[i]
    return np.sum(x * x), out


def by_a_branch(primals, tangents):
    (x,), (d,) = primals, tangents
    if d[0] > 0:
        return np.sum(x * x), 2.0 * np.sum(x * d)
    return np.sum(x * x), 3.0 * np.sum(x * d)


def by_a_while(primals, tangents):
    (x,), (d,) = primals, tangents
    out = np.sum(x * d)
    while out > 1.0:
        out = out / 2.0
    return np.sum(x * x), out


def with_an_index(primals, tangents):
    (x,), (d,) = primals, tangents
    return np.sum(x * x), 2.0 * d[np.argmax(d)]


def written(primals, tangents):
    (x,), (d,) = primals, tangents
    out = d.copy()
    out[0] = out[0] * d[1]
    return np.sum(x * x), np.sum(out)


BENT = {
    "square": lambda p, t: (squares(p[0]), np.sum(t[0] * t[0])),
    "norm": lambda p, t: (squares(p[0]), np.linalg.norm(t[0])),
    "abs": lambda p, t: (squares(p[0]), np.sum(p[0] * np.abs(t[0]))),
    "quotient": lambda p, t: (squares(p[0]), np.sum(p[0] / t[0])),
    "where": lambda p, t: (squares(p[0]), np.sum(np.where(t[0] > 0, t[0], 2.0 * t[0]))),
    "maximum": lambda p, t: (squares(p[0]), np.max(p[0] * t[0])),
    "sort": lambda p, t: (squares(p[0]), np.sum(np.sort(t[0]) * p[0])),
    "loop": in_a_loop,
    "branch": by_a_branch,
    "while": by_a_while,
    "index": with_an_index,
    "write": written,
}


def sums_in_a_loop(primals, tangents):
    (x,), (d,) = primals, tangents
    out = 0.0
    for i in range(len(d)):
        if x[i] > 1.0:
            out = out + 2.0 * x[i] * d[i]
        else:
            out += d[i] * x[i] * 2.0
    return np.sum(x * x), out


def sums_in_place(primals, tangents):
    (x,), (d,) = primals, tangents
    assert d.shape == x.shape
    out = np.zeros(len(d))
    out[:] = d
    out *= 2.0 * x
    return np.sum(x * x), out.sum()


STRAIGHT = {
    "product": lambda p, t: (squares(p[0]), 2.0 * np.sum(p[0] * t[0])),
    "dot": lambda p, t: (squares(p[0]), 2.0 * p[0] @ t[0]),
    "where": lambda p, t: (squares(p[0]), np.sum(np.where(p[0] > 1.0, 2.0 * t[0] * p[0], p[0] * t[0] * 2.0))),
    "sum of two": lambda p, t: (squares(p[0]), np.dot(p[0], t[0]) + np.dot(t[0], p[0])),
    "slices": lambda p, t: (squares(p[0]), 2.0 * (p[0][:1] @ t[0][:1] + p[0][1:] @ t[0][1:])),
    "reshape": lambda p, t: (squares(p[0]), 2.0 * np.sum(p[0].reshape(1, -1) @ t[0].reshape(-1, 1))),
    "negated twice": lambda p, t: (squares(p[0]), -2.0 * np.sum(-t[0] * p[0])),
    "jvp of it": lambda p, t: tp.jvp(squares, p, t),
    "loop": sums_in_a_loop,
    "write": sums_in_place,
}

REVERSE = {
    "grad": lambda f: tp.grad(f)(X),
    "jacrev": lambda f: tp.jacrev(f)(X),
    "vjp": lambda f: tp.vjp(f, X)[1](1.0)[0],
    "grad of a caller": lambda f: tp.grad(lambda x: f(x * 1.0) + 0.0)(X),
    "vmap of grad": lambda f: tp.vmap(tp.grad(f))(X[None])[0],
    "grad of vmap": lambda f: tp.grad(lambda x: np.sum(tp.vmap(f)(x[None])))(X),
    "in a loop": lambda f: tp.grad(lambda x: sum(f(x) for _ in range(2)) / 2.0)(X),
}


def crossed(names, *in_each_use):
    """Each rule under `grad`, and the named ones in each use; the others are slow tests."""
    return [
        (name, use) if use == "grad" or name in in_each_use else pytest.param(name, use, marks=pytest.mark.slow)
        for name in names
        for use in REVERSE
    ]


@pytest.mark.parametrize("name, use", crossed(BENT, "square", "branch"))
def test_a_rule_that_is_not_linear_is_refused(name, use):
    f = ruled(squares, BENT[name])
    with pytest.raises(tp.TranspileError, match="not linear in its tangent") as refused:
        REVERSE[use](f)
    (found,) = refused.value.diagnostics
    assert found.code == "T312" and found.loc.file == __file__ and found.hint


@pytest.mark.parametrize("name, use", crossed(STRAIGHT, "product", "loop"))
def test_a_linear_rule_is_transposed(name, use):
    f = ruled(squares, STRAIGHT[name])
    assert np.allclose(REVERSE[use](f), 2.0 * X, rtol=1e-14)


@pytest.mark.parametrize("name", STRAIGHT)
def test_the_second_derivative_of_a_linear_rule(name):
    f = ruled(squares, STRAIGHT[name])
    assert np.allclose(tp.hessian(f)(X), 2.0 * np.eye(3), rtol=1e-14)


@pytest.mark.parametrize("name", BENT)
def test_forward_mode_calls_the_rule_as_it_is(name):
    d = np.array([1.0, -2.0, 0.5])
    assert np.allclose(tp.jvp(ruled(squares, BENT[name]), (X,), (d,))[1], BENT[name]((X,), (d,))[1])


FREE = {
    "the derivative alone": lambda p, t: (squares(p[0]), 2.0 * np.sum(p[0])),
    "a constant": lambda p, t: (squares(p[0]), 1.0),
    "stopped": lambda p, t: (squares(p[0]), np.sum(p[0] * tp.stop_gradient(t[0]))),
    "only a size": lambda p, t: (squares(p[0]), 2.0 * np.sum(p[0]) * len(t[0])),
}


@pytest.mark.parametrize("name, use", crossed(FREE, "the derivative alone"))
def test_a_rule_that_forgets_the_tangent_is_refused(name, use):
    """Its transpose would be zero."""
    with pytest.raises(tp.TranspileError, match="does not depend on the tangents") as refused:
        REVERSE[use](ruled(squares, FREE[name]))
    (found,) = refused.value.diagnostics
    assert found.code == "T312" and found.loc.file == __file__


NONE = {
    "a number": lambda p, t: (squares(p[0]), 0.0),
    "times zero": lambda p, t: (squares(p[0]), 0.0 * np.sum(t[0])),
    "zeros": lambda p, t: (squares(p[0]), np.zeros(())),
    "zeros_like": lambda p, t: (squares(p[0]), np.zeros_like(squares(p[0]))),
}


@pytest.mark.parametrize("name", NONE)
def test_a_rule_may_say_that_there_is_no_derivative(name):
    assert np.all(tp.grad(ruled(squares, NONE[name]))(X) == 0.0)
    assert np.all(tp.jacrev(ruled(lambda x: x * x, lambda p, t: (p[0] * p[0], np.zeros_like(p[0]))))(X) == 0.0)
