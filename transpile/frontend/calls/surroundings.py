"""What a function of the user's reads of the functions around it, kept as it is now: a pullback is of the function that ``vjp`` was
given, whatever becomes of these names afterwards.

    k = 2.0; y, pull = vjp(lambda v: v * k, x); k = 3.0; pull(1.0)        # 2.0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from transpile.base.levels import peeled
from transpile.custom import RULES, Custom
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import closure_conversion, name_lookup
from transpile.frontend.sources.name_liveness import loads
from transpile.frontend.state import Frame
from transpile.frontend.values.parts import parts
from transpile.frontend.values.values import Closure, Maybe, Ref, Static

Key = tuple[Frame, str]


def of(lx: Lifter, function: Any) -> dict[Key, Any]:
    """The names that a function, and those that it may call, read of the functions around, and what they stand for."""
    found: dict[Key, Any] = {}
    rest, seen = [function], set()
    while rest:
        value = rest.pop()
        if isinstance(value, Ref):
            if value.cell not in seen:
                seen.add(value.cell)
                rest += lx.state.cells[value.cell].items
            continue
        rest += _within(value)
        for name in sorted(loads(value.code.node)) if isinstance(value, Closure) else ():
            frame = name_lookup.scope(lx, value.frame, name)
            held = None if frame is None else closure_conversion.now(lx, frame, name)
            held = held.value if isinstance(held, Maybe) else held
            if frame is not None and held is not None and (frame, name) not in found:
                found[frame, name] = held
                rest.append(held)
    return found


def _within(value: Any) -> Iterable[Any]:
    """The values that a value is made of; one with a derivative of its own is made of its rules."""
    inner = peeled(value.value)[1] if isinstance(value, Static) else None
    if isinstance(inner, Custom):
        return [Static(getattr(inner, name, None)) for name in ("__wrapped__", *RULES)]
    return parts(value)


@dataclass(frozen=True)
class Holding:
    """What is called with such names as they were: their values are among its arguments."""

    keys: tuple[Key, ...]


@contextmanager
def kept(lx: Lifter, keys: Sequence[Key], values: Sequence[Any]) -> Iterator[None]:
    """Names stand for what they stood for."""
    state = lx.state
    before = {key: state.vars.get(key) for key in keys}
    state.vars.update(zip(keys, values))
    try:
        yield
    finally:
        for key, value in before.items():
            state.vars[key] = value
            if value is None:
                del state.vars[key]
