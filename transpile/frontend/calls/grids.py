"""``np.r_[...]``, ``np.c_[...]``, ``np.mgrid[...]``, ``np.ogrid[...]``, ``np.s_[...]``: what NumPy says by subscripts.

The parts are read as they are written, since the step of a slice may be a number of points (``0:1:5j``); what they make together
is plain Python (`transpile.numpy_api.library_numpy`). Slices as places of ``np.insert`` and ``np.delete`` are here, too.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from transpile.frontend.calls import library_calls
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.values.values import SliceOf, Static, Tuple

_INDICES = ("numpy.s_", "numpy.index_exp")  # that give what stands in the brackets
NAMES = ("numpy.r_", "numpy.c_", "numpy.mgrid", "numpy.ogrid", *_INDICES)
_OBJECTS = {id(getattr(np, name.removeprefix("numpy."))): name for name in NAMES}
_JOINS = {"numpy.r_": (0, 1, -1), "numpy.c_": (-1, 2, 0)}  # the axis, the rank at least, where an array of rank 1 goes


def name_of(value: Any) -> str | None:
    """Which of them a value is; None if it is none."""
    held = value.value if isinstance(value, Static) else None
    if isinstance(held, Known):
        return held.name if held.name in NAMES else None
    return _OBJECTS.get(id(held))


def read(lx: Lifter, name: str, index: gast.expr, node: Any) -> Any:
    """What ``index`` gives."""
    if name in _INDICES:
        given = lx.expr(index)
        return given if name == "numpy.s_" or isinstance(given, Tuple) else Tuple((given,))
    parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    if name in _JOINS:
        axis, least, place = _JOINS[name]
        if isinstance(parts[0], gast.Constant) and isinstance(parts[0].value, str):
            axis, least, place = _said(lx, parts.pop(0), least, place)
        made = Tuple(tuple(_part(lx, p) for p in parts))
        return _made(lx, "joined", [made, lx.const(axis), lx.const(least), lx.const(place)], node)
    for part in parts:
        if not isinstance(part, gast.Slice):
            raise lx.error(
                "T207", f"{name.replace('numpy', 'np')} takes slices", part, "write start:stop:step for each axis"
            )
    axes = [_part(lx, p) for p in parts]
    if not isinstance(index, gast.Tuple):
        return axes[0]
    return _made(lx, name.removeprefix("numpy."), [Tuple(tuple(axes))], node)


def _made(lx: Lifter, function: str, args: list[Any], node: Any) -> Any:
    return library_calls.call(lx, f"library_numpy:{function}", args, {}, node)


def _said(lx: Lifter, node: gast.Constant, least: int, place: int) -> tuple[int, int, int]:
    """The axis, and what else ``np.r_["axis,rank,place", ...]`` says."""
    try:
        axis, *more = [int(n) for n in node.value.split(",")]
        least, place = ([*more, *(least, place)[len(more) :]])[:2]
        return axis, least, place
    except ValueError:
        hint = "write the axis as a number: np.r_['1', a, b]"
        raise lx.error("T207", f"np.r_ with {node.value!r} is not supported", node, hint) from None


def _part(lx: Lifter, node: gast.expr) -> Any:
    """An array or a number; of a slice its numbers, or as many points as its imaginary step says."""
    if not isinstance(node, gast.Slice):
        return lx.expr(node)
    start = lx.const(0) if node.lower is None else lx.expr(node.lower)
    if node.upper is None:
        raise lx.error("T207", "this slice needs an end", node, "write start:stop:step")
    stop = lx.expr(node.upper)
    if isinstance(node.step, gast.Constant) and isinstance(node.step.value, complex):
        many = lx.const(int(abs(node.step.value)))
        return lx.known_call("numpy.linspace", [start, stop, many], {}, node)
    step = lx.const(1) if node.step is None else lx.expr(node.step)
    return lx.known_call("numpy.arange", [start, stop, step], {}, node)


def places(lx: Lifter, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> list[Any]:
    """The arguments of ``np.insert`` and ``np.delete`` with the places that a slice stands for."""
    if len(args) < 2 or not isinstance(args[1], SliceOf):
        return args
    at = 3 if name == "numpy.insert" else 2
    axis = args[at] if len(args) > at else kwargs.get("axis", Static(None))
    if isinstance(axis, Static) and axis.value is None:
        size = lx.attribute(args[0], "size", node)
    else:
        size = lx.attribute(args[0], "shape", node).items[lx.static(axis, "axis", node)]
    every = lx.known_call("numpy.arange", [size], {}, node)
    return [args[0], lx.item(every, args[1], node), *args[2:]]
