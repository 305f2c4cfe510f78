"""Random numbers, in nanoseconds a number: `python tests/bench/draws.py [--quick]`.

Ours compiled (`tp.jit`) and interpreted (`tp.random`), NumPy's `Generator`, and JAX if it is installed: 10**7 numbers
into a new array, one core. Writes tests/bench/results/draws.md. The aim: normal numbers in float64 at least as fast as
`Generator.standard_normal`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import environment

if __name__ == "__main__":
    environment.pin()

import numpy as np

import transpile as tp
from bench.timing import Pace, interleaved
from transpile import random

SIZE = 10**7
PACE = Pace(rounds=9, batch=0.002, budget=20.0)
QUICK = Pace(rounds=3, batch=0.001, budget=3.0)
RESULT = Path(__file__).parent / "results" / "draws.md"
PEERS = ("compiled", "called", "NumPy", "JAX")

NUMPY: dict[str, Callable[[np.random.Generator], Any]] = {
    "normal": lambda g: g.standard_normal(SIZE),
    "normal, float32": lambda g: g.standard_normal(SIZE, np.float32),
    "uniform": lambda g: g.random(SIZE),
    "uniform, float32": lambda g: g.random(SIZE, np.float32),
    "bits": lambda g: g.integers(0, 2**64, SIZE, np.uint64, endpoint=False),
    "randint": lambda g: g.integers(0, 1000, SIZE),
    "exponential": lambda g: g.standard_exponential(SIZE),
    "gamma": lambda g: g.standard_gamma(2.5, SIZE),
}


def draw(name: str, r: Any, key: Any, n: int) -> Any:
    """The same draw from our module or JAX's."""
    match name:
        case "randint":
            return r.randint(key, (n,), 0, 1000)
        case "gamma":
            return r.gamma(key, 2.5, (n,))
        case _:
            call, _, dtype = name.partition(", ")
            return getattr(r, call)(key, (n,), dtype or None)


OURS: dict[str, Callable] = {
    "normal": lambda key, n: random.normal(key, (n,)),
    "normal, float32": lambda key, n: random.normal(key, (n,), np.float32),
    "uniform": lambda key, n: random.uniform(key, (n,)),
    "uniform, float32": lambda key, n: random.uniform(key, (n,), np.float32),
    "bits": lambda key, n: random.bits(key, (n,)),
    "randint": lambda key, n: random.randint(key, (n,), 0, 1000),
    "exponential": lambda key, n: random.exponential(key, (n,)),
    "gamma": lambda key, n: random.gamma(key, 2.5, (n,)),
}


def jax_call(name: str) -> Callable[[], Any] | None:
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    key = jax.random.PRNGKey(0)
    call = jax.jit(lambda key: draw(name, jax.random, key, SIZE))
    return lambda: call(key).block_until_ready()


def measure(name: str, pace: Pace) -> dict[str, float]:
    key, generator = random.key(0), np.random.default_rng(0)
    compiled = tp.jit(OURS[name])
    calls: dict[str, Callable[[], Any]] = {
        "compiled": lambda: compiled(key, SIZE),
        "called": lambda: OURS[name](key, SIZE),
        "NumPy": lambda: NUMPY[name](generator),
    }
    jax = jax_call(name)
    if jax is not None:
        calls["JAX"] = jax
    for call in calls.values():
        call()
    return {peer: t.minimum / SIZE * 1e9 for peer, t in interleaved(calls, pace).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    head = [f"| draw | {' | '.join(PEERS)} | NumPy / compiled |", "|---|" + "---:|" * (len(PEERS) + 1)]
    rows: list[str] = []
    for name in OURS:
        times = measure(name, QUICK if options.quick else PACE)
        shown = " | ".join(f"{times[p]:.1f}" if p in times else "–" for p in PEERS)
        rows.append(f"| {name} | {shown} | {times['NumPy'] / times['compiled']:.2f} |")
        print(rows[-1], flush=True)
    lines = ["# Random numbers", "", f"Measured on {environment.measured_on()}.", ""]
    lines += [
        f"Nanoseconds a number, {SIZE:,} of them into a new array; minimum of interleaved rounds.",
        "",
        *head,
        *rows,
    ]
    if not options.quick:
        RESULT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
