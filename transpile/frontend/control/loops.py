"""Loops: unrolled over known items, or a core loop that carries what its body rebinds.

A body is lifted on the guess that it carries the names that it assigns and that are read in the next trip or afterwards, with
the types that they have before the loop. Where the guess was wrong (a type that widens, an array that is written, a name of
another scope that changes) what was learnt is noted and the body is lifted again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import INT
from transpile.frontend.control import (
    branches,
    dynamic_list_counts,
    dynamic_list_reads,
    dynamic_lists,
    iteration,
    iterators,
    live,
    truth,
)
from transpile.frontend.control.iteration import Stream
from transpile.frontend.control.loop_fixpoint import Carrying
from transpile.frontend.control.slots import SMALL, Body, StructureChanges
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import NeedValue
from transpile.frontend.sources.structured_exits import STOP
from transpile.frontend.values import aliases, assignment, comparisons
from transpile.frontend.values.values import Cell, Items, Scalar

UNROLL_AT_MOST = 200  # trips of a loop that is unrolled because its body needs the index


@dataclass
class Learnt:
    """What a loop was found to need when it was lifted before."""

    unroll: bool = False
    types: dict[Any, Any] = field(default_factory=dict)
    dtypes: dict[Any, frozenset[str]] = field(default_factory=dict)  # other ones of arrays, before or after some trip
    either: dict[Any, None] = field(default_factory=dict)  # truth values that are Python's before or after some trip
    short: dict[Any, dict[int, None]] = field(default_factory=dict)  # arrays that get shorter: along which axes
    params: dict[ir.Var, None] = field(default_factory=dict)  # the carried variables of the last try
    names: dict[Any, None] = field(default_factory=dict)
    rebound: dict[str, None] = field(
        default_factory=dict
    )  # of the names that may stay what they are: those that do not


def split_stop(body: list[gast.stmt]) -> tuple[list[gast.stmt], gast.expr | None]:
    """The body of a loop and the flags that end it, see `transpile.frontend.sources.structured_exits`."""
    last = body[-1] if body else None
    if isinstance(last, gast.Assign) and isinstance(last.targets[0], gast.Name) and last.targets[0].id == STOP:
        return body[:-1], last.value
    return body, None


def for_statement(lx: Lifter, node: gast.For) -> None:
    """``for target in iterable``."""
    iterable = iteration.opened(lx, lx.expr(node.iter), node.iter)
    iterators.use(lx, iterable, node.iter)
    items = live.known(lx, iterable, node.iter)
    if items is not None:
        unroll(lx, node, iterable, items)
        return
    learnt: Learnt = lx.memo.setdefault(lx.key(node), Learnt())
    stream = None if learnt.unroll else iteration.stream(lx, iterable, node.iter)
    if stream is None:
        unroll(lx, node, iterable, live.every(lx, iterable, node.iter))
        return
    index = ir.Var("", INT)
    try:
        _count(lx, node, iterable, stream, index, learnt)
        return
    except NeedValue as needed:  # the body needs the index, or what is computed from trip to trip
        if not any(v is index or v in learnt.params for v in needed.sources):
            raise
        if not _is_short(lx, stream, UNROLL_AT_MOST):
            raise needed.why from None
    except StructureChanges as changes:
        try:
            is_short = _is_short(lx, stream, SMALL)
        except NeedValue as needed:
            raise NeedValue(needed.sources, changes.why) from None
        if not is_short:
            raise changes.why from None
    learnt.unroll = True
    unroll(lx, node, iterable, live.every(lx, iterable, node.iter))


def _is_short(lx: Lifter, stream: Stream, most: int) -> bool:
    """Whether there is a known, small number of trips; one that an argument gives is asked for."""
    length = lx.symbols.resolve(stream.length if isinstance(stream.length, Dim) else lx.b.form(stream.length))
    if length.is_const:
        return length.const <= most
    if lx.symbols.is_size(length):
        shortest = [d.const for d in length.unclipped.as_min or () if d.is_const]
        if not shortest or lx.symbols.value(length) != shortest[0]:
            return False
        lx.symbols.fix(lx, length, shortest[0])  # of known numbers beside an array that is long enough, as it is here
        return shortest[0] <= most
    lx.need(iteration.as_expr(lx, length).op, "the number of iterations of this loop")


def unroll(lx: Lifter, node: gast.For, iterable: Any, items: live.At) -> None:
    """The body once for each item; behind a ``break`` that depends on the data the rest stands in a branch."""
    body, stop = split_stop(node.body)
    cells = aliases.cells_of(lx, iterable)
    writes = [lx.writes.get(c, 0) for c in cells]

    turns = lx.turns

    def rest(k: int, item: Any) -> None:
        while item is not live.END:
            lx.turns = (*turns, k)
            if k > (UNROLL_AT_MOST if stop is None else SMALL) and [lx.writes.get(c, 0) for c in cells] != writes:
                message = "a list grows in a loop over it, and when the loop ends depends on the data, or it never ends"
                raise lx.error("T119", message, node, hint="write it as a 'while' loop over an index")
            assignment.assign(lx, node.target, item)
            lx.block(body)
            k += 1
            ended = None if stop is None else truth.test(lx, stop)
            if isinstance(ended, ir.Const) and ended.value:
                return
            if ended is None or isinstance(ended, ir.Const):
                item = items(k)
                continue
            branches.choose(lx, ended, lambda: None, partial(further, k), node)
            return

    def further(k: int) -> None:
        rest(k, items(k))

    try:
        further(0)
    finally:
        lx.turns = turns


# ------------------------------------------------------------------------------------------------------ for


def _count(lx: Lifter, node: gast.For, iterable: Any, stream: Stream, index: ir.Var, learnt: Learnt) -> None:
    """A core loop over an index."""
    known = frozenset(lx.b.symbols)
    plain = stream.range is not None
    if stream.range is not None:
        start, bound, step = (lx.b.expr(o) for o in (stream.range.start, stream.range.stop, stream.range.step))
    else:
        start, bound, step = lx.b.expr(0), iteration.as_expr(lx, stream.length), lx.b.expr(1)
    _name_index(lx, index, node.target, plain or stream.counted)
    form = lx.symbols.index(lx, index, start.op, bound.op, step.op)
    body, stop = split_stop(node.body)

    def lift() -> ir.Operand | None:
        before = dynamic_list_reads.lengths(lx, iterable)
        item = Scalar(index) if plain else stream.at(lx.b.expr(index))
        assignment.assign(lx, node.target, item)
        with lx.symbols.trip(form):
            lx.block(body)
        dynamic_list_reads.check_lengths(lx, before, node)
        return None if stop is None else truth.test(lx, stop)

    def trips() -> ir.Operand:
        """Whether the body ran at all."""
        forward = comparisons.compare(lx, gast.Lt(), Scalar(start.op), Scalar(bound.op), node)
        if isinstance(step.op, ir.Const):
            ahead = step.op.value > 0
            other = forward if ahead else comparisons.compare(lx, gast.Gt(), Scalar(start.op), Scalar(bound.op), node)
            return other.op
        back = comparisons.compare(lx, gast.Gt(), Scalar(start.op), Scalar(bound.op), node)
        return lx.b.elementwise("where", step > 0, forward.op, back.op).op

    length = lx.symbols.resolve(stream.length if isinstance(stream.length, Dim) else lx.b.form(stream.length))

    def trip() -> ir.Operand:
        """The number of a trip, from 0."""
        done = lx.b.expr(index) - start
        if not (isinstance(step.op, ir.Const) and step.op.value == 1):
            done = done // step
        return ((lx.b.dim(length) - 1) - done if plain and stream.backwards else done).op

    carrying = Carrying(lx, node, node.body, assigned_in=[node.target, *body], learnt=learnt, ran=trips, length=length,
                        trip=None if stop is not None else trip, known=known)  # fmt: skip
    carrying.index_name = index.name

    def emit(done: Body) -> None:
        block = done.block
        backwards = plain and stream.backwards
        ends = (start.op, bound.op, step.op)
        lx.b.emit(ir.For(index, *ends, done.inits, block, done.results, None, backwards, lx.b.loc, symbol=form))

    carrying.run(lift, emit)


def _name_index(lx: Lifter, index: ir.Var, target: gast.expr, own: bool) -> None:
    """The user's name for the index, if it is one of the loop's targets."""
    counted = target.elts[0] if isinstance(target, gast.Tuple) and target.elts else target
    index.name = counted.id if own and isinstance(counted, gast.Name) else "_"
    if index.name == "_":
        index.name = free_name(lx)


def free_name(lx: Lifter) -> str:
    """A name for an index that the function has not used."""
    taken = set(lx.frame.locals) | {name for (_, name) in lx.state.vars}
    taken |= {loop.index_name for loop in lx.loops}
    return next((n for n in "ijkl" if n not in taken), "index")


# ---------------------------------------------------------------------------------------------------- while


def while_statement(lx: Lifter, node: gast.While) -> None:
    """``while test``."""
    body, stop = split_stop(node.body)
    learnt: Learnt = lx.memo.setdefault(lx.key(node), Learnt())
    ran: list[ir.While] = []

    def lift() -> ir.Operand | None:
        lx.block(body)
        return None if stop is None else truth.test(lx, stop)

    def trips() -> ir.Operand:
        if ran[0].trips is None:
            ran[0].trips = ir.Var("trips", INT)
        return lx.b.elementwise("greater", ran[0].trips, 0).op

    def emit(done: Body) -> None:
        assert done.test is not None
        ran.insert(0, ir.While(done.inits, done.test, done.block, done.results, None, lx.b.loc))
        lx.b.emit(ran[0])

    def test() -> ir.Operand:
        before = lx.state.fork()
        decided = truth.test(lx, node.test)
        now = lx.state
        names = [k for k, v in before.vars.items() if now.vars.get(k, v) is not v]
        held = [c for c, v in before.cells.items() if isinstance(v, Items) and now.cells.get(c, v) is not v]
        if names or held:
            message = "the test of a 'while' loop assigns to a name, or changes a list, a dict or an object"
            raise lx.error(
                "T119", message, node.test, hint="write 'while True' with a 'break', and change it in the body"
            )
        return decided

    made: list[Carrying] = []

    def run() -> None:
        carrying = Carrying(lx, node, node.body, assigned_in=[node.test, *body], learnt=learnt, ran=trips)
        made.append(carrying)
        try:
            carrying.run(lift, emit, test=test)
        except StructureChanges as changes:
            raise changes.why from None

    known = frozenset(lx.b.symbols)
    growing_cells: list[Cell] = []
    sizes: dict[Cell, Dim] = {}
    while True:
        try:
            if growing_cells:  # the loop is lifted once to count, and once to fill
                sizes = dynamic_list_counts.how_many(lx, growing_cells, run, node)
                ran.clear()
                for cell, size in sizes.items():
                    dynamic_lists.convert(lx, cell, lx.appended[cell], size, known, node, made)
            run()
            break
        except dynamic_lists.Grows as grows:
            if grows.cell in growing_cells:
                raise lx.error("T119", "a list grows in this loop in a way that cannot be followed", node) from None
            growing_cells.append(grows.cell)
    for cell, size in sizes.items():
        held = lx.state.cells[cell]
        lx.state.cells[cell] = Items("grown", (Scalar(lx.b.dim(size).op),), None, held.cls)
