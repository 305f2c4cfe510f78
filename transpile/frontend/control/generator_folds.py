"""Sums, products and other folds over what a loop runs over: one carried value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.core.dims import Dim
from transpile.core.types import INT, computes_alike
from transpile.frontend.control import branches, comprehensions, iteration, iterators, live, loops, truth
from transpile.frontend.control.loop_fixpoint import Carrying
from transpile.frontend.control.slots import Body, StructureChanges
from transpile.frontend.control.truth_values import FALSE, TRUE
from transpile.frontend.lifter import Lifter
from transpile.frontend.sources.sources import Code
from transpile.frontend.state import Frame
from transpile.frontend.values import assignment
from transpile.frontend.values.convert import describe
from transpile.frontend.values.values import Generator, Maybe, Scalar

TOTAL = "total"


class OtherDtype(Exception):
    """An integer of Python's meets NumPy's numbers of another dtype: the fold begins in that one."""

    def __init__(self, frame: Frame, dtype: str) -> None:
        super().__init__(dtype)
        self.frame, self.dtype = frame, dtype


def fold(lx: Lifter, value: Any, start: Any, step: Callable[[Any, Any], Any], node: Any, adapts: bool = False) -> Any:
    """``step(step(start, first), second)...`` over an iterable whose length only the run knows. ``adapts``: the step is an
    operator, so that a start that is an integer of Python's may as well be one of the dtype that it gives with the first item."""
    if start is None:
        message = f"{describe(lx, value)} may be empty, and reduce has no initial value"
        raise lx.error("T113", message, node, "pass an initial value as the third argument")
    outer = frame_of(lx, node)
    saved, lx.frame = lx.frame, outer
    before = lx.state.fork()
    try:
        return _folded(lx, outer, value, start, step, node, adapts)
    except OtherDtype as other:
        if other.frame is not outer:
            raise
        lx.frame, lx.state = outer, before
        start = lx.value(lx.b.cast(lx.operand(start, node), other.dtype))
        return _folded(lx, outer, value, start, step, node, False)
    finally:
        lx.frame = saved


def _folded(
    lx: Lifter, outer: Frame, value: Any, start: Any, step: Callable[[Any, Any], Any], node: Any, adapts: bool
) -> Any:
    total = (outer, TOTAL)
    lx.state.vars[total] = start

    def one(item: Any) -> None:
        before = lx.state.vars[total]
        found = lx.state.vars[total] = step(before, item)
        if adapts and _is_unlike(before, found):
            raise OtherDtype(outer, found.op.type.dtype)

    if isinstance(value, Generator):
        generated(lx, value, one, node)
    else:
        each(lx, iteration.stream(lx, value, node), one, node, value)
    result = lx.state.vars.pop(total)
    return result.value if isinstance(result, Maybe) else result


def _is_unlike(before: Any, after: Any) -> bool:
    """Whether a number is an integer of Python's, and what came of it one of NumPy's that computes otherwise."""
    is_python = isinstance(before, Scalar) and before.op.type == INT
    return is_python and isinstance(after, Scalar) and not computes_alike(before.op.type, after.op.type)


def frame_of(lx: Lifter, node: Any) -> Frame:
    code: Code = lx.frame.code.inside(node, "<fold>") if node is not None else lx.frame.code
    return Frame(
        code,
        lx.frame,
        lx.frame.caller,
        frozenset({TOTAL}),
        depth=lx.frame.depth,
        up=lx.frame,
        keep=True,
        turns=lx.turn(code, lx.frame.caller),
    )


def each(lx: Lifter, stream: Any, one: Callable[[Any], None], node: Any, value: Any) -> None:
    """A core loop that runs ``one`` for each item."""
    if stream is None:
        raise lx.error("T113", f"{describe(lx, value)} cannot be iterated here", node, iteration.why_not(value))
    index = ir.Var(loops.free_name(lx), INT)
    bound = iteration.as_expr(lx, stream.length).op
    zero, unit = lx.b.operand(0), lx.b.operand(1)
    symbol = lx.symbols.index(lx, index, zero, bound, unit)
    learnt = lx.memo.setdefault(("fold", *lx.key(node)), loops.Learnt())

    def lift() -> ir.Operand | None:
        one(stream.at(lx.b.expr(index)))
        return None

    def emit(done: Body) -> None:
        loop = ir.For(index, zero, bound, unit, done.inits, done.block, done.results, loc=lx.b.loc, symbol=symbol)
        lx.b.emit(loop)

    length = lx.symbols.resolve(stream.length if isinstance(stream.length, Dim) else lx.b.form(stream.length))
    marker = gast.copy_location(gast.Pass(), node) if node is not None else gast.Pass()
    carrying = Carrying(lx, marker, [], assigned_in=[], learnt=learnt, ran=lambda: TRUE, length=length,
                        trip=lambda: index)  # fmt: skip
    carrying.index_name = index.name
    try:
        carrying.run(lift, emit)
    except StructureChanges as changes:
        raise changes.why from None


def generated(lx: Lifter, value: Generator, one: Callable[[Any], None], node: Any) -> None:
    """The loops of a generator expression, one inside the other."""
    lx.frame = value.frame
    inner = comprehensions.scope(lx, value.node)
    inner.parent = value.frame
    iterators.use(lx, value.first, value.node)
    lx.frame = inner

    def nest(k: int, iterable: Any) -> None:
        part = value.node.generators[k]

        def item(found: Any) -> None:
            assignment.assign(lx, part.target, found)
            tests(list(part.ifs))

        def tests(rest: list[gast.expr]) -> None:
            if not rest:
                if k + 1 < len(value.node.generators):
                    following = iteration.opened(lx, lx.expr(value.node.generators[k + 1].iter), node)
                    iterators.use(lx, following, value.node)
                    nest(k + 1, following)
                else:
                    one(lx.expr(value.node.elt))
                return
            decided = truth.test(lx, rest[0])
            if decided == TRUE:
                tests(rest[1:])
            elif decided != FALSE:
                branches.choose(lx, decided, lambda: tests(rest[1:]), lambda: None, _statement(value.node))

        known = live.short(lx, iterable, node)
        if known is not None:
            for found in live.each(known):
                item(found)
        else:
            each(lx, iteration.stream(lx, iterable, node), item, part.target, iterable)

    nest(0, value.first)
    for name in inner.locals:
        lx.state.vars.pop((inner, name), None)


def _statement(node: Any) -> Any:
    return gast.copy_location(gast.Pass(), node)
