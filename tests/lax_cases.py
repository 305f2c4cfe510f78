"""Programs over `lax` and `tree` as people write them for JAX: documentation examples and idioms, each a function of floats.

The text also runs with JAX, if the first lines import ``jax.numpy as np`` and ``from jax import grad, lax, tree``
(`tests/vocabulary/test_lax.py` does that if JAX is installed). ``REFERENCE`` holds JAX 0.10's results in float64: the value,
and the gradient with respect to the first argument.
"""

import numpy as np

from transpile import grad, lax, tree

A = np.array([[0.3, 1.1, -0.4], [0.9, -0.2, 0.5], [0.1, 0.7, 1.3], [-0.6, 0.2, 0.8]])
V = np.array([0.7, -0.3, 1.2, 0.4])


def cumsum(a):
    def step(res, el):
        res = res + el
        return res, res

    final, result = lax.scan(step, 0.0, a)
    return final * np.sum(result**2)


def recurrent(x):
    w = {"h": 0.5 * np.ones((3, 3)), "x": np.array([0.1, -0.2, 0.3])}

    def cell(h, xt):
        h = np.tanh(np.dot(h, w["h"]) + xt * w["x"])
        return h, {"norm": np.sum(h**2), "h": h}

    last, seen = lax.scan(cell, np.zeros(3), x, unroll=2)
    return np.sum(last) + np.sum(seen["norm"] * x) + np.sum(seen["h"][:, 1])


def discounted(rewards):
    """Returns to go, from the last reward to the first."""
    _, returns = lax.scan(lambda g, r: (r + 0.9 * g, r + 0.9 * g), 0.0, rewards, reverse=True)
    return np.sum(returns * np.arange(1.0, 5.0))


def several(x):
    """A tree of arrays, a carry of a tuple, and no carried use of the length."""

    def body(carry, item):
        i, total = carry
        a, b = item["a"], item["b"]
        return (i + 1, total + i * a * np.sum(b)), (a * total, None)

    (count, total), (ys, nothing) = lax.scan(body, (0, 0.0), {"a": x, "b": A * x[0]})
    assert nothing is None
    return total * count + np.sum(ys)


def iterated(x):
    """A scan without rows: only a length."""
    last, seen = lax.scan(lambda c, _: (c * np.sin(c), c), x, None, length=3)
    return np.sum(last) + np.sum(seen**2)


def powers(x):
    return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * x), (0, 1.0))[1]


def counted(x):
    return lax.fori_loop(0, 10, lambda i, v: v + i * x, 0.0)


def filled(x):
    n = 4
    return np.sum(lax.fori_loop(1, n, lambda i, v: v * x + np.arange(4) * i, x) ** 2)


def branched(x):
    operand = np.array([0.5, -0.5]) * x
    up = lax.cond(x > 0, lambda x: x + 1, lambda x: x - 1, operand)
    return np.sum(lax.cond(np.sum(up) < 0, lambda a, b: a * b, lambda a, b: a - b, up, operand) ** 2)


def augmented(image):
    augmentations = [lambda a: a, lambda a: a[::-1], lambda a: a.T @ a, lambda a: -2.0 * a[:, ::-1]]
    square = image.reshape(2, 2)
    found = [lax.switch(k, augmentations, square) for k in (-1, 1, 2, 7)]
    return np.sum(found[0] * found[1]) + np.sum(found[2] ** 2) * np.sum(found[3] * np.arange(4.0).reshape(2, 2))


def mapped(x):
    return np.sum(lax.map(lambda row: row[0] * np.exp(-row[1]) * row, np.stack([x, x**2], 1)) ** 2)


def summed(x):
    return np.sum(lax.associative_scan(np.add, x) * np.arange(4.0)) + np.sum(
        lax.associative_scan(np.multiply, x, reverse=True) ** 2
    )


def products(x):
    """Partial products of an array of matrices."""
    mats = np.stack([np.ones((2, 2)) * x[:, None, None], np.eye(2) + 0 * x[:, None, None]], 0).sum(0)
    return np.sum(lax.associative_scan(np.matmul, mats)[:, 0, 1] ** 2)


def linear(x):
    """The recurrence ``h[t] = a[t] h[t - 1] + b[t]`` as a scan of pairs."""

    def combine(left, right):
        (a, b), (c, d) = left, right
        return a * c, b * c + d

    decay = 0.5 + 0.1 * A[:, :3]
    _, h = lax.associative_scan(combine, (decay, decay * x[:, None]))
    return np.sum(h**2)


def along_axis(x):
    return np.sum(lax.associative_scan(np.multiply, A * x[:, None], axis=1)[:, -1] ** 2)


def windows(x):
    def window(i):
        return np.sum(lax.dynamic_slice(x, (i,), (2,)) ** 2) * (i + 1)

    moved = lax.dynamic_update_slice(np.outer(x, x), np.ones((2, 2)) * x[1], (1, 9))
    one = lax.dynamic_index_in_dim(moved, -2, axis=1, keepdims=False)
    return window(0) + window(2) + window(11) + np.sum(moved[:, 0] * one)


def in_dims(x):
    """The same updates along one axis."""
    m = np.outer(x, x[:3])
    part = lax.dynamic_slice_in_dim(m, 9, 2, axis=0) * lax.dynamic_slice_in_dim(m, 1, 2)
    m = lax.dynamic_update_slice_in_dim(m, part, -2, 0)
    m = lax.dynamic_update_index_in_dim(m, x[:3] ** 2, 1, 0)
    return np.sum(lax.dynamic_update_index_in_dim(m, m[:, :1] * 2.0, 2, axis=1) ** 2)


def largest(x):
    values, indices = lax.top_k(np.stack([x, x[::-1] ** 2]), 3)
    return np.sum(values * np.array([3.0, 2.0, 1.0])) + np.sum(indices)


