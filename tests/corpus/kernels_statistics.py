"""Kernels from statistics and learning: likelihoods, clusterings, sequence models, networks."""

import math

import numpy as np

from .program import Collection, definite, normal, uniform

PROGRAMS = Collection("kernel statistics")
program = PROGRAMS.program


@program(args=lambda: (normal(3), normal(6, 3, seed=1), (normal(6, seed=2) > 0.0) * 1.0), tags="matmul reduction")
def logistic_regression(w, x, y):
    """Negative log likelihood of binary outcomes, with a small penalty."""
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.01 * np.sum(w * w)


@program(
    args=lambda: (normal(2), normal(2, 2, seed=1), 0.3 * normal(2, 2, seed=2), normal(5, 2, seed=3)),
    wrt=(0, 1, 2),
    tags="for inplace",
)
def gaussian_mixture(scores, means, log_scales, data):
    """Log likelihood of a mixture of normal distributions with diagonal covariance."""
    n, dims = data.shape
    k = len(scores)
    top = np.max(scores)
    log_weights = scores - top - np.log(np.sum(np.exp(scores - top)))
    total = 0.0
    terms = np.zeros(k)
    for i in range(n):
        for c in range(k):
            value = log_weights[c] - 0.5 * dims * math.log(2.0 * math.pi)
            for d in range(dims):
                z = (data[i, d] - means[c, d]) * math.exp(-log_scales[c, d])
                value -= log_scales[c, d] + 0.5 * z * z
            terms[c] = value
        largest = np.max(terms)
        total += largest + math.log(np.sum(np.exp(terms - largest)))
    for c in range(k):
        for d in range(dims):
            total -= 0.5 * math.exp(-2.0 * log_scales[c, d]) + 0.1 * log_scales[c, d]
    return total


@program(
    args=lambda: (
        {"w": 0.5 * normal(3, 3), "u": normal(3, 2, seed=1), "b": normal(3, seed=2), "v": normal(3, seed=3)},
        normal(5, 2, seed=4),
        normal(5, seed=5),
    ),
    wrt=(0, 1),
    tags="for rows zip dict matmul",
)
def recurrent_network(params, inputs, targets):
    """Squared error of a recurrent network over a sequence."""
    w, u, b, v = params["w"], params["u"], params["b"], params["v"]
    h = np.zeros(3)
    loss = 0.0
    for x, target in zip(inputs, targets):
        h = np.tanh(w @ h + u @ x + b)
        error = v @ h - target
        loss += 0.5 * error * error
    return loss / len(targets)


@program(
    args=lambda: (normal(3), normal(3, 3, seed=1), normal(3, 4, seed=2), np.array([0, 3, 1, 1, 2])),
    wrt=(0, 1, 2),
    tags="for nested inplace gather",
)
def hidden_markov(start, transition, emission, observed):
    """Log probability of observations by the scaled forward algorithm."""
    states = len(start)
    first = np.exp(start) / np.sum(np.exp(start))
    step = np.exp(transition)
    show = np.exp(emission)
    for s in range(states):
        step[s] /= np.sum(step[s])
        show[s] /= np.sum(show[s])
    alpha = first * show[:, observed[0]]
    total = np.sum(alpha)
    alpha = alpha / total
    log_probability = math.log(total)
    for t in range(1, len(observed)):
        following = np.zeros(states)
        for s in range(states):
            for r in range(states):
                following[s] += alpha[r] * step[r, s]
            following[s] *= show[s, observed[t]]
        total = np.sum(following)
        log_probability += math.log(total)
        alpha = following / total
    return log_probability


@program(args=lambda: (normal(2, 2), normal(6, 2, seed=1)), wrt=(0, 1), tags="for nested if min")
def k_means_cost(centres, points):
    """Sum of squared distances from each point to the nearest centre."""
    cost = 0.0
    for i in range(points.shape[0]):
        nearest = math.inf
        for c in range(centres.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                gap = points[i, d] - centres[c, d]
                distance += gap * gap
            if distance < nearest:
                nearest = distance
        cost += nearest
    return cost / points.shape[0]


@program(
    args=lambda: (
        np.array([0.1, 0.3, 0.2]),
        uniform(0.0, 2.0, 5, seed=1),
        normal(5, seed=2),
        uniform(0.0, 2.0, 2, seed=3),
    ),
    wrt=(0, 1, 2),
    tags="for nested cholesky inplace",
)
def gaussian_process(log_params, x, y, at):
    """Log marginal likelihood of a Gaussian process and its prediction."""
    amplitude = np.exp(2.0 * log_params[0])
    length = np.exp(log_params[1])
    noise = np.exp(2.0 * log_params[2])
    n = len(x)
    k = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            d = (x[i] - x[j]) / length
            k[i, j] = amplitude * math.exp(-0.5 * d * d)
            k[j, i] = k[i, j]
        k[i, i] += noise
    low = np.linalg.cholesky(k)
    z = np.linalg.solve(low, y)
    weights = np.linalg.solve(low.T, z)
    evidence = -0.5 * np.sum(z * z) - np.sum(np.log(np.diag(low)))
    evidence -= 0.5 * n * np.log(2.0 * np.pi)
    cross = amplitude * np.exp(-0.5 * ((at[:, None] - x) / length) ** 2)
    return evidence, cross @ weights


@program(args=lambda: (normal(5), normal(4, seed=1), 0.5), wrt=(0, 1, 2), tags="for nested inplace softmin")
def soft_time_warping(x, y, gamma):
    """Soft dynamic time warping: the smallest path cost with a soft minimum."""
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), 1e10)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            a, b, c = table[i - 1, j - 1], table[i - 1, j], table[i, j - 1]
            low = min(a, b, c)
            weight = math.exp((low - a) / gamma) + math.exp((low - b) / gamma)
            weight += math.exp((low - c) / gamma)
            gap = x[i - 1] - y[j - 1]
            table[i, j] = gap * gap + low - gamma * math.log(weight)
    return table[n, m]


