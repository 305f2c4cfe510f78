"""Hamiltonian Monte Carlo: sample a bent distribution along its gradient.

Each sample follows the Hamiltonian motion of a ball for some leapfrog steps, which needs the gradient of the log density. The
whole trajectory is one compiled function that calls `tp.grad` inside. The density is a banana whose moments are
known, so that the test compares the samples' moments with exact ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import transpile as tp

WIDTH = 1.0


def energy(x):
    """Minus the log density: x[0] is standard normal, x[1] normal around x[0]**2."""
    return 0.5 * x[0] ** 2 + 0.5 * ((x[1] - x[0] ** 2) / WIDTH) ** 2


@tp.jit
def trajectory(x, momentum, step, count):
    """Leapfrog steps: the new place, and how far the total energy is off."""
    slope = tp.grad(energy)
    before = energy(x) + 0.5 * np.sum(momentum**2)
    momentum = momentum - 0.5 * step * slope(x)
    for k in range(count):
        x = x + step * momentum
        scale = 0.5 if k == count - 1 else 1.0
        momentum = momentum - scale * step * slope(x)
    return x, energy(x) + 0.5 * np.sum(momentum**2) - before


def main(samples=4000, step=0.2, count=15):
    rng = np.random.default_rng(2)
    x = np.zeros(2)
    found = np.zeros((samples, 2))
    accepted = 0
    for k in range(samples):
        new, excess = trajectory(x, rng.normal(size=2), step, count)
        if np.log(rng.uniform()) < -excess:
            x, accepted = new, accepted + 1
        found[k] = x
    # of the density itself: the mean of x[0]**2 is 1, so is that of x[1]; the variance of x[1] is 2 + WIDTH**2
    exact = np.array([0.0, 1.0, 1.0, 2.0 + WIDTH**2])
    moments = np.array([*found.mean(axis=0), *found.var(axis=0)])
    print(f"accepted {accepted / samples:.0%} of {samples} proposals")
    print("means and variances", np.round(moments, 2), "exact", exact)
    return {"samples": found, "accepted": accepted / samples, "moments": moments, "exact": exact}


def draw(result):
    figure, axes = plt.subplots()
    axes.plot(*result["samples"].T, ".", markersize=2, alpha=0.5)
    x, y = np.meshgrid(np.linspace(-3.2, 3.2, 200), np.linspace(-2.0, 10.0, 200))
    axes.contour(x, y, np.exp(-energy(np.array([x, y]))), levels=[0.02, 0.1, 0.4, 0.8], colors="k", linewidths=0.8)
    axes.set(xlabel="x[0]", ylabel="x[1]", ylim=(-2.0, 10.0))
    return figure


if __name__ == "__main__":
    draw(main()).savefig("hmc.png")
