"""Per-example gradients: error bars of a logistic regression that trust no model.

`vmap(grad(f))` is the gradient of each example by itself, all of them in one batched function. Their outer products give the
robust ("sandwich") covariance of the estimate, beside the usual one from the Hessian. For logistic regression each
gradient is known in closed form, with which the test compares them.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp


def example_loss(w, x, y):
    """The negative log likelihood of one outcome, 0 or 1."""
    z = x @ w
    return np.logaddexp(0.0, z) - y * z


def loss(w, x, y):
    return np.sum(tp.vmap(example_loss, in_axes=(None, 0, 0))(w, x, y))


def main(count=2000):
    rng = np.random.default_rng(4)
    true = np.array([-0.5, 1.0, -2.0, 0.0])
    x = np.column_stack([np.ones(count), rng.normal(size=(count, 3))])
    hidden = x @ true + 1.5 * x[:, 1] * rng.normal(size=count)  # what the model does not know of
    y = 1.0 * (rng.uniform(size=count) < 1.0 / (1.0 + np.exp(-hidden)))

    fit = minimize(tp.value_and_grad(loss), np.zeros(4), (x, y), jac=True, method="BFGS", options={"gtol": 1e-6})
    each = tp.vmap(tp.grad(example_loss), in_axes=(None, 0, 0))(fit.x, x, y)
    inverse = np.linalg.inv(tp.hessian(loss)(fit.x, x, y))
    usual = np.sqrt(np.diag(inverse))
    robust = np.sqrt(np.diag(inverse @ (each.T @ each) @ inverse))
    print("weight  estimate  usual error  robust error")
    for k in range(4):
        print(f"{k:6} {fit.x[k]:9.3f} {usual[k]:12.3f} {robust[k]:13.3f}")
    return {"x": x, "y": y, "w": fit.x, "each": each, "usual": usual, "robust": robust}


def draw(result):
    figure, axes = plt.subplots()
    k = np.arange(4)
    axes.errorbar(k - 0.07, result["w"], 2 * result["usual"], fmt="o", capsize=4, label="usual")
    axes.errorbar(k + 0.07, result["w"], 2 * result["robust"], fmt="s", capsize=4, label="robust")
    axes.axhline(0.0, color="gray", linewidth=0.8)
    axes.set(xlabel="weight", ylabel="estimate, two standard errors", xticks=k)
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("per_example_gradients.png")
