"""Programs of `test_long_calls`, run in a process of its own: ``long_calls.py alone``, ``beside`` another thread, or
``handlers`` of signals."""

import gc
import os
import signal
import subprocess
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


def deep(x, n):
    total = 0.0
    y = np.ones(min(n, 5000))
    for i in range(len(y)):
        for j in range(len(y)):
            for k in range(len(y)):
                for m in range(len(y)):
                    total = total * 0.5 + 1.0 / (1.0 + total + y[k] * y[m])
    return total


def few(x, n):
    total = 0.0
    if n > 3:
        for a in range(60):
            for b in range(60):
                for c in range(60):
                    for d in range(60):
                        for e in range(60):
                            for f in range(60):
                                total = total * 0.5 + 1.0 / (1.0 + total + x[n % 2] * f)
    return total


def sorted_first(x, n):
    order = np.argsort(x)
    total = 0.0
    for _ in range(n):
        for k in order:
            total = total * 0.5 + x[order[k]]
    return total


def counted_twice(x, mask, n):
    before = np.sum(mask)
    value = before + x[0]
    for k in range(n):
        value = value * 0.5 + 1.0 / (1.0 + value)
    return before - len(x[mask]) + np.sum(x[mask] * value)


MASK = np.arange(10) % 3 == 0


def with_a_mask(x, n):
    return counted_twice(x, MASK, n)


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
    "four loops over sizes": (tp.jit(deep), FOREVER),
    "loops over few numbers": (tp.jit(few), FOREVER),
    "indices": (tp.jit(sorted_first), FOREVER),
    "a mask that is read twice": (tp.jit(with_a_mask), FOREVER),
    "between loops on threads": (tp.jit(steps, parallel=True), FOREVER),
    "a loop on threads": (tp.jit(nested, parallel=True), FOREVER),
    "a loop on threads, writing": (tp.jit(rows, parallel=True), 10**9),
}


def send(name, seconds):
    """Sends a signal to this process later, from another process: a thread would run beside the call."""
    subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -{name} {os.getpid()}"])


def handlers():
    """Signals during calls that rely on an array of the caller's: writes of the handlers do no harm."""
    x, mask, ran = np.linspace(0.1, 1.0, 10**6), np.zeros(10**6, bool), []
    g = tp.jit(counted_twice)
    n, took = 10**6, 0.0
    while took < 2 * WAIT:
        start = time.perf_counter()
        g(x, mask, n)
        took, n = time.perf_counter() - start, 2 * n

    def write(*_):
        mask[:] = True
        ran.append("written")

    def start_a_thread(*_):
        ran.append("a thread")
        threading.Thread(target=write).start()

    for name in ("INT", "USR1"):
        for handler in (write, start_a_thread):
            mask[:] = False
            before = signal.signal(getattr(signal, f"SIG{name}"), handler)
            send(name, WAIT)
            found = g(x, mask, n)
            while "written" not in ran:
                time.sleep(0.01)
            signal.signal(getattr(signal, f"SIG{name}"), before)
            print(name, *ran, found, mask.all())
            ran.clear()


def main():
    """Calls each program, and interrupts it after a while; beside another thread, the call releases the lock meanwhile."""
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process starts without it
    x = np.linspace(0.1, 1.0, 10)
    stop = threading.Event()
    if sys.argv[1] == "beside":
        threading.Thread(target=stop.wait, daemon=True).start()
    for name, (g, n) in PROGRAMS.items():
        g(x, 3)
        g(x, 3)
        gc.collect()
        before = rtsys.get_allocation_stats()
        send("INT", WAIT)
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
    handlers() if sys.argv[1] == "handlers" else main()
