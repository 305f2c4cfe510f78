"""Names that are first set in an inner loop or branch and read outside it."""

import numpy as np

from .program import Collection, normal

PROGRAMS = Collection(tags="names")
program = PROGRAMS.program


@program(args=lambda: (np.array([0.1, 0.05, 3.0]), 1.0), tags="for break", tol=1e-6)
def traced_spheres(c, radius):
    """The point of the last step, set in the innermost of three loops, is read behind it."""
    image = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            d = np.array([(j - 1.5) / 4, (i - 1) / 3, 1.0])
            t, hit = 0.0, False
            for _ in range(40):
                p = t * d
                distance = np.linalg.norm(p - c) - radius
                if distance < 1e-4:
                    hit = True
                    break
                t += distance
                if t > 10:
                    break
            if hit:
                n = (p - c) / np.linalg.norm(p - c)
                image[i, j] = max(0.0, n[0]) + 0.1 * t
    return np.sum(image**2)


@program(args=lambda: (np.array([0.1, 0.05, 3.0]),), tags="for break")
def last_of_an_inner_loop(c):
    total = 0.0
    for i in range(3):
        for j in range(4):
            t = 0.1 * j
            for _ in range(40):
                p = t * c
                if p[2] > 2:
                    break
                t += np.exp(-t)
            total += np.sum(np.sin(p)) * (i + 1)
    return total


@program(args=lambda: (normal(3), 2), tags="for while")
def perhaps_of_an_earlier_trip(x, n):
    """Where the inner loop has no trip, the value is that of an earlier trip of the outer one."""
    total = 0.0
    for i in range(4):
        k = i % 3
        while k < n:
            k += 1
            p = np.tanh(x * k + 0.1 * total)
        total += np.sum(p * p)
    return total


@program(args=lambda: (0.7, 4), tags="for if")
def set_for_the_next_trip(x, n):
    total = x * x
    for i in range(n):
        if i > 0:
            total += np.sin(p) * q[0]  # noqa: F821
        if i < 3:
            p, q = x * total + i, np.array([total, x])
    return total


@program(args=lambda: (0.7, 4), tags="for del")
def deleted_and_set_again(x, n):
    y = np.sin(x)
    total = 0.0
    for i in range(n):
        total += y * y
        if i % 2:
            del y
            y = total * x
    return total + y


@program(args=lambda: (normal(5), 1), tags="if mask")
def of_a_size_that_one_branch_computes(x, n):
    y = x[x > 0.3] * 2.0
    if n > 0:
        y = np.sin(x[x < 0.3])
    return np.sum(y * y)


@program(args=lambda: (0.7, 2), tags="for del list")
def deleted_alias_of_a_list(x, n):
    a = [x, x * x]
    p = a
    for _ in range(n):
        x = p[0] * 1.5
        del p
        p = [x, 2.0]
    return p[0] * a[1]
