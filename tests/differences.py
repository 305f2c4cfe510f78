"""Derivatives by differences, and the checks that compare a transformed function with them.

The original function is called in long double if it allows that (most of NumPy keeps the type), else in its own types; the
central differences at several steps are extrapolated (Ridders), which also gives an estimate of their error. Nothing here
knows a rule of calculus, and no analytic derivative is typed in. NaN and infinity are compared, never masked.

>>> subject = Subject(lambda x: np.sum(x * x), lambda: (np.array([1.0, 2.0]),))
>>> subject.tangents
(array([ 0.12573022, -0.13210486]),)
>>> error = subject.difference.leaves[0] - 2 * (subject.tangents[0] @ np.array([1.0, 2.0]))
>>> bool(abs(error) < 1e-15)
True
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from transpile.aggregates import Node, Static, flatten, unflatten

WIDE = np.longdouble
STEPS = (1e-3, 1e-5, 1e-7)  # the first step of each table; smaller ones where a kink is near
COARSE = (3e-2, 3e-3)  # for functions that compute in float32
LEVELS = 5


class Unstable(AssertionError):
    """The differences do not settle: the function has a kink or a jump here, so they say nothing."""


# ------------------------------------------------------------------------------------------------- leaves


def is_float(leaf: Any) -> bool:
    """Whether a leaf can carry a derivative."""
    return isinstance(leaf, float) or getattr(getattr(leaf, "dtype", None), "kind", "") == "f"


def is_scalar(leaf: Any) -> bool:
    return not isinstance(leaf, np.ndarray)


def dtype_of(leaf: Any) -> np.dtype:
    return np.asarray(leaf).dtype


def is_single(leaf: Any) -> bool:
    """Whether a leaf is float32."""
    return is_float(leaf) and dtype_of(leaf) == np.float32


def copied(tree: Any) -> Any:
    """A copy of the tree with its own arrays in the same layout."""
    leaves, structure = flatten(tree)
    return unflatten(structure, [_copied(leaf) for leaf in leaves])


def _copied(leaf: Any) -> Any:
    if not isinstance(leaf, np.ndarray):
        return leaf
    whole = leaf.copy(order="K")
    if any(s < 0 for s in leaf.strides):  # copy() would make them positive
        turn = tuple(slice(None, None, -1) if s < 0 else slice(None) for s in leaf.strides)
        whole = leaf[turn].copy(order="K")[turn]
    whole.flags.writeable = leaf.flags.writeable
    return whole


def floats(tree: Any) -> list[Any]:
    """The leaves that can carry a derivative."""
    return [leaf for leaf in flatten(tree)[0] if is_float(leaf)]


def with_floats(tree: Any, values: Sequence[Any]) -> Any:
    """The tree with its float leaves replaced, in order."""
    leaves, structure = flatten(tree)
    new = iter(values)
    return unflatten(structure, [next(new) if is_float(leaf) else leaf for leaf in leaves])


def random_like(tree: Any, seed: int) -> Any:
    """The tree with standard normal numbers for its float leaves, of the same shapes and types."""
    rng = np.random.default_rng(seed)

    def one(leaf: Any) -> Any:
        numbers = rng.normal(size=np.shape(leaf))
        return dtype_of(leaf).type(numbers) if is_scalar(leaf) else numbers.astype(leaf.dtype)

    return with_floats(tree, [one(leaf) for leaf in floats(tree)])


def zeros_like(tree: Any) -> Any:
    """The tree with zeros for its float leaves."""
    return with_floats(tree, [0.0 if is_scalar(leaf) else np.zeros_like(leaf) for leaf in floats(tree)])


# -------------------------------------------------------------------------------------------- differences


@dataclass
class Difference:
    """For each float leaf of the result, its derivative and an estimate of the error, elementwise."""

    leaves: list[np.ndarray]
    errors: list[np.ndarray]


def directional(f: Callable, args: tuple, tangents: tuple, coarse: bool = False) -> Difference:
    """The derivative of ``f`` at ``args`` along ``tangents`` (a tree like ``args``)."""
    base = _call(f, args)
    shapes = [np.shape(leaf) for leaf in floats(base)]
    best: tuple[np.ndarray, np.ndarray] | None = None
    for wide in (True, False):
        along = _line(f, args, tangents, wide)
        if wide and not _same_value(along, base):
            continue
        for first in COARSE if coarse else STEPS:
            try:
                found = _extrapolate(along, first)
            except Exception:  # the domain ends here, or an iteration does not converge: a smaller step may work
                continue
            # a smaller step only where a larger one fails: it rounds more, so coarsely that its elements may agree
            # by chance
            best = found if best is None else _better(best, found)
            if not coarse and not _is_rough(*best):
                break
        if best is not None and (coarse or not _is_rough(*best)):
            break
    if best is None:
        raise Unstable("the function cannot be called beside the point")
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    parts = [np.split(flat, ends) for flat in best]
    return Difference(*[[p.reshape(shape) for p, shape in zip(part, shapes)] for part in parts])


def gradient_by_differences(f: Callable, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """The gradient of a function of one vector, by central differences with one step."""
    return np.array([(f(x + step * u) - f(x - step * u)) / (2.0 * step) for u in np.eye(len(x))])


def _call(f: Callable, args: tuple) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*copied(args))


def _line(f: Callable, args: tuple, tangents: tuple, wide: bool) -> Callable[[float], np.ndarray]:
    """The function t -> the float leaves of f(args + t * tangents), flat, in long double."""

    def along(t: float) -> np.ndarray:
        moved = [_moved(x, v, t, wide) for x, v in zip(floats(args), floats(tangents))]
        y = _call(f, with_floats(copied(args), moved))
        flat = [np.asarray(leaf, WIDE).ravel() for leaf in floats(y)]
        return np.concatenate([np.zeros(0, WIDE), *flat])

    return along


def _moved(x: Any, v: Any, t: float, wide: bool) -> Any:
    if is_scalar(x):
        moved = WIDE(x) + WIDE(t) * WIDE(v)
        return moved if wide else type(x)(moved)
    out = _copied(x).astype(WIDE, order="K") if wide else _copied(x)
    out.flags.writeable = True
    out[...] = np.asarray(x, WIDE) + WIDE(t) * np.asarray(v, WIDE)
    out.flags.writeable = x.flags.writeable
    return out


def _same_value(along: Callable, base: Any) -> bool:
    """Whether the function accepts long double and computes the same value with it."""
    try:
        wide = along(0.0)
    except Exception:  # a function may raise anything for a type that it does not expect
        return False
    flat = np.concatenate([np.zeros(0), *[np.asarray(leaf, float).ravel() for leaf in floats(base)]])
    return wide.shape == flat.shape and np.allclose(wide.astype(float), flat, rtol=1e-4, atol=1e-6, equal_nan=True)


def _extrapolate(along: Callable, first: float) -> tuple[np.ndarray, np.ndarray]:
    """Central differences at halved steps, extrapolated; elementwise the value that agrees best with its neighbours, and its
    error."""
    table: list[np.ndarray] = []
    best = error = None
    for level in range(LEVELS):
        h = first / 2**level
        above, below = along(h), along(-h)
        row = [_quotient(above, below, h)]
        rounding = np.finfo(WIDE).eps * np.maximum(np.abs(above), np.abs(below)) / h
        for k, coarser in enumerate(table):
            better = row[k] + (row[k] - coarser) / (4.0 ** (k + 1) - 1.0)
            change = np.maximum(np.maximum(np.abs(better - row[k]), np.abs(better - coarser)), rounding)
            if best is None:
                best, error = better, change
            else:
                best, error = _better((best, error), (better, change))
            row.append(better)
        table = row
    return best, error


def _quotient(above: np.ndarray, below: np.ndarray, h: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        # the difference of equal infinities is 0
        return np.where(above == below, WIDE(0), above - below) / (2 * WIDE(h))


def _better(a: tuple, b: tuple) -> tuple[np.ndarray, np.ndarray]:
    """Elementwise the value with the smaller error; a NaN error is the largest."""
    take = (b[1] < a[1]) | (np.isnan(a[1]) & ~np.isnan(b[1]))
    return np.where(take, b[0], a[0]), np.where(take, b[1], a[1])


def _is_rough(value: np.ndarray, error: np.ndarray) -> bool:
    scale = max(1e-3, float(np.max(np.abs(value), initial=0, where=np.isfinite(value))))
    return bool(np.any(~(error <= 1e-9 * scale) & ~np.isnan(value)))


# ---------------------------------------------------------------------------------------------- comparison


def same(actual: Any, wanted: Any, what: str, rtol: float, floor: float = 0.0, error: Any = 0.0) -> None:
    """Asserts that two leaves agree within ``rtol`` of the largest finite number of ``wanted`` (at least ``floor``), plus
    ``error``."""
    actual, wanted = np.asarray(actual), np.asarray(wanted)
    assert actual.shape == wanted.shape, f"{what}: shape {actual.shape}, expected {wanted.shape}"
    if actual.dtype.kind not in "fc" or wanted.dtype.kind not in "fc":
        assert np.array_equal(actual, wanted), f"{what}: {actual}, expected {wanted}"
        return
    actual, wanted = actual.astype(WIDE), wanted.astype(WIDE)
    finite = np.isfinite(wanted)
    scale = max(floor, float(np.max(np.abs(wanted), initial=0, where=finite)))
    with np.errstate(invalid="ignore"):
        close = np.abs(actual - wanted) <= rtol * scale + error
    good = np.where(finite, close, (actual == wanted) | (np.isnan(actual) & np.isnan(wanted)))
    if not np.all(good):
        where = "" if not actual.shape else f" (first at {[int(k) for k in np.argwhere(~good)[0]]})"
        raise AssertionError(f"{what}:{where}\n  got      {_short(actual)}\n  expected {_short(wanted)}")


def _short(a: np.ndarray) -> str:
    return np.array2string(a.astype(float), precision=12, threshold=40).replace("\n", "")


def same_form(actual: Any, wanted: Any, what: str) -> None:
    """Asserts that two trees agree in structure, and their leaves in shape, type and in being scalars."""
    leaves, structure = flatten(actual)
    others, expected = flatten(wanted)
    assert _form(structure) == _form(expected), f"{what}: structure of {actual!r}, expected that of {wanted!r}"
    for k, (a, b) in enumerate(zip(leaves, others)):
        place = f"{what}, leaf {k}"
        assert np.shape(a) == np.shape(b), f"{place}: shape {np.shape(a)}, expected {np.shape(b)}"
        assert dtype_of(a) == dtype_of(b), f"{place}: {dtype_of(a)}, expected {dtype_of(b)}"
        assert is_scalar(a) == is_scalar(b), f"{place}: {type(a).__name__}, expected {type(b).__name__}"


def _form(tree: Any) -> Any:
    """The structure for a comparison: a bool counts as a number."""
    if isinstance(tree, Node):
        return tree.kind, tree.keys, tuple(_form(c) for c in tree.children)
    if isinstance(tree, Static) and not isinstance(tree.value, (bool, np.bool_)):
        return tree
    return "leaf"


def same_tree(actual: Any, wanted: Any, what: str, rtol: float, floor: float = 0.0) -> None:
    """Asserts that two trees agree in form and numbers."""
    same_form(actual, wanted, what)
    for k, (a, b) in enumerate(zip(flatten(actual)[0], flatten(wanted)[0])):
        single = is_single(b)
        same(a, b, f"{what}, leaf {k}", max(rtol, 1e-5) if single else rtol, floor)


def apart(what: str, **trees: Any) -> None:
    """Asserts that no two arrays in these trees share memory, not even within one tree."""
    named = [
        (name, k, leaf)
        for name, tree in trees.items()
        for k, leaf in enumerate(flatten(tree)[0])
        if isinstance(leaf, np.ndarray)
    ]
    for i, (name, k, a) in enumerate(named):
        for other, j, b in named[i + 1 :]:
            assert not np.shares_memory(a, b), f"{what}: {name}[{k}] and {other}[{j}] are one memory"


# -------------------------------------------------------------------------------------------------- checks


class Subject:
    """A function at a point, with the reference values for its transformed versions, each computed once.

    ``args()`` gives fresh arguments; ``wrt`` are the positions whose float leaves vary. ``tol``: relative tolerance of the
    comparison with differences, where the default does not fit the program.
    """

    def __init__(
        self,
        f: Callable,
        args: Callable[[], tuple],
        wrt: Sequence[int] | None = None,
        tol: float | None = None,
        seed: int = 0,
    ) -> None:
        self.f = f
        self.args = args
        self.wrt = tuple(range(len(args()))) if wrt is None else tuple(wrt)
        self.seed = seed
        self.single = any(map(is_single, flatten((args(), self.value))[0]))
        self.tol = tol or (1e-2 if self.single else 1e-7)
        self.exact = 1e-4 if self.single else 1e-9  # tolerance between two computations of one derivative

    @cached_property
    def value(self) -> Any:
        return copied(_call(self.f, self.args()))

    @cached_property
    def tangents(self) -> tuple:
        """Random tangents at the positions of ``wrt``, zeros elsewhere."""
        return tuple(
            random_like(a, self.seed + k) if k in self.wrt else zeros_like(a) for k, a in enumerate(self.args())
        )

    @cached_property
    def cotangent(self) -> Any:
        return random_like(self.value, self.seed + 100)

    @cached_property
    def difference(self) -> Difference:
        return directional(self.f, self.args(), self.tangents, coarse=self.single)


def check_against_differences(dots: Sequence[Any], y: Any, wanted: Difference, what: str, rtol: float) -> None:
    """Asserts that the derivatives of the float leaves of ``y`` agree with differences, whose own error must be small."""
    for k, (dot, value, d, error) in enumerate(zip(dots, floats(y), wanted.leaves, wanted.errors)):
        size = np.abs(np.append(np.asarray(value, float).ravel(), np.asarray(d, float).ravel()))
        floor = max(1e-4, 1e-2 * float(np.max(size, initial=0, where=np.isfinite(size))))
        scale = max(floor, float(np.max(np.abs(d), initial=0, where=np.isfinite(d))))
        if not np.all((error <= rtol * scale) | ~np.isfinite(d)):
            raise Unstable(f"{what}, leaf {k}: differences {_short(d)} with errors {_short(error)}")
        same(dot, d, f"{what}, leaf {k}, against differences", rtol, floor, 3 * error)


def check_value(s: Subject, y: Any, what: str) -> None:
    """Asserts that the value from a transformed function equals the function's own."""
    same_tree(y, s.value, what, 1e-11)


