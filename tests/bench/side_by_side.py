"""Calls from two Python threads at once, compared with the same calls one after another; and the delay until a call reacts to
Ctrl-C.

``python tests/bench/side_by_side.py`` prints a table and writes it to ``results/side_by_side.md``. Two cores must be free. A
round has all rows, one after another and at once; a ratio is the median over the rounds: 0.5 is the best possible on two cores,
1 the time of one thread.
"""

from __future__ import annotations

import os
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

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # otherwise `a product of matrices` alone would use both cores

import numpy as np  # noqa: E402

import transpile as tp  # noqa: E402

TABLE = HERE / "results" / "side_by_side.md"
ROUNDS, WAIT = 15, 0.3


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


# name -> function, arguments, an iteration count that makes it last forever (0: no test of Ctrl-C)
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], int]] = {
    "loops of loops": (nested, (line(1000), 60_000), 10**10),
    "the gradient of these": (tp.grad(nested), (line(1000), 60_000), 10**10),
    "one loop of vectors": (vectors, (line(40_000_000), 0), 0),
    "while": (iterated, (line(100), 12_000_000), 10**12),
    "a product of matrices": (product, (line(2_000_000), 1000), 0),
    "an array of indices": (gathered, (line(200_000), 400), 10**10),
    "recursion": (recursive, (line(2), 34), 90),
}


def ratio(g: Callable[..., Any], args: tuple[Any, ...]) -> tuple[float, float]:
    """The seconds of a call, and the time of two at once divided by that of two in a row."""
    start = time.perf_counter()
    g(*args)
    one = time.perf_counter() - start
    g(*args)
    serial = time.perf_counter() - start
    threads = [threading.Thread(target=g, args=args) for _ in range(2)]
    start = time.perf_counter()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return one, (time.perf_counter() - start) / serial


LOOP = """
import sys, time
import numpy as np
x = np.linspace(0.0, 1.0, 1000)
for line in sys.stdin:
    for _ in range(5000):
        np.sin(x)
    print(flush=True)
"""


class Processes:
    """The same ratio for two processes, which share nothing but the machine: the current limit of its two cores."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", LOOP]
        self.both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in "ab"]
        self.seconds(self.both)

    def seconds(self, some: list[Any]) -> float:
        start = time.perf_counter()
        for p in some:
            p.stdin.write("\n")
            p.stdin.flush()
        for p in some:
            p.stdout.readline()
        return time.perf_counter() - start

    def ratio(self) -> float:
        one, other = self.both
        return self.seconds(self.both) / (self.seconds([one]) + self.seconds([other]))


def heard(g: Callable[..., Any], x: np.ndarray, n: int) -> float:
    """The seconds from a signal to the exception, beside a waiting thread."""
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
    compiled = {name: tp.jit(f) for name, (f, _, _) in CALLS.items()}
    for name, g in compiled.items():
        for _ in range(2):
            g(*CALLS[name][1])
    processes, of_processes = Processes(), []
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in compiled}
    for _ in range(ROUNDS):
        of_processes.append(processes.ratio())
        for name, g in compiled.items():
            found[name].append(ratio(g, CALLS[name][1]))
    rows = ["| call | ms | two threads / serial | Ctrl-C after, ms |", "|---|---:|---:|---:|"]
    rows.append(f"| two processes, NumPy | - | {statistics.median(of_processes):.2f} | - |")
    for name, (_, args, forever) in CALLS.items():
        late = f"{1e3 * heard(compiled[name], args[0], forever):.1f}" if forever else "-"
        one, both = zip(*found[name])
        rows.append(f"| {name} | {1e3 * min(one):.0f} | {statistics.median(both):.2f} | {late} |")
    print(*rows, sep="\n")
    note = "Calls from two Python threads, `python tests/bench/side_by_side.py`; BLAS has one thread."
    TABLE.write_text("\n".join([note, "", *rows, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
