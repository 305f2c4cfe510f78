"""Pharmacokinetics: fit a drug's absorption and elimination through an adaptive ODE solver.

A dose in the gut is absorbed at the rate `ka` and eliminated from the blood at the rate `ke`. The solver
chooses its own steps: a `while` loop that rejects a step whose error is too large. Reverse mode runs
that loop backwards. For this model there is an exact solution, with which the test compares.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp

DOSE = 100.0  # mg
TRUTH = np.array([1.4, 0.25, 30.0])  # absorption (1/h), elimination (1/h), volume (l)
HOURS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0])


def rates(amount, p):
    return np.array([-p[0] * amount[0], p[0] * amount[0] - p[1] * amount[1]])


def concentrations(p, hours, tolerance):
    """mg/l in the blood at each hour, by Bogacki and Shampine's pair of orders 3 and 2."""
    amount = np.array([DOSE, 0.0])
    found = np.zeros(len(hours))
    t, step = 0.0, 0.1
    for k in range(len(hours)):
        while t < hours[k]:
            h = min(step, hours[k] - t)
            k1 = rates(amount, p)
            k2 = rates(amount + 0.5 * h * k1, p)
            k3 = rates(amount + 0.75 * h * k2, p)
            new = amount + h * (2.0 * k1 + 3.0 * k2 + 4.0 * k3) / 9.0
            k4 = rates(new, p)
            error = np.max(np.abs(h * (-5.0 * k1 + 6.0 * k2 + 8.0 * k3 - 9.0 * k4) / 72.0))
            if error <= tolerance:
                amount = new
                t = hours[k] if h == hours[k] - t else t + h
            step = h * min(3.0, max(0.3, 0.9 * (tolerance / (error + 1e-30)) ** (1.0 / 3.0)))
        found[k] = amount[1] / p[2]
    return found


def misfit(log_p, hours, measured, tolerance):
    """Sum of squared errors of the logarithms."""
    return np.sum((np.log(concentrations(np.exp(log_p), hours, tolerance)) - np.log(measured)) ** 2)


def bateman(p, t):
    """The exact concentration."""
    ka, ke, volume = p
    return DOSE * ka / (volume * (ka - ke)) * (np.exp(-ke * t) - np.exp(-ka * t))


def main(tolerance=1e-5):
    noise = np.exp(0.03 * np.random.default_rng(0).normal(size=HOURS.size))
    measured = bateman(TRUTH, HOURS) * noise
    objective = tp.jit(tp.value_and_grad(misfit))
    fit = minimize(objective, np.log([0.8, 0.4, 20.0]), (HOURS, measured, tolerance), jac=True, method="BFGS")
    fitted = np.exp(fit.x)
    print("fitted: absorption {:.3f}/h, elimination {:.3f}/h, volume {:.2f} l".format(*fitted))
    print("true:   absorption {:.3f}/h, elimination {:.3f}/h, volume {:.2f} l".format(*TRUTH))
    gradient = objective(np.log(TRUTH), HOURS, measured, tolerance)[1]
    return {"measured": measured, "fitted": fitted, "gradient": gradient}


def draw(result):
    figure, axes = plt.subplots()
    t = np.linspace(0.01, 14.0, 300)
    axes.plot(t, bateman(TRUTH, t), "--", label="true")
    axes.plot(t, bateman(result["fitted"], t), label="fitted")
    axes.plot(HOURS, result["measured"], "o", label="measured")
    axes.set(xlabel="hours after the dose", ylabel="concentration, mg/l")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("pharmacokinetics.png")
