"""Estimate the volatility of returns: GARCH(1, 1) by maximum likelihood, with standard errors.

The variance of each day depends on the day before, so the likelihood is a loop that carries it.
The gradient drives the fit; the Hessian at the optimum gives the standard errors.
"""

import numpy as np
from scipy.optimize import minimize

import transpile as tp

TRUTH = np.array([0.05, 0.09, 0.88])  # omega, alpha, beta


def negative_log_likelihood(p, returns):
    """Mean negative log-likelihood of Gaussian returns, without its constant."""
    omega, alpha, beta = p[0], p[1], p[2]
    variance = np.mean(returns * returns)
    total = 0.0
    for r in returns:
        total += 0.5 * (np.log(variance) + r * r / variance)
        variance = omega + alpha * r * r + beta * variance
    return total / len(returns)


def simulate(p, days, rng):
    """Daily returns in percent."""
    omega, alpha, beta = p
    returns = np.empty(days)
    variance = omega / (1.0 - alpha - beta)
    for k in range(days):
        returns[k] = np.sqrt(variance) * rng.normal()
        variance = omega + alpha * returns[k] ** 2 + beta * variance
    return returns


def main(days=6000):
    returns = simulate(TRUTH, days, np.random.default_rng(2))

    objective = tp.jit(tp.value_and_grad(negative_log_likelihood))
    bounds = [(1e-6, None), (1e-6, 1.0), (1e-6, 1.0)]
    start = np.array([0.2, 0.1, 0.7])
    fit = minimize(objective, start, (returns,), jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-10)

    curvature = tp.hessian(negative_log_likelihood)(fit.x, returns)
    errors = np.sqrt(np.diag(np.linalg.inv(curvature)) / days)

    print(f"{days} days, {fit.nfev} gradients")
    for k, name in enumerate(["omega", "alpha", "beta"]):
        print(f"{name:>5} = {fit.x[k]:.4f} ± {errors[k]:.4f}   (true {TRUTH[k]:.4f})")
    return {"fitted": fit.x, "errors": errors, "truth": TRUTH}


if __name__ == "__main__":
    main()
