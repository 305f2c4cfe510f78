"""From a stack of transforms and the types of a call to clean array core: lift, transform, clean up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from transpile.aggregates import Tree
from transpile.base.levels import COMPILED, Jit, may_write, peeled
from transpile.core import nodes as ir
from transpile.custom import Custom, call_custom, is_method
from transpile.driver import lifts
from transpile.driver.pass_watches import from_environment
from transpile.frontend.resolve.resolve import definition_loc
from transpile.frontend.whole_lifter import lift as lift_source
from transpile.transform.array_passes import CLEAN
from transpile.transform.program_functions import settled

from_environment()


def lift(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree], *, mutable: bool = False) -> ir.Function:
    """The core function of ``target``, a function or a stack of transforms over one, before dead code is removed; ``mutable``
    if it may write into its arguments."""

    source = partial(lift_source, mutable=mutable, transforms=lifts.lift)

    def function(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> ir.Function:
        bound = is_method(target)
        if not bound and not isinstance(target, Custom):
            return source(target, args, kwargs)
        own = target.__func__ if bound else target
        # wrapped in a call, so that the call carries the custom rule
        called = partial(call_custom, own, target.__self__) if bound else partial(call_custom, own)
        return source(called, args, kwargs, name=own.__name__, pinned=definition_loc(own))

    return lifts.lift(function, target, args, kwargs)


def clean(fn: ir.Function) -> ir.Function:
    """The function with calls of custom functions inlined and dead code removed; so are, in place, the functions that it keeps
    (``fn`` of their `Routine`)."""
    return settled(fn, CLEAN.run)


def core_of(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree], is_compiled: bool = False) -> ir.Function:
    """The clean core function of a stack of transforms, to be printed or compiled; ``is_compiled`` if it will be compiled
    although no level is `jit`."""
    levels, _ = peeled(target)
    token = COMPILED.set(is_compiled or any(isinstance(level, Jit) for level in levels))
    try:
        core = lift(target, args, kwargs, mutable=may_write(target))
    finally:
        COMPILED.reset(token)
    return clean(core)
