"""What the statements of a file that is not executed say about its functions and classes: ``f.defvjp(forward, backward)``,
``@f.defjvp``, ``register_node(Class, ...)``.

>>> from transpile.frontend.resolve.static import StaticModule
>>> text = "import transpile as tp\\n@tp.custom_jvp\\ndef f(x): return x\\n@f.defjvp\\ndef rule(p, t): return p[0], t[0]\\n"
>>> StaticModule("<file>", text).scope.lookup("f").target.jvp.__name__
'rule'
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gast

from transpile.aggregates import REGISTERED, Registered
from transpile.custom import Custom, CustomJvp, CustomVjp
from transpile.errors import TranspileError, error
from transpile.frontend.resolve.bindings import Binding, Known, StaticClass, User
from transpile.frontend.resolve.literals import evaluate
from transpile.frontend.resolve.static_file import StaticFile, StaticFunction

CUSTOM: dict[str, type[Custom]] = {"transpile.custom_jvp": CustomJvp, "transpile.custom_vjp": CustomVjp}
RULES = {"defjvp": ("jvp",), "defvjp": ("forward", "backward")}
REGISTER = ("transpile.tree.register_node", "transpile.tree.register_dataclass")


def _resolved(module: StaticFile, node: gast.expr) -> Binding | None:
    try:
        return module.resolve("", node)
    except TranspileError:
        return None


def _name(module: StaticFile, node: gast.expr) -> str:
    found = _resolved(module, node)
    return found.name if isinstance(found, Known) else ""


def opened(module: StaticFile, node: gast.expr) -> tuple[str, dict[str, gast.expr]]:
    """What a decorator, or a ``partial`` of one, is, and the arguments that are given by name."""
    if isinstance(node, gast.Call):
        name = _name(module, node.func)
        given = {k.arg: k.value for k in node.keywords if k.arg is not None}
        return (_name(module, node.args[0]) if name == "functools.partial" and node.args else name), given
    return _name(module, node), {}


# ---------------------------------------------------------------------------------- derivatives of the file's own


def ruled(function: StaticFunction) -> Any:
    """The function, with the derivative that its module gives it."""
    for one in getattr(function.node, "decorator_list", []):
        name, given = opened(function.module, one)
        if name in CUSTOM and function.owner is None and not function.args and not function.kwargs:
            return _custom(function, CUSTOM[name], given, function.qualname, one)
    return function


def with_rule(function: StaticFunction) -> Any:
    """What is called by a function's name: itself, or with the derivative that its module gives it."""
    return next((c for c in function.module.customs.values() if c.__wrapped__ is function), function)


def assigned(module: StaticFile, name: str, node: gast.Call) -> Binding | None:
    """``f = custom_vjp(g)`` at module level."""
    kind, given = opened(module, node)
    inner = _resolved(module, node.args[0]) if node.args and kind in CUSTOM else None
    target = getattr(inner, "target", None)
    if target is None or isinstance(target, Custom):
        return inner
    if len(node.args) > 1:
        given = {"nondiff_argnums": node.args[1], **given}
    return User(_custom(target, CUSTOM[kind], given, name, None))


def _custom(
    function: StaticFunction, cls: type[Custom], given: dict[str, gast.expr], name: str, decorator: Any
) -> Custom:
    module = function.module
    known: Custom | None = module.customs.get(name)
    if known is not None:
        return known
    made = module.customs[name] = object.__new__(cls)
    node = copy.copy(function.node)
    node.decorator_list = [d for d in getattr(node, "decorator_list", []) if d is not decorator]
    made.__wrapped__ = replace(function, node=node)  # type: ignore[assignment]
    made.__name__ = made.__qualname__ = function.__name__  # type: ignore[attr-defined]
    made.__doc__ = None
    numbers, names = (
        _several(evaluate(given[k], module.scope)) if k in given else ()
        for k in ("nondiff_argnums", "nondiff_argnames")
    )
    places = [a.id for a in (*getattr(node.args, "posonlyargs", ()), *node.args.args)]
    made.nondiff_argnums = (*numbers, *(places.index(k) for k in names if k in places))
    for attr, rules in _rules(module, name):
        if len(rules) == len(RULES[attr]):
            for held, rule in zip(RULES[attr], rules):
                with module.as_of(rule):
                    setattr(made, held, _function(module, rule))
    return made


