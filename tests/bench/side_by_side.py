"""Calls from two Python threads at once beside the same calls one after another; and how soon a call hears Ctrl-C.

``python tests/bench/side_by_side.py`` prints a table and writes it to ``results/side_by_side.md``. Two cores must be free. Rounds
of both kinds alternate; a ratio is the median of those of the rounds: 0.5 is what two cores can do at best, 1 what one thread does.
"""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT), str(ROOT / "runtime")]

import numpy as np  # noqa: E402

import transpile as tp  # noqa: E402

TABLE = HERE / "results" / "side_by_side.md"
ROUNDS, WAIT = 9, 0.3


def nested(x, n):
    total = 0.0
    for k in range(n):
        for i in range(len(x)):
            total += np.sin(x[i] * k)
    return total


def vectors(x, n):
    return np.sum(np.sin(x) * np.exp(x))


def iterated(x, n):
    value, k = 1.0, 0
    while k < n:
        value = value * 0.999 + x[k % 100] / (1 + value)
        k += 1
    return value


def product(x, n):
    a = x.reshape(n, -1)
    return np.sum(a @ a.T)


def gathered(x, n):
    order = np.arange(len(x))[::-1]
    total = 0.0
    for k in range(n):
        total += np.sum(x[order] * np.sin(x * k))
    return total


def recursive(x, n):
    if n < 2:
        return x[0]
    return recursive(x, n - 1) + recursive(x, n - 2)


def line(count: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, count)


CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {  # with what makes it last forever
    "loops of loops": (nested, (line(1000), 25_000), 10**10),
    "the gradient of these": (tp.grad(nested), (line(1000), 25_000), 10**10),
    "one loop of vectors": (vectors, (line(12_000_000), 0), 0),
    "while": (iterated, (line(100), 8_000_000), 10**12),
    "a product of matrices": (product, (line(2_000_000), 1000), 0),
    "an array of indices": (gathered, (line(200_000), 100), 10**10),
    "recursion": (recursive, (line(2), 32), 90),
}


def ratio(g: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float]:
    """Seconds of a call, and of two at once beside two in a row."""
    found, one = [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        g(*args)
        one.append(time.perf_counter() - start)
        g(*args)
        serial = time.perf_counter() - start
        threads = [threading.Thread(target=g, args=args) for _ in range(2)]
        start = time.perf_counter()
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        found.append((time.perf_counter() - start) / serial)
    return min(one), statistics.median(found)


LOOP = """
import sys, time
import numpy as np
x = np.linspace(0.0, 1.0, 1000)
for line in sys.stdin:
    for _ in range(5000):
        np.sin(x)
    print(flush=True)
"""


def of_processes() -> float:
    """The same ratio of two processes, which share nothing but the machine: what its two cores give at this hour."""
    command = [sys.executable, "-c", LOOP]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]

    def seconds(some: list[Any]) -> float:
        start = time.perf_counter()
        for p in some:
            p.stdin.write("\n")
            p.stdin.flush()
        for p in some:
            p.stdout.readline()
        return time.perf_counter() - start

    seconds(both)
    found = [seconds(both) / (seconds(both[:1]) + seconds(both[:1])) for _ in range(ROUNDS)]
    for p in both:
        p.stdin.close()
        p.wait()
    return statistics.median(found)


def heard(g: Callable[..., Any], x: np.ndarray, n: int) -> float:
    """Seconds from a signal to the exception, beside a thread that waits."""
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, WAIT)
    start = time.perf_counter()
    try:
        g(x, n)
    except KeyboardInterrupt:
        return time.perf_counter() - start - WAIT
    finally:
        stop.set()
        thread.join()
    raise AssertionError("the call ended")


def main() -> None:
    rows = ["| call | ms | two threads / serial | Ctrl-C after, ms |", "|---|---:|---:|---:|"]
    rows.append(f"| two processes, NumPy | - | {of_processes():.2f} | - |")
    print(rows[-1], flush=True)
    for name, (f, args, forever) in CALLS.items():
        g = tp.jit(f)
        g(*args), g(*args)
        one, both = ratio(g, args)
        late = f"{1e3 * heard(g, args[0], forever):.1f}" if forever else "-"
        rows.append(f"| {name} | {1e3 * one:.0f} | {both:.2f} | {late} |")
        print(rows[-1], flush=True)
    rows.append(f"| two processes, NumPy, once more | - | {of_processes():.2f} | - |")
    print(rows[-1], flush=True)
    note = "Calls from two Python threads, `python tests/bench/side_by_side.py`; BLAS has one thread."
    TABLE.write_text("\n".join([note, "", *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
