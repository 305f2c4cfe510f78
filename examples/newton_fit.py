"""Fit a solar cell's parameters when the model is an equation without a closed form.

The single-diode model gives the current only implicitly,

    i = photo - sat * (exp((v + i * rs) / a) - 1),

so each evaluation solves it with Newton's method, in a `while` loop whose trip count depends on
the data. The gradient runs that loop backwards.
"""

import numpy as np
from scipy.optimize import minimize

import transpile as tp

# Photo current (A), log of the saturation current (A), series resistance (ohm), n k T / q (V).
TRUTH = np.array([0.76, np.log(3.2e-7), 0.036, 0.039])
# The optimiser sees each parameter as a multiple of its unit.
UNIT = np.array([1.0, 1.0, 0.01, 0.01])


def current(p, v):
    """The current of the cell at voltage v, by Newton's method from the photo current."""
    photo, sat, rs, a = p[0], np.exp(p[1]), p[2], p[3]
    i = photo
    step = 1.0
    while abs(step) > 1e-13:
        diode = sat * np.exp((v + i * rs) / a)
        step = (photo + sat - diode - i) / (1.0 + diode * rs / a)
        i += step
    return i


def misfit(q, voltage, measured, sigma):
    """Half the sum of squared errors, in units of the noise."""
    p = q * UNIT
    total = 0.0
    for k in range(len(voltage)):
        error = (current(p, voltage[k]) - measured[k]) / sigma
        total += 0.5 * error * error
    return total


def main():
    rng = np.random.default_rng(1)
    sigma = 2e-4
    voltage = np.linspace(-0.2, 0.59, 80)
    exact = np.array([current(TRUTH, v) for v in voltage])
    measured = exact + sigma * rng.normal(size=voltage.shape)

    start = np.array([0.8, -14.0, 0.03, 0.042]) / UNIT
    objective = tp.jit(tp.value_and_grad(misfit))
    fit = minimize(objective, start, args=(voltage, measured, sigma), jac=True, method="BFGS")
    fitted = fit.x * UNIT

    print(f"misfit {fit.fun:.1f} for {len(voltage)} points, after {fit.nfev} gradients")
    for name, value, true in zip(["photo", "log sat", "rs", "a"], fitted, TRUTH, strict=True):
        print(f"{name:>8} = {value:9.4f}   (true {true:9.4f})")
    return {"fitted": fitted, "truth": TRUTH, "misfit": float(fit.fun), "points": len(voltage)}


if __name__ == "__main__":
    main()