def _several(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _rules(module: StaticFile, name: str) -> Iterator[tuple[str, list[gast.expr]]]:
    """The statements that give a function its derivative, in order."""
    for stmt in module.tree.body:
        match stmt:
            case gast.Expr(value=gast.Call(func=gast.Attribute(value=gast.Name(id=owner), attr=attr), args=given)):
                if owner == name and attr in RULES:
                    named = {k.arg: k.value for k in stmt.value.keywords}
                    yield attr, [*given, *(named[k] for k in ("jvp", "fwd", "bwd", *RULES[attr]) if k in named)]
            case gast.FunctionDef():
                for one in stmt.decorator_list:
                    match one:
                        case gast.Attribute(value=gast.Name(id=owner), attr="defjvp") if owner == name:
                            yield "defjvp", [gast.Name(stmt.name, gast.Load(), None, None)]


def _function(module: StaticFile, node: gast.expr) -> Any:
    """A function that a statement names."""
    if getattr(node, "lineno", None) is None and isinstance(node, gast.Name):
        found: Any = module.scope.lookup(node.id)
    else:
        found = module.resolve("a rule", node)
    if not isinstance(found, User):
        hint = "name a function that the file defines"
        raise error("T411", f"{gast.unparse(node).strip()!r} is not a function of the file", module.loc(node), hint)
    return found.target


def is_rule(decorator: gast.expr) -> bool:
    """Whether a decorator is ``f.defjvp``, which leaves the function as it is."""
    return isinstance(decorator, gast.Attribute) and decorator.attr in RULES and isinstance(decorator.value, gast.Name)


# ---------------------------------------------------------------------------------------------- registered classes


def is_registration(module: StaticFile, decorator: gast.expr) -> bool:
    """Whether a decorator of a class registers it."""
    return opened(module, decorator)[0] in REGISTER


def register(module: StaticFile, cls: StaticClass) -> None:
    """Notes what the module registers the class with, if it does."""
    for one in getattr(cls.node, "decorator_list", []):
        name, given = opened(module, one)
        if name in REGISTER:
            _of_fields(module, cls, [], given)
    for stmt in module.tree.body:
        call = stmt.value if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call) else None
        if call is None or len(call.args) < 1 or not _is_class(call.args[0], cls):
            continue
        name, given = opened(module, call)
        if name == REGISTER[0]:
            names = ("flatten_func", "unflatten_func", "flatten_with_keys_func")
            given = dict(zip(names, call.args[1:])) | given
            REGISTERED[cls] = Registered(*(_function(module, given[k]) for k in names if k in given))  # type: ignore[index]
        elif name == REGISTER[1]:
            _of_fields(module, cls, call.args[1:], given)


def _is_class(node: gast.expr, cls: StaticClass) -> bool:
    return isinstance(node, gast.Name) and node.id == cls.name


def _of_fields(module: StaticFile, cls: StaticClass, args: Any, given: dict[str, gast.expr]) -> None:
    given = dict(zip(("data_fields", "meta_fields", "drop_fields"), args)) | given
    if "data_fields" in given and "meta_fields" in given:
        data, meta = (evaluate(given[k], module.scope) for k in ("data_fields", "meta_fields"))
    else:
        meta = [name for name, _, default in cls.fields if _is_static(default)]
        data = [name for name, _, _ in cls.fields if name not in meta]
    REGISTERED[cls] = Registered(fields=tuple(data), meta=tuple(meta))  # type: ignore[index]


def _is_static(default: Any) -> bool:
    """``field(metadata={"static": True})``."""
    metadata = next((k.value for k in getattr(default, "keywords", ()) if k.arg == "metadata"), None)
    pairs = zip(metadata.keys, metadata.values) if isinstance(metadata, gast.Dict) else ()
    return any(getattr(k, "value", None) == "static" and getattr(v, "value", False) is True for k, v in pairs)
