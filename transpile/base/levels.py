"""The levels of a stack of transforms, as data: their options. `transpile.driver.lifts` lifts them.

These are plain classes, not dataclasses, and import nothing: a process that finds its compiled code on disk makes levels, but
lifts none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import MethodType
from typing import Any

Lift = Callable[..., Any]  # (target, trees of its arguments) -> core function
Numbers = int | tuple[int, ...] | None
Names = str | tuple[str, ...] | None
COMPILED: ContextVar[bool] = ContextVar("compiled", default=False)  # whether the function now lifted will be compiled


class Level:
    """The identity: the function itself, as generated code. All levels are hashable, and equal if their options are."""

    __slots__: tuple[str, ...] = ()
    suffix = ""
    is_derivative = False
    is_plain = True  # whether the result has the signature of the function

    @property
    def options(self) -> tuple[Any, ...]:
        """The values of its options, in the order of ``__slots__`` (by name)."""
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.options == self.options

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.options))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in zip(self.__slots__, self.options))
        return f"{type(self).__name__}({shown})"


class Jit(Level):
    """Compilation to machine code; the core is that of the wrapped function."""

    __slots__ = ("cache", "fastmath", "parallel", "static_argnames", "static_argnums", "target")
    suffix = "jit"

    def __init__(
        self,
        target: str = "cpu",
        static_argnums: tuple[int, ...] = (),
        static_argnames: tuple[str, ...] = (),
        fastmath: Any = ("contract", "reassoc"),
        parallel: bool = False,
        cache: bool = True,
    ) -> None:
        self.target, self.static_argnums, self.static_argnames = target, static_argnums, static_argnames
        self.fastmath, self.parallel, self.cache = fastmath, parallel, cache


class Grad(Level):
    """The gradient of a scalar function; with ``value`` the pair of value and gradient."""

    __slots__ = ("argnames", "argnums", "has_aux", "value")
    suffix = "grad"
    is_derivative, is_plain = True, False

    def __init__(
        self, argnums: Numbers = 0, argnames: Names = None, has_aux: bool = False, value: bool = False
    ) -> None:
        self.argnums, self.argnames, self.has_aux, self.value = argnums, argnames, has_aux, value


class Pushforward(Level):
    """``(primals, tangents) -> (value, tangent)``; with ``value`` False the tangent alone.

    The tangent of an integer argument is not read; that of an integer result is None.
    """

    __slots__ = ("value",)
    suffix = "jvp"
    is_derivative, is_plain = True, False

    def __init__(self, value: bool = True) -> None:
        self.value = value


class Pullback(Level):
    """``(primals, cotangent) -> adjoints``, one for each primal; None for primals that are not of floating point."""

    __slots__ = ("has_aux",)
    suffix = "vjp"
    is_derivative, is_plain = True, False

    def __init__(self, has_aux: bool = False) -> None:
        self.has_aux = has_aux


class Transpose(Pullback):
    """``(primals, cotangent) -> cotangents`` for a function that is linear in its primals; these are not read."""

    __slots__ = ()
    suffix = "transpose"


class Jacobian(Level):
    """The Jacobian by a loop over directions: with ``forward`` those of the arguments, else those of the results."""

    __slots__ = ("argnames", "argnums", "forward", "has_aux")
    suffix = "jac"
    is_derivative, is_plain = True, False

    def __init__(self, forward: bool, argnums: Numbers = 0, argnames: Names = None, has_aux: bool = False) -> None:
        self.forward, self.argnums, self.argnames, self.has_aux = forward, argnums, argnames, has_aux


class Flat(Level):
    """``f_jvp(x, y, x_dot)`` or ``f_vjp(x, y, z_bar)``: the signature in an emitted module, without tuples around the
    arguments."""

    __slots__ = ("argnames", "argnums", "forward", "value")
    is_derivative, is_plain = True, False

    def __init__(self, forward: bool = True, argnums: Numbers = 0, argnames: Names = None, value: bool = False) -> None:
        self.forward, self.argnums, self.argnames, self.value = forward, argnums, argnames, value


class Vmap(Level):
    """The function of all lanes. ``in_axes`` and ``out_axes`` are trees of axes (`transpile.base.axes`)."""

    __slots__ = ("axis_name", "axis_size", "in_axes", "out_axes")
    suffix = "vmap"
    is_plain = False

    def __init__(self, in_axes: Any, out_axes: Any, axis_name: Any = None, axis_size: int | None = None) -> None:
        self.in_axes, self.out_axes, self.axis_name, self.axis_size = in_axes, out_axes, axis_name, axis_size


# ------------------------------------------------------------------------------------------------------- stacks


class Stacked:
    """A function under one more transform, as data: for functions that are not called but occur in code that is lifted."""

    __slots__ = ("__name__", "__qualname__", "__transpile_level__", "__wrapped__")

    def __init__(self, function: Any, level: Level) -> None:
        self.__wrapped__ = function
        self.__transpile_level__ = level
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "function")

    def __repr__(self) -> str:
        inner = self.__wrapped__ if isinstance(self.__wrapped__, Stacked) else self.__name__
        return f"{type(self.__transpile_level__).__name__} of {inner}"


def level_of(target: Any) -> Level | None:
    """The transform of a transformed function, or of a method that is one; None for anything else, even an object that answers
    to every attribute name."""
    held = target.__func__ if isinstance(target, MethodType) else target
    # looked up on the class: a __getattr__ of the user's may raise anything for a name that it does not know
    level = getattr(held, "__transpile_level__", None) if hasattr(type(held), "__transpile_level__") else None
    return level if isinstance(level, Level) else None


def is_derivative(target: Any) -> bool:
    """True if any level of the stack of transforms ``target`` differentiates; False for a plain function."""
    while (level := level_of(target)) is not None:
        if level.is_derivative:
            return True
        target = target.__wrapped__
    return False


def may_write(target: Any) -> bool:
    """True if a call of the stack may write into the caller's arguments: if it has a `Jit` and no derivative, which would pass
    copies, or a `Vmap` inside all derivatives, for arguments that the lanes share."""
    levels, _ = peeled(target)
    last = max((k for k, level in enumerate(levels) if level.is_derivative), default=-1)
    return any(isinstance(level, Vmap) or last < 0 and isinstance(level, Jit) for level in levels[last + 1 :])


def jit_level(target: Any) -> Any:
    """The outermost `Jit` of the stack, at any depth, or None."""
    while (level := level_of(target)) is not None:
        if isinstance(level, Jit):
            return level
        target = target.__wrapped__
    return None


def peeled(target: Any) -> tuple[list[Level], Any]:
    """The levels of the stack, from the outside in, and the function under all of them. A method ends the stack."""
    levels: list[Level] = []
    while not isinstance(target, MethodType) and (level := level_of(target)) is not None:
        levels.append(level)
        target = target.__wrapped__
    return levels, target
