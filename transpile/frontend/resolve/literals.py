"""Literal expressions of a file that is not executed: what keeps one from being literal, and its value.

A literal is built from numbers, strings, containers, arithmetic, other literal constants of the module, constants
such as ``math.pi``, and calls of a few pure functions of NumPy, math and Python. Everything else is refused with
T406.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import gast
import numpy as np

from transpile.errors import TranspileError
from transpile.frontend.resolve.bindings import Binding, Known, Literal, StaticValue
from transpile.frontend.resolve.static_file import StaticFile, StaticScope
from transpile.frontend.sources.spines import Chain

_PURE_NUMPY = (
    "array asarray float64 float32 float16 int64 int32 int16 int8 uint8 bool linspace arange eye identity zeros ones"
    " full diag dtype sqrt exp log log2 log10 sin cos tan arctan arcsin arccos sinh cosh tanh deg2rad rad2deg radians"
    " degrees power"
).split()
_PURE_BUILTINS = "float int complex bool tuple list range len abs min max sum round dict frozenset slice".split()


def is_pure(name: str) -> bool:
    """Whether a function of this dotted name may stand in a literal expression."""
    root, _, rest = name.partition(".")
    return root == "math" or rest in {"numpy": _PURE_NUMPY, "builtins": _PURE_BUILTINS}.get(root, ())


def meaning(module: StaticFile, node: gast.expr) -> Binding | None:
    """What an expression at module level means; None if that cannot be said."""
    try:
        return module.resolve("", node)
    except TranspileError:
        return None


def not_literal(node: gast.expr, scope: StaticScope) -> gast.expr | None:
    """The first part of the expression that keeps it from being a literal, or None if it is one."""
    match node:
        case gast.Constant():
            return None
        case gast.Name() | gast.Attribute():
            return None if _constant_of(node, scope) is not None else node
        case gast.Call():
            called = _called(node, scope)
            if called is None or not is_pure(called):
                return node
            return _first_problem([*node.args, *(k.value for k in node.keywords)], scope)
        case gast.Starred():
            return not_literal(node.value, scope)
    if type(node) not in _EVALUATORS:
        return node
    return _first_problem([n for n in gast.iter_child_nodes(node) if isinstance(n, (gast.expr, gast.Slice))], scope)


def _first_problem(nodes: list[gast.expr], scope: StaticScope) -> gast.expr | None:
    return next(_problems(nodes, scope), None)


def _problems(nodes: list[gast.expr], scope: StaticScope) -> Iterator[gast.expr]:
    for node in nodes:
        found = not_literal(node, scope)
        if found is not None:
            yield found


def _constant_of(node: gast.expr, scope: StaticScope) -> tuple[Any] | None:
    """The value of a name or attribute that is a constant, as a tuple of one."""
    try:
        bound = scope.module.resolve("", node)
    except TranspileError:
        return None
    match bound:
        case Literal():
            return (bound.value,)
        case StaticValue():
            return (bound.value,)
        case Known() if bound.value is not None:
            return (bound.value,)
        case Known() if bound.name.startswith("numpy.") and isinstance(getattr(np, bound.name[6:], None), type):
            return (getattr(np, bound.name[6:]),)
        case Known() if bound.name in ("builtins.float", "builtins.int", "builtins.bool", "builtins.complex"):
            return (getattr(builtins, bound.name[9:]),)
    return None


def _called(node: gast.Call, scope: StaticScope) -> str | None:
    bound = meaning(scope.module, node.func)
    return bound.name if isinstance(bound, Known) else None


def evaluate(node: gast.expr, scope: StaticScope) -> Any:
    """The value of a literal expression (`not_literal` is None)."""
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, (gast.Name, gast.Attribute)):
        found = _constant_of(node, scope)
        assert found is not None, gast.unparse(node)
        return found[0]
    return _EVALUATORS[type(node)](node, scope)


_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    gast.Add: operator.add, gast.Sub: operator.sub, gast.Mult: operator.mul, gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv, gast.Mod: operator.mod, gast.Pow: operator.pow, gast.MatMult: operator.matmul,
    gast.LShift: operator.lshift, gast.RShift: operator.rshift, gast.BitOr: operator.or_, gast.BitAnd: operator.and_,
    gast.BitXor: operator.xor,
}  # fmt: skip


_UNARY: dict[type, Callable[[Any], Any]] = {
    gast.USub: operator.neg, gast.UAdd: operator.pos, gast.Not: operator.not_, gast.Invert: operator.invert,
}  # fmt: skip


def _elements(nodes: list[gast.expr], scope: StaticScope) -> list[Any]:
    found: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            found += evaluate(node.value, scope)
        else:
            found.append(evaluate(node, scope))
    return found


def _evaluate_dict(node: gast.Dict, scope: StaticScope) -> Any:
    keys = [None if k is None else evaluate(k, scope) for k in node.keys]
    merged: dict[Any, Any] = {}
    for key, key_node, value in zip(keys, node.keys, node.values):
        merged.update(evaluate(value, scope) if key_node is None else {key: evaluate(value, scope)})
    return merged


def _evaluate_call(node: gast.Call, scope: StaticScope) -> Any:
    root, _, name = (_called(node, scope) or "").partition(".")
    function = getattr({"math": math, "numpy": np, "builtins": builtins}[root], name)
    return function(*_elements(node.args, scope), **{k.arg: evaluate(k.value, scope) for k in node.keywords})


_EVALUATORS: dict[type, Callable[[Any, Any], Any]] = {
    gast.UnaryOp: lambda node, scope: _UNARY[type(node.op)](evaluate(node.operand, scope)),
    Chain: lambda node, scope: functools.reduce(
        lambda value, part: _BINARY[type(part.op)](value, evaluate(part.right, scope)),
        node.parts(),
        evaluate(node.left, scope),
    ),
    gast.BinOp: lambda node, scope: _BINARY[type(node.op)](evaluate(node.left, scope), evaluate(node.right, scope)),
    gast.Tuple: lambda node, scope: tuple(_elements(node.elts, scope)),
    gast.List: lambda node, scope: _elements(node.elts, scope),
    gast.Dict: _evaluate_dict,
    gast.Subscript: lambda node, scope: evaluate(node.value, scope)[evaluate(node.slice, scope)],
    gast.Call: _evaluate_call,
    gast.Slice: lambda node, scope: slice(
        *(None if n is None else evaluate(n, scope) for n in (node.lower, node.upper, node.step))
    ),
}
