"""A picture of the ratios: ours over the best peer and over C, a bar and a mark for each row, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import ratios

Row = dict[str, Any]
FASTER, SLOWER = "#3b7a57", "#b5533c"


def draw(rows: Sequence[Row], title: str, path: Path) -> bool:
    """Writes the picture; False if matplotlib is not installed, or no row can be compared."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [row for row in rows if ratios.to_best(row) is not None or ratios.to_c(row) is not None]
    if not shown:
        return False
    figure, axes = pyplot.subplots(figsize=(9, 1.2 + 0.22 * len(shown)), layout="constrained")
    for k, row in enumerate(shown):
        value = ratios.to_best(row)
        if value is not None:
            axes.barh(k, value - 1.0, left=1.0, color=FASTER if value <= 1.0 else SLOWER, height=0.7)
        if ratios.to_c(row) is not None:
            axes.plot(ratios.to_c(row), k, "k|", markersize=9)
    axes.plot([], [], "k|", markersize=9, label="ours over C by hand")
    axes.barh([0], [0], color=FASTER, label="ours over the best of JAX and PyTorch")
    axes.set_xscale("log")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(shown)), [f"{row['name']} {row['size']}" for row in shown], fontsize=7)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlabel("time of ours over theirs; left of 1 is faster")
    axes.set_title(f"{title}: {rows[0]['on'].split(';')[0]}, one core", fontsize=9)
    axes.grid(axis="x", which="both", linewidth=0.3)
    axes.legend(fontsize=7)
    figure.savefig(path, dpi=130, metadata={"Software": None})
    pyplot.close(figure)
    return True
