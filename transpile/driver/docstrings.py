"""The docstrings of generated functions: the derivative, its type, and the types of the arguments."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import Any

from transpile.aggregates import Tree, structure_text
from transpile.core import nodes as ir
from transpile.frontend.resolve.bindings import StaticClass

WIDTH = 92


def gradient(core: ir.Function, chosen: Sequence[tuple[str, Tree]], value: bool) -> str:
    """The docstring of a gradient by the ``chosen`` arguments, pairs of name and tree.

    As in ``d loss / d w: float64[d], for w: float64[d], x: float64[n, d].``; with ``value`` it begins ``loss and d loss / d
    w``.
    """
    parts = [f"d {core.name} / d {name}: {types(core, tree)}" for name, tree in chosen]
    lead = f"{core.name} and " if value else ""
    return finish(f"{lead}{listed(parts)}, for {arguments(core)}.")


def pushforward(core: ir.Function, names: Sequence[str], value: bool) -> str:
    """The docstring of a pushforward along the parameters ``names``; with ``value`` it also says that the function's value is
    returned."""
    lead = f"{core.name} and its" if value else f"The derivative of {core.name}"
    text = f"{lead} derivative along " if value else f"{lead} along "
    return finish(f"{text}{listed([f'{n}_dot' for n in names])}, for {arguments(core)}.")


def pullback(core: ir.Function, names: Sequence[str], value: bool) -> str:
    """The docstring of a pullback to the parameters ``names``; with ``value`` it also says that the function's value is
    returned."""
    lead = f"{core.name} and the adjoints" if value else "The adjoints"
    return finish(f"{lead} of {listed(list(names))} in {core.name}, for {arguments(core)}.")


def jacobian(core: ir.Function, chosen: Sequence[tuple[str, Tree]]) -> str:
    parts = [f"d {core.name} / d {name}" for name, _ in chosen]
    return finish(f"The Jacobian {listed(parts)}, for {arguments(core)}.")


def hessian(core: ir.Function, chosen: Sequence[tuple[str, Tree]]) -> str:
    return finish(f"The Hessian of {core.name} in {listed([name for name, _ in chosen])}, for {arguments(core)}.")


def batched(core: ir.Function, done: ir.Function) -> str:
    """The docstring of ``done``, the batched ``core``: ``loss_grad of each lane: float64[batch, d], for w: float64[d], x:
    float64[batch, d].``"""
    leaves = {k: str(y.type) for k, y in enumerate(done.body.yields)}
    result = structure_text(done.out_tree, lambda leaf: leaves[leaf.k])
    return finish(f"{core.name} of each lane: {result}, for {arguments(done)}.")


def listed(parts: Sequence[str]) -> str:
    """The parts as a list in English: ``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def arguments(core: ir.Function) -> str:
    return ", ".join(f"{spec.name}: {types(core, spec.tree)}" for spec in core.arg_tree)


def types(core: ir.Function, tree: Tree) -> str:
    """The text of a structure with the type of the parameter of ``core`` in the place of each leaf."""
    return structure_text(tree, lambda leaf: str(core.params[leaf.k].type), _static)


def _static(value: Any) -> str:
    """The text of a static value, or the name of its class."""
    if isinstance(value, (type, StaticClass)):
        return f"type[{value.__name__}]"
    return repr(value) if isinstance(value, (str, int, float, type(None))) else type(value).__name__


def finish(text: str) -> str:
    """The text with backslashes and triple quotes replaced, wrapped to lines that fit after four spaces; of several lines, each
    but the first is indented."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if len(text) + 10 <= WIDTH + 8:
        return text
    kept = _TYPED.sub(lambda found: found[0].replace(" ", "\0"), text)
    lines = textwrap.wrap(kept, WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n    ".join(lines).replace("\0", " ") + "\n    "


_TYPED = re.compile(r"(\w+: )?\w+\[[^\[\]]*\]|\w+: \w+")  # not broken across lines: ``x: float64[n, d]``
