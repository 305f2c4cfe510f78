"""Second and third derivatives of functions with derivatives of the user's own: through what their rules keep and compute."""

from __future__ import annotations

import numpy as np
import pytest

import transpile as tp
from transpile import lax

pytestmark = pytest.mark.sampled(5)

TABLE = np.exp(np.linspace(0.0, 4.0, 401))


def from_table(x):
    """The exponential at hundredths; its code has the derivative 0."""
    return TABLE[int(np.round(100.0 * x))]


@tp.custom_vjp
def keeps_argument(x):
    return np.sin(x)


keeps_argument.defvjp(lambda x: (np.sin(x), x), lambda x, g: (g * np.cos(x),))


@tp.custom_vjp
def keeps_value(x):
    return np.sin(x)


keeps_value.defvjp(lambda x: (np.sin(x), {"slope": np.cos(x), "k": 2}), lambda kept, g: (g * kept["slope"],))


@tp.custom_jvp
def computes_anew(x):
    return np.sin(x)


computes_anew.defjvp(lambda primals, tangents: (np.sin(primals[0]), np.cos(primals[0]) * tangents[0]))


@tp.custom_vjp
def keeps_table(x):
    return from_table(x)


def _keeps_table_forward(x):
    y = keeps_table(x)
    return y, y


keeps_table.defvjp(_keeps_table_forward, lambda y, g: (g * y,))


@tp.custom_vjp
def keeps_twice_table(x):
    return from_table(x)


def _keeps_twice_table_forward(x):
    y = keeps_twice_table(x)
    return y, 2.0 * y


keeps_twice_table.defvjp(_keeps_twice_table_forward, lambda y, g: (0.5 * g * y,))


@tp.custom_jvp
def computes_table(x):
    return from_table(x)


@computes_table.defjvp
def _(primals, tangents):
    y = computes_table(*primals)
    return y, y * tangents[0]


EXACT = {keeps_argument: np.sin, keeps_value: np.sin, computes_anew: np.sin}
TABLES = {keeps_table: np.exp, keeps_twice_table: np.exp, computes_table: np.exp}


def alone(f, x):
    return f(x)


def in_a_product(f, x):
    return f(x) * x * f(0.5 * x)


def in_a_loop(f, x):
    total = 0.0
    for k in range(3):
        total = total * 0.5 + f(0.5 * k * x) * x
    return total


def in_a_while_loop(f, x):
    total, k = 1.0, 0
    while total < 6.0:
        if k % 2:
            total = total + f(x)
        else:
            total = total * 1.5 + x * f(0.25 * x)
        k += 1
    return total


def in_an_array(f, x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = f(0.5 * x) + y[k - 1]
        y *= x
    return np.sum(y * y)


def in_a_recursion(f, x):
    def go(depth, y):
        return y * f(x) if depth == 0 else go(depth - 1, y + f(0.5 * x)) * x

    return go(2, x)


def in_a_fold(f, x):
    return lax.fori_loop(0, 3, lambda k, y: y * f(0.5 * x) + x, x)


def in_a_derivative(f, x):
    return tp.grad(lambda y: f(y) * x * y)(x) * f(x)


WAYS = [alone, in_a_product, in_a_loop, in_a_while_loop, in_an_array, in_a_recursion, in_a_fold, in_a_derivative]


def of(way, f):
    return lambda x: way(f, x)


def third(f):
    return tp.grad(tp.grad(tp.grad(f)))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [*EXACT, *TABLES], ids=lambda f: f.__wrapped__.__name__)
def test_by_reverse_mode(f, way):
    own = of(way, f)
    plain = of(way, (EXACT | TABLES)[f])
    assert np.isclose(tp.grad(own)(0.8), tp.grad(plain)(0.8))
    assert np.isclose(tp.grad(tp.grad(own))(0.8), tp.grad(tp.grad(plain))(0.8))
    if way in (alone, in_a_product):
        assert np.isclose(third(own)(0.8), third(plain)(0.8))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("f", [*EXACT, computes_table], ids=lambda f: f.__wrapped__.__name__)
