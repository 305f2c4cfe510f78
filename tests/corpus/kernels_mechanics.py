"""Kernels from mechanics: particles, fields on grids, structures, integrators."""

import math

import numpy as np

from .program import Collection, normal, positive, uniform

PROGRAMS = Collection("kernel mechanics")
program = PROGRAMS.program


def square_of_four():
    """Four particles near the corners of a square."""
    corners = np.array([[0.0, 0.0, 0.0], [0.0, 1.3, 0.0], [1.3, 0.0, 0.0], [1.3, 1.3, 0.0]])
    return corners + 0.05 * normal(4, 3)


@program(args=lambda: (square_of_four(), 1.2, 0.9), wrt=(0, 1, 2), tags="for nested continue")
def lennard_jones(positions, epsilon, sigma):
    """Energy and virial of particles that attract each other at a distance, up to a cutoff."""
    n, dims = positions.shape
    cutoff = 2.5 * sigma
    at_cutoff = 4.0 * epsilon * (2.5**-12 - 2.5**-6)
    energy = 0.0
    virial = 0.0
    for i in range(n):
        for j in range(i):
            r2 = 0.0
            for d in range(dims):
                gap = positions[i, d] - positions[j, d]
                r2 += gap * gap
            if r2 > cutoff * cutoff:
                continue
            s6 = (sigma * sigma / r2) ** 3
            energy += 4.0 * epsilon * (s6 * s6 - s6) - at_cutoff
            virial += 24.0 * epsilon * (2.0 * s6 * s6 - s6)
    return energy + virial / (3.0 * n)


def gravity(positions, masses, softening):
    """Acceleration of each body by all others."""
    n = positions.shape[0]
    acceleration = np.zeros_like(positions)
    for i in range(n):
        for j in range(n):
            if i != j:
                gap = positions[j] - positions[i]
                r2 = np.sum(gap * gap) + softening * softening
                acceleration[i] += masses[j] * gap / (r2 * math.sqrt(r2))
    return acceleration


@program(
    args=lambda: (normal(3, 2), 0.3 * normal(3, 2, seed=1), positive(3, seed=2), 4),
    wrt=(0, 1, 2),
    tags="for call inplace",
)
def n_body(positions, velocities, masses, steps):
    """Leapfrog integration of bodies that attract each other; the final energy of motion."""
    dt = 0.05
    x = positions.copy()
    v = velocities.copy()
    a = gravity(x, masses, 0.2)
    for _ in range(steps):
        v += 0.5 * dt * a
        x += dt * v
        a = gravity(x, masses, 0.2)
        v += 0.5 * dt * a
    kinetic = 0.0
    for i in range(len(masses)):
        kinetic += 0.5 * masses[i] * (v[i, 0] ** 2 + v[i, 1] ** 2)
    return kinetic, x


@program(args=lambda: (normal(5, 5), 3), tags="for nested inplace linear stencil")
def stencil(grid, sweeps):
    """Gauss-Seidel sweeps over a square, in place: linear, so nothing is recorded."""
    u = grid.copy()
    n, m = u.shape
    for _ in range(sweeps):
        for j in range(m):
            u[0, j] = u[1, j]
            u[n - 1, j] = 0.5 * u[n - 2, j]
        for i in range(n):
            u[i, 0] = u[i, m - 1]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.2 * u[i, j] + 0.2 * around
        u[2, 2] += 0.1 * grid[0, 0]
    total = 0.0
    for i in range(n):
        for j in range(m):
            total += u[i, j] * (i + 2 * j)
    return total


@program(args=lambda: (normal(6), positive(6, seed=1), 5), wrt=(0, 1), tags="for swap buffers")
def heat_equation(initial, conductivity, steps):
    """Explicit steps of the heat equation between two buffers that change places."""
    n = len(initial)
    ratio = 0.2
    u = initial.copy()
    v = np.zeros(n)
    for k in range(steps):
        for i in range(n):
            left = u[i - 1] if i > 0 else u[0]
            right = u[i + 1] if i < n - 1 else u[n - 1]
            flow = conductivity[i] * (left - 2.0 * u[i] + right)
            v[i] = u[i] + ratio * flow - 0.01 * u[i] ** 3
        v[k % n] += 0.1
        u, v = v, u
    misfit = 0.0
    for i in range(n):
        misfit += (u[i] - i / n) ** 2
    for i in range(1, n):
        misfit += 0.1 * (u[i] - u[i - 1]) ** 2
    return misfit


@program(args=lambda: (normal(7), 0.6, 4), wrt=(0, 1), tags="for inplace slice swap")
def wave_equation(shape, speed, steps):
    """The wave equation, written in place into the older of two states."""
    c2 = (0.5 * speed) ** 2
    before = shape.copy()
    now = shape.copy()
    now[1:-1] += 0.5 * c2 * (shape[2:] - 2.0 * shape[1:-1] + shape[:-2])
    for _ in range(steps):
        before[1:-1] = 2.0 * now[1:-1] - before[1:-1] + c2 * (now[2:] - 2.0 * now[1:-1] + now[:-2])
        before[0] = before[1]
        before[-1] = 0.9 * before[-2]
        before, now = now, before
    stretch = now[1:] - now[:-1]
    return 0.5 * np.sum((now - before) ** 2) + 0.5 * c2 * np.sum(stretch * stretch)


