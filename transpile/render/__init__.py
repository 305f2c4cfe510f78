"""From core to Python source that runs with NumPy.

In: a core function. Out: `Rendered`, the text of a module with one function, and the user's line of each of its lines. Must not:
change the function it is given, or know what a primitive computes beyond its spelling.

The steps, each a module: `normal` (loops count their trips as a carried value), `implicit` (casts and broadcasts that NumPy does
itself go), `shapes` (how sizes are said), `copies` (which copies are needed), `nesting` (what is written inside what), `names`
(variables), `statements` over `expressions` and `places` (nodes), `printer` and `layout` (text), `module` (header, imports).
"""

from __future__ import annotations

from transpile.core.nodes import Function
from transpile.render.module import Rendered, render_function

__all__ = ["Rendered", "render"]


def render(fn: Function, *, runtime: bool = True) -> Rendered:
    """The module text of ``fn``; with ``runtime=False`` a spelling that needs the package ``transpile_runtime`` is an error."""
    return render_function(fn, runtime)
