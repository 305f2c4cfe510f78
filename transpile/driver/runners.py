"""Runners: a core function made callable, interpreted or compiled, for calls of one structure and type; and its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from transpile.base.captured import Place, holding
from transpile.base.levels import is_derivative, jit_level
from transpile.codegen.numpy import render
from transpile.core import nodes as ir
from transpile.core.dump import dump_all
from transpile.driver.compiled import Compiled, Recipe
from transpile.driver.interpreted import interpreted
from transpile.driver.pipeline import core_of
from transpile.driver.program import Program
from transpile.driver.request import Request, leaf_slots, nesting
from transpile.driver.results import flat_tree, rebuild, wanted
from transpile.errors import error

__all__ = ["compiled", "core_of", "holding", "interpreted", "runner", "shapes", "text"]


def runner(target: Any, core: ir.Function, request: Request) -> Program:
    """What runs ``core`` on the arguments of a call."""
    level = jit_level(target)
    with nesting(target):
        if level is not None:
            return compiled(target, core, request, level)
        return interpreted(target, core, request, is_derivative(target))


def text(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], stage: str) -> str:
    """The generated text for a call with these arguments."""
    request = Request.of(args, kwargs)
    request.make_static(target)
    core = request.lift(target)
    if stage == "core":
        return dump_all(core) + "\n"
    if stage == "loops":
        from transpile.driver.backend import Options, text_of

        level = jit_level(target)
        options = Options(sizes=assumed_sizes(core, request))
        return text_of(
            core, options if level is None else replace(options, fastmath=level.fastmath, threads=threads_of(level))
        )[0]
    if stage != "derivative":
        raise error("T505", f"unknown stage {stage!r}", hint="one of 'derivative', 'core', 'loops'")
    return render(core).text


# ------------------------------------------------------------------------------------------------------ compiled


def compiled(target: Any, core: ir.Function, request: Request, level: Any) -> Compiled:
    """Runs the function that Numba compiled, on the leaves; it is kept on disk if ``level`` says so."""
    from transpile.driver.backend import Guard, Options, compile_core

    slots = leaf_slots(core, request)
    places = [Place.of(c) for c in core.captured]
    values = [*(request.leaves[k] for k in slots), *(p.read() for p in places)]
    arrays = [k for k, p in enumerate(core.params) if p.type.dims]
    written = tuple([p.buffer and k in request.written for k, p in zip(slots, core.params)])
    own = {k for k in arrays if k >= len(slots) or slots[k] in request.own}
    changed = [k for k in arrays if k < len(slots) and slots[k] in request.written]
    pairs = tuple([(k, j) for k in changed for j in arrays if j != k and j in own])
    ones = tuple([tuple([n == 1 for n in np.shape(v)]) for v in values])
    options = Options(level.fastmath, threads_of(level), assumed_sizes(core, request))
    kernel = compile_core(core, options, level.cache, Guard(ones, pairs))
    results = wanted(core.body.yields, core.out_tree)
    passed = {o.result for o in kernel.outputs}
    returns = iter(kernel.returns)
    returned = ["" if k in passed else next(returns, "") for k in range(len(results))]
    recipe = Recipe(
        name=core.name,
        trees=(*request.args, *request.kwargs.values()),
        known=tuple([(k, request.leaves[k]) for k in sorted(request.known)]),
        slots=tuple(slots),
        written=written,
        pairs=pairs,
        out_tree=flat_tree(core.out_tree, len(results)),
        results=tuple([None if _is_made(w, r) else w for w, r in zip(results, returned)]),
        outputs=kernel.outputs,
        taken=core.taken,
        changes_containers=request.changes_containers,
    )
    if level.cache:
        from transpile.driver.cache import cached_calls

        cached_calls.store(target, request, recipe, kernel, places)
    made = Compiled(target, recipe, kernel, request.leaves, places, request.reads)
    if options.sizes:
        made.general = partial(compiled, target, core, request.generalised(), level)
    return made


def threads_of(level: Any) -> int:
    """How many threads compiled loops are cut for; 0 where they are to run on one."""
    if not level.parallel:
        return 0
    from numba import get_num_threads

    count = get_num_threads()
    return count if count > 1 else 0


def assumed_sizes(core: ir.Function, request: Request) -> Any:
    """What compiled code takes for granted of the sizes of its arguments, if these are the ones that it will get."""
    from transpile.loops.size_assumptions import assumed

    if request.is_general:
        return ()
    values = [*(request.leaves[k] for k in leaf_slots(core, request)), *(Place.of(c).read() for c in core.captured)]
    return assumed([np.shape(v) if p.type.dims else None for p, v in zip(core.params, values)])


def _is_made(wanted: Any, returned: str) -> bool:
    """Whether what Numba gives for a number of this dtype is what is wanted: it makes all numbers Python's own."""
    return wanted is not None and wanted == ("python", returned)


# -------------------------------------------------------------------------------------------------------- shapes


def shapes(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], make: Callable[[Any, str], Any]) -> Any:
    """The result's structure with ``make(shape, dtype)`` for each leaf."""
    request = Request.of(args, kwargs)
    core = request.lift(target)
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
        return make(tuple(d.const if d.is_const else None for d in dims), op.type.dtype)

    return rebuild(core.out_tree, [leaf(y) for y in core.body.yields])
