"""Relax a cluster of 13 atoms with Newton-CG, which needs products with the Hessian.

The atoms attract and repel each other by the Lennard-Jones potential. `hvp` gives the Hessian times
a vector without ever forming the Hessian. The energy of the best cluster of 13 atoms, an
icosahedron, is known: -44.326801 (Hoare and Pal, 1971).
"""

import numpy as np
from scipy.optimize import minimize

import transpile as tp

KNOWN_ENERGY = -44.326801


def energy(x):
    """Sum of 4 (r**-12 - r**-6) over all pairs; x holds three coordinates for each atom."""
    atoms = x.reshape(-1, 3)
    total = 0.0
    for i in range(len(atoms)):
        for j in range(i):
            d = atoms[i] - atoms[j]
            s = 1.0 / (d @ d) ** 3
            total += 4.0 * (s * s - s)
    return total


def icosahedron(radius):
    """The twelve corners and the centre."""
    golden = (1 + np.sqrt(5)) / 2
    corners = []
    for a in (-1.0, 1.0):
        for b in (-golden, golden):
            corners += [(0.0, a, b), (a, b, 0.0), (b, 0.0, a)]
    return np.array([*corners, (0.0, 0.0, 0.0)]) * radius / np.hypot(1.0, golden)


def main():
    rng = np.random.default_rng(4)
    start = icosahedron(1.1).ravel() + 0.05 * rng.normal(size=39)
    products = 0

    def hessian_product(x, v):
        nonlocal products
        products += 1
        return tp.hvp(energy, (x,), (v,))

    objective = tp.jit(tp.value_and_grad(energy))
    fit = minimize(objective, start, jac=True, hessp=hessian_product, method="Newton-CG", tol=1e-8)
    force = np.max(np.abs(fit.jac))

    print(f"energy {energy(start):.4f} before, {fit.fun:.6f} after (known {KNOWN_ENERGY})")
    print(f"{fit.nit} Newton steps, {products} Hessian products, largest force {force:.1e}")
    return {"energy": float(fit.fun), "known": KNOWN_ENERGY, "force": float(force)}


if __name__ == "__main__":
    main()