def test_forward_over_reverse(f, way):
    own = of(way, f)
    plain = of(way, (EXACT | TABLES)[f])
    assert np.isclose(tp.hessian(own)(0.8), tp.hessian(plain)(0.8))


@pytest.mark.parametrize("f", [*EXACT, *TABLES], ids=lambda f: f.__wrapped__.__name__)
def test_in_lanes(f):
    x, twice = np.array([0.4, 0.8, 1.2]), tp.grad(tp.grad(of(in_a_product, f)))
    expected = [twice(v) for v in x]
    assert np.allclose(tp.vmap(twice)(x), expected)
    assert np.allclose(tp.grad(lambda x: np.sum(tp.vmap(tp.grad(of(in_a_product, f)))(x)))(x), expected)


@pytest.mark.parametrize("f", [keeps_value, keeps_table, computes_table], ids=lambda f: f.__wrapped__.__name__)
def test_compiled(f):
    twice = tp.grad(tp.grad(of(in_a_while_loop, f)))
    assert np.isclose(tp.jit(twice, cache=False)(0.8), twice(0.8))


def test_forward_mode_has_no_rule_for_a_value_that_the_rule_of_a_pullback_computes():
    with pytest.raises(tp.TranspileError, match="T303"):
        tp.hessian(of(in_a_product, keeps_table))(0.8)


# ------------------------------------------------------------------------------------------------ rules that do not fit

X = np.array([0.7, 1.3, 0.4])


def vjp_of(forward, backward):
    f = tp.custom_vjp(lambda x: np.sum(x))
    f.defvjp(forward, backward)
    return f


def jvp_of(rule):
    f = tp.custom_jvp(lambda x: np.sum(x))
    f.defjvp(rule)
    return f


@pytest.mark.parametrize(
    "f",
    [
        vjp_of(lambda x: (np.sum(x), x), lambda x, g: (g,)),
        vjp_of(lambda x: (np.sum(x), x), lambda x, g: (np.outer(x, x) * g,)),
        jvp_of(lambda primals, tangents: (np.sum(primals[0]), tangents[0])),
        jvp_of(lambda primals, tangents: (primals[0], np.sum(tangents[0]))),
    ],
)
def test_of_another_rank(f):
    with pytest.raises(tp.TranspileError, match=r"T307.* of type "):
        tp.grad(lambda x: 2.0 * np.sum(f(x)))(X)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("transform", [lambda f: f, lambda f: tp.jit(f, cache=False)])
def test_of_another_size(count, transform):
    by_vjp = vjp_of(lambda x: (np.sum(x), None), lambda kept, g: (g * np.ones(count),))
    with pytest.raises(ValueError, match="does not have the size of its argument"):
        transform(tp.grad(lambda x: by_vjp(x * 2.0)))(X)
    by_jvp = tp.custom_jvp(lambda x: 2.0 * x)
    by_jvp.defjvp(lambda primals, tangents: (2.0 * primals[0], np.sum(tangents[0]) * np.ones(count)))
    with pytest.raises(ValueError, match="does not have the size of its argument"):
        transform(tp.jacfwd(by_jvp))(X)
    for f in (
        lambda x: np.sum(by_jvp(x) * x),
        lambda x: by_jvp(x)[0],
        lambda x: np.sum(tp.grad(lambda y: np.sum(by_jvp(y)))(x)),
    ):
        with pytest.raises(ValueError, match="does not have the size of its argument"):
            transform(tp.grad(f))(X)


@pytest.mark.parametrize("transform", [lambda f: f, lambda f: tp.jit(f, cache=False)])
def test_a_size_that_stands_around(transform):
    count = len(X)
    f = vjp_of(lambda x: (np.sum(x), None), lambda kept, g: (g * np.ones(count),))
    assert np.allclose(transform(tp.grad(lambda x: f(x * 2.0)))(X), 2.0)


