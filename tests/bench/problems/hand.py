"""Hand tracking: the Jacobian of distances between measured points and a posed hand (the hand of ADBench), on a synthetic hand.

A skeleton of 22 bones is posed by 26 numbers: turn and place of the hand, and four angles for each finger. Vertices follow
several bones each (linear blend skinning). *simple*: each point belongs to a vertex. *complicated*: it lies in a triangle, at
coordinates that are unknowns too; as each point has its own, one shift of all of them gives their block of the Jacobian.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.problem import Problem

FINGERS, BONES = 5, 22
PARENTS = np.array([-1, 0, *(bone - 1 if bone % 4 != 2 else 1 for bone in range(2, BONES))])


def bone_angles(theta):
    """Rows of bending, spreading and twisting; the first two bones and the tips stay."""
    angles = np.zeros((BONES, 3))
    for finger in range(FINGERS):
        bone = 2 + 4 * finger
        angle = 6 + 4 * finger
        angles[bone, 0] = theta[angle]
        angles[bone, 1] = theta[angle + 1]
        angles[bone + 1, 0] = theta[angle + 2]
        angles[bone + 2, 0] = theta[angle + 3]
    return angles


def euler_rotation(angles):
    cx, cz, cy = np.cos(angles)
    sx, sz, sy = np.sin(angles)
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return about_z @ about_y @ about_x


def axis_rotation(r):
    square = np.sum(r * r)
    if square < 1e-28:
        return np.eye(3)
    angle = np.sqrt(square)
    axis = r / angle
    turn = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + np.sin(angle) * turn + (1.0 - np.cos(angle)) * (turn @ turn)


def posed_vertices(theta, parents, relatives, inverses, vertices, weights):
    """Vertices (n, 3) of the pose; ``vertices`` are homogeneous (n, 4), weights (bones, n)."""
    angles = bone_angles(theta)
    absolutes = np.zeros((BONES, 4, 4))
    positions = np.zeros((len(vertices), 3))
    for bone in range(BONES):
        local = np.eye(4)
        local[:3, :3] = euler_rotation(angles[bone])
        here = relatives[bone] @ local
        if parents[bone] >= 0:
            here = absolutes[parents[bone]] @ here
        absolutes[bone] = here
        transform = here @ inverses[bone]
        positions += weights[bone][:, None] * (vertices @ transform[:3].T)
    return positions @ axis_rotation(theta[0:3]).T + theta[3:6]


def hand_simple(theta, parents, relatives, inverses, vertices, weights, corner, points):
    positions = posed_vertices(theta, parents, relatives, inverses, vertices, weights)
    return points - positions[corner]


def hand_complicated(theta, shift, places, parents, relatives, inverses, vertices, weights, corners, points):
    positions = posed_vertices(theta, parents, relatives, inverses, vertices, weights)
    u = places + shift
    first = u[:, 0:1]
    second = u[:, 1:2]
    hit = first * positions[corners[:, 0]] + second * positions[corners[:, 1]]
    return points - hit - (1.0 - first - second) * positions[corners[:, 2]]


def jacobian_of(fn: Callable, wrt: tuple[int, ...]) -> Callable:
    """Value and Jacobian by forward mode: there are few arguments and many errors."""

    def twice(*args):
        errors = fn(*args)
        return errors, errors

    def value_and_jacobian(*args):
        jacobian, value = tp.jacfwd(twice, argnums=wrt, has_aux=True)(*args)
        return value, jacobian

    return tp.jit(value_and_jacobian, cache=False)


# ------------------------------------------------------------------------------------------------ peers


def euler_matrices(xp: Any, angles: Any) -> Any:
    """The rotations of all bones, in a library with NumPy's function names."""
    (cx, cz, cy), (sx, sz, sy) = xp.cos(angles).T, xp.sin(angles).T
    rows = [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
        [-sy, cy * sx, cy * cx],
    ]
    return xp.stack([xp.stack(row, -1) for row in rows], -2)


