"""The stack of transforms of a command; for ``emit`` it is an expression, which is parsed and never evaluated.

>>> [type(level).__name__ for level in levels("jit(grad(f, argnums=(0, 1)))", ["loss"])]
['Jit', 'Grad']
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from transpile.aggregates import Tree
from transpile.base import options
from transpile.base.levels import Flat, Grad, Jacobian, Level, Stacked, Vmap
from transpile.command.asked import Asked
from transpile.driver.lane_lift import of_all_lanes
from transpile.errors import TranspileError, error

LATER = ("checkpoint", "remat", "scan", "cond", "pmap")
BY_CALL = {
    "linearize": "jvp",
    "linear_transpose": "vjp",
    "check_grads": "grad or jvp",
    "eval_shape": "grad or jvp",
}
HINT = "write it as in Python, with literals: 'jit(grad(f, argnums=(0, 1)))'"


def stacked(levels: Sequence[Level], function: Any) -> Any:
    """The function in one `Stacked` for each level, the first level outermost; nothing is transformed yet.

    Without levels it is the function itself.
    """
    for level in reversed(levels):
        function = Stacked(function, level)
    return function


def of_command(options: argparse.Namespace, argnums: Any) -> list[Level]:
    """The levels of a command that has the name of a transform, outermost first, with respect to ``argnums``."""
    command, value = options.command, getattr(options, "value", False)
    match command:
        case "vmap":
            axes = [_axes("--in-axes", options.in_axes), _axes("--out-axes", options.out_axes)]
            return list(_levels("vmap", [*axes, options.axis_name], {}))
        case "grad":
            return [Grad(argnums, value=value)]
        case "jvp" | "vjp":
            return [Flat(command == "jvp", argnums, value=value)]
        case "hvp":
            return [Flat(True, argnums), Grad(argnums)]
        case "hessian":
            return [Jacobian(True, argnums), Jacobian(False, argnums)]
    return [Jacobian(command == "jacfwd", argnums)]


def _axes(option: str, text: str) -> Any:
    """The value of the text of an option for axes, a Python literal; T901 if it is none."""
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        raise error(
            "T901", f"{option}: cannot read {text!r}", hint="write it as in Python: 0, None or (None, 0)"
        ) from None


def arguments(levels: Sequence[Level], asked: Asked) -> tuple[Sequence[Tree], Mapping[str, Tree]]:
    """The trees of the stack's arguments, positional and by keyword: those of the function, with a lane axis added for each
    `vmap`."""
    args, kwargs = asked.args, asked.kwargs
    for level in reversed(levels):
        if isinstance(level, Vmap):
            args, kwargs = of_all_lanes(level, args, kwargs)
    return args, kwargs


# ------------------------------------------------------------------------------------------------- an expression


def levels(text: str, names: Sequence[str]) -> list[Level]:
    """The levels, outermost first, of an expression such as ``jit(grad(f))`` over ``f`` or one of ``names``; T901 if it is
    invalid or has no transform."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise error("T901", f"cannot read the expression {text!r}", hint=HINT) from None
    found: list[Level] = []
    while isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in LATER:
            _refuse(f"{name!r} is not supported")
        if name in BY_CALL:
            _refuse(f"{name!r} takes values, so it cannot be emitted: emit {BY_CALL[name]}")
        if name not in TRANSFORMS:
            _refuse(
                f"{ast.unparse(node.func)!r} is not a transform; the transforms are {', '.join(sorted(TRANSFORMS))}"
            )
        if not node.args:
            _refuse(f"{name} needs a function")
        inner, *rest = node.args
        found += _levels(name, [_literal(a) for a in rest], {k.arg or "": _literal(k.value) for k in node.keywords})
        node = inner
    if not isinstance(node, ast.Name) or node.id not in ("f", *names):
        known = ", ".join(repr(n) for n in names)
        _refuse(f"{ast.unparse(node)!r} is not the function: write 'f', which stands for {known}")
    if not found:
        _refuse("the expression has no transform")
    return found


def _levels(name: str, args: list[Any], kwargs: dict[str, Any]) -> options.Levels:
    """The levels of one transform with these options; T901 if it does not take them."""
    try:
        return TRANSFORMS[name](*args, **kwargs)
    except TypeError as failed:
        _refuse(f"{name}: {failed}")
    except TranspileError as failed:
        _refuse(f"{name}: {failed.diagnostics[0].message}")


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        _refuse(f"{ast.unparse(node)!r} is not a literal")


def _refuse(message: str) -> NoReturn:
    raise error("T901", message, hint=HINT)


def _flat(forward: bool) -> Callable[..., options.Levels]:
    def made(argnums: Any = options.FIRST, argnames: Any = None, value: bool = False) -> options.Levels:
        return (Flat(forward, *options.which(argnums, argnames), value=value),)

    return made


def _hvp(argnums: Any = options.FIRST, argnames: Any = None) -> options.Levels:
    which = options.which(argnums, argnames)
    return (Flat(True, *which), Grad(*which))


TRANSFORMS: dict[str, Callable[..., options.Levels]] = {
    **options.BY_NAME,
    "jvp": _flat(True),
    "vjp": _flat(False),
    "hvp": _hvp,
}
