"""How does the outcome of an epidemic depend on its rates?

The SIR equations are integrated with an adaptive step (Bogacki and Shampine's pair of orders 3
and 2), steps that are too inaccurate are rejected and tried again, and reverse mode runs through
all of it. The share s that is never infected satisfies s = s0 * exp(-r0 * (1 - s)) where r0 is
beta / gamma, which gives exact sensitivities to compare with.
"""

import numpy as np

import transpile as tp


def rates(y, beta, gamma):
    """Time derivatives of the susceptible and the infected share."""
    infections = beta * y[0] * y[1]
    return np.array([-infections, infections - gamma * y[1]])


def never_infected(beta, gamma, y0, end, tolerance):
    """The susceptible share at time `end`; with it, the number of steps accepted and rejected."""
    t = 0.0
    h = 10.0
    y = y0
    accepted = 0
    rejected = 0
    while t < end:
        h = min(h, end - t)
        k1 = rates(y, beta, gamma)
        k2 = rates(y + h / 2 * k1, beta, gamma)
        k3 = rates(y + 3 * h / 4 * k2, beta, gamma)
        proposal = y + h / 9 * (2 * k1 + 3 * k2 + 4 * k3)
        k4 = rates(proposal, beta, gamma)
        defect = h / 72 * (-5 * k1 + 6 * k2 + 8 * k3 - 9 * k4)
        error = np.sqrt(np.sum(defect**2)) / tolerance
        if error <= 1.0:
            t += h
            y = proposal
            accepted += 1
        else:
            rejected += 1
        h *= min(5.0, max(0.2, 0.9 * (error + 1e-10) ** (-1 / 3)))
    return y[0], (accepted, rejected)


def exact_sensitivities(s, beta, gamma):
    """d s / d beta and d s / d gamma, from the equation that s satisfies."""
    r0 = beta / gamma
    by_r0 = -(1 - s) / (1 / s - r0)
    return by_r0 / gamma, -by_r0 * beta / gamma**2


def main():
    beta, gamma = 0.5, 0.2
    y0 = np.array([0.999, 0.001])
    solve = tp.value_and_grad(never_infected, argnums=(0, 1), has_aux=True)
    (s, (accepted, rejected)), sensitivities = solve(beta, gamma, y0, 400.0, 1e-9)
    exact = exact_sensitivities(s, beta, gamma)

    print(f"{s:.4%} are never infected ({accepted} steps accepted, {rejected} rejected)")
    for name, value, other in zip(["beta", "gamma"], sensitivities, exact, strict=True):
        print(f"d s / d {name:5} = {value:+.7f}   (exact {other:+.7f})")
    return {"s": s, "sensitivities": sensitivities, "exact": exact, "rejected": rejected}


if __name__ == "__main__":
    main()
