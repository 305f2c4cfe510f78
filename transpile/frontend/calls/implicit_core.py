"""The core `Call` of a solution: its arguments, and the rules as functions of all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transpile.aggregates import ArgLeaf, Node, map_leaves, number_leaves
from transpile.analysis.activity import is_stopped
from transpile.core import nodes as ir
from transpile.core.inline import splice
from transpile.core.rebuild import with_results
from transpile.core.types import Type
from transpile.core.walk import defined
from transpile.frontend.calls.custom_calls import name_sizes, results_of
from transpile.frontend.calls.inner_transforms import from_tree, outside
from transpile.frontend.lifter import Lifter
from transpile.lax import checks


class Made:
    """The call that is being made: the function that solves, its arguments, and its results. ``outs`` are those of the solution,
    ``solution`` is the tree of their types."""

    def __init__(self, lx: Lifter, primal: ir.Function, given: list[ir.Operand], has_aux: bool, node: Any) -> None:
        self.lx, self.primal, self.given = lx, primal, given
        self.ops = [*given, *(outside(lx, c) for c in primal.captured)]
        self.results, self.sizes = results_of(lx.b, primal, self.ops)
        self.has_aux, tree = has_aux, primal.out_tree
        if has_aux and not (isinstance(tree, Node) and tree.kind == "tuple" and len(tree.children) == 2):
            raise lx.error("T308", checks.AUX, node, checks.AUX_HINT)
        main = tree.children[0] if has_aux else tree
        self.outs = self.results[: len(number_leaves([main])[1])]
        self.solution = map_leaves(main, lambda leaf: ArgLeaf(self.results[leaf.k].type, None, leaf.zero_dim))
        if any(not leaf.type.is_float for leaf in number_leaves([self.solution])[1]):
            raise lx.error("T302", checks.NO_FLOATS, node, checks.FLOATS_HINT)

    def is_stopped(self) -> bool:
        """Whether what solves stops the gradient of what it is given."""
        return is_stopped(self.primal, self.primal.params[: len(self.given)])

    def constant(self) -> Any:
        """The results where nothing can be differentiated."""
        b = self.lx.b
        found = splice(b, self.primal, self.ops)
        stopped = [b.elementwise("stop_gradient", op).op if op.type.is_float else op for op in found]
        return from_tree(self.lx, self.primal.out_tree, stopped)

    def call(self, read: Sequence[ir.Operand], tangent: ir.Function, pullback: ir.Function | None, leading: int) -> Any:
        """Emits the call. ``read`` is what the user's function reads, the first parameters of both rules. Then come the outputs,
        then the tangents of what is read and of the first ``leading`` arguments, or the cotangents of the outputs."""
        lx = self.lx
        arguments = _Arguments(lx, self.given)
        rules = [fn for fn in (tangent, pullback) if fn is not None]
        captured = [arguments.places([outside(lx, c) for c in fn.captured]) for fn in (self.primal, *rules)]
        for fn in rules:
            _name(fn, read)
        places, n, m = arguments.added(read), len(read), len(self.outs)
        primal = arguments.function(self.primal, range(len(self.given)), captured[0])
        dots = tangent.params[n + m : 2 * n + m + leading]
        known = {**dict(zip(places, dots)), **dict(zip(range(leading), dots[n:]))}
        more = [*tangent.params[n : n + m], *arguments.dots(known)]
        tangent = arguments.function(tangent, places, captured[1], more)
        if pullback is not None:
            bars = dict(zip([*places, *range(leading)], pullback.body.yields))
            pullback = arguments.function(pullback, places, captured[2], pullback.params[n : n + 2 * m])
            pullback = with_results(pullback, arguments.bars(bars))
        rule = ir.Custom(primal, "implicit", tangent, m, pullback)
        lx.b.emit(ir.Call(rule, tuple(arguments.ops), self.results, loc=lx.b.loc))
        name_sizes(lx.b, self.sizes)
        return from_tree(lx, self.primal.out_tree, self.results)

    def solve(self, side: ir.Function, back: ir.Function | None, symmetric: bool) -> Any:
        """Emits the call of a linear solution. ``side`` gives the left-hand side of the outputs, ``back`` solves the transposed
        equation; the first arguments of all three functions are a right-hand side or outputs."""
        lx, count = self.lx, len(self.outs)
        arguments = _Arguments(lx, self.given)
        fns = [fn for fn in (self.primal, side, back) if fn is not None]
        captured = [arguments.places([outside(lx, c) for c in fn.captured]) for fn in fns]
        primal = arguments.function(self.primal, range(count), captured[0])
        side = arguments.function(side, (), captured[1], side.params[:count])
        if back is not None:
            back = arguments.function(back, range(count), captured[2])
        rule = ir.Custom(primal, "linear", side, count, back, symmetric=symmetric)
        lx.b.emit(ir.Call(rule, tuple(arguments.ops), self.results, loc=lx.b.loc))
        name_sizes(lx.b, self.sizes)
        return from_tree(lx, self.primal.out_tree, self.results)


def _name(fn: ir.Function, read: Sequence[ir.Operand]) -> None:
    """Calls what the rule has of the user's values by their names, not by where they stand among its arguments."""
    for var in (*fn.params, *defined(fn.body)):
        found = _PLACE.match(var.name)
        if found is not None and int(found[1]) < len(read):
            var.name = getattr(read[int(found[1])], "name", "p") + found[2]


