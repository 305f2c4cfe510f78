"""Functional updates by plain loops over elements, one coordinate at a time: the reference for `transpile.at`.

Nothing here uses NumPy's indexing: an index is split into items, and each element of the part gets its coordinates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

OPS: dict[str, Callable[[Any, Any], Any]] = {
    "set": lambda old, v: v,
    "add": lambda old, v: old + v,
    "subtract": lambda old, v: old - v,
    "multiply": lambda old, v: old * v,
    "mul": lambda old, v: old * v,
    "divide": lambda old, v: old / v,
    "power": lambda old, v: old**v,
    "min": lambda old, v: min(old, v),
    "max": lambda old, v: max(old, v),
    "apply": lambda old, v: math.sin(old),
}
MODES = (None, "promise_in_bounds", "clip", "drop", "fill")


def items(rank: int, index: Any) -> list[Any]:
    """The items of an index: slices, None, integers, and for masks the coordinates where they hold (lists of integers)."""
    parts = list(index) if isinstance(index, tuple) else [index]
    arrays = [None if p is None or p is ... or isinstance(p, slice) else np.asarray(p) for p in parts]
    covered = sum(
        0 if p is None or p is ... else a.ndim if a is not None and a.dtype == bool else 1
        for p, a in zip(parts, arrays)
    )
    out: list[Any] = []
    if ... not in [p for p, a in zip(parts, arrays) if a is None]:
        parts, arrays = [*parts, ...], [*arrays, None]
    for p, a in zip(parts, arrays):
        if p is ...:
            out += [slice(None)] * (rank - covered)
        elif a is None:
            out.append(p)
        elif a.dtype == bool:
            found = [c for c in np.ndindex(a.shape) if a[c]]
            out += [np.array([c[k] for c in found], dtype=int) for k in range(a.ndim)]
        else:
            out.append(a)
    return out


def points(shape: tuple[int, ...], index: Any) -> tuple[tuple[int, ...], Iterator[list[int]]]:
    """The shape of the part, and the coordinates of each of its elements, which may be out of range."""
    parts = items(len(shape), index)
    advanced = [k for k, p in enumerate(parts) if isinstance(p, np.ndarray)]
    has_arrays = any(parts[k].ndim for k in advanced)
    block = np.broadcast_shapes(*[parts[k].shape for k in advanced]) if advanced else ()
    together = bool(advanced) and advanced[-1] - advanced[0] == len(advanced) - 1
    at = len([p for p in parts[: advanced[0]]]) if has_arrays and together else 0
    axis, basic = 0, []  # for each slice or None: the axis of the array and its range
    axes: list[int] = []
    for p in parts:
        if p is None:
            basic.append((None, range(1)))
        elif isinstance(p, slice):
            basic.append((axis, range(*p.indices(shape[axis]))))
            axis += 1
        else:
            axes.append(axis)
            axis += 1
    sizes = [len(r) for _, r in basic]
    whole = (*sizes[:at], *block, *sizes[at:])

    def each() -> Iterator[list[int]]:
        for where in itertools.product(*map(range, whole)):
            inner, rest = where[at : at + len(block)], (*where[:at], *where[at + len(block) :])
            found = [0] * len(shape)
            for (a, r), k in zip(basic, rest):
                if a is not None:
                    found[a] = r[k]
            for a, k in zip(axes, advanced):
                found[a] = int(np.broadcast_to(parts[k], block)[inner])
            yield found

    return whole, each()


def placed(shape: tuple[int, ...], raw: list[int], clips: bool, wraps: bool = True) -> tuple[int, ...] | None:
    """The coordinates of an element after wrapping or clipping; None if it is out of range."""
    found = []
    for c, n in zip(raw, shape):
        here = c + n if c < 0 and wraps else c
        if not 0 <= here < n:
            if not clips:
                return None
            here = min(max(here, 0), n - 1)
        found.append(here)
    return tuple(found)


def get(x: np.ndarray, index: Any, mode: str | None = None, fill: Any = np.nan, wraps: bool = True) -> np.ndarray:
    """``at(x)[index].get()``."""
    whole, each = points(x.shape, index)
    out = []
    for raw in each:
        here = placed(x.shape, raw, mode in (None, "promise_in_bounds", "clip"), wraps)
        out.append(fill if here is None else x[here])
    return np.array(out, dtype=x.dtype).reshape(whole)


def update(x: np.ndarray, index: Any, op: str, values: Any, mode: str | None = None, wraps: bool = True) -> np.ndarray:
    """``at(x)[index].op(values)``, one element after another."""
    whole, each = points(x.shape, index)
    given = np.broadcast_to(0.0 if op == "apply" else values, whole).ravel()
    out = x.copy()
    for raw, v in zip(each, given):
        here = placed(x.shape, raw, mode == "clip", wraps)
        if here is not None:
            out[here] = OPS[op](out[here], v)
    return out


# ------------------------------------------------------------------------------------------------- random indices


def random_index(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """A random index into an array of this shape, of any kind and often out of range."""
    parts: list[Any] = []
    axis = 0
    block = [int(rng.integers(1, 4)) for _ in range(int(rng.integers(1, 3)))]
    arrays = bool(rng.integers(0, 2))
    while axis < len(shape) and rng.random() < 0.85:
        n = shape[axis]
        kind = rng.choice(["point", "slice", "array", "mask"] if arrays else ["point", "slice"])
        if kind == "point":
            parts.append(int(rng.integers(-n - 2, n + 2)))
        elif kind == "slice":
            ends = [None if rng.random() < 0.3 else int(rng.integers(-n - 1, n + 2)) for _ in range(2)]
            parts.append(slice(*ends, int(rng.choice([1, 1, 2, -1, -2]))))
        elif kind == "array":
            dims = block[int(rng.integers(0, len(block))) :]
            parts.append(rng.integers(-n - 2, n + 2, [1 if rng.random() < 0.2 else d for d in dims]))
        else:
            if any(isinstance(p, np.ndarray) for p in parts):
                continue
            parts.append(rng.random(n) < 0.5)
            block = [1]
        axis += 1
    if rng.random() < 0.3:
        parts.insert(int(rng.integers(0, len(parts) + 1)), None)
    if rng.random() < 0.3:
        masked = any(isinstance(p, np.ndarray) and p.dtype == bool for p in parts)  # a mask has the size of its axis
        parts.insert(len(parts) if masked else int(rng.integers(0, len(parts) + 1)), ...)
    return parts[0] if len(parts) == 1 and rng.random() < 0.5 else tuple(parts)