def changed(x):
    x[0] = 9.0
    return np.sum(x)


def lengthened(parts):
    parts.append(1.0)
    return parts[0]


def _changing():
    by_jvp, by_vjp, of_list = tp.custom_jvp(changed), tp.custom_vjp(changed), tp.custom_jvp(lengthened)
    by_jvp.defjvp(lambda primals, tangents: (np.sum(primals[0]), np.sum(tangents[0])))
    by_vjp.defvjp(lambda x: (changed(x), None), lambda kept, g: (g * np.ones(3),))
    of_list.defjvp(lambda primals, tangents: (primals[0][0], tangents[0][0]))
    return [lambda x: by_jvp(x) * x[0], lambda x: by_vjp(x) * x[0], lambda x: of_list([np.sum(x)]) * x[0]]


@pytest.mark.parametrize("f", _changing())
@pytest.mark.parametrize("transform", [tp.grad, lambda f: tp.jit(f, cache=False)])
def test_a_function_that_changes_its_argument_is_refused(f, transform):
    with pytest.raises(tp.TranspileError, match=r"T307.*changes its argument"):
        transform(f)(X.copy())


# ------------------------------------------------------------------------------------- what stands around the function


def _around(make, w):
    """A function with a rule of its own that reads ``w`` around itself."""
    f = make(lambda y: y * w)
    if make is tp.custom_vjp:
        f.defvjp(lambda y: (y * w, None), lambda kept, g: (g * w,))
    else:
        f.defjvp(lambda primals, tangents: (primals[0] * w, tangents[0] * w))
    return f


def by_vjp(w, x):
    return _around(tp.custom_vjp, w)(x) * 2.0


def by_jvp(w, x):
    return _around(tp.custom_jvp, w)(x) * 2.0


def by_branch(w, x):
    if x > 1.0:
        return _around(tp.custom_vjp, w * w)(x * w)
    return x


def stopped(w, x):
    return _around(tp.custom_vjp, tp.stop_gradient(w))(x) * w


@pytest.mark.parametrize("f", [by_vjp, by_jvp, by_branch])
def test_no_derivative_in_what_is_read_around(f):
    for transform in (tp.grad, lambda f: tp.jit(tp.grad(f), cache=False), tp.jacrev):
        with pytest.raises(tp.TranspileError, match=r"T307.* reads a variable from outside"):
            transform(lambda w, x: np.sum(f(w, x)))(2.0, 3.0)
    with pytest.raises(tp.TranspileError, match="T307|T303"):
        tp.jvp(f, (2.0, 3.0), (1.0, 0.0))
    assert np.isclose(tp.grad(f, argnums=1)(2.0, 3.0), {by_branch: 8.0}.get(f, 4.0))


def test_what_is_stopped_may_be_read_around():
    assert np.allclose(tp.grad(stopped, argnums=(0, 1))(2.0, 3.0), (6.0, 4.0))


# --------------------------------------------------------------------------------------------------- stop_gradient


def written(x):
    y = tp.stop_gradient(x)
    y[0] = 5.0
    return np.sum(x * y)


def written_before(x):
    y = tp.stop_gradient(x[1:])
    x[1] = 3.0
    return np.sum(y * x[1:])


def lengthened_copy(x):
    held = [x, 1.0]
    copy = lax.stop_gradient(held)
    copy.append(2.0)
    copy[0][1] = 7.0
    return np.sum(x * copy[0]) * len(held)


@pytest.mark.parametrize("f", [written, written_before, lengthened_copy])
def test_what_is_stopped_is_a_copy_in_plain_python_too(f):
    given = X.copy()
    value = f(given)
    assert np.isclose(tp.value_and_grad(f)(X)[0], value)
    other = X.copy()
    assert np.isclose(tp.jit(f, cache=False)(other), value) and np.array_equal(other, given)
