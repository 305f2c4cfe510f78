"""Default values of arguments in the header of a printed function."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from transpile.aggregates import UNSET, ArgSpec, Leaf, Node, Static, Tree
from transpile.codegen.templates import literal
from transpile.core import nodes as ir

_PLAIN = (type(None), bool, int, float, str)
_NUMBERS = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}  # by the kind of the parameter's dtype


def default_texts(fn: ir.Function) -> dict[str, str]:
    """Maps argument names to the texts of their default values, for those that the header of the printed function can have.

    Only literals of the types that the function was specialised for are kept, and no argument with a default stands before one
    that must be passed.
    """
    specs = list(fn.arg_tree or ())
    named = next(
        (k for k, spec in enumerate(specs) if spec.kind in ("kw", "varpos")), len(specs)
    )  # arguments from here on are passed by name only
    found = {spec.name: _text(spec.default) for spec in specs[named:] if spec.kind in ("kw", "pos") and _fits(fn, spec)}
    if named < len(specs) or not fn.captured:  # captured values are the last parameters
        for spec in reversed(specs[:named]):
            if not _fits(fn, spec):
                break
            found[spec.name] = _text(spec.default)
    return found


def _fits(fn: ir.Function, spec: ArgSpec) -> bool:
    """Whether the argument has a default of the structure and types that the printed function was specialised for."""
    return spec.default is not UNSET and _is_like(fn, spec.tree, spec.default)


def _is_like(fn: ir.Function, tree: Tree, value: Any) -> bool:
    """Whether ``value`` is a literal with the structure ``tree``, and its numbers have the kinds of the parameters of ``fn``.

    Only tuples, scalars and static values can be: an array, list or dict is False.
    """
    if isinstance(tree, Static):
        return _is_plain(value) and tree == Static(value)
    if isinstance(tree, Leaf):
        type_ = fn.params[tree.k].type
        return not type_.dims and type(_python(value)) in _NUMBERS.get(np.dtype(type_.dtype).kind, ())
    if not isinstance(tree, Node) or tree.kind != "tuple" or type(value) is not tuple:
        return False
    return len(value) == len(tree.children) and all(_is_like(fn, t, v) for t, v in zip(tree.children, value))


def _is_plain(value: Any) -> bool:
    """Whether the value is None, a bool, an int, a float or a str, or a tuple of such values."""
    return all(map(_is_plain, value)) if type(value) is tuple else type(value) in _PLAIN


def _python(value: Any) -> Any:
    """The value; a NumPy scalar as the Python number it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    """The Python source of a plain value or a tuple of these; infinity and NaN become ``float("inf")``, ``float("nan")``."""
    if type(value) is tuple:
        return f"({', '.join(map(_text, value))}{',' * (len(value) == 1)})"
    value = _python(value)
    if type(value) is float and value - value != 0.0:  # infinity or NaN has no literal
        return f'float("{value}")'
    return ast.unparse(literal(value))
