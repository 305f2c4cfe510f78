"""The tests at the entry of a Numba kernel, as expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from transpile.codegen.entry_guard import Guard
from transpile.codegen.expression_nodes import LOAD, boolean, call, dotted, number, operator

MOST = 8  # tests in an expression


def tests(guard: Guard, parameters: Sequence[ast.expr]) -> list[ast.expr]:
    """Expressions over the parameters, each of which joins at most `MOST` tests by ``or``.

    The call does not fit the ``guard`` if one of them is true. Empty if the guard requires nothing.
    """
    every = [*_sizes(parameters, guard.ones)]
    every += [call(dotted("entry.share"), parameters[k], parameters[j]) for k, j in guard.pairs]
    parts = [every[k : k + MOST] for k in range(0, len(every), MOST)]
    return [part[0] if len(part) == 1 else boolean(ast.Or(), *part) for part in parts]


def _sizes(parameters: Sequence[ast.expr], ones: Sequence[Sequence[bool]]) -> Iterator[ast.expr]:
    """Yields the tests of sizes that are true for a wrong call: ``x.shape[k] != 1`` where a size must be 1, else ``== 1``."""
    for param, sizes in zip(parameters, ones):
        for axis, one in enumerate(sizes):
            size = ast.Subscript(ast.Attribute(param, "shape", LOAD), number(axis), LOAD)
            yield operator("!=" if one else "==", [size, number(1)])