_PLACE = re.compile(r"(?:p|args(?:_\d)?|params)_(\d+)((?:_bar|_dot)?)(?:_\d+)?$")


class _Arguments:
    """The arguments of the call: the first ones as they are given, what the functions read around them, and what is differentiated
    by. An operand that one function has twice is two arguments, since each parameter has sizes of its own."""

    def __init__(self, lx: Lifter, given: Sequence[ir.Operand]) -> None:
        self.lx = lx
        self.ops = list(given)
        self.at: dict[ir.Operand, list[int]] = {}

    def places(self, ops: Sequence[ir.Operand]) -> list[int]:
        """Where the arguments are that a function reads; those of other functions serve again."""
        found: list[int] = []
        for op in ops:
            known = self.at.setdefault(op, [])
            free = [k for k in known if k not in found]
            if not free:
                free = self.added([op])
                known += free
            found.append(free[0])
        return found

    def added(self, ops: Sequence[ir.Operand]) -> list[int]:
        """Arguments of their own."""
        self.ops += ops
        return list(range(len(self.ops) - len(ops), len(self.ops)))

    def function(
        self, fn: ir.Function, first: Sequence[int], captured: Sequence[int], more: Sequence[ir.Var] = ()
    ) -> ir.Function:
        """``fn`` with all arguments as its parameters, then ``more``; ``first`` are the places of those that its first parameters
        stand for, ``captured`` of what it reads."""
        own = len(fn.params) - len(fn.captured)
        params = dict(zip([*first, *captured], (*fn.params[: len(first)], *fn.params[own:])))
        every = [params.get(k) or ir.Var("unused", op.type) for k, op in enumerate(self.ops)]
        return replace(fn, params=(*every, *more), captured=())

    def dots(self, known: Mapping[int, ir.Var]) -> list[ir.Var]:
        """A tangent for each argument of floating point: those of others than the ``known`` ones are not read."""
        return [known.get(k) or ir.Var("unused", op.type) for k, op in enumerate(self.ops) if op.type.is_float]

    def bars(self, known: Mapping[int, ir.Operand]) -> tuple[ir.Operand, ...]:
        """An adjoint for each of them; a number for one that has none."""
        floats = [(k, op) for k, op in enumerate(self.ops) if op.type.is_float]
        return tuple(known[k] if k in known else ir.Const(0.0, Type(op.type.dtype)) for k, op in floats)
