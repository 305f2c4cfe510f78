"""``any`` and ``all`` of what is computed item by item: they end with the first item that decides, as a loop that returns does.

What a later item would do (raise, print, append, bind a name by ``:=``) must not be done then. Where items do nothing but compare
and add, it makes no difference, and they are folded.

>>> item = lambda text: gast.parse(text, mode="eval").body
>>> [is_plain(item(text), lambda call: False) for text in ("a <= b and not c", "x[0] > n", "x[k] > 0", "(m := v) > 0", "f(v)")]
[True, True, False, False, False]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve.bindings import Known
from transpile.frontend.state import Frame
from transpile.frontend.values.values import Generator, Iteration, Static

ITEM, ITEMS = "item", ".0"  # the second is Python's name for what a generator expression runs over
_HARMLESS = frozenset(
    "abs bool callable float getattr hasattr int isinstance issubclass len max min range round type".split()
)
_OPERATORS = (gast.operator, gast.cmpop, gast.boolop, gast.unaryop, gast.expr_context)
_DIVISIONS = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow, gast.LShift, gast.RShift, gast.MatMult)
_EXPRESSIONS = (
    gast.Name, gast.Constant, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.BinOp, gast.IfExp, gast.Attribute, gast.Tuple,
    gast.Subscript, gast.Call, gast.keyword,
)  # fmt: skip


def ended_early(lx: Lifter, value: Any, ends: bool, node: Any) -> Any | None:
    """``any`` (ends on True) or ``all`` (ends on False) as a loop that returns; None where a fold gives the same."""
    if isinstance(value, Generator) and not _is_plain_generator(lx, value):
        code = _code(lx, value.frame, value.node, ends, lambda: _over_generator(value.node, ends))
        return lx.run(code, value.frame, {}, [value.first], {}, node)
    if isinstance(value, Iteration) and value.kind == "map" and not _is_harmless(value.parts[0]):
        lx.frame.keep = True
        code = _code(lx, lx.frame, node, ends, lambda: _over_items(ends))
        return lx.run(code, lx.frame, {}, [_unused(value)], {}, node)
    return None


def _unused(value: Any) -> Any:
    """An iterator whose use by the call of ``any`` or ``all`` is not counted: it is the loop that uses it."""
    return Iteration(value.kind, tuple(map(_unused, value.parts))) if isinstance(value, Iteration) else value


def _is_plain_generator(lx: Lifter, value: Generator) -> bool:
    parts = value.node.generators
    exprs = [value.node.elt, *(test for part in parts for test in part.ifs), *(part.iter for part in parts[1:])]

    def is_harmless(call: gast.expr) -> bool:
        saved, lx.frame = lx.frame, value.frame
        try:
            return isinstance(call, (gast.Name, gast.Attribute)) and _is_harmless(_function(lx, call))
        finally:
            lx.frame = saved

    return all(is_plain(e, is_harmless) for e in exprs)


def is_plain(expr: gast.expr, is_harmless: Callable[[gast.expr], bool]) -> bool:
    """Whether an expression neither raises nor changes anything; ``is_harmless`` is asked about the functions that it calls."""
    for node in gast.walk(expr):
        if isinstance(node, _DIVISIONS) or not isinstance(node, (*_EXPRESSIONS, *_OPERATORS)):
            return False
        if isinstance(node, gast.Subscript) and not isinstance(node.slice, gast.Constant):
            return False
        if isinstance(node, gast.Call) and not is_harmless(node.func):
            return False
    return True


def _function(lx: Lifter, node: gast.expr) -> Any:
    """What a name, or an attribute of a module, stands for; None if that is not known without evaluating anything."""
    root = node
    while isinstance(root, gast.Attribute):
        root = root.value
    return lx.expr(node) if isinstance(root, gast.Name) and _is_free(lx, root.id) else None


def _is_free(lx: Lifter, name: str) -> bool:
    """Whether a name is none of the functions around: it is a global, or a builtin."""
    frame: Frame | None = lx.frame
    while frame is not None:
        if name in frame.locals:
            return False
        frame = frame.parent
    return True


def _is_harmless(function: Any) -> bool:
    """Whether it is a function of Python's or NumPy's that only computes."""
    found = function.value if isinstance(function, Static) else None
    if not isinstance(found, Known):
        return False
    root, _, rest = found.name.partition(".")
    return (
        root in ("math", "operator") or root == "numpy" and "." not in rest or root == "builtins" and rest in _HARMLESS
    )


def _code(lx: Lifter, frame: Frame, node: Any, ends: bool, make: Callable[[], gast.FunctionDef]) -> Any:
    """The code of the loop: the same object in each try."""
    key = ("ended early", id(node), frame.code, ends)
    if key not in lx.codes:
        made = make()
        for inner in gast.walk(made):
            if getattr(inner, "lineno", None) is None:
                gast.copy_location(inner, node)
        lx.codes[key] = (node, frame.code.inside(made, "any" if ends else "all"))
    return lx.codes[key][1]


def _over_generator(node: gast.GeneratorExp, ends: bool) -> gast.FunctionDef:
    """The loops of a generator expression; what ``:=`` binds belongs to the function around."""
    body: list[gast.stmt] = _end(node.elt, ends)
    for k, part in reversed(list(enumerate(node.generators))):
        for test in reversed(part.ifs):
            body = [gast.If(test, body, [])]
        body = [gast.For(part.target, part.iter if k else _items(), body, [], None)]
    bound = [n.target.id for n in gast.walk(node) if isinstance(n, gast.NamedExpr)]
    declared: list[gast.stmt] = [gast.Nonlocal(list(dict.fromkeys(bound)))] if bound else []
    return _function_of([*declared, *body, gast.Return(gast.Constant(not ends, None))], ends)


def _over_items(ends: bool) -> gast.FunctionDef:
    """A loop over an iterable that is handed in."""
    target = gast.Name(ITEM, gast.Store(), None, None)
    loop = gast.For(target, _items(), _end(gast.Name(ITEM, gast.Load(), None, None), ends), [], None)
    return _function_of([loop, gast.Return(gast.Constant(not ends, None))], ends)


def _items() -> gast.Name:
    return gast.Name(ITEMS, gast.Load(), None, None)


def _end(item: gast.expr, ends: bool) -> list[gast.stmt]:
    test = item if ends else gast.UnaryOp(gast.Not(), item)
    return [gast.If(test, [gast.Return(gast.Constant(ends, None))], [])]


def _function_of(body: list[gast.stmt], ends: bool) -> gast.FunctionDef:
    """A function of what is iterated."""
    args = gast.arguments([gast.Name(ITEMS, gast.Param(), None, None)], [], None, [], [], None, [])
    return gast.FunctionDef("any" if ends else "all", args, body, [], None, None, [])
