"""A report on the memory that a derivative takes: as text of at most 100 columns, and as HTML for notebooks."""

from __future__ import annotations

import html as markup
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from transpile.errors import short_path
from transpile.reports.formula import Formula
from transpile.reports.peak import Peak
from transpile.reports.recorded import Recorded, Unrecorded, largest

WIDTH = 100
TEXT = 30  # at most so many columns for the user's expression
MOST = 8  # at most so many arrays are named at a peak


@dataclass(frozen=True)
class Report:
    """The memory that a derivative takes. Printed, it is a table.

    ``recorded`` are the tapes and stacks; ``bytes`` and ``formula`` are what they take together, each at its largest. ``kept``
    are arrays of the function that the reverse sweep reads in place. ``not_recorded`` are loops whose iterations are recomputed
    or run forward and backward at once, and values that are recomputed. ``peak`` is the largest amount alive at once in the
    interpreted derivative, ``compiled_peak`` in the compiled one (None if its loops do not tell it), both with the results and
    without the arguments; of two branches the larger counts. ``known`` are the sizes of the arguments, ``measured`` the counts
    known only at run time. A number of bytes is None if it is unknown, as are the peaks if functions call themselves.
    """

    name: str
    signature: str
    file: str
    recorded: tuple[Recorded, ...]
    kept: tuple[Recorded, ...]
    not_recorded: tuple[Unrecorded, ...]
    bytes: int | None
    formula: Formula
    results: int
    result_bytes: int | None
    peak: Peak | None
    compiled_peak: Peak | None
    known: Mapping[str, int]
    measured: Mapping[str, int]

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(self)


def text(report: Report) -> str:
    """The report as a table, lines of at most 100 columns."""
    lines = wrapped(f"{report.name}({report.signature})", "", 4)
    sizes = [
        f"{name} = {value:,}" for name, value in {**report.known, **report.measured}.items() if name in said(report)
    ]
    if sizes:
        lines += wrapped(f"where {', '.join(sizes)}", "  ", 4)
    lines += [
        "",
        *wrapped(f"recorded: {amount(report.bytes, report.formula, all(r.exact for r in report.recorded))}", "", 4),
    ]
    lines += rows(report, report.recorded)
    if report.kept:
        kept = (
            f"kept: {amount(total(report.kept), summed(report.kept))}, arrays of the function that are not overwritten"
        )
        lines += ["", *wrapped(kept, "", 4)]
        lines += rows(report, report.kept)
    if report.not_recorded:
        lines += ["", "not recorded:", *decided(report)]
    lines += ["", *peak(report, "peak memory, interpreted", report.peak)]
    if report.compiled_peak is not None:
        lines += peak(report, "peak memory, compiled", report.compiled_peak)
    number = f"{report.results} array{'s' if report.results != 1 else ''} or number{'s' if report.results != 1 else ''}"
    size = "" if report.result_bytes is None else f", {report.result_bytes:,} bytes"
    lines.append(f"results: {number}{size}")
    return "\n".join(line.rstrip() for line in lines)


def said(report: Report) -> set[str]:
    """The symbols in the formulas of the report: of what is recorded, kept, and alive at the peaks."""
    formulas = [report.formula, *(r.formula for r in report.kept)]
    formulas += [p.formula for p in (report.peak, report.compiled_peak) if p is not None]
    return {s for f in formulas for s in f.symbols}


def amount(number: int | None, formula: Formula, exact: bool = True) -> str:
    """Text for a number of bytes and its formula, ``320,000 bytes = 16·n``; with "unknown" if ``number`` is None, "≤" unless
    ``exact``. Only the number, or "nothing", if the formula is constant."""
    if formula.is_const and number is not None:
        return "nothing" if not number else f"{number:,} bytes"
    return f"{'unknown' if number is None else f'{number:,} bytes'} {'=' if exact else '≤'} {formula}"


def total(records: Sequence[Recorded]) -> int | None:
    """The bytes of all records together; None if one is unknown."""
    return None if any(r.bytes is None for r in records) else sum(r.bytes or 0 for r in records)


def summed(records: Sequence[Recorded]) -> Formula:
    """The sum of the records' formulas."""
    return sum((r.formula for r in records), Formula())


def rows(report: Report, records: Sequence[Recorded]) -> list[str]:
    """Lines of the table: a head, then a row for the records of each expression, the largest first, with its reason below; []
    without records."""
    groups: dict[tuple[object, ...], list[Recorded]] = {}
    for r in records:
        groups.setdefault((r.file, r.line, r.text, r.type, r.formula_text, r.reason), []).append(r)
    if not groups:
        return []
    ordered = sorted(groups.values(), key=lambda group: -(total(largest(group)) or 0))
    cells = [row_of(report, group) for group in ordered]
    widths = fitting([max(len(row[k]) for row in (HEAD, *cells)) for k in range(len(HEAD))])
    out = [aligned(HEAD, widths)]
    for row, (record, *_) in zip(cells, ordered):
        out.append(aligned(row, widths))
        more = [row[k] for k in (3, 4) if len(row[k]) > widths[k]]  # truncated cells, in full
        reason = [record.reason] if record.kind != "kept" else []
        if more or reason:
            out += wrapped("; ".join([*more, *reason]), " " * min(widths[0] + 6, 12), 2)
    return out


