"""The Potts model: energy and heat capacity as derivatives of the partition function.

Spins of `q` colours sit on a torus; equal neighbours have the energy -1. The partition function is the trace of a power
of the transfer matrix. Its logarithm has the mean energy as its first derivative and the heat capacity in its second. Products of
matrices are scaled as they grow. The test sums over all states of a small lattice instead.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

import transpile as tp


def bonds(height, q):
    """Equal neighbours within each state of a column, and between each two states."""
    states = np.array(list(itertools.product(range(q), repeat=height)))
    within = np.sum(states == np.roll(states, 1, axis=1), axis=1)
    between = np.sum(states[:, None, :] == states[None, :, :], axis=2)
    return within.astype(float), between.astype(float)


def log_partition(beta, within, between, length):
    """log Z of a torus of `length` columns."""
    half = np.exp(0.5 * beta * within)
    transfer = half[:, None] * np.exp(beta * between) * half[None, :]
    product = np.eye(len(within))
    total = 0.0
    for _ in range(length):
        product = product @ transfer
        size = np.max(product)
        product = product / size
        total += np.log(size)
    return total + np.log(np.trace(product))


def energy(beta, within, between, length):
    return -tp.grad(log_partition)(beta, within, between, length)


def main(height=4, q=3, length=16, points=40):
    within, between = bonds(height, q)
    betas = np.linspace(0.2, 2.0, points)
    spins = height * length

    def both(beta):
        u, slope = tp.jvp(energy, (beta, within, between, length), (1.0, 0.0 * within, 0.0 * between, 0))
        return u / spins, -(beta**2) * slope / spins

    found = np.array([both(beta) for beta in betas])
    peak = betas[np.argmax(found[:, 1])]
    print(f"the heat capacity has its peak at beta = {peak:.2f}")
    print(f"an infinite square lattice has its transition at log(1 + sqrt({q})) = {np.log(1.0 + np.sqrt(q)):.2f}")
    return {"betas": betas, "energy": found[:, 0], "capacity": found[:, 1], "peak": peak}


def draw(result):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.6))
    left.plot(result["betas"], result["energy"])
    left.set(xlabel="1 / temperature", ylabel="energy of a spin")
    right.plot(result["betas"], result["capacity"])
    right.axvline(np.log(1.0 + np.sqrt(3.0)), linestyle="--", color="gray")
    right.set(xlabel="1 / temperature", ylabel="heat capacity of a spin")
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("potts_model.png")
