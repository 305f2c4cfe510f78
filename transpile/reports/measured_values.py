"""The numbers of one call: its sizes are known, counts known only at run time are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from transpile.core import nodes as ir
from transpile.reports.call_numbers import Values
from transpile.reports.formula import Formula
from transpile.reports.probe import Run, Wanted, measure
from transpile.reports.recorded import Amount
from transpile.reports.size_formulas import Sizes

_BYTES, _ENTRIES = "bytes of ", "entries of "  # names of measured numbers, before the position of the amount


def values_of(
    sizes: Sizes,
    amounts: Sequence[Amount],
    formulas: Iterable[Formula],
    run: Run,
) -> Values:
    """The numbers of one call that the ``formulas`` and the ``amounts`` need: known sizes, measured counts, and the bytes of
    amounts whose formula is only a bound. Only if something must be measured, ``run`` runs a function that counts."""
    every = [*formulas, *(a.formula for a in amounts), *(a.entries for a in amounts if a.entries is not None)]
    missing = sorted({s for f in every for s in f.symbols if s not in sizes.known and s in sizes.unknown})
    wanted = Wanted({}, {}, {}, {})
    for symbol in missing:
        what = sizes.unknown[symbol]
        if isinstance(what, (ir.For, ir.While)):
            wanted.trips[symbol] = what
        elif what.type.kind != "stack":
            wanted.largest[symbol] = what
        else:
            (wanted.entries if symbol.startswith("entries") else wanted.bytes)[symbol] = what
    bounds = {k: a for k, a in enumerate(amounts) if not a.exact}
    for k, amount in bounds.items():
        if amount.entries is None:
            wanted.largest[f"{_BYTES}{k}"] = amount.var
        else:
            wanted.bytes[f"{_BYTES}{k}"] = wanted.entries[f"{_ENTRIES}{k}"] = amount.var
    if not wanted:
        return Values(sizes.known)
    found = measure(sizes.core, wanted, run)
    taken = {a.var: found[f"{_BYTES}{k}"] * (_item(a.var) if a.entries is None else 1) for k, a in bounds.items()}
    entries = {a.var: found[f"{_ENTRIES}{k}"] for k, a in bounds.items() if a.entries is not None}
    return Values(sizes.known, {s: found[s] for s in missing}, taken, entries)


def _item(var: ir.Var) -> int:
    """The bytes of one element of ``var``."""
    return np.dtype(var.type.dtype).itemsize
