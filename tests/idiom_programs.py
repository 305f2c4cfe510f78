"""More programs as users of JAX type them, beside `idiom_cases`: filters, solvers, models of one's own classes, axes of every
form.

Each returns values and derivatives of one idea; ``jit`` compiles or does nothing.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import transpile as tp
from transpile import lax, tree
from transpile.tree import ravel_pytree, register_dataclass, register_node

V = np.array([0.7, -0.3, 1.2, 0.4])
M = np.cos(np.arange(12.0)).reshape(3, 4)


def total(out):
    return sum(np.sum(np.sin(leaf)) for leaf in tree.leaves(out))


# --------------------------------------------------------------------------------------------------------- filters


def kalman(jit):
    F, H = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0]])

    def log_likelihood(noise, zs):
        q, r = np.exp(noise)

        def step(carry, z):
            mu, P = carry
            mu, P = F @ mu, F @ P @ F.T + q * np.eye(2)
            S = H @ P @ H.T + r
            K = P @ H.T @ np.linalg.inv(S)
            y = z - H @ mu
            ll = -0.5 * (np.log(2 * np.pi * S[0, 0]) + y[0] ** 2 / S[0, 0])
            return (mu + K @ y, (np.eye(2) - K @ H) @ P), ll

        return np.sum(lax.scan(step, (np.zeros(2), np.eye(2)), zs)[1])

    series = np.array([[1.0, 2.1, 2.9, 4.2], [0.5, 0.4, 0.6, 0.3]])
    noise = np.array([-2.0, -1.0])
    value, gradient = jit(tp.value_and_grad(log_likelihood))(noise, series[0])
    return [value, gradient, jit(tp.vmap(tp.grad(log_likelihood), in_axes=(None, 0)))(noise, series)]


def hidden_markov(jit):
    observed = np.array([0, 2, 1, 1, 0])

    def logsumexp(a, axis):
        m = np.max(a, axis=axis, keepdims=True)
        return np.squeeze(m, axis) + np.log(np.sum(np.exp(a - m), axis=axis))

    def likelihood(params):
        log_a = params["a"] - logsumexp(params["a"], 1)[:, None]
        log_b = params["b"] - logsumexp(params["b"], 1)[:, None]

        def step(alpha, o):
            alpha = logsumexp(alpha[:, None] + log_a, 0) + log_b[:, o]
            return alpha, alpha

        first = np.log(np.array([0.5, 0.5])) + log_b[:, observed[0]]
        last, alphas = lax.scan(step, first, observed[1:])
        return logsumexp(last, 0), alphas

    params = {"a": np.array([[0.1, -0.2], [0.3, 0.2]]), "b": np.array([[0.3, 0.1, 0.5], [0.2, 0.2, 0.2]])}
    (value, alphas), gradient = jit(tp.value_and_grad(likelihood, has_aux=True))(params)
    return [value, alphas, gradient["a"], gradient["b"]]


def returns_to_go(jit):
    def advantages(deltas, gamma):
        def step(gae, delta):
            gae = delta + gamma * 0.95 * gae
            return gae, gae

        return lax.scan(step, np.zeros(()), deltas, reverse=True)[1]

    gradient = jit(tp.grad(lambda d, g: np.sum(advantages(d, g) ** 2), argnums=(0, 1)))(V, 0.9)
    return [advantages(V, 0.9), *gradient, jit(tp.vmap(advantages, (0, None)))(M, 0.9)]


def parallel_recurrence(jit):
    """Affine maps composed by a scan, the operator written for one pair."""

    @tp.vmap
    def compose(left, right):
        return right[0] @ left[0], right[0] @ left[1] + right[1]

    def states(mats, shifts):
        return lax.associative_scan(compose, (mats, shifts))[1]

    mats, shifts = np.cos(np.arange(20.0)).reshape(5, 2, 2), np.sin(np.arange(10.0)).reshape(5, 2)
    gradient = jit(tp.grad(lambda m, s: np.sum(states(m, s) ** 2), argnums=(0, 1)))(mats, shifts)
    return [states(mats, shifts), *gradient]


def runge_kutta(jit):
    def solution(y0, k):
        def slope(y, t):
            return np.stack([y[1], -k * y[0] * np.cos(t)])

        def step(y, times):
            t, h = times[0], times[1] - times[0]
            k1 = slope(y, t)
            k2 = slope(y + h / 2 * k1, t + h / 2)
            k3 = slope(y + h / 2 * k2, t + h / 2)
            k4 = slope(y + h * k3, t + h)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return y, y

        ts = np.linspace(0.0, 1.0, 6)
        return np.concatenate([y0[None], lax.scan(step, y0, (ts[:-1], ts[1:]))[1]])

    y0 = np.array([1.0, 0.5])
    ks = np.array([0.5, 0.8, 2.0])
    return [solution(y0, 0.8), jit(tp.jacfwd(solution, 1))(y0, 0.8), jit(tp.vmap(solution, (None, 0)))(y0, ks)]


# --------------------------------------------------------------------------------------------------------- solvers


def bilevel(jit):
    """A gradient through the minimiser of an inner problem, which Newton's method finds."""

    def best(theta):
        slope = tp.grad(lambda y: np.sum((y - theta) ** 2) + 0.1 * np.sum(y**4))

        def newton(f, y):
            return lax.fori_loop(0, 20, lambda _, y: y - np.linalg.solve(tp.jacfwd(f)(y), f(y)), y)

        return lax.custom_root(slope, np.zeros_like(theta), newton, lambda g, y: np.linalg.solve(tp.jacfwd(g)(y), y))

    outer = lambda theta: np.sum(best(best(theta)) ** 2)  # noqa: E731
    return [best(V), jit(tp.grad(outer))(V), jit(tp.jacfwd(best))(V), tp.vmap(best)(M)]


