"""Find the initial temperature of a rod that leads to a wanted temperature later on.

The heat equation is stepped in place, `steps` times over the same array. It is linear, so the
gradient runs the steps backwards and has to record nothing, however many there are.
"""

import numpy as np
from scipy.optimize import minimize

import transpile as tp

RATIO = 0.4  # diffusivity * dt / dx**2; the scheme is stable up to 0.5
STEPS = 200
EFFORT = 1e-7


def heat(start, ratio, steps):
    """The temperature after `steps` explicit steps; the ends of the rod are held at zero."""
    u = start.copy()
    u[0] = 0.0
    u[-1] = 0.0
    for _ in range(steps):
        u[1:-1] += ratio * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return u


def cost(start, wanted, ratio, steps, effort):
    """Squared distance from the wanted temperature, plus a price on the heat put in."""
    miss = heat(start, ratio, steps) - wanted
    return np.sum(miss * miss) + effort * np.sum(start * start)


def main():
    x = np.linspace(0.0, 1.0, 101)
    bumps = np.exp(-((x - 0.3) ** 2) / 0.01) + 0.6 * np.exp(-((x - 0.7) ** 2) / 0.02)
    wanted = heat(bumps, RATIO, STEPS)

    objective = tp.jit(tp.value_and_grad(cost))
    problem = (wanted, RATIO, STEPS, EFFORT)
    options = {"maxiter": 300}
    fit = minimize(objective, np.zeros_like(x), problem, jac=True, method="L-BFGS-B", options=options)
    reached = heat(fit.x, RATIO, STEPS)
    miss = np.linalg.norm(reached - wanted) / np.linalg.norm(wanted)

    print(f"{fit.nit} iterations, {fit.nfev} gradients of {STEPS} steps each")
    print(f"the temperature is missed by {miss:.2%}")
    print(f"hottest at the start: {fit.x.max():.2f} at x = {x[np.argmax(fit.x)]:.2f}")
    return {"miss": float(miss), "start": fit.x, "bumps": bumps, "x": x}


if __name__ == "__main__":
    main()
