"""Which loops may run several iterations side by side (`transpile.loops.unroll_and_jam`), and which values vary between
iterations.

    for i in range(n):
        t = -1.0 + h * i                      varies
        power = 1.0                           varies, since the loop below changes it
        for j in range(m):                    ``m`` and ``j`` are the same in all iterations
            error = error - x[j] * power      ``x[j]`` is the same, ``error`` varies
            power = power * t
        total = total + error * error         a sum over all iterations

Such a loop writes only arrays private to an iteration, elements that no other iteration touches, or sums that nothing in it
reads. It pays if LLVM does not vectorise the inner loops, which are recurrences, and if consecutive iterations access
neighbouring elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from transpile.analysis.accesses import Access, Roots, accesses, is_array, may_raise
from transpile.analysis.affine import Forms
from transpile.analysis.loop_reductions import folds_of
from transpile.analysis.value_ranges import Facts, is_integer
from transpile.core import nodes as ir
from transpile.core.walk import blocks, defined, free, statements
from transpile.loops.independent_iterations import only_in_one_trip
from transpile.loops.loop_shape import has_recurrence, known_trips
from transpile.ops.tables import record_of

AT_ONCE = 16  # iterations: with 8-byte numbers four vectors each, so that none waits for the one before
LARGE = 200  # statements of an iteration, above which a second copy does not pay
DTYPES = frozenset(("float64", "float32", "int64", "bool"))


@dataclass
class Trips:
    """``varying``: values that differ between iterations; ``steps``: integers computed from the index alone, with their *lets*.

    ``private``: the *allocs* of arrays private to an iteration; ``summed``: arrays to which all iterations add at the same
    elements; ``across``: ids of statements that access elements far apart, which LLVM does not vectorise.
    """

    varying: set[ir.Var] = field(default_factory=set)
    steps: dict[ir.Var, ir.Let] = field(default_factory=dict)
    private: dict[ir.Var, ir.Alloc] = field(default_factory=dict)
    summed: set[ir.Var] = field(default_factory=set)
    across: set[int] = field(default_factory=set)


def may_gain(loop: ir.For) -> bool:
    """Whether a loop with step 1 or -1 consists of plain loops, scalars and element accesses, with a loop inside, and is not
    known to have less than `AT_ONCE` iterations."""
    if not _is_plain(loop) or abs(loop.step.value) != 1:  # type: ignore[union-attr]
        return False
    inner = list(statements(loop.body))
    loops = [s for s in inner if isinstance(s, ir.For)]
    if not loops or len(inner) > LARGE or not all(map(_is_simple, inner)):
        return False
    known = known_trips(loop)
    return known is None or known >= AT_ONCE


def _is_plain(loop: ir.For) -> bool:
    """Whether a loop is serial, has a constant step, never stops early, and carries no array."""
    if loop.trips is not None or loop.body.stop is not None or loop.kind == "parallel":
        return False
    return (
        isinstance(loop.step, ir.Const) and len(loop.results) == len(loop.inits) and not any(map(is_array, loop.inits))
    )


def _is_simple(stmt: ir.Stmt) -> bool:
    """Whether a statement can be executed for several iterations side by side."""
    match stmt:
        case ir.Let():
            if (
                is_array(stmt.var)
                or may_raise(stmt)
                or stmt.prim == "item"
                or record_of(stmt).is_call
                or stmt.var.type.dtype not in DTYPES
            ):
                return False
            return stmt.prim in ("index", "dim") or not any(map(is_array, stmt.args))
        case ir.Alloc():
            return stmt.prim == "empty" and stmt.var.type.dtype in DTYPES
        case ir.Store():
            return True
        case ir.Add():
            return stmt.buf.type.dtype != "bool"
        case ir.For():
            return _is_plain(stmt)
        case ir.If():
            inside = [s for b in blocks(stmt) for s in b.stmts]
            if is_guard(stmt):
                return not stmt.results
            if any(map(is_array, stmt.results)) or any(isinstance(s, ir.Let) and _is_dear(s) for s in inside):
                return False  # all lanes execute both sides
            return all(isinstance(s, (ir.Let, ir.If)) for s in inside)
    return False


def is_guard(stmt: ir.If) -> bool:
    """Whether a branch writes, allocates or loops; its test must then be the same in all iterations."""
    return any(isinstance(s, (ir.Store, ir.Add, ir.Alloc, ir.For)) for b in blocks(stmt) for s in statements(b))


def _is_dear(let: ir.Let) -> bool:
    """Whether a *let* is an expensive floating-point function."""
    return record_of(let).is_dear and let.var.type.is_float


class Search:
    """Legality tests for one function."""

    def __init__(self, fn: ir.Function) -> None:
        self.forms, self.roots = Forms(fn.body), Roots(fn)

    def has_recurrences(self, loop: ir.For) -> bool:
        """Whether an iteration of one of the innermost loops may depend on the one before, beyond sums and other folds."""
        inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
        flat = [s for s in inner if not any(isinstance(x, ir.For) for x in statements(s.body))]
        return any(folds_of(s) is None or has_recurrence(s, self.forms) for s in flat)

    def trips(self, loop: ir.For, facts: Facts) -> Trips | None:
        """What varies between the iterations of a loop that `may_gain`; None if they cannot run side by side."""
        inner = [s for s in statements(loop.body) if isinstance(s, ir.For)]
        folds = folds_of(loop)
        if folds is None or any(not record_of(f.prim).is_sum for f in folds):
            return None
        found = Trips({loop.index, *loop.body.params})
        found.private = {s.var: s for s in statements(loop.body) if isinstance(s, ir.Alloc)}
        before = 0
        while before < len(found.varying):
            before = len(found.varying)
            spread(loop.body, found)
        if any(v.type.dtype not in DTYPES for v in found.varying):
            return None
        note_steps(loop, found)
        if any(e in found.varying for s in inner for e in (s.start, s.bound)):
            return None
        if any(isinstance(s, ir.If) and is_guard(s) and s.test in found.varying for s in statements(loop.body)):
            return None
        if not all(self.has_sizes_outside(s, loop) for s in found.private.values()):
            return None
        return found if self.are_apart(loop, found, facts) and self.are_places(loop, found) else None

    def has_sizes_outside(self, stmt: ir.Alloc, loop: ir.For) -> bool:
        """Whether the sizes of an allocated array are known before the loop."""
        return not {loop.index, *defined(loop.body)} & set(stmt.args)

    # ---- memory

    def are_apart(self, loop: ir.For, found: Trips, facts: Facts) -> bool:
        """Whether surely no iteration touches what another one writes, except to add to sums; notes the arrays of these sums in
        ``found.summed``."""
        own = set(defined(loop.body))
        by_root: dict[ir.Var, list[Access]] = {}
        for stmt in statements(loop.body):
            for a in accesses(stmt):
                if a.var not in found.private:
                    by_root.setdefault(self.roots.of(a.var), []).append(a)
        for same in by_root.values():
            changes = [a for a in same if a.kind != "read"]
            if not changes:
                continue
            if any(a.var is not same[0].var or a.indices is None for a in same):
                return False
            if all(a.kind == "add" and not self.differing(a.indices or (), found) for a in same):
                found.summed.add(same[0].var)
            elif not all(
                only_in_one_trip(x.indices or (), y.indices or (), loop, own, self.forms, facts)
                for x in changes
                for y in same
            ):
                return False
        return True

    def are_places(self, loop: ir.For, found: Trips) -> bool:
        """Whether consecutive iterations access the same elements, or neighbouring ones along one axis; notes in
        ``found.across`` the statements where that axis is not the last."""
        for stmt in statements(loop.body):
            for a in accesses(stmt):
                if a.indices is None:
                    return False
                differing = self.differing(a.indices, found)
                if not differing:
                    continue
                at, *more = (k for k, i in enumerate(a.indices) if self.differing([i], found))
                if a.var in found.private or differing != {loop.index} or more:
                    return False
                place = a.indices[at]
                if self.forms.of(place).coefficient(loop.index) != 1 or (
                    place is not loop.index and place not in found.steps
                ):
                    return False
                if at != len(a.indices) - 1:
                    if a.kind == "add":
                        return False
                    found.across.add(id(stmt))
        return True

    def differing(self, indices: Sequence[ir.Operand], found: Trips) -> set[ir.Var]:
        """The variables in ``found.varying`` on which the subscripts depend."""
        return {v for i in indices for v in self.forms.of(i).atoms if v in found.varying}


# ---------------------------------------------------------------------------------------------------- numbers


def spread(block: ir.Block, found: Trips) -> None:
    """Adds to ``found.varying`` the values computed from varying ones."""
    varying = found.varying
    differs = lambda op: op in varying or op in found.private  # noqa: E731
    for stmt in block.stmts:
        match stmt:
            case ir.Let():
                if stmt.prim != "dim" and any(map(differs, stmt.args)):
                    varying.add(stmt.var)
            case ir.If() if is_guard(stmt):
                for side in blocks(stmt):
                    spread(side, found)
            case ir.If():
                if any(map(differs, free(ir.Block((), [stmt])))):
                    varying.update(stmt.results, *(defined(b) for b in blocks(stmt)))
            case ir.For():
                spread(stmt.body, found)
                for each in zip(stmt.inits, stmt.body.params, stmt.body.yields, stmt.results):
                    if any(op in varying for op in each[:3]):
                        varying.update(each[1::2])


def note_steps(loop: ir.For, found: Trips) -> None:
    """Adds to ``found.steps`` the integers that are computed from the index and from values that do not vary."""
    branches = [s for s in statements(loop.body) if isinstance(s, ir.If) and not is_guard(s)]
    inside = {v for s in branches for b in blocks(s) for v in defined(b)}
    for stmt in statements(loop.body):
        if (
            not isinstance(stmt, ir.Let)
            or not (record_of(stmt).is_polynomial or stmt.prim == "cast")
            or not is_integer(stmt.var)
            or stmt.var in inside
        ):
            continue
        if stmt.var in found.varying and all(
            is_integer(a) and (a not in found.varying or a is loop.index or a in found.steps) for a in stmt.args
        ):
            found.steps[stmt.var] = stmt
