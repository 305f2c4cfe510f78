"""The results as Markdown: a table for each suite, the missing peers with reasons, and the state of the aims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bench import ratios
from bench.aims import standing
from bench.peers import GRADIENTS, RIVALS

Row = dict[str, Any]
TITLES = {
    "problems": "AD problems",
    "kernels": "Kernels with loops and in-place writes",
    "batching": "Batching, beside jax.vmap and torch.func.vmap",
}
ABOUT = """Processor time in milliseconds, minimum / median of interleaved rounds: value and derivative together, float64, one
core, one thread. *Best* is the faster of JAX and PyTorch; C is an adjoint written by hand, called through ctypes. *Function* is
the value alone, compiled by us and by plain Numba; *gradient / function* takes the faster of the two. *Compile* is what a first
call takes beyond a usual one, with nothing cached. `≠` marks a result that differs from the others'; it has no time. Ratios are
of minima."""
WHY = "What misses, with its profile, its reason and what comes next: [missed.md](missed.md)."


def document(rows: Sequence[Row]) -> str:
    """The whole page."""
    machines = list(dict.fromkeys(row["on"] for row in rows))
    lines = ["# Benchmark", "", *(f"Measured on {machine}." for machine in machines), "", ABOUT]
    for suite, title in TITLES.items():
        part = [row for row in rows if row["suite"] == suite]
        if part:
            lines += ["", f"## {title}", "", f"![ratios]({suite}.png)", "", *table(part, suite), *absences(part)]
    return "\n".join([*lines, "", "## Aims", "", *(f"- {line}" for line in standing(rows)), "", WHY, ""])


def table(rows: Sequence[Row], suite: str = "problems") -> list[str]:
    names = [name for name, _ in columns(suite)]
    lines = [f"| {' | '.join(names)} |", "|---|---|" + "---:|" * (len(names) - 2)]
    return lines + [line_of(row) for row in rows]


def line_of(row: Row) -> str:
    return f"| {' | '.join(show(row) for _, show in columns(row['suite']))} |"


def absences(rows: Sequence[Row]) -> list[str]:
    """The peers that did not take part, and those whose result differs; rows with the same reason together."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for peer, note in row["notes"].items():
            verb = "differs" if peer in row["wrong"] else "none"
            reasons.setdefault((f"{peer}, {verb}", note), []).append(f"{row['name']} {row['size']}")
    lines = []
    for (who, note), where in sorted(reasons.items()):
        everywhere = len(where) == len(rows)
        lines.append(f"- {who}: {note} ({'everywhere' if everywhere else ', '.join(where)})")
    return ["", "Not in the table:", "", *lines] if lines else []


# ---------------------------------------------------------------------------------------------- columns


def digits(value: float | None) -> str:
    """Three significant digits, never with an exponent."""
    if value is None:
        return "–"
    return (
        f"{value:.0f}"
        if value >= 100
        else f"{value:.1f}"
        if value >= 10
        else f"{value:.2f}"
        if value >= 0.1
        else f"{value:.4f}"
    )


def milliseconds(value: float | None) -> str:
    return digits(None if value is None else 1e3 * value)


def _pair(peer: str) -> Callable[[Row], str]:
    def show(row: Row) -> str:
        if peer in row.get("wrong", ()):
            return "≠"
        least = ratios.seconds(row, peer)
        if least is None:
            return "–"
        return f"{milliseconds(least)} / {milliseconds(ratios.seconds(row, peer, 'median'))}"

    return show


def _one(peer: str) -> Callable[[Row], str]:
    return lambda row: "≠" if peer in row.get("wrong", ()) else milliseconds(ratios.seconds(row, peer))


def _best(row: Row) -> str:
    rival, ratio = ratios.best(row, RIVALS), ratios.to_best(row)
    return "–" if rival is None or ratio is None else f"{digits(ratio)} ({rival[0]})"


def _recorded(row: Row) -> str:
    return "–" if row.get("bytes") is None else f"{row['bytes']:,}"


SHOWN = {"ours": "ours", "jax": "JAX", "torch": "PyTorch", "c": "C"}
COLUMNS: tuple[tuple[str, Callable[[Row], str]], ...] = (
    ("problem", lambda row: row["name"]),
    ("size", lambda row: row["size"]),
    *((SHOWN[peer], _pair(peer)) for peer in GRADIENTS),
    ("ours / best", _best),
    ("ours / C", lambda row: digits(ratios.to_c(row))),
    ("function", _one("function")),
    ("Numba", _one("numba")),
    ("JAX function", _one("jax function")),
    ("gradient / function", lambda row: digits(ratios.to_function(row))),
    ("recorded, bytes", _recorded),
    ("lines", lambda row: str(row.get("lines", "–"))),
    ("transform, s", lambda row: digits(row.get("transform"))),
    ("compile, s", lambda row: digits(ratios.compiling(row, "ours"))),
    ("JAX compile, s", lambda row: digits(ratios.compiling(row, "jax"))),
)
BATCHING = (
    ("problem", lambda row: row["name"]),
    ("computed", lambda row: row["wanted"]),
    *((SHOWN[peer], _pair(peer)) for peer in ("ours", *RIVALS)),
    ("interpreted", _one("interpreted")),
    ("ours / best", _best),
    ("JAX / ours", lambda row: digits(ratios.over(1.0, ratios.to_jax(row)))),
    ("compile, s", lambda row: digits(ratios.compiling(row, "ours"))),
    ("JAX compile, s", lambda row: digits(ratios.compiling(row, "jax"))),
)


def columns(suite: str) -> tuple[tuple[str, Callable[[Row], str]], ...]:
    return BATCHING if suite == "batching" else COLUMNS
