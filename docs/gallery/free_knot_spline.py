"""A spline with free knots: let the gradient move the places where a curve bends.

For given knots the best coefficients are a least squares problem. What is left over is a function of the knots alone, and its
derivative goes through the solution (`np.linalg.solve`) as through any other operation: variable projection. The data
have two bends whose places are known.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp

TRUTH = np.array([0.3, 0.72])


def basis(knots, x):
    """Columns: 1, x, and the part of x beyond each knot."""
    bends = np.maximum(x[:, None] - knots[None, :], 0.0)
    return np.concatenate([np.ones((len(x), 1)), x[:, None], bends], axis=1)


def coefficients(knots, x, y):
    columns = basis(knots, x)
    ridge = 1e-9 * np.eye(columns.shape[1])
    return np.linalg.solve(columns.T @ columns + ridge, columns.T @ y)


def left_over(knots, x, y):
    """The sum of squares that the best spline with these knots leaves."""
    return np.sum((basis(knots, x) @ coefficients(knots, x, y) - y) ** 2)


def main(count=300):
    rng = np.random.default_rng(6)
    x = np.sort(rng.uniform(0.0, 1.0, count))
    clean = basis(TRUTH, x) @ np.array([0.2, 1.5, -3.0, 4.0])
    y = clean + 0.02 * rng.normal(size=count)
    start = np.array([0.15, 0.5])
    objective = tp.value_and_grad(left_over)
    fit = minimize(objective, start, (x, y), jac=True, method="L-BFGS-B", bounds=[(0.02, 0.98)] * 2)
    noise = np.sqrt(fit.fun / (count - 6))
    print("knots {:.3f} and {:.3f} (true {:.3f} and {:.3f})".format(*fit.x, *TRUTH))
    print(f"{fit.nfev} gradients; noise {noise:.4f} (true 0.02)")
    found = {"x": x, "y": y, "start": start, "knots": fit.x, "noise": noise}
    return {**found, "gradient": objective(start, x, y)[1]}


def draw(result):
    figure, axes = plt.subplots()
    x, y = result["x"], result["y"]
    axes.plot(x, y, ".", markersize=3, color="gray", label="data")
    for name, knots in (("first knots", result["start"]), ("free knots", result["knots"])):
        (line,) = axes.plot(x, basis(knots, x) @ coefficients(knots, x, y), label=name)
        for knot in knots:
            axes.axvline(knot, linestyle=":", color=line.get_color())
    axes.set(xlabel="x", ylabel="y")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("free_knot_spline.png")
