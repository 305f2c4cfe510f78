"""Recover camera poses and points in space from where the points appear in pictures.

Each camera has nine numbers: a rotation vector, a translation, a focal length and two coefficients
of radial distortion. The derivatives of each projection, a 2-by-9 and a 2-by-3 block, come from
`jacrev`; SciPy's least squares does the rest.
"""

import numpy as np
from scipy.optimize import least_squares

import transpile as tp

CAMERAS, POINTS = 4, 20


def rotate(r, x):
    """x turned about the axis r by the angle |r| (Rodrigues)."""
    square = r @ r
    if square == 0.0:
        return x + np.cross(r, x)
    angle = np.sqrt(square)
    axis = r / angle
    cos = np.cos(angle)
    return x * cos + np.cross(axis, x) * np.sin(angle) + axis * (axis @ x) * (1.0 - cos)


def project(camera, point):
    """Where a camera that looks along -z sees the point, in pixels from the centre."""
    seen = rotate(camera[0:3], point) + camera[3:6]
    flat = -seen[:2] / seen[2]
    square = flat @ flat
    distortion = 1.0 + square * (camera[7] + square * camera[8])
    return camera[6] * distortion * flat


project_jacobian = tp.jit(tp.jacrev(project, argnums=(0, 1)))


def residuals(unknown, pictures):
    """Projected minus measured, camera by camera."""
    cameras, points = np.split(unknown, [9 * CAMERAS])
    seen = [project(c, p) for c in cameras.reshape(-1, 9) for p in points.reshape(-1, 3)]
    return (np.array(seen) - pictures).ravel()


def jacobian(unknown, pictures):
    """The blocks of all projections, in one matrix."""
    cameras, points = np.split(unknown, [9 * CAMERAS])
    result = np.zeros((len(pictures), 2, len(unknown)))
    for k in range(len(pictures)):
        c, p = 9 * (k // POINTS), 3 * (k % POINTS)
        of_camera, of_point = project_jacobian(cameras[c : c + 9], points[p : p + 3])
        result[k, :, c : c + 9] = of_camera
        result[k, :, 9 * CAMERAS + p : 9 * CAMERAS + p + 3] = of_point
    return result.reshape(-1, len(unknown))


def main(noise=0.3):
    rng = np.random.default_rng(3)
    points = rng.uniform(-1.0, 1.0, (POINTS, 3))
    cameras = np.zeros((CAMERAS, 9))
    cameras[:, 0:3] = rng.normal(0.0, 0.3, (CAMERAS, 3))
    cameras[0, 0:3] = 0.0  # the first camera is not turned: the branch for a zero rotation
    cameras[:, 3:6] = [0.0, 0.0, -5.0]
    cameras[:, 6:9] = [500.0, -0.1, 0.02]
    truth = np.concatenate([cameras.ravel(), points.ravel()])
    exact = residuals(truth, np.zeros((CAMERAS * POINTS, 2))).reshape(-1, 2)
    pictures = exact + noise * rng.normal(size=exact.shape)

    start = truth * (1 + 0.02 * rng.normal(size=truth.shape)) + 0.02 * rng.normal(size=truth.shape)
    before = np.sqrt(np.mean(residuals(start, pictures) ** 2))
    fit = least_squares(residuals, start, jacobian, args=(pictures,), x_scale="jac")
    after = np.sqrt(np.mean(fit.fun**2))

    print(f"{CAMERAS} cameras, {POINTS} points: {len(fit.fun)} residuals, {len(start)} unknowns")
    print(f"error in pixels: {before:.2f} before, {after:.2f} after {fit.njev} Jacobians")
    return {"before": float(before), "after": float(after), "noise": noise, "fit": fit}


if __name__ == "__main__":
    main()
