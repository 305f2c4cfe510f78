"""A result that the caller of compiled code makes: `transpile.codegen.results_passed_in`."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """Result number ``result`` is an array that the caller makes. A size is a number, or (parameter, axis)."""

    result: int
    dtype: str
    sizes: tuple[int | tuple[int, int], ...]
