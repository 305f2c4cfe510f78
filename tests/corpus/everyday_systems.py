"""Programs as scientists write them: small systems, with their state in objects, lists and tables."""

import math
from dataclasses import dataclass, field

import numpy as np

from .program import Collection, normal, positive

PROGRAMS = Collection("everyday")
program = PROGRAMS.program


@dataclass
class Body:
    m: float
    r: np.ndarray
    v: np.ndarray
    trail: list = field(default_factory=list)

    def drift(self, dt):
        self.r += dt * self.v

    def kick(self, f, dt):
        self.v = self.v + dt * f / self.m


@program(args=lambda: (normal(3, 2), normal(3, 2, seed=3), positive(3)), wrt=(0, 1, 2))
def nbody(r, v, m):
    """Bodies as dataclasses in a list, moved in place."""
    bodies = [Body(m[i], r[i].copy(), v[i].copy()) for i in range(3)]
    for step in range(3):
        for i, a in enumerate(bodies):
            f = np.zeros(2)
            for j, b in enumerate(bodies):
                if i == j:
                    continue
                d = b.r - a.r
                f += a.m * b.m * d / (np.sum(d**2) + 0.1) ** 1.5
            a.kick(f, 0.01)
        for b in bodies:
            b.drift(0.01)
            b.trail.append(b.r[0])
    ke = sum(0.5 * b.m * b.v @ b.v for b in bodies)
    return ke + bodies[0].trail[1] * bodies[2].trail[-1]


@program(args=lambda: (normal(3), normal(3)), wrt=(0, 1))
def param_lists(x, y):
    """Parameters in a list, updated together."""
    params = [x, y]
    names = ("x", "y")
    grads = [np.cos(q) for q in params]
    new = [q - 0.1 * g for q, g in zip(params, grads)]
    params[:] = new
    params[0][0] = 5.0 * y[1]
    loss = 0.0
    for n, q, k in zip(names, params, [1.0, 2.0]):
        if n == "y":
            loss += k * np.sum(q**2)
        else:
            loss += k * np.prod(q)
    return loss + np.sum(new[0])


@program(args=lambda: (normal(3),))
def lists_2d(x):
    """A matrix as a list of lists."""
    M_ = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            M_[i][j] = x[i] * x[j] + (i == j)
    M_[0], M_[2] = M_[2], M_[0]
    M_[1][1] += 2.0
    t = [list(r) for r in zip(*M_)]
    a = np.array(M_)
    return np.linalg.det(a) + t[0][1] * M_[1][2] + sum(map(sum, M_)) + len(M_[0])


@program(args=lambda: (normal(3),))
def shared_row_list(x):
    """One row, twice in a list."""
    row = [0.0, x[0]]
    M_ = [row] * 2
    M_[0][0] = x[1]
    M_[1][1] *= 3.0
    return M_[0][0] * M_[0][1] + M_[1][0] + row[1]


@program(args=lambda: (0.8, 1.4), wrt=(0, 1))
def ode_event(v0, g):
    """A ball that bounces: events inside a step."""
    y, v, t, bounces = 1.0, v0, 0.0, 0
    while t < 1.0:
        dt = 0.05
        yn = y + v * dt - 0.5 * g * dt**2
        if yn < 0:
            disc = math.sqrt(v * v + 2 * g * y)
            tau = (v + disc) / g
            v = -0.8 * (v - g * tau)
            y = 0.0
            t += tau
            bounces += 1
            if bounces > 3:
                break
        else:
            y, v, t = yn, v - g * dt, t + dt
    return y + v * v


@program(args=lambda: (normal(7),))
def spline(y):
    """A tridiagonal solve, backwards in the end."""
    n = len(y)
    h = 0.5
    a = np.zeros(n)
    b = np.ones(n)
    c = np.zeros(n)
    d = np.zeros(n)
    for i in range(1, n - 1):
        a[i], b[i], c[i] = h / 6, 2 * h / 3, h / 6
        d[i] = (y[i + 1] - 2 * y[i] + y[i - 1]) / h
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    m = np.empty_like(d)
    m[-1] = d[-1] / b[-1]
    for i in reversed(range(n - 1)):
        m[i] = (d[i] - c[i] * m[i + 1]) / b[i]
    return np.sum(m**2)


@program(args=lambda: (normal(4),))
def nonlocal_array(x):
    """An inner function that writes into an array and a number."""
    buf = np.zeros(4)
    best = x[0]

    def put(i, v):
        nonlocal best
        buf[i] = v
        if v > best:
            best = v

    for i in range(4):
        put(i, x[i] ** 2)
    buf2 = buf
    buf = buf * 2
    put(0, x[1])
    return np.sum(buf) + best + buf2[0]


