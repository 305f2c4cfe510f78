"""The aims of the benchmark, and whether each is reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench import ratios

Row = dict[str, Any]
SLOWEST_COMPILE = 6.0  # seconds
WITHOUT_AIM = ("kepler",)  # batched functions measured for orientation only


def standing(rows: Sequence[Row]) -> list[str]:
    """A line for each aim, reached or missed."""
    problems = [row for row in rows if row["suite"] == "problems"]
    kernels = [row for row in rows if row["suite"] == "kernels"]
    batching = [row for row in rows if row["suite"] == "batching" and row["name"] not in WITHOUT_AIM]
    return [
        _mean("AD problems, ours over the best of JAX and PyTorch", problems, ratios.to_best, 0.5),
        _mean("AD problems, ours over hand-written C", problems, ratios.to_c, 1.0),
        _all_done("AD problems that are differentiated", problems),
        _all_done("kernels that are differentiated", kernels),
        _none_over("kernels slower than JAX", kernels, ratios.to_jax),
        _mean("kernels, JAX over ours", kernels, _jax_to_ours, 5.0, least=True),
        _mean("kernels, gradient over function", kernels, ratios.to_function, 2.5),
        _none_over(
            "compiled functions slower than the faster of JAX and plain Numba", kernels, ratios.function_to_best
        ),
        _all_done("batched functions that agree", batching),
        _none_over("batched functions slower than the best of JAX and PyTorch", batching, ratios.to_best),
        _mean("batched functions, JAX over ours", batching, _jax_to_ours, 3.0, least=True),
        _compile([row for row in rows if row["suite"] != "batching"]),
        _compile(batching, "batched functions, "),
    ]


def name_of(row: Row) -> str:
    return f"{row['name']} {row['size']}"


def _jax_to_ours(row: Row) -> float | None:
    return ratios.over(ratios.seconds(row, "jax"), ratios.seconds(row, "ours"))


def _mean(what: str, rows: Sequence[Row], ratio: Callable[[Row], float | None], aim: float, least: bool = False) -> str:
    """A line with a geometric mean, the number of rows, and the worst row."""
    found = [(value, name_of(row)) for row in rows if (value := ratio(row)) is not None]
    bound = f"aim: at {'least' if least else 'most'} {aim:g}"
    if not found:
        return f"{what}: nothing measured; {bound}"
    value = ratios.mean(value for value, _ in found) or 0.0
    worst = min(found) if least else max(found)
    reached = value >= aim if least else value <= aim
    verdict = "reached" if reached else "missed"
    return f"{what}: geometric mean {value:.2f} of {len(found)}, worst {worst[0]:.2f} ({worst[1]}); {bound}: {verdict}"


def _all_done(what: str, rows: Sequence[Row]) -> str:
    """A line with the number of rows for which our gradient agrees with the others'."""
    if not rows:
        return f"{what}: nothing measured; aim: all"
    missing = [name_of(row) for row in rows if ratios.seconds(row, "ours") is None]
    text = f"{what}: {len(rows) - len(missing)} of {len(rows)}; aim: all: {'missed' if missing else 'reached'}"
    return text + (f" ({', '.join(missing)})" if missing else "")


def _none_over(what: str, rows: Sequence[Row], ratio: Callable[[Row], float | None]) -> str:
    """A line with the number of ratios above 1, and their rows."""
    found = [(value, name_of(row)) for row in rows if (value := ratio(row)) is not None]
    over = [f"{name} {value:.2f}" for value, name in sorted(found, reverse=True) if value > 1.0]
    if not found:
        return f"{what}: nothing measured; aim: none"
    text = f"{what}: {len(over)} of {len(found)}; aim: none: {'missed' if over else 'reached'}"
    return text + (f" ({', '.join(over)})" if over else "")


def _compile(rows: Sequence[Row], which: str = "") -> str:
    """A line on the cold compile times of rows that both compile, and our slowest."""
    pairs = [
        (ours, jax, name_of(row))
        for row in rows
        if (ours := ratios.compiling(row, "ours")) is not None and (jax := ratios.compiling(row, "jax")) is not None
    ]
    every = [(time, name_of(row)) for row in rows if (time := ratios.compiling(row, "ours")) is not None]
    what = f"{which}first call, cold; aim: at most JAX's on the geometric mean, none over {SLOWEST_COMPILE:g} s"
    if not pairs:
        return f"{what}: nothing measured"
    ours, jax = ratios.mean(p[0] for p in pairs) or 0.0, ratios.mean(p[1] for p in pairs) or 0.0
    slowest = max(every)
    reached = ours <= jax and slowest[0] <= SLOWEST_COMPILE
    return (
        f"{what}: ours {ours:.2f} s, JAX {jax:.2f} s, of {len(pairs)}; ours at most {slowest[0]:.1f} s ({slowest[1]}): "
        f"{'reached' if reached else 'missed'}"
    )
