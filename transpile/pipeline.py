"""From a stack of transforms and the types of a call to generated text: lift, transform, clean up, render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MethodType
from typing import Any

from transpile.aggregates import Tree
from transpile.core.nodes import Function
from transpile.custom import Custom, call_custom
from transpile.levels import COMPILED, Jit, level_of, may_write, peeled


def lift(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree], *, mutable: bool = False) -> Function:
    """The core function of ``target``, a function or a stack of transforms over one."""

    def inner(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree]) -> Function:
        from transpile.frontend import lift as lift_source
        from transpile.frontend.resolve import definition_loc

        if _is_method_of_ours(target):
            name, at = target.__func__.__wrapped__.__name__, definition_loc(target.__func__)
            called = partial(call_custom, target.__func__, target.__self__)
            return lift_source(called, args, kwargs, name=name, mutable=mutable, pinned=at)
        level = level_of(target)
        if level is not None:
            return level.lift(inner, target.__wrapped__, args, kwargs)
        if isinstance(target, Custom):  # called by a function of ours, so that the call carries the user's rule
            name, at = target.__wrapped__.__name__, definition_loc(target)
            return lift_source(partial(call_custom, target), args, kwargs, name=name, mutable=mutable, pinned=at)
        return lift_source(target, args, kwargs, mutable=mutable)

    return inner(target, args, kwargs)


def _is_method_of_ours(target: Any) -> bool:
    """Whether it is a transformed function, or one with a derivative of its own, that is bound to an object."""
    if not isinstance(target, MethodType):
        return False
    return isinstance(target.__func__, Custom) or level_of(target) is not None


def clean(fn: Function) -> Function:
    """The function, and those that it keeps, without calls of functions with derivatives of their own, and without dead code."""
    from transpile.transform.custom import expand_calls
    from transpile.transform.dce import remove_dead
    from transpile.transform.kept import settled
    from transpile.transform.placeholders import is_size, with_placeholders
    from transpile.transform.tidy import tidy

    return settled(fn, lambda one: with_placeholders(remove_dead(tidy(expand_calls(one))), is_size))


def core_of(target: Any, args: Sequence[Tree], kwargs: Mapping[str, Tree], is_compiled: bool = False) -> Function:
    """The core function that is rendered or compiled; ``is_compiled`` where nobody but the caller knows that it is to be."""
    levels, _ = peeled(target)
    token = COMPILED.set(is_compiled or any(isinstance(level, Jit) for level in levels))
    try:
        core = lift(target, args, kwargs, mutable=may_write(target))
    finally:
        COMPILED.reset(token)
    return clean(core)
