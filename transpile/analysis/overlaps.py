"""Overlapping reads and writes: where a trip reads an element that an earlier one has overwritten, though all is to be read first.

    x[1:] += x[:-1]        ->   for i in range(n - 1):           wrong: trip 1 reads what trip 0 wrote
                                    x[i + 1] += x[i]

So it is of the loops that lowering makes of one store of array core, whose value is computed before anything is written: what
overlaps needs memory of its own, or an order in which it is read in time. And of the trips of a vector loop, which run at once.

Trips are tried one by one, a few of each loop, with subscripts as forms over the indices: what is said is surely so, if the loops
have as many trips. What depends on anything else, or stands in a branch, is not looked at.
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

TRIPS = 4  # of each loop that are tried
MOST = 4  # loops inside one another

Numbers = Mapping[ir.Var, Linear]  # what indices are in a trip
Element = tuple[Linear | None, ...]
Time = tuple[int, ...]  # trip and position in turns, from the outermost loop


def in_order(done: Done) -> None:
    """Raises `InternalError` where a pass over loops leaves such a loop, or lowering makes one."""
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
    """Where stores of whole arrays stand, and no loop: what has that place after lowering is a loop of such a store."""
    every = list(statements(fn.body))
    stores = {s.loc for s in every if isinstance(s, (ir.Store, ir.Add)) and s.value.type.dims and s.loc.line}
    return stores - {s.loc for s in every if isinstance(s, (ir.For, ir.While))}


def _nests(block: ir.Block, made: set[ir.Loc]) -> Iterator[ir.For]:
    """The outermost loops of stores that were made, and vector loops."""
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
    """``at``: the position in each block and the loop there, down to the statement."""

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
    """A read of the nest of an element that an earlier trip has written; None if there is surely no such, or nobody can tell."""
    found = list(_accesses(nest, (), ()))
    tried = _Tried(forms, set(defined(ir.Block((), [nest]))), nest.kind == "vector")
    writes = [a for a in found if not isinstance(a.stmt, ir.Let) and a.memory not in tried.own]
    for read in found:
        if isinstance(read.stmt, ir.Let) and any(tried.meet(w, read) for w in writes if w.memory is read.memory):
            return read.stmt
    return None


def _accesses(nest: ir.For, around: tuple[ir.For, ...], at: tuple[int, ...]) -> Iterator[_Access]:
    loops = (*around, nest)
    for k, stmt in enumerate(nest.body.stmts):
        if isinstance(stmt, ir.For):
            yield from _accesses(stmt, loops, (*at, k))
        elif isinstance(stmt, (ir.Store, ir.Add)) or isinstance(stmt, ir.Let) and stmt.prim == "index":
            yield _Access(stmt, loops, (*at, k))


class _Tried:
    """Some trips of a nest. ``own`` is what it defines; ``at_once``: those of its outermost loop run at once, and what such a trip
    wrote itself it may read."""

    def __init__(self, forms: Forms, own: set[ir.Var], at_once: bool) -> None:
        self.forms, self.own, self.at_once = forms, own, at_once

    def meet(self, write: _Access, read: _Access) -> bool:
        """Whether some trip reads what one before it wrote."""
        if max(len(write.loops), len(read.loops)) > MOST:
            return False
        written: dict[Element, Time] = {}
        for time, element in self.touched(write):
            written.setdefault(element, time)  # the first is enough
        return any(element in written and written[element] < time for time, element in self.touched(read))

    def touched(self, access: _Access) -> Iterator[tuple[Time, Element]]:
        """When which element is touched: trip and position in turns, and the subscripts."""
        for trips in product(range(TRIPS), repeat=len(access.loops)):
            numbers = self.indices(access.loops, trips)
            element = None if numbers is None else self.element(access, numbers)
            if element is not None:
                turns = [n for pair in zip(trips, access.at) for n in pair]
                yield tuple(turns[: 1 if self.at_once else None]), element

    def indices(self, loops: Sequence[ir.For], trips: Sequence[int]) -> Numbers | None:
        """The indices in such a trip, if there is that trip."""
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
        """The subscripts in a trip, if nothing is in them but indices and what is the same in all trips."""
        found = [self.of(op, numbers) for op in access.subscripts]
        return None if None in found else tuple(found)

    def of(self, op: ir.Operand, numbers: Numbers) -> Linear | None:
        form = self.forms.of(op)
        total = Linear(form.const)
        for var, coef in form.terms:
            if var in self.own and var not in numbers:
                return None
            total = total + numbers.get(var, Linear.atom(var)).times(coef)
        return total