def pendulum_rates(state, lengths, masses, gravity_constant):
    """Rates of the angles and angular velocities of a double pendulum."""
    a, b, wa, wb = state
    m1, m2 = masses
    l1, l2 = lengths
    d = a - b
    base = 2.0 * m1 + m2 - m2 * math.cos(2.0 * d)
    top_a = -gravity_constant * (2.0 * m1 + m2) * math.sin(a)
    top_a -= m2 * gravity_constant * math.sin(a - 2.0 * b)
    top_a -= 2.0 * math.sin(d) * m2 * (wb * wb * l2 + wa * wa * l1 * math.cos(d))
    top_b = wa * wa * l1 * (m1 + m2) + gravity_constant * (m1 + m2) * math.cos(a)
    top_b = 2.0 * math.sin(d) * (top_b + wb * wb * l2 * m2 * math.cos(d))
    return np.array([wa, wb, top_a / (l1 * base), top_b / (l2 * base)])


@program(
    args=lambda: (np.array([1.2, -0.4, 0.3, 0.1]), (1.0, 0.7), (1.0, 1.4), 3),
    wrt=(0, 1, 2),
    tags="for call tuple unpack",
)
def double_pendulum(state, lengths, masses, steps):
    """Classical Runge-Kutta steps of a double pendulum."""
    h = 0.05
    for _ in range(steps):
        k1 = pendulum_rates(state, lengths, masses, 9.81)
        k2 = pendulum_rates(state + 0.5 * h * k1, lengths, masses, 9.81)
        k3 = pendulum_rates(state + 0.5 * h * k2, lengths, masses, 9.81)
        k4 = pendulum_rates(state + h * k3, lengths, masses, 9.81)
        state = state + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    x = lengths[0] * math.sin(state[0]) + lengths[1] * math.sin(state[1])
    y = -lengths[0] * math.cos(state[0]) - lengths[1] * math.cos(state[1])
    return x * x + 0.5 * y


@program(args=lambda: (np.array([1.5, 0.2]), 2.0, 1.0), wrt=(0, 1), tags="while if continue adaptive rejected")
def adaptive_oscillator(start, mu, end):
    """Van der Pol's oscillator by Heun-Euler steps whose size is chosen; bad ones are rejected."""
    t, h = 0.0, 0.5
    x, v = start
    accepted = 0
    while t < end:
        if t + h > end:
            h = end - t
        ax = v
        av = mu * (1.0 - x * x) * v - x
        x1, v1 = x + h * ax, v + h * av
        bx = v1
        bv = mu * (1.0 - x1 * x1) * v1 - x1
        error = 0.5 * h * math.sqrt((bx - ax) ** 2 + (bv - av) ** 2)
        change = 0.9 * math.sqrt(0.02 / error)
        if error > 0.02:
            h = h * max(change, 0.2)
            continue
        x = x + 0.5 * h * (ax + bx)
        v = v + 0.5 * h * (av + bv)
        t += h
        accepted += 1
        h = h * min(change, 2.0)
    return x, v * accepted


@program(args=lambda: (positive(4), uniform(0.1, 0.5, 4, seed=1)), wrt=(0, 1), tags="for inplace assembly solve")
def loaded_bar(stiffness, load):
    """Finite elements of a bar that hangs on one end: assembled, solved, its compliance."""
    n = len(stiffness)
    k = np.zeros((n + 1, n + 1))
    f = np.zeros(n + 1)
    for e in range(n):
        k[e, e] += stiffness[e]
        k[e, e + 1] -= stiffness[e]
        k[e + 1, e] -= stiffness[e]
        k[e + 1, e + 1] += stiffness[e]
        f[e] += 0.5 * load[e]
        f[e + 1] += 0.5 * load[e]
    u = np.zeros(n + 1)
    u[1:] = np.linalg.solve(k[1:, 1:], f[1:])
    return f @ u


@program(args=lambda: (normal(6, 2), uniform(0.3, 0.9, 6, seed=1), 40.0), wrt=(0, 1, 2), tags="for nested minmax")
def grains_in_contact(positions, radii, stiffness):
    """Elastic energy of grains that overlap (Hertz): those that do not touch add nothing."""
    n, dims = positions.shape
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            r2 = 0.0
            for d in range(dims):
                r2 += (positions[i, d] - positions[j, d]) ** 2
            overlap = max(radii[i] + radii[j] - math.sqrt(r2), 0.0)
            energy += 0.4 * stiffness * overlap**2.5
    return energy
