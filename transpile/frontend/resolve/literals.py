"""Literal expressions of a file that is not executed: what keeps one from being literal, and its value.

A literal is built from numbers, strings, containers, arithmetic, comparisons and choices, other literal constants of the
module, constants such as ``math.pi``, calls of ufuncs and other pure functions of NumPy, math and Python, and methods and
attributes of what these give (``np.finfo(float).eps``). Everything else is refused with T406.
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
    "array asarray float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex128 complex64"
    " dtype finfo iinfo linspace logspace geomspace arange eye identity zeros ones full zeros_like ones_like"
    " full_like diag tri tril triu vander sum prod mean average median std var min max ptp argmin argmax cumsum cumprod"
    " diff dot vdot inner outer matmul kron cross trace tensordot reshape ravel transpose concatenate stack vstack"
    " hstack column_stack repeat tile roll flip sort argsort clip round where interp polyval meshgrid all any"
    " count_nonzero linalg.norm linalg.inv linalg.det linalg.solve linalg.cholesky linalg.eigvalsh"
    " linalg.matrix_power"
).split()
_PURE_BUILTINS = (
    "float int complex bool str tuple list range len abs min max sum round pow divmod sorted dict frozenset slice"
).split()
_NUMBER, _RANGE = ("real", "imag"), ("max", "min", "bits", "dtype")
_ARRAY = (*_NUMBER, "T", "dtype", "itemsize", "nbytes", "ndim", "shape", "size")
_FIELDS: dict[type, tuple[str, ...]] = {
    **dict.fromkeys((bool, int, float, complex), _NUMBER),
    **dict.fromkeys((np.ndarray, np.generic), _ARRAY),
    np.iinfo: _RANGE,
    np.finfo: (*_RANGE, *"eps epsneg tiny resolution precision smallest_normal smallest_subnormal nmant nexp".split()),
    np.dtype: ("itemsize", "kind", "name"),
    slice: ("start", "stop", "step"),
}
"""The attributes of what a literal may be that are known without running anything of the user's."""
_ARRAYS = (
    "all any argmax argmin astype clip conj copy cumprod cumsum diagonal dot flatten item max mean min prod ravel repeat"
    " reshape round squeeze std sum swapaxes take tolist trace transpose var"
).split()
_METHODS: dict[type, list[str]] = {
    **dict.fromkeys((np.ndarray, np.generic), _ARRAYS),
    str: "split lower upper strip replace format join".split(),
    float: "hex is_integer as_integer_ratio conjugate".split(),
    int: ["bit_length", "conjugate"],
    tuple: ["index", "count"],
    list: ["index", "count"],
    dict: ["get", "keys", "values", "items", "copy"],
}
"""Likewise methods, that change nothing."""


def is_pure(name: str) -> bool:
    """Whether a function of this dotted name may stand in a literal expression."""
    root, _, rest = name.partition(".")
    if root == "numpy" and isinstance(getattr(np, rest, None), np.ufunc):
        return True
    return root == "math" or rest in {"numpy": _PURE_NUMPY, "builtins": _PURE_BUILTINS}.get(root, ())


def member_of(node: gast.expr, scope: StaticScope, table: Any = _FIELDS) -> tuple[Any] | None:
    """What an attribute of a literal is (`_FIELDS`, `_METHODS`), as a tuple of one; None for any other expression."""
    if not isinstance(node, gast.Attribute) or not_literal(node.value, scope) is not None:
        return None
    try:
        value = evaluate(node.value, scope)
    except Exception:  # whatever it raises is said where the constant is used
        return None
    known = any(node.attr in names for cls, names in table.items() if isinstance(value, cls))
    return (getattr(value, node.attr),) if known else None


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
            if _called(node, scope) is None:
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
    member = member_of(node, scope)
    if (
        member is not None
        or isinstance(node, gast.Attribute)
        and not isinstance(node.value, (gast.Name, gast.Attribute))
    ):
        return member
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


def _called(node: gast.Call, scope: StaticScope) -> Callable[..., Any] | None:
    """The function that a call in a literal expression runs; None if it may not be run."""
    bound = meaning(scope.module, node.func)
    if isinstance(bound, Known) and is_pure(bound.name):
        root, _, name = bound.name.partition(".")
        found: Any = operator.attrgetter(name)({"math": math, "numpy": np, "builtins": builtins}[root])
        return found
    method = member_of(node.func, scope, _METHODS)
    return None if method is None else method[0]


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
    function = _called(node, scope)
    assert function is not None, gast.unparse(node)
    return function(*_elements(node.args, scope), **{k.arg: evaluate(k.value, scope) for k in node.keywords})


_COMPARED: dict[type, Callable[[Any, Any], Any]] = {
    gast.Eq: operator.eq, gast.NotEq: operator.ne, gast.Lt: operator.lt, gast.LtE: operator.le, gast.Gt: operator.gt,
    gast.GtE: operator.ge, gast.Is: operator.is_, gast.IsNot: operator.is_not,
    gast.In: lambda x, among: x in among, gast.NotIn: lambda x, among: x not in among,
}  # fmt: skip


def _evaluate_compare(node: gast.Compare, scope: StaticScope) -> Any:
    left, found = evaluate(node.left, scope), True
    for op, other in zip(node.ops, node.comparators):
        right = evaluate(other, scope)
        found = _COMPARED[type(op)](left, right)
        if len(node.ops) > 1 and not found:
            return found
        left = right
    return found


def _evaluate_bool(node: gast.BoolOp, scope: StaticScope) -> Any:
    stops = isinstance(node.op, gast.Or)
    found: Any = None
    for value in node.values:
        found = evaluate(value, scope)
        if bool(found) is stops:
            break
    return found


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
    gast.IfExp: lambda node, scope: evaluate(node.body if evaluate(node.test, scope) else node.orelse, scope),
    gast.Compare: _evaluate_compare,
    gast.BoolOp: _evaluate_bool,
    gast.Slice: lambda node, scope: slice(
        *(None if n is None else evaluate(n, scope) for n in (node.lower, node.upper, node.step))
    ),
}
