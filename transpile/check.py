"""`check_grads`: derivatives compared with finite differences of the function."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from transpile.aggregates import flatten, unflatten
from transpile.api import jvp, vjp
from transpile.driver.derivative_values import own
from transpile.driver.tracebacks import edge
from transpile.errors import error

__tracebackhide__ = True

MODES = ("fwd", "rev")
FINER = 16.0  # the second step is smaller by this factor: it tells a kink from a wrong derivative


@edge
def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: Sequence[str] = MODES,
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """None if the derivatives of ``f`` at ``args`` agree with finite differences; AssertionError names the one that does not.

    ``args`` is a tuple with one entry for each argument (T309). Each argument with floating-point leaves is moved along a
    direction of its own, the same in every run. ``order`` is the highest derivative, each taken of the one before; ``modes``
    is a tuple of "fwd" and "rev" (T505). A derivative ``d`` passes if ``|d - difference| <= atol + rtol * |difference|``; the
    default of both is 1e-5 for float64 and 2e-2 for narrower floats. ``eps`` is the step relative to the largest element, at
    least 1 (6e-6; 5e-3 if narrower).

    At a kink, where the one-sided slopes differ however small the step is, there is no derivative to compare with: a value
    between the slopes passes with a UserWarning that names them, any other fails.

    >>> import numpy as np
    >>> import transpile as tp
    >>> tp.check_grads(lambda x, n: np.sum(np.sin(x) ** n), (np.array([0.5, 1.5]), 3))
    """
    if not callable(f):
        raise error("T411", f"expected a function, got {type(f).__name__}", hint="write check_grads(f, (x,))")
    if not isinstance(args, (tuple, list)):
        raise error("T309", "args must be a tuple with one entry for each argument", hint="write (x,) for one argument")
    unknown = [m for m in modes if m not in MODES]
    if isinstance(modes, str) or unknown:
        raise error("T505", f"unknown modes {modes!r}", hint="write ('fwd', 'rev'), ('fwd',) or ('rev',)")
    _check(f, own(tuple(args)), order, tuple(modes), _Tolerance(atol, rtol, eps), names_of(f, args), "")


class _Tolerance:
    """Tolerances and step, as given or by dtype."""

    def __init__(self, atol: float | None, rtol: float | None, eps: float | None) -> None:
        self.given, self.eps = (atol, rtol), eps

    def of(self, dtype: np.dtype) -> tuple[float, float]:
        """``(atol, rtol)`` for a dtype."""
        usual = 1e-5 if dtype.itemsize >= 8 else 2e-2
        atol, rtol = (usual if t is None else t for t in self.given)
        return atol, rtol

    def step(self, leaves: Sequence[np.ndarray]) -> float:
        """The step of the differences: ``eps`` times the largest magnitude among the leaves, at least 1."""
        narrow = any(v.dtype.itemsize < 8 for v in leaves)
        eps = (5e-3 if narrow else 6e-6) if self.eps is None else self.eps
        return eps * max([1.0, *(float(np.max(np.abs(v), initial=0.0)) for v in leaves)])


def names_of(f: Any, args: Sequence[Any]) -> list[str]:
    """The names of the positional arguments for messages; ``argument 0`` and so on if ``f`` does not take them by name."""
    try:
        bound = inspect.signature(f).bind(*args).arguments
    except (TypeError, ValueError):
        return [f"argument {k}" for k in range(len(args))]
    found: list[str] = []
    for name, value in bound.items():
        star = inspect.signature(f).parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        found += [f"{name}[{k}]" for k in range(len(value))] if star else [name]
    return found


def _check(
    f: Any, args: tuple[Any, ...], order: int, modes: Sequence[str], tolerance: _Tolerance, names: list[str], after: str
) -> None:
    """Compares the derivatives of ``f`` from order 1 to ``order``, each order with the modes applied to derivatives by each
    mode. ``after`` names the modes applied so far, for messages; AssertionError if one is wrong."""
    if order < 1:
        return
    rng = np.random.default_rng(0)
    smooth = True
    for k, moved in _directions(args, rng):
        line = _Line(f, args, moved, tolerance, tolerance.step(_floats(args[k])))
        for mode in modes:
            found = _forward(f, args, moved) if mode == "fwd" else _reverse(f, args, moved, line)
            smooth &= line.compare(found, f"{after}{mode}", names[k])
    if order > 1 and smooth:
        tangents = tuple(_along(x, rng) for x in args)
        cotangent = _along(f(*own(args)), rng)
        for mode in modes:
            inner = _pushed(f, tangents) if mode == "fwd" else _pulled(f, cotangent)
            _check(inner, args, order - 1, modes, tolerance, names, f"{after}{mode}, then ")


def _pushed(f: Any, tangents: tuple[Any, ...]) -> Any:
    def pushed(*args: Any) -> Any:
        return jvp(f, args, tangents)[1]

    return pushed


def _pulled(f: Any, cotangent: Any) -> Any:
    def pulled(*args: Any) -> Any:
        return vjp(f, *args)[1](cotangent)

    return pulled


# ----------------------------------------------------------------------------------------------------- directions


def _is_float(leaf: Any) -> bool:
    return np.result_type(leaf).kind == "f"


def _along(value: Any, rng: np.random.Generator) -> Any:
    """A direction with the structure of ``value``: 0.5 to 1 in magnitude in floating-point leaves, zero in the others."""
    leaves, tree = flatten(value)
    return unflatten(tree, [_direction(leaf, rng) for leaf in leaves])


def _direction(leaf: Any, rng: np.random.Generator) -> Any:
    if not _is_float(leaf):
        return np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else 0
    found = rng.uniform(0.5, 1.0, np.shape(leaf)) * rng.choice([-1.0, 1.0], np.shape(leaf))
    return np.asarray(found, np.result_type(leaf)) if isinstance(leaf, np.ndarray) else type(leaf)(found)


def _directions(args: tuple[Any, ...], rng: np.random.Generator) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """For each argument with a floating-point leaf, its position and a tuple of directions, one for each argument, zero for the
    others."""
    for k, value in enumerate(args):
        if any(_is_float(leaf) for leaf in flatten(value)[0]):
            yield k, tuple(_along(x, rng) if j == k else _scaled(x, 0.0) for j, x in enumerate(args))


def _scaled(value: Any, by: float) -> Any:
    leaves, tree = flatten(value)
    return unflatten(
        tree, [type(v)(v * by) if type(v) in (int, float) else np.asarray(v * by, v.dtype)[()] for v in leaves]
    )


def _floats(value: Any) -> list[np.ndarray]:
    """The floating-point leaves of a value, in order, as arrays."""
    return [np.asarray(leaf) for leaf in flatten(value)[0] if _is_float(leaf)]


# ---------------------------------------------------------------------------------------------------- the comparison


def _forward(f: Any, args: tuple[Any, ...], moved: tuple[Any, ...]) -> list[np.ndarray]:
    return _floats(jvp(f, own(args), moved)[1])


def _reverse(f: Any, args: tuple[Any, ...], moved: tuple[Any, ...], line: _Line) -> list[np.ndarray]:
    """The derivative along the line, in the direction ``moved``, of the results weighted by a random cotangent: a list of one
    number."""
    value, pull = vjp(f, *own(args))
    bars = pull(line.cotangent(value))
    total = 0.0
    for bar, x_dot in zip(bars, moved):
        pairs = zip(flatten(bar)[0], (v for v in flatten(x_dot)[0] if _is_float(v)))
        total += sum(float(np.sum(np.asarray(a, float) * np.asarray(b, float))) for a, b in pairs)
    return [np.asarray(total)]


class _Line:
    """The function restricted to a line through the arguments, and its finite differences."""

    def __init__(
        self, f: Any, args: tuple[Any, ...], moved: tuple[Any, ...], tolerance: _Tolerance, step: float
    ) -> None:
        self.f, self.args, self.moved, self.tolerance, self.h = f, args, moved, tolerance, step
        self.weights: list[np.ndarray] | None = None

    def at(self, t: float) -> list[np.ndarray]:
        """The floating-point leaves of the result, as float64 arrays, at ``args + t * moved``."""
        leaves, tree = flatten(own(self.args))
        steps, _ = flatten(self.moved)
        moved = [_moved(v, d, t) if _is_float(v) else v for v, d in zip(leaves, steps)]
        with np.errstate(all="ignore"):
            return [v.astype(float) for v in _floats(self.f(*unflatten(tree, moved)))]

    def cotangent(self, value: Any) -> Any:
        """A random cotangent with the structure of ``value``; its weights are kept for `folded`."""
        found = _along(value, np.random.default_rng(1))
        self.weights = [v.astype(float) for v in _floats(found)]
        return found

    def slopes(self, h: float) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
        """Right, left, and central differences with step ``h``; the central ones extrapolated (Richardson) from two steps."""
        low, half_low, here, half_high, high = (self.at(t) for t in (-h, -h / 2, 0.0, h / 2, h))
        right = [(b - a) / h for a, b in zip(here, high)]
        left = [(a - b) / h for a, b in zip(here, low)]
        whole = [(b - a) / (2 * h) for a, b in zip(low, high)]
        half = [(b - a) / h for a, b in zip(half_low, half_high)]
        return right, left, [(4 * b - a) / 3 for a, b in zip(whole, half)]

    def folded(self, parts: list[np.ndarray], sums: bool) -> list[np.ndarray]:
        """The parts, one for each leaf of the result, or with ``sums`` a list of one number: their inner product with the
        cotangent."""
        if not sums:
            return parts
        assert self.weights is not None
        return [np.asarray(sum(float(np.sum(w * p)) for w, p in zip(self.weights, parts)))]

    def compare(self, found: list[np.ndarray], how: str, name: str) -> bool:
        """True if the derivatives ``found`` agree with the differences; False, with a UserWarning, where no derivative exists:
        at a kink, a step or the end of the domain. AssertionError otherwise. ``how`` names the modes, such as "fwd, then rev",
        and ``name`` the argument, for messages."""
        sums = how.endswith("rev")
        right, left, central = (self.folded(p, sums) for p in self.slopes(self.h))
        atol, rtol = self.tolerance.of(np.result_type(*_floats(self.args)))
        finer = None
        smooth = True
        for k, (d, c) in enumerate(zip(found, central)):
            with np.errstate(invalid="ignore"):
                close = (
                    (np.abs(d - c) <= atol + rtol * np.abs(c))
                    | (d == c)
                    | np.isnan(d) & np.isnan(right[k]) & np.isnan(left[k])
                )
                bent = ~(np.abs(right[k] - left[k]) <= 10 * (atol + rtol * np.abs(c)))
            for at in map(tuple, np.argwhere(~close | bent)):
                finer = finer or [self.folded(p, sums) for p in self.slopes(self.h / FINER)]
                sides = [float(left[k][at]), float(right[k][at])]
                nearer = [float(finer[1][k][at]), float(finer[0][k][at])]
                verdict, said = _judged(float(d[at]), bool(close[at]), sides, nearer, atol, rtol)
                if verdict == "right":
                    continue
                place = f", in entry {list(map(int, at))} of result {k}" if np.ndim(d) else ""
                text = f"order {how.count(',') + 1} ({how}): {name!r}{place}: the derivative along a direction is {float(d[at])!r}"
                if verdict == "wrong":
                    raise AssertionError(
                        f"check_grads, {text}; {said or f'differences of the function give {float(c[at])!r}'}"
                    )
                smooth = False
                warnings.warn(f"check_grads, {text}, {said}", UserWarning, stacklevel=_outside())
                break
        return smooth


def _outside() -> int:
    """The ``stacklevel`` of the first frame outside transpile, where a warning belongs."""
    frame, level = sys._getframe(1), 1
    while (
        frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __name__.partition(".")[0]
    ):
        frame, level = frame.f_back, level + 1
    return level


def _judged(
    d: float, is_close: bool, sides: list[float], nearer: list[float], atol: float, rtol: float
) -> tuple[str, str]:
    """A verdict and its reason for the derivative ``d``, which is not the slope of both sides: "right", "wrong" or "one of
    several". ``sides`` are the slopes to the left and right, ``nearer`` those of smaller steps; ``is_close``: ``d`` agrees with
    the central difference."""
    there = [k for k in (0, 1) if np.isfinite(nearer[k])]
    if not there:
        return ("right" if is_close else "wrong"), ""
    slopes, far = [nearer[k] for k in there], [sides[k] for k in there]
    shown = " and ".join(f"{s:.6g} on the {('left', 'right')[k]}" for k, s in zip(there, slopes))
    slack = atol + rtol * max(map(abs, slopes))
    growth = max(map(abs, slopes)) / max(max(map(abs, far)), atol)
    if len(there) == 1 and growth > FINER**0.25:
        return "one of several", f"at the end of the domain: closer to the point, the slope grows to {shown}"
    if growth > FINER / 4:
        return "one of several", f"at a step or a pole: closer to the point, the slope grows to {shown}"
    if len(there) == 1:
        is_right = abs(d - slopes[0]) <= slack + abs(slopes[0] - far[0])
        return ("right", "") if is_right else ("wrong", f"at the end of the domain, where the slope is {shown}")
    if abs(slopes[1] - slopes[0]) <= 0.5 * abs(far[1] - far[0]) or abs(slopes[1] - slopes[0]) <= slack:
        return ("right" if is_close else "wrong"), ""
    if min(slopes) - slack <= d <= max(slopes) + slack:
        return "one of several", f"at a kink: the slope is {shown}"
    return "wrong", f"at a kink, and it does not lie between the slopes: {shown}"


def _moved(leaf: Any, direction: Any, t: float) -> Any:
    if isinstance(leaf, np.ndarray):
        return np.asarray(leaf + t * direction, leaf.dtype)
    return type(leaf)(leaf + t * direction)
