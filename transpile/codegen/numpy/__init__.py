"""From core to Python source that runs with NumPy.

In: a core function. Out: `Rendered`, the text of a module with one function, and the user's line of each of its lines. Must not:
change the function it is given, or know what a primitive computes beyond its spelling.

The steps, each a module: `canonical_form` (loops count their trips as a carried value), `implicit_casts` (casts and broadcasts that
NumPy does itself go), `printed_shapes` (how sizes are said), `copy_elision` (which copies are needed), `expression_trees` (what is
written inside what), `variable_names`, `printable_form` (all that, and what is computed in place); then `printed_statements`
over `value_nodes` and `place_nodes`, `printed_module` (header, imports); the text is made by `printer`, `wrapping` and `layout` of
`transpile.codegen`.
"""

from __future__ import annotations

from collections.abc import Sequence

from transpile.codegen.numpy.printed_module import render_function, render_functions
from transpile.codegen.rendered import Rendered
from transpile.core import nodes as ir

__all__ = ["Rendered", "render", "render_module"]


def render(fn: ir.Function, *, runtime: bool = True) -> Rendered:
    """The module text of ``fn``; with ``runtime=False`` a spelling that needs the package ``transpile_runtime`` is an error."""
    return render_function(fn, runtime)


def render_module(fns: Sequence[ir.Function], *, runtime: bool = True) -> Rendered:
    """One module with several functions, whose names and those of what they keep differ.

    With ``runtime=False`` it imports of ``transpile_runtime`` only what `transpile.codegen.numba.standalone.copied` puts in it.
    """
    return render_functions(fns, runtime)
