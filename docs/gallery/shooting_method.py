"""The shooting method: solve a boundary value problem with Newton's method and an exact slope.

Bratu's problem, `u'' + c exp(u) = 0` with `u(0) = u(1) = 0`, models heat that a reaction makes. Shooting guesses the
slope at 0, integrates to 1, and corrects the guess by how the end depends on it: a derivative through all
steps of the integrator. The problem has two solutions, both known in closed form; the start decides which is found.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import transpile as tp

C = 2.0


def path(slope, steps):
    """u at all points, by the classical Runge-Kutta method."""
    h = 1.0 / steps
    u, v = 0.0, slope
    found = np.zeros(steps + 1)
    for k in range(steps):
        a1, b1 = v, -C * np.exp(u)
        a2, b2 = v + 0.5 * h * b1, -C * np.exp(u + 0.5 * h * a1)
        a3, b3 = v + 0.5 * h * b2, -C * np.exp(u + 0.5 * h * a2)
        a4, b4 = v + h * b3, -C * np.exp(u + h * a3)
        u, v = u + h * (a1 + 2.0 * a2 + 2.0 * a3 + a4) / 6.0, v + h * (b1 + 2.0 * b2 + 2.0 * b3 + b4) / 6.0
        found[k + 1] = u
    return found


def end(slope, steps):
    return path(slope, steps)[-1]


def exact(x, low, high):
    """The solution whose parameter lies between `low` and `high`."""
    theta = brentq(lambda t: t - np.sqrt(2.0 * C) * np.cosh(t / 4.0), low, high, xtol=1e-14)
    return -2.0 * np.log(np.cosh((x - 0.5) * theta / 2.0) / np.cosh(theta / 4.0))


def shoot(slope, steps):
    """The slope for which u(1) = 0, and the misses on the way there."""
    derivative = tp.jit(tp.value_and_grad(end))
    misses = []
    while not misses or abs(misses[-1]) > 1e-12 and len(misses) < 20:
        miss, change = derivative(slope, steps)
        misses.append(float(miss))
        slope -= miss / change
    return slope, misses


def main(steps=200):
    x = np.linspace(0.0, 1.0, steps + 1)
    result = {"x": x}
    for name, start, bracket in (("lower", 1.0, (1.0, 4.0)), ("upper", 9.0, (4.0, 12.0))):
        slope, misses = shoot(start, steps)
        found = path(slope, steps)
        result[name] = {"u": found, "exact": exact(x, *bracket), "misses": misses}
        error = np.max(np.abs(found - result[name]["exact"]))
        print(f"{name} solution: slope {slope:.8f} after {len(misses)} shots, error {error:.1e}")
    return result


def draw(result):
    figure, axes = plt.subplots()
    for name in ("lower", "upper"):
        axes.plot(result["x"], result[name]["u"], label=f"{name} solution")
        axes.plot(result["x"][::20], result[name]["exact"][::20], "k.")
    axes.plot([], [], "k.", label="closed form")
    axes.set(xlabel="x", ylabel="u")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("shooting_method.png")
