"""The axis names that `transpile.vmap` gives, known while the function below it is lifted: collectives (`transpile.lax`) refer
to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from transpile.errors import error

HINT = "name the batch axis: vmap(f, axis_name=...)"


class NamedAxis:
    """The lanes of one `vmap`; ``size`` is their number in the example, if there is one, and ``fixed`` says that it never
    changes.

    In the function of a lane it is a hidden parameter, an array with one element for each lane, which only collectives take.
    """

    __slots__ = ("fixed", "name", "size")

    def __init__(self, name: Hashable, size: int | None, fixed: bool = False) -> None:
        self.name, self.size, self.fixed = name, size, fixed

    @property
    def label(self) -> str:
        """The name of the symbol for the number of lanes: the axis's own if it is an identifier of two or more characters, else
        "batch"."""
        name = self.name
        return name if isinstance(name, str) and name.isidentifier() and len(name) > 1 else "batch"


_bound: ContextVar[tuple[NamedAxis, ...]] = ContextVar("axes", default=())


def bound() -> tuple[NamedAxis, ...]:
    """The named axes in scope, the innermost last."""
    return _bound.get()


@contextmanager
def binding(axis: NamedAxis | None) -> Iterator[None]:
    """A context in which ``axis`` is the innermost of the axes in `bound`; with None nothing changes."""
    token = _bound.set((*_bound.get(), axis) if axis is not None else _bound.get())
    try:
        yield
    finally:
        _bound.reset(token)


def unbound(name: Any, known: tuple[NamedAxis, ...] = ()) -> tuple[str, str]:
    """The message and hint of the error about a name that no axis has; ``known``: the axes that have names there."""
    names = ", ".join(repr(a.name) for a in known)
    return f"no axis is named {name!r} here", f"{HINT}; the names here are {names}" if names else HINT


def failed(name: Any) -> Exception:
    """The T604 error (not raised here) of a collective in a plain run, where no axis has a name."""
    message, hint = unbound(name)
    return error("T604", message, hint=hint)
