"""A Gaussian process: learn length scale, amplitude and noise from the marginal likelihood.

The likelihood goes through a Cholesky factorisation and a triangular solve. Its gradient costs about as much as
the likelihood, whatever the number of hyperparameters. The test compares it with the textbook formula
(Rasmussen and Williams, *Gaussian Processes for Machine Learning*, equation 5.9).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

import transpile as tp


def kernel(x, y, log_scale, log_amplitude):
    """The squared exponential covariance of two sets of points."""
    distance = (x[:, None] - y[None, :]) / np.exp(log_scale)
    return np.exp(2.0 * log_amplitude) * np.exp(-0.5 * distance**2)


def negative_log_likelihood(theta, x, y):
    """``theta``: logarithms of length scale, amplitude and noise."""
    covariance = kernel(x, x, theta[0], theta[1]) + np.exp(2.0 * theta[2]) * np.eye(len(x))
    factor = np.linalg.cholesky(covariance)
    white = solve_triangular(factor, y, lower=True)
    return 0.5 * np.sum(white**2) + np.sum(np.log(np.diag(factor))) + 0.5 * len(x) * np.log(2.0 * np.pi)


def predict(theta, x, y, new):
    """Mean and standard deviation at new points."""
    covariance = kernel(x, x, theta[0], theta[1]) + np.exp(2.0 * theta[2]) * np.eye(len(x))
    across = kernel(new, x, theta[0], theta[1])
    mean = across @ np.linalg.solve(covariance, y)
    explained = np.sum(across * np.linalg.solve(covariance, across.T).T, axis=1)
    return mean, np.sqrt(np.maximum(np.exp(2.0 * theta[1]) - explained, 0.0))


def main(count=40):
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0.0, 10.0, count))
    y = np.sin(x) + 0.15 * rng.normal(size=count)
    start = np.array([1.0, 0.5, -1.0])
    objective = tp.value_and_grad(negative_log_likelihood)
    fit = minimize(objective, start, (x, y), jac=True, method="BFGS")
    scale, amplitude, noise = np.exp(fit.x)
    print(f"length scale {scale:.2f}, amplitude {amplitude:.2f}, noise {noise:.3f} (true noise 0.15)")
    print(f"{fit.nfev} gradients, negative log likelihood {fit.fun:.2f}")
    return {"x": x, "y": y, "start": start, "theta": fit.x, "gradient": objective(start, x, y)[1]}


def draw(result):
    figure, axes = plt.subplots()
    new = np.linspace(-1.0, 11.0, 300)
    mean, spread = predict(result["theta"], result["x"], result["y"], new)
    axes.fill_between(new, mean - 2 * spread, mean + 2 * spread, alpha=0.3, label="two standard deviations")
    axes.plot(new, mean, label="mean")
    axes.plot(result["x"], result["y"], "o", markersize=4, label="data")
    axes.set(xlabel="x", ylabel="y")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("gaussian_process.png")
