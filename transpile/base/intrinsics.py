"""Functions that the frontend knows by name: our own lifted source calls them for tasks that plain Python cannot do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from transpile.aggregates import flatten, unflatten

T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """``x``, treated as a constant by every derivative; an array or container is a copy, which may be written.

    >>> import transpile as tp
    >>> tp.grad(lambda x: x * tp.stop_gradient(x))(3.0)
    3.0
    """
    if isinstance(x, (int, float)):
        return x
    leaves, tree = flatten(x)
    copied: T = unflatten(tree, [np.array(v, subok=True) if isinstance(v, np.ndarray) else v for v in leaves])
    return copied


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Stands for `transpile.jvp` in source that is only lifted; NotImplementedError if it runs."""
    raise NotImplementedError


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Stands for `transpile.vjp` in source that is only lifted; NotImplementedError if it runs."""
    raise NotImplementedError
