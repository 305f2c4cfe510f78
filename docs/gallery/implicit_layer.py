"""An implicit layer: differentiate a fixed point by its equation, not through the iteration.

The layer's output solves `z = tanh(w z + x)`. How it was found does not matter for the derivative: the implicit function
theorem gives it from one linear solve at the solution. A `custom_vjp` says so, and nothing of the iteration is
recorded. The test compares with the derivative through all iterations, and with the theorem written out.
"""

import matplotlib.pyplot as plt
import numpy as np

import transpile as tp


def iterate(w, x, count):
    z = np.zeros_like(x)
    for _ in range(count):
        z = np.tanh(w @ z + x)
    return z


@tp.custom_vjp
def layer(w, x):
    """The fixed point."""
    z = np.zeros_like(x)
    step = np.ones_like(x)
    while np.max(np.abs(step)) > 1e-13:
        step = np.tanh(w @ z + x) - z
        z = z + step
    return z


def forward(w, x):
    z = layer(w, x)
    return z, (w, z)


def backward(kept, z_bar):
    w, z = kept
    slope = 1.0 - z**2
    u = np.linalg.solve((np.eye(len(z)) - slope[:, None] * w).T, z_bar)
    return np.outer(u * slope, z), u * slope


layer.defvjp(forward, backward)


def loss(w, x, target):
    return np.sum((layer(w, x) - target) ** 2)


def unrolled(w, x, target, count):
    return np.sum((iterate(w, x, count) - target) ** 2)


def main(size=30, most=60):
    rng = np.random.default_rng(8)
    w = 0.8 * rng.normal(size=(size, size)) / np.sqrt(size)
    x, target = rng.normal(size=size), 0.5 * rng.normal(size=size)
    exact = tp.grad(loss, argnums=(0, 1))(w, x, target)
    counts = np.arange(2, most, 3)
    through = tp.grad(unrolled, argnums=(0, 1))
    found = [through(w, x, target, int(n)) for n in counts]
    errors = np.array([np.max(np.abs(g[0] - exact[0])) for g in found])
    recorded = [tp.report(through, w, x, target, n).bytes for n in (10, 1000)]
    print("through the iteration, {:,} bytes are recorded for 10 iterations, {:,} for 1000".format(*recorded))
    print(f"the derivative through {counts[-1]} iterations is off by {errors[-1]:.1e}")
    return {"w": w, "x": x, "target": target, "exact": exact, "counts": counts, "errors": errors, "layer": layer(w, x)}


def draw(result):
    figure, axes = plt.subplots()
    axes.semilogy(result["counts"], result["errors"], "o-")
    axes.set(xlabel="iterations differentiated", ylabel="distance from the implicit derivative")
    return figure


if __name__ == "__main__":
    draw(main()).savefig("implicit_layer.png")
