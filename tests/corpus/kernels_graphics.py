"""Kernels from graphics and vision: rays, curves, cameras, images."""

import math

import numpy as np

from .program import Collection, normal, uniform

PROGRAMS = Collection("kernel graphics")
program = PROGRAMS.program


@program(
    args=lambda: (np.array([0.1, -0.1, 3.0]), 1.2, np.array([0.5, 0.7, -0.5]), 4),
    wrt=(0, 1, 2),
    tags="for nested continue if",
)
def ray_sphere_shading(centre, radius, light, size):
    """A small picture of a lit sphere: rays that miss it are skipped."""
    image = np.zeros((size, size))
    towards = light / np.sqrt(np.sum(light * light))
    for i in range(size):
        for j in range(size):
            x = (j + 0.5) / size - 0.5
            y = (i + 0.5) / size - 0.5
            ray = np.array([x, y, 1.0]) / math.sqrt(x * x + y * y + 1.0)
            along = ray @ centre
            inside = along * along - centre @ centre + radius * radius
            if inside <= 0.0:
                continue
            distance = along - math.sqrt(inside)
            normal_vector = (distance * ray - centre) / radius
            brightness = normal_vector @ towards
            if brightness > 0.0:
                image[i, j] = 0.1 + 0.9 * brightness
            else:
                image[i, j] = 0.1
    return image


@program(
    args=lambda: (
        np.array([0.3, -0.2, 0.1, 0.2, 0.1, 4.0]),
        np.array([500.0, 0.1, -0.05]),
        uniform(-1.0, 1.0, 3, seed=1),
        np.array([10.0, -20.0]),
    ),
    wrt=(0, 1, 2),
    tags="if rodrigues",
)
def bundle_adjustment(camera, lens, point, observed):
    """Where a point is seen, less where it was seen: rotation, shift, radial distortion."""
    axis = camera[:3]
    angle2 = axis @ axis
    if angle2 > 1e-12:
        angle = math.sqrt(angle2)
        c, s = math.cos(angle), math.sin(angle)
        k = axis / angle
        turned = np.array(
            [
                k[1] * point[2] - k[2] * point[1],
                k[2] * point[0] - k[0] * point[2],
                k[0] * point[1] - k[1] * point[0],
            ]
        )
        moved = c * point + s * turned + (1.0 - c) * (k @ point) * k
    else:
        moved = point + np.array(
            [
                axis[1] * point[2] - axis[2] * point[1],
                axis[2] * point[0] - axis[0] * point[2],
                axis[0] * point[1] - axis[1] * point[0],
            ]
        )
    p = moved + camera[3:]
    u, v = p[0] / p[2], p[1] / p[2]
    r2 = u * u + v * v
    focal = lens[0] * (1.0 + lens[1] * r2 + lens[2] * r2 * r2)
    return np.array([focal * u, focal * v]) - observed


@program(args=lambda: (normal(7, 2), 3.35), wrt=(0, 1), tags="while for nested inplace copy")
def spline(points, t):
    """A cubic B-spline curve at one parameter by de Boor's algorithm."""
    degree = 3
    n = len(points)
    knots = np.arange(n + degree + 1) * 1.0
    span = degree
    while span < n - 1 and t >= knots[span + 1]:
        span += 1
    d = points[span - degree : span + 1].copy()
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            low = knots[j + span - degree]
            high = knots[j + 1 + span - r]
            weight = (t - low) / (high - low)
            d[j] = (1.0 - weight) * d[j - 1] + weight * d[j]
    return d[degree]


@program(
    args=lambda: (np.array([0.0, 1.0, 2.2, 3.0, 4.5]), normal(5), np.array([0.4, 2.5, 3.9])),
    wrt=(0, 1, 2),
    tags="for while inplace tridiagonal",
)
def natural_spline(knots, values, at):
    """A natural cubic spline: second derivatives by a tridiagonal sweep, then evaluated."""
    n = len(knots)
    curve = np.zeros(n)
    pivot = np.zeros(n)
    for i in range(1, n - 1):
        left, right = knots[i] - knots[i - 1], knots[i + 1] - knots[i]
        share = left / (left + right)
        p = share * pivot[i - 1] + 2.0
        pivot[i] = (share - 1.0) / p
        bend = (values[i + 1] - values[i]) / right - (values[i] - values[i - 1]) / left
        curve[i] = (6.0 * bend / (left + right) - share * curve[i - 1]) / p
    for i in range(n - 2, 0, -1):
        curve[i] = pivot[i] * curve[i + 1] + curve[i]
    result = np.empty(len(at))
    for k, t in enumerate(at):
        low = 0
        while low < n - 2 and knots[low + 1] <= t:
            low += 1
        h = knots[low + 1] - knots[low]
        a, b = (knots[low + 1] - t) / h, (t - knots[low]) / h
        smooth = (a**3 - a) * curve[low] + (b**3 - b) * curve[low + 1]
        result[k] = a * values[low] + b * values[low + 1] + smooth * h * h / 6.0
    return result


