"""Prints array core as Python source that runs with NumPy.

In: a core function. Out: `Rendered`, the text of a module with one function, and the user's line for each of its lines. Must
not: change the given function, or know more of a primitive than its spelling.

The steps, each a module: `canonical_form` (iterations counted by a carried value), `implicit_casts` (removes casts and
broadcasts that NumPy does itself), `printed_shapes` (spelling of shapes), `copy_elision` (removes unneeded copies),
`expression_trees` (nests expressions), `variable_names`, `printable_form` (all of these, and updates in place); then
`printed_statements` over `value_nodes` and `place_nodes`, `printed_module` (header, imports); `printer`, `wrapping` and
`layout` of `transpile.codegen` make the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.codegen.numpy.printed_module import render_function, render_functions
from transpile.codegen.rendered import Rendered
from transpile.core import nodes as ir

__all__ = ["Rendered", "render", "render_module"]


def render(fn: ir.Function, *, runtime: bool = True) -> Rendered:
    """The module text of ``fn`` and its kept functions.

    With ``runtime=False`` a spelling that needs the package ``transpile_runtime``, its module `random` aside, is a ValueError.
    """
    return render_function(fn, runtime)


def render_module(fns: Sequence[ir.Function], *, runtime: bool = True) -> Rendered:
    """The text of one module with several functions, whose names and those of their kept functions differ.

    With ``runtime=False`` it imports from ``transpile_runtime`` only what `transpile.codegen.numba.standalone.copied` copies
    into it.
    """
    return render_functions(fns, runtime)
