"""Lifts a request to the core function for its arguments; values that lifting needs become known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.aggregates import ArgLeaf, Leaf, Static, Tree, leaf_numbers, map_leaves
from transpile.base.captured import Place
from transpile.base.levels import peeled
from transpile.base.loc import NOWHERE, Loc
from transpile.base.matching import leaf_sources
from transpile.core import nodes as ir
from transpile.core.leaf_types import leaf_type
from transpile.driver.arguments import argument_text
from transpile.driver.pipeline import core_of
from transpile.driver.request import Request
from transpile.errors import SHALLOWER, TranspileError, error
from transpile.frontend.resolve.bindings import Captured
from transpile.frontend.resolve.reads import recorded, settled
from transpile.frontend.resolve.resolve import parameter_loc
from transpile.frontend.restarts import NeedStatic
from transpile.frontend.values import changes


def lift(request: Request, target: Any) -> ir.Function:
    """The core function for the arguments of the request, on which it records what lifting found out.

    If lifting needs the value of an integer argument, the leaf is added to ``request.known`` and the function is lifted again;
    T210 if it is not an integer.
    """
    while True:
        dynamic = [k for k in range(len(request.leaves)) if k not in request.known]
        args, kwargs = typed(request, target)
        try:
            with recorded() as request.reads, changes.recorded() as found, nesting(target):
                core = core_of(target, args, kwargs)
            request.own = {k for k, leaf in request.made.items() if id(leaf) in found.own}
            request.written = {k for k, leaf in request.made.items() if id(leaf) in found.written}
            request.changes_containers = found.containers
            places = [Place.of(c) for c in core.captured if isinstance(c, Captured)]
            request.reads = settled(request.reads, places, not found.containers)
            return core
        except NeedStatic as need:
            leaf = dynamic[need.leaf]
            if not isinstance(request.leaves[leaf], (int, np.integer, np.bool_)):
                why = need.why or error(
                    "T210",
                    "the value of an argument must be known before the function runs",
                    hint="pass an int, or bind the value with functools.partial(f, ...)",
                )
                raise why from None
            request.known.add(leaf)


def typed(request: Request, target: Any = None) -> tuple[list[Tree], dict[str, Tree]]:
    """The argument trees, of positional and of keyword arguments, with an `ArgLeaf` for each leaf, and a static value for each
    known one.

    The `ArgLeaf` objects are also put into ``request.made``. ``target`` is named in messages.
    """
    made = request.made

    def one(tree: Tree, at: int | str) -> Tree:
        def text_of(leaf: Leaf) -> str:
            return argument_text(target, at, tree, list(leaf_numbers(tree)).index(leaf.k))

        def leaf(leaf: Leaf) -> Tree:
            value = request.leaves[leaf.k]
            type_ = leaf_type(value, leaf.k, lambda: f"{text_of(leaf)} of {function_name(target)!r}")
            if leaf.k in request.known:
                return Static(value)
            made[leaf.k] = ArgLeaf(type_, value)
            return made[leaf.k]

        try:
            return map_leaves(tree, leaf)
        except TranspileError as failed:
            raise TranspileError([replace(d, loc=parameter_loc(target, at)) for d in failed.diagnostics]) from None

    args = [one(t, k) for k, t in enumerate(request.args)]
    return args, {name: one(t, name) for name, t in request.kwargs.items()}


@contextmanager
def nesting(target: Any) -> Iterator[None]:
    """A context that turns a RecursionError, from deeply nested user code (hundreds of ``elif``), into T135."""
    try:
        yield
    except RecursionError:
        code = getattr(peeled(target)[1], "__code__", None)
        at = NOWHERE if code is None else Loc(code.co_filename, code.co_firstlineno, 1)
        message = f"something in {function_name(target)!r}, or in what it calls, is nested too deeply"
        raise error("T135", message, at, SHALLOWER) from None


def function_name(target: Any) -> str:
    return getattr(peeled(target)[1], "__name__", "the function")


def leaf_slots(core: ir.Function, request: Request) -> list[int]:
    """For each parameter of ``core`` that is not captured, in order, the number of its leaf in the call."""
    found = leaf_sources(core.arg_tree, request.args, request.kwargs)
    return [found[k] for k in range(len(core.params) - len(core.captured))]
