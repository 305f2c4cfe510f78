"""Programs as scientists write them: each joins several constructs of the language."""

import functools
import math

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection("everyday")
program = PROGRAMS.program


@program(args=lambda: (np.array([1.0, 0.2]), 0.3), wrt=(0, 1))
def lotka(y0, Δt):
    """Predators and prey, with Greek names and a list of states."""
    α, β, γ, δ = 1.1, 0.4, 0.4, 0.1
    y = y0.copy()
    hist = [y.copy()]
    for _ in range(5):
        prey, pred = y
        dy = np.array([α * prey - β * prey * pred, δ * prey * pred - γ * pred])
        y = y + Δt * dy
        hist.append(y)
    hist = np.stack(hist)
    return hist[-1].sum() + (hist[:, 0] ** 2).mean()


@program(args=lambda: (normal(4), 0.1), wrt=(0, 1))
def user_t(x, t):
    """The user's own t keeps its name."""
    n = len(x)
    total = 0.0
    for i in range(n):
        t = t + x[i] * t
        total += t**2
    return total / n


@program(args=lambda: (0.5, 1.2), wrt=(0, 1))
def pendulum(θ, ω, *, g=9.81, L=1.0, dt: float = 0.01, n: int = 7) -> float:
    """A clock that a while loop advances; an annotated local."""
    t = 0.0
    E0: float = 0.5 * ω**2 - g / L * math.cos(θ)
    while t < n * dt - 1e-12:
        ω += -g / L * math.sin(θ) * dt
        θ += ω * dt
        t += dt
    E = 0.5 * ω**2 - g / L * math.cos(θ)
    return E - E0 + θ


@program(
    args=lambda: (
        {"l1": {"w": normal(3, 3), "b": normal(3)}, "l2": {"w": normal(3, 3, seed=3), "b": normal(3, seed=9)}},
        normal(3, seed=4),
    )
)
def dict_items(params, x):
    """Layers in a dict of dicts."""
    for name, layer in params.items():
        x = x @ layer["w"] + layer["b"]
        if name != "l2":
            x = np.maximum(x, 0.1 * x)
    return float(np.sum(x * x))


@program(args=lambda: (normal(6), normal(6, seed=1)), wrt=(0, 1))
def nested_zip_enum(xs, ys):
    """zip inside enumerate, zip inside zip, a list turned round."""
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys), start=1):
        total += i * x * y
    for (x, y), k in zip(zip(xs, ys), range(10, 0, -2)):
        total += k * (x - y) ** 2
    for i, x in reversed(list(enumerate(xs))):
        total += i * math.sin(x)
    return total


@program(args=lambda: (normal(6), 0.3), wrt=(0, 1))
def and_or_values(x, a):
    """and, or and conditional expressions that give values."""
    b = a or 1.0
    c = (x[0] > 100 and x[1]) or x[2]
    d = None or a * 2
    e = x[0] if x[0] < x[1] < 100 else x[1] if a > 5 else x[3]
    return b * c + d * e


@program(args=lambda: (normal(5),))
def list_methods(x):
    """extend, insert, pop, reverse and index of a list."""
    a = [x[0], x[1]]
    a.extend([x[2], x[3]])
    a.insert(0, x[4])
    last = a.pop()
    first = a.pop(0)
    a += [last * 2]
    a.reverse()
    b = a[::-1] + [first]
    names = ["u", "v", "w"]
    return a[names.index("v")] * b[-1] + np.sum(np.array(b)) * len(b) + np.stack(a)[0]


@program(args=lambda: (0.4, 0.7), wrt=(0, 1))
def nonlocal_closure(x, y):
    """An inner function that counts."""
    count = 0
    acc = 0.0

    def push(v):
        nonlocal count, acc
        count += 1
        acc += v * x

    for i in range(3):
        push(y * i)
        y = y * 1.1
    push(y)
    return acc / count


@program(args=lambda: (0.4,))
def late_lambda(x):
    """Lambdas made in a loop: by default, and by name."""
    fs = []
    for k in (1.0, 2.0, 3.0):
        fs.append(lambda v, k=k: v**k + x)
    gs = [lambda v: v * k for k in (4.0, 5.0)]
    return fs[0](x) + fs[2](x) + gs[0](x)


@program(args=lambda: (normal(3), normal(3, seed=3)), wrt=(0, 1))
def odd_names(x_bar, x_dot):
    """Names that generated code uses, too."""
    lambda_ = 0.5
    _ = x_bar * 2
    n = 2.0
    t = _ * x_dot
    shape = t * n
    y_bar = shape * lambda_
    stack = y_bar**2
    tape = stack.sum()
    return tape


@program(args=lambda: (normal(3),))
def shadow_builtins(x):
    """Builtins as names."""
    sum = 0.0
    max = -1.0
    for abs in x:
        sum += abs * 2
        max = abs
    list = [sum, max]
    len = list[0]
    type = 3.0
    id = len * type
    return id * list[1]


@functools.lru_cache(maxsize=None)
def coeffs(n):
    return [1.0 / math.factorial(k) for k in range(n)]


@functools.lru_cache
def binom(n, k):
    return math.comb(n, k)


@program(args=lambda: (0.7,))
def taylor(x):
    """Coefficients from a cached function."""
    s = 0.0
    for k, c in enumerate(coeffs(6)):
        s += c * x**k
    return s + binom(5, 2) * x


@program(args=lambda: (normal(4), 0.2), wrt=(0, 1))
def carried_tree(x, lr):
    """Adam, its state in a dict."""
    state = {"m": np.zeros(4), "v": np.zeros(4), "step": 0}
    w = x.copy()
    for i in range(1, 4):
        g = 2 * w
        state["m"] = 0.9 * state["m"] + 0.1 * g
        state["v"] = 0.99 * state["v"] + 0.01 * g * g
        state["step"] += 1
        mh = state["m"] / (1 - 0.9 ** state["step"])
        vh = state["v"] / (1 - 0.99 ** state["step"])
        w = w - lr * mh / (np.sqrt(vh) + 1e-3)
    return np.sum(w**2)


@program(args=lambda: (normal(3),))
def dict_stuff(x):
    """Methods of a dict; pairs sorted by key."""
    d = {}
    d["a"] = x[0]
    d.setdefault("b", x[1])
    d.update({"c": x[2]}, e=1.0)
    s = 0.0
    for k in d:
        s += d[k] * len(k)
    for k, v in sorted(d.items()):
        s = s * 0.5 + v
    for v in d.values():
        s += v
    q = {**d, "z": 2.0}
    return s + q.pop("z") + d.get("zz", 3.0) * len(d.keys()) + ("a" in d) + ("q" not in d)
