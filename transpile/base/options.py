"""The options of a transform as levels, checked and normalised so that equal options compare equal.

>>> grad(argnums=[0, 1])
(Grad(argnames=None, argnums=(0, 1), has_aux=False, value=False),)
"""

from __future__ import annotations

import operator
from typing import Any

from transpile.base.axes import axes_tree
from transpile.base.levels import Grad, Jacobian, Jit, Level, Vmap
from transpile.errors import error

Levels = tuple[Level, ...]  # from the outside


class _First:
    def __repr__(self) -> str:
        return "0"


FIRST: Any = _First()  # the first argument, unless argnames are given


def grad(argnums: Any = FIRST, argnames: Any = None, has_aux: bool = False) -> Levels:
    return (Grad(*which(argnums, argnames), has_aux=has_aux),)


def value_and_grad(argnums: Any = FIRST, argnames: Any = None, has_aux: bool = False) -> Levels:
    return (Grad(*which(argnums, argnames), has_aux=has_aux, value=True),)


def jacfwd(argnums: Any = FIRST, argnames: Any = None, has_aux: bool = False) -> Levels:
    return (Jacobian(True, *which(argnums, argnames), has_aux=has_aux),)


def jacrev(argnums: Any = FIRST, argnames: Any = None, has_aux: bool = False) -> Levels:
    return (Jacobian(False, *which(argnums, argnames), has_aux=has_aux),)


def hessian(argnums: Any = FIRST, argnames: Any = None, has_aux: bool = False) -> Levels:
    return (*jacfwd(argnums, argnames, has_aux), *jacrev(argnums, argnames, has_aux))


def vmap(in_axes: Any = 0, out_axes: Any = 0, axis_name: Any = None, axis_size: int | None = None) -> Levels:
    """The level of `transpile.vmap`, alone in a tuple; T601 for a name that is not hashable, a size that is no int, or invalid
    axes."""
    try:
        hash(axis_name)
    except TypeError:
        hint = "use a string, or another value that can be a key of a dict"
        raise error("T601", f"axis_name is {axis_name!r}, which is not hashable", hint=hint) from None
    if axis_size is not None:
        axis_size = _index(axis_size, "axis_size")
    return (Vmap(axes_tree(in_axes, "in_axes"), axes_tree(out_axes, "out_axes"), axis_name, axis_size),)


def jit(
    target: str = "cpu",
    static_argnums: Any = (),
    static_argnames: Any = (),
    parallel: bool = False,
    fastmath: Any = ("contract", "reassoc"),
    cache: bool = True,
) -> Levels:
    """The level of `transpile.jit`, alone in a tuple, with flags sorted and static arguments as tuples; T505 for an unknown
    target or flag."""
    if target != "cpu":
        raise error("T505", f"unknown target {target!r}", hint="the only target is 'cpu'")
    several = isinstance(fastmath, (set, frozenset, tuple, list))
    unknown = sorted({str(flag) for flag in fastmath} - _FLAGS) if several else []
    if unknown or not several and not isinstance(fastmath, (bool, int)):
        hint = f"write True, False, or some of {', '.join(sorted(_FLAGS))}"
        raise error("T505", f"unknown fastmath={unknown or fastmath!r}", hint=hint)
    flags = tuple(sorted(fastmath)) if several else bool(fastmath)
    numbers = _numbers(() if static_argnums is None else static_argnums)
    names = _names(() if static_argnames is None else static_argnames)
    numbers = numbers if isinstance(numbers, tuple) else (numbers,)
    names = names if isinstance(names, tuple) else (names,)
    return (Jit(target, numbers, names, flags, parallel, cache),)


_FLAGS = frozenset("afn arcp contract fast nnan ninf nsz reassoc".split())
BY_NAME = {f.__name__: f for f in (grad, value_and_grad, jacfwd, jacrev, hessian, vmap, jit)}


def which(argnums: Any, argnames: Any) -> tuple[Any, Any]:
    """The normalised argnums (int, tuple or None; T306) and argnames. As in JAX, argnames alone mean only those; with neither,
    it is the first argument."""
    if argnums is FIRST:
        argnums = 0 if argnames is None else None
    return _numbers(argnums), _names(argnames)


def _numbers(argnums: Any) -> Any:
    if argnums is None:
        return None
    return tuple(map(_index, argnums)) if isinstance(argnums, (tuple, list)) else _index(argnums)


def _index(k: Any, what: str = "argnums") -> int:
    """``k`` as an int; if it is none, T306 for ``what`` "argnums", else T601."""
    try:
        return operator.index(k)
    except TypeError:
        if what == "argnums":
            shown, hint = repr(k), "argnums=0 is the first argument"
            if hasattr(k, "__array__"):
                shown, hint = "an array", "write grad(f)(x, x): pass the arguments to the function that grad returns"
            raise error("T306", f"argnums must be an int or a tuple of ints, not {shown}", hint=hint) from None
        raise error("T601", f"{what} must be an int, not {k!r}", hint="write the size of the batch") from None


def _names(argnames: Any) -> Any:
    return tuple(argnames) if isinstance(argnames, (tuple, list)) else argnames
