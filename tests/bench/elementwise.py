"""Elementwise functions, in nanoseconds an element: `python tests/bench/elementwise.py [--quick] [name ...]`.

Ours compiled (`tp.jit`), NumPy or SciPy, plain Numba with the C library's functions, and JAX if it is installed: an array in
and a new array out, one core. Writes tests/bench/results/elementwise.md, with the state of the aims.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import environment

if __name__ == "__main__":
    environment.pin()

import numpy as np
from numba import njit
from numba.core.errors import TypingError
from scipy import special

import transpile as tp
from bench.timing import Pace, interleaved
from transpile_runtime.compiled import special as compiled

SIZE = 32768  # so that the overhead of a call, less than a microsecond, is negligible
PACE = Pace(rounds=25, batch=0.002, budget=2.0)
QUICK = Pace(rounds=5, batch=0.001, budget=0.2)
RESULT = Path(__file__).parent / "results" / "elementwise.md"
PEERS = ("ours", "NumPy", "Numba", "JAX")

UNARY = {
    (-3.0, 3.0): """exp expm1 exp2 sin cos tan tanh sinh cosh arctan arcsinh cbrt square absolute sign floor rint isnan
        erf erfc expit log_expit ndtr""",
    (0.1, 5.0): "log log1p log2 log10 sqrt reciprocal gammaln digamma entr",
    (-0.9, 0.9): "arcsin arccos arctanh erfinv",
    (0.1, 0.9): "logit",
    (1.1, 5.0): "arccosh",
}
BINARY = "arctan2 power hypot maximum fmax logaddexp divide mod floor_divide heaviside copysign xlogy xlog1py"
# functions of the C library or SciPy for plain Numba
SCALAR: dict[str, Any] = {
    **{f"arc{n}": getattr(math, f"a{n}") for n in "sin cos tan tan2 sinh cosh tanh".split()},
    "absolute": abs, "gammaln": math.lgamma, "power": math.pow, "cbrt": njit(lambda x: np.cbrt(x)),
}  # fmt: skip
AIMED = """exp expm1 log log1p log2 log10 exp2 sin cos tan sinh cosh tanh arctan arctan2 erf erfc expit power cbrt gammaln
digamma""".split()


@dataclass(frozen=True)
class Row:
    name: str
    dtype: str
    times: dict[str, float]  # nanoseconds an element

    def gain(self, peer: str) -> float:
        return self.times[peer] / self.times["ours"] if peer in self.times else math.nan


def theirs(name: str) -> Callable:
    return getattr(np, name, None) or getattr(special, name)


def ours(name: str, count: int) -> Callable:
    function = theirs(name)

    def one(x):  # type: ignore[no-untyped-def]
        return function(x)

    def two(x, y):  # type: ignore[no-untyped-def]
        return function(x, y)

    return tp.jit(one if count == 1 else two)


def scalar(name: str) -> Any:
    """The function that a loop of plain Numba calls."""
    found = SCALAR.get(name) or getattr(math, name, None) or getattr(compiled, name, None)
    return found or getattr(np, name, None) or getattr(special, name)


def numba_loop(name: str, count: int) -> Callable:
    function = scalar(name)
    if count == 1:

        @njit(error_model="numpy")
        def run(x):  # type: ignore[no-untyped-def]
            out = np.empty_like(x)
            for i in range(x.shape[0]):
                out[i] = function(x[i])
            return out

    else:

        @njit(error_model="numpy")
        def run(x, y):  # type: ignore[no-untyped-def]
            out = np.empty_like(x)
            for i in range(x.shape[0]):
                out[i] = function(x[i], y[i])
            return out

    return run


def jax_call(name: str, arguments: Sequence[np.ndarray]) -> Callable[[], Any] | None:
    try:
        import jax
    except ImportError:
        return None
    found = getattr(jax.numpy, name, None) or getattr(jax.scipy.special, name, None)
    if found is None:
        return None
    call, given = jax.jit(found), [jax.numpy.asarray(a) for a in arguments]
    return lambda: call(*given).block_until_ready()


def measure(name: str, interval: tuple[float, float], count: int, dtype: type, pace: Pace) -> Row:
    rng = np.random.default_rng(0)
    arguments = [rng.uniform(*interval, SIZE).astype(dtype) for _ in range(count)]
    mine, numpy = ours(name, count), theirs(name)
    calls: dict[str, Callable[[], Any]] = {"ours": lambda: mine(*arguments), "NumPy": lambda: numpy(*arguments)}
    plain = numba_loop(name, count)
    calls["Numba"] = lambda: plain(*arguments)
    jax = jax_call(name, arguments)
    if jax is not None:
        calls["JAX"] = jax
    for peer in list(calls):
        try:
            calls[peer]()
        except TypingError:  # Numba does not have the function
            del calls[peer]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            mine(*arguments), numpy(*arguments), rtol=2e-5 if dtype is np.float32 else 1e-11, atol=1e-6
        )
    found = interleaved(calls, pace)
    return Row(name, np.dtype(dtype).name, {peer: t.minimum / SIZE * 1e9 for peer, t in found.items()})


def table(rows: Sequence[Row]) -> list[str]:
    lines = [f"| function | {' | '.join(PEERS)} | NumPy / ours | Numba / ours |", "|---|" + "---:|" * (len(PEERS) + 2)]
    for row in rows:
        times = " | ".join(f"{row.times[p]:.2f}" if p in row.times else "–" for p in PEERS)
        gains = " | ".join("–" if math.isnan(g) else f"{g:.1f}" for g in (row.gain("NumPy"), row.gain("Numba")))
        lines.append(f"| {row.name} | {times} | {gains} |")
    return lines


def standing(rows: Sequence[Row]) -> list[str]:
    """The state of the aims: NumPy's speed where NumPy is vectorised, four times that of the C library elsewhere."""
    lines = []
    for dtype in dict.fromkeys(row.dtype for row in rows):
        part = [row for row in rows if row.dtype == dtype]
        aimed = [row for row in part if row.name in AIMED and "Numba" in row.times]
        # NumPy counts as vectorised if it takes less than half the time of the C library
        fast = [row for row in part if row.times.get("Numba", 0.0) > 2 * row.times["NumPy"] or row.name not in AIMED]
        slower = [f"{row.name} {row.gain('NumPy'):.2f}" for row in fast if row.gain("NumPy") < 1 / 1.1]
        missed = [f"{row.name} {row.gain('Numba'):.1f}" for row in aimed if row.gain("Numba") < 4]
        lines.append(f"- {dtype}: {_list('as fast as NumPy where it has vectors', slower)}")
        if aimed:
            mean = geometric_mean(row.gain("Numba") for row in aimed)
            lines.append(
                f"- {dtype}: {mean:.1f} times the C library on the geometric mean; {_list('4 times everywhere', missed)}"
            )
    return lines


def _list(aim: str, missed: Sequence[str]) -> str:
    return f"{aim}: reached" if not missed else f"{aim}, but for {', '.join(missed)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tasks = [(name, interval, 1) for interval, names in UNARY.items() for name in names.split()]
    tasks += [(name, (0.1, 5.0), 2) for name in BINARY.split()]
    rows = []
    for dtype in (np.float64, np.float32):
        for name, interval, count in tasks:
            if not options.names or name in options.names:
                rows.append(measure(name, interval, count, dtype, QUICK if options.quick else PACE))
                print(*table(rows[-1:])[2:], flush=True)
    lines = ["# Elementwise functions", "", f"Measured on {environment.measured_on()}.", ""]
    lines += [f"Nanoseconds an element, arrays of {SIZE}, a new array each call; minimum of interleaved rounds.", ""]
    for dtype in ("float64", "float32"):
        lines += [f"## {dtype}", "", *table([row for row in rows if row.dtype == dtype]), ""]
    lines += ["## Aims", "", *standing(rows), ""]
    print("\n".join(standing(rows)))
    if not options.names:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
