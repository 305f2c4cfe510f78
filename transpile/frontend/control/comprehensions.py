"""Comprehensions: unrolled over known items, or a loop that fills an array where only the run knows how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.errors import TranspileError
from transpile.frontend.control import iteration, iterators, live, truth
from transpile.frontend.control.live import At
from transpile.frontend.lifter import Lifter
from transpile.frontend.restarts import Restart
from transpile.frontend.sources.name_liveness import assigned
from transpile.frontend.sources.sources import Code
from transpile.frontend.state import Frame
from transpile.frontend.values import aliases, assignment
from transpile.frontend.values.convert import new_dict
from transpile.frontend.values.values import Generator, Items

Places = tuple[tuple[At, int], ...]  # what each part of a comprehension runs over, and the number of its next item


def generator(lx: Lifter, node: gast.GeneratorExp) -> Generator:
    """``(element for ... in ...)``: lifted where it is consumed."""
    lx.frame.keep = True
    return Generator(node, lx.frame, first_of(lx, node), iterators.new_cell(lx))


def first_of(lx: Lifter, node: Any) -> Any:
    """What a comprehension runs over: evaluated once, in the scope around it."""
    return iteration.opened(lx, lx.expr(node.generators[0].iter), node)


def dict_of(lx: Lifter, node: gast.DictComp) -> Any:
    """``{key: value for ... in ...}``."""

    def one() -> tuple[Any, Any]:
        key = lx.static(lx.expr(node.key), "the key of a dict", node.key)
        return key, lx.expr(node.value)

    first = first_of(lx, node)
    found = elements(lx, node, first, one)
    if found is None:
        message = "the length of this dict comprehension depends on the data"
        raise lx.error("T112", message, node, "keep the values in an array")
    pairs = list(_checked(lx, first, found, node))
    return new_dict(lx, [k for k, _ in pairs], [v for _, v in pairs])


def unrolled(lx: Lifter, value: Generator, node: Any) -> At | None:
    """The items of a generator expression; None where only the run knows how many there are."""
    saved, lx.frame = lx.frame, value.frame
    try:
        return elements(lx, value.node, value.first, lambda: lx.expr(value.node.elt))
    finally:
        lx.frame = saved


def items_of(lx: Lifter, node: Any, first: Any) -> list[Any] | None:
    """The items of a list comprehension; None where only the run knows how many there are."""
    found = elements(lx, node, first, lambda: lx.expr(node.elt))
    return None if found is None else list(_checked(lx, first, found, node))


def scope(lx: Lifter, node: Any) -> Frame:
    """A frame for the names of a comprehension."""
    code: Code = lx.frame.code.inside(node, "<comprehension>")
    targets = frozenset(assigned([g.target for g in node.generators]))
    return Frame(
        code,
        lx.frame,
        lx.frame.caller,
        targets,
        depth=lx.frame.depth,
        up=lx.frame,
        turns=lx.turn(code, lx.frame.caller),
    )


def elements(lx: Lifter, node: Any, items: Any, one: Callable[[], Any]) -> At | None:
    """The elements of a comprehension over ``items``: what ``one`` gives, in a frame of its own; None where that cannot be
    unrolled."""
    iterators.use(lx, items, node)
    is_always = live.known(lx, items, node) is not None
    key = ("as a loop", *lx.key(node))
    if lx.memo.get(key) and not is_always:
        return None
    first = live.short(lx, items, node)
    if first is None:
        return None
    found = _Elements(lx, node, first, one)

    def at(k: int) -> Any:
        try:
            return found(k)
        except Undecided as undecided:
            if lx.memo.get(key) or is_always:
                raise undecided.why from None
            lx.memo[key] = True
            raise Restart from None

    return at


def _checked(lx: Lifter, items: Any, found: At, node: Any) -> Iterator[Any]:
    """The elements, unless their making makes what they are made of longer, which may never end."""
    cells = aliases.cells_of(lx, items)
    held = [lx.state.cells.get(c) for c in cells]
    for item in live.each(found):
        for cell, before in zip(cells, held):
            now = lx.state.cells.get(cell)
            if isinstance(before, Items) and isinstance(now, Items) and len(now.items) != len(before.items):
                message = "a comprehension changes the length of the list or dict that it iterates over"
                raise lx.error("T119", message, node, hint="write it as a loop")
        yield item


class _Elements:
    """The elements by number, asked for in order; one may be asked for again, where its branch is lifted again."""

    def __init__(self, lx: Lifter, node: Any, first: At, one: Callable[[], Any]) -> None:
        self.lx, self.node, self.one, self.frame = lx, node, one, scope(lx, node)
        self.starts: dict[int, Places] = {0: ((first, 0),)}

    def __call__(self, k: int) -> Any:
        lx = self.lx
        frame, lx.frame = lx.frame, self.frame
        turns = lx.turns
        try:
            places = list(self.starts[k])
            found = self._next(places, turns)
            self.starts[k + 1] = tuple(places)
            return found
        finally:
            lx.frame, lx.turns = frame, turns

    def _next(self, places: list[tuple[At, int]], turns: tuple[int, ...]) -> Any:
        """The next element; ``places`` is how far each part is, the last one fastest."""
        lx, parts = self.lx, self.node.generators
        while places:
            at, k = places[-1]
            item = at(k)
            if item is live.END:
                places.pop()
                continue
            places[-1] = (at, k + 1)
            lx.turns = (*turns, *(done for _, done in places))
            part = parts[len(places) - 1]
            assignment.assign(lx, part.target, item)
            if not all(_passes(lx, test) for test in part.ifs):
                continue
            if len(places) == len(parts):
                return self.one()
            places.append((self._inner(parts[len(places)].iter), 0))
        return live.END

    def _inner(self, node: gast.expr) -> At:
        lx = self.lx
        following = iteration.opened(lx, lx.expr(node), self.node)
        iterators.use(lx, following, self.node)
        found = live.short(lx, following, self.node)
        if found is None:
            message = "the length of the inner part of this comprehension depends on the data"
            raise lx.error("T112", message, self.node, "swap the two parts, or write a loop")
        return found


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
