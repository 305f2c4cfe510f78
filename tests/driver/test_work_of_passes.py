"""How much each pass does on programs of several lengths: the functions that it calls, which no load of the machine changes.

``python tests/driver/test_work_of_passes.py straight 100 1000`` prints the calls and the times of each pass.
"""

from __future__ import annotations

import cProfile
import gc
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[2] / "runtime")]

import numpy as np
import pytest

import transpile as tp
from transpile.core import watch

LENGTHS = {"straight": (15, 60), "loops": (6, 24), "vectors": (32, 128)}
LEAST = 3_000  # calls: what a pass does once is most of what is less


def straight(n: int) -> list[str]:
    """Statements on numbers, each of which reads two before it."""
    return [
        "t0 = a * b",
        *(f"t{k} = np.sin(t{k - 1}) * a + t{max(k - 7, 0)} * b" for k in range(1, n + 1)),
        f"return np.sum(x) * t{n}",
    ]


def loops(n: int) -> list[str]:
    """Recurrences, each along the one before it."""
    lines = ["y0 = x * a"]
    for k in range(1, n + 1):
        lines += [
            f"y{k} = np.zeros(len(x))",
            "for i in range(1, len(x)):",
            f"    y{k}[i] = y{k}[i - 1] * b + y{k - 1}[i] * a",
        ]
    return [*lines, f"return np.sum(y{n})"]


def vectors(n: int) -> list[str]:
    """Small arrays with statements on numbers between them."""
    lines = ["y0, t0 = x, a"]
    for k in range(1, n + 1):
        lines += [f"t{k} = np.cos(t{k - 1}) * b + np.sum(y{k - 1})", f"y{k} = x * t{k} + y{max(k - 3, 0)}"]
    return [*lines, f"return np.sum(y{n}) + t{n}"]


KINDS = {f.__name__: f for f in (straight, loops, vectors)}


def program(kind: str, n: int):
    lines = "\n".join(f"    {line}" for line in KINDS[kind](n))
    return tp.from_source(f"def f(x, a, b):\n{lines}\n", {"np": np})


@contextmanager
def counted() -> Iterator[cProfile.Profile]:
    """Within it the clock of the passes is the number of calls so far, without what a collection of other garbage calls."""
    profile = cProfile.Profile()
    own, watch.time = watch.time, SimpleNamespace(perf_counter=lambda: sum(e.callcount for e in profile.getstats()))
    gc.collect()
    gc.disable()
    try:
        yield profile
    finally:
        gc.enable()
        watch.time = own


def work(kind: str, n: int) -> Counter[str]:
    """The calls of each pass for the loops of a gradient."""
    found: Counter[str] = Counter()

    def note(done: watch.Done) -> None:
        found[done.name] += int(done.seconds)

    f = tp.grad(program(kind, n), argnums=(0, 1, 2))
    with counted() as profile, watch.watching(note):
        profile.enable()
        try:
            tp.source(f, np.ones(5), 0.5, 0.3, stage="loops")
        finally:
            profile.disable()
    return found


@pytest.mark.parametrize("kind", ["straight", *(pytest.param(k, marks=pytest.mark.slow) for k in ("loops", "vectors"))])
def test_no_pass_grows_faster_than_its_program(kind):
    few, many = LENGTHS[kind]
    small, large = work(kind, few), work(kind, many)
    most = many / few * math.log(many) / math.log(few)
    grown = {name: round(large[name] / small[name], 1) for name in large if large[name] > LEAST and small[name]}
    assert len(grown) > 5
    assert {name: g for name, g in grown.items() if g > most} == {}


if __name__ == "__main__":
    os.environ.setdefault("TRANSPILE_CACHE_DIR", "")
    kind, lengths = sys.argv[1], [int(n) for n in sys.argv[2:]]
    rows: dict[str, list[str]] = {}
    for n in lengths:
        start = time.perf_counter()
        for name, calls in work(kind, n).items():
            rows.setdefault(name, []).append(f"{calls:>12,}")
        rows.setdefault("seconds, counted", []).append(f"{time.perf_counter() - start:>12.1f}")
    print(f"{kind:32}", *(f"{n:>12,}" for n in lengths))
    for name, row in rows.items():
        print(f"{name:32}", *row)
