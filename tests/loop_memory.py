"""Arrays for generated loops that run without Numba: every access is checked.

Each of these raises `Violation`, where compiled code would go on: an index that is negative or beyond the end, the use of an
element that was never written, a write into memory that the function may not write, an iteration of a parallel loop that
touches an element another one writes.

>>> t = empty((2,), float)
>>> t[0] = 1.5
>>> float(t[0])
1.5
>>> t[1] + 1
Traceback (most recent call last):
    ...
loop_memory.Violation: element (1,) is used before it is written
>>> t[-1]
Traceback (most recent call last):
    ...
loop_memory.Violation: index -1 of axis 0 is not in range(2)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

LARGEST = 10**7  # elements: no test needs more, so a larger array is an error
_UNWRITTEN = {"f": np.nan, "i": -7070707070707070707, "u": 7070707070707070707, "b": True}


class Violation(BaseException):
    """An access that compiled code would make silently. Not an `Exception`, so that no ``except`` of a program catches it."""


class Unwritten:
    """The content of an element that was never written. It may be copied, as programs copy what ``np.empty`` returned; any
    other use raises."""

    def __init__(self, place: tuple[Any, ...]) -> None:
        self.place = place

    def used(self, *others: Any) -> Any:
        raise Violation(f"element {tuple(int(k) for k in self.place)} is used before it is written")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = __array__ = used
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __float__ = __int__ = __index__ = used  # type: ignore
    __and__ = __rand__ = __or__ = __ror__ = __invert__ = __lshift__ = __rshift__ = __str__ = __repr__ = used  # type: ignore
    __hash__ = None  # type: ignore


class Lanes:
    """The chunk of a parallel loop that runs now; None outside."""

    def __init__(self) -> None:
        self.current: tuple[int, int] | None = None
        self.loops = 0

    def chunks(self, *ends: int) -> Iterator[int]:
        """The numbers that ``prange`` gives; the chunks run in another order than they are written."""
        numbers = list(range(*ends))
        self.loops += 1
        try:
            for lane in numbers[1::2] + numbers[::2]:
                self.current = (self.loops, lane)
                yield lane
        finally:
            self.current = None


LANES = Lanes()


class Array:
    """A C-contiguous array or a view of one; ``known`` tells which elements have been written."""

    __slots__ = ("born", "data", "known", "readers", "shape", "writable", "writers")

    def __init__(self, data: np.ndarray, known: np.ndarray, writable: bool = True, marks: Any = None) -> None:
        self.data, self.known, self.writable = data, known, writable
        self.shape = data.shape
        self.born = LANES.current
        self.writers, self.readers = ({}, {}) if marks is None else marks  # of each parallel loop: address -> lane

    # ---- elements

    def place(self, key: Any) -> tuple[Any, ...]:
        key = key if type(key) is tuple else (key,)
        shape = self.shape
        if len(key) != len(shape):
            raise Violation(f"{len(key)} subscripts of an array of rank {len(shape)}")
        for axis, k in enumerate(key):
            if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)):
                raise Violation(f"a subscript is {k!r}")
            if not 0 <= k < shape[axis]:
                raise Violation(f"index {k} of axis {axis} is not in range({shape[axis]})")
        return key

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) or (isinstance(key, tuple) and any(isinstance(k, slice) for k in key)):
            return self.part(key)
        if len(self.shape) > (len(key) if isinstance(key, tuple) else 1):
            return self.part(key)
        place = self.place(key)
        if not self.known[place]:
            return Unwritten(place)
        if LANES.current is not None and self.born is None:
            self.race(place, reading=True)
        return self.data[place]

    def __setitem__(self, key: Any, value: Any) -> None:
        place = self.place(key)
        if not self.writable:
            raise Violation("an array is written that the function may not write")
        if isinstance(value, Unwritten):
            self.known[place] = False
            return
        if self.data.dtype.kind in "iub" and isinstance(value, (float, np.floating)):
            raise Violation(f"{value!r} is written into an array of {self.data.dtype}")
        if LANES.current is not None and self.born is None:
            self.race(place, reading=False)
        self.data[place] = value
        self.known[place] = True

    def race(self, place: tuple[Any, ...], reading: bool) -> None:
        """Records the chunk that touches an element of an array shared by all chunks; raises if two chunks conflict."""
        start = self.data.__array_interface__["data"][0]
        assert LANES.current is not None
        loop, lane = LANES.current
        address = (loop, start + sum(int(k) * s for k, s in zip(place, self.data.strides)))
        if self.writers.setdefault(address, lane) != lane if not reading else self.writers.get(address, lane) != lane:
            raise Violation(f"two chunks touch element {tuple(map(int, place))}, and one of them writes it")
        if reading:
            self.readers.setdefault(address, set()).add(lane)
        elif self.readers.get(address, {lane}) != {lane}:
            raise Violation(f"a chunk writes element {tuple(map(int, place))}, which another one reads")

    # ---- views

    def part(self, key: Any) -> Array:
        """``x[i, a:b]``: points and ranges, which may not reach beyond the axis either."""
        key = key if isinstance(key, tuple) else (key,)
        for axis, k in enumerate(key):
            n = self.shape[axis]
            ends = [e for e in (k.start, k.stop) if e is not None] if isinstance(k, slice) else [k]
            if not all(0 <= e <= n - (not isinstance(k, slice)) for e in ends):
                raise Violation(f"subscript {k} of axis {axis} is not in range({n})")
        return self.view(self.data[key], self.known[key])

    def view(self, data: np.ndarray, known: np.ndarray) -> Array:
        found = Array(data, known, self.writable, (self.writers, self.readers))
        found.born = self.born
        return found

    @property
    def T(self) -> Array:
        return self.view(self.data.T, self.known.T)

    def reshape(self, *shape: Any) -> Array:
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if not self.data.flags.c_contiguous:
            raise Violation("a view of what is not contiguous is reshaped")
        if any(n < 0 for n in shape) or np.prod(shape, dtype=object) != self.data.size:
            raise Violation(f"an array of {self.shape} is reshaped to {shape}")
        return self.view(self.data.reshape(shape), self.known.reshape(shape))

    def __repr__(self) -> str:
        return f"Array({self.data!r})"


def empty(shape: Any, dtype: Any = float) -> Array:
    """``np.empty``: no element is written yet."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    shape = tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions not allowed")
    if np.prod(shape, dtype=object) > 2**59:
        raise ValueError("array is too big")
    if np.prod(shape, dtype=object) > LARGEST:
        raise MemoryError("Allocation failed (probably too large).")
    dtype = np.dtype(dtype) if isinstance(dtype, (type, str)) else dtype.dtype
    return Array(np.full(shape, np.asarray(_UNWRITTEN[dtype.kind]).astype(dtype), dtype), np.zeros(shape, bool))


