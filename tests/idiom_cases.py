"""Programs as users of JAX type them, with ``np`` for ``jnp`` and ``tp`` for ``jax``; with other imports the text runs with
JAX.

Each takes ``jit``, which compiles or does nothing, and returns arrays.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

import transpile as tp
from transpile import lax, random, tree

# ------------------------------------------------------------------------------------------------- a first network


def sigmoid(x):
    return 0.5 * (np.tanh(x / 2) + 1)


def net(params, x):
    w1, b1, w2, b2 = params
    hidden = np.tanh(np.dot(w1, x) + b1)
    return sigmoid(np.dot(w2, hidden) + b2)


def xor_loss(params, x, y):
    out = net(params, x)
    cross_entropy = -y * np.log(out) - (1 - y) * np.log(1 - out)
    return cross_entropy


def initial_params(key):
    k1, k2, k3, k4 = random.split(key, 4)
    return [
        random.normal(k1, (3, 2)),  # w1
        random.normal(k2, (3,)),  # b1
        random.normal(k3, (3,)),  # w2
        random.normal(k4, ()),  # b2
    ]


INPUTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def xor_one_by_one(jit):
    loss_grad = jit(tp.grad(xor_loss))
    params = initial_params(random.key(1))
    for n in range(40):
        x = INPUTS[n % 4]
        y = np.bitwise_xor(x[0], x[1])
        grads = loss_grad(params, x, y)
        params = [param - 0.5 * grad for param, grad in zip(params, grads)]
    return params


def xor_per_example(jit):
    loss_grad = jit(tp.vmap(tp.grad(xor_loss), in_axes=(None, 0, 0), out_axes=0))
    params = initial_params(random.key(1))
    for _ in range(10):
        grads = loss_grad(params, INPUTS, np.bitwise_xor(INPUTS[:, 0], INPUTS[:, 1]))
        params = [param - 0.5 * np.mean(grad, axis=0) for param, grad in zip(params, grads)]
    return [grads[0], *params]


# ------------------------------------------------------------------------------------------------------ first pages


def sum_squared_error(x, y):
    return np.sum((x - y) ** 2)


def squared_error_with_aux(x, y):
    return sum_squared_error(x, y), x - y


def loss_with_params(x, params=None):
    return np.sum(params * np.cos(x))


X, Y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.1, 2.1, 3.1, 4.1])


def first_gradients(jit):
    value, grad = jit(tp.value_and_grad(sum_squared_error))(X, Y)
    both = jit(tp.grad(sum_squared_error, argnums=(0, 1)))(X, Y)
    with_aux, aux = jit(tp.grad(squared_error_with_aux, has_aux=True))(X, Y)
    (value_2, aux_2), grad_2 = tp.value_and_grad(squared_error_with_aux, has_aux=True)(X, Y)
    return [value, grad, *both, with_aux, aux, value_2, aux_2, grad_2]


def vectorized_dot(jit):
    a = np.sin(np.arange(30000.0)).reshape(100, 300)
    z = np.cos(np.arange(3000.0)).reshape(10, 300)
    g = lambda vec: np.dot(a, vec)  # noqa: E731
    return [jit(tp.vmap(g))(z), jit(tp.vmap(g, in_axes=1, out_axes=1))(z.T)]


def silu(x):
    return np.where(x > -30.0, x / (1 + np.exp(-x)), 0.0)


def double_where(jit):
    z = np.array([-800.0, -2.0, 0.0, 3.0, 40.0])
    safe = lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)  # noqa: E731
    return [jit(tp.vmap(tp.grad(safe)))(z), jit(tp.grad(lambda x: np.sum(silu(x))))(z[1:])]


# ----------------------------------------------------------------------------------------------------- x.at[...]


def at_table(jit):
    def table(x):
        return [
            x.at[1].set(7.0),
            x.at[1].add(0.5),
            x.at[1].subtract(0.5),
            x.at[1].multiply(3.0),
            x.at[1].divide(3.0),
            x.at[1].power(2.0),
            x.at[1].min(0.1),
            x.at[1].max(5.0),
            x.at[1].get(),
            x.at[np.array([0, 0, 2])].add(1.0),
            x.at[2:].set(np.array([8.0, 9.0])),
            x.at[10].get(mode="fill", fill_value=-1.0),
            x.at[10].set(3.0, mode="drop"),
            x.at[10].get(mode="clip"),
            x.at[::2].mul(2.0),
        ]

    def total(x):
        return sum(np.sum(np.sin(one)) for one in table(x))

    rows = np.arange(1.0, 13.0).reshape(3, 4)
    applied = jit(tp.vmap(lambda x: x.at[1].apply(np.sin)))(rows)  # JAX has no derivative of it
    return [applied, *jit(tp.vmap(table))(rows), jit(tp.grad(total))(rows[0]), jit(tp.vmap(tp.grad(total)))(rows)]


def at_untransformed(jit):
    x = np.arange(5.0)
    return [tp.at(x)[1].set(7.0), tp.at(x)[np.array([1, 1])].add(2.0), tp.at(x)[7].get(mode="fill", fill_value=0.0)]


# ----------------------------------------------------------------------------------------------------- random, lax


def augmented(jit):
    augmentations = [
        lambda image: image,
        lambda image: image[::-1],
        lambda image: image[:, ::-1],
        lambda image: image.T * 0.5,
    ]

    def augment(key, image):
        index = random.randint(key, (), 0, len(augmentations))
        return lax.switch(index, augmentations, image)

    image = np.arange(9.0).reshape(3, 3)
    keys = random.split(random.key(4), 6)
    batch = jit(tp.vmap(augment, in_axes=(0, None)))(keys, image)
    slopes = tp.grad(lambda image: np.sum(tp.vmap(augment, in_axes=(0, None))(keys, image) ** 2))
    return [jit(augment)(keys[0], image), batch, jit(slopes)(image)]


def scan_of_the_page(jit):
    def cumsum(res, el):
        res = res + el
        return res, res  # ("carryover", "accumulated")

    a = np.array([1, 2, 3, 5, 7, 11, 13, 17])
    final, result = lax.scan(cumsum, 0, a)
    return [final, result, *jit(lambda a: lax.scan(cumsum, 0, a))(a)]


def loops_of_the_page(jit):
    found = jit(lambda x: lax.while_loop(lambda x: x < 10, lambda x: x + 1, x))(0)
    summed = jit(lambda x: lax.fori_loop(0, 10, lambda i, x: x + i, x))(0)

    def fib(n):
        return lax.fori_loop(0, n, lambda i, ab: (ab[1], ab[0] + ab[1]), (0, 1))[0]

    def collatz(n):
        return lax.while_loop(
            lambda state: state[0] != 1,
            lambda state: (np.where(state[0] % 2 == 0, state[0] // 2, 3 * state[0] + 1), state[1] + 1),
            (n, 0),
        )[1]

    lanes = jit(tp.vmap(collatz))(np.array([1, 2, 7, 27]))
    return [found, summed, jit(fib)(20), lanes]


def associative_of_the_page(jit):
    part = lax.associative_scan(np.add, np.arange(0, 4))
    mats = np.cos(np.arange(20.0)).reshape(5, 2, 2)
    products = jit(lambda mats: lax.associative_scan(np.matmul, mats))(mats)
    back = jit(lambda x: lax.associative_scan(np.add, x, reverse=True))(np.arange(0, 4))

    def linear(x):
        """A linear recurrence, as state space models have it."""
        combine = lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1])  # noqa: E731
        return np.sum(lax.associative_scan(combine, (np.sin(x), x))[1] ** 2)

    return [part, products, back, jit(tp.grad(linear))(np.arange(6.0))]


def rnn(jit):
    def cell(params, h, x):
        h = np.tanh(params["w"] @ h + params["u"] @ x + params["b"])
        return h, h

    def loss(params, xs):
        h, hs = lax.scan(functools.partial(cell, params), np.zeros(3), xs)
        return np.mean(hs**2) + np.sum(h)

    params = {"w": np.eye(3) * 0.5, "u": np.ones((3, 2)) * 0.1, "b": np.zeros(3)}
    xs = np.sin(np.arange(24.0)).reshape(3, 4, 2)
    each = jit(tp.vmap(tp.grad(loss), in_axes=(None, 0)))(params, xs)
    return [each["w"], each["u"], each["b"]]


# -------------------------------------------------------------------------------------------------------- training


class Adam(NamedTuple):
    step: int
    mu: dict
    nu: dict


def adam_init(params):
    return Adam(0, tree.map(np.zeros_like, params), tree.map(np.zeros_like, params))


def adam_update(grads, state, params, rate=0.01, b1=0.9, b2=0.999, eps=1e-8):
    step = state.step + 1
    mu = tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.mu, grads)
    nu = tree.map(lambda v, g: b2 * v + (1 - b2) * g**2, state.nu, grads)
    params = tree.map(
        lambda p, m, v: p - rate * (m / (1 - b1**step)) / (np.sqrt(v / (1 - b2**step)) + eps), params, mu, nu
    )
    return params, Adam(step, mu, nu)


def mlp(params, x):
    for layer in params[:-1]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    last = params[-1]
    return x @ last["w"] + last["b"]


def init_mlp(key, sizes):
    keys = random.split(key, len(sizes) - 1)
    return [
        {"w": random.normal(k, (m, n)) / np.sqrt(m), "b": np.zeros(n)} for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def cross_entropy(params, images, labels):
    logits = mlp(params, images)
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logprobs = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(np.sum(logprobs * labels, axis=1))


def minibatches(jit):
    images = np.sin(np.arange(24 * 5.0)).reshape(24, 5)
    labels = np.eye(3)[np.arange(24) % 3]
    params = init_mlp(random.key(0), [5, 4, 3])
    state = adam_init(params)

    def step(params, state, x, y):
        value, grads = tp.value_and_grad(cross_entropy)(params, x, y)
        params, state = adam_update(grads, state, params)
        return params, state, value

    update = jit(step)
    values = []
    for epoch in range(3):
        order = random.permutation(random.fold_in(random.key(7), epoch), 24)
        for k in range(0, 24, 8):
            batch = order[k : k + 8]
            params, state, value = update(params, state, images[batch], labels[batch])
            values.append(value)
    return [np.array(values), *tree.leaves(params)]


def per_example_norms(jit):
    images = np.sin(np.arange(12 * 5.0)).reshape(12, 5)
    labels = np.eye(3)[np.arange(12) % 3]
    params = init_mlp(random.key(0), [5, 4, 3])

    def one(params, x, y):
        return cross_entropy(params, x[None, :], y[None, :])

    def norm(grads):
        return np.sqrt(sum(np.sum(g**2) for g in tree.leaves(grads)))

    def clipped(params, x, y):
        grads = tp.grad(one)(params, x, y)
        scale = np.minimum(1.0, 0.5 / norm(grads))
        return tree.map(lambda g: g * scale, grads)

    each = jit(tp.vmap(clipped, in_axes=(None, 0, 0)))(params, images, labels)
    return tree.leaves(tree.map(lambda g: np.mean(g, axis=0), each))


def ensemble(jit):
    x, y = np.linspace(-1.0, 1.0, 10)[:, None], np.linspace(-1.0, 1.0, 10)[:, None] ** 3
    params = tp.vmap(lambda key: init_mlp(key, [1, 4, 1]))(random.split(random.key(3), 5))

    def loss(params):
        return np.mean((mlp(params, x) - y) ** 2)

    def train(params):
        return tree.map(lambda p, g: p - 0.1 * g, params, tp.grad(loss)(params))

    train_all = jit(tp.vmap(train))
    for _ in range(5):
        params = train_all(params)
    predicted = tp.vmap(mlp, in_axes=(0, None))(params, x)
    return [np.mean(predicted, axis=0), np.std(predicted, axis=0), *tree.leaves(params)]


# --------------------------------------------------------------------------------------------------- meta-learning


def meta_learning(jit):
    def inner_loss(params, x, y):
        return np.mean((mlp(params, x) - y) ** 2)

    def inner_update(params, x, y, alpha=0.1):
        grads = tp.grad(inner_loss)(params, x, y)
        return tree.map(lambda p, g: p - alpha * g, params, grads)

    def maml_loss(params, x1, y1, x2, y2):
        return inner_loss(inner_update(params, x1, y1), x2, y2)

    def batch_loss(params, x1, y1, x2, y2):
        return np.mean(tp.vmap(functools.partial(maml_loss, params))(x1, y1, x2, y2))

    params = init_mlp(random.key(2), [1, 3, 1])
    x = np.linspace(-1.0, 1.0, 24).reshape(4, 6, 1)
    tasks = x, np.sin(3 * x), x[:, ::-1] * 0.9, np.sin(2 * x)
    reverse = jit(tp.grad(batch_loss))(params, *tasks)
    direction = tree.map(np.ones_like, params)
    value, forward = jit(lambda params: tp.jvp(lambda p: batch_loss(p, *tasks), (params,), (direction,)))(params)
    return [*tree.leaves(reverse), value, forward]


# ----------------------------------------------------------------------------------------------------- derivatives


def logistic(w):
    inputs = np.array([[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.30], [0.74, -2.49, 1.39]])
    targets = np.array([True, True, False, True])
    predictions = sigmoid(inputs @ w)
    label_probs = predictions * targets + (1 - predictions) * (1 - targets)
    return -np.sum(np.log(label_probs))


def hvp(f, x, v):
    return tp.jvp(tp.grad(f), (x,), (v,))[1]


def hessians(jit):
    w = np.array([0.3, -0.4, 0.8])
    whole = jit(tp.jacfwd(tp.jacrev(logistic)))(w)
    diagonal = jit(lambda w: tp.vmap(lambda v: np.sum(v * hvp(logistic, w, v)))(np.eye(3)))(w)
    rows = tp.vmap(lambda v: hvp(logistic, w, v))(np.eye(3))
    stacked = np.stack([w, 2 * w])
    return [whole, diagonal, rows, jit(tp.vmap(tp.hessian(logistic)))(stacked)]


def jacobians(jit):
    y, pullback = tp.vjp(lambda w: np.tanh(w) * w[0], np.array([0.3, -0.4, 0.8]))
    vmapped = tp.vmap(pullback)(np.eye(3))[0]
    pushed = tp.vmap(lambda v: tp.jvp(lambda w: np.tanh(w) * w[0], (np.array([0.3, -0.4, 0.8]),), (v,))[1])(np.eye(3))
    return [y, vmapped, pushed]


def robot_arm(jit):
    lengths = np.array([1.0, 0.8, 0.5])

    def end(angles):
        total = np.cumsum(angles)
        return np.stack([np.sum(lengths * np.cos(total)), np.sum(lengths * np.sin(total))])

    def reach(angles, goal):
        step = lambda a: a + np.linalg.pinv(tp.jacfwd(end)(a)) @ (goal - end(a))  # noqa: E731
        return step(step(angles))

    poses = np.linspace(0.1, 1.2, 15).reshape(5, 3)
    batch = jit(tp.vmap(tp.jacfwd(end)))(poses)
    back = jit(tp.vmap(tp.jacrev(end)))(poses)
    return [batch, back, jit(tp.vmap(reach, in_axes=(0, None)))(poses, np.array([1.0, 1.0]))]


def convolved(jit):
    """The page on vmap: one signal and one window, signals, windows, both."""

    def convolve(x, w):
        output = []
        for i in range(1, len(x) - 1):
            output.append(np.dot(x[i - 1 : i + 2], w))
        return np.array(output)

    x, w = np.arange(5.0), np.array([2.0, 3.0, 4.0])
    xs, ws = np.stack([x, x]), np.stack([w, 2 * w])
    return [
        jit(convolve)(x, w),
        jit(tp.vmap(convolve))(xs, ws),
        jit(tp.vmap(convolve, in_axes=1, out_axes=1))(xs.T, ws.T),
        jit(tp.vmap(convolve, in_axes=[0, None]))(xs, w),
    ]


CASES = {
    f.__name__: f
    for f in (
        xor_one_by_one, xor_per_example, first_gradients, vectorized_dot, double_where, at_table, at_untransformed, augmented,
        scan_of_the_page, loops_of_the_page, associative_of_the_page, rnn, minibatches, per_example_norms, ensemble,
        meta_learning, hessians, jacobians, robot_arm, convolved,
    )
}  # fmt: skip
