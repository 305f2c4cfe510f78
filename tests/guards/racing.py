"""Calls a compiled program while another thread writes its arguments without the interpreter's lock: the result is undefined
then, but the program must stay within its memory.

The arguments lie flush against inaccessible pages. Most of the time they hold the program's proper arguments, so that checks
pass; for short moments, of random length, they hold other values.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from guards import memory

SECONDS = 0.1  # the time of all calls, for each kind of memory
SLOWEST = 0.05  # the most seconds that a call may take alone, to be called here
LONGEST = 2.0  # after these seconds a signal ends a call that does not terminate


class Over(BaseException):
    """Ends a call."""


@njit(nogil=True, cache=False)
def _write(table, stop):
    """Writes until ``stop``. ``table`` has a row for each array: its address, its bytes, the address of its proper content, and
    those of five other contents."""
    seed = np.uint64(88172645463325252)
    while memory.added(stop, 0) == 0:
        for moment in range(2):
            seed ^= seed << np.uint64(13)
            seed ^= seed >> np.uint64(7)
            seed ^= seed << np.uint64(17)
            chosen = np.int64(0) if moment == 0 else 1 + np.int64((seed >> np.uint64(16)) % np.uint64(5))
            for k in range(table.shape[0]):
                memory._memcpy(table[k, 0], table[k, 2 + chosen], table[k, 1])
            for _ in range(np.int64((seed >> np.uint64(32)) % np.uint64(3000 if moment == 0 else 600))):
                memory.added(stop, 0)


def copy_always() -> None:
    """From now on short calls get copies as well, where they would rely on the lock; such kernels are not stored on disk."""
    from transpile.codegen.llvm import wrapper

    wrapper.ALWAYS = True
    os.environ["TRANSPILE_CACHE_DIR"] = folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def others(array: np.ndarray) -> list[np.ndarray]:
    """The proper content, and five other contents."""
    flat, large = array.ravel(), max((array.size, *array.shape))
    if array.dtype == bool:
        found = [~flat, flat | True, flat & False, np.roll(flat, 1), ~np.roll(flat, 1)]
    elif array.dtype.kind in "iu":
        found = [np.full_like(flat, large % 127), flat + 1, np.full_like(flat, -1 if array.dtype.kind == "i" else 120)]
        found += [np.roll(flat, 1), np.full_like(flat, 100)]
    else:
        found = [-flat, flat + 1, np.full_like(flat, np.nan), np.full_like(flat, 1e3), np.zeros_like(flat)]
    return [np.ascontiguousarray(v, array.dtype) for v in (flat, *found)]


def _call_often(function: Callable[..., Any], tree: Any, given: list[Any]) -> None:
    from guards.failing import calls
    from transpile.aggregates import unflatten

    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for _ in range(20):
            calls(function, unflatten(tree, given))


def problem(function: Callable[..., Any], make: Callable[[], tuple[Any, ...]]) -> str | None:
    """The problem with a compiled function; None if there is none, or if the function is refused or too slow to be called
    often. Accesses beyond an array also crash the process."""
    from fuzz.check import limited

    from guards.failing import calls
    from guards.install import filled
    from transpile.aggregates import flatten
    from transpile.errors import TranspileError

    error = [calls(function, make()) for _ in range(2)][1]
    if error is not None:
        return None if isinstance(error, TranspileError) else f"it raises {error!r}"
    start = time.perf_counter()
    calls(function, make())
    if time.perf_counter() - start > SLOWEST:
        print("    too slow to be called often")
        return None
    leaves, tree = flatten(make())
    for mode in (memory.END, memory.START):
        memory.STATE[memory.DAMAGED] = 0
        with filled(mode, 0x41):
            given = [np.copy(v) if isinstance(v, np.ndarray) and v.size else v for v in leaves]
        arrays = [v for v in given if isinstance(v, np.ndarray) and v.size and v.dtype.kind in "biuf"]
        if not arrays:
            return None
        kept = [others(v) for v in arrays]
        table = np.array(
            [[v.ctypes.data, v.nbytes, *(o.ctypes.data for o in row)] for v, row in zip(arrays, kept)], np.int64
        )
        stop = np.zeros(1, np.int64)
        writer = threading.Thread(target=_write, args=(table, stop.ctypes.data))
        writer.start()
        try:
            limited(partial(_call_often, function, tree, given), LONGEST, Over, "REAL")
        except Over:
            pass
        finally:
            stop[0] = 1
            writer.join()
        del given, arrays
        if memory.STATE[memory.DAMAGED]:
            return "memory around an array was written"
    return None


# ---- functions that concurrent writes could mislead


def arguments() -> tuple[Any, ...]:
    return np.linspace(0.1, 1.0, 40), np.arange(40) % 7, np.arange(40) % 3 == 0


def masked(x, times, mask):
    return np.sum(x[mask]) + np.sum(x[times > 2] ** 2)


def repeated(x, times, mask):
    return np.sum(np.repeat(x, times) ** 2)


def counted(x, times, mask):
    n = 0
    for i in range(len(mask)):
        n += mask[i]
    kept, k = np.empty(n), 0
    for i in range(len(mask)):
        if mask[i]:
            kept[k] = x[i] * x[i]
            k += 1
    return np.sum(kept)


def gathered(x, times, mask):
    y = np.zeros(7)
    for i in range(len(times)):
        y[times[i]] += x[i] * x[times[i]]
    return np.sum(y**2)


def pushed(x, times, mask):
    total = 0.0
    for i in range(len(x)):
        k, z = 0, x[i]
        while k < times[i] and not mask[k]:
            z = np.sin(z) * x[k]
            k += 1
        total += z
    return total