def selected(x):
    return np.sum(lax.select(x > 0.1, np.exp(x), x**2)) + np.sum(lax.stop_gradient(x) * x)


def newton(f, x0):
    return lax.while_loop(lambda x: np.abs(f(x)) > 1e-13, lambda x: x - f(x) / grad(f)(x), x0)


def cube_root(a):
    return lax.custom_root(lambda x: x**3 - a, 1.0, newton, lambda g, y: y / g(1.0)) ** 2


def solved(b):
    matrix = np.eye(4) * 3.0 + np.outer(b, b[::-1])

    def solve(matvec, y):
        return np.linalg.solve(matrix, y)

    def transpose_solve(vecmat, y):
        return np.linalg.solve(matrix.T, y)

    x = lax.custom_linear_solve(lambda v: np.dot(matrix, v), b, solve, transpose_solve)
    return np.sum(x**3)


def adam(x):
    """A plain function over trees, scanned over minibatches."""
    params = {
        "w": np.array([[0.1, -0.2, 0.3], [0.2, 0.1, -0.1]]) * x[0],
        "b": np.zeros(3),
        "v": np.array([0.5, x[1], 0.7]),
    }
    inputs = np.stack([A[:, :2], A[:, 1:], A[:, :2] * 0.5])
    targets = np.stack([V, V**2, V - 0.5])

    def loss(params, batch):
        hidden = np.tanh(np.dot(batch[0], params["w"]) + params["b"])
        return np.mean((np.dot(hidden, params["v"]) - batch[1]) ** 2)

    def step(state, batch):
        params, m, v, t = state
        g = grad(loss)(params, batch)
        m = tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        v = tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
        t = t + 1
        params = tree.map(
            lambda p, m, v: p - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-3), params, m, v
        )
        return (params, m, v, t), loss(params, batch)

    zeros = tree.map(np.zeros_like, params)
    state, losses = lax.scan(step, (params, zeros, zeros, 0), (inputs, targets))
    return losses[-1] + np.sum(state[0]["w"] ** 2)


def meta(x):
    """A gradient through a gradient step, with respect to its starting point."""

    def loss(params, a, y):
        return np.mean((np.tanh(np.dot(a, params["w"])) + params["b"] - y) ** 2)

    def adapted(params, a, y):
        return tree.map(lambda p, g: p - 0.5 * g, params, grad(loss)(params, a, y))

    def task(k):
        params = {"w": x[:3], "b": x[3]}
        return loss(adapted(params, A + k, V), A - k, V)

    return lax.fori_loop(0, 2, lambda k, total: total + task(k), 0.0)


CASES = {
    **{f.__name__: (f, V) for f in (cumsum, recurrent, discounted, several, iterated, augmented, mapped, summed, products, linear,
                                    along_axis, windows, in_dims, largest, selected, solved, adam, meta)},
    **{f.__name__: (f, 1.3) for f in (powers, counted, branched, cube_root)},
    "filled": (filled, V),
}  # fmt: skip

REFERENCE = {
    "cumsum": (14.419999999999998, [26.01, 23.21, 21.61, 15.209999999999999]),
    "recurrent": (
        1.0620933519457543,
        [1.1994058545468014, 0.6328902986648002, 0.7299918569466207, 0.22320549215814697],
    ),
    "discounted": (10.1816, [1.0, 2.9, 5.61, 9.049]),
    "several": (15.455999999999996, [22.080000000000002, 4.704000000000001, 12.683999999999997, 6.635999999999998]),
    "iterated": (5.606354369867905, [3.2394186835480983, -0.7064494740854115, 11.899953957435834, 1.0587291599577286]),
    "augmented": (-38.67864, [-57.28239999999998, -3.8512, -121.09839999999997, -33.63199999999999]),
    "mapped": (0.4472240406838574, [0.5174499690794783, -0.09353790167893358, -0.13719803077889037, 0.196006795440768]),
    "summed": (10.02129664, [6.0290304, 5.7940224, 5.4354944, 5.1064832]),
    "products": (7.713717759999998, [16.397529599999995, 89.98517759999999, 10.597785599999998, 15.912652799999998]),
    "linear": (2.930795952225739, [2.2533815287544288, 1.9821079614394082, 3.4697068382159997, 1.7880225422400002]),
    "along_axis": (
        0.026820503315999993,
        [0.017570710079999996, -0.00011809799999999999, 0.12363466751999999, 0.0005662310400000003],
    ),
    "windows": (24.937000000000005, [3.0859999999999994, -0.17999999999999997, 36.245, 12.672000000000002]),
    "in_dims": (2.8882959999999995, [16.315599999999996, -1.4851104, 0.7251599999999997, 1.3923071999999996]),
    "largest": (19.86, [4.8, 0.0, 10.2, 1.8]),
    "selected": (9.095694327848294, [2.7137527074704764, -0.8999999999999999, 4.520116922736547, 1.8918246976412703]),
    "solved": (
        0.09202706818175464,
        [-0.013594879850726889, -0.22152091197744833, 0.24692138627114027, -0.11514143830154322],
    ),
    "adam": (0.6772921163523576, [0.14427661482634038, -0.10417739227698501, 0.0, 0.0]),
    "meta": (3.052407865251023, [2.14483753417063, 1.1162100156918902, 0.6926221852537604, -0.2962523305284395]),
    "powers": (3.7129300000000014, 14.280500000000002),
    "counted": (58.5, 45.0),
    "branched": (1.9999999999999998, 0.0),
    "cube_root": (1.1911384251964328, 0.6108402180494527),
    "filled": (396.21737594, [0.6588343999999997, 6.4550904, 495.0411264, 206.1097472]),
}
