"""The names of axes that `transpile.vmap` gives, while the function under it is lifted: what collectives (`transpile.lax`) mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from transpile.errors import error

HINT = "vmap(f, axis_name=...) gives an axis a name"


class NamedAxis:
    """The lanes of one `vmap`: of ``size`` many in the example, if there is one; ``fixed`` if there are always as many.

    In the function of a lane it is a hidden parameter, an array with one entry for each lane, that only collectives have.
    """

    __slots__ = ("fixed", "name", "size")

    def __init__(self, name: Hashable, size: int | None, fixed: bool = False) -> None:
        self.name, self.size, self.fixed = name, size, fixed

    @property
    def label(self) -> str:
        """What the size is called."""
        name = self.name
        return name if isinstance(name, str) and name.isidentifier() and len(name) > 1 else "batch"


_bound: ContextVar[tuple[NamedAxis, ...]] = ContextVar("axes", default=())


def bound() -> tuple[NamedAxis, ...]:
    """The axes that have names here, the innermost last."""
    return _bound.get()


@contextmanager
def binding(axis: NamedAxis | None) -> Iterator[None]:
    """The axis has its name inside."""
    token = _bound.set((*_bound.get(), axis) if axis is not None else _bound.get())
    try:
        yield
    finally:
        _bound.reset(token)


def unbound(name: Any, known: tuple[NamedAxis, ...] = ()) -> tuple[str, str]:
    """What is said of a name that no axis has, and the way out."""
    names = ", ".join(repr(a.name) for a in known)
    return f"no axis is named {name!r} here", f"{HINT}; those of this place are {names}" if names else HINT


def failed(name: Any) -> Exception:
    """The error of a collective in a plain run, where no axis has a name."""
    message, hint = unbound(name)
    return error("T604", message, hint=hint)
