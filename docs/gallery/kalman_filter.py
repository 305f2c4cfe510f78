"""A Kalman filter: estimate the noise of a moving object and of its sensor by maximum likelihood.

The filter is a loop that carries a mean and a covariance. The likelihood of all measurements comes out of it,
and reverse mode gives its gradient in the two noise levels. The test compares the likelihood with the density of the
joint normal distribution of all measurements, which needs no filter.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp

STEP = np.array([[1.0, 1.0], [0.0, 1.0]])  # position and velocity, one second later
PUSH = np.array([0.5, 1.0])  # what a random acceleration adds to them
TRUTH = np.log([0.3, 2.0])  # acceleration (m/s^2), sensor (m): standard deviations


def filtered(theta, measured):
    """Estimated positions, and the negative log likelihood of the measurements."""
    q, r = np.exp(2.0 * theta[0]), np.exp(2.0 * theta[1])
    mean, covariance = np.zeros(2), np.diag(np.array([100.0, 10.0]))
    positions = np.zeros(len(measured))
    total = 0.0
    for k in range(len(measured)):
        mean = STEP @ mean
        covariance = STEP @ covariance @ STEP.T + q * np.outer(PUSH, PUSH)
        surprise = measured[k] - mean[0]
        variance = covariance[0, 0] + r
        gain = covariance[:, 0] / variance
        total += 0.5 * (np.log(2.0 * np.pi * variance) + surprise**2 / variance)
        mean = mean + gain * surprise
        covariance = covariance - np.outer(gain, covariance[0])
        positions[k] = mean[0]
    return positions, total


def negative_log_likelihood(theta, measured):
    return filtered(theta, measured)[1]


def main(steps=100):
    rng = np.random.default_rng(5)
    state, true = np.array([0.0, 1.0]), np.zeros(steps)
    for k in range(steps):
        state = STEP @ state + PUSH * np.exp(TRUTH[0]) * rng.normal()
        true[k] = state[0]
    measured = true + np.exp(TRUTH[1]) * rng.normal(size=steps)
    objective = tp.jit(tp.value_and_grad(negative_log_likelihood))
    fit = minimize(objective, np.zeros(2), (measured,), jac=True, method="BFGS")
    value, gradient = objective(TRUTH, measured)
    positions = filtered(fit.x, measured)[0]
    print("acceleration {:.2f} m/s^2, sensor {:.2f} m (true: {:.2f}, {:.2f})".format(*np.exp(fit.x), *np.exp(TRUTH)))
    errors = [np.sqrt(np.mean((p - true) ** 2)) for p in (measured, positions)]
    print("error of the sensor {:.2f} m, of the filter {:.2f} m".format(*errors))
    found = {"true": true, "measured": measured, "positions": positions, "errors": errors}
    return {**found, "fitted": fit.x, "value": value, "gradient": gradient}


def draw(result):
    figure, axes = plt.subplots()
    drift = result["true"]
    axes.plot(result["measured"] - drift, ".", label="sensor")
    axes.plot(result["positions"] - drift, label="filter")
    axes.axhline(0.0, color="gray", linewidth=0.8)
    axes.set(xlabel="seconds", ylabel="error of the position, m")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("kalman_filter.png")