@program(args=lambda: (normal(5), normal(4, seed=1)), wrt=(0, 1), tags="for nested if inplace")
def time_warping(x, y):
    """Dynamic time warping with two rows, hard choices and a window around the diagonal."""
    n, m = len(x), len(y)
    window = 3
    previous = np.full(m + 1, np.inf)
    current = np.full(m + 1, np.inf)
    previous[0] = 0.0
    for i in range(n):
        current[0] = np.inf
        for j in range(1, m + 1):
            if abs(i - j) > window:
                current[j] = np.inf
                continue
            cost = abs(x[i] - y[j - 1])
            best = previous[j - 1]
            if previous[j] < best:
                best = previous[j]
            if current[j - 1] < best:
                best = current[j - 1]
            current[j] = cost + best
        previous, current = current, previous
    return previous[m]


@program(
    args=lambda: (
        [(normal(3, 4), normal(4, seed=1)), (normal(4, 3, seed=2), normal(3, seed=3))],
        normal(5, 3, seed=4),
        np.array([0, 2, 1, 1, 0]),
    ),
    tags="for list matmul gather",
)
def classifier(layers, x, labels):
    """Cross entropy of a network with one hidden layer."""
    h = x
    for k, (w, b) in enumerate(layers):
        h = h @ w + b
        if k < len(layers) - 1:
            h = np.maximum(h, 0.0) + 0.01 * h
    shifted = h - np.max(h, axis=1)[:, None]
    log_norm = np.log(np.sum(np.exp(shifted), axis=1))
    loss = 0.0
    for i in range(len(labels)):
        loss += log_norm[i] - shifted[i, labels[i]]
    penalty = sum(np.sum(w * w) for w, _ in layers)
    return loss / len(labels) + 1e-3 * penalty


@program(
    args=lambda: (np.array([0.2, -0.3]), normal(6, 2, seed=1), np.array([1, 0, 2, 1, 3, 0])),
    wrt=(0, 1),
    tags="while solve break",
)
def poisson_fit(start, x, counts):
    """Newton's method for a Poisson regression, until the step is small; the fitted deviance."""
    beta = start
    trips = 0
    while trips < 30:
        rate = np.exp(x @ beta)
        score = x.T @ (counts - rate) - 0.5 * beta
        information = x.T @ (x * rate[:, None]) + 0.5 * np.eye(2)
        step = np.linalg.solve(information, score)
        beta = beta + step
        trips += 1
        if np.sum(step * step) < 1e-18:
            break
    eta = x @ beta
    return np.sum(np.exp(eta) - counts * eta) + 0.25 * np.sum(beta * beta)


@program(args=lambda: (normal(4, 2), definite(2, seed=1), normal(2, seed=2)), wrt=(0, 1, 2), tags="for rows inplace")
def running_moments(data, prior_scale, prior_mean):
    """Welford's mean and covariance, then the Mahalanobis distance of the last point."""
    count = 2.0
    mean = prior_mean.copy()
    scatter = prior_scale.copy()
    for row in data:
        count += 1.0
        before = row - mean
        mean += before / count
        after = row - mean
        for i in range(len(mean)):
            for j in range(len(mean)):
                scatter[i, j] += before[i] * after[j]
    covariance = 0.5 * (scatter + scatter.T) / (count - 1.0)
    gap = data[-1] - mean
    return gap @ np.linalg.solve(covariance, gap) + np.log(np.linalg.det(covariance))


@program(
    args=lambda: (normal(5), normal(7, 5, seed=1), np.sign(normal(7, seed=2)), 0.3),
    wrt=(0, 1, 3),
    tags="for rows minmax",
)
def support_vectors(w, x, y, decay):
    """The loss of a support vector machine after one step of subgradient descent (Pegasos)."""
    rate = 0.5
    for i in range(len(x)):
        margin = 0.0
        for k in range(len(w)):
            margin += w[k] * x[i, k]
        w = (1.0 - rate * decay) * w
        if y[i] * margin < 1.0:
            w = w + rate * y[i] * x[i]
    loss = 0.5 * decay * np.sum(w * w)
    for i in range(len(x)):
        margin = 0.0
        for k in range(len(w)):
            margin += w[k] * x[i, k]
        loss += max(0.0, 1.0 - y[i] * margin) / len(x)
    return loss
