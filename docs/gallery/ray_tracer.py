"""A ray tracer: find a sphere and the light from a picture of them.

Each pixel sends a ray. Where the ray meets the sphere, the shade is that of a matt surface, else that of the sky. The function of
one pixel is plain Python with a branch; `vmap` makes it the function of all. The derivative of the picture moves sphere and
light until it is the picture that was given. The test compares the gradient with differences.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import transpile as tp

TRUTH = np.array([0.25, -0.15, 0.6, 0.7, 0.5, -0.6])  # centre (x, y), radius, direction to the light
START = np.array([0.0, 0.0, 0.75, 0.2, 0.2, -1.0])


def shade(p, x, y):
    """The brightness of the pixel at (x, y), seen along z; the edge of the sphere is soft."""
    u, v = x - p[0], y - p[1]
    inside = p[2] ** 2 - u * u - v * v
    sky = 0.15 + 0.1 * y
    if inside <= 0.0:
        return sky
    normal = np.array([u, v, -np.sqrt(inside)]) / p[2]
    light = p[3:] / np.linalg.norm(p[3:])
    matt = 0.1 + 0.9 * max(normal @ light, 0.0)
    edge = inside / (inside + 0.02)
    return edge * matt + (1.0 - edge) * sky


def picture(p, x, y):
    return tp.vmap(shade, in_axes=(None, 0, 0))(p, x, y)


def misfit(p, x, y, given):
    return np.mean((picture(p, x, y) - given) ** 2)


def main(size=24):
    axis = np.linspace(-1.0, 1.0, size)
    x, y = (a.ravel() for a in np.meshgrid(axis, axis))
    given = picture(TRUTH, x, y)
    objective = tp.jit(tp.value_and_grad(misfit))
    fit = minimize(objective, START, (x, y, given), jac=True, method="BFGS", options={"gtol": 1e-10})
    found = fit.x.copy()
    found[3:] *= np.linalg.norm(TRUTH[3:]) / np.linalg.norm(found[3:])  # only the direction can be seen
    print("found", np.round(found, 4))
    print("true ", TRUTH)
    print(f"{fit.nfev} gradients of {size * size} rays, misfit {fit.fun:.1e}")
    return {"found": found, "truth": TRUTH, "size": size, "problem": (x, y, given), "misfit": misfit}


def draw(result):
    figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.2))
    x, y, given = result["problem"]
    pictures = {"start": picture(START, x, y), "found": picture(result["found"], x, y), "given": given}
    for axis, (name, values) in zip(axes, pictures.items(), strict=True):
        axis.imshow(values.reshape(result["size"], -1), cmap="gray", origin="lower", vmin=0.0, vmax=1.0)
        axis.set(title=name, xticks=[], yticks=[])
    return figure


if __name__ == "__main__":
    draw(main()).savefig("ray_tracer.png")
