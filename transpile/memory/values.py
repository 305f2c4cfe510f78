"""The numbers of one call: of its sizes, and of what only the run knows, which is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from transpile.core.nodes import For, Function, Var, While
from transpile.memory.formula import Formula
from transpile.memory.probe import Wanted, measure
from transpile.memory.records import Amount
from transpile.memory.sizes import Sizes
from transpile.request import Request

_BYTES, _ENTRIES = "bytes of ", "entries of "  # before the number of an amount, as it is measured


@dataclass(frozen=True)
class Values:
    """``known`` and ``measured`` are the values of symbols. Of memory whose formula is only a bound, ``taken`` says how many bytes
    it takes, and of such a stack ``entries`` how many entries it has."""

    known: Mapping[str, int]
    measured: Mapping[str, int] = field(default_factory=dict)
    taken: Mapping[Var, int] = field(default_factory=dict)
    entries: Mapping[Var, int] = field(default_factory=dict)

    def of(self, formula: Formula) -> int | None:
        """The number; None if something is neither known nor measured."""
        given = {**self.known, **self.measured}
        return formula.at(given) if all(s in given for s in formula.symbols) else None

    def taken_by(self, var: Var, formula: Formula) -> int | None:
        """The bytes of a variable of which the formula says how many, or at most how many."""
        return self.taken.get(var, self.of(formula))


def values_of(
    sizes: Sizes,
    amounts: Sequence[Amount],
    formulas: Iterable[Formula],
    request: Request,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Values:
    """The values of all symbols in the formulas and in the amounts, in a call. The function runs if it must."""
    every = [*formulas, *(a.formula for a in amounts), *(a.entries for a in amounts if a.entries is not None)]
    missing = sorted({s for f in every for s in f.symbols if s not in sizes.known and s in sizes.unknown})
    wanted = Wanted({}, {}, {}, {})
    for symbol in missing:
        what = sizes.unknown[symbol]
        if isinstance(what, (For, While)):
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
    found = measure(sizes.core, wanted, request, args, kwargs)
    taken = {a.var: found[f"{_BYTES}{k}"] * (_item(a.var) if a.entries is None else 1) for k, a in bounds.items()}
    entries = {a.var: found[f"{_ENTRIES}{k}"] for k, a in bounds.items() if a.entries is not None}
    return Values(sizes.known, {s: found[s] for s in missing}, taken, entries)


def _item(var: Var) -> int:
    """Bytes of an element: of an array the elements are counted."""
    return np.dtype(var.type.dtype).itemsize


def arguments_of(core: Function, request: Request) -> dict[Var, Any]:
    """What a call gives each parameter; those at the end are read outside the function."""
    from transpile.captured import Place
    from transpile.run import leaf_slots

    given = [request.leaves[leaf] for leaf in leaf_slots(core, request)]
    return dict(zip(core.params, [*given, *(Place.of(c).read() for c in core.captured)]))
