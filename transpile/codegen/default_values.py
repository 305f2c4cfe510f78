"""The default values of arguments, as they stand in the header of a printed function."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from transpile.aggregates import UNSET, ArgSpec, Leaf, Node, Static, Tree
from transpile.codegen.templates import literal
from transpile.core import nodes as ir

_PLAIN = (type(None), bool, int, float, str)
_NUMBERS = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}  # by the kind of what an argument is


def default_texts(fn: ir.Function) -> dict[str, str]:
    """The default values by the names of their arguments: of those that are literals, and behind which nothing must be given."""
    specs = list(fn.arg_tree or ())
    named = next(
        (k for k, spec in enumerate(specs) if spec.kind in ("kw", "varpos")), len(specs)
    )  # from here on by name only
    found = {spec.name: _text(spec.default) for spec in specs[named:] if spec.kind in ("kw", "pos") and _fits(fn, spec)}
    if named < len(specs) or not fn.captured:  # which come last
        for spec in reversed(specs[:named]):
            if not _fits(fn, spec):
                break
            found[spec.name] = _text(spec.default)
    return found


def _fits(fn: ir.Function, spec: ArgSpec) -> bool:
    """Whether the printed function takes the default for what it was made for."""
    return spec.default is not UNSET and _is_like(fn, spec.tree, spec.default)


def _is_like(fn: ir.Function, tree: Tree, value: Any) -> bool:
    """Whether a value is a literal with this structure, of the types of the parameters."""
    if isinstance(tree, Static):
        return _is_plain(value) and tree == Static(value)
    if isinstance(tree, Leaf):
        type_ = fn.params[tree.k].type
        return not type_.dims and type(_python(value)) in _NUMBERS.get(np.dtype(type_.dtype).kind, ())
    if not isinstance(tree, Node) or tree.kind != "tuple" or type(value) is not tuple:
        return False
    return len(value) == len(tree.children) and all(_is_like(fn, t, v) for t, v in zip(tree.children, value))


def _is_plain(value: Any) -> bool:
    return all(map(_is_plain, value)) if type(value) is tuple else type(value) in _PLAIN


def _python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    if type(value) is tuple:
        return f"({', '.join(map(_text, value))}{',' * (len(value) == 1)})"
    value = _python(value)
    if type(value) is float and value - value != 0.0:  # infinite, or none: there is no literal of it
        return f'float("{value}")'
    return ast.unparse(literal(value))
