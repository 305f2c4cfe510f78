"""Compiles a core function for calls of one structure and type, and stores the program on disk."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from transpile.base.captured import Place
from transpile.core import nodes as ir
from transpile.driver.backend import Guard, Options, compile_core
from transpile.driver.cache import cached_calls
from transpile.driver.compiled import Compiled, Recipe
from transpile.driver.lifted_request import leaf_slots
from transpile.driver.request import Request
from transpile.driver.result_kinds import wanted
from transpile.driver.results import flat_tree
from transpile.loops.size_assumptions import assumed


def compiled(target: Any, core: ir.Function, request: Request, level: Any) -> Compiled:
    """The compiled program of a core function for calls like ``request``; stored on disk if ``level.cache``, for ``level`` a
    `Jit`."""
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
        of_sizes=kernel.of_sizes,
        taken=core.taken,
        changes_containers=request.changes_containers,
    )
    if level.cache:
        cached_calls.store(target, request, recipe, kernel, places)
    made = Compiled(target, recipe, kernel, request.leaves, places, request.reads)
    if options.sizes:
        made.general = partial(compiled, target, core, request.generalised(), level)
    return made


def threads_of(level: Any) -> int:
    """The number of threads that loops are split for; 0 if ``level``, a `Jit`, is not parallel or Numba has one thread."""
    if not level.parallel:
        return 0
    from numba import get_num_threads

    count = get_num_threads()
    return count if count > 1 else 0


def assumed_sizes(core: ir.Function, request: Request) -> Any:
    """The assumptions about equal sizes that hold for the arguments of this request, as `transpile.loops` takes them; ``()`` if
    the request is a general one."""
    if request.is_general:
        return ()
    values = [*(request.leaves[k] for k in leaf_slots(core, request)), *(Place.of(c).read() for c in core.captured)]
    return assumed([np.shape(v) if p.type.dims else None for p, v in zip(core.params, values)])


def _is_made(wanted: Any, returned: str) -> bool:
    """True if a returned number, of Numba's type ``returned``, needs no conversion to the type ``wanted``: Numba returns Python
    numbers."""
    return wanted is not None and wanted == ("python", returned)
