"""Kernels from control: filters, regulators, simulated loops, planning."""

import math

import numpy as np

from .program import Collection, definite, normal, positive

PROGRAMS = Collection("kernel control")
program = PROGRAMS.program


@program(
    args=lambda: (
        {"f": np.eye(2) + 0.1 * normal(2, 2), "q": 0.1 * definite(2, seed=1), "r": 0.5, "h": normal(2, seed=2)},
        normal(5, seed=3),
    ),
    wrt=(0, 1),
    tags="for dict matmul outer",
)
def kalman_filter(model, measured):
    """Log likelihood of measurements of a linear system with noise."""
    f, q, r, h = model["f"], model["q"], model["r"], model["h"]
    x = np.zeros(2)
    p = np.eye(2)
    total = 0.0
    for z in measured:
        x = f @ x
        p = f @ p @ f.T + q
        ph = p @ h
        s = h @ ph + r
        innovation = z - h @ x
        gain = ph / s
        if innovation * innovation > 25.0 * s:
            continue
        x = x + gain * innovation
        p = p - np.outer(gain, ph)
        p = 0.5 * (p + p.T)
        total -= 0.5 * (math.log(2.0 * math.pi * s) + innovation * innovation / s)
    return total


@program(
    args=lambda: (np.eye(3) + 0.2 * normal(3, 3), normal(3, 2, seed=1), definite(3, seed=2), definite(2, seed=3), 5),
    wrt=(0, 1, 2, 3),
    tags="for reversed solve list",
)
def linear_regulator(a, b, q, r, horizon):
    """Riccati's recursion backwards, then the cost of running the gains forwards."""
    p = q
    gains = []
    for _ in range(horizon):
        pb = p @ b
        gain = np.linalg.solve(r + b.T @ pb, pb.T @ a)
        p = q + a.T @ p @ (a - b @ gain)
        p = 0.5 * (p + p.T)
        gains.append(gain)
    x = np.array([1.0, -0.5, 0.3])
    cost = 0.0
    for gain in reversed(gains):
        u = -gain @ x
        cost += x @ q @ x + u @ r @ u
        x = a @ x + b @ u
    return cost + x @ q @ x


@program(args=lambda: (np.array([2.0, 0.8, 0.3]), 1.0, 12), wrt=(0, 1), tags="for if carried")
def pid_controller(gains, target, steps):
    """A controlled mass whose force is limited; the integral stops while it is."""
    kp, ki, kd = gains
    dt = 0.1
    position, velocity = 0.0, 0.0
    integral = 0.0
    previous = target - position
    cost = 0.0
    for _ in range(steps):
        error = target - position
        force = kp * error + ki * integral + kd * (error - previous) / dt
        if force > 1.5:
            force = 1.5
        elif force < -1.5:
            force = -1.5
        else:
            integral += error * dt
        velocity += dt * (force - 0.4 * velocity)
        position += dt * velocity
        previous = error
        cost += dt * (error * error + 0.01 * force * force)
    return cost


@program(args=lambda: (0.5 * normal(6), np.array([0.0, 0.1, 0.0, 0.0])), wrt=(0, 1), tags="for rows unpack append")
def cart_pole(forces, start):
    """A pole on a cart that is pushed; the cost of the path by both."""
    cart, pole, half, g, dt = 1.0, 0.1, 0.5, 9.81, 0.05
    x, angle, dx, spin = start
    path = []
    for force in forces:
        s, c = math.sin(angle), math.cos(angle)
        push = (force + pole * half * spin * spin * s) / (cart + pole)
        turn = (g * s - c * push) / (half * (4.0 / 3.0 - pole * c * c / (cart + pole)))
        pull = push - pole * half * turn * c / (cart + pole)
        dx = dx + dt * pull
        spin = spin + dt * turn
        x = x + dt * dx
        angle = angle + dt * spin
        path.append(np.array([x, angle]))
    states = np.stack(path)
    return np.sum(states**2) + 0.01 * np.sum(forces * forces)


@program(args=lambda: (np.array([0.3, -0.2, 0.1, 0.9]), normal(4, 3), 0.1), wrt=(0, 1), tags="for inplace rows norm")
def attitude(start, rates, dt):
    """A quaternion turned by angular rates, normalised in every step; where an axis points."""
    q = start / np.sqrt(np.sum(start * start))
    for rate in rates:
        w = np.zeros((4, 4))
        w[0, 1:] = -rate
        w[1:, 0] = rate
        w[1, 2], w[1, 3] = rate[2], -rate[1]
        w[2, 1], w[2, 3] = -rate[2], rate[0]
        w[3, 1], w[3, 2] = rate[1], -rate[0]
        half = 0.5 * dt * (w @ q)
        q = q + half + 0.5 * dt * (w @ half)
        size = math.sqrt(q @ q)
        q /= size
    a, b, c, d = q
    return np.array(
        [
            a * a + b * b - c * c - d * d,
            2.0 * (b * c + a * d),
            2.0 * (b * d - a * c),
        ]
    )


@program(args=lambda: (0.8, np.array([1.0, 0.5]), positive(2, seed=1)), wrt=(0, 1, 2), tags="while if event")
def bouncing_ball(bounce, start, drag):
    """A ball falls, meets the ground and is thrown back; the event is found within the step."""
    height, speed = start
    t, dt = 0.0, 0.05
    impacts = 0
    while t < 1.2:
        slow = -9.81 - 0.1 * drag[0] * speed * abs(speed)
        following = height + dt * speed + 0.5 * dt * dt * slow
        if following < 0.0:
            part = dt * height / (height - following)
            arrival = speed + part * slow
            speed = -bounce * arrival
            height = (dt - part) * speed * drag[1]
            impacts += 1
            if abs(speed) < 0.01:
                break
        else:
            height = following
            speed = speed + dt * slow
        t += dt
    return height * height + 0.1 * speed + impacts


@program(args=lambda: (0.3 * normal(4), 3), wrt=0, tags="for inplace view closure")
def steepest_descent_plan(controls, sweeps):
    """A plan improved by hand-written gradient steps: differentiated by its starting point."""
    target = 1.0
    dt = 0.25

    def run(u):
        x, v = 0.0, 0.0
        for k in range(len(u)):
            v = v + dt * u[k]
            x = x + dt * math.tanh(v)
        return x, v

    u = controls.copy()
    for _ in range(sweeps):
        x, v = run(u)
        error = x - target
        for k in range(len(u)):
            weight = (len(u) - k) * dt * dt
            u[k] -= 0.5 * (error * weight * (1.0 - math.tanh(v) ** 2) + 0.1 * u[k])
    x, v = run(u)
    return (x - target) ** 2 + 0.05 * np.sum(u * u)


@program(args=lambda: (0.3 * normal(3, 3), definite(3, seed=1)), wrt=(0, 1), tags="for matmul transpose inplace")
def spread_of_noise(a, p):
    """A covariance carried along by a matrix that fades, and is turned before it is written."""
    a = a.copy()
    for _ in range(3):
        turned = a.T
        p = a @ p @ turned
        a *= 0.9
        p[0] += a[1] + turned[2]
    return np.sum(p * p)