@program(args=lambda: (np.array([0.2, 0.1, 2.5]), 0.8, 0.3), wrt=(0, 1, 2), tags="while break norm")
def sphere_tracing(centre, radius, blend):
    """A ray marches towards two spheres that melt together, until it is near."""
    ray = np.array([0.05, 0.02, 1.0])
    ray = ray / np.sqrt(ray @ ray)
    other = np.array([-0.3, 0.2, 2.8])
    t = 0.0
    steps = 0
    glow = 0.0
    while True:
        p = t * ray
        a = np.sqrt(np.sum((p - centre) ** 2)) - radius
        b = np.sqrt(np.sum((p - other) ** 2)) - 0.7
        h = min(max(0.5 + 0.5 * (b - a) / blend, 0.0), 1.0)
        distance = b + h * (a - b) - blend * h * (1.0 - h)
        if distance < 1e-3 or t > 10.0:
            break
        t = t + distance
        glow = glow + math.exp(-4.0 * distance)
        steps += 1
        if steps == 50:
            break
    return t + 0.1 * glow


@program(
    args=lambda: (uniform(0.0, 1.0, 5, 5), np.array([[0.9, 0.1, 0.33], [-0.15, 0.8, 0.71]])),
    wrt=(0, 1),
    tags="for nested int floor if",
)
def warp_image(image, affine):
    """An image moved by an affine map, with bilinear interpolation, and how much of it is seen."""
    rows, columns = image.shape
    result = np.zeros((3, 3))
    seen = 0
    total = 0.0
    for i in range(3):
        for j in range(3):
            y = affine[0, 0] * i + affine[0, 1] * j + affine[0, 2]
            x = affine[1, 0] * i + affine[1, 1] * j + affine[1, 2]
            r, c = int(math.floor(y)), int(math.floor(x))
            if r < 0 or c < 0 or r + 1 >= rows or c + 1 >= columns:
                continue
            p, q = y - r, x - c
            above = (1.0 - q) * image[r, c] + q * image[r, c + 1]
            below = (1.0 - q) * image[r + 1, c] + q * image[r + 1, c + 1]
            result[i, j] = (1.0 - p) * above + p * below
            total += result[i, j]
            seen += 1
    return result, total / max(seen, 1)


@program(args=lambda: (normal(4, 2), 0.35), wrt=(0, 1), tags="for inplace triangular view")
def bezier_length(control, end):
    """Length of part of a Bézier curve, its points by de Casteljau's algorithm."""
    n = control.shape[0]
    pieces = 6
    length = 0.0
    before = control[0]
    for k in range(1, pieces + 1):
        t = end * k / pieces
        work = control.copy()
        for level in range(1, n):
            top = work[: n - level]
            top[:] = (1.0 - t) * work[: n - level] + t * work[1 : n - level + 1]
        here = work[0]
        gap = here - before
        length += math.sqrt(gap[0] * gap[0] + gap[1] * gap[1])
        before = here.copy()
    return length


@program(
    args=lambda: (normal(4), np.array([1.0, 0.8, 0.6, 0.4]), np.array([1.2, 0.9])),
    wrt=(0, 1, 2),
    tags="for append stack matmul",
)
def robot_arm(angles, lengths, target):
    """Joints of an arm by a product of rotations; distance of its hand from a target."""
    frame = np.eye(2)
    hand = np.zeros(2)
    joints = [hand]
    for angle, length in zip(angles, lengths):
        c, s = math.cos(angle), math.sin(angle)
        frame = frame @ np.array([[c, -s], [s, c]])
        hand = hand + length * frame[:, 0]
        joints.append(hand)
    path = np.stack(joints)
    gap = path[-1] - target
    height = 0.0
    for k in range(len(joints)):
        height += 0.1 * path[k, 1] ** 2
    return gap @ gap + height


@program(args=lambda: (normal(5, 3), normal(7, 3, seed=1)), wrt=(0, 1), tags="for nested minmax")
def chamfer_distance(first, second):
    """How far two clouds of points are from each other: of each point the nearest one of the other cloud."""
    total = 0.0
    for a, b in ((first, second), (second, first)):
        for i in range(len(a)):
            nearest = np.inf
            for j in range(len(b)):
                distance = 0.0
                for k in range(a.shape[1]):
                    distance += (a[i, k] - b[j, k]) ** 2
                nearest = min(nearest, distance)
            total += nearest / len(a)
    return total
