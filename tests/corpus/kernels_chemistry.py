"""Kernels from chemistry: kinetics, equilibria, force fields, fits."""

import math

import numpy as np

from .program import Collection, positive, uniform

PROGRAMS = Collection("kernel chemistry")
program = PROGRAMS.program


def reaction_rates(c, k):
    """Rates of A + B <-> C -> D + B (an enzyme and its complex)."""
    forward = k[0] * c[0] * c[1]
    backward = k[1] * c[2]
    product = k[2] * c[2]
    rates = np.zeros(4)
    rates[0] = backward - forward
    rates[1] = backward - forward + product
    rates[2] = forward - backward - product
    rates[3] = product
    return rates


@program(
    args=lambda: (np.array([2.0, 0.5, 0.8]), np.array([1.0, 0.3, 0.0, 0.0]), 5), wrt=(0, 1), tags="for call inplace"
)
def runge_kutta_kinetics(k, start, steps):
    """Enzyme kinetics by classical Runge-Kutta steps; the amount that was produced."""
    h = 0.2
    c = start.copy()
    produced = 0.0
    for _ in range(steps):
        k1 = reaction_rates(c, k)
        k2 = reaction_rates(c + 0.5 * h * k1, k)
        k3 = reaction_rates(c + 0.5 * h * k2, k)
        k4 = reaction_rates(c + h * k3, k)
        c = c + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
        produced += h * c[3]
    return produced + c[0] * c[1]


@program(args=lambda: (0.1, 1.8e-5, 0.03), wrt=(0, 1, 2), tags="while newton abs scalar", tol=1e-5)
def weak_acid(acid, constant, base):
    """Hydrogen ions in a buffered weak acid, by Newton's method on the logarithm; the pH."""
    water = 1e-14
    u = math.log(1e-5)
    step = 1.0
    trips = 0
    while abs(step) > 1e-12 and trips < 60:
        h = math.exp(u)
        ratio = constant / (constant + h)
        charge = h + base - water / h - acid * ratio
        slope = h + water / h + acid * ratio * (1.0 - ratio)
        step = charge / slope
        if step > 2.0:
            step = 2.0
        elif step < -2.0:
            step = -2.0
        u = u - step
        trips += 1
    assert trips < 60, "no convergence"
    return -u / math.log(10.0)


@program(args=lambda: (np.array([0.4, 0.35, 0.25]), np.array([2.5, 1.1, 0.3])), wrt=(0, 1), tags="while newton for")
def flash_separation(feed, ratios):
    """Rachford and Rice: the vapour fraction of a mixture and the composition of its vapour."""
    bubble, dew = 0.0, 0.0
    for z, k in zip(feed, ratios):
        bubble += z * k
        dew += z / k
    if bubble <= 1.0:
        return 0.0, feed * ratios / bubble
    if dew <= 1.0:
        return 1.0, feed.copy()
    vapour = 0.5
    residue = 1.0
    while abs(residue) > 1e-13:
        residue = 0.0
        slope = 0.0
        for z, k in zip(feed, ratios):
            d = (k - 1.0) / (1.0 + vapour * (k - 1.0))
            residue += z * d
            slope -= z * d * d
        vapour = vapour - residue / slope
    composition = np.empty_like(feed)
    for i in range(len(feed)):
        composition[i] = feed[i] * ratios[i] / (1.0 + vapour * (ratios[i] - 1.0))
    return vapour, composition


