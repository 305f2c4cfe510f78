"""Changed arguments for the programs of the corpus: layouts, sizes, dtypes, NaN and infinity, integers, empty arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from corpus.program import Program

from transpile.aggregates import flatten, unflatten

Change = Callable[[list[Any]], list[Any]]


def is_floats(v: Any) -> bool:
    return isinstance(v, np.ndarray) and v.dtype.kind == "f"


def arrays(change: Callable[[np.ndarray], np.ndarray]) -> Change:
    """A change of all arrays that have an axis."""
    return lambda leaves: [change(v) if isinstance(v, np.ndarray) and v.ndim else v for v in leaves]


def numbers(change: Callable[[Any], Any]) -> Change:
    """A change of all floats, alone and in arrays."""
    return lambda leaves: [change(v) if is_floats(v) or type(v) is float else v for v in leaves]


def plain(kind: type, change: Callable[[Any], Any]) -> Change:
    """A change of Python's numbers of one type."""
    return lambda leaves: [change(v) if type(v) is kind else v for v in leaves]


def strided(v: np.ndarray) -> np.ndarray:
    wide = np.zeros([2 * n for n in v.shape], v.dtype)
    part = wide[tuple(slice(None, None, 2) for _ in v.shape)]
    part[...] = v
    return part


def backwards(v: np.ndarray) -> np.ndarray:
    turn = tuple(slice(None, None, -1) for _ in v.shape)
    return v[turn].copy()[turn]


def fixed(v: np.ndarray) -> np.ndarray:
    v = v.copy()
    v.flags.writeable = False
    return v


def with_number(number: float) -> Change:
    """A change that puts this number into each float, and into one element of each float array."""

    def change(v: Any) -> Any:
        if not isinstance(v, np.ndarray):
            return number
        v = v.copy()
        if v.size:
            v.flat[v.size // 2] = number
        return v

    return numbers(change)


def of_size(size: int, counts: bool) -> Change:
    """A change that gives all axes this size; with ``counts`` also integers that equal the size of an axis."""

    def change(leaves: list[Any]) -> list[Any]:
        lengths = {n for v in leaves if isinstance(v, np.ndarray) for n in v.shape}

        def one(v: Any) -> Any:
            if isinstance(v, np.ndarray):
                for axis, n in enumerate(v.shape):
                    v = np.take(v, [k % n for k in range(size)] if n else [], axis=axis)
                return v
            return size if counts and type(v) is int and v in lengths else v

        return [one(v) for v in leaves]

    return change


TABLE: dict[str, Change] = {
    "fortran": arrays(np.asfortranarray),
    "strided": arrays(strided),
    "backwards": arrays(backwards),
    "fixed": arrays(fixed),
    "reversed": arrays(lambda v: v[::-1].copy()),
    "float32": lambda leaves: [v.astype(np.float32) if is_floats(v) else v for v in leaves],
    "int64": lambda leaves: [np.round(v * 3).astype(np.int64) if is_floats(v) else v for v in leaves],
    "int32": lambda leaves: [np.round(v * 3).astype(np.int32) if is_floats(v) else v for v in leaves],
    "integer": plain(float, lambda v: int(round(v)) if np.isfinite(v) else v),
    "numpy float": plain(float, np.float64),
    "numpy single": plain(float, np.float32),
    "numpy integer": plain(int, np.int64),
    "array of no axis": plain(float, np.array),
    "nan": with_number(np.nan),
    "infinity": with_number(np.inf),
    "zeros": numbers(lambda v: v * 0.0),
    "ones": numbers(lambda v: v * 0.0 + 1.0),
    "negative": numbers(lambda v: -v),
    "tiny": numbers(lambda v: v * 1e-300),
    "one less": plain(int, lambda v: v - 1),
    "two less": plain(int, lambda v: v - 2),
    "three more": plain(int, lambda v: v + 3),
    **{f"size {n}": of_size(n, False) for n in (0, 1, 2)},
    **{f"counted {n}": of_size(n, True) for n in (0, 1, 2, 3, 7)},
}


class Endless(BaseException):
    """A program does not terminate on these arguments."""


def changed(program: Program, name: str) -> tuple | None:
    """The program's arguments after the change; None if it changes nothing or does not fit."""
    if name == "infinity" and "svd" in program.tags:
        return None  # NumPy's does not terminate
    leaves, structure = flatten(program.args())
    try:
        with np.errstate(all="ignore"):
            new = TABLE[name](leaves)
    except Exception:  # such as NaN or infinity where the program needs an integer
        return None
    if all(a is b for a, b in zip(new, leaves)):
        return None
    return unflatten(structure, new)


def outcome(f: Callable, args: tuple) -> tuple[Any, Exception | None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args), None
        except Exception as e:
            return None, e
