"""The arrays and values that a derivative records, and those that it does not, found by the reasons that the reverse transform
notes on statements (`transpile.core.reasons`)."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from transpile.analysis.scopes import Site, sites
from transpile.codegen.numpy.memory_sharing import is_view
from transpile.core import nodes as ir
from transpile.core import reasons
from transpile.errors import source_line
from transpile.ops.tables import prims
from transpile.reports.call_numbers import Values
from transpile.reports.formula import Formula, product_text
from transpile.reports.size_formulas import Loop, Sizes


@dataclass(frozen=True)
class Recorded:
    """A tape (an array with an entry per iteration), a stack, or a kept array, with its place, its size and the reason.

    ``name`` is its name in the generated text; ``line`` and ``text`` are those of the recorded expression in the user's code.
    ``bytes`` is its size for the current arguments; if not ``exact``, the ``formula`` is an upper bound.
    """

    name: str
    kind: str  # tape, stack, kept
    type: str
    file: str
    line: int
    text: str
    formula: Formula
    formula_text: str
    exact: bool
    bytes: int | None
    reason: str


@dataclass(frozen=True)
class Unrecorded:
    """Code that records nothing: a loop that runs forward and backward at once ("fused"), a loop whose iterations are
    recomputed ("rerun"), a value that is recomputed ("again"), or a call of a derivative of a kept function ("call")."""

    kind: str
    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Amount:
    """The size of a recorded variable, before anything is measured. ``entries``: the number of entries, if it is a stack."""

    var: ir.Var
    kind: str
    loc: ir.Loc
    formula: Formula
    text: str
    exact: bool
    entries: Formula | None = None
    reason: str = ""


_FUSED = "each iteration runs forward and backward at once: nothing is recorded between iterations"
_RERUN = "each iteration runs again in the reverse sweep: only what the loop carries is recorded"
_CALL = "is a call that runs the function again, in {}: the memory that it uses meanwhile is not counted here"
_AGAIN = "is recomputed in the reverse sweep, from values that exist or are recorded"
_KEPT = "the reverse sweep reads it in place: nothing overwrites it"


def amounts(sizes: Sizes) -> list[Amount]:
    """The tapes, stacks and kept arrays of the function, each as an `Amount`, in the order of the text; a stack that nothing is
    pushed to is left out."""
    found: list[Amount] = []
    all_sites = list(sites(sizes.core))
    pushes = {site.stmt.stack: site for site in all_sites if isinstance(site.stmt, ir.Push)}
    for site in all_sites:
        match site.stmt:
            case ir.NewStack(var=var) if var in pushes:
                found.append(_stack(sizes, site, pushes[var]))
            case ir.Alloc(reason=reason) if reasons.is_recorded(reason):
                found.append(_array(sizes, site, "tape"))
            case ir.Call(results=(var,), reason=reasons.KEPT) if var.type.dims and not var.name.endswith("_bar"):
                found.append(_array(sizes, site, "kept"))
            case ir.Alloc(var=var, reason=reasons.KEPT) | ir.Let(var=var, reason=reasons.KEPT) if not var.name.endswith(
                "_bar"
            ):
                if var.type.dims and (isinstance(site.stmt, ir.Alloc) or not is_view(site.stmt)):
                    found.append(_array(sizes, site, "kept"))
    return found


def _loops(site: Site) -> list[Loop]:
    """The loops around a statement, the outermost first."""
    return [s for s, _ in site.nest if isinstance(s, (ir.For, ir.While))]


def _array(sizes: Sizes, site: Site, kind: str) -> Amount:
    """The amount of memory of a tape or a kept array (``kind``). An array that is allocated again in each iteration of a loop
    counts once, at its largest; it is not ``exact`` if two of its sizes or more change."""
    stmt = site.stmt
    assert isinstance(stmt, (ir.Alloc, ir.Let, ir.Call))
    var = stmt.var
    factors = [sizes.extreme(sizes.of_dim(d), largest=True) for d in var.type.dims]
    varying = [d for d in var.type.dims if any(map(sizes.is_changing, sizes.of_dim(d).symbols))]
    if any(f is None for f in factors):
        name = f"numbers(line {stmt.loc.line})"
        factors = [sizes.unknown_symbol(name, var)]
    size = np.dtype(var.type.dtype).itemsize
    total = Formula.of(size)
    for factor in factors:
        total = total * factor  # type: ignore[operator]
    text = product_text(size, tuple(f for f in factors if f is not None))
    return Amount(var, kind, stmt.loc, total, text, len(varying) < 2, reason=stmt.reason)


def _stack(sizes: Sizes, site: Site, push: Site) -> Amount:
    """The amount of a stack that ``site`` creates and ``push`` fills: its entries are the iterations of the loops between the
    two. It is not ``exact`` if it is created in a loop or a branch decides about pushes."""
    stmt = site.stmt
    assert isinstance(stmt, ir.NewStack)
    around = _loops(site)
    loops = _loops(push)[len(around) :]
    value = ir.Var("", stmt.var.type) if not isinstance(push.stmt.value, ir.Var) else push.stmt.value  # type: ignore[union-attr]
    item = sizes.bytes_of(value)
    entries, _ = sizes.summed(Formula.of(1), loops)
    total, _ = sizes.summed(item, loops)
    exact = not around and not _is_conditional(sizes, push, len(site.nest))
    if entries is None:
        entries = sizes.unknown_symbol(f"entries(line {push.stmt.loc.line})", stmt.var)
    if total is None:
        varies = any(map(sizes.is_changing, item.symbols))
        total = sizes.unknown_symbol(f"bytes(line {push.stmt.loc.line})", stmt.var) if varies else entries * item
    elif around:
        total, entries = (
            sizes.extreme(f, largest=True) or f for f in (total, entries)
        )  # at the iteration that fills it most
    kind = "stack" if reasons.is_recorded(stmt.reason) else "other"
    return Amount(stmt.var, kind, stmt.loc, total, str(total), exact, entries, stmt.reason)


def _is_conditional(sizes: Sizes, push: Site, depth: int) -> bool:
    """Whether a branch decides if an iteration pushes, other than a branch around the last loop whose trip count is known only
    at run time. ``depth``: the number of blocks around the stack."""
    found = False
    for stmt, _ in push.nest[depth:]:
        if isinstance(stmt, (ir.For, ir.While)) and sizes.count(stmt) is None:
            found = False
        found = found or isinstance(stmt, ir.If)
    return found


def decisions(sizes: Sizes) -> list[Unrecorded]:
    """The code that records nothing, one entry for each place and kind, sorted by kind, file and line."""
    found: dict[tuple[str, ir.Loc], Unrecorded] = {}
    for site in sites(sizes.core):
        stmt = site.stmt
        kind = reason = ""
        match stmt:
            case ir.For(reason=reasons.FUSED):
                kind, reason = "fused", _FUSED
            case ir.For(reason=reasons.RERUN):
                kind, reason = "rerun", _RERUN
            case ir.Let(reason=reasons.AGAIN) if stmt.var.type.is_float and prims()[stmt.prim].cost > 0:
                kind, reason = "again", _AGAIN
            case ir.Call(function=ir.Routine() as called) if called.origin is not None:
                kind, reason = "call", _CALL.format(called)
        if kind and stmt.loc.line:
            loc = stmt.loc
            text = loop_text(loc) if kind in ("fused", "rerun") else excerpt(loc)
            found.setdefault((kind, loc), Unrecorded(kind, loc.file, loc.line, text, reason))
    order = ("fused", "rerun", "again", "call")
    return sorted(found.values(), key=lambda u: (order.index(u.kind), u.file, u.line))


def outermost(found: list[Unrecorded]) -> Iterator[Unrecorded]:
    """Of the entries of each kind, file and line, the one with the longest text."""
    best: dict[tuple[str, str, int], Unrecorded] = {}
    for entry in found:
        key = (entry.kind, entry.file, entry.line)
        if key not in best or len(entry.text) > len(best[key].text):
            best[key] = entry
    yield from best.values()


def excerpt(loc: ir.Loc) -> str:
    """The user's expression at ``loc``, up to the end of its first line; the whole line if its columns are unknown."""
    line = source_line(loc)
    if loc.col < 1 or loc.col > len(line):
        return line.strip()
    end = loc.end_col - 1 if loc.end_line in (0, loc.line) and loc.end_col else len(line)
    return line[loc.col - 1 : end].strip() or line.strip()