def equilibrium(jit):
    def model(w, x):
        f = lambda z: np.tanh(w @ z + x) - z  # noqa: E731

        def iterated(f, z):
            return lax.while_loop(lambda z: np.max(np.abs(f(z))) > 1e-13, lambda z: z + f(z), z)

        def adjoint(g, y):
            return lax.fori_loop(0, 80, lambda _, z: z + g(z) - y, np.zeros_like(y))

        return lax.custom_root(f, np.zeros_like(x), iterated, adjoint)

    w = np.outer(V, V) * 0.1
    gradient = jit(tp.grad(lambda w, x: np.sum(model(w, x) ** 2), argnums=(0, 1)))(w, V)
    return [model(w, V), *gradient, jit(tp.vmap(partial(model, w)))(M)]


def conjugate_gradients(jit):
    def cg(matvec, b):
        def step(_, state):
            x, r, p = state
            ap = matvec(p)
            a = np.vdot(r, r) / np.vdot(p, ap)
            new = r - a * ap
            return x + a * p, new, new + np.vdot(new, new) / np.vdot(r, r) * p

        return lax.fori_loop(0, 4, step, (np.zeros_like(b), b, b))[0]

    def solved(m, b):
        spd = m.T @ m + 2.0 * np.eye(4)
        return lax.custom_linear_solve(partial(np.dot, spd), b, cg, symmetric=True)

    gradient = jit(tp.grad(lambda m, b: np.sum(solved(m, b) ** 2), argnums=(0, 1)))(M, V)
    return [solved(M, V), *gradient, jit(tp.vmap(solved, (None, 0)))(M, M), tp.jacrev(solved, 1)(M, V)]


def newton_of_trees(jit):
    def loss(p):
        return 0.5 * np.sum(p["w"] ** 2) + np.sum(p["b"][0] ** 4) + np.exp(p["b"][1]) * np.sum(p["w"])

    def step(p):
        flat, unravel = ravel_pytree(p)
        f = lambda v: loss(unravel(v))  # noqa: E731
        return unravel(flat - np.linalg.solve(tp.hessian(f)(flat), tp.grad(f)(flat)))

    p = {"w": M[:2], "b": (np.array([0.6, 0.9]), 0.5)}
    moved = jit(lambda p: step(step(p)))(p)
    return [*tree.leaves(moved), *tree.leaves(jit(tp.grad(lambda p: total(step(p))))(p))]


