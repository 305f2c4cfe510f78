"""Inverse heat conduction: find the heat that enters a wall from a thermometer inside it.

The temperature is stepped implicitly, one tridiagonal solve a step, written as a loop over the points. The heat flux of
every step is unknown, and one reverse sweep gives the derivative in all of them. The problem is ill-posed, so a
penalty keeps the flux smooth. It is linear: the test solves the normal equations and must find the same flux.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp

RATIO = 2.0  # diffusivity * dt / dx**2


def readings(flux, points, sensor):
    """Temperature at the sensor after each step; `flux` enters on the left, the right end stays at zero."""
    u = np.zeros(points)
    found = np.zeros(len(flux))
    upper = np.zeros(points)
    for k in range(len(flux)):
        u[0] += 2.0 * RATIO * flux[k]
        upper[0] = -2.0 * RATIO / (1.0 + 2.0 * RATIO)
        u[0] /= 1.0 + 2.0 * RATIO
        for i in range(1, points - 1):
            pivot = 1.0 + 2.0 * RATIO + RATIO * upper[i - 1]
            upper[i] = -RATIO / pivot
            u[i] = (u[i] + RATIO * u[i - 1]) / pivot
        u[points - 1] = 0.0
        for i in range(points - 2, -1, -1):
            u[i] -= upper[i] * u[i + 1]
        found[k] = u[sensor]
    return found


def cost(flux, measured, points, sensor, penalty):
    miss = readings(flux, points, sensor) - measured
    return np.sum(miss**2) + penalty * np.sum(np.diff(flux, 2) ** 2)


def main(steps=60, points=15, sensor=4, penalty=1e-2):
    t = np.linspace(0.0, 1.0, steps)
    true = np.where((t > 0.2) & (t < 0.6), np.sin(np.pi * (t - 0.2) / 0.4), 0.0)
    noise = 0.01 * np.random.default_rng(0).normal(size=steps)
    measured = readings(true, points, sensor) + noise
    problem = (measured, points, sensor, penalty)
    objective = tp.jit(tp.value_and_grad(cost))
    options = {"maxiter": 2000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 30}
    fit = minimize(objective, np.zeros(steps), problem, jac=True, method="L-BFGS-B", options=options)
    error = np.sqrt(np.mean((fit.x - true) ** 2))
    print(f"{fit.nfev} gradients in {steps} unknowns; error of the flux {error:.3f} (its peak is 1)")
    return {"t": t, "true": true, "measured": measured, "flux": fit.x, "error": error, "problem": problem}


def draw(result):
    figure, axes = plt.subplots()
    axes.plot(result["t"], result["true"], "--", label="true flux")
    axes.plot(result["t"], result["flux"], label="flux found")
    axes.plot(result["t"], result["measured"] / 3.0, ".", label="thermometer, a third")
    axes.set(xlabel="time", ylabel="heat flux")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("inverse_heat.png")
