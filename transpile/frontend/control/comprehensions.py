"""Comprehensions: unrolled over known items, or a loop that fills an array where only the run knows how many there are."""

from __future__ import annotations

from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.errors import TranspileError
from transpile.frontend.control import iteration, iterators, truth
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import Restart
from transpile.frontend.sources.name_liveness import assigned
from transpile.frontend.sources.sources import Code
from transpile.frontend.state import Frame
from transpile.frontend.values import assignment
from transpile.frontend.values.convert import new_dict
from transpile.frontend.values.values import Generator, Ref


def generator(lx: Lifter, node: gast.GeneratorExp) -> Generator:
    """``(element for ... in ...)``: lifted where it is consumed."""
    lx.frame.keep = True
    return Generator(node, lx.frame, first_of(lx, node), iterators.new_cell(lx))


def first_of(lx: Lifter, node: Any) -> Any:
    """What a comprehension runs over: evaluated once, in the scope around it."""
    return iteration.opened(lx, lx.expr(node.generators[0].iter), node)


def dict_of(lx: Lifter, node: gast.DictComp) -> Any:
    """``{key: value for ... in ...}``."""
    pairs: list[tuple[Any, Any]] = []

    def one(frame: Frame) -> None:
        key = lx.static(lx.expr(node.key), "the key of a dict", node.key)
        pairs.append((key, lx.expr(node.value)))

    if not each(lx, node, first_of(lx, node), one):
        raise lx.error("T112", "a dict comprehension over a length that only the run knows", node)
    return new_dict(lx, [k for k, _ in pairs], [v for _, v in pairs])


def unrolled(lx: Lifter, value: Generator, node: Any) -> list[Any] | None:
    """The items of a generator expression; None where only the run knows how many there are."""
    saved, lx.frame = lx.frame, value.frame
    try:
        return items_of(lx, value.node, value.first)
    finally:
        lx.frame = saved


def items_of(lx: Lifter, node: Any, first: Any) -> list[Any] | None:
    found: list[Any] = []
    return found if each(lx, node, first, lambda frame: found.append(lx.expr(node.elt))) else None


def scope(lx: Lifter, node: Any) -> Frame:
    """A frame for the names of a comprehension."""
    code: Code = lx.frame.code.inside(node, "<comprehension>")
    targets = frozenset(assigned([g.target for g in node.generators]))
    return Frame(code, lx.frame, lx.frame.caller, targets, depth=lx.frame.depth, up=lx.frame)


def each(lx: Lifter, node: Any, items: Any, one: Any) -> bool:
    """Runs ``one`` for each element of a comprehension over ``items`` in a frame of its own; False where that cannot be
    unrolled."""
    iterators.use(lx, items, node)
    key = ("as a loop", *lx.key(node))
    if lx.memo.get(key) and iteration.known_items(lx, items, node) is None:
        return False
    first = known(lx, items, node)
    if first is None:
        return False
    held = lx.state.cells[items.cell] if isinstance(items, Ref) else None
    frame = scope(lx, node)
    saved, lx.frame = lx.frame, frame
    try:
        _nest(lx, node, 0, first, one, frame)
        if isinstance(items, Ref) and lx.state.cells[items.cell] is not held:
            message = "a comprehension changes the list or dict that it runs over"
            raise lx.error("T119", message, node, hint="write it as a loop")
    except Undecided as undecided:
        if lx.memo.get(key) or iteration.known_items(lx, items, node) is not None:
            raise undecided.why from None
        lx.memo[key] = True
        raise Restart from None
    finally:
        lx.frame = saved
    return True


def known(lx: Lifter, value: Any, node: Any) -> list[Any] | None:
    """The items of an iterable that is unrolled here: also a short range whose bounds are known."""
    if isinstance(value, Generator):
        return unrolled(lx, value, node)
    found = iteration.known_items(lx, value, node)
    if found is not None:
        return found
    stream = iteration.stream(lx, value, node)
    if stream is None:
        return lx.unrolled(value, node)
    length = stream.length if not hasattr(stream.length, "type") else lx.b.form(stream.length)
    length = lx.symbols.resolve(length)
    return lx.unrolled(value, node) if length.is_const else None


def _nest(lx: Lifter, node: Any, k: int, items: list[Any], one: Any, frame: Frame) -> None:
    part = node.generators[k]
    turns = lx.turns
    for number, item in enumerate(items):
        lx.turns = (*turns, number)
        assignment.assign(lx, part.target, item)
        if not all(_passes(lx, test) for test in part.ifs):
            continue
        if k + 1 == len(node.generators):
            one(frame)
            continue
        following = iteration.opened(lx, lx.expr(node.generators[k + 1].iter), node)
        iterators.use(lx, following, node)
        inner = known(lx, following, node)
        if inner is None:
            raise lx.error("T112", "the inner part of a comprehension has a length that only the run knows", node)
        _nest(lx, node, k + 1, inner, one, frame)
    lx.turns = turns


class Undecided(Exception):
    """The test of a comprehension that is unrolled depends on the data."""

    def __init__(self, why: TranspileError) -> None:
        super().__init__(why)
        self.why = why


def _passes(lx: Lifter, test: gast.expr) -> bool:
    decided = truth.test(lx, test)
    if not isinstance(decided, ir.Const):
        message = "the test of a comprehension depends on the data"
        raise Undecided(lx.error("T112", message, test, hint="write it as a loop"))
    return bool(decided.value)