def check_jvp(s: Subject, jvp: Callable, differences: bool = True) -> tuple[Any, Any]:
    """Checks ``jvp(f, primals, tangents)``: the value, and the form and numbers of the tangent. Returns both."""
    y, y_dot = jvp(s.f, s.args(), copied(s.tangents))
    check_value(s, y, "value of jvp")
    dots = tangent_leaves(y, y_dot)
    for k, (leaf, dot) in enumerate(zip(floats(s.value), dots)):
        same_form(dot, leaf, f"tangent {k}")
    if differences:
        check_against_differences(dots, s.value, s.difference, "jvp", s.tol)
    return y, y_dot


def tangent_leaves(y: Any, y_dot: Any) -> list[Any]:
    """The tangents of the float leaves of ``y``; other leaves have none."""
    leaves, dots = flatten(y)[0], flatten(y_dot)[0]
    if len(leaves) == len(dots):
        return [d for leaf, d in zip(leaves, dots) if is_float(leaf)]
    assert len(floats(y)) == len(dots), f"tangents {y_dot!r} do not fit the result {y!r}"
    return dots


def check_vjp(s: Subject, jvp: Callable, vjp: Callable) -> tuple:
    """Checks ``vjp(f, *primals)``: <cotangent, tangent of y> equals <adjoint of x, tangent of x>. Returns the adjoints."""
    y, pullback = vjp(s.f, *s.args())
    check_value(s, y, "value of vjp")
    bars = pullback(copied(s.cotangent))
    assert isinstance(bars, tuple) and len(bars) == len(s.args()), f"pullback gave {bars!r}"
    chosen = tuple(bars[k] for k in s.wrt)
    primals = tuple(s.args()[k] for k in s.wrt)
    same_form(chosen, primals, "adjoints")
    y_dot = tangent_leaves(s.value, jvp(s.f, s.args(), copied(s.tangents))[1])
    left = _dot(floats(s.cotangent), y_dot)
    right = _dot(floats(chosen), floats(tuple(s.tangents[k] for k in s.wrt)))
    same(right[0], left[0], "vjp against jvp", s.exact, max(left[1], right[1], 1e-6))
    return bars


def _dot(a: Sequence[Any], b: Sequence[Any]) -> tuple[np.longdouble, float]:
    """The inner product, and the sum of the absolute values of its terms."""
    total, size = WIDE(0), 0.0
    for x, y in zip(a, b):
        terms = np.asarray(x, WIDE) * np.asarray(y, WIDE)
        total = total + np.sum(terms)
        size += float(np.sum(np.abs(terms), where=np.isfinite(terms)))
    return total, size


def check_second(s: Subject, tp: Any) -> None:
    """Checks the tangent of the gradient (forward over reverse) against differences of the gradient. ``f`` returns one
    number."""
    gradient = tp.grad(s.f, argnums=s.wrt)
    g, g_dot = tp.jvp(gradient, s.args(), copied(s.tangents))
    wanted = directional(gradient, s.args(), s.tangents, coarse=s.single)
    check_against_differences(tangent_leaves(g, g_dot), g, wanted, "jvp of grad", 10 * s.tol)
