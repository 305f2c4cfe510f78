"""Assigns the letters of a product to the rows, columns and summed index of a BLAS call, or to loops around it.

for i, j < i + 1, k:  c[i, j] += a[i, k] * b[j, k]      rows i, columns j, sum k; only the part j < i + 1 of c
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product as combinations

from transpile.analysis.affine import Linear
from transpile.core import nodes as ir
from transpile.core.types import INT
from transpile.loops.product_statements import Letter
from transpile.loops.terms import Read, Term


@dataclass(frozen=True)
class Part:
    """A triangular part of two letters: pairs with ``second < first + offset``, or ``>=`` if ``from_there``."""

    first: ir.Var
    second: ir.Var
    offset: Linear
    from_there: bool

    def turned(self) -> Part:
        """The same part with the letters exchanged: ``first > second - offset``."""
        return Part(self.second, self.first, Linear(1).plus(self.offset, -1), not self.from_there)


@dataclass(frozen=True)
class Call:
    """``c[rows, columns] += a[rows, summed] * b[summed, columns]``, in loops over the letters ``around`` it."""

    around: tuple[Letter, ...]
    rows: Letter
    columns: Letter | None  # None: a matrix-vector product
    summed: Letter
    a: Read
    b: Read
    c: Read
    part: Part | None
    term: Term  # other factors

    @property
    def letters(self) -> tuple[Letter, ...]:
        """The two or three letters of the call itself: rows, columns if any, summed."""
        return tuple(c for c in (self.rows, self.columns, self.summed) if c is not None)


def call_of(
    letters: Sequence[Letter],
    target: Read,
    term: Term,
    own: frozenset[ir.Var] = frozenset(),
    line: ir.Var | None = None,
) -> Call | None:
    """The BLAS call that adds one term of a product to the target; None if no routine fits.

    ``line``: the index that must run along the rows of a matrix; the call is then a matrix-vector product. ``own``: arrays
    allocated for this product, whose last axes may be shifted by an index.
    """
    indices = [c.index for c in letters]
    reads = [r for r in term.reads if any(r.has(i) for i in indices)]
    if len(reads) != 2:
        return None
    rest = replace(term, reads=tuple(r for r in term.reads if not any(r is x for x in reads)))
    found = _plain(list(letters), [target, *reads], own)
    if found is None:
        return None
    plain, (target, first, second) = found
    roles: dict[str, list[Letter]] = {"first": [], "second": [], "sum": []}
    around: list[Letter] = []
    for c in plain:
        where = (target.has(c.index), first.has(c.index), second.has(c.index))
        name = {(True, True, False): "first", (True, False, True): "second", (False, True, True): "sum"}.get(where)
        if name is None and where != (True, True, True):
            return None
        (roles[name] if name else around).append(c)
    if line is not None:
        return _of_vector(plain, line, target, first, second, rest)
    for chosen in _choices(roles, (target, first, second)):
        if any(c.is_small for c in chosen):
            continue  # for a few rows or columns loops are faster than a library call
        others = [c for c in plain if c not in chosen]
        made = _made(chosen, others, target, first, second, rest)
        if made is not None:
            return made
    return None


def _of_vector(letters: list[Letter], line: ir.Var, c: Read, a: Read, b: Read, rest: Term) -> Call | None:
    """The call that adds the product of the matrix and the vector among ``a`` and ``b``, and of the factors ``rest``, to the
    vector ``c``; None unless there are two letters, and the first is ``line`` and runs along the last axis of the matrix."""
    if len(letters) != 2 or letters[0].is_small or letters[1].is_small:
        return None
    rows, summed = letters
    matrix, vector = (a, b) if a.has(rows.index) else (b, a)
    fits = c.has(rows.index) and not c.has(summed.index) and not vector.has(rows.index)
    fits = fits and rows.index is line and bool(matrix.at[-1].coefficient(rows.index)) and matrix.has(summed.index)
    depends = any(f.coefficient(x.index) for x in letters for o in letters for f in (o.low, o.high))
    if not fits or not vector.has(summed.index) or depends or not c.at[-1].coefficient(rows.index):
        return None
    return Call((), rows, None, summed, matrix, vector, c, None, rest)


def _choices(roles: dict[str, list[Letter]], reads: tuple[Read, Read, Read]) -> Iterator[tuple[Letter, Letter, Letter]]:
    """Triples of letters for rows, columns and sum, one out of each list of ``roles``, for which the last axis of each of
    ``reads`` runs along one of the three."""
    for chosen in combinations(*(r[::-1] for r in roles.values())):
        if all(any(r.at[-1].coefficient(c.index) for c in chosen) for r in reads):
            yield chosen  # type: ignore[misc]


def _made(
    chosen: tuple[Letter, Letter, Letter], around: list[Letter], c: Read, a: Read, b: Read, rest: Term
) -> Call | None:
    """The call for the reads ``a`` and ``b``, other factors ``rest`` and the target ``c``, with ``chosen`` as rows, columns and
    summed letter, in loops over ``around``. None if the ranges of the letters depend on each other in more than one way."""
    mine = [x.index for x in chosen]
    if any(f.coefficient(i) for x in around for f in (x.low, x.high) for i in mine):
        return None
    part = None
    for x in chosen:
        for form, from_there in ((x.low, True), (x.high, False)):
            others = [i for i in mine if form.coefficient(i)]
            if not others:
                continue
            if part is not None or len(others) > 1 or form.coefficient(others[0]) != 1:
                return None
            part = Part(others[0], x.index, form.without(others[0]), from_there)
    rows, columns, summed = chosen
    return Call(tuple(around), rows, columns, summed, a, b, c, part, rest)


# -------------------------------------------------------------------------------------- one letter per subscript


def _plain(letters: list[Letter], reads: list[Read], own: frozenset[ir.Var]) -> tuple[list[Letter], list[Read]] | None:
    """A pair of the letters and the reads, rewritten so that each subscript is one letter: ``a[i + j]`` becomes ``a[k]``, with
    another range; None if that fails. In subscripts of arrays in ``own`` the last letter counts; the others only shift the
    axis."""
    for _ in range(4):
        mixed = _mixed(letters, reads, own)
        if mixed is None:
            break
        letter, rest = mixed
        new = replace(letter, index=ir.Var(letter.index.name, INT), low=letter.low + rest, high=letter.high + rest)
        by = new.form - rest
        letters = [new if c is letter else c.replaced(letter.index, by) for c in letters]
        reads = [r.replaced(letter.index, by) for r in reads]
    indices = [c.index for c in letters]
    for r in reads:
        seen: list[ir.Var] = []
        for f in r.at:
            mine = [i for i in indices if f.coefficient(i)]
            if r.var in own and mine:
                mine = mine[-1:]  # the others shift this axis
            if len(mine) > 1 or any(f.coefficient(i) != 1 for i in mine) or any(i in seen for i in mine):
                return None
            seen += mine
    return letters, reads


def _mixed(letters: list[Letter], reads: list[Read], own: frozenset[ir.Var]) -> tuple[Letter, Linear] | None:
    """A pair of a letter that shares a subscript with others, and the rest of the subscript; None if there is none. Arrays in
    ``own`` do not count."""
    for r in reads:
        if r.var in own:
            continue
        for f in r.at:
            mine = [c for c in letters if f.coefficient(c.index)]
            if len(mine) > 1 and f.coefficient(mine[-1].index) == 1:
                return mine[-1], f.without(mine[-1].index)
    return None
