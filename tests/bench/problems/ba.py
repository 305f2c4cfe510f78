"""Bundle adjustment: the Jacobian of weighted reprojection errors (the BA of ADBench).

Each error depends on one camera (rotation, centre, focal length, principal point, two radial coefficients: 11 numbers), one point
and one weight. The Jacobian is wanted as its blocks that are not zero: 2 by 15 for each observation, and the weights' own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import transpile as tp
from bench.native import at, function
from bench.problem import Problem


def rotate(r, x):
    """Rodrigues: x turned about the axis r by its length."""
    square = r @ r
    if square == 0.0:
        return x + np.cross(r, x)
    angle = np.sqrt(square)
    axis = r / angle
    cosine = np.cos(angle)
    return x * cosine + np.cross(axis, x) * np.sin(angle) + axis * (axis @ x) * (1.0 - cosine)


def project(camera, point):
    seen = rotate(camera[0:3], point - camera[3:6])
    flat = seen[:2] / seen[2]
    square = flat @ flat
    distortion = 1.0 + camera[9] * square + camera[10] * square * square
    return flat * distortion * camera[6] + camera[7:9]


def reprojection_error(camera, point, weight, feature):
    return weight * (project(camera, point) - feature)


def ba(cameras, points, weights, features, camera_of, point_of):
    errors = np.empty((len(features), 2))
    for i in range(len(features)):
        errors[i] = reprojection_error(cameras[camera_of[i]], points[point_of[i]], weights[i], features[i])
    return errors, 1.0 - weights * weights


def error_twice(camera, point, weight, feature):
    """What is differentiated, and what is kept of the value."""
    error = reprojection_error(camera, point, weight, feature)
    return error, error


def blocks(cameras, points, weights, features, camera_of, point_of):
    n = len(features)
    errors = np.empty((n, 2))
    jacobian = np.empty((n, 2, 15))
    for i in range(n):
        (by_camera, by_point, by_weight), errors[i] = tp.jacrev(error_twice, argnums=(0, 1, 2), has_aux=True)(
            cameras[camera_of[i]], points[point_of[i]], weights[i], features[i]
        )
        jacobian[i, :, :11] = by_camera
        jacobian[i, :, 11:14] = by_point
        jacobian[i, :, 14] = by_weight
    return (errors, 1.0 - weights * weights), (jacobian, -2.0 * weights)


def of_jax() -> Callable:
    import jax
    import jax.numpy as jnp

    def turned(r, x):
        square = r @ r
        angle = jnp.sqrt(jnp.where(square == 0.0, 1.0, square))
        axis, cosine = r / angle, jnp.cos(angle)
        general = x * cosine + jnp.cross(axis, x) * jnp.sin(angle) + axis * (axis @ x) * (1.0 - cosine)
        return jnp.where(square == 0.0, x + jnp.cross(r, x), general)

    def error(camera, point, weight, feature):
        seen = turned(camera[0:3], point - camera[3:6])
        flat = seen[:2] / seen[2]
        square = flat @ flat
        distortion = 1.0 + camera[9] * square + camera[10] * square * square
        found = weight * (flat * distortion * camera[6] + camera[7:9] - feature)
        return found, found

    def value_and_jacobian(cameras, points, weights, features, camera_of, point_of):
        each = jax.vmap(jax.jacrev(error, argnums=(0, 1, 2), has_aux=True))
        parts, errors = each(cameras[camera_of], points[point_of], weights, features)
        jacobian = jnp.concatenate([parts[0], parts[1], parts[2][:, :, None]], axis=2)
        return (errors, 1.0 - weights * weights), (jacobian, -2.0 * weights)

    return jax.jit(value_and_jacobian)


def of_torch() -> Callable:
    """All observations at once, each with its own copy of its parameters; one backward pass for each of the two coordinates."""
    import torch

    def turned(r: Any, x: Any) -> Any:
        square = (r * r).sum(1, keepdim=True)
        angle = torch.sqrt(torch.where(square == 0.0, 1.0, square))
        axis, cosine = r / angle, torch.cos(angle)
        along = (axis * x).sum(1, keepdim=True)
        general = x * cosine + torch.linalg.cross(axis, x) * torch.sin(angle) + axis * along * (1.0 - cosine)
        return torch.where(square == 0.0, x + torch.linalg.cross(r, x), general)

    def value_and_jacobian(cameras, points, weights, features, camera_of, point_of):
        inputs = torch.cat([cameras[camera_of], points[point_of], weights[:, None]], 1).requires_grad_()
        camera, point, weight = inputs[:, :11], inputs[:, 11:14], inputs[:, 14:]
        seen = turned(camera[:, 0:3], point - camera[:, 3:6])
        flat = seen[:, :2] / seen[:, 2:]
        square = (flat * flat).sum(1, keepdim=True)
        distortion = 1.0 + camera[:, 9:10] * square + camera[:, 10:11] * square * square
        errors = weight * (flat * distortion * camera[:, 6:7] + camera[:, 7:9] - features)
        rows = [torch.autograd.grad(errors[:, k].sum(), inputs, retain_graph=True)[0] for k in range(2)]
        return (errors.detach(), 1.0 - weights * weights), (torch.stack(rows, 1), -2.0 * weights)

    return value_and_jacobian


def of_c() -> Callable:
    call = function("ba", "ipppppppp")

    def value_and_jacobian(cameras, points, weights, features, camera_of, point_of):
        n = len(features)
        errors, jacobian = np.empty((n, 2)), np.empty((n, 2, 15))
        arrays = cameras, points, weights, features, camera_of, point_of, errors, jacobian
        call(n, *(at(array) for array in arrays))
        return (errors, 1.0 - weights * weights), (jacobian, -2.0 * weights)

    return value_and_jacobian


def arguments(cameras: int, points: int, observations: int) -> tuple:
    rng = np.random.default_rng(7)
    seen_by = rng.normal(scale=0.3, size=(cameras, 11))
    seen_by[:, 5] -= 8.0
    seen_by[:, 6] += 500.0
    seen_by[:, 9:] *= 0.1
    return (
        seen_by,
        rng.normal(size=(points, 3)),
        rng.uniform(0.5, 1.5, size=observations),
        rng.normal(scale=50.0, size=(observations, 2)),
        rng.integers(cameras, size=observations),
        rng.integers(points, size=observations),
    )


PROBLEMS = tuple(
    Problem(
        "ba",
        "problems",
        size,
        ba,
        lambda shape=shape: arguments(*shape),
        (0, 1, 2),
        wanted="jacobian",
        ours=lambda: tp.jit(blocks, cache=False),
        jax=of_jax,
        torch=of_torch,
        c=of_c,
    )
    for size, shape in (("small", (2, 10, 20)), ("medium", (20, 500, 2_000)), ("large", (100, 20_000, 200_000)))
)
