"""Spellings that depend on the params of a primitive, as templates.

A template is Python text over ``{0}``, ``{1}``: the operands. The renderer parses it once and inserts the nodes of the
operands, so nothing is printed and parsed again.

>>> with_keywords("np.tril({0})", k=0).choose({"k": -1}, [])
'np.tril({0}, k=-1)'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from transpile.core.types import Type

PLAIN = ("float64", "int64", "bool")  # dtypes that NumPy gives to Python literals


class Form(Enum):
    """A printed form that needs more than operands and params: places, sizes or dtypes. The printer has one rule for each."""

    PLACE = "its operand, subscripted"
    CONVERSION = "in another dtype"
    FILLED = "memory of a size that holds a number"
    UNWRITTEN = "memory of a size"
    SPREAD = "its operand in a larger size"
    RESHAPED = "its operand in another size"
    TURNED = "its operand with its axes in another order"
    COPIED = "its operand in memory of its own"
    LENGTH = "how many numbers a range has"
    ITEM = "one of several results"
    KEYS = "keys, as many as a size says"
    DRAWN = "numbers of a key, as many as a size says"


class Spelling:
    """A spelling chosen by params and operand types; ``says_dtype``: the text gives the dtype of the operands, so they may be
    plain numbers."""

    def __init__(self, choose: Callable[[Mapping[str, Any], Sequence[Type]], str], says_dtype: bool = False) -> None:
        self.choose, self.says_dtype = choose, says_dtype


def keywords(params: Mapping[str, Any], **defaults: Any) -> str:
    """The text ``, name=value`` for each param that differs from NumPy's default, given in ``defaults``; may be empty."""
    return "".join(f", {k}={_text(params[k])}" for k, default in defaults.items() if params.get(k, default) != default)


def _text(value: Any) -> str:
    """The value as Python text; infinities and NaN, which have no literal, as ``np.inf`` and ``np.nan``."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"-np.{-value}" if value < 0 else f"np.{value}"
    return repr(value)


def with_value(call: str) -> Spelling:
    """The spelling ``call`` with the param ``value`` in place of ``{value}``.

    >>> with_value("np.full_like({0}, {value})").choose({"value": math.inf}, [])
    'np.full_like({0}, np.inf)'
    """
    return Spelling(lambda params, types: call.replace("{value}", _text(params["value"])))


def with_keywords(call: str, **defaults: Any) -> Spelling:
    """The spelling ``np.f({0})`` (``call``) with a keyword for each param that differs from NumPy's default, given in
    ``defaults``."""
    return Spelling(lambda params, types: f"{call[:-1]}{keywords(params, **defaults)})")


def on_last_axis(call: str, **defaults: Any) -> Spelling:
    """As `with_keywords`, also with ``axis``, left out if it is the last one."""
    return Spelling(lambda params, types: f"{call[:-1]}{keywords(params, axis=types[0].rank - 1, **defaults)})")


def sequence(count: int, start: int = 0) -> str:
    """The text of a tuple of ``count`` operands, from operand ``start`` on: ``({0}, {1})``."""
    inner = ", ".join(f"{{{k}}}" for k in range(start, start + count))
    return f"({inner},)" if count == 1 else f"({inner})"


def axes_of(params: Mapping[str, Any], types: Sequence[Type]) -> Any:
    """The ``axis`` argument for ``params["axes"]``: None (all), a number or a tuple."""
    axes = tuple(params["axes"])
    if axes == tuple(range(types[0].rank)):
        return None
    return axes[0] if len(axes) == 1 else axes


def reduction(call: str, **defaults: Any) -> Spelling:
    """``np.f({0}, axis=..., keepdims=...)`` for a primitive with ``axes`` and ``keepdims``; further params as keywords."""

    def choose(params: Mapping[str, Any], types: Sequence[Type]) -> str:
        axis = axes_of(params, types)
        text = "" if axis is None else f", axis={axis}"
        text += keywords(params, **defaults)
        return f"{call}({{0}}{text}{', keepdims=True' if params.get('keepdims') else ''})"

    return Spelling(choose)