def posed(xp: Any, theta: Any, relatives: Any, inverses: Any, vertices: Any, weights: Any) -> Any:
    """All bones at once; only the chain of the bones' frames is a loop."""
    bent = theta[6:].reshape(FINGERS, 4)
    zero = xp.zeros_like(bent[:, 0])
    rows = [[bent[:, 0], bent[:, 1], zero], [bent[:, 2], zero, zero], [bent[:, 3], zero, zero], [zero, zero, zero]]
    fingers = xp.stack([xp.stack(row, -1) for row in rows], 1).reshape(BONES - 2, 3)
    turns = euler_matrices(xp, xp.concatenate([xp.zeros_like(fingers[:2]), fingers]))
    local = xp.concatenate([relatives[:, :, :3] @ turns, relatives[:, :, 3:]], 2)  # a turn moves no origin
    frames: list[Any] = []
    for bone in range(BONES):
        parent = int(PARENTS[bone])
        frames.append(local[bone] if parent < 0 else frames[parent] @ local[bone])
    transforms = (xp.stack(frames) @ inverses)[:, :3]
    positions = xp.einsum("bn,bij,nj->ni", weights, transforms, vertices)
    angle = xp.sqrt((theta[:3] * theta[:3]).sum())
    x, y, z = theta[:3] / angle
    none = xp.zeros_like(x)
    turn = xp.stack([xp.stack([none, -z, y]), xp.stack([z, none, -x]), xp.stack([-y, x, none])])
    rotation = xp.eye(3) + xp.sin(angle) * turn + (1.0 - xp.cos(angle)) * (turn @ turn)
    return positions @ rotation.T + theta[3:6]


def peer_errors(xp: Any, complicated: bool) -> Callable:
    """The errors, twice: to be differentiated, and to be returned."""

    def simple(theta, parents, relatives, inverses, vertices, weights, corner, points):
        errors = points - posed(xp, theta, relatives, inverses, vertices, weights)[corner]
        return errors, errors

    def in_triangles(theta, shift, places, parents, relatives, inverses, vertices, weights, corners, points):
        positions, u = posed(xp, theta, relatives, inverses, vertices, weights), places + shift
        first, second = u[:, 0:1], u[:, 1:2]
        hit = first * positions[corners[:, 0]] + second * positions[corners[:, 1]]
        errors = points - hit - (1.0 - first - second) * positions[corners[:, 2]]
        return errors, errors

    return in_triangles if complicated else simple


def of_jax(complicated: bool) -> Callable:
    import jax

    wrt = (0, 1) if complicated else (0,)
    jacobian = jax.jit(jax.jacfwd(peer_errors(jax.numpy, complicated), argnums=wrt, has_aux=True))
    return lambda *args: jacobian(*args)[::-1]


def of_torch(complicated: bool) -> Callable:
    import torch

    torch.set_default_dtype(torch.float64)
    wrt = (0, 1) if complicated else (0,)
    jacobian = torch.func.jacfwd(peer_errors(torch, complicated), argnums=wrt, has_aux=True)
    return lambda *args: jacobian(*args)[::-1]


# ------------------------------------------------------------------------------------------------- data


def skeleton(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The bones' frames relative to their parents at rest, and the inverses of their absolute frames."""
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[1:, :3, 3] = rng.normal(scale=0.1, size=(BONES - 1, 3)) + [0.0, 1.0, 0.0]
    for bone in range(BONES):
        relatives[bone, :3, :3] = np.linalg.qr(rng.normal(scale=0.1, size=(3, 3)) + np.eye(3))[0]
    absolutes = relatives.copy()
    for bone in range(1, BONES):
        absolutes[bone] = absolutes[PARENTS[bone]] @ relatives[bone]
    return relatives, np.linalg.inv(absolutes)


def arguments(vertices: int, points: int, complicated: bool) -> tuple:
    rng = np.random.default_rng(8)
    relatives, inverses = skeleton(rng)
    positions = np.concatenate([rng.normal(size=(vertices, 3)), np.ones((vertices, 1))], axis=1)
    weights = rng.uniform(size=(BONES, vertices)) ** 8
    theta, measured = rng.normal(scale=0.3, size=26), rng.normal(size=(points, 3))
    corners = rng.integers(vertices, size=(points, 3))
    model = PARENTS, relatives, inverses, positions, weights / weights.sum(axis=0)
    if complicated:
        return theta, np.zeros(2), rng.uniform(0.0, 0.5, size=(points, 2)), *model, corners, measured
    return theta, *model, corners[:, 0].copy(), measured


def problem(size: str, shape: tuple[int, int], complicated: bool) -> Problem:
    fn, wrt = (hand_complicated, (0, 1)) if complicated else (hand_simple, (0,))
    return Problem(
        fn.__name__,
        "problems",
        size,
        fn,
        lambda: arguments(*shape, complicated),
        wrt,
        wanted="jacobian",
        ours=lambda: jacobian_of(fn, wrt),
        jax=lambda: of_jax(complicated),
        torch=lambda: of_torch(complicated),
        numba_ok=False,
    )


PROBLEMS = tuple(
    problem(size, shape, complicated)
    for complicated in (False, True)
    for size, shape in (("small", (50, 20)), ("medium", (544, 1_000)), ("large", (10_000, 50_000)))
)
