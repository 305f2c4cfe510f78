"""The objects that `custom_jvp` and `custom_vjp` return: functions whose derivative the user writes, as in JAX."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from transpile import tree
from transpile.base.levels import level_of
from transpile.errors import error

RULES = ("jvp", "forward", "backward")  # attributes that hold the functions of a rule; each class has some of them


class Custom:
    """A function with a derivative that the user writes; a plain call runs the function."""

    rule = ""

    def __init__(self, fn: Callable[..., Any], nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> None:
        if not callable(fn):
            raise error(
                "T411", f"expected a function, got {type(fn).__name__}", hint="write it as a decorator of a function"
            )
        functools.update_wrapper(self, fn)
        self.__wrapped__ = fn
        self.__name__ = _name(fn)
        self.nondiff_argnums = (*_several(nondiff_argnums, int), *_numbers(fn, _several(nondiff_argnames, str)))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def rules(self) -> tuple[Any, ...]:
        """The user's functions that make up the derivative, in the order of the attributes in `RULES`; T307 if they have not
        been set."""
        raise NotImplementedError


class CustomJvp(Custom):
    """A function with a rule ``rule(*nondiff, primals, tangents) -> (value, tangent)``, set by ``f.defjvp(rule)``."""

    rule = "jvp"
    __lifter_methods__: ClassVar = {"defjvp": "transpile.custom.defjvp", "defjvps": "transpile.custom.defjvps"}
    jvp: Callable[..., Any] | None = None

    def defjvp(self, jvp: Callable[..., Any]) -> Callable[..., Any]:
        """Sets the rule and returns it, so that the method can be used as a decorator."""
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Sets a rule for each argument, ``jvp(tangent, value, *primals)``; the results are added, None counts as zero."""
        if self.nondiff_argnums:
            raise error("T307", "defjvps does not support nondiff_argnums", hint="use defjvp")
        self.jvp = summed(self, jvps)

    def rules(self) -> tuple[Any, ...]:
        if self.jvp is None:
            hint = f"define it: {self.__name__}.defjvp(rule)"
            raise error("T307", f"{self.__name__!r} is a custom_jvp without a rule", hint=hint)
        return (self.jvp,)


class CustomVjp(Custom):
    """A function with rules ``forward(*args) -> (value, kept)`` and ``backward(*nondiff, kept, cotangent) -> adjoints``.

    ``adjoints`` has one entry for each differentiated argument. The rules are set by ``f.defvjp(forward, backward)``.
    """

    rule = "vjp"
    __lifter_methods__: ClassVar = {"defvjp": "transpile.custom.defvjp"}
    forward: Callable[..., Any] | None = None
    backward: Callable[..., Any] | None = None

    def defvjp(self, forward: Callable[..., Any], backward: Callable[..., Any]) -> None:
        """Sets the two functions of the rule (see the class); a second call replaces them."""
        self.forward, self.backward = forward, backward

    def rules(self) -> tuple[Any, ...]:
        if self.forward is None or self.backward is None:
            hint = f"define it: {self.__name__}.defvjp(forward, backward)"
            raise error("T307", f"{self.__name__!r} is a custom_vjp without a rule", hint=hint)
        return self.forward, self.backward


def _name(fn: Any) -> str:
    """The name of a function; of a partial, the name of its function."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return str(getattr(fn, "__name__", "function"))


def _several(given: Any, kind: type) -> tuple[Any, ...]:
    """``given`` as a tuple: () for None, a single value alone; T505 unless all values are of ``kind``, int or str."""
    found = () if given is None else tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(isinstance(k, kind) for k in found):
        option, what = ("nondiff_argnums", "an int") if kind is int else ("nondiff_argnames", "a str")
        hint = f"write {option}=0" if kind is int else f"write {option}='x'"
        raise error("T505", f"{option} must be {what} or a tuple of these, not {given!r}", hint=hint)
    return found


def _numbers(fn: Callable[..., Any], names: tuple[str, ...]) -> tuple[int, ...]:
    """The positions of the parameters with these names; T505 if a name is not a parameter."""
    known = list(inspect.signature(fn).parameters) if names else []
    missing = [name for name in names if name not in known]
    if missing:
        hint = f"its arguments are {', '.join(map(repr, known))}"
        raise error("T505", f"nondiff_argnames: {_name(fn)!r} has no argument {missing[0]!r}", hint=hint)
    return tuple(known.index(name) for name in names)


def summed(f: CustomJvp, jvps: tuple[Any, ...]) -> Callable[..., Any]:
    """The rule of ``f`` that adds up one rule for each argument, ``jvp(tangent, value, *primals)`` or None."""

    def rule(primals: Any, tangents: Any) -> tuple[Any, Any]:
        value = f(*primals)
        total = tree.map(np.zeros_like, value)
        for k in range(len(jvps)):
            if jvps[k] is not None and tangents[k] is not None:
                total = tree.map(np.add, total, jvps[k](tangents[k], value, *primals))
        return value, total

    return rule


def is_method(target: Any) -> bool:
    """True for a method of an object whose function is transformed or has a custom rule."""
    if not isinstance(target, types.MethodType):
        return False
    return isinstance(target.__func__, Custom) or level_of(target) is not None


def call_custom(function: Any, *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``: lifted instead of a custom function that is transformed directly, so that the call has its
    rule."""
    return function(*args, **kwargs)
