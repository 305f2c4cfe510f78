"""Statements. What has a subject of its own is in a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from transpile.core import nodes as ir
from transpile.frontend.calls import calls, floating_errors, formatting
from transpile.frontend.control import branches, loops, truth
from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import inner_imports, name_lookup
from transpile.frontend.resolve.bindings import Known, StaticClass
from transpile.frontend.resolve.static_values import made_like
from transpile.frontend.restarts import Dead
from transpile.frontend.sources import writes
from transpile.frontend.sources.name_liveness import assigned
from transpile.frontend.values import assignment, containers, overloads
from transpile.frontend.values.convert import describe, shown
from transpile.frontend.values.values import Array, Maybe, Ref, Static, Text


def _expression(lx: Lifter, node: gast.Expr) -> None:
    if not isinstance(node.value, gast.Constant):  # a docstring
        lx.expr(node.value)


def _return(lx: Lifter, node: gast.Return) -> None:
    lx.frame.result = Static(None) if node.value is None else lx.expr(node.value)
    if lx.frame.depth == 1:
        lx.returned = lx.loc(node if node.value is None else node.value)


def _define(lx: Lifter, node: gast.FunctionDef) -> None:
    if node.decorator_list:
        value: Any = calls.closure(lx, node, node.name)
        for decorator in reversed(node.decorator_list):
            value = lx.apply(lx.expr(decorator), [value], {}, decorator)
    else:
        value = calls.closure(lx, node, node.name)
    assignment.bind(lx, node.name, value, node)


def _raise(lx: Lifter, node: gast.Raise) -> None:
    if node.exc is None:
        raise lx.error("T133", "'raise' without an exception", node, 'name the exception: raise ValueError("...")')
    made = node.exc
    args = made.args if isinstance(made, gast.Call) else []
    name = _exception(lx, made.func if isinstance(made, gast.Call) else made, node)
    raise_exception(lx, name, args)


def raise_exception(lx: Lifter, name: str, args: list[gast.expr]) -> None:
    """Raises in the generated program; what follows is dead."""
    parts, ops = formatting.message(lx, args)
    if lx.b.block is lx.certain and not lx.frame.code.named and not ops:
        raise lx.error("T201" if name == "TypeError" else "T131", "".join(parts))
    lx.b.emit(ir.Raise(tuple(ops), name, parts, loc=lx.b.loc))
    raise Dead


def _exception(lx: Lifter, node: gast.expr, at: Any) -> str:
    found = lx.expr(node)
    held = found.value if isinstance(found, Static) else None
    if isinstance(held, Known) and held.name.startswith("builtins."):
        return held.name.removeprefix("builtins.")
    if isinstance(held, Known):
        return held.name
    if isinstance(held, StaticClass):
        held = made_like(held)
    if isinstance(held, type) and issubclass(held, BaseException):
        base = next(c for c in held.__mro__ if c.__module__ == "builtins")
        return base.__name__
    if isinstance(held, type):
        message = f"{held.__name__!r} does not derive from BaseException"
        raise lx.error("T133", message, at, hint=f"write class {held.__name__}(Exception)")
    what = "this is a str" if isinstance(held, (str, Text)) else f"this is {describe(lx, found)}"
    message = f"exceptions must derive from BaseException: {what}"
    raise lx.error("T133", message, at, hint='raise an exception: raise ValueError("...")')


def _assert(lx: Lifter, node: gast.Assert) -> None:
    decided = truth.test(lx, node.test)
    if isinstance(decided, ir.Const) and decided.value:
        return
    args = [] if node.msg is None else [node.msg]
    if isinstance(decided, ir.Const):
        raise_exception(lx, "AssertionError", args)
    branches.choose(lx, decided, lambda: None, lambda: raise_exception(lx, "AssertionError", args), node)


def _if(lx: Lifter, node: gast.If) -> None:
    """``if test: ... else: ...``."""
    decided = truth.test(lx, node.test)
    if isinstance(decided, ir.Const):
        lx.block(node.body if decided.value else node.orelse)
        return
    writes.prepare(lx, [*node.body, *node.orelse])
    branches.choose(lx, decided, lambda: lx.block(node.body), lambda: lx.block(node.orelse), node)


def _with(lx: Lifter, node: gast.With) -> None:
    for item in node.items:
        made = item.context_expr
        found = lx.expr(made.func) if isinstance(made, gast.Call) else lx.expr(made)
        held = found.value if isinstance(found, Static) else None
        name = held.name if isinstance(held, Known) else getattr(held, "__name__", "")
        if name not in _CONTEXTS:
            message = (
                "'with' is only supported for np.errstate, np.printoptions, warnings.catch_warnings and nullcontext"
            )
            raise lx.error("T106", message, item.context_expr, _OUTSIDE)
        if item.optional_vars is not None:
            where = gast.unparse(item.optional_vars).strip()
            message = f"'with {shown(name)}(...) as {where}' is not supported"
            raise lx.error("T106", message, item.context_expr, hint=f"leave 'as {where}' out")
        if name == "numpy.errstate" and isinstance(made, gast.Call):
            given = {k.arg: lx.expr(k.value) for k in made.keywords if k.arg is not None}
            floating_errors.note(lx, "np.errstate", given, made)
    lx.block(node.body)


_OUTSIDE = "write it around the call, and pass what the function needs as an argument"
_CONTEXTS = frozenset(
    "numpy.errstate numpy.printoptions warnings.catch_warnings contextlib.nullcontext catch_warnings nullcontext".split()
)


def _delete(lx: Lifter, node: gast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, gast.Name):
            frame = name_lookup.scope(lx, lx.frame, target.id)
            held = None if frame is None else lx.state.vars.get((frame, target.id))
            if frame is None or held is None:
                hint = "delete it where it is set"
                raise lx.error("T116", f"{target.id!r} is deleted before it is set", target, hint)
            name_lookup.set_here(lx, frame, target.id, target)
            if isinstance(held, Maybe):
                name_lookup.certain(lx, frame, target, held)
            del lx.state.vars[frame, target.id]
        elif isinstance(target, gast.Subscript):
            owner = lx.expr(target.value)
            if not isinstance(owner, Ref):
                hint = "use np.delete, or a slice" if isinstance(owner, Array) else ""
                raise lx.error("T108", f"cannot delete an item of {describe(lx, owner)}", target, hint)
            index = lx.expr(target.slice)
            if overloads.call(lx, owner, "__delitem__", [index], target) is None:
                containers.delete(lx, owner, index, target)
        else:
            hint = "'del' takes names, and items of lists and dicts"
            raise lx.error("T108", "this cannot be deleted: it is neither a name nor an item", target, hint)


def _import(lx: Lifter, node: gast.Import) -> None:
    inner_imports.statement(lx, node)


def _global(lx: Lifter, node: Any) -> None:
    written = assigned(lx.frame.code.body)
    for name in node.names:
        if name in written and isinstance(node, gast.Global):
            raise lx.error("T107", f"an assignment to the global {name!r} is not supported", node,
                           hint="pass the value as an argument, and return the new one")  # fmt: skip


def _refused(code: str, message: str, hint: str = "") -> Callable[[Lifter, Any], None]:
    def refuse(lx: Lifter, node: gast.AST) -> None:
        raise lx.error(code, message, node, hint)

    return refuse


_TEST = "test for the condition with 'if'"
STATEMENTS: dict[type, Callable[[Lifter, Any], None]] = {
    gast.Expr: _expression,
    gast.Assign: assignment.statement,
    gast.AnnAssign: assignment.annotated,
    gast.AugAssign: assignment.augmented,
    gast.If: _if,
    gast.For: loops.for_statement,
    gast.While: loops.while_statement,
    gast.Return: _return,
    gast.FunctionDef: _define,
    gast.Raise: _raise,
    gast.Assert: _assert,
    gast.With: _with,
    gast.Pass: lambda lx, node: None,
    gast.Delete: _delete,
    gast.Import: _import,
    gast.ImportFrom: _import,
    gast.Global: _global,
    gast.Nonlocal: _global,
    gast.ClassDef: _refused("T102", "a class defined inside a function is not supported", "define it outside"),
    gast.AsyncFunctionDef: _refused("T103", "async functions are not supported", "make it a plain 'def'"),
    gast.AsyncFor: _refused("T103", "'async for' is not supported", "write a plain 'for'"),
    gast.AsyncWith: _refused("T103", "'async with' is not supported", "write a plain 'with'"),
    gast.Try: _refused("T105", "'try' is not supported", _TEST),
    gast.TryStar: _refused("T101", "'except*' is not supported", _TEST),
    gast.TypeAlias: _refused("T101", "a 'type' statement inside a function is not supported", "write it outside"),
}