def row_of(report: Report, group: Sequence[Recorded]) -> tuple[str, ...]:
    """The six cells of the row for the records of one expression (`HEAD` names them): one, or several if the expression was
    inlined several times; then formula and bytes are sums."""
    first, *more = group = largest(group)
    name = f"{first.name} (of {1 + len(more)})" if more else first.name
    formula = first.formula_text
    if more:
        formula = f"{'' if first.exact else '≤ '}{summed(group)}"
    return (where(report, first.file, first.line), name, first.text, first.type, formula, number(total(group)))


HEAD = ("line", "name", "of", "type", "formula", "bytes")
LEAST = (24, 16, 16, 18, 18, 5)  # columns that remain if a row is too long
CUT = (2, 3, 4, 1)  # columns to cut, in this order


def fitting(widths: list[int]) -> list[int]:
    """The widths of the columns, changed in place so that a row fits in 100 columns, if that is possible."""
    widths[0] = min(widths[0], LEAST[0])
    widths[2] = min(widths[2], TEXT)
    for k in CUT:
        over = sum(widths) + 2 * len(widths) - WIDTH
        if over > 0:
            widths[k] = max(min(widths[k], LEAST[k]), widths[k] - over)
    return widths


def aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """The row as a line: cells truncated to their widths, the first and the last aligned to the right."""
    cells = [short(cell, width) for cell, width in zip(row, widths)]
    first, *middle, last = cells
    return "  " + "  ".join(
        [first.rjust(widths[0]), *(c.ljust(w) for c, w in zip(middle, widths[1:])), last.rjust(widths[-1])]
    )


def where(report: Report, file: str, line: int) -> str:
    """The line number; ``file:line`` if ``file`` is not the report's."""
    return str(line) if file == report.file else f"{short_path(file)}:{line}"


def short(line: str, width: int) -> str:
    """The line; if it is longer than ``width``, truncated to it, with "…" at the end."""
    return line if len(line) <= width else line[: width - 1] + "…"


def number(value: int | None) -> str:
    """The number with thousands separators; "?" if unknown."""
    return "?" if value is None else f"{value:,}"


def decided(report: Report) -> list[str]:
    """The lines about code that is not recorded: for each reason, the user's lines with their loops or recomputed expressions,
    at most `MOST`, then the reason."""
    out: list[str] = []
    groups: dict[str, list[Unrecorded]] = {}
    for entry in report.not_recorded:
        groups.setdefault(entry.reason, []).append(entry)
    for reason, entries in groups.items():
        said = [f"line {where(report, e.file, e.line)}: {short(e.text, TEXT).rstrip(':')}" for e in entries[:MOST]]
        if len(entries) > MOST:
            said.append(f"and {len(entries) - MOST} more")
        out += [*wrapped("; ".join(said), "  ", 2), *wrapped(reason, "      ", 2)]
    return out


def peak(report: Report, title: str, found: Peak | None) -> list[str]:
    """The lines about a peak under this title, with the largest arrays alive then; one line that says "unknown" if ``found`` is
    None."""
    if found is None:
        return [f"{title}: unknown"]
    lines = wrapped(
        f"{title}: {amount(found.bytes, found.formula, found.is_exact)}, at line {where(report, found.loc.file, found.loc.line)}",
        "",
        4,
    )
    named = sorted((a for a in found.arrays if a.name), key=lambda a: -a.bytes)
    parts = [f"{a.name}\0{a.bytes:,}" for a in named[:MOST]]
    rest = found.bytes - sum(a.bytes for a in named[:MOST])
    if rest:
        parts.append(f"{'other' if parts else 'temporary'}\0{rest:,}")
    return [*lines, *wrapped(", ".join(parts), "    ", 2)] if len(parts) > 1 else lines


def wrapped(line: str, indent: str, more: int) -> list[str]:
    """The line as lines of at most 100 columns, the first indented by ``indent``, the others by ``more`` columns further.
    ``\\0`` stands for a space that does not break."""
    found = textwrap.wrap(
        line, WIDTH, initial_indent=indent, subsequent_indent=indent + " " * more, break_on_hyphens=False
    )
    return [part.replace("\0", " ") for part in found]


def html(report: Report) -> str:
    """The report as HTML: the recorded and kept arrays as a table, the rest as text."""
    cells = "".join(
        "<tr>" + "".join(f"<td>{markup.escape(c)}</td>" for c in (
            where(report, r.file, r.line), r.name, r.text, r.type, r.formula_text, number(r.bytes), r.reason
        )) + "</tr>"
        for r in (*report.recorded, *report.kept)
    )  # fmt: skip
    head = "".join(f"<th>{name}</th>" for name in (*HEAD, "why"))
    title = f"{report.name}: {amount(report.bytes, report.formula)} recorded"
    after = "\n".join([*decided(report), *peak(report, "peak memory, interpreted", report.peak)])
    return (
        f"<p>{markup.escape(title)}</p><table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>"
        f"<pre>{markup.escape(after)}</pre>"
    )


__all__ = ["html", "text"]
