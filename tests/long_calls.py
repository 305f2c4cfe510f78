"""Programs of `test_long_calls`, run in a process of its own: ``python long_calls.py alone`` or ``beside`` another thread."""

import gc
import os
import signal
import sys
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent.parent / "runtime")]

os.environ["NUMBA_NUM_THREADS"] = "2"

import numpy as np  # noqa: E402

import transpile as tp  # noqa: E402

FOREVER = 10**12
WAIT = 0.2  # seconds to the signal


def iterated(x, n):
    y = np.zeros(5)
    k = 0
    while k < n:
        y[k % 5] = y[k % 5] * 0.999 + x[k % 10]
        k += 1
    return np.sum(y)


def nested(x, n):
    total = 0.0
    for _ in range(n):
        copy = x * 2.0
        for i in range(len(x)):
            total += np.sin(copy[i])
    return total


def in_one_loop(x, n):
    value = 1.0
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value + k)
    return value * x[0]


def with_an_exit(x, n):
    value = 1.0
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value + k)
        if value < x[0] - 10.0:
            break
    return value


def recursive(x, n):
    if n < 2:
        return x[0]
    return recursive(x, n - 1) * 0.5 + recursive(x, n - 2)


def products(x, n):
    a = np.outer(x, x)
    for _ in range(n):
        a = a @ a * 1e-3
    return np.sum(a)


def growing(x, n):
    found = []
    k = 0
    while k < n:
        if k % 1000000 == 0:
            found.append(x[k % 10] * k)
        k += 1
    return np.sum(np.array(found))


def twice(x, n):
    return helper(x, n) + helper(x, 2)


def helper(x, n):
    total = 0.0
    k = 0
    while k < n:
        total = total * 0.5 + x[k % 10]
        k += 1
    return total


def in_the_second_of_two(x, n):
    value = 1.0
    for i in range(5):
        for k in range(n):
            value = value * 0.5 + 1.0 / (1.0 + value + k)
    return value * x[0]


def in_the_third_of_three(x, n):
    value = 1.0
    j = 0
    while j < 5:
        for i in range(5):
            for k in range(n - i):
                value = value * 0.5 + 1.0 / (1.0 + value + k)
        j += 1
    return value * x[0]


def steps(x, n):
    u = np.zeros(100000)
    k = 0
    while k < n:
        for i in range(1, len(u) - 1):
            u[i] = np.sin(u[i] + x[i % 10] * k)
        k += 1
    return np.sum(u)


def rows(x, n):
    y = np.zeros(1000)
    for i in range(1000):
        value = 1.0
        for k in range(n):
            value = value * 0.5 + 1.0 / (1.0 + value + k)
        y[i] = value * x[i % 10]
    return np.sum(y)


PROGRAMS = {
    "while": (tp.jit(iterated), FOREVER),
    "nested": (tp.jit(nested), FOREVER),
    "in one loop": (tp.jit(in_one_loop), FOREVER),
    "in the second of two": (tp.jit(in_the_second_of_two), FOREVER),
    "in the third of three": (tp.jit(in_the_third_of_three), FOREVER),
    "with an exit": (tp.jit(with_an_exit), FOREVER),
    "recursive": (tp.jit(recursive), 90),
    "products": (tp.jit(products), FOREVER),
    "growing": (tp.jit(growing), FOREVER),
    "a helper": (tp.jit(twice), FOREVER),
    "derivative": (tp.jit(lambda x, n: tp.jvp(iterated, (x, n), (x, 0))[1]), FOREVER),
    "gradient of a long sum": (tp.jit(tp.grad(in_one_loop)), 2 * 10**8),
    "between loops on threads": (tp.jit(steps, parallel=True), FOREVER),
    "a loop on threads": (tp.jit(nested, parallel=True), FOREVER),
    "a loop on threads, writing": (tp.jit(rows, parallel=True), 10**9),
}


def main():
    """Calls each program, and interrupts it after a while; beside another thread the lock is given away meanwhile."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    x = np.linspace(0.1, 1.0, 10)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    stop = threading.Event()
    if sys.argv[1] == "beside":
        threading.Thread(target=stop.wait, daemon=True).start()
    for name, (g, n) in PROGRAMS.items():
        g(x, 3)
        g(x, 3)
        gc.collect()
        before = rtsys.get_allocation_stats()
        signal.setitimer(signal.ITIMER_REAL, WAIT)
        start = time.perf_counter()
        try:
            g(x, n)
            ended = "not interrupted"
        except KeyboardInterrupt:
            late = time.perf_counter() - start - WAIT
            ended = "in time" if late < 1.0 else f"{late:.1f} s late"
        after = rtsys.get_allocation_stats()
        held = (after.alloc - before.alloc) - (after.free - before.free)
        print(f"{name}: {ended}" + (f", holds {held}" if held else ""))
    stop.set()


if __name__ == "__main__":
    main()