def lu_in_place(jit):
    """A factorisation that writes into its matrix, and the derivative of the determinant from it."""

    def lu(a):
        n = a.shape[0]

        def step(k, a):
            below = np.arange(n) > k
            factor = np.where(below, a[:, k] / a[k, k], 0.0)
            a = tp.at(a)[:, k].set(np.where(below, factor, a[:, k]))
            return a - np.outer(factor, np.where(np.arange(n) > k, a[k], 0.0))

        return lax.fori_loop(0, n - 1, step, a)

    det = lambda a: np.prod(np.diag(lu(a)))  # noqa: E731
    a = np.cos(np.arange(16.0)).reshape(4, 4) + 4.0 * np.eye(4)
    batch = np.stack([a, a.T])
    return [jit(lu)(a), jit(tp.grad(det))(a), jit(tp.vmap(lu))(batch), jit(tp.vmap(tp.grad(det)))(batch)]


def heat(jit):
    def simulate(u, rate):
        def step(u, _):
            u = tp.at(u)[1:-1].add(rate * (u[2:] - 2 * u[1:-1] + u[:-2]))
            return tp.at(u)[0].set(u[-2]), u[1]

        return lax.scan(step, u, None, length=6)

    gradient = jit(tp.grad(lambda u, rate: np.sum(simulate(u, rate)[0] ** 2), argnums=(0, 1)))(V, 0.1)
    return [*jit(simulate)(V, 0.1), *gradient, *jit(tp.vmap(simulate, in_axes=(None, 0)))(V, np.array([0.1, 0.2]))]


def updates_of_every_form(jit):
    index, far = np.array([2, 0, 2]), np.array([0, 7, -9, 3])

    def f(m, v):
        a = np.zeros((4, 4)).at[np.arange(4), np.arange(4)].set(v)
        b = a.at[np.triu_indices(4, 1)].set(np.arange(6.0) * v[0])
        c = m.at[index[:, None], np.array([0, 1])].add(v[:2]).at[..., -1].multiply(v[0]).at[m > 0.5].set(0.25)
        d = v.at[far].add(v).at[far].set(v * 2.0, mode="drop").at[far].add(v, mode="clip")
        return [
            b,
            c,
            d,
            v.at[far].get(mode="fill", fill_value=0.5),
            m.at[:, index + 2].get(mode="clip"),
            m.at[1:, None].max(v),
        ]

    return [*tp.vjp(f, M, V)[0], *jit(tp.grad(lambda m, v: total(f(m, v)), argnums=(0, 1)))(M, V)]


# ---------------------------------------------------------------------------------------------------- own classes


class Layer(NamedTuple):
    w: Any
    b: Any


@register_dataclass
@dataclasses.dataclass
class Dense:
    w: Any
    b: Any
    activation: str = dataclasses.field(default="tanh", metadata={"static": True})

    def __call__(self, x):
        y = x @ self.w + self.b
        return np.tanh(y) if self.activation == "tanh" else y

    @classmethod
    def init(cls, a):
        return cls(np.ones((4, 2)) * a, np.zeros(2) + a)


class Net:
    """A model class as libraries of layers have it, by hand."""

    def __init__(self, layers, scale):
        self.layers, self.scale = layers, scale

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.scale * np.sum(x)


register_node(Net, lambda net: ((net.layers, net.scale), None), lambda _, children: Net(*children))


def nets(jit):
    net = Net([Dense(M.T, np.zeros(3)), Dense(M[:, :2], np.ones(2), "none")], 0.5)

    def loss(net, xs, ys):
        return np.mean((tp.vmap(net)(xs) - ys) ** 2)

    def step(net, xs, ys):
        return tree.map(lambda p, g: p - 0.1 * g, net, tp.grad(loss)(net, xs, ys))

    ys = np.array([1.0, -1.0, 0.5])
    moved = jit(step)(net, M, ys)
    hessian = jit(tp.hessian(lambda d: np.sum(d(V))))(net.layers[0])
    return [*tree.leaves(moved), loss(moved, M, ys), hessian.w.b, hessian.b.w]


