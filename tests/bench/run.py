"""``make bench``: compiled gradient over compiled function for ten kernels, with what is recorded and what transforming takes.

The function is compiled by us and by plain Numba where Numba takes it; the faster one counts. Calls are interleaved and medians
taken. A table is printed and written to ``tests/bench/results``.
"""

from __future__ import annotations

import argparse
import math
import platform
import statistics
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

import numba  # noqa: E402
import numpy as np  # noqa: E402
from differences import copied, same_tree  # noqa: E402

import transpile as tp  # noqa: E402
from bench.kernels import KERNELS, Kernel  # noqa: E402
from bench.recorded import recorded_bytes  # noqa: E402

BATCH = 0.02  # seconds that one timing takes at least
AIM = "Aim: geometric mean at most 3.5, none over 8; transform under 0.2 s for 100 lines; no bytes for the stencil."


def fresh(fn: Callable) -> Callable:
    """A copy of a function that no cache knows."""
    new = types.FunctionType(fn.__code__, fn.__globals__, fn.__name__, fn.__defaults__, fn.__closure__)
    new.__module__ = fn.__module__
    return new


def plain_numba(fn: Callable) -> Callable:
    """The function under ``numba.njit``, and with it the Python functions that it calls."""
    names = {
        name: plain_numba(value)
        for name, value in fn.__globals__.items()
        if name in fn.__code__.co_names and isinstance(value, types.FunctionType)
    }
    return numba.njit(error_model="numpy")(types.FunctionType(fn.__code__, {**fn.__globals__, **names}, fn.__name__))


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def interleaved(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The median time of each call."""
    counts = {name: max(1, math.ceil(BATCH / max(timed(call)[0], 1e-7))) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(found) for name, found in times.items()}


def measure(kernel: Kernel, rounds: int) -> dict[str, Any]:
    """One line of the table."""
    args = kernel.args()
    gradient = tp.grad(kernel.fn, argnums=kernel.wrt)
    transform, text = timed(lambda: tp.source(tp.grad(fresh(kernel.fn), argnums=kernel.wrt), *args))
    jitted, ours = tp.jit(gradient, cache=False), tp.jit(kernel.fn, cache=False)
    compiling, found = timed(lambda: jitted(*copied(args)))
    value = kernel.fn(*copied(args))
    same_tree(ours(*copied(args)), value, f"{kernel.name}: jit", 1e-9)
    same_tree(found, gradient(*copied(args)), f"{kernel.name}: jit of grad", 1e-8)
    calls = {"gradient": lambda: jitted(*args), "ours": lambda: ours(*args)}
    try:
        plain = plain_numba(kernel.fn)
        same_tree(plain(*copied(args)), value, "numba", 1e-9)
        calls["numba"] = lambda: plain(*args)
    except (numba.core.errors.NumbaError, TypeError):
        pass
    times = interleaved(calls, rounds)
    best = min(times["ours"], times.get("numba", math.inf))
    return {
        "kernel": kernel.name,
        "function": best,
        "ours": times["ours"],
        "numba": times.get("numba"),
        "gradient": times["gradient"],
        "ratio": times["gradient"] / best,
        "bytes": recorded_bytes(text, kernel, gradient),
        "lines": text.count("\n"),
        "transform": transform,
        "compile": compiling,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """Markdown."""
    lines = [
        "| kernel | function, ours, ms | plain Numba, ms | gradient, ms | ratio "
        "| recorded, bytes | lines | transform, s | compile, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in rows:
        plain = "–" if r["numba"] is None else f"{1e3 * r['numba']:.3f}"
        recorded = "?" if r["bytes"] is None else f"{r['bytes']:,}"
        lines.append(
            f"| {r['kernel']} | {1e3 * r['ours']:.3f} | {plain} | {1e3 * r['gradient']:.3f} | {r['ratio']:.2f} | {recorded} "
            f"| {r['lines']} | {r['transform']:.2f} | {r['compile']:.1f} |"
        )
    if rows:
        mean = statistics.geometric_mean(r["ratio"] for r in rows)
        lines += ["", f"Geometric mean of the ratios: {mean:.2f}; largest: {max(r['ratio'] for r in rows):.2f}. {AIM}"]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", default="", help="kernels whose name holds this")
    options = parser.parse_args()
    rows, failed = [], []
    for kernel in (k for k in KERNELS if options.only.lower() in k.name.lower()):
        try:
            rows.append(measure(kernel, options.rounds))
            print(table(rows[-1:]).splitlines()[2], flush=True)
        except Exception as e:
            failed.append(f"{kernel.name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}")
            print(failed[-1], flush=True)
    text = table(rows)
    print("\n" + text)
    if not options.only:
        about = f"Python {platform.python_version()}, NumPy {np.__version__}, Numba {numba.__version__}, {platform.machine()}"
        results = HERE / "results"
        results.mkdir(exist_ok=True)
        body = "\n".join(
            [
                "# Gradient over function, compiled",
                "",
                about + ".",
                "",
                text,
                *(["", "Failed:", *failed] if failed else []),
                "",
            ]
        )
        (results / "latest.md").write_text(body, encoding="utf-8")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
