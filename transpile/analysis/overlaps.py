"""Overlapping reads and writes: an iteration reads an element that an earlier one has overwritten, although all reads should
come first.

    x[1:] += x[:-1]        ->   for i in range(n - 1):           wrong: iteration 1 reads what iteration 0 wrote
                                    x[i + 1] += x[i]

This concerns the loops that lowering makes of a single array store, whose value is computed before anything is written.
Overlapping arrays need memory of their own, or an order in which each element is read in time. It also concerns the iterations
of a vector loop, which run concurrently.

The check tries a few iterations of each loop, one by one, with subscripts as linear forms over the indices. A reported overlap
is certain if the loops have as many iterations. Subscripts that depend on anything else, and accesses in branches, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from transpile.analysis.affine import Forms, Linear
from transpile.core import nodes as ir
from transpile.core.verify_scopes import refuse
from transpile.core.walk import defined, statements
from transpile.core.watch import Done

TRIPS = 4  # iterations of each loop that are tried
MOST = 4  # nested loops

Numbers = Mapping[ir.Var, Linear]  # the values of loop indices in an iteration
Element = tuple[Linear | None, ...]
Time = tuple[int, ...]  # iteration and position in turn, from the outermost loop


def in_order(done: Done) -> None:
    """Raises `InternalError` if lowering, or a pass over loops, has left an iteration that reads what an earlier one has
    overwritten. ``done`` is the pass with its old and new function; other dialects are not checked."""
    if done.dialect != "loops":
        return
    made = _stores(done.old) if done.name == "lowering" and done.old is not None else set[ir.Loc]()
    nests = list(_nests(done.new.body, made))
    forms = Forms(done.new.body) if nests else None
    for nest in nests:
        assert forms is not None
        found = overwritten(nest, forms)
        if found is not None:
            name = found.args[0]
            refuse(done.new, done.name, f"a trip reads an element of {name} that an earlier one has overwritten", found)


def _stores(fn: ir.Function) -> set[ir.Loc]:
    """The locations of stores and additions of whole arrays in array core, except those that are also locations of loops: a
    loop with such a location, after lowering, comes from that store."""
    every = list(statements(fn.body))
    stores = {s.loc for s in every if isinstance(s, (ir.Store, ir.Add)) and s.value.type.dims and s.loc.line}
    return stores - {s.loc for s in every if isinstance(s, (ir.For, ir.While))}


def _nests(block: ir.Block, made: set[ir.Loc]) -> Iterator[ir.For]:
    """The outermost vector loops, and the outermost loops from the places in ``made``."""
    for stmt in block.stmts:
        match stmt:
            case ir.For() if stmt.kind == "vector" or stmt.loc in made:
                yield stmt
            case ir.For():
                yield from _nests(stmt.body, made)
            case ir.While():
                yield from _nests(stmt.test, made)
                yield from _nests(stmt.body, made)
            case ir.If():
                yield from _nests(stmt.then, made)
                yield from _nests(stmt.orelse, made)


@dataclass(frozen=True)
class _Access:
    """``at``: the position of each enclosing loop in its block, and then that of the statement."""

    stmt: ir.Let | ir.Store | ir.Add
    loops: tuple[ir.For, ...]
    at: tuple[int, ...]

    @property
    def subscripts(self) -> tuple[ir.Operand, ...]:
        return self.stmt.args[1:] if isinstance(self.stmt, ir.Let) else self.stmt.args

    @property
    def memory(self) -> ir.Operand:
        return self.stmt.args[0] if isinstance(self.stmt, ir.Let) else self.stmt.buf


def overwritten(nest: ir.For, forms: Forms) -> ir.Let | None:
    """A read of an element that an earlier iteration of the nest has surely written; None if none is found."""
    found = list(_accesses(nest, (), ()))
    tried = _Tried(forms, set(defined(ir.Block((), [nest]))), nest.kind == "vector")
    writes = [a for a in found if not isinstance(a.stmt, ir.Let) and a.memory not in tried.own]
    for read in found:
        if isinstance(read.stmt, ir.Let) and any(tried.meet(w, read) for w in writes if w.memory is read.memory):
            return read.stmt
    return None


def _accesses(nest: ir.For, around: tuple[ir.For, ...], at: tuple[int, ...]) -> Iterator[_Access]:
    """The reads and writes of elements in a nest, nested loops included, branches not. ``around`` and ``at``: the loops around
    the nest and the positions that lead to it."""
    loops = (*around, nest)
    for k, stmt in enumerate(nest.body.stmts):
        if isinstance(stmt, ir.For):
            yield from _accesses(stmt, loops, (*at, k))
        elif isinstance(stmt, (ir.Store, ir.Add)) or isinstance(stmt, ir.Let) and stmt.prim == "index":
            yield _Access(stmt, loops, (*at, k))


class _Tried:
    """A few iterations of a nest. ``own``: the variables that it defines. ``at_once``: the iterations of its outermost loop run
    concurrently, and each may read what it has written itself."""

    def __init__(self, forms: Forms, own: set[ir.Var], at_once: bool) -> None:
        self.forms, self.own, self.at_once = forms, own, at_once

    def meet(self, write: _Access, read: _Access) -> bool:
        """Whether ``read``, in some of the iterations tried, reads an element that ``write`` wrote at an earlier time; False
        for more than `MOST` nested loops."""
        if max(len(write.loops), len(read.loops)) > MOST:
            return False
        written: dict[Element, Time] = {}
        for time, element in self.touched(write):
            written.setdefault(element, time)  # the first write is enough
        return any(element in written and written[element] < time for time, element in self.touched(read))

    def touched(self, access: _Access) -> Iterator[tuple[Time, Element]]:
        """Pairs of a time and the subscripts that the access has then, for up to `TRIPS` iterations of each loop. The time is
        iteration and position in turn; only the outermost iteration if iterations run concurrently."""
        for trips in product(range(TRIPS), repeat=len(access.loops)):
            numbers = self.indices(access.loops, trips)
            element = None if numbers is None else self.element(access, numbers)
            if element is not None:
                turns = [n for pair in zip(trips, access.at) for n in pair]
                yield tuple(turns[: 1 if self.at_once else None]), element

    def indices(self, loops: Sequence[ir.For], trips: Sequence[int]) -> Numbers | None:
        """The index of each loop in its iteration number ``trips[k]``, counted in the order of execution; None if an iteration
        does not exist or its index is not known."""
        numbers: dict[ir.Var, Linear] = {}
        for loop, k in zip(loops, trips):
            start, bound = self.of(loop.start, numbers), self.of(loop.bound, numbers)
            if not isinstance(loop.step, ir.Const) or start is None or bound is None:
                return None
            step, span = loop.step.value, bound - start
            if span.is_const and k >= len(range(0, span.const, step)):
                return None
            if loop.backwards:
                k = (len(range(0, span.const, step)) if span.is_const else TRIPS) - 1 - k
            numbers[loop.index] = start + step * k
        return numbers

    def element(self, access: _Access, numbers: Numbers) -> Element | None:
        """The subscripts of an access in the iteration with these loop indices (``numbers``); None if they depend on anything
        but indices and values that all iterations share."""
        found = [self.of(op, numbers) for op in access.subscripts]
        return None if None in found else tuple(found)

    def of(self, op: ir.Operand, numbers: Numbers) -> Linear | None:
        """The operand as a form in which loop indices have the values ``numbers``; None if it depends on another variable of
        the nest."""
        form = self.forms.of(op)
        total = Linear(form.const)
        for var, coef in form.terms:
            if var in self.own and var not in numbers:
                return None
            total = total + numbers.get(var, Linear.atom(var)).times(coef)
        return total