def axes_of_every_form(jit):
    p = {"a": {"x": M, "y": M}, "c": V}
    first = jit(tp.vmap(lambda p, s: p["a"]["x"] + p["a"]["y"] * s + p["c"], in_axes=({"a": 1, "c": 0}, None)))(
        p, V[:3]
    )
    layers = tp.vmap(Dense.init)(V)
    each = tp.vmap(lambda layer, x: layer(x), in_axes=(0, None))(layers, M[0])
    ps = [Layer(np.stack([M, 2.0 * M]), np.ones(4))]
    second = tp.vmap(lambda p, x: p[0].w * x + p[0].b, in_axes=([Layer(0, None)], 0), out_axes=1)(ps, V[:2])
    out = tp.vmap(lambda r, s: {"s": r.sum(), "r": (r * s, r)}, in_axes=(0, None), out_axes={"s": 0, "r": (1, -1)})(
        M, V
    )
    back = tp.vmap(lambda m: m.sum(0), in_axes=-1, out_axes=-1)(np.stack([M, M * M], 2))
    three = tp.vmap(tp.vmap(tp.vmap(lambda a, b, c: a * b + c, (None, None, 0)), (None, 0, None)), (0, None, None))
    by_name = tp.vmap(lambda x, scale: x * scale[0])(M, scale=np.tile(V, (3, 1)))
    return [first, each, second, *tree.leaves(out), back, jit(three)(V, M[:, 0], M[0, :2]), by_name]


def pushed_and_pulled(jit):
    """Jacobians written with vmap."""
    f = lambda x: np.stack([np.sum(x**2), x[0] * x[1]])  # noqa: E731

    def jacobians(x):
        _, pullback = tp.vjp(f, x)
        _, push = tp.linearize(f, x)
        return (
            tp.vmap(pullback)(np.eye(2))[0],
            tp.vmap(partial(tp.jvp, f, (x,)), out_axes=(None, 1))((np.eye(4),))[1],
            tp.vmap(push, out_axes=1)(np.eye(4)),
        )

    return [*jacobians(V), *jit(jacobians)(V), jit(tp.grad(lambda x: total(jacobians(x))))(V)]


def lanes_with_ways_of_their_own(jit):
    def newton(a):
        return lax.while_loop(lambda x: np.abs(x * x - a) > 1e-12, lambda x: 0.5 * (x + a / x), a)

    def summed(n, row):
        return lax.fori_loop(0, n, lambda i, s: s + row[i], 0.0)

    def branched(k, x):
        return lax.switch(k, [np.sin, lambda v: v * v, np.negative], lax.cond(x > 0.5, np.exp, lambda v: 2.0 * v, x))

    def moved(row, k):
        part = lax.dynamic_slice(row, (k,), (2,))
        return lax.dynamic_update_slice(row, part * 2.0, (k - 1,)).at[k].set(0.0)

    a, k = np.array([1.0, 2.0, 5.0]), np.array([1, 4, 2])
    return [
        jit(tp.vmap(newton))(a),
        tp.vmap(tp.jacfwd(newton))(a),
        jit(tp.vmap(summed))(k, M),
        jit(tp.vmap(branched))(np.array([0, 1, 7, -2]), V),
        tp.vmap(tp.grad(branched, 1))(np.array([0, 1, 7, -2]), V),
        jit(tp.vmap(moved))(M, k),
        tp.vmap(lambda row: lax.top_k(row, 2)[0])(M),
    ]


CASES = {
    f.__name__: f
    for f in (
        kalman, hidden_markov, returns_to_go, parallel_recurrence, runge_kutta, bilevel, equilibrium, conjugate_gradients,
        newton_of_trees, lu_in_place, heat, updates_of_every_form, nets, axes_of_every_form, pushed_and_pulled,
        lanes_with_ways_of_their_own,
    )
}  # fmt: skip
