"""A function reaches a transform in many forms, and reads what is around it in many ways: each form under each transform gives what
a plain definition gives."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import transpile as tp
from transpile import lax, tree

X = np.array([0.7, -0.3, 1.2])
A = np.array([[2.0, 0.3, 0.1], [0.2, 3.0, 0.4], [0.1, 0.5, 2.5]])


def plain(x):
    return np.sin(A @ x) * x[0]


class Held:
    def __init__(self, a):
        self.a = a

    def method(self, x):
        return np.sin(self.a @ x) * x[0]

    def __call__(self, x):
        return self.method(x)


tree.register_node(Held, lambda h: ((h.a,), None), lambda aux, children: Held(*children))


def of_local(a):
    """Each form, of an array of the function around."""
    b = 1.0 * a

    def by_name(x, *, c=b):
        return np.sin(c @ x) * x[0]

    return {
        "closure": lambda x: np.sin(b @ x) * x[0],
        "default": lambda x, c=b: np.sin(c @ x) * x[0],
        "default of a tree": lambda x, c={"m": (b, 1)}: np.sin(c["m"][0] @ x) * x[0],  # noqa: B006
        "keyword default": by_name,
        "default of a function": lambda x, g=lambda y, c=b: np.sin(c @ y): g(x) * x[0],
        "partial": functools.partial(lambda c, x: np.sin(c @ x) * x[0], b),
        "partial by name": functools.partial(lambda x, c: np.sin(c @ x) * x[0], c=b),
        "partial of a partial": functools.partial(functools.partial(lambda k, c, x: np.sin(c @ x) * x[k], 0), b),
        "method": Held(b).method,
        "instance": Held(b),
        "method of an array": (lambda g: lambda x: np.sin(g(x)) * x[0])(b.dot),
        "jit": tp.jit(lambda x: np.sin(b @ x) * x[0]),
    }


FORMS = list(of_local(A))
TRANSFORMS = {
    "vmap": lambda f, x: tp.vmap(f)(np.stack([x, 2.0 * x])),
    "jacfwd": lambda f, x: tp.jacfwd(f)(x),
    "jacrev": lambda f, x: tp.jacrev(f)(x),
    "jvp": lambda f, x: tp.jvp(f, (x,), (2.0 * x,)),
    "vjp": lambda f, x: tp.vjp(f, x)[1](x),
    "vjp in lanes": lambda f, x: tp.vmap(tp.vjp(f, x)[1])(np.eye(3)),
    "linearize in lanes": lambda f, x: tp.vmap(tp.linearize(f, x)[1], out_axes=1)(np.eye(3)),
    "partial jvp in lanes": lambda f, x: tp.vmap(functools.partial(tp.jvp, f, (x,)), out_axes=(None, 1))((np.eye(3),)),
    "lanes of a gradient": lambda f, x: tp.vmap(tp.grad(lambda x: np.sum(f(x))))(np.stack([x, 2.0 * x])),
    "scan": lambda f, x: lax.scan(lambda c, v: (c * v, f(c)), x, np.array([0.5, 1.5])),
    "map": lambda f, x: lax.map(f, np.stack([x, 2.0 * x])),
    "cond": lambda f, x: lax.cond(x[0] > 0.0, f, np.negative, x),
    "tree": lambda f, x: tree.map(f, {"a": x, "b": (2.0 * x, None)}),
}


def same(found: Any, wanted: Any) -> None:
    assert tree.structure(found) == tree.structure(wanted)
    for a, b in zip(tree.leaves(found), tree.leaves(wanted)):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.sampled(4)
def test_forms_under_transforms(name):
    transform = TRANSFORMS[name]
    wanted = transform(plain, X)
    for form in FORMS:
        same(transform(of_local(A)[form], X), wanted)  # outside

        def inside(a, x, form=form):
            return transform(of_local(a)[form], x)

        same(tp.vjp(inside, A, X)[0], wanted)
    tp.check_grads(lambda a, x: tree.leaves(transform(of_local(a)["default"], x))[-1], (A, X), order=1, modes=("rev",))


OWN = {
    "jvp": (functools.partial(tp.jvp, plain), ((X,), (2.0 * X,))),
    "jvp of primals": (functools.partial(tp.jvp, plain, (X,)), ((2.0 * X,),)),
    "hvp": (functools.partial(tp.hvp, lambda x: np.sum(plain(x)), (X,)), ((X,),)),
    "stop_gradient": (tp.stop_gradient, (X,)),
    "lax.stop_gradient": (lax.stop_gradient, (X,)),
    "tree.map": (functools.partial(tree.map, np.sin), ({"a": X},)),
    "scan": (functools.partial(lax.scan, lambda c, v: (c + v, c * v), 0.5), (X,)),
    "dynamic_slice": (functools.partial(lax.dynamic_slice, slice_sizes=(2,)), (X, np.array([1]))),
    "method of an array": (A.dot, (X,)),
    "grad": (functools.partial(tp.grad(lambda w, x: np.sum(w * plain(x))), X), (X,)),
}


@pytest.mark.parametrize("name", OWN)
def test_functions_of_ours_are_transformed_like_others(name):
    f, args = OWN[name]
    wanted = f(*args)
    same(tp.jit(f).__wrapped__(*args), wanted)
    lanes = tree.map(lambda v: np.stack([v, v]), args)
    same(tp.vmap(f)(*lanes), tree.map(lambda v: np.stack([v, v]), wanted))


def test_what_is_stopped_has_no_derivative():
    for f in (tp.stop_gradient, lax.stop_gradient, functools.partial(tp.stop_gradient)):
        assert not np.any(tp.jacfwd(f)(X)) and not np.any(tp.jacrev(f)(X))


# --------------------------------------------------------------------- what a solution reads, however it comes to it


def linear(matvec, b, solve=lambda mv, y: np.linalg.solve(A, y), transposed=lambda mv, y: np.linalg.solve(A.T, y)):
    return lax.custom_linear_solve(matvec, b, solve, transposed)


def by_jacobian(mv, y):
    return np.linalg.solve(tp.jacfwd(mv)(y), y)


def corrected(f, x):
    return x - np.linalg.solve(A, f(x))


T = functools.partial(lambda a, mv, y: np.linalg.solve(a.T, y), A)
SOLVES = {
    "global": lambda b: linear(lambda v: A @ v, b),
    "global of a partial": lambda b: linear(functools.partial(np.matmul, A), b),
    "partials": lambda b: linear(functools.partial(np.matmul, A), b, lambda mv, y, a=A: np.linalg.solve(a, y), T),
    "method": lambda b: linear(A.dot, b),
    "of its Jacobian": lambda b: linear(functools.partial(np.matmul, A), b, by_jacobian, by_jacobian),
    "root": lambda b: lax.custom_root(lambda x: A @ x - b, 0.0 * b, corrected, lambda g, y: np.linalg.solve(A, y)),
    "root of a partial": lambda b: lax.custom_root(
        functools.partial(lambda a, x: a @ x - b, A), 0.0 * b, corrected, by_jacobian
    ),
}


@pytest.mark.parametrize("name", SOLVES)
@pytest.mark.sampled(3)
def test_solutions_read_what_is_around(name):
    """Each argument of each function has sizes of its own, also where several are one array."""
    f, inverse = SOLVES[name], np.linalg.inv(A)
    np.testing.assert_allclose(f(X), inverse @ X, rtol=1e-12)
    np.testing.assert_allclose(tp.jacrev(f)(X), inverse, rtol=1e-12)
    np.testing.assert_allclose(tp.jacfwd(f)(X), inverse, rtol=1e-12)
    np.testing.assert_allclose(tp.vmap(f, out_axes=1)(np.eye(3)), inverse, rtol=1e-12)
    np.testing.assert_allclose(tp.grad(lambda b: np.sum(f(b) ** 2))(X), 2 * inverse.T @ (inverse @ X), rtol=1e-11)


# -------------------------------------------------------------------------------------------- axes as users' classes


@tree.register_dataclass
@dataclasses.dataclass
class Dense:
    w: Any
    b: Any
    name: str = dataclasses.field(default="dense", metadata={"static": True})


@dataclasses.dataclass
class Plain:
    w: Any
    b: Any


class Node:
    def __init__(self, w, b):
        self.w, self.b = w, b


tree.register_node(Node, lambda n: ((n.w, n.b), None), lambda aux, children: Node(*children))


@pytest.mark.parametrize("cls", [Dense, Plain, Node])
def test_axes_are_instances_of_the_program(cls):
    w, b, x = np.stack([A, 2.0 * A]), np.array([0.5, 1.0, 1.5]), np.stack([X, 3.0 * X])

    def lanes(w, b, x):
        layers = cls(w, b)
        out = tp.vmap(lambda layer, x: layer.w @ x + layer.b, in_axes=(cls(0, None), 0))(layers, x)
        moved = tp.vmap(lambda layer: cls(layer.w * 2.0, layer.b), in_axes=(cls(0, None),), out_axes=cls(1, None))(
            layers
        )
        return out, moved.w, moved.b

    wanted = np.einsum("kij,kj->ki", w, x) + b, np.swapaxes(2.0 * w, 0, 1), b
    same(lanes(w, b, x), wanted)
    same(tp.vjp(lanes, w, b, x)[0], wanted)
    tp.check_grads(lanes, (w, b, x), order=1)
    with pytest.raises(tp.TranspileError, match="T601"):
        tp.vmap(lambda layer: layer.w, in_axes=(cls(0.5, None),))(cls(w, b))


# ------------------------------------------------------------------------------ functions with derivatives of their own


@tp.custom_jvp
def pushed(x):
    return np.sin(x)


@pushed.defjvp
def pushed_jvp(primals, tangents):
    return pushed(primals[0]), 7.0 * tangents[0]


@tp.custom_vjp
def pulled(x):
    return np.sin(x)


pulled.defvjp(lambda x: (pulled(x), x), lambda _, bar: (7.0 * bar,))


class Ruled:
    @tp.custom_jvp
    def method(self, x):
        return np.sin(x)

    @method.defjvp
    def method_jvp(primals, tangents):  # noqa: N805
        return np.sin(primals[1]), 7.0 * tangents[1]


def made_inside(kind):
    if kind == "jvp":

        @tp.custom_jvp
        def f(x):
            return np.sin(x)

        @f.defjvp
        def f_jvp(primals, tangents):
            return f(primals[0]), 7.0 * tangents[0]

        return f
    g = tp.custom_vjp(lambda x: np.sin(x))
    g.defvjp(lambda x: (g(x), None), backward=lambda _, bar: (7.0 * bar,))
    return g


RULED = {
    "custom_jvp": lambda: pushed,
    "custom_vjp": lambda: pulled,
    "custom_jvp made inside": lambda: made_inside("jvp"),
    "custom_vjp made inside": lambda: made_inside("vjp"),
    "lambda around it": lambda: lambda x: pushed(x),
    "partial of custom_vjp": lambda: functools.partial(pulled),
    "partial of a method": lambda: functools.partial(Ruled().method),
    "method": lambda: Ruled().method,
}
SLOPES = {
    "grad": lambda f: lambda x: tp.grad(f)(x),
    "value_and_grad": lambda f: lambda x: tp.value_and_grad(f)(x)[1],
    "vjp": lambda f: lambda x: tp.vjp(f, x)[1](1.0)[0],
    "jacrev": lambda f: lambda x: tp.jacrev(f)(x),
    "lanes": lambda f: lambda x: tp.vmap(tp.grad(f))(np.stack([x, x]))[0],
    "of lanes": lambda f: lambda x: tp.vjp(tp.vmap(f), np.stack([x, x]))[1](np.ones(2))[0][1],
    "map": lambda f: lambda x: tp.grad(lambda v: np.sum(lax.map(f, np.stack([v, 1.0]))))(x),
    "scan": lambda f: lambda x: tp.grad(lambda v: lax.scan(lambda c, a: (c + f(a * v), None), 0.0, np.ones(1))[0])(x),
    "jvp": lambda f: lambda x: tp.jvp(f, (x,), (1.0,))[1],
    "jacfwd": lambda f: lambda x: tp.jacfwd(f)(x),
}


@pytest.mark.parametrize("name", RULED)
@pytest.mark.sampled(4)
def test_rules_hold_in_every_transform(name):
    """Plain, and inside of what is transformed itself: the slope is the rule's, not the function's."""
    for kind, slope in SLOPES.items():
        if kind in ("jvp", "jacfwd") and "vjp" in name:
            continue  # forward mode cannot use them
        assert slope(RULED[name]())(0.5) == pytest.approx(7.0), kind
        value, pullback = tp.vjp(lambda x, slope=slope: slope(RULED[name]())(x), 0.5)
        assert value == pytest.approx(7.0) and pullback(1.0) == (0.0,), kind
