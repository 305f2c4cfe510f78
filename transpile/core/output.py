"""The description of a result array that the caller of compiled code allocates (`transpile.codegen.results_passed_in`)."""

from __future__ import annotations

from typing import NamedTuple


class Output(NamedTuple):
    """Result number ``result`` is an array that the caller allocates. Each size is a number, or the (parameter, axis) that has
    it."""

    result: int
    dtype: str
    sizes: tuple[int | tuple[int, int], ...]
