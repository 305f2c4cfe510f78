"""What a kernel asks before it does anything: whether the call is one that it was compiled for.

A size of 1 makes another specialisation, and compiled code takes its arrays for different ones. Inside compiled code such a test
takes no time that could be measured; in Python 30 ns for each array.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from transpile.codegen.numpy.place_nodes import dotted, number
from transpile.codegen.numpy.value_nodes import LOAD, boolean, call, operator

MOST = 8  # tests in a line


class Guard(NamedTuple):
    """For each parameter which of its sizes are 1 (none of a number), and the pairs that must not share memory."""

    ones: tuple[tuple[bool, ...], ...]
    pairs: tuple[tuple[int, int], ...]

    def tests(self, parameters: Sequence[ast.expr]) -> list[ast.expr]:
        """What is true of a call that the function was not compiled for, a few tests in each."""
        every = [*_sizes(parameters, self.ones)]
        every += [call(dotted("entry.share"), parameters[k], parameters[j]) for k, j in self.pairs]
        parts = [every[k : k + MOST] for k in range(0, len(every), MOST)]
        return [part[0] if len(part) == 1 else boolean(ast.Or(), *part) for part in parts]


def _sizes(parameters: Sequence[ast.expr], ones: Sequence[Sequence[bool]]) -> Iterator[ast.expr]:
    for param, sizes in zip(parameters, ones):
        for axis, one in enumerate(sizes):
            size = ast.Subscript(ast.Attribute(param, "shape", LOAD), number(axis), LOAD)
            yield operator("!=" if one else "==", [size, number(1)])