def given(data: np.ndarray, writable: bool) -> Array:
    """An argument: C-contiguous, with all elements written."""
    return Array(data, np.ones(data.shape, bool), writable)


def taken(value: Any) -> Any:
    """A result, with arrays as NumPy's; each of their elements must have been written."""
    if isinstance(value, Unwritten):
        value.used()
    if not isinstance(value, Array):
        return value
    if not value.known.all():
        raise Violation(f"a result of {value.shape} has elements that were never written")
    return value.data


def library(function: Any, args: tuple[Any, ...], writes: bool) -> Any:
    """A call of a runtime function with the arrays themselves. With ``writes``, unwritten elements may be its output; they hold
    NaN, or a number that is no index, so that a function that reads them gives wrong results."""
    plain = []
    for a in args:
        if isinstance(a, Array) and not writes and not a.known.all():
            raise Violation("a library function reads elements that were never written")
        plain.append(a.data if isinstance(a, Array) else a)
    before = [a.tobytes() if isinstance(a, np.ndarray) else None for a in plain]
    found = function(*plain)
    for a, p, b in zip(args, plain, before):
        if isinstance(a, Array):
            if not writes and p.tobytes() != b:
                raise Violation("a library function writes an array that it is only given")
            if p.tobytes() != b and not a.writable:
                raise Violation("a library function writes what the function may not write")
            a.known[...] = True
    return _wrapped(found)


def _wrapped(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_wrapped(v) for v in value)
    return given(value, True) if isinstance(value, np.ndarray) else value