@program(args=lambda: (normal(5), 0.3), wrt=(0, 1))
def kwargs_pipeline(x, lam):
    """Functions with their keywords, in a list."""

    def prox(v, *, lam=1.0, **_):
        return np.sign(v) * np.maximum(np.abs(v) - lam, 0)

    def ridge(v, lam=1.0, scale=2.0):
        return v / (1 + lam * scale)

    steps = [(prox, {"lam": lam, "unused": 1}), (ridge, dict(lam=lam**2)), (ridge, {})]
    for f, kw in steps:
        x = f(x, **kw)
    return x @ x


@program(args=lambda: (normal(12),))
def hmm_forward(theta):
    """The forward algorithm."""
    A = np.exp(theta[:9]).reshape(3, 3)
    A /= A.sum(axis=1, keepdims=True)
    obs = [0, 1, 1, 0]
    e = 1 / (1 + np.exp(-theta[9:]))
    alpha = np.ones(3) / 3
    ll = 0.0
    for o in obs:
        like = e if o else 1 - e
        alpha = (alpha @ A) * like
        c = alpha.sum()
        ll += math.log(c)
        alpha = alpha / c
    return ll


@program(args=lambda: (normal(6),))
def dtw(x):
    """Dynamic programming over a table."""
    y = np.array([0.1, -0.2, 0.4])
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


@program(args=lambda: (0.3, 0.02, 0.25), wrt=(0, 1, 2))
def binom_tree(S0_, r, sigma):
    """An American option on a tree, in a list."""
    S0, K, T, N = S0_ * 100, 35.0, 1.0, 6
    dt = T / N
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    q = (math.exp(r * dt) - d) / (u - d)
    V = [max(K - S0 * u**j * d ** (N - j), 0.0) for j in range(N + 1)]
    for i in range(N - 1, -1, -1):
        for j in range(i + 1):
            hold = math.exp(-r * dt) * (q * V[j + 1] + (1 - q) * V[j])
            V[j] = max(hold, K - S0 * u**j * d ** (i - j))
    return V[0]


@program(args=lambda: (normal(4),))
def tuple_state_while(x):
    """A state of nested tuples."""
    a, b, k = x[0], x[1], 0
    (p_, q), r = (a, b), [x[2], x[3]]
    while k < 4:
        (a, b), k = (b, a + 0.5 * b), k + 1
        r[0], r[1] = r[1], r[0] * a
        p_, *rest = (q, p_ + a, 1.0)
        q = rest[0] * rest[-1]
    return a * b + r[0] * r[1] + p_ + q


@program(args=lambda: (normal(3, 3),))
def power_iter(A):
    """A loop that only a break leaves."""
    M_ = A @ A.T + np.eye(3)
    v = np.ones(3)
    lam, it = 0.0, 0
    while True:
        w = M_ @ v
        new = np.linalg.norm(w)
        v = w / new
        it += 1
        if abs(new - lam) < 1e-10 or it >= 200:
            break
        lam = new
    else:
        raise RuntimeError("never")
    return new + v @ M_ @ v


@program(args=lambda: (normal(5),))
def scan_like(x):
    """A scan written by hand, with a function as its argument."""

    def scan(f, c, xs):
        ys = []
        for v in xs:
            c, y = f(c, v)
            ys.append(y)
        return c, np.stack(ys)

    c, ys = scan(lambda c, v: (c * 0.5 + v, np.array([c, v * c])), 1.0, x)
    return c * np.sum(ys**2)


@program(args=lambda: (normal(4), normal(4, seed=3)), wrt=(0, 1))
def max_key(x, y):
    """max and min with a key."""
    a = max([x[0], x[1], x[2]], key=lambda v: -v * v)
    b = min((x, y), key=lambda v: v[0])
    c = max(range(3), key=lambda k: k % 2)
    d = min(x[0], x[3], key=abs)
    return a * np.sum(b**2) + c + d


@program(args=lambda: (normal(3), 7))
def formats(x, n):
    """Text made by percent and by format, of numbers that only the run knows."""
    print("%.3f and %d" % (x[0], 3), "%s" % x[1], "%5d|%-6.2f|%%|%08.3f|%+g" % (n, x[0], x[1], x[2]))
    print("{:.3f} {} {k!r:>8} {{}}".format(x[0], n, k=x[1]), "a,b".split(sep=","))
    if x[0] > 1e9:
        raise ValueError("x = %g is too large" % x[0])
    return x[0] * 2.0