def loop_text(loc: ir.Loc) -> str:
    """The first line of the loop at ``loc``."""
    return linecache.getline(loc.file, loc.line).strip()


def finished(amount: Amount, sizes: Sizes, values: Values, name: str) -> Recorded:
    """The record of ``amount``, with the bytes that ``values`` give (None if unknown) and with ``name``, its name in the
    generated text."""
    loc, type_ = amount.loc, amount.var.type
    text = excerpt(loc)
    if text.startswith(("for ", "while ", "if ", "elif ")) and amount.kind != "kept":
        text = amount.var.label.removesuffix("_tape")
    dims = ", ".join(str(sizes.extreme(sizes.of_dim(d), largest=True) or sizes.of_dim(d)) for d in type_.dims)
    return Recorded(
        name=name,
        kind=amount.kind,
        type=f"{'stack of ' if type_.kind == 'stack' else ''}{type_.dtype}{f'[{dims}]' if dims else ''}",
        file=loc.file,
        line=loc.line,
        text=text,
        formula=amount.formula,
        formula_text=amount.text if amount.exact else f"≤ {amount.text}",
        exact=amount.exact,
        bytes=values.taken_by(amount.var, amount.formula),
        reason=_KEPT if amount.kind == "kept" else amount.reason,
    )


def largest(records: Sequence[Recorded]) -> list[Recorded]:
    """The records, only the one with most bytes of each name: those of one name are not alive at once."""
    found: dict[str, Recorded] = {}
    for record in records:
        if record.name not in found or (record.bytes or 0) > (found[record.name].bytes or 0):
            found[record.name] = record
    return list(found.values())
