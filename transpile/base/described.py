"""The docstring and the signature of a transformed function, made when somebody asks: `help`, an editor, ``inspect.signature``."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from typing import Any

from transpile.base.levels import Grad, Jacobian, Jit, Level, Pullback, Pushforward, Vmap, level_of

KEPT = tuple([name for name in functools.WRAPPER_ASSIGNMENTS if name != "__doc__"])
"""What a transformed function takes over from the function: all that `functools.update_wrapper` copies but the docstring."""


class Docstring:
    """The attribute ``__doc__`` of a class and of its instances. That of an instance says what its calls return, above the
    docstring of the function."""

    def __init__(self, of_class: str | None) -> None:
        self.of_class = of_class

    def __get__(self, instance: Any, owner: type | None = None) -> str | None:
        return self.of_class if instance is None else docstring(instance)


class Signature:
    """The attribute ``__signature__`` of instances: that of the function, without its return annotation where that is not what is
    returned."""

    def __get__(self, instance: Any, owner: type | None = None) -> inspect.Signature:
        if instance is None:
            raise AttributeError("__signature__")
        return signature(instance)


def docstring(fn: Any) -> str | None:
    """A sentence that says what a transformed function returns, above the docstring of the function at the bottom of the stack;
    None if there is neither."""
    inner = fn
    while level_of(inner) is not None or isinstance(inner, functools.partial):
        inner = inner.func if isinstance(inner, functools.partial) else inner.__wrapped__
    is_own = inner.__doc__ is not type(inner).__doc__  # an object without one shows that of its class
    parts = [_sentence(fn), inspect.getdoc(inner) if is_own else None]
    return "\n\n".join([p for p in parts if p]) or None


def _sentence(fn: Any) -> str | None:
    """The sentence that says what a transformed function returns; None if that is what the function at the bottom returns."""
    text = phrase(fn)
    return f"{text[0].upper()}{text[1:]}." if text.startswith("the ") else None


def signature(fn: Any) -> inspect.Signature:
    """The signature of a transformed function: of a pushforward ``(primals, tangents)``, of a pullback ``(primals,
    cotangent)``, else that of the wrapped function, without its return annotation if the level changes the result. ValueError
    if `inspect` finds none."""
    level, inner = level_of(fn), fn.__wrapped__
    if isinstance(level, (Pushforward, Pullback)):
        names = ("primals", "tangents" if isinstance(level, Pushforward) else "cotangent")
        return inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names])
    found = inspect.signature(inner)
    is_same = isinstance(level, Jit) or type(level) is Level
    return found if is_same else found.replace(return_annotation=inspect.Signature.empty)


def phrase(fn: Any) -> str:
    """What a function returns, as a part of a sentence: ``the gradient of loss with respect to w``. For a function without a
    transform, and with only `Jit`, it is the name."""
    level = level_of(fn)
    if level is None:
        named = fn.func if isinstance(fn, functools.partial) else fn
        name = getattr(named, "__name__", None) or f"an object of class {type(named).__name__}"
        return name if name != "<lambda>" else "a lambda function"
    inner = fn.__wrapped__
    of = phrase(inner)
    if isinstance(level, Jit):
        return of
    if isinstance(level, Vmap):
        return (
            f"{of} for each element of a batch"
            if of.startswith("the ")
            else f"the result of {of} for each element of a batch"
        )
    if isinstance(level, Grad) and level.value:
        return f"the value of {of} and its gradient with respect to {_arguments(level, inner)}"
    if isinstance(level, (Grad, Jacobian)):
        below, name = level_of(inner), "gradient" if isinstance(level, Grad) else "Jacobian"
        is_first = isinstance(below, Jacobian) or isinstance(below, Grad) and not below.value
        if name == "Jacobian" and is_first and _argument(below) == _argument(level):
            name, inner = "Hessian", inner.__wrapped__
            of = phrase(inner)
        respect = f"with respect to {_arguments(level, inner)}"
        return f"the {name} {respect} of {of}" if of.startswith("the ") else f"the {name} of {of} {respect}"
    if isinstance(level, Pushforward):
        return (
            f"the value of {of} and its derivative along tangents"
            if level.value
            else f"the derivative of {of} along tangents"
        )
    if isinstance(level, Pullback):
        return f"the product of a cotangent with the Jacobian of {of}"
    return of


def _argument(level: Any) -> tuple[Any, Any]:
    return level.argnums, level.argnames


def _arguments(level: Any, inner: Any) -> str:
    """The names of the arguments that a derivative is taken with respect to, joined by commas and "and"; ``argument 0`` for one
    whose name in ``inner`` is not known."""
    numbers, names = _argument(level)
    numbers = () if numbers is None else numbers if isinstance(numbers, tuple) else (numbers,)
    names = () if names is None else (names,) if isinstance(names, str) else names
    try:
        known = [p for p in inspect.signature(inner).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    except (TypeError, ValueError):
        known = []
    is_open = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in known)
    found = [known[k].name if not is_open and -len(known) <= k < len(known) else f"argument {k}" for k in numbers]
    return _listed([*found, *[n for n in names if n not in found]])


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), *parts[-1:]] if len(parts) > 1 else parts) or "no argument"
