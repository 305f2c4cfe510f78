"""Inspection without a call: the generated text, the structure of the result, the memory that a derivative records."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transpile.base.captured import Place
from transpile.base.levels import jit_level
from transpile.codegen.numpy import render
from transpile.core import nodes as ir
from transpile.core.dump import dump_all
from transpile.driver import docstrings
from transpile.driver.backend import USUAL, Options, lowered, text_of
from transpile.driver.compiling import assumed_sizes, threads_of
from transpile.driver.interpreted import interpreted
from transpile.driver.lifted_request import leaf_slots, lift
from transpile.driver.request import Request
from transpile.driver.results import rebuild
from transpile.errors import error
from transpile.reports.findings import find
from transpile.reports.report import Report


def text(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], stage: str) -> str:
    """The generated text for a call with these arguments; ``stage`` is "derivative", "core" or "loops" (T505 for another)."""
    request = Request.of(args, kwargs)
    request.make_static(target)
    core = lift(request, target)
    if stage == "core":
        return dump_all(core) + "\n"
    if stage == "loops":
        level = jit_level(target)
        options = Options(sizes=assumed_sizes(core, request))
        return text_of(
            core, options if level is None else replace(options, fastmath=level.fastmath, threads=threads_of(level))
        )[0]
    if stage != "derivative":
        raise error("T505", f"unknown stage {stage!r}", hint="write 'derivative', 'core' or 'loops'")
    return render(core).text


def shapes(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], make: Callable[[Any, str], Any]) -> Any:
    """The structure of the result with ``make(shape, dtype)`` in the place of each leaf; nothing is run."""
    return results(target, args, kwargs, lambda shape, dtype, is_weak: make(shape, dtype))


def results(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], make: Callable[[Any, str, bool], Any]) -> Any:
    """The structure of the result with ``make(shape, dtype, is_weak)`` for each leaf, nothing being run; in ``shape`` a size
    unknown before the run is None."""
    request = Request.of(args, kwargs)
    core = lift(request, target)
    values: dict[Any, Any] = {core.params[k]: request.leaves[leaf] for k, leaf in enumerate(leaf_slots(core, request))}
    sizes: dict[str, int] = {}
    found: dict[Any, int] = {}
    for stmt in core.body.stmts:
        if isinstance(stmt, ir.Let) and stmt.prim == "dim" and stmt.args[0] in values:
            found[stmt.var] = np.shape(values[stmt.args[0]])[stmt.params["axis"]]
    for param, value in values.items():
        for dim, n in zip(param.type.dims, np.shape(value)):
            if dim.as_symbol is not None:
                sizes[dim.as_symbol] = n
        if param.type.is_int and not param.type.dims:
            found[param] = int(value)
    sizes.update({name: found[op] for name, op in core.symbols.items() if op in found})

    def leaf(op: Any) -> Any:
        dims = [d.evaluate(sizes) for d in op.type.dims]
        return make(tuple(d.const if d.is_const else None for d in dims), op.type.dtype, op.type.weak)

    return rebuild(core.out_tree, [leaf(y) for y in core.body.yields])


def reported(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Report:
    """The report that `transpile.report` returns, for a call with these arguments; it runs on copies of them."""
    request = Request.of(args, kwargs)
    request.make_static(target)
    core = lift(request, target)
    leaves = [request.leaves[leaf] for leaf in leaf_slots(core, request)]
    given = dict(zip(core.params, [*leaves, *(Place.of(c).read() for c in core.captured)]))

    def run(fn: ir.Function) -> Any:
        own = copy.deepcopy((list(args), dict(kwargs), list(request.leaves)))  # copies: it may write them
        return interpreted(None, fn, request, True)(*own)

    return find(core, docstrings.arguments(core), given, run, lambda fn: lowered(fn, USUAL))