@program(
    args=lambda: (
        np.array([[0.0, 0.1, 0.0], [1.5, 0.0, 0.1], [2.0, 1.4, 0.0], [3.4, 1.6, 0.8]]),
        np.array([1.5, 1.5, 1.5]),
        0.6,
    ),
    wrt=(0, 1, 2),
    tags="for numpy cross",
)
def chain_molecule(atoms, lengths, barrier):
    """Force field of four atoms in a chain: bonds, angles, one torsion, repulsion of the ends."""
    energy = 0.0
    for i in range(3):
        bond = atoms[i + 1] - atoms[i]
        energy += 50.0 * (np.sqrt(bond @ bond) - lengths[i]) ** 2
    for i in range(2):
        a = atoms[i] - atoms[i + 1]
        b = atoms[i + 2] - atoms[i + 1]
        cosine = (a @ b) / np.sqrt((a @ a) * (b @ b))
        energy += 5.0 * (np.arccos(cosine) - 1.9) ** 2
    u, v, w = atoms[1] - atoms[0], atoms[2] - atoms[1], atoms[3] - atoms[2]
    p = np.cross(u, v)
    q = np.cross(v, w)
    sine = np.sqrt(v @ v) * (u @ q)
    torsion = np.arctan2(sine, p @ q)
    energy += barrier * (1.0 + np.cos(3.0 * torsion))
    ends = atoms[3] - atoms[0]
    energy += 0.2 / (ends @ ends) ** 6
    return energy


@program(args=lambda: (np.array([0.04, 3.0, 1.5]), 3), tags="for while solve newton inplace")
def stiff_kinetics(k, steps):
    """Implicit Euler steps of a stiff reaction, each by Newton's method."""
    h = 0.5
    c = np.array([1.0, 0.0, 0.0])
    for _ in range(steps):
        x = c.copy()
        change = 1.0
        while change > 1e-20:
            slow = k[0] * x[0]
            fast = k[1] * x[1] * x[2]
            pair = k[2] * x[1] * x[1]
            rates = np.array([fast - slow, slow - fast - pair, pair])
            jacobian = np.array(
                [
                    [-k[0], k[1] * x[2], k[1] * x[1]],
                    [k[0], -k[1] * x[2] - 2.0 * k[2] * x[1], -k[1] * x[1]],
                    [0.0, 2.0 * k[2] * x[1], 0.0],
                ]
            )
            step = np.linalg.solve(np.eye(3) - h * jacobian, x - c - h * rates)
            x -= step
            change = np.sum(step * step)
        c = x
    return c


@program(args=lambda: (positive(3), 1.3), wrt=(0, 1), tags="for while break swap")
def self_consistent_field(levels, coupling):
    """Occupations and a mean field that depend on each other, iterated with damping."""
    n = len(levels)
    field = np.zeros(n)
    following = np.zeros(n)
    for _ in range(100):
        total = 0.0
        for i in range(n):
            total += math.exp(-(levels[i] + coupling * field[i]))
        worst = 0.0
        for i in range(n):
            occupied = math.exp(-(levels[i] + coupling * field[i])) / total
            following[i] = 0.5 * field[i] + 0.5 * occupied
            worst = max(worst, abs(following[i] - field[i]))
        field, following = following, field
        if worst < 1e-13:
            break
    energy = 0.0
    for i in range(n):
        energy += field[i] * (levels[i] + 0.5 * coupling * field[i])
    return energy


@program(
    args=lambda: ({"log_a": 3.0, "energy": 2.0, "order": 1.2}, np.array([1.0, 1.2, 1.5, 1.9]), uniform(0.1, 1.0, 4)),
    tags="dict for while",
)
def arrhenius_fit(params, temperatures, measured):
    """Misfit of conversions after a fixed time, integrated in small steps at each temperature."""
    misfit = 0.0
    for temperature, target in zip(temperatures, measured):
        rate = math.exp(params["log_a"] - params["energy"] * 2.0 / temperature)
        amount = 1.0
        t = 0.0
        while t < 0.5 and amount > 1e-6:
            dt = 0.1
            middle = amount - 0.5 * dt * rate * amount ** params["order"]
            if middle <= 0.0:
                amount = 0.0
                break
            amount = amount - dt * rate * middle ** params["order"]
            t += dt
        misfit += (1.0 - amount - target) ** 2
    return misfit
