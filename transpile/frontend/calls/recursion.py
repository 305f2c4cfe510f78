"""Functions that call themselves: kept as functions, each lifted once for the types that it is called with.

A call that is reached while the function is being lifted knows nothing of the results yet. So the first lifting takes it for a
call that never returns: the paths that do not call give the types of the results. Lifted again with these, the function gives
them again, or wider ones, until they stand. Sizes that a path gives in terms of the arguments' are known at each call; where
paths disagree, only the run knows them.

    def det(a):                        first: float64, of a[0, 0]
        if len(a) == 1:                again: the sum of products with det(minor), float64 too
            return a[0, 0]
        ...

Sizes of arguments are symbols, as no two calls need agree; flags, None, strings and functions are known, and each combination of
them is a routine of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import gast

from transpile.core import nodes as ir
from transpile.core.functions import Routine, invoke_anew
from transpile.errors import error
from transpile.frontend.calls import equal_axes, inner_transforms
from transpile.frontend.calls.passing import Given, generalised, is_alike, key_of, kind_of, with_static
from transpile.frontend.calls.result_types import Found, Pair, Signature, joined
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.closure_conversion import are_as_before
from transpile.frontend.resolve.kept_closures import hand_on
from transpile.frontend.restarts import Dead, NeedStatic
from transpile.frontend.state import Frame
from transpile.frontend.values import aliases, arrays_written, memory
from transpile.frontend.values.values import Array, Cell

MAX_ROUNDS = 12
MAX_OPEN = 32  # routines of one function that are being lifted, each for other flags, numbers or functions

SHARED = "this array may be an argument of the recursive function, so it cannot be written"


class Widen(Exception):
    """A function calls itself with other sizes than the ones that were taken to be fixed: it is lifted for all sizes. Or axes met
    in it that are to be equal: it is lifted for those (`transpile.frontend.calls.equal_axes`)."""

    def __init__(self, opened: Open, trees: Mapping[str, Any]) -> None:
        super().__init__(opened.routine.name)
        self.opened, self.trees = opened, trees


@dataclass(eq=False)
class Open:
    """A routine that is being lifted. ``signature`` is what the last lifting gave; None before the first."""

    key: Any
    routine: Routine
    trees: dict[str, Any]
    signature: Signature | None = None
    asked_at: ir.Loc | None = None  # where its body calls it
    asked: dict[Pair, None] = field(default_factory=dict)  # axes that were taken to be equal, if only for a while


class Kept:
    """The kept functions of a program: shared by all lifters that work for it."""

    def __init__(self) -> None:
        self.codes: dict[int, Any] = {}
        self.found: dict[Any, Found] = {}
        self.open: dict[Any, Open] = {}
        self.wishes: dict[Any, dict[Pair, None]] = {}  # the axes that calls are to give with equal sizes
        self.unknown: dict[Any, None] = {}  # the keys of routines that were called before their results were known

    def keep(self, code: Any) -> None:
        """From now on calls of the function are not put in line."""
        self.codes[id(code.node)] = code.node
        self.found.clear()

    def is_kept(self, code: Any) -> bool:
        return id(code.node) in self.codes


# ---------------------------------------------------------------------------------------------------------- calls


def call(lx: Lifter, code: Any, parent: Frame | None, bound: Mapping[str, Any], node: Any) -> Any:
    """The result of a call of a kept function with these arguments."""
    refuse_nonlocal(lx, code, node)
    given = Given(lx)
    trees = {name: given.tree(value) for name, value in bound.items()}
    while True:
        try:
            found = _routine(lx, code, parent, trees, given.ops, node)
            break
        except NeedStatic as needed:
            trees = with_static(lx, trees, given.ops, needed, node)
            given = given.without(needed.leaf)
    with lx.b.at(lx.b.loc if lx.b.loc.line else lx.start):
        return _called(lx, found, given, node)


def _called(lx: Lifter, found: Found, given: Given, node: Any) -> Any:
    """Emits the call; what the function writes into its arguments is written into those of the call."""
    signature = found.signature
    equal_axes.confirm(lx, found.trees, given.ops)
    given.refuse_shared(signature.written, found.read, node)
    hidden = [inner_transforms.outside(lx, c) for c in found.captured]
    ops = [*given.ops, *hidden]
    results = invoke_anew(lx.b, found.routine, ops, signature.params, signature.results, signature.integers.get)
    lx.errstate.update(found.errstate)
    own = len(results) - len(signature.written)
    for k, value in zip(signature.written, results[own:]):
        cell = given.cells[k]
        assert cell is not None
        arrays_written.write_back(lx, cell, value)

    def leaf(k: int) -> Any:
        value = lx.value(results[k].op)
        if isinstance(value, Array):
            _note_shared(lx, value.cell, signature.shared[k], given)
        return value

    result = inner_transforms.from_tree(lx, signature.out_tree, [r.op for r in results[:own]], leaf)
    if signature.hands_back:
        for cell in aliases.cells_of(lx, result):
            aliases.may_be(lx, cell, tuple(given.containers))
    return result


def _note_shared(lx: Lifter, cell: Cell, shared: frozenset[int], given: Given) -> None:
    """Notes the arguments that a result may be: no write may go to one while the other is read."""
    others = [memory.root(lx, c) for k in sorted(shared) if k >= 0 and (c := given.cells[k]) is not None]
    if others:
        aliases.may_be(lx, cell, tuple(others))
    if any(k < 0 for k in shared):
        cell.readonly = SHARED


def refuse_nonlocal(lx: Lifter, code: Any, node: Any) -> None:
    """Refuses names of the function around that a kept function sets: each call would have to hand them on."""
    if any(isinstance(n, (gast.Nonlocal, gast.Global)) for n in gast.walk(code.node)):
        message = f"{code.name!r} calls itself and assigns to a name of the enclosing function"
        raise lx.error("T115", message, node, hint="pass the value as an argument and return it")


def _routine(
    lx: Lifter, code: Any, parent: Frame | None, trees: dict[str, Any], ops: Sequence[ir.Operand], node: Any
) -> Found:
    kept: Kept = lx.kept
    wishes = kept.wishes.setdefault((code.function, parent, kind_of(trees)), {})
    trees = equal_axes.granted(lx, trees, ops, list(wishes))
    key = (code.function, parent, key_of(trees))
    known = kept.found.get(key)
    if known is not None and are_as_before(lx, known.names):
        return known
    if key in kept.open:
        return _recursion(lx, kept.open[key], node)
    for opened in reversed(list(kept.open.values())):
        if opened.key[:2] == key[:2] and is_alike(opened.trees, trees):
            wide = generalised(opened.trees, trees)
            if key_of(wide) == opened.key[2]:
                return _recursion(lx, opened, node)
            raise Widen(opened, wide)
    if sum(o[:2] == key[:2] for o in kept.open) >= MAX_OPEN:
        message = f"{code.name!r} calls itself with a different string, function or number in every call"
        raise lx.error("T115", message, node, hint="write the recursion as a loop")

    def grants(pair: Pair) -> bool:
        """Whether the call gives equal sizes to axes: later calls are asked as well."""
        if max(pair)[0] >= len(ops) or not equal_axes.grants(lx, ops, pair):
            return False
        wishes[pair] = None
        return True

    return _lifted(lx, code, parent, trees, key, grants, node)


def _recursion(lx: Lifter, opened: Open, node: Any) -> Found:
    """A call of a routine that is being lifted."""
    if opened.asked_at is None:
        opened.asked_at = lx.loc(node) if node is not None else lx.b.loc
    if opened.signature is None:
        lx.kept.unknown[opened.key] = None
        raise Dead
    return Found(opened.routine, opened.signature, trees=opened.trees)


# -------------------------------------------------------------------------------------------------------- lifting


def _lifted(
    lx: Lifter,
    code: Any,
    parent: Frame | None,
    trees: dict[str, Any],
    key: Any,
    grants: Callable[[Pair], bool],
    node: Any,
) -> Found:
    kept: Kept = lx.kept
    opened = Open(key, Routine(code.name if code.name != "<lambda>" else "function"), trees)
    kept.open[key] = opened
    before = dict(kept.found)
    unknown = dict(kept.unknown)

    def wish(pair: Pair) -> None:
        if pair not in opened.asked and grants(pair):
            opened.asked[pair] = None
            raise Widen(opened, equal_axes.united(opened.trees, pair))

    try:
        for _ in range(MAX_ROUNDS):
            kept.found, kept.unknown = dict(before), dict(unknown)
            opened.asked_at = None
            try:
                fn, signature, read, names = inner_transforms.at_call(
                    lx, lambda: lx.lift_body(code, parent, opened.trees, wish), node
                )
            except Widen as wider:
                if wider.opened is not opened:
                    raise
                del kept.open[opened.key]
                opened.trees, opened.signature = dict(wider.trees), None
                opened.key = (*key[:2], key_of(opened.trees))
                kept.open[opened.key] = opened
                continue
            if fn is None:
                _refuse_endless(kept, opened, code)
            found = joined(opened.signature, signature)
            if found is None or opened.asked_at is None:
                made = _finished(opened, fn, signature, [f for k, f in kept.found.items() if k not in before])
                made.read, made.names, made.trees = read, names, opened.trees
                if not any(isinstance(c, inner_transforms.Around) for c in made.captured):
                    kept.found[opened.key] = made
                    if not opened.asked:  # else it may be for fewer calls than that of this key
                        kept.found[key] = made
                return made
            opened.signature = found
        message = f"the types of the results of {code.name!r} change with each recursive call"
        raise lx.error("T206", message, node, "return the same types on every path")
    finally:
        kept.open.pop(opened.key, None)


def _refuse_endless(kept: Kept, opened: Open, code: Any) -> NoReturn:
    """No path returns: if the paths end in calls of functions that are not known yet, those may tell."""
    if opened.asked_at is not None and not any(k != opened.key for k in kept.unknown):
        hint = "return without a recursive call in some case"
        raise error("T115", f"{code.name!r} calls itself on every path: it never ends", opened.asked_at, hint)
    raise Dead


# -------------------------------------------------------------------------------------- what is hidden is handed on


def _finished(opened: Open, fn: ir.Function, signature: Signature, inner: Sequence[Found]) -> Found:
    """The routine with its body. What it reads of outside is handed on by the calls inside."""
    routine = opened.routine
    found = Found(routine, signature, list(fn.captured), fn.errstate)
    routine.fn, routine.params, routine.results = replace(fn, out_tree=None), signature.params, signature.results
    hand_on(found, inner)
    return found


__all__ = ["Kept", "Widen", "call"]
